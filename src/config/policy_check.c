/* SPDX-License-Identifier: Apache-2.0
 *
 * What a policy must not say although each of its keys is right. Keys are looked for in the tree,
 * so that a faulty or unsupported value does not cause a second complaint.
 */
#include <string.h>

#include "injection.h"
#include "loading.h"
#include "policy.h"
#include "probe_body.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/duration.h"
#include "tree.h"

struct check {
	struct loading *loading;
	const struct node *root;
	const struct policy *policy;
	const struct target_facts *facts;
};

static bool
is_text(const struct node *node, const char *text)
{
	return node->kind == NODE_TEXT && strcmp(node->text, text) == 0;
}

static void
check_compare(const struct check *check)
{
	const struct node *existence = node_member(check->root, "existence_only");

	if (!node_member(check->root, "compare")) {
		if (!existence)
			complain(check->loading, check->root,
				 "compare is missing: what must be as expected, or existence_only: "
				 "true");
		else if (is_text(existence, "false"))
			complain(check->loading, existence, "without compare only true is allowed");
	} else if (check->policy->existence_only) {
		complain(check->loading, existence, "contradicts compare");
	}
}

static void
check_describe(const struct check *check)
{
	static const char *const needed[] = { "effect", "truth", "proof", "owner" };
	const struct node *describe = node_member(check->root, "describe");

	if (!check->policy->enforce || (describe && describe->kind != NODE_MAP))
		return;
	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		if (!node_member(describe, needed[i]))
			complain(check->loading, node_member(check->root, "mode"),
				 "enforce needs describe: {%s: …}", needed[i]);
}

/* A row that tests the answer for something to be there; status and absent members do not. */
static bool
row_recognises(const struct condition_row *row)
{
	if (row->locator.root == LOCATE_STATUS || row->locator.root == LOCATE_OP_FIELD ||
	    row->locator.root == LOCATE_OP_POINTER)
		return false;
	return row->test.kind != TEST_NOT && row->test.kind != TEST_ABSENT;
}

static bool
condition_recognises(const struct condition *condition)
{
	for (size_t i = 0; i < condition->count; i++)
		if (row_recognises(&condition->rows[i]))
			return true;
	return false;
}

static void
check_absent(const struct check *check, const struct node *node, const struct probe *probe)
{
	const struct node *absent = node_member(node, "absent");

	for (size_t i = 0; absent && i < probe->absent.count; i++) {
		if (condition_recognises(&probe->absent.any[i]))
			continue;
		if (probe->method != METHOD_HEAD)
			complain(check->loading, absent,
				 "a status alone is no evidence, allowed: a test of the target's "
				 "own answer too");
		else if (check->facts->readable && !check->facts->has_control)
			complain(check->loading, absent,
				 "a status alone is no evidence: target \"%s\" has no control",
				 check->policy->target);
		else
			continue;
		return;
	}
}

/* References that are ours and unique, so that two matches are two effects of one operation. */
static bool
field_is_unique(enum operation_field field)
{
	return field == OP_OPERATION_ID || field == OP_IDEMPOTENCY_KEY || field == OP_REMOTE_ID;
}

static bool
placeholder_is_unique(const struct template_part *placeholder, const void *context)
{
	return !placeholder->batch_join && field_is_unique(placeholder->field);
}

/* Equality with our reference; anything under `not` says the contrary. */
static bool
test_is_unique(const struct test *test)
{
	if (test->kind == TEST_IS || test->kind == TEST_PREFIX)
		return test->operand.from && test->operand.from->root == LOCATE_OP_FIELD &&
		       field_is_unique(test->operand.from->field);
	for (size_t i = 0; test->kind == TEST_ALL && i < test->count; i++)
		if (test_is_unique(&test->children[i]))
			return true;
	return false;
}

static bool
where_is_unique(const struct condition *where)
{
	for (size_t i = 0; i < where->count; i++)
		if (test_is_unique(&where->rows[i].test))
			return true;
	return false;
}

static bool
path_is_unique(const struct template *path)
{
	for (size_t i = 0; i < path->count; i++)
		if (!path->parts[i].literal && placeholder_is_unique(&path->parts[i], NULL))
			return true;
	return false;
}

/* A reference in query or body is enough only without a list: a list may ignore its filter. */
static bool
several_are_ours(const struct node *node, const struct probe *probe)
{
	if (!node_member(node, "items") && !node_member(node, "several"))
		return true;
	if (where_is_unique(&probe->where) || path_is_unique(&probe->path))
		return true;
	return !probe->has_where && probe_any_placeholder(probe, placeholder_is_unique, NULL);
}

static void
check_several(const struct check *check, const struct node *node, const struct probe *probe)
{
	const struct node *on_several = node_member(check->root, "on_several");
	const struct node *where = node_member(node, "where");

	if (!check->policy->several_divergent || (where && !probe->has_where))
		return;
	if (!several_are_ours(node, probe))
		complain(
			check->loading, on_several,
			"divergent needs our own unique reference in where of %s: op.operation_id, "
			"op.idempotency_key or op.remote_id",
			probe->name);
}

static void
check_injection(const struct check *check, const struct node *node, const struct probe *probe)
{
	const struct node *reference = node_member(check->root, "reference");

	if (!reference || check->policy->reference) /* else no expression, said before */
		injection_check(check->loading, node, probe, reference ? reference->text : NULL);
}

static void
check_probes(const struct check *check)
{
	const struct node *probes = node_member(check->root, "probes");
	size_t i = 0;

	for (const struct node *node = probes ? probes->first : NULL;
	     node && i < check->policy->probes_count; node = node->next, i++) {
		check_absent(check, node, &check->policy->probes[i]);
		check_several(check, node, &check->policy->probes[i]);
		check_injection(check, node, &check->policy->probes[i]);
	}
}

/* Absence is proven no sooner than after, and by then the key must outlive the delay. */
static void
check_key_valid(const struct check *check, const struct node *key_valid)
{
	char valid[DURATION_TEXT_MAX], after[DURATION_TEXT_MAX], delay[DURATION_TEXT_MAX];
	const struct node *given = node_member(node_member(check->root, "absence"), "after");
	const struct policy *policy = check->policy;

	if (policy->key_valid_us <= 0 || /* said already */
	    policy->key_valid_us > policy->absence_after_us + policy->requeue.first_us)
		return;
	duration_format(policy->key_valid_us, valid);
	duration_format(policy->absence_after_us, after);
	duration_format(policy->requeue.first_us, delay);
	complain(check->loading, key_valid,
		 "%s is over before anything can be sent again: %s %s and requeue.delay %s", valid,
		 given ? "absence.after" : "latency_window", after, delay);
}

/* What sending again needs, whatever row asks for it; promise: every clause or none. */
static void
check_requeue_at(const struct check *check, const struct node *at)
{
	const struct node *idempotent = node_member(check->root, "idempotent");
	const struct policy *policy = check->policy;
	const struct node *key_valid = node_member(node_member(check->root, "resend"), "key_valid");
	struct loading *loading = check->loading;

	if (!idempotent || is_text(idempotent, "no"))
		complain(loading, at, "requeue needs idempotent: key, natural or conditional");
	if (policy->idempotent == IDEMPOTENT_KEY && key_valid)
		check_key_valid(check, key_valid);
	if (policy->idempotent == IDEMPOTENT_KEY && !key_valid)
		complain(loading, at,
			 "requeue with idempotent: key needs resend: {key_valid: …}, how long the "
			 "target keeps it");
	if (check->facts->readable && !check->facts->has_control)
		complain(loading, at, "requeue needs a control of target \"%s\"", policy->target);
}

/* The node of a row; the action alone is the only one. */
static const struct node *
action_row(const struct node *node, size_t row)
{
	const struct node *child = node->kind == NODE_LIST ? node->first : NULL;

	if (node->kind != NODE_LIST)
		return node;
	for (size_t i = 0; child && i < row; i++)
		child = child->next;
	return child;
}

static void
check_requeue(const struct check *check)
{
	const struct node *missing = node_member(node_member(check->root, "actions"), "missing");
	const struct action_rule *rule = &check->policy->actions[CLASS_MISSING];
	bool said = false;

	for (size_t i = 0; missing && i < rule->count; i++) {
		const struct node *row = action_row(missing, i);
		const struct node *at = node_member(row, "do") ? node_member(row, "do") : row;

		if (rule->rows[i].action != ACTION_REQUEUE)
			continue;
		if (!said)
			check_requeue_at(check, at);
		said = true;
		if (check->policy->stakes != STAKES_NORMAL && !node_member(row, "when"))
			complain(check->loading, at,
				 "requeue needs a row with when where stakes are money or "
				 "irreversible");
	}
}

static void
check_target(const struct check *check)
{
	const struct node *target = node_member(check->root, "target");

	if (target && target->kind == NODE_TEXT && check->facts->known && !check->facts->exists)
		complain(
			check->loading, target,
			"there is no target %s, no file in the folder of the targets has this name",
			found_words(check->loading, target));
}

static void
check_times(const struct check *check)
{
	const struct node *absence = node_member(check->root, "absence");
	const struct node *horizon = node_member(absence, "horizon");
	const struct node *recheck = node_member(check->root, "recheck");
	const struct policy *policy = check->policy;

	if (horizon && policy->absence_horizon_us > 0 &&
	    policy->absence_horizon_us <= policy->absence_after_us + policy->absence_over_us)
		complain(check->loading, horizon,
			 "ends before absence can be proven (after and over)");
	if (recheck && policy->recheck.first_us > policy->recheck.max_us)
		complain(check->loading, recheck, "first is longer than max");
}

/* Sending again over an older version might undo what somebody changed since. */
static void
check_outcome(const struct check *check)
{
	const struct node *older = node_member(node_member(check->root, "outcome"), "older");
	const struct action_rule *missing = &check->policy->actions[CLASS_MISSING];

	if (check->policy->older != OUTCOME_MISSING ||
	    check->policy->idempotent == IDEMPOTENT_CONDITIONAL)
		return;
	for (size_t i = 0; i < missing->count; i++)
		if (missing->rows[i].action == ACTION_REQUEUE) {
			complain(check->loading, older,
				 "missing is sent again over what is there, so it needs "
				 "idempotent: conditional");
			return;
		}
}

void
policy_check(struct loading *loading, const struct node *root, const struct policy *policy,
	     const struct target_facts *facts)
{
	struct check check = { loading, root, policy, facts };

	check_target(&check);
	check_compare(&check);
	check_describe(&check);
	check_probes(&check);
	check_requeue(&check);
	check_outcome(&check);
	check_times(&check);
	policy_warn(loading, root, policy);
}
