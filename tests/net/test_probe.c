/* SPDX-License-Identifier: Apache-2.0
 *
 * From a question over the wire to a reading: what each misbehaviour of a target is evidence of,
 * what is sent where, and how many at once. Values are from the policy language and from failures
 * that people reported (ids in the names).
 */
#include <unistd.h>

#include "asking.h"

static const struct {
	const char *id, *path;
	enum reading_kind kind;
	enum reason reason;
} answers[] = {
	{ "found", "/found", READING_FOUND, REASON_COUNT },
	{ "absent", "/absent", READING_ABSENT, REASON_COUNT },
	{ "gzip", "/gzip", READING_FOUND, REASON_COUNT },
	{ "byte order mark", "/bom", READING_FOUND, REASON_COUNT },
	{ "trap 1", "/html404", READING_UNAVAILABLE, REASON_HTTP_4XX },
	{ "P01 a", "/html502", READING_UNAVAILABLE, REASON_HTTP_5XX },
	{ "P01 b", "/html200", READING_INCOMPLETE, REASON_NOT_JSON },
	{ "P01 c", "/json500", READING_UNAVAILABLE, REASON_HTTP_5XX },
	{ "P03 c", "/empty", READING_INCOMPLETE, REASON_EMPTY_BODY },
	{ "blanks only", "/spaces", READING_INCOMPLETE, REASON_EMPTY_BODY },
	{ "503", "/json503", READING_UNAVAILABLE, REASON_THROTTLED },
	{ "429", "/throttled", READING_UNAVAILABLE, REASON_THROTTLED },
	{ "408", "/json408", READING_UNAVAILABLE, REASON_HTTP_4XX },
	{ "H01 a", "/toolong", READING_UNAVAILABLE, REASON_TRUNCATED },
	{ "H01 b", "/openchunk", READING_UNAVAILABLE, REASON_TRUNCATED },
	{ "H01 c", "/cut", READING_INCOMPLETE, REASON_NOT_JSON },
	{ "headers cut", "/headonly", READING_UNAVAILABLE, REASON_TRUNCATED },
	{ "H02 packed", "/bomb", READING_INCOMPLETE, REASON_TOO_LARGE },
	{ "H02 long", "/huge", READING_INCOMPLETE, REASON_TOO_LARGE },
	{ "H02 deep", "/deep", READING_INCOMPLETE, REASON_TOO_DEEP },
	{ "65 levels", "/deepwhole", READING_INCOMPLETE, REASON_TOO_DEEP },
	{ "header flood", "/flood", READING_INCOMPLETE, REASON_TOO_LARGE },
	{ "H03", "/redirect", READING_UNAVAILABLE, REASON_REDIRECT },
	{ "member twice", "/duplicate", READING_INCOMPLETE, REASON_NOT_JSON },
	{ "closed at once", "/nothing", READING_UNAVAILABLE, REASON_TRANSPORT },
	{ "no HTTP", "/garbage", READING_UNAVAILABLE, REASON_TRANSPORT },
	{ "reset", "/reset", READING_UNAVAILABLE, REASON_TRANSPORT },
	{ "not packed", "/notgzip", READING_UNAVAILABLE, REASON_TRANSPORT },
};

static void
test_answers(void)
{
	begin();

	struct probe_target_options with = options("http", server.plain, "");

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct seen seen = ask_with(&with, answers[i].path);

		expect(&seen, answers[i].kind, answers[i].reason, answers[i].id);
		tap_ok(seen.control == CONTROL_NONE, "%s: no control", answers[i].id);
		tap_ok(seen.reading->response != NULL && seen.reading->request != NULL,
		       "%s: with request and response", answers[i].id);
	}
}

static void
test_no_answer(void)
{
	struct probe_target_options with;
	struct seen seen;

	begin();
	with = options("http", server.plain, "");
	with.total_timeout_us = 300 * MILLISECOND;
	seen = ask_with(&with, "/never");
	expect(&seen, READING_UNAVAILABLE, REASON_TIMEOUT, "P03 a");
	with = options("http", server.refused, "");
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_REFUSED, "P03 b");
	with = options("http", server.full, "");
	with.connect_timeout_us = 300 * MILLISECOND;
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_TIMEOUT, "no connection in time");
	with = options("http", server.plain, "");
	with.base = "http://nowhere.invalid";
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_DNS, "no such name");
	with = options("https", server.tls, "");
	seen = ask_with(&with, "/found");
	expect(&seen, READING_UNAVAILABLE, REASON_TLS, "a certificate nobody vouches for");
	with.ca_file = server.cert;
	seen = ask_with(&with, "/found");
	expect(&seen, READING_FOUND, REASON_COUNT, "its own authority given");
}

/* Whether any text in the answer contains it. */
static bool
answer_has(const struct value *value, const char *text)
{
	if (value == NULL)
		return false;
	if (value->text != NULL && strstr(value->text, text) != NULL)
		return true;
	for (const struct value *child = value->first; child != NULL; child = child->next)
		if (answer_has(child, text))
			return true;
	return false;
}

static void
test_credentials(void)
{
	static const struct header fixed[] = { { "x-tenant", "t1" }, { "accept", "text/json" } };
	/* user "ada", password "s3:cret" (RFC 7617) */
	static const struct {
		enum auth_scheme auth;
		const char *header, *user, *secret, *sent;
	} schemes[] = {
		{ AUTH_SCHEME_BEARER, NULL, NULL, "tok", "Bearer tok" },
		{ AUTH_SCHEME_BASIC, NULL, "ada", "s3:cret", "Basic YWRhOnMzOmNyZXQ=" },
		{ AUTH_SCHEME_HEADER, "X-Api-Key", NULL, "k0", "k0" },
	};

	begin();
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		struct probe_target_options with = options("http", server.plain, "/echo");
		struct probe_target *target;
		struct seen seen;

		with.auth = schemes[i].auth;
		with.auth_header = schemes[i].header;
		with.auth_user = schemes[i].user;
		with.auth_secret = schemes[i].secret;
		with.headers = fixed;
		with.headers_count = ARRAY_LEN(fixed);
		target = probe_engine_add(engine, &with);
		seen = ask(target, "/v1/x");
		tap_ok(answer_has(seen.reading->response->parsed, schemes[i].sent), "%s is sent",
		       schemes[i].sent);
		tap_str(member_text(&seen, "target"), "/echo/v1/x", "below the base");
		tap_ok(answer_has(seen.reading->response->parsed, "t1"), "the target's header");
		tap_ok(answer_has(seen.reading->response->parsed, "text/json"),
		       "accept as the target wants it");
		tap_ok(answer_has(seen.reading->response->parsed, "no-cache"),
		       "P02: an uncached answer is asked for");
	}
}

/* H03 */
static void
test_redirect(void)
{
	begin();

	struct probe_target_options with = options("http", server.plain, "");

	with.auth = AUTH_SCHEME_HEADER;
	with.auth_header = "X-Api-Key";
	with.auth_secret = "k0";

	struct probe_target *target = probe_engine_add(engine, &with);

	ask(target, "/forget");

	struct seen seen = ask(target, "/redirect");

	expect(&seen, READING_UNAVAILABLE, REASON_REDIRECT, "H03: not followed");
	seen = ask(target, "/stats");
	tap_ok(!answer_has(seen.reading->response->parsed, "k0") &&
		       value_member(seen.reading->response->parsed, "recorded", 8)->count == 0,
	       "H03: the other server sees nothing");
}

/* H04: one segment each, as RFC 3986 encodes it. */
static void
test_identifiers(void)
{
	static const struct {
		const char *key, *sent;
	} ids[] = {
		{ "o1", "/echo/o/o1/s" },
		{ "o1#x", "/echo/o/o1%23x/s" },
		{ "o1?x=1", "/echo/o/o1%3Fx%3D1/s" },
		{ "../o2", "/echo/o/..%2Fo2/s" },
		{ "a/b", "/echo/o/a%2Fb/s" },
		{ "o1%2F", "/echo/o/o1%252F/s" },
		{ "a b", "/echo/o/a%20b/s" },
	};
	static const char *const refused[] = { "..", "." };

	begin();

	struct probe_target_options with = options("http", server.plain, "/echo");
	struct probe_target *target = probe_engine_add(engine, &with);
	const struct policy *policy =
		policy_asking("/o/{business_key}/s", "'reference':'^.{1,60}$',");

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		struct seen seen = { 0 };

		op.business_key = ids[i].key;
		start(target, policy->probes, &seen);
		turn(base, &seen.calls, 1);
		tap_str(member_text(&seen, "target"), ids[i].sent, "H04: one encoded segment");
	}
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		op.business_key = refused[i];
		tap_int(probe_applies(policy, policy->probes, &op, arena), APPLIES_BAD_REFERENCE,
			"H04: refused before anything is asked");
	}
}

static void
test_below_base(void)
{
	static const char *const paths[] = { "/../admin", "/a/..", "/a/%2e%2E/b", "/./a", "/a?b" };

	begin();

	struct probe_target_options with = options("http", server.plain, "/echo");
	struct probe_target_options plain = options("http", server.plain, "");
	struct probe_target *target = probe_engine_add(engine, &with);

	ask_with(&plain, "/forget");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct seen seen = ask(target, paths[i]);

		expect(&seen, READING_UNAVAILABLE, REASON_TRANSPORT, paths[i]);
	}

	struct seen seen = ask_with(&plain, "/stats");

	tap_str(member_text(&seen, "requests"), "1", "what would leave the base is not sent");
}

static void
test_post(void)
{
	static const struct json_template member = { .kind = VALUE_NUMBER,
						     .name = "n",
						     .text = { .text = "1" } };
	static const struct json_template object = { .kind = VALUE_OBJECT,
						     .children = &member,
						     .count = 1 };

	begin();

	struct probe_target_options with = options("http", server.plain, "");
	struct probe probe = *asks("/echo");
	struct seen seen = { 0 };

	probe.method = METHOD_POST;
	probe.body = BODY_JSON;
	probe.json = &object;
	start(probe_engine_add(engine, &with), &probe, &seen);
	turn(base, &seen.calls, 1);
	tap_str(member_text(&seen, "method"), "POST", "a reading POST");
	tap_str(member_text(&seen, "body"), "{\"n\":1}", "its body");
	tap_ok(answer_has(seen.reading->response->parsed, "application/json"), "its type");
}

static void
test_control(void)
{
	begin();

	struct probe_target_options plain = options("http", server.plain, "");
	struct probe_target_options with = plain;
	struct probe_target *side = probe_engine_add(engine, &plain);

	with.rules = rules_with_control("/control");
	with.control_every_us = 200 * MILLISECOND;

	struct probe_target *target = probe_engine_add(engine, &with);

	ask(side, "/forget");
	turn_for(base, 50 * MILLISECOND);

	struct seen stats = ask(side, "/stats");

	tap_str(member_text(&stats, "requests"), "1", "a control is not asked without need");
	ready_calls = 0;
	tap_int(probe_target_free(target), 0, "no slot before the control answered");
	turn(base, &ready_calls, 1);
	tap_int(probe_target_free(target), 8, "all slots once it did");

	struct seen seen = ask(target, "/absent");

	tap_ok(seen.control == CONTROL_FOUND, "control found");
	turn_for(base, 450 * MILLISECOND);
	ready_calls = 0;
	tap_int(probe_target_free(target), 0, "an answer older than two periods does not count");
	turn(base, &ready_calls, 1);
	ask(side, "/take_control");
	turn_for(base, 250 * MILLISECOND);
	tap_int(probe_target_free(target), 7,
		"the old answer counts while a new one is asked for, in a slot of its own");
	turn_for(base, 100 * MILLISECOND);
	seen = ask(target, "/absent");
	tap_ok(seen.control == CONTROL_LOST, "control lost");
	ask(side, "/return_control");
	turn_for(base, 450 * MILLISECOND);
	tap_ok(probe_target_control(target) == CONTROL_FOUND,
	       "found again, also when nobody needs it");
	seen = ask(target, "/absent");
	tap_ok(seen.control == CONTROL_FOUND, "and it counts");
}

static void
test_control_unavailable(void)
{
	begin();

	struct probe_target_options with = options("http", server.refused, "");

	with.rules = rules_with_control("/control");

	struct probe_target *target = probe_engine_add(engine, &with);

	tap_int(probe_target_free(target), 0, "the control is asked first");
	turn(base, &ready_calls, 1);
	tap_int(probe_target_free(target), 8, "a control that cannot be asked is an answer too");

	struct seen seen = ask(target, "/absent");

	tap_ok(seen.control == CONTROL_LOST, "it is lost");
	expect(&seen, READING_UNAVAILABLE, REASON_REFUSED, "and the reading says why");
}

struct crowd {
	struct probe_target *target;
	const struct probe *probe;
	struct arena *arena;
	int started, wanted, calls, found;
};

static void on_one(void *owner, const struct probe_answer *answer);

static void
fill(struct crowd *crowd)
{
	while (crowd->started < crowd->wanted && probe_target_free(crowd->target) > 0) {
		struct probe_question question = { .arena = crowd->arena,
						   .probe = crowd->probe,
						   .op = &op };

		crowd->started++;
		probe_start(crowd->target, &question, on_one, crowd);
	}
}

static void
on_one(void *owner, const struct probe_answer *answer)
{
	struct crowd *crowd = owner;

	crowd->calls++;
	crowd->found += answer->reading->kind == READING_FOUND && answer->control == CONTROL_FOUND;
}

static void
on_room(void *owner, struct probe_target *target)
{
	fill(owner);
}

/* C01: the control, which is asked again and again meanwhile, counts as well. */
static void
test_concurrency(void)
{
	begin();

	struct probe_target_options plain = options("http", server.plain, "");
	struct probe_target_options with = plain;

	with.rules = rules_with_control("/slow");
	with.control_every_us = 50 * MILLISECOND;
	ask_with(&plain, "/forget");

	struct crowd crowd = { .target = probe_engine_add(engine, &with),
			       .probe = asks("/slow"),
			       .arena = arena,
			       .wanted = 1000 };

	probe_engine_on_ready(engine, on_room, &crowd);
	fill(&crowd);
	turn(base, &crowd.calls, 1000);
	tap_int(crowd.found, 1000, "C01: a thousand readings, filled by the ready callback alone");
	probe_engine_on_ready(engine, NULL, NULL);

	struct seen stats = ask_with(&plain, "/stats");

	tap_str(member_text(&stats, "most"), "8", "C01: never more than eight at once");
}

struct chain {
	struct probe_target *target;
	int calls;
};

static void
on_link(void *owner, const struct probe_answer *answer)
{
	struct chain *chain = owner;
	struct probe_question question = { .arena = arena, .probe = asks("/found"), .op = &op };

	if (++chain->calls < 20)
		probe_start(chain->target, &question, on_link, chain);
}

static void
test_chain(void)
{
	begin();

	struct probe_target_options with = options("http", server.plain, "");

	with.concurrent = 1;
	with.rules = rules_with_control("/control");
	with.control_every_us = 1;

	struct chain chain = { .target = probe_engine_add(engine, &with) };
	struct probe_question question = { .arena = arena, .probe = asks("/found"), .op = &op };

	probe_start(chain.target, &question, on_link, &chain);
	turn(base, &chain.calls, 20);
	tap_int(chain.calls, 20, "the next question of a look takes the slot of the one before");
}

/* Nobody knows when an answer came that is read after the process stood still. */
static void
test_standstill(void)
{
	begin();

	struct probe_target_options with = options("http", server.plain, "");
	struct probe_target *target = probe_engine_add(engine, &with);
	struct seen before = { 0 }, after = { 0 };
	int64_t stood_us;

	start(target, asks("/slow"), &before);
	turn_for(base, 20 * MILLISECOND);
	stood_us = clock_monotonic_us();
	usleep(1500 * 1000);
	start(target, asks("/found"), &after);
	turn(base, &before.calls, 1);
	turn(base, &after.calls, 1);
	tap_ok(before.answered_us <= stood_us, "what was asked before is as old as the last turn");
	tap_ok(after.answered_us >= stood_us + 1500 * MILLISECOND, "what was asked after is not");
}

static void
test_cancel(void)
{
	begin();

	struct probe_target_options with = options("http", server.plain, "");
	struct seen late = { 0 }, seen = { 0 };

	with.concurrent = 1;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct probe_run *run = start(target, asks("/never"), &late);

	turn_for(base, 50 * MILLISECOND);
	tap_int(probe_target_free(target), 0, "taken");
	probe_cancel(run);
	tap_int(ready_calls, 0, "nothing is announced from inside probe_cancel");
	tap_int(probe_target_free(target), 1, "free again");
	turn(base, &ready_calls, 1);
	tap_int(ready_calls, 1, "announced from the loop");
	start(target, asks("/found"), &seen);
	turn(base, &seen.calls, 1);
	expect(&seen, READING_FOUND, REASON_COUNT, "the slot works");
	start(target, asks("/never"), &late);
	turn_for(base, 50 * MILLISECOND);
	begin();
	turn_for(base, 100 * MILLISECOND);
	tap_int(late.calls, 0, "what was cancelled, or ended with the engine, never calls");
}

int
main(void)
{
	setup();
	test_answers();
	test_no_answer();
	test_credentials();
	test_redirect();
	test_identifiers();
	test_below_base();
	test_post();
	test_control();
	test_control_unavailable();
	test_concurrency();
	test_chain();
	test_standstill();
	test_cancel();
	return teardown();
}
