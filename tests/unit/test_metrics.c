/* SPDX-License-Identifier: Apache-2.0
 *
 * What is counted where, which labels there are, and how it is written.
 */
#include <stdlib.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/measure.h"
#include "reconciled/web/metrics.h"
#include "tap.h"

static const char *const two_types[] = { "send_email", "charge_card" };
static const char *const one_target[] = { "crm" };

static struct metrics *
with_labels(const char *const *types, size_t count)
{
	struct metrics *metrics = metrics_create();

	metrics_set_labels(metrics, &(struct metrics_labels){ .types = types,
							      .types_count = count,
							      .targets = one_target,
							      .targets_count = 1 });
	return metrics;
}

/* Whether the line is there, whole. */
static bool
has(const struct metrics *metrics, const char *line)
{
	struct strbuf text = { 0 }, wanted = { 0 };
	bool found;

	metrics_print(metrics, &text);
	strbuf_printf(&wanted, "\n%s\n", line);
	found = strstr(strbuf_text(&text), strbuf_text(&wanted)) != NULL;
	strbuf_finish(&text);
	strbuf_finish(&wanted);
	return found;
}

/* How often a text stands in the whole. */
static int
count(const struct metrics *metrics, const char *part)
{
	struct strbuf text = { 0 };
	int found = 0;

	metrics_print(metrics, &text);
	for (const char *at = strbuf_text(&text); (at = strstr(at, part)) != NULL; at++)
		found++;
	strbuf_finish(&text);
	return found;
}

static void
expect(const struct metrics *metrics, const char *line)
{
	tap_ok(has(metrics, line), "%s", line);
}

static void
test_families_from_the_start(void)
{
	static const char *const names[] = {
		"reconciled_operations gauge",
		"reconciled_oldest_due_age_seconds gauge",
		"reconciled_oldest_open_age_seconds gauge",
		"reconciled_overdue gauge",
		"reconciled_verdicts_total counter",
		"reconciled_actions_total counter",
		"reconciled_stale_verdicts_total counter",
		"reconciled_held_total counter",
		"reconciled_requeues_total counter",
		"reconciled_worker_retries gauge",
		"reconciled_not_picked_up gauge",
		"reconciled_inconclusive_total counter",
		"reconciled_probe_seconds histogram",
		"reconciled_probe_failures_total counter",
		"reconciled_confirmation_seconds histogram",
		"reconciled_breaker_state gauge",
		"reconciled_control_lost gauge",
		"reconciled_guard_tripped gauge",
		"reconciled_type_target gauge",
		"reconciled_rewind_guard_tripped gauge",
		"reconciled_paused gauge",
		"reconciled_last_pass_timestamp_seconds gauge",
		"reconciled_outbox_oldest_age_seconds gauge",
		"reconciled_outbox_parked gauge",
		"reconciled_idempotency_conflicts_total counter",
		"reconciled_idempotency_pending gauge",
		"reconciled_idempotency_pending_oldest_seconds gauge",
		"reconciled_operations_without_policy gauge",
		"reconciled_config_reload_success gauge",
		"reconciled_instances gauge",
		"reconciled_isolated gauge",
		"reconciled_database_connected gauge",
	};
	struct metrics *metrics = metrics_create();
	char line[120];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(line, sizeof(line), "# TYPE %s", names[i]);
		expect(metrics, line);
	}
	tap_int(count(metrics, "# TYPE "), ARRAY_LEN(names), "no other family");
	tap_int(count(metrics, "# HELP "), ARRAY_LEN(names), "each is explained");
	metrics_destroy(metrics);
}

static void
test_counting(void)
{
	struct metrics *metrics = with_labels(two_types, 2);

	expect(metrics, "reconciled_verdicts_total{type=\"charge_card\",class=\"missing\"} 0");
	expect(metrics, "reconciled_requeues_total{type=\"charge_card\",reason=\"absent_confirmed\"} 0");
	metrics_count_verdict(metrics, "send_email", CLASS_WAITING);
	metrics_count_verdict(metrics, "send_email", CLASS_WAITING);
	metrics_count_action(metrics, "charge_card", ACTION_CLOSE);
	metrics_count_inconclusive(metrics, "charge_card", "http_5xx");
	metrics_count_inconclusive(metrics, "charge_card", "fraud_suspected");
	metrics_count_stale(metrics, "charge_card");
	metrics_count_held(metrics, "send_email");
	metrics_count_requeue(metrics, "send_email", "absent_confirmed");
	expect(metrics, "reconciled_verdicts_total{type=\"send_email\",class=\"waiting\"} 2");
	expect(metrics, "reconciled_verdicts_total{type=\"charge_card\",class=\"waiting\"} 0");
	expect(metrics, "reconciled_actions_total{type=\"charge_card\",action=\"close\"} 1");
	expect(metrics, "reconciled_inconclusive_total{type=\"charge_card\",reason=\"http_5xx\"} 1");
	expect(metrics, "reconciled_inconclusive_total{type=\"charge_card\",reason=\"judged\"} 1");
	expect(metrics, "reconciled_stale_verdicts_total{type=\"charge_card\"} 1");
	expect(metrics, "reconciled_held_total{type=\"send_email\"} 1");
	expect(metrics, "reconciled_requeues_total{type=\"send_email\",reason=\"absent_confirmed\"} 1");
	tap_ok(!has(metrics, "reconciled_inconclusive_total{type=\"send_email\",reason=\"judged\"} 0"),
	       "a reason that does not belong is told once it was counted");
	metrics_count_verdict(metrics, "unknown", CLASS_CORRECT);
	metrics_count_probe(metrics, "unknown", REASON_DNS, SECOND);
	tap_int(count(metrics, "unknown"), 0, "what is not in the configuration is not counted");
	metrics_destroy(metrics);
}

static void
test_gauges(void)
{
	struct metrics *metrics = with_labels(two_types, 2);

	metrics_set_breaker(metrics, "crm", 2);
	metrics_set_control_lost(metrics, "crm", true);
	metrics_set_guard(metrics, "charge_card", true);
	metrics_set_paused(metrics, "send_email", true);
	metrics_set_last_pass(metrics, "charge_card", 1772366405000050);
	metrics_set_reload(metrics, true);
	metrics_set_instances(metrics, 3);
	metrics_set_isolated(metrics, true);
	metrics_set_rewind(metrics, true);
	metrics_set_database(metrics, true);
	expect(metrics, "reconciled_breaker_state{target=\"crm\"} 2");
	expect(metrics, "reconciled_control_lost{target=\"crm\"} 1");
	expect(metrics, "reconciled_guard_tripped{type=\"charge_card\"} 1");
	expect(metrics, "reconciled_guard_tripped{type=\"send_email\"} 0");
	expect(metrics, "reconciled_paused{type=\"send_email\"} 1");
	expect(metrics,
	       "reconciled_last_pass_timestamp_seconds{type=\"charge_card\"} 1772366405.000050");
	expect(metrics, "reconciled_last_pass_timestamp_seconds{type=\"send_email\"} 0.000000");
	expect(metrics, "reconciled_config_reload_success 1");
	expect(metrics, "reconciled_instances 3");
	expect(metrics, "reconciled_isolated 1");
	expect(metrics, "reconciled_rewind_guard_tripped 1");
	expect(metrics, "reconciled_database_connected 1");
	metrics_set_rewind(metrics, false);
	expect(metrics, "reconciled_rewind_guard_tripped 0");
	metrics_destroy(metrics);
}

static void
test_histograms(void)
{
	struct metrics *metrics = with_labels(two_types, 2);

	metrics_count_probe(metrics, "crm", REASON_COUNT, 5 * MILLISECOND);
	metrics_count_probe(metrics, "crm", REASON_COUNT, 5 * MILLISECOND + 1);
	metrics_count_probe(metrics, "crm", REASON_TIMEOUT, 31 * SECOND);
	metrics_count_confirmation(metrics, "charge_card", 8 * DAY);
	metrics_count_confirmation(metrics, "charge_card", 2 * HOUR);
	metrics_count_confirmation(metrics, "charge_card", -1); /* its start is not known */
	expect(metrics, "reconciled_probe_seconds_bucket{target=\"crm\",le=\"0.005\"} 1");
	expect(metrics, "reconciled_probe_seconds_bucket{target=\"crm\",le=\"0.01\"} 2");
	expect(metrics, "reconciled_probe_seconds_bucket{target=\"crm\",le=\"30\"} 2");
	expect(metrics, "reconciled_probe_seconds_bucket{target=\"crm\",le=\"+Inf\"} 3");
	expect(metrics, "reconciled_probe_seconds_sum{target=\"crm\"} 31.010001");
	expect(metrics, "reconciled_probe_seconds_count{target=\"crm\"} 3");
	expect(metrics, "reconciled_probe_failures_total{target=\"crm\",cause=\"timeout\"} 1");
	expect(metrics, "reconciled_confirmation_seconds_bucket{type=\"charge_card\",le=\"3600\"} 0");
	expect(metrics, "reconciled_confirmation_seconds_bucket{type=\"charge_card\",le=\"14400\"} 1");
	expect(metrics, "reconciled_confirmation_seconds_bucket{type=\"charge_card\",le=\"604800\"} 1");
	expect(metrics, "reconciled_confirmation_seconds_bucket{type=\"charge_card\",le=\"+Inf\"} 2");
	expect(metrics, "reconciled_confirmation_seconds_sum{type=\"charge_card\"} 698400.000000");
	metrics_destroy(metrics);
}

static void
test_reload(void)
{
	static const char *const other_types[] = { "ship_parcel", "charge_card" },
				 *const other_targets[] = { "depot", "bank" };
	static const struct measured measured[] = {
		{ "reconciled_overdue", "send_email", NULL, 4 },
		{ "reconciled_overdue", "charge_card", NULL, 5 },
	};
	struct metrics *metrics = with_labels(two_types, 2);

	metrics_count_stale(metrics, "charge_card");
	metrics_count_stale(metrics, "send_email");
	metrics_set_measured(metrics, measured, 2);
	metrics_set_reload(metrics, true);
	metrics_set_labels(metrics, &(struct metrics_labels){ .types = other_types,
							      .targets_of_types = other_targets,
							      .types_count = 2 });
	expect(metrics, "reconciled_stale_verdicts_total{type=\"charge_card\"} 1");
	expect(metrics, "reconciled_stale_verdicts_total{type=\"ship_parcel\"} 0");
	expect(metrics, "reconciled_overdue{type=\"charge_card\"} 5");
	expect(metrics, "reconciled_config_reload_success 1");
	expect(metrics, "reconciled_type_target{type=\"charge_card\",target=\"bank\"} 1");
	expect(metrics, "reconciled_type_target{type=\"ship_parcel\",target=\"depot\"} 1");
	tap_int(count(metrics, "send_email"), 0, "a type that is gone");
	tap_int(count(metrics, "crm"), 0, "a target that is gone");
	metrics_destroy(metrics);
}

static void
test_measured(void)
{
	static const struct measured first[] = {
		{ "reconciled_operations", "charge_card", "pending", 12 },
		{ "reconciled_operations", "charge_card", "manual_review", 1 },
		{ "reconciled_oldest_due_age_seconds", "charge_card", NULL, 0.125 },
		{ "reconciled_outbox_parked", NULL, NULL, 7 },
		/* nothing that we tell */
		{ "reconciled_secrets", NULL, NULL, 1 },
		{ "reconciled_verdicts_total", "charge_card", "correct", 99 },
		{ "reconciled_operations", "unknown", "pending", 1 },
		{ "reconciled_operations", "charge_card", NULL, 2 },
		{ "reconciled_overdue", NULL, NULL, 3 },
		{ "reconciled_outbox_parked", "charge_card", NULL, 4 },
	};
	struct metrics *metrics = with_labels(two_types, 2);

	metrics_set_measured(metrics, first, ARRAY_LEN(first));
	expect(metrics, "reconciled_operations{type=\"charge_card\",status=\"pending\"} 12");
	expect(metrics, "reconciled_operations{type=\"charge_card\",status=\"manual_review\"} 1");
	expect(metrics, "reconciled_oldest_due_age_seconds{type=\"charge_card\"} 0.125");
	expect(metrics, "reconciled_outbox_parked 7");
	expect(metrics, "reconciled_verdicts_total{type=\"charge_card\",class=\"correct\"} 0");
	tap_int(count(metrics, "\nreconciled_operations{"), 2, "two of six");
	tap_int(count(metrics, "\nreconciled_overdue"), 0, "no type, no number");
	metrics_set_measured(metrics, first, 1);
	tap_int(count(metrics, "\nreconciled_outbox_parked "), 0, "the next answer replaces all");
	expect(metrics, "reconciled_operations{type=\"charge_card\",status=\"pending\"} 12");
	metrics_destroy(metrics);
}

static void
measure_conflicts(struct metrics *metrics, double value)
{
	metrics_set_measured(metrics,
			     &(struct measured){ "reconciled_idempotency_conflicts_total", NULL,
						 NULL, value },
			     1);
}

/* Rows with conflicts are deleted one day. */
static void
test_counters_only_grow(void)
{
	struct metrics *metrics = with_labels(two_types, 2);

	measure_conflicts(metrics, 10);
	measure_conflicts(metrics, 12);
	measure_conflicts(metrics, 3);
	expect(metrics, "reconciled_idempotency_conflicts_total 12");
	measure_conflicts(metrics, 4);
	expect(metrics, "reconciled_idempotency_conflicts_total 13");
	metrics_destroy(metrics);
}

/* Workers write causes as they like. */
static void
test_values_are_bounded(void)
{
	struct metrics *metrics = with_labels(two_types, 2);
	struct measured measured[102];
	char causes[100][16], longest[200];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (int i = 0; i < 100; i++) {
		snprintf(causes[i], sizeof(causes[i]), "cause_%02d", i);
		measured[i] = (struct measured){ "reconciled_worker_retries", "charge_card",
						 causes[i], 1 };
	}
	measured[100] = (struct measured){ "reconciled_worker_retries", "charge_card", longest, 1 };
	measured[101] = (struct measured){ "reconciled_worker_retries", "send_email", "a\\b\"c\nd",
					   2 };
	metrics_set_measured(metrics, measured, 102);
	expect(metrics, "reconciled_worker_retries{type=\"charge_card\",cause=\"cause_19\"} 1");
	expect(metrics, "reconciled_worker_retries{type=\"charge_card\",cause=\"other\"} 81");
	expect(metrics, "reconciled_worker_retries{type=\"send_email\",cause=\"a\\\\b\\\"c\\nd\"} 2");
	tap_int(count(metrics, "\nreconciled_worker_retries{type=\"charge_card\""), 21,
		"twenty and the others");
	metrics_destroy(metrics);
}

int
main(void)
{
	test_families_from_the_start();
	test_counting();
	test_gauges();
	test_histograms();
	test_reload();
	test_measured();
	test_counters_only_grow();
	test_values_are_bounded();
	metrics_destroy(NULL);
	return tap_done();
}
