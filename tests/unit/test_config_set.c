/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings, targets and policies together: what only shows over several files.
 */
#include "config_case.h"
#include "reconciled/base/clock.h"

#define KEY "evidence_hash_key: env:HASH_KEY\n"
#define TARGET(name) "target: " name "\nbase: https://a.example\n"
#define POLICY(type, target)                                                                       \
	"operation_type: " type "\ntarget: " target "\n"                                           \
	"probes:\n  - get: /c/{operation_id}\n    found: {status: 200}\n"                          \
	"existence_only: true\n"

static void
test_names(void)
{
	case_write("reconciled.yaml", KEY);
	case_write("targets.d/crm.yaml", TARGET("crm"));
	case_write("policies.d/a.yaml", POLICY("a", "crm"));
	case_write("policies.d/b.yaml", POLICY("a", "crm"));
	case_load(CONFIG_ALL,
		  "policies.d/b.yaml:1:17: operation_type: \"a\" belongs in a file named a.yaml, "
		  "this one is b.yaml\n"
		  "policies.d/b.yaml:1:17: operation_type: \"a\" has a file already, "
		  "policies.d/a.yaml:1:17\n",
		  "one type in two files");
	case_write("policies.d/b.yaml", POLICY("b", "shop"));
	case_write("targets.d/shop.yaml", TARGET("crm"));
	case_load(CONFIG_ALL,
		  "policies.d/b.yaml:2:9: target: there is no target \"shop\", "
		  "no file in the folder of the targets has this name\n"
		  "targets.d/shop.yaml:1:9: target: \"crm\" belongs in a file named crm.yaml, "
		  "this one is shop.yaml\n"
		  "targets.d/shop.yaml:1:9: target: \"crm\" has a file already, "
		  "targets.d/crm.yaml:1:9\n",
		  "one target in two files");
}

/* One problem, not one for each key that the other kind does not have. */
static void
test_kinds(void)
{
	case_write("policies.d/a.yaml", "policy: b.yaml\ntarget: crm.yaml\ncases: [{name: x}]\n");
	case_check("policies.d/a.yaml",
		   "policies.d/a.yaml:1:1: holds policy tests, which policy test tries; allowed: a "
		   "policy, a target\n",
		   "policy tests in place of a policy");
	case_write("policies.d/a.yaml", POLICY("a", "crm"));
}

/* A faulty target is reported once, at its own place, and not by every policy that names it. */
static void
test_all_files(void)
{
	case_write("reconciled.yaml", KEY "batch: 0\nhttp: {users: u}\n");
	case_write("targets.d/crm.yaml", "target: crm\nbase: ftp://a\n");
	case_write("targets.d/shop.yaml", "target: [\n");
	case_write("policies.d/a.yaml", POLICY("a", "crm") "give_up: 0\n");
	case_write("policies.d/b.yaml", POLICY("b", "shop") "actions: {missing: requeue}\n");
	case_load(
		CONFIG_ALL,
		"policies.d/a.yaml:7:10: give_up: found \"0\", allowed: 1 to 10000\n"
		"policies.d/b.yaml:7:20: missing: requeue needs idempotent: key, natural or "
		"conditional\n"
		"reconciled.yaml:2:8: batch: found \"0\", allowed: 1 to 5000\n"
		"reconciled.yaml:3:8: users: not supported yet\n"
		"targets.d/crm.yaml:2:7: base: not an https URL, allowed: "
		"https://HOST[:PORT][/PATH]\n"
		"targets.d/shop.yaml:2:1: not valid YAML: while parsing a flow node, did not find "
		"expected node content\n",
		"all problems of all files, in the order of their places");
}

static void
test_other_files(void)
{
	case_write("reconciled.yaml", KEY);
	case_write("targets.d/crm.yaml", TARGET("crm"));
	unlink(case_path("targets.d/shop.yaml"));
	unlink(case_path("policies.d/b.yaml"));
	case_write("policies.d/a.yaml", POLICY("a", "crm"));
	case_write("policies.d/.hidden.yaml", "x");
	case_write("policies.d/README", "x");
	case_load(CONFIG_ALL, "", "only *.yaml is read");
}

/* SHA-256 of the bytes of the file, written down from sha256sum. */
static void
test_digest(void)
{
	struct problems *problems = problems_create();
	struct config *config;

	case_write("policies.d/a.yaml", POLICY("a", "crm"));
	config = config_load(case_path("reconciled.yaml"), CONFIG_ALL, problems);
	if (tap_ok(config != NULL, "loads")) {
		const struct policy *policy = config_policy(config, "a");

		tap_str(policy->digest,
			"16bca5dc1777598cd0be87e06b4e91fc520a9853d6d829fa026adb2ec03de8fa",
			"the digest of a policy");
		tap_str(policy->text, POLICY("a", "crm"), "its text");
		tap_str(policy->file, case_path("policies.d/a.yaml"), "its file");
		tap_int(policy->latency_window_us, 5 * MINUTE, "latency_window");
		tap_int(policy->absence_confirm, 2, "absence.confirm");
		tap_int(policy->absence_over_us, 5 * MINUTE, "absence.over is the latency window");
		tap_str(policy->probes[0].name, "probe-1", "the name of the first probe");
		tap_str(policy->probes[0].remote_id.text, "/id", "remote_id");
	}
	config_unref(config);
	problems_destroy(problems);
}

static const struct {
	const char *extra;
	int64_t over_us, until_us;
	int approvals;
} defaults[] = {
	{ "absence: {confirm: 1}\ndeadline: 3h\nstakes: irreversible\n", 0, 3 * HOUR, 2 },
	{ "latency_window: 1m\nwaiting: {until: 2d}\nstakes: money\n", MINUTE, 2 * DAY, 1 },
	{ "stakes: irreversible\nreview: {approvals: 1}\n", 5 * MINUTE, 7 * DAY, 1 },
};

static void
test_defaults(void)
{
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		struct problems *problems = problems_create();
		struct config *config;
		char text[600];

		snprintf(text, sizeof(text), "%s%s", POLICY("a", "crm"), defaults[i].extra);
		case_write("policies.d/a.yaml", text);
		config = config_load(case_path("reconciled.yaml"), CONFIG_ALL, problems);
		if (tap_ok(config != NULL, "defaults %zu load", i)) {
			const struct policy *policy = config_policy(config, "a");

			tap_int(policy->absence_over_us, defaults[i].over_us, "absence.over");
			tap_int(policy->waiting_until_us, defaults[i].until_us, "waiting.until");
			tap_int(policy->approvals, defaults[i].approvals, "review.approvals");
		}
		config_unref(config);
		problems_destroy(problems);
	}
}

int
main(void)
{
	case_begin();
	test_names();
	test_kinds();
	test_all_files();
	test_other_files();
	test_digest();
	test_defaults();
	return case_end();
}
