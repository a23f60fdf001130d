/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of a target file and the checks that look at more than one key.
 */
#include "target.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "address.h"
#include "auth.h"
#include "condition.h"
#include "condition_shape.h"
#include "header.h"
#include "loading.h"
#include "probe.h"
#include "reach.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "tls.h"
#include "tree.h"

enum { NAME_BYTES_MAX = 100, HEADERS_MAX = 50, CONCURRENT = 8 };

static const struct shape headers_shape = {
	.kind = SHAPE_MAP,
	.pattern = HEADER_NAME_PATTERN,
	.of = &shape_text,
	.max = HEADERS_MAX,
};

static void
decode_headers(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	struct target *target = at;
	struct header *headers = arena_array(loading->arena, struct header, node->count + 1);
	size_t count = 0;

	if (node->kind != NODE_MAP || node->count > HEADERS_MAX) {
		complain(loading, node, "allowed: a mapping of at most %d names to texts",
			 HEADERS_MAX);
		return;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		char *name = arena_strdup(loading->arena, child->key);

		for (char *c = name; *c != '\0'; c++)
			*c = (char)tolower((unsigned char)*c);
		headers[count].name = name;
		headers[count++].value = text_decode(loading, child, "a text");
	}
	target->headers = headers;
	target->headers_count = count;
}

static void
decode_answers(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	struct conditions *conditions = at;

	if (!conditions_decode(loading, node, conditions))
		return;
	for (size_t i = 0; i < conditions->count; i++)
		if (condition_tests_operation(&conditions->any[i]))
			complain(loading, node,
				 "looks at answers of the target, not at operations");
	reach_check_conditions(loading, node, conditions);
}

static void
decode_socket(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	const char *text = text_decode(loading, node, "the path of a unix socket");
	const char *path = text ? path_beside(loading, text) : NULL;

	if (path && strlen(path) > most)
		complain(loading, node,
			 "the path of the socket has %zu bytes, allowed: at most %zu", strlen(path),
			 most);
	else
		*(const char **)at = path;
}

/* The text is not repeated: it may hold a password. */
static void
decode_proxy(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	const char *text = text_decode(loading, node, "the URL of a proxy");
	struct err err = { 0 };

	if (text && !address_check_proxy(loading->arena, text, at, &err))
		complain(loading, node, "%s", err.text);
}

static const struct field timeout_fields[] = {
	{ "connect", offsetof(struct target, connect_timeout_us),
	  DURATION(10 * MILLISECOND, 5 * MINUTE, 3 * SECOND), .milliseconds = true,
	  .help = "Longest wait for a connection." },
	{ "total", offsetof(struct target, total_timeout_us),
	  DURATION(10 * MILLISECOND, 10 * MINUTE, 15 * SECOND), .milliseconds = true,
	  .help = "Longest wait for a whole answer." },
};
TABLE(timeout_table, timeout_fields);

/* As written; the target has one rate. */
struct rate {
	int concurrent, per_second, per_minute, burst;
};

static const struct field rate_fields[] = {
	{ "concurrent", offsetof(struct rate, concurrent), COUNT(1, 1000, CONCURRENT),
	  .help = "Most questions at a time." },
	{ "per_second", offsetof(struct rate, per_second), COUNT(1, 100000, FIELD_UNSET),
	  .help = "Most questions in a second." },
	{ "per_minute", offsetof(struct rate, per_minute), COUNT(1, 1000000, FIELD_UNSET),
	  .help = "Most questions in a minute." },
	{ "burst", offsetof(struct rate, burst), COUNT(1, 100000, FIELD_UNSET),
	  .help = "Most questions at once after a pause." },
};
TABLE(rate_table, rate_fields);

/* What a tenth of a second allows: few enough to be within what targets count, many enough to keep up. */
static int
standard_burst(const struct target *target)
{
	int64_t burst = target->rate_count * (SECOND / 10) / target->rate_period_us;

	return burst > 1 ? (int)burst : 1;
}

static void
decode_rate(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct target *target = at;
	struct rate rate = { 0 };
	const struct node *per_second, *per_minute, *burst;

	fields_decode(loading, node, &rate_table, &rate);
	if (node->kind != NODE_MAP)
		return;
	per_second = node_member(node, "per_second");
	per_minute = node_member(node, "per_minute");
	burst = node_member(node, "burst");
	if (per_second && per_minute)
		complain_at_key(loading, per_minute,
				"contradicts per_second, allowed: one of them");
	if (burst && !per_second && !per_minute)
		complain_at_key(loading, burst, "needs per_second or per_minute");
	target->concurrent = rate.concurrent;
	target->rate_period_us = rate.per_second > 0 ? SECOND : MINUTE;
	target->rate_count = rate.per_second > 0 ? rate.per_second : rate.per_minute;
	if (target->rate_count <= 0)
		target->rate_count = 0;
	target->rate_burst = rate.burst > 0 ? rate.burst : standard_burst(target);
}

static const struct field retry_fields[] = {
	{ "attempts", offsetof(struct target, retry_attempts), COUNT(1, 10, 2),
	  .help = "Most tries of one question, the first included." },
	{ "backoff", offsetof(struct target, retry_backoff_us),
	  DURATION(MILLISECOND, MINUTE, 200 * MILLISECOND), .milliseconds = true,
	  .help = "Pause before the second try; it doubles." },
	{ "max", offsetof(struct target, retry_max_us),
	  DURATION(MILLISECOND, 5 * MINUTE, 5 * SECOND), .milliseconds = true,
	  .help = "All pauses of one reading together, at most." },
};
TABLE(retry_table, retry_fields);

static const struct field breaker_fields[] = {
	{ "failures", offsetof(struct target, breaker_failures), COUNT(1, 1000, 5),
	  .help = "Failures in a row after which nothing is asked." },
	{ "open", offsetof(struct target, breaker_open_us), DURATION(SECOND, HOUR, 30 * SECOND),
	  .help = "For how long." },
	{ "trial", offsetof(struct target, breaker_trial), COUNT(1, 100, 1),
	  .help = "Questions that then try whether it answers again." },
};
TABLE(breaker_table, breaker_fields);

static const struct field target_fields[] = {
	{ "target", offsetof(struct target, rules.target), TEXT(NULL), .required = true,
	  .help = "name of the target, and of this file" },
	{ "base", offsetof(struct target, base), TEXT(NULL),
	  .help = "URL below which all questions stay." },
	{ "insecure", offsetof(struct target, insecure), BOOL(false),
	  .help = "Allows http to other machines." },
	{ "auth", offsetof(struct target, auth), OWN(auth_decode), .shape = &shape_auth,
	  .table = &auth_table, .help = "How to log in." },
	{ "tls", 0, NESTED(tls_table), .help = "Trust, and who we are." },
	{ "headers", 0, OWN(decode_headers), .shape = &headers_shape,
	  .help = "Headers of every question." },
	{ "timeout", 0, NESTED(timeout_table), .help = "Limits of waiting." },
	{ "max_body", offsetof(struct target, max_body_bytes), BYTES(1024, 64 << 20, 1 << 20),
	  .help = "Most bytes of an answer, decoded." },
	{ "rate", 0, OWN(decode_rate), .table = &rate_table, .help = "What the target bears." },
	{ "retry", 0, NESTED(retry_table), .help = "Tries within one reading." },
	{ "breaker", 0, NESTED(breaker_table), .help = "When it is left alone for a while." },
	{ "throttled", offsetof(struct target, rules.throttled), OWN(decode_answers),
	  .shape = &shape_conditions, .help = "Answers that mean: later." },
	{ "broken", offsetof(struct target, rules.broken), OWN(decode_answers),
	  .shape = &shape_conditions,
	  .help = "Answers that are errors although their status is not." },
	{ "control", offsetof(struct target, rules.control), OWN(control_decode),
	  .shape = &shape_control, .table = &control_table,
	  .help = "A question whose answer is known to be there." },
	{ "socket", offsetof(struct target, socket), OWN(decode_socket), .shape = &shape_text,
	  .help = "Unix socket to speak HTTP on." },
	{ "proxy", offsetof(struct target, proxy), OWN(decode_proxy), .shape = &shape_text,
	  .help = "URL of a proxy to go through." },
	{ "files", 0, LATER },
};
const struct table target_table = { target_fields, ARRAY_LEN(target_fields) };

/* The one that carries a signature may be what credentials stand in otherwise. */
static void
check_headers(struct loading *loading, const struct node *root, const struct target *target)
{
	const struct node *headers = node_member(root, "headers");
	const char *signature = target->auth.kind == AUTH_HMAC ? target->auth.hmac.header : NULL;

	for (const struct node *child = headers ? headers->first : NULL; child; child = child->next)
		if (!signature || strcasecmp(child->key, signature) != 0 ||
		    child->kind != NODE_TEXT || !strstr(child->text, "{signature}"))
			(void)header_check(loading, child);
}

bool
name_is_valid(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.";
	size_t len = strlen(name);

	return len > 0 && len <= NAME_BYTES_MAX && strspn(name, allowed) == len && name[0] != '.' &&
	       name[0] != '-';
}

void
name_check(struct loading *loading, const struct node *root, const char *key)
{
	const struct node *node = node_member(root, key);
	const char *slash = strrchr(loading->file, '/');
	const char *file = slash ? slash + 1 : loading->file;

	if (!node || node->kind != NODE_TEXT)
		return;
	if (!name_is_valid(node->text)) {
		complain_found(loading, node, "1 to 100 letters, digits, \"_\", \"-\", \".\"");
		return;
	}
	if (!loading->any_file_name &&
	    strcmp(file, arena_printf(loading->arena, "%s.yaml", node->text)) != 0)
		complain(loading, node, "%s belongs in a file named %s.yaml, this one is %s",
			 found_words(loading, node), node->text, file);
}

bool
target_has_control(const struct node *root)
{
	const struct node *control = node_member(root, "control");

	return control && control->kind == NODE_MAP;
}

static void
check_base(struct loading *loading, const struct node *root, struct target *target)
{
	const struct node *base = node_member(root, "base");
	struct err err = { 0 };

	if (!base) {
		if (!node_member(root, "files"))
			complain(loading, root, "base is missing: the URL of the target");
		return;
	}
	if (target->base &&
	    !address_check(loading->arena, target->base,
			   target->insecure || node_member(root, "socket"), &target->base, &err))
		complain(loading, base, "%s", err.text);
}

/* A socket is where it is: nothing leads there but the file system. */
static void
check_way(struct loading *loading, const struct node *root)
{
	const struct node *proxy = node_member(root, "proxy");

	if (proxy && node_member(root, "socket"))
		complain_at_key(loading, proxy, "contradicts socket, allowed: one of them");
}

static void
check_timeouts(struct loading *loading, const struct node *root, const struct target *target)
{
	const struct node *timeout = node_member(root, "timeout");

	if (timeout && target->connect_timeout_us > target->total_timeout_us)
		complain(loading, timeout, "connect is longer than total");
}

static void
check_retry(struct loading *loading, const struct node *root, const struct target *target)
{
	const struct node *retry = node_member(root, "retry");

	if (retry && target->retry_backoff_us > target->retry_max_us)
		complain(loading, retry, "backoff is longer than max");
}

void
target_decode(struct loading *loading, const struct node *root, struct target *ret_target)
{
	ret_target->concurrent = CONCURRENT;
	fields_decode(loading, root, &target_table, ret_target);
	ret_target->control_every_us = 5 * MINUTE;
	name_check(loading, root, "target");
	check_base(loading, root, ret_target);
	check_way(loading, root);
	check_headers(loading, root, ret_target);
	auth_check(loading, root, ret_target);
	tls_check(loading, root);
	check_timeouts(loading, root, ret_target);
	check_retry(loading, root, ret_target);
}
