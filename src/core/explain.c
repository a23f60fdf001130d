/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluates again, row by row, what the judgement evaluated as a whole: first what each answer is
 * evidence of, then which rule gave the verdict.
 */
#include "reconciled/core/explain.h"

#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "reading_rules.h"
#include "reconciled/base/arena.h"

enum { SEEN_MAX = 5, SEEN_BYTES = 64, ITEMS_MAX = 5 };

struct explaining {
	struct arena *arena;
	struct hmac *key;
	const struct target_rules *target;
	const struct evidence_of *of;
	struct explained_rule *rules; /* being collected */
	size_t rules_count, rules_size;
};

/* Fields of the operation that every view of it shows. */
static bool
is_open_field(enum operation_field field)
{
	static const bool open[OP_FIELD_COUNT] = {
		[OP_OPERATION_ID] = true, [OP_OPERATION_TYPE] = true, [OP_ENTITY_TYPE] = true,
		[OP_ENTITY_ID] = true,	  [OP_ENTITY_STATE] = true,   [OP_VERSION] = true,
		[OP_STATUS] = true,	  [OP_SUPERSEDED_BY] = true,  [OP_COMPENSATES] = true,
		[OP_CREATED_AT] = true,	  [OP_FIRST_SENT_AT] = true,  [OP_SENT_AT] = true,
	};

	return open[field];
}

static bool
is_shown(const struct explaining *e, const struct locator *locator)
{
	if (locator->root == LOCATE_STATUS)
		return true;
	if (locator->root == LOCATE_OP_FIELD && is_open_field(locator->field))
		return true;
	return evidence_keeps(e->of->policy, locator);
}

/* Cut where it is long, at a character boundary. */
static const char *
shortened(struct arena *arena, const char *text, size_t len)
{
	size_t keep = SEEN_BYTES;

	if (len <= SEEN_BYTES)
		return arena_strndup(arena, text, len);
	while (keep > 0 && ((unsigned char)text[keep] & 0xC0) == 0x80)
		keep--;
	return arena_printf(arena, "%.*s…", (int)keep, text);
}

static const char *
seen_text(const struct explaining *e, const struct value *value, bool shown)
{
	char hash[EVIDENCE_HASH_SIZE];

	if (value->kind == VALUE_NULL)
		return "null";
	if (!value_is_scalar(value))
		return arena_printf(e->arena, "a %s", value_kind_name(value->kind));
	if (shown)
		return value->len ? shortened(e->arena, value->text, value->len) : "\"\"";
	evidence_hash(e->key, value->text, value->len, hash);
	return arena_strdup(e->arena, hash);
}

static void
fill_seen(const struct explaining *e, const struct located *found, bool shown,
	  struct explained_test *test)
{
	size_t count = found->count < SEEN_MAX ? found->count : SEEN_MAX;
	const char **seen = arena_array(e->arena, const char *, count + 1);

	for (size_t i = 0; i < count; i++)
		seen[i] = seen_text(e, found->values[i], shown);
	if (found->count > count)
		seen[count] = arena_printf(e->arena, "and %zu more", found->count - count);
	test->seen = seen;
	test->seen_count = count + (found->count > count);
}

/* The item of somebody else is never shown, kept or not. */
static const struct explained_test *
explain_rows(const struct explaining *e, const struct scene *scene,
	     const struct condition *condition, bool ours)
{
	struct explained_test *tests =
		arena_array(e->arena, struct explained_test, condition->count + 1);

	for (size_t i = 0; i < condition->count; i++) {
		const struct condition_row *row = &condition->rows[i];
		const struct condition alone = { row, 1 };
		struct located found = locator_find(scene, &row->locator);
		bool shown =
			is_shown(e, &row->locator) && (ours || row->locator.root != LOCATE_ITEM);

		tests[i] = (struct explained_test){
			.locator = row->locator.text,
			.test = explain_test(e->arena, &row->test),
			.held = condition_holds(scene, &alone),
		};
		fill_seen(e, &found, shown, &tests[i]);
	}
	return tests;
}

/* The rule may be written to until the next one is added. */
static struct explained_rule *
add_rule(struct explaining *e, const char *name, bool held)
{
	struct explained_rule *rule;

	if (e->rules_count == e->rules_size) {
		size_t size = e->rules_size > 0 ? 2 * e->rules_size : 16;
		struct explained_rule *rules = arena_array(e->arena, struct explained_rule, size);

		for (size_t i = 0; i < e->rules_count; i++)
			rules[i] = e->rules[i];
		e->rules = rules;
		e->rules_size = size;
	}
	rule = &e->rules[e->rules_count++];
	*rule = (struct explained_rule){ .rule = name, .held = held };
	return rule;
}

static struct explained_rule *
add_condition(struct explaining *e, const char *name, const struct scene *scene,
	      const struct condition *condition)
{
	struct explained_rule *rule = add_rule(e, name, condition_holds(scene, condition));

	rule->tests = explain_rows(e, scene, condition, true);
	rule->tests_count = condition->count;
	return rule;
}

/* "absent", or "absent[1]" where it is one of several. */
static const char *
numbered(struct arena *arena, const char *name, const struct conditions *conditions, size_t i)
{
	return conditions->count > 1 ? arena_printf(arena, "%s[%zu]", name, i) : name;
}

/* Tries them in order, up to the first that holds. Some need a body that can be read. */
static bool
add_conditions(struct explaining *e, const char *name, const struct scene *scene,
	       const struct conditions *conditions, bool needs_body)
{
	for (size_t i = 0; i < conditions->count; i++) {
		const struct condition *condition = &conditions->any[i];
		struct explained_rule *rule =
			add_condition(e, numbered(e->arena, name, conditions, i), scene, condition);

		if (needs_body && scene->response->parsed == NULL &&
		    condition_reads_body(condition)) {
			rule->held = false;
			rule->note = "the body cannot be read";
		}
		if (rule->held)
			return true;
	}
	return false;
}

/* What of a list on one page is shown: the first few items, and how many there are. */
struct items {
	struct explaining *e;
	const struct scene *scene;
	const struct probe *probe;
	size_t listed, ours;
};

static void
on_item(void *owner, const struct value *item)
{
	struct items *items = owner;
	struct scene scene = *items->scene;
	bool ours;

	scene.item = item;
	ours = condition_holds(&scene, &items->probe->where);
	items->ours += ours;
	if (items->listed++ < ITEMS_MAX || (ours && items->ours <= ITEMS_MAX)) {
		const char *name =
			items->probe->has_items
				? arena_printf(items->e->arena, "where, item %zu", items->listed)
				: "where";
		struct explained_rule *rule = add_rule(items->e, name, ours);

		rule->tests = explain_rows(items->e, &scene, &items->probe->where, ours);
		rule->tests_count = items->probe->where.count;
	}
}

static void
add_covers(struct explaining *e, const struct scene *scene, const struct reading *reading)
{
	const struct locator *until = &reading->probe->covers_until;
	const struct located found = locator_find(scene, until);
	struct explained_test *test = arena_new(e->arena, struct explained_test);
	struct explained_rule *rule = add_rule(e, "covers", reading->reason != REASON_NOT_COVERED);

	*test = (struct explained_test){
		.locator = until->text,
		.test = "is past the last send",
		.held = rule->held,
	};
	fill_seen(e, &found, is_shown(e, until), test);
	rule->tests = test;
	rule->tests_count = 1;
}

/* How much of what was found is ours, and whether the list is whole. */
static void
add_list(struct explaining *e, const struct scene *scene, const struct reading *reading)
{
	const struct probe *probe = reading->probe;
	struct items items = { e, scene, probe, 0, 0 };

	if (probe->has_where)
		listing_visit(scene, probe, on_item, &items);
	if (probe->has_items && probe->has_where) {
		add_rule(e, "items", items.ours > 0)->note = arena_printf(
			e->arena, "%zu listed%s, %zu ours", items.listed,
			reading->pages_count > 1 ? " on the last page" : "", items.ours);
	}
	add_conditions(e, "complete", scene, &probe->complete, false);
	if (reading->skipped_count > 0)
		add_rule(e, "skip", true)->note =
			arena_printf(e->arena, "%zu of ours are skipped", reading->skipped_count);
	if (probe->has_covers)
		add_covers(e, scene, reading);
}

static const char *
why_untried(const struct explaining *e, const struct reading *reading)
{
	const struct response *response = reading->response;

	if (response->fault != REASON_COUNT)
		return arena_printf(e->arena, "no answer (%s), so no rule is tried",
				    reason_name(response->fault));
	if (reading_barred(response->status) != REASON_COUNT)
		return arena_printf(e->arena, "status %d is never evidence, so no rule is tried",
				    response->status);
	return NULL;
}

static void
add_reading_rules(struct explaining *e, const struct scene *scene, const struct reading *reading)
{
	if (add_conditions(e, "throttled", scene, &e->target->throttled, false) ||
	    add_conditions(e, "broken", scene, &e->target->broken, false))
		return;
	for (size_t i = 0; i < ARRAY_LEN(reading_rules); i++) {
		const struct reading_rule *rule = &reading_rules[i];
		const void *at = (const char *)reading->probe + rule->offset;

		if (!add_conditions(e, reading_kind_name(rule->kind), scene, at, true))
			continue;
		if (rule->kind == READING_FOUND && scene->response->parsed)
			add_list(e, scene, reading);
		return;
	}
}

static void
begin_rules(struct explaining *e)
{
	e->rules = NULL;
	e->rules_count = e->rules_size = 0;
}

/* The i-th reading of the look, as it was asked: a second read has other values of the operation. */
static struct explained_probe
explain_reading(struct explaining *e, size_t i)
{
	const struct reading *reading = e->of->look->readings[i];
	struct look before = *e->of->look;
	struct scene scene = { .arena = e->arena, .response = reading->response };
	struct look_step step;

	before.count = i;
	before.reread = false;
	step = look_next(e->of->policy, e->of->op, &before, e->arena);
	scene.op = step.op;

	struct explained_probe probe = {
		.probe = reading->probe,
		.reading = reading,
		.reread = step.reread,
		.note = why_untried(e, reading),
	};

	begin_rules(e);
	if (!probe.note)
		add_reading_rules(e, &scene, reading);
	probe.rules = e->rules;
	probe.rules_count = e->rules_count;
	return probe;
}

static bool
was_asked(const struct look *look, const struct probe *probe)
{
	for (size_t i = 0; i < look->count; i++)
		if (look->readings[i]->probe == probe)
			return true;
	return false;
}

static const char *
why_inapplicable(const struct explaining *e, const struct probe *probe)
{
	for (size_t i = 0; i < probe->needs_count; i++)
		if (!operation_has(e->of->op, probe->needs[i]))
			return arena_printf(e->arena, "it needs %s, which the operation has not",
					    operation_field_name(probe->needs[i]));
	return "something that it would send is missing in the operation";
}

static const char *
why_unasked(const struct explaining *e, const struct probe *probe)
{
	switch (probe_applies(e->of->policy, probe, e->of->op, e->arena)) {
	case APPLIES_NOT:
		return why_inapplicable(e, probe);
	case APPLIES_BAD_REFERENCE:
		return "what it would send is no safe reference";
	case APPLIES:
		break;
	}
	return e->of->look->count > 0 ? "the look was over before"
				      : "a reference is unsafe, so nothing is asked";
}

static void
explain_probes(struct explaining *e, struct explanation *to)
{
	const struct policy *policy = e->of->policy;
	const struct look *look = e->of->look;
	struct explained_probe *probes = arena_array(e->arena, struct explained_probe,
						     look->count + policy->probes_count + 1);

	for (size_t i = 0; i < look->count; i++)
		probes[to->probes_count++] = explain_reading(e, i);
	for (size_t i = 0; i < policy->probes_count; i++)
		if (!was_asked(look, &policy->probes[i]))
			probes[to->probes_count++] = (struct explained_probe){
				.probe = &policy->probes[i],
				.unasked = why_unasked(e, &policy->probes[i]),
			};
	to->probes = probes;
}

/* The row of the policy that a rule like "judge[2]" is; NULL: it is none. */
static const struct judge_row *
row_of(const struct policy *policy, const char *rule)
{
	const struct {
		const char *name;
		const struct judge_rows *rows;
	} lists[] = {
		{ "judge", &policy->judge },
		{ "on_absent", &policy->on_absent },
		{ "on_gone", &policy->on_gone },
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		size_t len = strlen(lists[i].name), number;

		if (strncmp(rule, lists[i].name, len) != 0 || rule[len] != '[')
			continue;
		number = strtoul(rule + len + 1, NULL, 10);
		return number < lists[i].rows->count ? &lists[i].rows->rows[number] : NULL;
	}
	return NULL;
}

/* "divergent: the charge was refunded" */
static const char *
row_note(struct arena *arena, const struct judge_row *row)
{
	static const char *const names[] = {
		[JUDGE_WAITING] = "waiting",
		[JUDGE_COMPARE] = "compare",
		[JUDGE_DIVERGENT] = "divergent",
		[JUDGE_AMBIGUOUS] = "ambiguous",
		[JUDGE_NOT_APPLICABLE] = "not_applicable",
	};

	return row->why ? arena_printf(arena, "%s: %s", names[row->class], row->why)
			: names[row->class];
}

static void
explain_verdict(struct explaining *e, struct explanation *to)
{
	const struct verdict *verdict = e->of->verdict;
	const struct scene scene = {
		.arena = e->arena,
		.op = e->of->op,
		.response = verdict->item ? verdict->item_response : NULL,
		.item = verdict->item,
	};

	begin_rules(e);
	for (size_t i = 0; i < verdict->traces_count; i++) {
		const struct rule_trace *trace = &verdict->traces[i];
		const struct judge_row *row = row_of(e->of->policy, trace->rule);
		struct explained_rule *rule = add_rule(e, trace->rule, trace->held);

		if (!row)
			continue;
		rule->tests = explain_rows(e, &scene, &row->when, true);
		rule->tests_count = row->when.count;
		rule->note = row_note(e->arena, row);
	}
	to->rules = e->rules;
	to->rules_count = e->rules_count;
}

void
explain(struct arena *arena, struct hmac *key, const struct target_rules *rules,
	const struct evidence_of *of, struct explanation *ret_explanation)
{
	struct explaining e = { .arena = arena, .key = key, .target = rules, .of = of };

	*ret_explanation = (struct explanation){ 0 };
	explain_probes(&e, ret_explanation);
	explain_verdict(&e, ret_explanation);
}
