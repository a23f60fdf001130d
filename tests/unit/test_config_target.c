/* SPDX-License-Identifier: Apache-2.0
 *
 * Target files: every key, addresses that are never asked, secrets, headers, control.
 */
#include "config_case.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/secret.h"

#define HEAD "target: crm\nbase: https://crm.example.com/api\n"

static const struct {
	const char *name, *text, *want;
} cases[] = {
	{ "the least", "target: crm\nbase: https://crm.example.com\n", "" },
	{ "every key",
	  HEAD
	  "insecure: false\nauth: {basic: {user: u, password: \"env:P\"}}\ntls: {ca: ca.pem}\n"
	  "headers: {X-Version: \"1\"}\ntimeout: {connect: 200ms, total: 2s}\nmax_body: 64KiB\n"
	  "rate: {concurrent: 2, per_second: 5, burst: 3}\n"
	  "retry: {attempts: 10, backoff: 1ms, max: 5m}\n"
	  "breaker: {failures: 1, open: 1h, trial: 100}\nthrottled: [{status: 403, header.x-left: \"0\"}]\n"
	  "broken: {/errors: {present: true}}\n"
	  "control: {post: /q, reads: true, json: {a: 1}, found: {status: 200, /id: c}}\n",
	  "" },
	{ "no control", HEAD "control: none\nauth: none\n", "" },
	{ "no name", "base: https://a.example\n",
	  "targets.d/crm.yaml:1:1: target is missing: name of the target, and of this file\n" },
	{ "no address", "target: crm\n",
	  "targets.d/crm.yaml:1:1: base is missing: the URL of the target\n" },
	{ "another name", "target: shop\nbase: https://a.example\n",
	  "targets.d/crm.yaml:1:9: target: \"shop\" belongs in a file named shop.yaml, this one is "
	  "crm.yaml\n" },
	{ "a name with a slash", "target: a/b\nbase: https://a.example\n",
	  "targets.d/crm.yaml:1:9: target: found \"a/b\", allowed: 1 to 100 letters, digits, "
	  "\"_\", "
	  "\"-\", \".\"\n" },
	{ "what comes later", HEAD "files: /var/in\n",
	  "targets.d/crm.yaml:3:1: files: not supported yet\n" },
	{ "files need no base", "target: crm\nfiles: /var/in\n",
	  "targets.d/crm.yaml:2:1: files: not supported yet\n" },
	/* secrets: never in the file, never in a message */
	{ "a token in the file", HEAD "auth: {bearer: sk_live_1}\n",
	  "targets.d/crm.yaml:3:16: bearer: secrets are not written in the file, allowed: "
	  "credential:NAME, file:PATH, env:NAME\n" },
	{ "a token in place of auth", HEAD "auth: sk_live_1\n",
	  "targets.d/crm.yaml:3:7: auth: allowed: none, or one of bearer, basic, header, "
	  "oauth2, sigv4, hmac\n" },
	{ "a password in the file", HEAD "auth: {basic: {user: u, password: hunter2}}\n",
	  "targets.d/crm.yaml:3:35: password: secrets are not written in the file, allowed: "
	  "credential:NAME, file:PATH, env:NAME\n" },
	{ "a user with a colon", HEAD "auth: {basic: {user: \"a:b\", password: \"env:P\"}}\n",
	  "targets.d/crm.yaml:3:22: user: a user name with \":\" cannot be sent\n" },
	{ "a login without parts", HEAD "auth: {header: {}}\n",
	  "targets.d/crm.yaml:3:16: header: name is missing: name of the header\n"
	  "targets.d/crm.yaml:3:16: header: value is missing: a secret\n" },
	{ "two logins", HEAD "auth: {bearer: \"env:A\", basic: {user: u, password: \"env:P\"}}\n",
	  "targets.d/crm.yaml:3:7: auth: allowed: none, or one of bearer, basic, header, "
	  "oauth2, sigv4, hmac\n" },
	{ "credentials as a header", HEAD "headers: {Authorization: Bearer sk_live_1, Cookie: a}\n",
	  "targets.d/crm.yaml:3:11: Authorization: credentials belong to auth of the target\n"
	  "targets.d/crm.yaml:3:44: Cookie: credentials belong to auth of the target\n" },
	{ "headers that break the framing",
	  HEAD "headers: {Host: a, Transfer-Encoding: chunked, \"A B\": c, X: \"a\\nY: b\"}\n",
	  "targets.d/crm.yaml:3:11: Host: is set from base of the target\n"
	  "targets.d/crm.yaml:3:20: Transfer-Encoding: is set from the body\n"
	  "targets.d/crm.yaml:3:48: A B: is no name of a header\n"
	  "targets.d/crm.yaml:3:61: X: a control character in a header\n" },
	/* tokens that are given */
	{ "oauth2 with all it has",
	  HEAD "auth: {oauth2: {token_url: /token, client_id: \"env:ID\", client_secret: \"env:S\",\n"
	       "  scope: a b, style: body, refresh_token: \"file:r\"}}\n",
	  "" },
	{ "a whole address for tokens",
	  HEAD "auth: {oauth2: {token_url: https://login.example.com/t/, client_id: us, "
	       "client_secret: \"env:S\"}}\n",
	  "" },
	{ "oauth2 without parts", HEAD "auth: {oauth2: {}}\n",
	  "targets.d/crm.yaml:3:16: oauth2: token_url is missing: where tokens are given: a path "
	  "below base, or a whole URL\n"
	  "targets.d/crm.yaml:3:16: oauth2: client_id is missing: name or secret\n"
	  "targets.d/crm.yaml:3:16: oauth2: client_secret is missing: a secret\n" },
	{ "tokens over plain http",
	  HEAD "auth: {oauth2: {token_url: http://login.example.com/t, client_id: us, "
	       "client_secret: \"env:S\"}}\n",
	  "targets.d/crm.yaml:3:28: token_url: http is for loopback only, allowed: https, or "
	  "insecure: true beside it\n" },
	{ "tokens from elsewhere over plain http, which no socket makes safe",
	  "target: crm\nbase: http://adapter/v1\nsocket: /run/adapter.sock\n"
	  "auth: {oauth2: {token_url: http://login.example.com/t, client_id: us, "
	  "client_secret: \"env:S\"}}\n",
	  "targets.d/crm.yaml:4:28: token_url: http is for loopback only, allowed: https, or "
	  "insecure: true beside it\n" },
	{ "tokens below the base, through its socket",
	  "target: crm\nbase: http://adapter/v1\nsocket: /run/adapter.sock\n"
	  "auth: {oauth2: {token_url: /t, client_id: us, client_secret: \"env:S\"}}\n",
	  "" },
	{ "tokens from a metadata service",
	  HEAD "auth: {oauth2: {token_url: https://169.254.169.254/t, client_id: us, "
	       "client_secret: \"env:S\"}}\n",
	  "targets.d/crm.yaml:3:28: token_url: the address of a cloud metadata service is never "
	  "asked\n" },
	{ "a path for tokens that leaves the base",
	  HEAD "auth: {oauth2: {token_url: /../t, client_id: us, client_secret: \"env:S\"}}\n",
	  "targets.d/crm.yaml:3:28: token_url: no \".\" or \"..\" in a base\n" },
	{ "the secret of a client in the file",
	  HEAD "auth: {oauth2: {token_url: /t, client_id: us, client_secret: hunter2, "
	       "refresh_token: r2}}\n",
	  "targets.d/crm.yaml:3:62: client_secret: secrets are not written in the file, allowed: "
	  "credential:NAME, file:PATH, env:NAME\n"
	  "targets.d/crm.yaml:3:86: refresh_token: secrets are not written in the file, allowed: "
	  "credential:NAME, file:PATH, env:NAME\n" },
	{ "an unknown style",
	  HEAD "auth: {oauth2: {token_url: /t, client_id: us, client_secret: \"env:S\", style: "
	       "header}}\n",
	  "targets.d/crm.yaml:3:78: style: found \"header\", allowed: basic, body\n" },
	/* signatures */
	{ "sigv4 with all it has",
	  HEAD "auth: {sigv4: {region: eu-central-1, service: s3, access_key: \"env:K\", secret_key: "
	       "\"credential:aws\", session_token: \"env:T\"}}\n",
	  "" },
	{ "an access key may stand in the file, its secret may not",
	  HEAD "auth: {sigv4: {region: eu central, service: S3, access_key: AKIDEXAMPLE, "
	       "secret_key: hunter2}}\n",
	  "targets.d/crm.yaml:3:24: region: found \"eu central\", allowed: lower-case letters, "
	  "digits, \"-\"\n"
	  "targets.d/crm.yaml:3:45: service: found \"S3\", allowed: lower-case letters, digits, "
	  "\"-\"\n"
	  "targets.d/crm.yaml:3:86: secret_key: secrets are not written in the file, allowed: "
	  "credential:NAME, file:PATH, env:NAME\n" },
	{ "hmac with all it has",
	  HEAD "auth: {hmac: {algorithm: sha512, key: \"file:k\", encoding: base64, header: "
	       "X-Signature,\n  sign: \"{method}\\n{path}\\n{timestamp}\\n{body_sha256}\"}}\n",
	  "" },
	{ "a signature within a header",
	  HEAD "auth: {hmac: {key: \"env:K\", header: Authorization, sign: \"{date}\"}}\n"
	       "headers: {authorization: \"HMAC us:{signature}\", Date: \"{date}\"}\n",
	  "" },
	{ "a header of credentials without one",
	  HEAD "auth: {hmac: {key: \"env:K\", header: Authorization, sign: \"{date}\"}}\n"
	       "headers: {Authorization: \"Bearer hunter2\"}\n",
	  "targets.d/crm.yaml:4:11: Authorization: credentials belong to auth of the target\n" },
	{ "what is no part of a request",
	  HEAD "auth: {hmac: {key: \"env:K\", header: X-Sig, sign: \"{method} {nope}\"}}\n",
	  "targets.d/crm.yaml:3:50: sign: \"{nope}\" is no part of a request, allowed: {method}, "
	  "{path}, {query}, {host}, {body}, {body_sha256}, {timestamp}, {timestamp_ms}, {date}, "
	  "{nonce}\n" },
	{ "hmac without parts", HEAD "auth: {hmac: {algorithm: md5, encoding: utf16, header: \"a b\"}}\n",
	  "targets.d/crm.yaml:3:14: hmac: key is missing: a secret\n"
	  "targets.d/crm.yaml:3:14: hmac: sign is missing: what is signed\n"
	  "targets.d/crm.yaml:3:26: algorithm: found \"md5\", allowed: sha256, sha512, sha1\n"
	  "targets.d/crm.yaml:3:41: encoding: found \"utf16\", allowed: hex, base64\n"
	  "targets.d/crm.yaml:3:56: header: is no name of a header\n" },
	/* the way */
	{ "a certificate of ours",
	  HEAD "tls: {ca: ca.pem, cert: c.pem, key: \"credential:client.key\", min: \"1.3\"}\n", "" },
	{ "its key in a file", HEAD "tls: {cert: c.pem, key: c.key, min: 1.2}\n", "" },
	{ "a certificate alone, old versions", HEAD "tls: {cert: c.pem, min: \"1.1\"}\n",
	  "targets.d/crm.yaml:3:7: cert: needs key beside it\n"
	  "targets.d/crm.yaml:3:25: min: found \"1.1\", allowed: 1.2, 1.3; nearest: 1.2\n" },
	{ "a key alone", HEAD "tls: {key: c.key}\n",
	  "targets.d/crm.yaml:3:7: key: needs cert beside it\n" },
	{ "a key in the file", HEAD "tls: {cert: c.pem, key: \"-----BEGIN\\nhunter2\"}\n",
	  "targets.d/crm.yaml:3:25: key: allowed: a file with the key, or a secret\n" },
	{ "a socket", "target: crm\nbase: http://adapter/v1\nsocket: /run/adapter.sock\n", "" },
	{ "a socket needs a base too", "target: crm\nsocket: /run/adapter.sock\n",
	  "targets.d/crm.yaml:1:1: base is missing: the URL of the target\n" },
	{ "a path that no socket has",
	  HEAD "socket: /a23456789/b23456789/c23456789/d23456789/e23456789/f23456789/g23456789/"
	       "h23456789/i23456789/k23456789/j2345678\n",
	  "targets.d/crm.yaml:3:9: socket: the path of the socket has 109 bytes, allowed: at most "
	  "107\n" },
	{ "a proxy", HEAD "proxy: http://proxy.example.com:3128/\n", "" },
	{ "a proxy with a password", HEAD "proxy: http://u:hunter2@proxy.example.com\n",
	  "targets.d/crm.yaml:3:8: proxy: no user or password in a URL, allowed: a proxy that needs "
	  "none\n" },
	{ "a proxy that is none", HEAD "proxy: proxy:3128\n",
	  "targets.d/crm.yaml:3:8: proxy: not a proxy, allowed: http, https, socks5 or "
	  "socks5h://HOST[:PORT]\n" },
	{ "a proxy with a path", HEAD "proxy: socks5h://[::1]:1080/x\n",
	  "targets.d/crm.yaml:3:8: proxy: nothing follows the host and port of a proxy\n" },
	{ "no proxy leads to a socket", HEAD "socket: a\nproxy: http://b:1\n",
	  "targets.d/crm.yaml:4:1: proxy: contradicts socket, allowed: one of them\n" },
	/* values */
	{ "times", HEAD "timeout: {connect: 20s, total: 15s}\n",
	  "targets.d/crm.yaml:3:10: timeout: connect is longer than total\n" },
	{ "two rates", HEAD "rate: {per_second: 2, per_minute: 3}\n",
	  "targets.d/crm.yaml:3:23: per_minute: contradicts per_second, allowed: one of them\n" },
	{ "a burst of nothing", HEAD "rate: {burst: 2, concurrent: 4}\n",
	  "targets.d/crm.yaml:3:8: burst: needs per_second or per_minute\n" },
	{ "rates out of range", HEAD "rate: {per_second: 0, burst: 0, concurrent: 1001}\n",
	  "targets.d/crm.yaml:3:20: per_second: found \"0\", allowed: 1 to 100000\n"
	  "targets.d/crm.yaml:3:30: burst: found \"0\", allowed: 1 to 100000\n"
	  "targets.d/crm.yaml:3:45: concurrent: found \"1001\", allowed: 1 to 1000\n" },
	{ "a rate as a number", HEAD "rate: 5\n",
	  "targets.d/crm.yaml:3:7: rate: found \"5\", allowed: a mapping with concurrent, "
	  "per_second, per_minute, burst\n" },
	{ "retries", HEAD "retry: {attempts: 11, backoff: 0ms, max: 301s}\n",
	  "targets.d/crm.yaml:3:19: attempts: found \"11\", allowed: 1 to 10\n"
	  "targets.d/crm.yaml:3:32: backoff: found \"0ms\", allowed: a duration like 90s, 15m, "
	  "24h, 30d, from 1ms to 1m\n"
	  "targets.d/crm.yaml:3:42: max: found \"301s\", allowed: a duration like 90s, 15m, 24h, "
	  "30d, from 1ms to 5m\n" },
	{ "a pause above its maximum", HEAD "retry: {backoff: 2s, max: 1500ms}\n",
	  "targets.d/crm.yaml:3:8: retry: backoff is longer than max\n" },
	{ "a pause above the usual maximum", HEAD "retry: {backoff: 6s}\n",
	  "targets.d/crm.yaml:3:8: retry: backoff is longer than max\n" },
	{ "a breaker", HEAD "breaker: {failures: 0, open: 500ms, trial: 0}\n",
	  "targets.d/crm.yaml:3:21: failures: found \"0\", allowed: 1 to 1000\n"
	  "targets.d/crm.yaml:3:30: open: found \"500ms\", allowed: a duration like 90s, 15m, "
	  "24h, 30d, from 1s to 1h\n"
	  "targets.d/crm.yaml:3:44: trial: found \"0\", allowed: 1 to 100\n" },
	{ "sizes", HEAD "max_body: 1MB\n",
	  "targets.d/crm.yaml:3:11: max_body: found \"1MB\", allowed: bytes like 4096, 64KiB, "
	  "1MiB, "
	  "from 1024 to 67108864\n" },
	{ "sizes out of range", HEAD "max_body: 65MiB\n",
	  "targets.d/crm.yaml:3:11: max_body: found \"65MiB\", allowed: bytes like 4096, 64KiB, "
	  "1MiB, from 1024 to 67108864\n" },
	{ "answers know no operation", HEAD "broken: [{op.version: \"1\"}]\n",
	  "targets.d/crm.yaml:3:9: broken: looks at answers of the target, not at operations\n" },
	{ "an empty answer", HEAD "throttled: [{}]\nbroken: []\n",
	  "targets.d/crm.yaml:3:12: throttled: an empty condition would recognise everything\n"
	  "targets.d/crm.yaml:4:9: broken: an empty list never holds\n" },
	{ "an answer that contradicts itself",
	  HEAD "broken: [{/e: {present: true}}, {/e: {is: a, not: a}}]\n",
	  "targets.d/crm.yaml:3:38: /e: never holds: its tests contradict each other\n" },
	/* control */
	{ "a control that is never found", HEAD "control: {get: /c, found: {status: 503}}\n",
	  "targets.d/crm.yaml:3:36: status: never holds: 408, 425, 429 and 5xx are no evidence before "
	  "any rule\n" },
	{ "a control with a placeholder",
	  HEAD "control: {get: \"/c/{entity_id}\", found: {status: 200}}\n",
	  "targets.d/crm.yaml:3:10: control: a control has no operation, so no placeholders\n" },
	{ "a control that recognises nothing", HEAD "control: {get: /c}\n",
	  "targets.d/crm.yaml:3:10: control: found is missing: which answer is usable\n" },
	{ "a control with keys of a probe",
	  HEAD "control: {get: /c, found: {status: 200}, items: /x}\n",
	  "targets.d/crm.yaml:3:42: items: unknown key; allowed: get, head, post, "
	  "query, headers, json, form, text, reads, found\n" },
	{ "a control as a word", HEAD "control: nothing\n",
	  "targets.d/crm.yaml:3:10: control: found \"nothing\", allowed: none, or the probe of an "
	  "object that exists\n" },
};

#define BASE "targets.d/crm.yaml:2:7: base: "
#define METADATA BASE "the address of a cloud metadata service is never asked\n"
#define PLAIN BASE "http is for loopback only, allowed: https, or insecure: true beside it\n"
#define USER BASE "no user or password in a URL, allowed: auth\n"

static const struct {
	const char *base, *want;
} bases[] = {
	{ "https://a.example", "" },
	{ "https://a.example:8443/x/y/", "" },
	{ "HTTPS://A.Example", "" },
	{ "https://[2001:db8::1]:8443/x", "" },
	{ "http://localhost:8080", "" },
	{ "http://127.0.0.1:8080/x", "" },
	{ "http://127.3.2.1", "" },
	{ "http://[::1]:8080", "" },
	{ "http://a.example", PLAIN },
	{ "http://10.0.0.1", PLAIN },
	{ "http://localhost.example.com", PLAIN },
	{ "http://[::2]", PLAIN },
	{ "ftp://a.example", BASE "not an https URL, allowed: https://HOST[:PORT][/PATH]\n" },
	{ "a.example", BASE "not an https URL, allowed: https://HOST[:PORT][/PATH]\n" },
	{ "https://", BASE "no host in the URL\n" },
	{ "https:///x", BASE "no host in the URL\n" },
	{ "https://u:hunter2@a.example", USER },
	{ "https://a.example@b.example", USER },
	{ "https://a.example/x?key=hunter2", BASE "no query and no fragment in a base\n" },
	{ "https://a.example/x#y", BASE "no query and no fragment in a base\n" },
	{ "https://a.example:0", BASE "the port is not 1 to 65535\n" },
	{ "https://a.example:65536", BASE "the port is not 1 to 65535\n" },
	{ "https://a.example:x", BASE "the port is not 1 to 65535\n" },
	{ "https://a.example:80x", BASE "only a port and a path may follow the host\n" },
	{ "https://a b.example", BASE "a character in the host that no host has\n" },
	{ "https://[::1", BASE "no closing bracket behind the address\n" },
	{ "https://[a.example]", BASE "the host is no name and no address\n" },
	{ "https://[fe80::1%eth0]", BASE "a character in the host that no host has\n" },
	{ "https://a.example/x/../y", BASE "no \".\" or \"..\" in a base\n" },
	{ "https://a.example/..", BASE "no \".\" or \"..\" in a base\n" },
	{ "https://a.example/%2e%2e/", BASE "a character in the path that no base has\n" },
	{ "https://a.example/{x}", BASE "a character in the path that no base has\n" },
	/* one address in all its spellings */
	{ "https://169.254.169.254", METADATA },
	{ "http://169.254.169.254/latest", METADATA },
	{ "https://169.254.169.254.", METADATA },
	{ "https://2852039166", METADATA },
	{ "https://0xa9fea9fe", METADATA },
	{ "https://0xA9.0xFE.0xA9.0xFE", METADATA },
	{ "https://0251.0376.0251.0376", METADATA },
	{ "https://169.254.43518", METADATA },
	{ "https://169.16689662", METADATA },
	{ "https://[::ffff:169.254.169.254]", METADATA },
	{ "https://[::ffff:a9fe:a9fe]", METADATA },
	{ "https://[64:ff9b::a9fe:a9fe]", METADATA },
	{ "https://169.254.170.2", METADATA },
	{ "https://[2002:a9fe:a9fe::]", METADATA },
	{ "https://[fd00:ec2::254]", METADATA },
	{ "https://[FD00:0EC2:0:0:0:0:0:254]", METADATA },
	{ "https://[fe80::a9fe:a9fe]", METADATA },
	{ "https://100.100.100.200", METADATA },
	{ "https://192.0.0.192", METADATA },
	{ "https://metadata.google.internal", METADATA },
	{ "https://Metadata.Google.Internal./computeMetadata", METADATA },
	{ "https://metadata", METADATA },
	{ "https://instance-data", METADATA },
};

static void
test_bases(void)
{
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		char text[300];

		snprintf(text, sizeof(text), "target: crm\nbase: \"%s\"\n", bases[i].base);
		case_write("targets.d/crm.yaml", text);
		case_check("targets.d/crm.yaml", bases[i].want, bases[i].base);
	}
	case_write("targets.d/crm.yaml", "target: crm\nbase: http://10.0.0.1\ninsecure: true\n");
	case_check("targets.d/crm.yaml", "", "http to another machine with insecure: true");
	case_write("targets.d/crm.yaml",
		   "target: crm\nbase: http://169.254.169.254\ninsecure: true\n");
	case_check("targets.d/crm.yaml", METADATA, "insecure: true opens no metadata service");
}

static const char loaded[] =
	"target: crm\n"
	"base: https://crm.example.com/api///\n"
	"auth: {basic: {user: \"env:USER_NAME\", password: \"env:PASSWORD\"}}\n"
	"tls: {ca: ca.pem}\n"
	"headers: {Accept-Language: en, X-Tenant: NO}\n"
	"control: {head: /control, headers: {X-A: b}, found: [{status: 200}, {status: 204}]}\n";

static void
check_loaded(const struct target *target)
{
	tap_str(target->base, "https://crm.example.com/api", "base ends without /");
	tap_int(target->auth.kind, AUTH_BASIC, "auth");
	tap_str(secret_reveal(target->auth.user_secret), "u-1", "user as a secret");
	tap_str(secret_reveal(target->auth.secret), "p-1", "password");
	tap_str(target->tls_ca, case_path("targets.d/ca.pem"), "ca beside the file");
	tap_int((long long)target->headers_count, 2, "headers");
	tap_str(target->headers[0].name, "accept-language", "in lower case");
	tap_str(target->headers[1].value, "NO", "NO stays a text");
	tap_int(target->connect_timeout_us, 3 * SECOND, "connect");
	tap_int(target->total_timeout_us, 15 * SECOND, "total");
	tap_int(target->max_body_bytes, 1 << 20, "max_body");
	tap_int(target->concurrent, 8, "concurrent");
	tap_int(target->rate_count, 0, "no rate");
	tap_int(target->retry_attempts, 2, "retry.attempts");
	tap_int(target->retry_backoff_us, 200 * MILLISECOND, "retry.backoff");
	tap_int(target->retry_max_us, 5 * SECOND, "retry.max");
	tap_int(target->breaker_failures, 5, "breaker.failures");
	tap_int(target->breaker_open_us, 30 * SECOND, "breaker.open");
	tap_int(target->breaker_trial, 1, "breaker.trial");
	tap_int(target->control_every_us, 5 * MINUTE, "control every");
	tap_int(target->rules.control->method, METHOD_HEAD, "control");
	tap_str(target->rules.control->path.text, "/control", "its path");
	tap_int((long long)target->rules.control->found.count, 2, "two answers are found");
}

static void
test_loaded(void)
{
	struct problems *problems = problems_create();
	struct config *config;

	setenv("USER_NAME", "u-1", 1);
	setenv("PASSWORD", "p-1", 1);
	setenv("HASH_KEY", "0123456789abcdef0123456789abcdef", 1);
	case_write("reconciled.yaml", "evidence_hash_key: env:HASH_KEY\n");
	case_write("targets.d/crm.yaml", loaded);
	case_write("targets.d/ca.pem", "x");
	config = config_load(case_path("reconciled.yaml"), CONFIG_ALL | CONFIG_SECRETS, problems);
	problems_print(problems, stdout);
	if (tap_ok(config != NULL, "a target loads with its secrets"))
		check_loaded(config_target(config, "crm"));
	tap_ok(config && config_target(config, "shop") == NULL, "another does not exist");
	config_unref(config);
	unlink(case_path("targets.d/ca.pem"));
	unsetenv("PASSWORD");
	config = config_load(case_path("reconciled.yaml"), CONFIG_ALL, problems);
	tap_ok(config != NULL, "without looking at secrets it loads without them");
	config_unref(config);
	case_load(
		CONFIG_ALL | CONFIG_SECRETS,
		"targets.d/crm.yaml:3:49: password: secret \"env:PASSWORD\": the environment has "
		"no "
		"variable \"PASSWORD\"\n"
		"targets.d/crm.yaml:4:11: ca: could not read \"targets.d/ca.pem\": No such file or "
		"directory\n",
		"missing secrets and files are named");
	problems_destroy(problems);
}

/* Loads a target without looking at secrets; NULL after a failed test. */
static struct config *
load_target(const char *text, const char *name)
{
	struct problems *problems = problems_create();
	struct config *config;

	case_write("targets.d/crm.yaml", text);
	config = config_load(case_path("reconciled.yaml"), CONFIG_ALL, problems);
	tap_ok(config != NULL, "%s", name);
	problems_print(problems, stdout);
	problems_destroy(problems);
	return config;
}

static void
test_logins(void)
{
	struct config *config = load_target(
		"auth: {oauth2: {token_url: /t, client_id: us, client_secret: \"env:S\", style: body}}\n"
		"target: crm\nbase: https://crm.example.com:8443/api/\n",
		"a target with tokens");
	const struct auth *auth = config ? &config_target(config, "crm")->auth : NULL;

	if (auth) {
		tap_int(auth->kind, AUTH_OAUTH2, "oauth2");
		tap_str(auth->oauth2.token_url, "https://crm.example.com:8443/api/t",
			"a path becomes whole, wherever base stands");
		tap_str(auth->oauth2.client_id.text, "us", "a name in the file");
		tap_int(auth->oauth2.style, OAUTH2_BODY, "style");
		tap_ok(auth->oauth2.scope == NULL, "no scope");
	}
	config_unref(config);
	config = load_target(HEAD "auth: {oauth2: {token_url: https://login.example.com/t/, client_id: "
				  "us, client_secret: \"env:S\"}}\n",
			     "tokens from elsewhere");
	if (config) {
		auth = &config_target(config, "crm")->auth;
		tap_str(auth->oauth2.token_url, "https://login.example.com/t/", "the address stays");
		tap_int(auth->oauth2.style, OAUTH2_BASIC, "basic is the usual style");
	}
	config_unref(config);
	config = load_target(HEAD "auth: {hmac: {key: \"env:K\", header: X-Sig, sign: \"{path}\"}}\n"
				  "socket: a.sock\ntls: {min: \"1.3\"}\n",
			     "a target with signatures");
	if (config) {
		const struct target *target = config_target(config, "crm");

		tap_int(target->auth.hmac.rule.algorithm, SIGNING_SHA256, "sha256 is the usual algorithm");
		tap_int(target->auth.hmac.rule.encoding, SIGNING_HEX, "hex the usual encoding");
		tap_str(target->auth.hmac.header, "X-Sig", "header");
		tap_str(target->auth.hmac.rule.sign, "{path}", "sign");
		tap_str(target->socket, case_path("targets.d/a.sock"), "socket beside the file");
		tap_int(target->tls_min, TLS_1_3, "min");
		tap_ok(target->proxy == NULL, "no proxy");
	}
	config_unref(config);
}

static const struct {
	const char *rate;
	int count;
	int64_t period_us;
	int burst, concurrent;
} rates[] = {
	{ "{concurrent: 3}", 0, MINUTE, 1, 3 },
	{ "{per_second: 1}", 1, SECOND, 1, 8 },
	{ "{per_second: 19}", 19, SECOND, 1, 8 },
	{ "{per_second: 20}", 20, SECOND, 2, 8 },
	{ "{per_second: 100000}", 100000, SECOND, 10000, 8 },
	{ "{per_second: 10, burst: 10}", 10, SECOND, 10, 8 },
	{ "{per_minute: 60}", 60, MINUTE, 1, 8 },
	{ "{per_minute: 6000, concurrent: 2}", 6000, MINUTE, 10, 2 },
};

static void
test_rates(void)
{
	struct problems *problems = problems_create();

	setenv("HASH_KEY", "0123456789abcdef0123456789abcdef", 1);
	case_write("reconciled.yaml", "evidence_hash_key: env:HASH_KEY\n");
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		char text[200];
		struct config *config;
		const struct target *target;

		snprintf(text, sizeof(text), HEAD "rate: %s\n", rates[i].rate);
		case_write("targets.d/crm.yaml", text);
		config = config_load(case_path("reconciled.yaml"), CONFIG_ALL, problems);
		target = config ? config_target(config, "crm") : NULL;
		if (!tap_ok(target != NULL, "%s", rates[i].rate))
			continue;
		tap_int(target->rate_count, rates[i].count, "questions");
		if (target->rate_count > 0)
			tap_int(target->rate_period_us, rates[i].period_us, "in this time");
		tap_int(target->rate_burst, rates[i].burst, "at once");
		tap_int(target->concurrent, rates[i].concurrent, "at a time");
		config_unref(config);
	}
	problems_destroy(problems);
}

/* A line end in a token would end its header and begin another. */
static void
test_line_end(void)
{
	setenv("TOKEN", "abc\r", 1);
	case_write("targets.d/crm.yaml", HEAD "auth: {bearer: \"env:TOKEN\"}\n");
	case_load(
		CONFIG_ALL | CONFIG_SECRETS,
		"targets.d/crm.yaml:3:16: bearer: the secret env:TOKEN holds a line end or another "
		"control character\n",
		"a secret with a line end");
}

int
main(void)
{
	case_begin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		case_write("targets.d/crm.yaml", cases[i].text);
		case_check("targets.d/crm.yaml", cases[i].want, cases[i].name);
	}
	test_bases();
	test_loaded();
	test_logins();
	test_rates();
	test_line_end();
	return case_end();
}
