/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of policy tests: what a case means where it does not say it, and what does not load.
 */
#include "config_case.h"

#include "reconciled/base/clock.h"
#include "reconciled/config/test_file.h"
#include "reconciled/core/value.h"

#define HEAD "policy: policies.d/order.yaml\ntarget: targets.d/shop.yaml\n"
#define CASE HEAD "cases:\n  - name: one\n    operation: {operation_id: op-1}\n"
#define EXPECT "    expect: {class: correct}\n"
/* 2026-03-01T12:00:00Z */
#define SENT INT64_C(1772366400000000)

static const char policy[] =
	"operation_type: order\ntarget: shop\nprobes:\n"
	"  - {name: by_key, get: \"/orders/{business_key}\", found: {status: 200, /id: {present: true}}}\n"
	"compare: {version: {found: /version, is: op.version}}\n";
static const char target[] =
	"target: shop\nbase: https://shop.example\n"
	"control: {get: /orders/c, found: {status: 200, /id: c}}\n";

static const struct {
	const char *name, *text, *want;
} refused[] = {
	{ "nothing but a name", "policy: a.yaml\n",
	  "t.yaml:1:1: target is missing: path of its target, seen from this file\n"
	  "t.yaml:1:1: cases is missing: what is tried\n" },
	{ "no case", HEAD "cases: []\n", "t.yaml:3:8: cases: found a list, allowed: a list of cases\n" },
	{ "a case without anything", HEAD "cases: [{}]\n",
	  "t.yaml:3:9: cases: name is missing: what the case shows\n"
	  "t.yaml:3:9: cases: operation is missing: the operation that is asked about\n"
	  "t.yaml:3:9: cases: expect is missing: what it must lead to\n" },
	{ "the same name twice",
	  CASE EXPECT "  - {name: one, operation: {}, expect: {class: missing}}\n",
	  "t.yaml:7:12: name: \"one\" names a case already, at line 4\n" },
	{ "an unknown key of the operation",
	  HEAD "cases: [{name: a, operation: {bussiness_key: k}, expect: {class: correct}}]\n",
	  "t.yaml:3:31: bussiness_key: unknown key, nearest known key: business_key\n" },
	{ "a status that does not exist",
	  HEAD "cases: [{name: a, operation: {status: sent}, expect: {class: correct}}]\n",
	  "t.yaml:3:39: status: found \"sent\", allowed: pending, processing, awaiting_confirmation, "
	  "retry_scheduled, manual_review, compensating, confirmed, compensated, not_applicable\n" },
	{ "expected that is no mapping",
	  HEAD "cases: [{name: a, operation: {expected: 7}, expect: {class: correct}}]\n",
	  "t.yaml:3:41: expected: found \"7\", allowed: a mapping of what is expected\n" },
	{ "a probe of another policy",
	  CASE "    readings: [{at: 1m, probe: by_kay, status: 200}]\n" EXPECT,
	  "t.yaml:6:32: probe: the policy has no probe \"by_kay\"; nearest: by_key\n" },
	{ "pages beside a body",
	  CASE "    readings: [{at: 1m, probe: by_key, body: x, pages: [{status: 200}]}]\n" EXPECT,
	  "t.yaml:6:40: body: belongs to one of the pages\n" },
	{ "pages without a page", CASE "    readings: [{at: 1m, probe: by_key, pages: []}]\n" EXPECT,
	  "t.yaml:6:47: pages: found a list, allowed: a list of pages, each with status or fault\n" },
	{ "a page without status",
	  CASE "    readings: [{at: 1m, probe: by_key, pages: [{body: x}]}]\n" EXPECT,
	  "t.yaml:6:48: pages: status or fault is missing: what the target answered\n" },
	{ "a status that no server sends",
	  CASE "    readings: [{at: 1m, probe: by_key, status: 99}]\n" EXPECT,
	  "t.yaml:6:48: status: found \"99\", allowed: 100 to 599\n" },
	{ "a header that is none",
	  CASE "    readings: [{at: 1m, probe: by_key, status: 200, headers: {\"a b\": c}}]\n" EXPECT,
	  "t.yaml:6:63: a b: is no name of a header\n" },
	{ "a secret in the file", CASE EXPECT "secrets: {sk_live: ./key}\n",
	  "t.yaml:7:11: sk_live: is no secret, allowed: credential:NAME, file:PATH, env:NAME\n" },
	{ "what comes later", CASE "    readings: [{at: 1m, probe: by_key, receipt: \"{}\"}]\n" EXPECT,
	  "t.yaml:6:40: receipt: not supported yet\n" },
	{ "two moments of the last send",
	  CASE "    sent: \"2026-03-01T12:00:00Z\"\n" EXPECT
	       "  - name: two\n    operation: {sent_at: \"2026-03-01T12:00:01Z\"}\n"
	       "    sent: \"2026-03-01T12:00:00Z\"\n    expect: {class: missing}\n",
	  "t.yaml:10:5: sent: is another moment than sent_at of the operation\n" },
	{ "a policy that is not there", "policy: none.yaml\ntarget: targets.d/shop.yaml\ncases: [{name: a, "
	  "operation: {}, expect: {class: correct}}]\n",
	  "none.yaml: could not open the file: No such file or directory\n" },
	{ "a policy in place of its tests", "operation_type: a\ntarget: crm\nprobes: []\n",
	  "t.yaml:1:1: holds a policy, which policy check checks; allowed: policy tests\n" },
	{ "a target in place of tests", "target: crm\nbase: https://a.example\n",
	  "t.yaml:1:1: holds a target, which policy check checks; allowed: policy tests\n" },
};

static struct test_file *
load(const char *text, struct problems *problems)
{
	case_write("t.yaml", text);
	return test_file_load(case_path("t.yaml"), problems);
}

static void
test_refused(void)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct problems *problems = problems_create();
		struct test_file *tests = load(refused[i].text, problems);
		char *lines = case_lines(problems);

		case_keep(lines, false);
		tap_str(lines, refused[i].want, refused[i].name);
		tap_ok(tests == NULL, "nothing comes back");
		free(lines);
		test_file_destroy(tests);
		problems_destroy(problems);
	}
}

/* The first case of a file that loads. */
static const struct test_case *
loaded(struct test_file **ret_tests, const char *text)
{
	struct problems *problems = problems_create();
	struct test_file *tests = load(text, problems);

	if (!tests) {
		problems_print(problems, stdout);
		printf("Bail out! the file does not load\n");
		exit(1);
	}
	problems_destroy(problems);
	*ret_tests = tests;
	return &tests->cases[0];
}

static void
test_defaults(void)
{
	struct test_file *tests;
	const struct test_case *test = loaded(&tests, CASE EXPECT);
	const struct operation *op = &test->op;

	tap_str(tests->policy->operation_type, "order", "its policy");
	tap_str(tests->target->rules.target, "shop", "its target");
	tap_int((long long)tests->cases_count, 1, "one case");
	tap_str(op->operation_type, "order", "the type is that of the policy");
	tap_str(op->entity_state, "active", "the entity is active");
	tap_str(op->idempotency_key, "", "no key");
	tap_int(op->status, STATUS_AWAITING_CONFIRMATION, "it was sent");
	tap_int(op->sent_at_us, SENT, "on the first of March 2026, at noon");
	tap_int(op->first_sent_at_us, SENT, "for the first time");
	tap_int(op->created_at_us, SENT, "at once");
	tap_ok(op->attempt_until_us == TIME_NONE, "no attempt is alive");
	tap_int(op->attempts, 1, "by one attempt");
	tap_ok(op->expected && op->expected->kind == VALUE_OBJECT && op->expected->count == 0,
	       "nothing is expected");
	tap_int(test->control, CONTROL_FOUND, "the control was found");
	tap_ok(test->now_us == TIME_NONE, "judged at the last reading");
	tap_int(test->expected.action, ACTION_COUNT, "any action");
	tap_ok(test->expected.reason == NULL && test->expected.rule == NULL, "any reason and rule");
	test_file_destroy(tests);
}

static void
test_times(void)
{
	struct test_file *tests;
	const struct test_case *test =
		loaded(&tests, HEAD "cases: [{name: a, operation: {first_sent_at: null}, expect: {class: "
				    "waiting}}]\n");

	tap_int(test->op.status, STATUS_PENDING, "what was never sent is pending");
	tap_ok(test->op.sent_at_us == TIME_NONE, "and has no last send");
	tap_int(test->op.attempts, 0, "and no attempt");
	test_file_destroy(tests);
	test = loaded(&tests, HEAD "cases: [{name: a, operation: {sent_at: null}, expect: {class: waiting}}]\n");
	tap_int(test->op.status, STATUS_PROCESSING, "what a worker began is processing");
	tap_int(test->op.first_sent_at_us, SENT, "since then");
	test_file_destroy(tests);
	test = loaded(&tests, HEAD "cases: [{name: a, operation: {sent_at: \"2026-03-01T13:00:00+01:00\", "
				   "created_at: \"2026-03-01T11:00:00Z\"}, now: 3h, expect: {class: waiting}}]\n");
	tap_int(test->sent_us, SENT, "an offset is heeded");
	tap_int(test->op.created_at_us, SENT - HOUR, "an earlier request");
	tap_int(test->now_us, 3 * HOUR, "judged three hours after the send");
	test_file_destroy(tests);
}

static const struct {
	const char *text;
	enum value_kind kind;
	const char *want;
} scalars[] = {
	{ "7", VALUE_NUMBER, "7" },
	{ "-7.50e2", VALUE_NUMBER, "-7.50e2" },
	{ "12345678901234567890123", VALUE_NUMBER, "12345678901234567890123" },
	{ "\"7\"", VALUE_TEXT, "7" },
	{ "'true'", VALUE_TEXT, "true" },
	{ "true", VALUE_BOOL, "true" },
	{ "false", VALUE_BOOL, "false" },
	{ "yes", VALUE_TEXT, "yes" },
	{ "007", VALUE_TEXT, "007" },
	{ "+1", VALUE_TEXT, "+1" },
	{ "0", VALUE_NUMBER, "0" },
	{ "0.10", VALUE_NUMBER, "0.10" },
	{ "EUR", VALUE_TEXT, "EUR" },
	{ "\"\"", VALUE_TEXT, "" },
};

static void
test_expected(void)
{
	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
		struct test_file *tests;
		const struct value *value;
		char text[400];

		snprintf(text, sizeof(text),
			 HEAD "cases: [{name: a, operation: {expected: {x: %s, y: null, z: [1, {a: b}]}}, "
			      "expect: {class: correct}}]\n",
			 scalars[i].text);
		value = loaded(&tests, text)->op.expected;
		tap_int(value->count, 3, scalars[i].text);
		tap_int(value->first->kind, scalars[i].kind, "its kind");
		tap_str(value->first->text, scalars[i].want, "its text");
		tap_int(value->first->next->kind, VALUE_NULL, "null");
		tap_str(value_member(value->last->last, "a", 1)->text, "b", "a list, and a mapping in it");
		test_file_destroy(tests);
	}
}

static void
test_readings(void)
{
	struct test_file *tests;
	const struct test_case *test =
		loaded(&tests,
		       CASE "    readings:\n"
			    "      - {at: 20m, probe: by_key, status: 404, headers: {X-A: \"1\"}, body: gone}\n"
			    "      - {at: 1h, probe: by_key, fault: dns}\n"
			    "      - {at: 2h, probe: by_key, pages: [{status: 200, body: a}, {fault: tls}]}\n"
			    "    control: absent\n"
			    "    expect: {class: ambiguous, reason: give_up, rule: \"judge[0]\", action: review}\n");
	const struct test_reading *readings = test->readings;

	tap_int((long long)test->readings_count, 3, "three readings");
	tap_int(readings[0].at_us, 20 * MINUTE, "the first after twenty minutes");
	tap_int(readings[0].pages[0].status, 404, "its status");
	tap_int(readings[0].pages[0].fault, REASON_COUNT, "no fault");
	tap_str(readings[0].pages[0].headers[0].name, "x-a", "names of headers in lower case");
	tap_str(readings[0].pages[0].body, "gone", "its body");
	tap_int(readings[1].pages[0].fault, REASON_DNS, "a fault");
	tap_int((long long)readings[2].pages_count, 2, "two pages");
	tap_int(readings[2].pages[1].fault, REASON_TLS, "the second failed");
	tap_int(test->control, CONTROL_LOST, "the control is lost");
	tap_str(test->expected.rule, "judge[0]", "a rule with its number");
	tap_int(test->expected.action, ACTION_REVIEW, "an action");
	test_file_destroy(tests);
}

static void
test_no_control(void)
{
	struct test_file *tests;

	case_write("targets.d/shop.yaml", "target: shop\nbase: https://shop.example\n");
	tap_int(loaded(&tests, CASE "    control: absent\n" EXPECT)->control, CONTROL_NONE,
		"a target without a control cannot lose it");
	test_file_destroy(tests);
}

int
main(void)
{
	case_begin();
	case_write("policies.d/order.yaml", policy);
	case_write("targets.d/shop.yaml", target);
	test_refused();
	test_defaults();
	test_times();
	test_expected();
	test_readings();
	test_no_control();
	return case_end();
}
