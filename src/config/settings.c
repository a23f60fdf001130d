/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of reconciled.yaml.
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "conninfo.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/secret.h"
#include "reconciled/core/evidence.h"
#include "tree.h"

enum { INSTANCE_NAME_MAX = 64 };

#define IN_CONFIG(member) offsetof(struct loaded, config.member)

static const struct word level_list[] = {
	{ "error", .value = LOG_LEVEL_ERR },
	{ "warning", .value = LOG_LEVEL_WARNING },
	{ "info", .value = LOG_LEVEL_INFO },
	{ "debug", .value = LOG_LEVEL_DEBUG },
};
WORDS(level_words, level_list);

static const struct word format_list[] = {
	{ "auto", .value = LOG_FORMAT_AUTO },
	{ "logfmt", .value = LOG_FORMAT_LOGFMT },
	{ "json", .value = LOG_FORMAT_JSON },
	{ "journal", .value = LOG_FORMAT_JOURNAL },
};
WORDS(format_words, format_list);

static const struct field retention_fields[] = {
	{ "operations", IN_CONFIG(retention.operations_us),
	  DURATION(DAY, FIELD_DURATION_MAX, 90 * DAY), .reload = true,
	  .help = "How long closed operations stay." },
	{ "journal", IN_CONFIG(retention.journal_us), DURATION(DAY, FIELD_DURATION_MAX, 365 * DAY),
	  .reload = true, .help = "How long the journal stays." },
	{ "outbox", IN_CONFIG(retention.outbox_us), DURATION(HOUR, FIELD_DURATION_MAX, 7 * DAY),
	  .reload = true, .help = "How long events stay." },
	{ "idempotency", IN_CONFIG(retention.idempotency_us),
	  DURATION(HOUR, FIELD_DURATION_MAX, 7 * DAY), .reload = true,
	  .help = "How long settled idempotency records stay." },
	{ "tallies", IN_CONFIG(retention.tallies_us), DURATION(HOUR, FIELD_DURATION_MAX, 90 * DAY),
	  .reload = true, .help = "How long the counts by minute stay." },
};
TABLE(retention_table, retention_fields);

static const struct field log_fields[] = {
	{ "level", offsetof(struct loaded, log_level), WORD(level_words, LOG_LEVEL_INFO),
	  .reload = true, .help = "How much is logged." },
	{ "format", offsetof(struct loaded, log_format), WORD(format_words, LOG_FORMAT_AUTO),
	  .help = "How it is written." },
};
TABLE(log_table, log_fields);

static const struct shape listen_shape = {
	.kind = SHAPE_STRING,
	.pattern = "^($|unix:/|.+:[0-9]{1,5}$)",
	.help = "An address like 127.0.0.1:9464 or unix:PATH.",
};

/* Kept for the dump; settle_listen looks into it. */
static void
decode_listen(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	if (node->kind == NODE_TEXT)
		*(const char **)at = node->text;
	else
		complain_found(loading, node, "an address like 127.0.0.1:9464 or unix:PATH");
}

static const struct field http_fields[] = {
	{ "listen", offsetof(struct loaded, http_listen), OWN(decode_listen),
	  .shape = &listen_shape, .help = "Where metrics and health can be read." },
	{ "users", 0, LATER },
	{ "roles", 0, LATER },
	{ "trusted_header", 0, LATER },
};
TABLE(http_table, http_fields);

static const struct shape database_shape = { .kind = SHAPE_SCALAR };

/* Kept for the dump; settle_database looks into it. */
static void
decode_database(struct loading *loading, const struct node *node, void *at,
		const struct field *field)
{
	if (node->kind == NODE_TEXT)
		*(const char **)at = node->text;
	else
		complain_found(loading, node, "a text like host=/run/postgresql dbname=app");
}

/* settle_hash_key decodes it. */
static void
decode_nothing(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
}

static const struct field settings_fields[] = {
	{ "database", offsetof(struct loaded, database_text), OWN(decode_database),
	  .shape = &database_shape, .help = "Connection string or URI of PostgreSQL." },
	{ "instance_name", IN_CONFIG(instance_name), TEXT(NULL),
	  .help = "Name of this process in the journal." },
	{ "interval", IN_CONFIG(interval_us), DURATION(SECOND, HOUR, 5 * SECOND), .reload = true,
	  .help = "Pause after a pass that left nothing to do, at most." },
	{ "batch", IN_CONFIG(batch), COUNT(1, 5000, 500), .reload = true,
	  .help = "Most operations fetched and recorded at once." },
	{ "max_in_flight", IN_CONFIG(max_in_flight), COUNT(1, 10000, 256), .reload = true,
	  .help = "Most questions at a time, over all targets." },
	{ "max_verdict_age", IN_CONFIG(max_verdict_age_us),
	  DURATION(SECOND, 5 * MINUTE, 5 * SECOND), .reload = true,
	  .help = "Older answers start no correction." },
	{ "observe", IN_CONFIG(observe), BOOL(false), .reload = true,
	  .help = "Nothing is acted upon, whatever the policies say." },
	{ "policies", offsetof(struct loaded, policies), TEXT("policies.d"),
	  .help = "Folder of the policies." },
	{ "targets", offsetof(struct loaded, targets), TEXT("targets.d"),
	  .help = "Folder of the targets." },
	{ "evidence_hash_key", offsetof(struct loaded, evidence_hash_key), OWN(decode_nothing),
	  .shape = &shape_secret, .required = true,
	  .help = "a secret of 32 bytes or more, for hashes in evidence" },
	{ "state_directory", IN_CONFIG(state_directory), TEXT(NULL),
	  .help = "Folder that survives restarts." },
	{ "retention", 0, NESTED(retention_table), .help = "How long rows stay." },
	{ "http", 0, NESTED(http_table), .help = "The web server." },
	{ "log", 0, NESTED(log_table), .help = "The log." },
};
const struct table settings_table = { settings_fields, ARRAY_LEN(settings_fields) };

static void
settle_database(struct loading *loading, const struct node *root, struct loaded *loaded)
{
	const struct node *node = node_member(root, "database");
	const char *reference = NULL;
	struct secret *password = NULL;
	struct err err = { 0 };

	loaded->config.database = "";
	if (!node || node->kind != NODE_TEXT)
		return;
	if (!conninfo_split(loading->arena, node->text, &loaded->config.database, &reference,
			    &err)) {
		complain(loading, node, "%s", err.text);
		return;
	}
	if (!reference)
		return;
	if (!secret_load(secret_settle(loading, reference), &password, &err)) {
		complain(loading, node, "%s", err.text);
		return;
	}
	keep_secret(loading, password);
	loaded->config.database_password = password;
}

static void
settle_hash_key(struct loading *loading, const struct node *root, struct loaded *loaded)
{
	const struct node *node = node_member(root, "evidence_hash_key");
	const struct secret *key = NULL;

	if (!node || !secret_decode(loading, node, &loaded->evidence_hash_key, &key))
		return;
	if (key && secret_len(key) < EVIDENCE_HASH_KEY_MIN)
		complain(loading, node, "%s has %zu bytes, allowed: %d or more",
			 loaded->evidence_hash_key, secret_len(key), EVIDENCE_HASH_KEY_MIN);
	loaded->config.evidence_hash_key = key;
}

static void
settle_listen(struct loading *loading, const struct node *root, struct loaded *loaded)
{
	const struct node *node = node_member(node_member(root, "http"), "listen");
	struct listen_address address = { 0 };
	struct err err = { 0 };

	if (!loaded->http_listen || loaded->http_listen[0] == '\0')
		return;
	if (!address_listen(loading->arena, loaded->http_listen, &address, &err))
		complain(loading, node,
			 "found %s: %s; allowed: 127.0.0.1:PORT, [::1]:PORT, localhost:PORT, "
			 "unix:PATH",
			 found_words(loading, node), err.text);
	loaded->config.http_host = address.host;
	loaded->config.http_port = address.port;
	loaded->config.http_socket = address.socket;
}

static bool
is_printable(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7F)
			return false;
	return true;
}

static void
settle_instance_name(struct loading *loading, const struct node *root, struct loaded *loaded)
{
	const struct node *node = node_member(root, "instance_name");
	char host[INSTANCE_NAME_MAX + 1] = "";

	if (!node) {
		if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
			snprintf(host, sizeof(host), "reconciled");
		loaded->config.instance_name = arena_strdup(loading->arena, host);
	} else if (loaded->config.instance_name &&
		   (strlen(node->text) > INSTANCE_NAME_MAX || !is_printable(node->text))) {
		complain_found(loading, node, "1 to 64 printable ASCII characters without space");
	}
}

/* systemd may name several folders, the first is ours. */
static void
settle_state_directory(struct loading *loading, struct loaded *loaded)
{
	const char *given = getenv("STATE_DIRECTORY");

	if (loaded->config.state_directory)
		loaded->config.state_directory =
			path_beside(loading, loaded->config.state_directory);
	else if (given)
		loaded->config.state_directory =
			arena_strndup(loading->arena, given, strcspn(given, ":"));
	else
		loaded->config.state_directory = "";
}

void
settings_decode(struct loading *loading, const struct node *root, struct loaded *loaded)
{
	fields_decode(loading, root, &settings_table, loaded);
	settle_database(loading, root, loaded);
	settle_hash_key(loading, root, loaded);
	settle_listen(loading, root, loaded);
	settle_instance_name(loading, root, loaded);
	settle_state_directory(loading, loaded);
	loaded->policies = path_beside(loading, loaded->policies);
	loaded->targets = path_beside(loading, loaded->targets);
	loaded->config.policies_dir = loaded->policies;
	loaded->config.targets_dir = loaded->targets;
	loaded->config.log_level = (enum log_level)loaded->log_level;
	loaded->config.log_format = (enum log_format)loaded->log_format;
}
