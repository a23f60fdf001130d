/* SPDX-License-Identifier: Apache-2.0
 *
 * From JSON to the structures that the loader builds from files. Believes what it reads.
 */
#include "policy_builder.h"

#include <stdlib.h>
#include <string.h>

#include "build_parts.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"

static struct judge_rows
rows_of(struct arena *arena, const struct value *list)
{
	static const char *const classes[] = { "waiting", "compare", "divergent", "ambiguous",
					       "not_applicable" };
	struct judge_row *rows = arena_array(arena, struct judge_row, list ? list->count + 1 : 1);
	size_t n = 0;

	for (const struct value *v = list ? list->first : NULL; v; v = v->next, n++) {
		size_t class = 0;

		while (strcmp(classes[class], text_of(v, "class", NULL)) != 0)
			class ++;
		rows[n] = (struct judge_row){
			.when = condition_of(arena, member(v, "when")),
			.class = (enum judge_class) class,
			.why = text_of(v, "why", NULL),
		};
	}
	return (struct judge_rows){ rows, n };
}

static void
set_type(const struct value *json, struct comparison *comparison)
{
	static const char *const orders[] = { "integer", "time", "dotted", "opaque" };
	const char *type = text_of(json, "type", "text");
	size_t i = 0;

	while (strcmp(compare_type_name((enum compare_type)i), type) != 0)
		i++;
	comparison->type = (enum compare_type)i;
	for (i = 0; strcmp(orders[i], text_of(json, "order", "integer")) != 0;)
		i++;
	comparison->order = (enum version_order)i;
}

static struct comparison
comparison_of(struct arena *arena, const struct value *json)
{
	static const char *const relations[] = { "is", "one_of", "at_least", "not_before" };
	struct comparison comparison = {
		.name = arena_strndup(arena, json->name, json->name_len),
		.found = locator_of(arena, text_of(json, "found", NULL)),
		.fold = fold_of(json),
		.tolerance = text_of(json, "tolerance", NULL),
	};
	const struct value *wanted = NULL;
	struct operand *values;

	set_type(json, &comparison);
	for (size_t i = 0; i < ARRAY_LEN(relations) && !wanted; i++) {
		wanted = member(json, relations[i]);
		comparison.relation = (enum compare_relation)i;
	}
	values = arena_array(arena, struct operand, wanted->count + 1);
	if (wanted->kind != VALUE_LIST)
		values[comparison.count++] = operand_of(arena, wanted);
	else
		for (const struct value *v = wanted->first; v; v = v->next)
			values[comparison.count++] = operand_of(arena, v);
	comparison.values = values;
	return comparison;
}

static enum outcome
outcome_of(const struct value *json, const char *name)
{
	const char *text = text_of(member(json, "outcome"), name, "divergent");

	if (strcmp(text, "missing") == 0)
		return OUTCOME_MISSING;
	return strcmp(text, "not_applicable") == 0 ? OUTCOME_NOT_APPLICABLE : OUTCOME_DIVERGENT;
}

static void
add_actions(struct arena *arena, const struct value *json, struct policy *policy)
{
	for (int class = CLASS_MISSING; class <= CLASS_NOT_APPLICABLE; class ++) {
		const struct value *asked = member(json, class_name((enum verdict_class) class));
		struct action_row *rows = arena_array(arena, struct action_row, 16);
		struct action_rule *rule = &policy->actions[class];

		rule->rows = rows;
		if (asked && asked->kind == VALUE_TEXT) {
			if (!action_from_name(asked->text, &rows[rule->count++].action))
				bail("action", asked->text);
			continue;
		}
		for (const struct value *v = asked ? asked->first : NULL; v; v = v->next) {
			rows[rule->count].when = condition_of(arena, member(v, "when"));
			if (!action_from_name(text_of(v, "do", ""), &rows[rule->count++].action))
				bail("action", text_of(v, "do", ""));
		}
	}
}

static const struct locator *
locators_of(struct arena *arena, const struct value *list, size_t *ret_count)
{
	struct locator *locators = arena_array(arena, struct locator, list ? list->count + 1 : 1);
	size_t n = 0;

	for (const struct value *v = list ? list->first : NULL; v; v = v->next)
		locators[n++] = locator_of(arena, v->text);
	*ret_count = n;
	return locators;
}

static void
add_reference(const struct value *json, struct policy *policy)
{
	static regex_t own; /* lives as long as the program */
	const char *pattern = text_of(json, "reference", NULL);

	if (!pattern)
		return;
	if (regcomp(&own, pattern, REG_EXTENDED) != 0)
		bail("reference", pattern);
	policy->reference = &own;
}

static enum idempotence
idempotence_of(const struct value *json)
{
	static const char *const names[] = { "no", "key", "natural", "conditional" };
	const char *text = text_of(json, "idempotent", "no");

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], text) == 0)
			return (enum idempotence)i;
	bail("idempotent", text);
	return IDEMPOTENT_NO;
}

/* Without jitter, as the loader makes them. */
static struct backoff
backoff_of(const struct value *json)
{
	return (struct backoff){
		.first_us = duration_of(json, "delay", MINUTE),
		.max_us = 100 * 365 * DAY,
		.factor_milli = int_of(json, "factor", 2) * 1000,
	};
}

static void
add_sending(const struct value *json, struct policy *policy)
{
	const struct value *attempts = member(json, "attempts"), *requeue = member(json, "requeue");

	policy->idempotent = idempotence_of(json);
	policy->key_valid_us = duration_of(member(json, "resend"), "key_valid", 0);
	policy->attempts_max = int_of(attempts, "max", 5);
	policy->attempts = backoff_of(attempts);
	policy->requeue_max = int_of(requeue, "max", 3);
	policy->requeue = backoff_of(requeue);
}

static void
add_timing(const struct value *json, struct policy *policy)
{
	const struct value *absence = member(json, "absence"), *recheck = member(json, "recheck");

	policy->latency_window_us = duration_of(json, "latency_window", 5 * MINUTE);
	policy->pickup_window_us = policy->latency_window_us;
	policy->absence_after_us = duration_of(absence, "after", policy->latency_window_us);
	policy->absence_confirm = int_of(absence, "confirm", 2);
	policy->absence_over_us = duration_of(
		absence, "over", policy->absence_confirm == 1 ? 0 : policy->latency_window_us);
	policy->absence_horizon_us = duration_of(absence, "horizon", 0);
	if (strcmp(text_of(absence, "proves", "missing"), "nothing") == 0)
		policy->absence_proves = PROVES_NOTHING;
	policy->waiting_until_us = duration_of(member(json, "waiting"), "until", 7 * DAY);
	policy->recheck = (struct backoff){
		.first_us = duration_of(recheck, "first", MINUTE),
		.max_us = duration_of(recheck, "max", HOUR),
		.factor_milli = int_of(recheck, "factor", 2) * 1000,
		.jitter_percent = int_of(recheck, "jitter", 0),
	};
	policy->give_up = int_of(json, "give_up", 12);
	policy->review_recheck_us = duration_of(member(json, "review"), "recheck", HOUR);
	policy->review_auto_confirm =
		strcmp(text_of(member(json, "review"), "auto_confirm", "true"), "true") == 0;
}

struct policy *
build_policy(struct arena *arena, const char *text)
{
	const struct value *json = build_json(arena, text);
	const struct value *compare = member(json, "compare");
	struct policy *policy = arena_new(arena, struct policy);
	struct comparison *fields =
		arena_array(arena, struct comparison, compare ? compare->count + 1 : 1);

	policy->operation_type = "test_type";
	policy->target = "test_target";
	policy->enforce = strcmp(text_of(json, "mode", "enforce"), "enforce") == 0;
	policy->probes = probes_of(arena, member(json, "probes"), &policy->probes_count);
	for (const struct value *v = compare ? compare->first : NULL; v; v = v->next)
		fields[policy->compare_count++] = comparison_of(arena, v);
	policy->compare = fields;
	policy->judge = rows_of(arena, member(json, "judge"));
	policy->on_absent = rows_of(arena, member(json, "on_absent"));
	policy->on_gone = rows_of(arena, member(json, "on_gone"));
	policy->several_divergent =
		strcmp(text_of(json, "on_several", "ambiguous"), "divergent") == 0;
	policy->existence_only = strcmp(text_of(json, "existence_only", "false"), "true") == 0;
	policy->older = outcome_of(json, "older");
	policy->newer = outcome_of(json, "newer");
	policy->keep =
		locators_of(arena, member(member(json, "evidence"), "keep"), &policy->keep_count);
	policy->hash =
		locators_of(arena, member(member(json, "evidence"), "hash"), &policy->hash_count);
	add_timing(json, policy);
	add_sending(json, policy);
	add_actions(arena, member(json, "actions"), policy);
	add_reference(json, policy);
	return policy;
}

const struct target_rules *
build_target(struct arena *arena, const char *text)
{
	const struct value *json = build_json(arena, text);
	struct target_rules *rules = arena_new(arena, struct target_rules);

	rules->target = "test_target";
	rules->throttled = conditions_of(arena, member(json, "throttled"));
	rules->broken = conditions_of(arena, member(json, "broken"));
	return rules;
}

static int64_t
time_of(const struct value *json, const char *name, int64_t standard)
{
	const struct value *value = member(json, name);

	if (value == NULL)
		return standard;
	return value->kind == VALUE_NULL ? TIME_NONE : SENT_US + atoll(value->text) * SECOND;
}

struct operation
build_operation(struct arena *arena, const char *text)
{
	const struct value *json = build_json(arena, text);
	int64_t sent_us = member(json, "sent") ? TIME_NONE : SENT_US;
	struct operation op = {
		.operation_id = text_of(json, "operation_id", "op_00000001"),
		.operation_type = "test_type",
		.scope = "",
		.entity_type = text_of(json, "entity_type", ""),
		.entity_id = text_of(json, "entity_id", ""),
		.entity_state = text_of(json, "entity_state", "active"),
		.version = text_of(json, "version", ""),
		.idempotency_key = text_of(json, "idempotency_key", ""),
		.business_key = text_of(json, "business_key", ""),
		.remote_id = text_of(json, "remote_id", ""),
		.correlation_id = "",
		.superseded_by = text_of(json, "superseded_by", ""),
		.compensates = "",
		.expected = member(json, "expected"),
		.status = sent_us == TIME_NONE ? STATUS_PENDING : STATUS_AWAITING_CONFIRMATION,
		.created_at_us = SENT_US - MINUTE,
		.first_sent_at_us = time_of(json, "first_sent_at", sent_us),
		.sent_at_us = time_of(json, "sent_at", sent_us),
		.attempt_until_us = time_of(json, "attempt_until", TIME_NONE),
		.next_attempt_at_us = TIME_NONE,
		.announced_at_us = TIME_NONE,
		.due_at_us = TIME_NONE,
		.earned = { .class = CLASS_NONE, .since_us = TIME_NONE },
		.reason = "",
		.recommended_action = "",
		.evidence_digest = "",
	};

	if (op.expected == NULL)
		op.expected = build_json(arena, "{}");
	if (member(json, "status") && !status_from_name(text_of(json, "status", ""), &op.status))
		bail("status", text_of(json, "status", ""));
	return op;
}
