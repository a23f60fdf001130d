/* SPDX-License-Identifier: Apache-2.0
 *
 * reconciled.yaml: defaults, every key, wrong values, secrets, the dump.
 */
#include "config_case.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/secret.h"

#define KEY "evidence_hash_key: env:HASH_KEY\n"

static const struct {
	const char *name, *text, *want;
} cases[] = {
	{ "every key",
	  "database: host=/run/postgresql dbname=app\n" KEY
	  "instance_name: one\ninterval: 10s\nbatch: 100\nmax_in_flight: 50\nmax_verdict_age: 3s\n"
	  "observe: true\npolicies: policies.d\ntargets: targets.d\nstate_directory: /var/lib/r\n"
	  "retention: {operations: 30d, journal: 60d, outbox: 2d, idempotency: 3d, tallies: 40d}\n"
	  "http: {listen: \"127.0.0.1:9464\"}\n"
	  "log: {level: debug, format: json}\n",
	  "" },
	{ "the hash key is needed", "batch: 5\n",
	  "reconciled.yaml:1:1: evidence_hash_key is missing: a secret of 32 bytes or more, for "
	  "hashes in evidence\n" },
	{ "a secret in the file", "evidence_hash_key: 0123456789abcdef0123456789abcdef\n",
	  "reconciled.yaml:1:20: evidence_hash_key: secrets are not written in the file, allowed: "
	  "credential:NAME, file:PATH, env:NAME\n" },
	{ "unknown keys, the nearest, all at once",
	  KEY "intervall: 5s\nmax_inflight: 5\nqqqqqq: 1\n",
	  "reconciled.yaml:2:1: intervall: unknown key, nearest known key: interval\n"
	  "reconciled.yaml:3:1: max_inflight: unknown key, nearest known key: max_in_flight\n"
	  "reconciled.yaml:4:1: qqqqqq: unknown key\n" },
	{ "an unknown key among few", KEY "log: {levl: info}\n",
	  "reconciled.yaml:2:7: levl: unknown key, nearest known key: level; allowed: level, "
	  "format\n" },
	{ "keys are not folded", KEY "Batch: 5\n",
	  "reconciled.yaml:2:1: Batch: unknown key, nearest known key: batch\n" },
	{ "users of the web server are for later",
	  KEY "http: {listen: \"127.0.0.1:8080\", users: u, roles: {}, trusted_header: X-User}\n",
	  "reconciled.yaml:2:34: users: not supported yet\n"
	  "reconciled.yaml:2:44: roles: not supported yet\n"
	  "reconciled.yaml:2:55: trusted_header: not supported yet\n" },
	{ "an unknown key of http", KEY "http: {port: 80}\n",
	  "reconciled.yaml:2:8: port: unknown key; allowed: listen, users, roles, "
	  "trusted_header\n" },
	{ "an address that is a list", KEY "http: {listen: [a]}\n",
	  "reconciled.yaml:2:16: listen: found a list, allowed: an address like 127.0.0.1:9464 or "
	  "unix:PATH\n" },
	{ "durations", KEY "interval: 5 minutes\nmax_verdict_age: 6m\n",
	  "reconciled.yaml:2:11: interval: found \"5 minutes\", allowed: a duration like 90s, 15m, "
	  "24h, 30d, from 1s to 1h\n"
	  "reconciled.yaml:3:18: max_verdict_age: found \"6m\", allowed: a duration like 90s, 15m, "
	  "24h, 30d, from 1s to 5m\n" },
	{ "milliseconds are not for intervals", KEY "interval: 2000ms\n",
	  "reconciled.yaml:2:11: interval: found \"2000ms\", allowed: a duration like 90s, 15m, "
	  "24h, 30d, from 1s to 1h\n" },
	{ "longer than the language knows", KEY "retention: {journal: 101d, outbox: 36501d}\n",
	  "reconciled.yaml:2:36: outbox: found \"36501d\", allowed: a duration like 90s, 15m, 24h, "
	  "30d, from 1h to 36500d\n" },
	{ "counts", KEY "batch: 5001\nmax_in_flight: 99999999999999999999\n",
	  "reconciled.yaml:2:8: batch: found \"5001\", allowed: 1 to 5000\n"
	  "reconciled.yaml:3:16: max_in_flight: found \"99999999999999999999\", allowed: 1 to "
	  "10000\n" },
	{ "negative and spaced counts", KEY "batch: -5\nmax_in_flight: \" 5\"\n",
	  "reconciled.yaml:2:8: batch: found \"-5\", allowed: 1 to 5000\n"
	  "reconciled.yaml:3:16: max_in_flight: found \" 5\", allowed: 1 to 10000\n" },
	{ "words", KEY "log: {level: warn, format: xml}\n",
	  "reconciled.yaml:2:14: level: found \"warn\", allowed: error, warning, info, debug; "
	  "nearest: warning\n"
	  "reconciled.yaml:2:28: format: found \"xml\", allowed: auto, logfmt, json, journal\n" },
	{ "a scalar for a mapping", KEY "log: debug\n",
	  "reconciled.yaml:2:6: log: found \"debug\", allowed: a mapping with level, format\n" },
	{ "a name with a space", KEY "instance_name: a b\n",
	  "reconciled.yaml:2:16: instance_name: found \"a b\", allowed: 1 to 64 printable ASCII "
	  "characters without space\n" },
};

#define REFUSED                                                                                    \
	"reconciled.yaml:2:11: database: a password is not written in the file, allowed: "         \
	"password=credential:NAME, password=file:PATH, password=env:NAME, or a passfile\n"

static const struct {
	const char *name, *text, *want, *conninfo, *password;
} databases[] = {
	{ "nothing", "\"\"", "", "", NULL },
	{ "pairs", "host=db dbname=app", "", "host=db dbname=app", NULL },
	{ "pairs with quotes", "\"host='a b' dbname = 'it\\\\'s'\"", "",
	  "host='a b' dbname = 'it\\'s'", NULL },
	{ "a passfile", "host=db passfile=/etc/pg", "", "host=db passfile=/etc/pg", NULL },
	{ "a reference", "host=db password=env:DB_PASSWORD user=r", "", "host=db user=r", "pw-1" },
	{ "a quoted reference", "password = 'env:DB_PASSWORD'", "", "", "pw-1" },
	{ "a URI", "postgresql://u@h1,h2:5433/app?target_session_attrs=read-write", "",
	  "postgresql://u@h1,h2:5433/app?target_session_attrs=read-write", NULL },
	{ "a URI with a reference", "postgres:///app?password=env:DB_PASSWORD&user=r", "",
	  "postgres:///app?user=r", "pw-1" },
	{ "an IPv6 address in a URI", "postgres://[::1]:5432/app", "", "postgres://[::1]:5432/app",
	  NULL },
	{ "an e-mail as parameter", "postgres://h:5432/app?user=a@b", "",
	  "postgres://h:5432/app?user=a@b", NULL },
	{ "a password", "host=db password=hunter2", REFUSED, NULL, NULL },
	{ "a quoted password", "host=db password = 'hunter2'", REFUSED, NULL, NULL },
	{ "a password in a URI", "postgres://u:hunter2@h/app", REFUSED, NULL, NULL },
	{ "an empty password in a URI", "postgres://u:@h/app", REFUSED, NULL, NULL },
	{ "a password with a slash", "postgres://u:hun/ter2@h/app", REFUSED, NULL, NULL },
	{ "a password as parameter", "postgres://h/app?password=hunter2", REFUSED, NULL, NULL },
	{ "a password as encoded parameter", "postgres://h/app?p%61ssword=hunter2", REFUSED, NULL,
	  NULL },
	{ "the password of a key", "host=db sslpassword=hunter2",
	  "reconciled.yaml:2:11: database: sslpassword is not supported\n", NULL, NULL },
	{ "no pairs", "hunter2",
	  "reconciled.yaml:2:11: database: is neither \"name=value …\" nor a postgresql:// URI\n",
	  NULL, NULL },
	{ "an open quote", "\"host='a\"",
	  "reconciled.yaml:2:11: database: a quoted value has no end\n", NULL, NULL },
	{ "a missing password", "host=db password=env:NOT_SET",
	  "reconciled.yaml:2:11: database: secret \"env:NOT_SET\": the environment has no variable "
	  "\"NOT_SET\"\n",
	  NULL, NULL },
};

static void
test_databases(void)
{
	setenv("DB_PASSWORD", "pw-1", 1);
	for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++) {
		struct problems *problems = problems_create();
		struct config *config;
		char text[400], *lines;

		snprintf(text, sizeof(text), KEY "database: %s\n", databases[i].text);
		case_write("reconciled.yaml", text);
		config = config_load(case_path("reconciled.yaml"), CONFIG_SETTINGS, problems);
		lines = case_lines(problems);
		tap_str(lines, databases[i].want, databases[i].name);
		tap_str(config ? config->database : NULL, databases[i].conninfo, "goes to libpq");
		tap_str(config && config->database_password
				? secret_reveal(config->database_password)
				: NULL,
			databases[i].password, "its password");
		free(lines);
		config_unref(config);
		problems_destroy(problems);
	}
}

static const struct {
	const char *name, *key, *value, *want;
} hash_keys[] = {
	{ "32 bytes", "env:HASH_KEY", "0123456789abcdef0123456789abcdef", "" },
	{ "31 bytes", "env:HASH_KEY", "0123456789abcdef0123456789abcde",
	  "reconciled.yaml:1:20: evidence_hash_key: env:HASH_KEY has 31 bytes, allowed: 32 or "
	  "more\n" },
	{ "an empty one", "env:HASH_KEY", "",
	  "reconciled.yaml:1:20: evidence_hash_key: secret \"env:HASH_KEY\": is empty\n" },
	{ "a missing one", "env:HASH_KEY", NULL,
	  "reconciled.yaml:1:20: evidence_hash_key: secret \"env:HASH_KEY\": the environment has "
	  "no "
	  "variable \"HASH_KEY\"\n" },
};

static void
test_hash_keys(void)
{
	for (size_t i = 0; i < sizeof(hash_keys) / sizeof(hash_keys[0]); i++) {
		char text[200];

		if (hash_keys[i].value)
			setenv("HASH_KEY", hash_keys[i].value, 1);
		else
			unsetenv("HASH_KEY");
		snprintf(text, sizeof(text), "evidence_hash_key: %s\n", hash_keys[i].key);
		case_write("reconciled.yaml", text);
		case_load(CONFIG_SETTINGS | CONFIG_SECRETS, hash_keys[i].want, hash_keys[i].name);
		case_load(CONFIG_SETTINGS, "", "is looked at only when secrets are asked for");
	}
}

static void
test_hash_key_file(void)
{
	char large[70000];
	struct problems *problems = problems_create();
	struct config *config;

	memset(large, 'x', sizeof(large));
	case_write("reconciled.yaml", "evidence_hash_key: file:key\n");
	case_write("key", "0123456789abcdef0123456789abcdef\n");
	config = config_load(case_path("reconciled.yaml"), CONFIG_SETTINGS | CONFIG_SECRETS,
			     problems);
	tap_ok(config != NULL, "a relative file: is found beside the file that names it");
	tap_str(config ? secret_reveal(config->evidence_hash_key) : NULL,
		"0123456789abcdef0123456789abcdef", "without its newline");
	config_unref(config);
	case_write_bytes("key", large, sizeof(large));
	config = config_load(case_path("reconciled.yaml"), CONFIG_SETTINGS | CONFIG_SECRETS,
			     problems);
	tap_ok(config == NULL && problems_count(problems) == 1, "one above 64 KiB does not load");
	case_write("key", "");
	config = config_load(case_path("reconciled.yaml"), CONFIG_SETTINGS | CONFIG_SECRETS,
			     problems);
	tap_ok(config == NULL && problems_count(problems) == 2, "nor an empty one");
	problems_destroy(problems);
}

static void
test_defaults(void)
{
	struct problems *problems = problems_create();
	struct config *config;

	unsetenv("STATE_DIRECTORY");
	case_write("reconciled.yaml", KEY);
	config = config_load(case_path("reconciled.yaml"), CONFIG_SETTINGS, problems);
	if (!tap_ok(config != NULL, "defaults load"))
		return;
	tap_str(config->database, "", "database");
	tap_int(config->interval_us, 5 * SECOND, "interval");
	tap_int(config->batch, 500, "batch");
	tap_int(config->max_verdict_age_us, 5 * SECOND, "max_verdict_age");
	tap_ok(!config->observe, "observe");
	tap_str(config->policies_dir, case_path("policies.d"), "policies beside the file");
	tap_str(config->targets_dir, case_path("targets.d"), "targets beside the file");
	tap_str(config->state_directory, "", "state_directory");
	tap_int(config->log_level, LOG_LEVEL_INFO, "log.level");
	tap_ok(!config->http_host && !config->http_socket, "http.listen: nowhere");
	tap_ok(config_ref(config) == config, "a reference is taken");
	config_unref(config);
	config_unref(config);
	setenv("STATE_DIRECTORY", "/var/lib/reconciled:/var/lib/other", 1);
	config = config_load(case_path("reconciled.yaml"), CONFIG_SETTINGS, problems);
	tap_str(config ? config->state_directory : NULL, "/var/lib/reconciled", "$STATE_DIRECTORY");
	config_unref(config);
	unsetenv("STATE_DIRECTORY");
	problems_destroy(problems);
}

static const char dumped[] = "database: \"host=db password=env:DB_PASSWORD\"\n"
			     "instance_name: \"a\\\"b\"\n"
			     "interval: 90s\n"
			     "batch: 500\n"
			     "max_in_flight: 256\n"
			     "max_verdict_age: 5s\n"
			     "observe: true\n"
			     "policies: \"/etc/p\"\n"
			     "targets: \"/etc/t\"\n"
			     "evidence_hash_key: \"env:HASH_KEY\"\n"
			     "state_directory: \"/var/lib/r\"\n"
			     "retention:\n"
			     "    operations: 30d\n"
			     "    journal: 365d\n"
			     "    outbox: 7d\n"
			     "    idempotency: 7d\n"
			     "    tallies: 90d\n"
			     "http:\n"
			     "    listen: \"unix:/run/r/http\"\n"
			     "log:\n"
			     "    level: error\n"
			     "    format: auto\n";

/* 107 bytes fit into the address of a socket, with the zero behind them. */
#define TEN "0123456789"
#define LONGEST "/" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "012345"

static const struct {
	const char *listen, *problem; /* NULL: none */
	const char *host;
	int port;
	const char *socket;
} listens[] = {
	{ "", NULL, NULL, 0, NULL },
	{ "127.0.0.1:9464", NULL, "127.0.0.1", 9464, NULL },
	{ "127.3.2.1:1", NULL, "127.3.2.1", 1, NULL },
	{ "127.1:65535", NULL, "127.0.0.1", 65535, NULL },
	{ "[::1]:9464", NULL, "::1", 9464, NULL },
	{ "[0:0:0:0:0:0:0:1]:9464", NULL, "::1", 9464, NULL },
	{ "localhost:9464", NULL, "localhost", 9464, NULL },
	{ "unix:/run/reconciled/http", NULL, NULL, 0, "/run/reconciled/http" },
	{ "unix:" LONGEST, NULL, NULL, 0, LONGEST },
	{ "unix:" LONGEST "7",
	  "the path of the socket has 108 bytes, allowed: at most 107", NULL, 0, NULL },
	{ "unix:",
	  "the path of the socket does not begin with \"/\"", NULL, 0, NULL },
	{ "unix:/",
	  "the path of the socket does not begin with \"/\"", NULL, 0, NULL },
	{ "unix:run/http",
	  "the path of the socket does not begin with \"/\"", NULL, 0, NULL },
	{ "127.0.0.1",
	  "the port is missing", NULL, 0, NULL },
	{ "9464",
	  "the port is missing", NULL, 0, NULL },
	{ ":9464",
	  "the host is missing", NULL, 0, NULL },
	{ "127.0.0.1:0",
	  "the port is not 1 to 65535", NULL, 0, NULL },
	{ "127.0.0.1:65536",
	  "the port is not 1 to 65535", NULL, 0, NULL },
	{ "127.0.0.1:http",
	  "the port is not 1 to 65535", NULL, 0, NULL },
	{ "127.0.0.1:9464/metrics",
	  "something follows the port", NULL, 0, NULL },
	{ "::1:9464",
	  "the host is missing", NULL, 0, NULL },
	{ "[::1]",
	  "the port is missing", NULL, 0, NULL },
	{ "[localhost]:9464",
	  "the host is no name and no address", NULL, 0, NULL },
	{ "0.0.0.0:9464",
	  "nobody logs in there, so it may only be reached from this machine", NULL, 0, NULL },
	{ "[::]:9464",
	  "nobody logs in there, so it may only be reached from this machine", NULL, 0, NULL },
	{ "10.0.0.1:9464",
	  "nobody logs in there, so it may only be reached from this machine", NULL, 0, NULL },
	{ "metrics.example.com:9464",
	  "nobody logs in there, so it may only be reached from this machine", NULL, 0, NULL },
};

static void
test_listen_of(size_t i)
{
	struct problems *problems = problems_create();
	char text[400], want[600] = "";
	struct config *config;
	char *lines;

	snprintf(text, sizeof(text), KEY "http: {listen: \"%s\"}\n", listens[i].listen);
	case_write("reconciled.yaml", text);
	config = config_load(case_path("reconciled.yaml"), CONFIG_SETTINGS, problems);
	lines = case_lines(problems);
	if (config) {
		tap_str(config->http_host, listens[i].host, listens[i].listen);
		tap_int(config->http_port, listens[i].port, "its port");
		tap_str(config->http_socket, listens[i].socket, "its socket");
	}
	if (listens[i].problem)
		snprintf(want, sizeof(want),
			 "reconciled.yaml:2:16: listen: found \"%.60s%s\": %s; allowed: "
			 "127.0.0.1:PORT, [::1]:PORT, localhost:PORT, unix:PATH\n",
			 listens[i].listen, strlen(listens[i].listen) > 60 ? "…" : "",
			 listens[i].problem);
	tap_str(lines, want, listens[i].problem ? listens[i].listen : "loads");
	free(lines);
	config_unref(config);
	problems_destroy(problems);
}

/* The dump of a dump is the same, so it is a configuration itself. */
static void
test_dump(void)
{
	struct problems *problems = problems_create();

	setenv("HASH_KEY", "secret-0123456789abcdef0123456789", 1);
	case_write("reconciled.yaml", KEY "database: host=db password=env:DB_PASSWORD\n"
					  "instance_name: 'a\"b'\ninterval: 90s\nobserve: true\n"
					  "policies: /etc/p\ntargets: /etc/t\n"
					  "state_directory: /var/lib/r\n"
					  "retention: {operations: 30d}\nlog: {level: error}\n"
					  "http: {listen: \"unix:/run/r/http\"}\n");
	for (int turn = 0; turn < 2; turn++) {
		struct config *config = config_load(case_path("reconciled.yaml"),
						    CONFIG_SETTINGS | CONFIG_SECRETS, problems);
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		if (tap_ok(config != NULL, "loads"))
			config_dump(config, out);
		fclose(out);
		tap_str(text, dumped, turn == 0 ? "is dumped without secrets" : "loads again");
		case_write("reconciled.yaml", text);
		free(text);
		config_unref(config);
	}
	problems_destroy(problems);
}

static void
test_keys(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	config_print_keys(out);
	fclose(out);
	tap_ok(strstr(text, "reconciled.yaml retention.journal\n") != NULL,
	       "a nested key is listed");
	tap_ok(strstr(text, "target rate.concurrent\n") != NULL, "keys of targets are");
	tap_ok(strstr(text, "policy probes.where\n") != NULL, "keys of policies are");
	tap_ok(strstr(text, "verify_confirmed") == NULL, "keys for later are not");
	free(text);
}

static void
test_folders(void)
{
	case_write("reconciled.yaml", KEY "policies: nowhere\n");
	case_load(CONFIG_ALL, "nowhere: could not open the folder: No such file or directory\n",
		  "a folder that is not there");
	case_write("reconciled.yaml", KEY);
	case_load(CONFIG_ALL, "", "empty folders");
}

int
main(void)
{
	case_begin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		case_write("reconciled.yaml", cases[i].text);
		case_load(CONFIG_SETTINGS, cases[i].want, cases[i].name);
	}
	test_databases();
	test_hash_keys();
	test_hash_key_file();
	test_defaults();
	for (size_t i = 0; i < sizeof(listens) / sizeof(listens[0]); i++)
		test_listen_of(i);
	test_dump();
	test_keys();
	test_folders();
	return case_end();
}
