/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole files: the samples in etc/ load; the policies in tests/data use the whole language, and
 * what of it is not supported yet is named at its place, and nothing else.
 */
#include "config_case.h"
#include "reconciled/base/clock.h"

/* Below SOURCE_DIR, that the build sets. */
static void
test_file(const char *file, const char *want)
{
	struct problems *problems = problems_create();
	char path[500];
	char *lines;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", case_folder, file);
	good = config_check_file(path, problems);
	lines = case_lines(problems);
	case_keep(lines, false);
	tap_str(lines, want, file);
	tap_ok(good == (want[0] == '\0'), "%s: is good exactly without problems", file);
	for (size_t i = 0; i < problems_count(problems); i++)
		tap_ok(problems_at(problems, i)->unsupported || problems_at(problems, i)->warning,
		       "%s: problem %zu is for later, or a warning", file, i);
	free(lines);
	problems_destroy(problems);
}

#define P "tests/data/policies/policies.d/"
#define T "tests/data/policies/targets.d/"
#define L ": not supported yet\n"

static const struct {
	const char *file, *want;
} whole[] = {
	{ P "capture_payment.yaml", "" },
	{ P "charge_card.yaml", "" },
	{ P "create_order.yaml", "" },
	{ P "send_email.yaml", "" },
	{ P "sepa_transfer.yaml",
	  P "sepa_transfer.yaml:6:5: file" L P "sepa_transfer.yaml:12:5: blind" L },
	{ P "settle_payment.yaml", P "settle_payment.yaml:6:5: file" L },
	{ P "ship_parcel.yaml", P "ship_parcel.yaml:7:5: receipt" L },
	{ P "store_document.yaml", "" },
	{ P "sync_customer.yaml", "" },
	{ T "archive.yaml", "" },
	{ T "bank_files.yaml", T "bank_files.yaml:2:1: files" L },
	{ T "hubspot.yaml", "" },
	{ T "paypal.yaml", "" },
	{ T "paypal_files.yaml", T "paypal_files.yaml:2:1: files" L },
	{ T "sendgrid.yaml", "" },
	{ T "shopify.yaml", "" },
	{ T "stripe.yaml", "" },
	{ T "warehouse.yaml", "" },
};

static const char *const samples[] = {
	"etc/targets.d/crm.yaml",
	"etc/policies.d/update_customer.yaml",
	"etc/targets.d/stripe.yaml",
	"etc/policies.d/charge_card.yaml",
	"etc/targets.d/shopify.yaml",
	"etc/policies.d/create_order.yaml",
};

static void
check_update_customer(const struct policy *policy)
{
	const struct probe *search = &policy->probes[2];

	tap_ok(!policy->enforce, "observes");
	tap_str(policy->describe.owner, "team-customers", "describe");
	tap_int(policy->latency_window_us, 5 * MINUTE, "latency_window");
	tap_int(policy->pickup_window_us, 5 * MINUTE, "pickup_window is the latency window");
	tap_int(policy->deadline_us, DAY, "deadline");
	tap_int(policy->absence_after_us, 5 * MINUTE, "absence.after");
	tap_int(policy->absence_over_us, 10 * MINUTE, "absence.over");
	tap_int(policy->absence_horizon_us, 365 * DAY, "absence.horizon");
	tap_int(policy->waiting_until_us, DAY, "waiting.until");
	tap_int(policy->approvals, 1, "approvals");
	tap_int((long long)policy->judge.count, 4, "judge");
	tap_str(policy->judge.rows[2].why, "deleted_at_target", "why");
	tap_int((long long)policy->on_gone.count, 1, "on_gone");
	tap_int((long long)policy->compare_count, 2, "compare");
	tap_int(policy->compare[1].fold, FOLD_CASE | FOLD_SPACE, "fold");
	tap_ok(policy->version_order_known && policy->version_order == VERSION_INTEGER,
	       "own versions are integers");
	tap_int(policy->older, OUTCOME_MISSING, "an older version");
	tap_int(policy->actions[CLASS_MISSING].rows[0].action, ACTION_REVIEW, "missing, a test");
	tap_int(policy->actions[CLASS_MISSING].rows[1].action, ACTION_REQUEUE, "missing");
	tap_int(policy->actions[CLASS_CORRECT].rows[0].action, ACTION_CONFIRM, "correct");
	tap_int(policy->actions[CLASS_DIVERGENT].rows[0].action, ACTION_REVIEW, "divergent");
	tap_int(policy->actions[CLASS_AMBIGUOUS].rows[0].action, ACTION_REVIEW, "ambiguous");
	tap_int(policy->actions[CLASS_NOT_APPLICABLE].rows[0].action, ACTION_CLOSE,
		"not_applicable");
	tap_int((long long)policy->probes_count, 3, "probes");
	tap_int(policy->probes[0].needs[0], OP_REMOTE_ID, "needs");
	tap_str(search->name, "search", "a probe");
	tap_int(search->method, METHOD_POST, "post");
	tap_str(search->json->children[1].text.text, "{first_sent_at-1h|rfc3339}", "a time");
	tap_ok(search->has_items && search->has_each && search->has_where, "items, each, where");
	tap_int(search->full, 20, "full");
	tap_int(search->pages.kind, PAGING_NEXT, "pages");
	tap_ok(search->stale && search->reread.probe == &policy->probes[0], "then");
	tap_int((long long)strlen(policy->digest), 64, "a digest");
	tap_int(regexec(policy->reference, "customer-42", 0, NULL, 0), 0, "reference");
}

static void
check_charge_card(const struct policy *policy)
{
	const struct probe *search = &policy->probes[1];

	tap_ok(policy->several_divergent, "on_several");
	tap_int(policy->stakes, STAKES_MONEY, "stakes");
	tap_int(policy->key_valid_us, DAY, "key_valid");
	tap_int(policy->absence_confirm, 3, "confirm");
	tap_int(policy->waiting_until_us, 7 * DAY, "waiting.until");
	tap_str(search->query[0].value.text, "metadata[\"operation_id\"]:\"{operation_id}\"",
		"a placeholder within quotes");
	tap_str(search->query[1].value.text, "20", "a number in a query is a text");
	tap_str(search->pages.into, "page", "pages");
	tap_int(search->pages.max, 5, "at most so many");
	tap_int((long long)search->skip.count, 1, "skip");
	tap_int(policy->compare[0].type, COMPARE_MONEY, "money");
	tap_int(policy->compare[0].unit, MONEY_MINOR, "its unit");
	tap_int(regexec(policy->reference, "abcdefgh", 0, NULL, 0), 0, "its own reference");
	tap_int(policy->requeue.factor_milli, 2000, "factor");
}

static void
check_create_order(const struct policy *policy)
{
	const struct json_template *json = policy->probes[0].json;

	tap_int(policy->absence_horizon_us, 60 * DAY, "horizon");
	tap_int(policy->deadline_us, 0, "no deadline");
	tap_int(policy->waiting_until_us, 7 * DAY, "waiting.until without a deadline");
	tap_int(policy->probes[0].method, METHOD_POST, "post");
	tap_int(json->kind, VALUE_OBJECT, "json");
	tap_str(json->children[1].children[0].text.text, "{operation_id}", "a placeholder");
	tap_int(policy->compare[2].relation, COMPARE_ONE_OF, "one_of");
	tap_int((long long)policy->compare[2].count, 2, "two values");
}

static void
test_samples(void)
{
	struct problems *problems = problems_create();
	struct config *config;
	char path[500];

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		test_file(samples[i], "");
	snprintf(path, sizeof(path), "%s/etc/reconciled.yaml", case_folder);
	config = config_load(path, CONFIG_ALL, problems);
	problems_print(problems, stdout);
	if (tap_ok(config != NULL, "the sample configuration loads")) {
		tap_int((long long)config->policies_count, 8, "policies");
		tap_int((long long)config->targets_count, 8, "targets");
		check_update_customer(config_policy(config, "update_customer"));
		check_charge_card(config_policy(config, "charge_card"));
		check_create_order(config_policy(config, "create_order"));
		tap_ok(config_policy(config, "no") == NULL, "another type has none");
	}
	config_unref(config);
	problems_destroy(problems);
}

/* Every key of the settings stands in the sample, in use or commented out. */
static void
test_sample_shows_keys(void)
{
	static const char prefix[] = "reconciled.yaml ";
	char sample[16384] = "", path[500], *keys = NULL, *rest = NULL;
	size_t size, missing = 0, count = 0;
	FILE *out = open_memstream(&keys, &size), *file;

	config_print_keys(out);
	fclose(out);
	snprintf(path, sizeof(path), "%s/etc/reconciled.yaml", case_folder);
	file = fopen(path, "r");
	if (!file || fread(sample, 1, sizeof(sample) - 1, file) == 0)
		abort();
	fclose(file);
	for (char *line = strtok_r(keys, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *dot = strrchr(line, '.');
		char shown[200];

		if (strncmp(line, prefix, strlen(prefix)) != 0)
			continue;
		count++;
		snprintf(shown, sizeof(shown),
			 " %s:", dot > line + strlen(prefix) ? dot + 1 : line + strlen(prefix));
		if (strstr(sample, shown) || strstr(sample, shown + 1))
			continue;
		printf("# not shown: %s\n", line);
		missing++;
	}
	tap_int((long long)count, 22, "keys of the settings");
	tap_int((long long)missing, 0, "all of them are in the sample");
	free(keys);
}

int
main(void)
{
	snprintf(case_folder, sizeof(case_folder), "%s", SOURCE_DIR);
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		test_file(whole[i].file, whole[i].want);
	test_samples();
	test_sample_shows_keys();
	return tap_done();
}
