/* SPDX-License-Identifier: Apache-2.0
 *
 * What token endpoints answer: how long a token lives, and what makes it none.
 */
#include "../../src/probe/token_answer.h"

#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "tap.h"

#define TEN_YEARS (10 * 365 * DAY)

#define LIVES(text) "{\"access_token\":\"a1\",\"expires_in\":" text "}"

static const struct {
	const char *name, *body;
	int64_t life_us; /* 0: not said */
} lives[] = {
	{ "an hour", LIVES("3600"), HOUR },
	{ "an hour as text", LIVES("\"3600\""), HOUR },
	{ "a fraction counts nothing", LIVES("90.9"), 90 * SECOND },
	{ "nothing said", "{\"access_token\":\"a1\"}", 0 },
	{ "null", LIVES("null"), 0 },
	{ "none", LIVES("0"), 0 },
	{ "negative", LIVES("-5"), 0 },
	{ "no number", LIVES("\"soon\""), 0 },
	{ "longer than anybody waits", LIVES("999999999999"), TEN_YEARS },
	{ "beyond integers", LIVES("1e300"), TEN_YEARS },
	{ "beyond integers, as text", LIVES("\"1e300\""), TEN_YEARS },
	{ "as far below", LIVES("-1e300"), 0 },
};

static void
test_lives(void)
{
	for (size_t i = 0; i < ARRAY_LEN(lives); i++) {
		struct token_answer answer = { 0 };
		struct err err = { 0 };
		const char *body = lives[i].body;

		tap_ok(token_answer_read(200, body, strlen(body), &answer, &err), "%s",
		       lives[i].name);
		tap_int(answer.expires_in_us, lives[i].life_us, lives[i].name);
		token_answer_finish(&answer);
	}
}

static const struct {
	int status;
	const char *body, *why;
} refusals[] = {
	{ 200, "", "answer is no JSON object" },
	{ 200, "[\"a1\"]", "answer is no JSON object" },
	{ 200, "{}", "answer without a usable access_token" },
	{ 200, "{\"access_token\":\"a b\"}", "answer without a usable access_token" },
	{ 200, "{\"access_token\":\"a1\",\"token_type\":\"mac\"}", "the token is no bearer token" },
	{ 500, "<html>a1</html>", "status 500" },
	{ 400, "{\"error\":\"invalid_client\"}", "invalid_client (status 400)" },
	{ 400, "{\"error\":\"the secret was hunter2\"}", "status 400" },
};

static void
test_refusals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		struct token_answer answer = { 0 };
		struct err err = { 0 };
		const char *body = refusals[i].body;

		tap_ok(!token_answer_read(refusals[i].status, body, strlen(body), &answer, &err),
		       "no token in %s", body);
		tap_str(err.text, refusals[i].why, "why");
		tap_ok(answer.access_token == NULL, "nothing is left");
	}
}

int
main(void)
{
	test_lives();
	test_refusals();
	return tap_done();
}
