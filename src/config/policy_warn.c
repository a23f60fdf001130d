/* SPDX-License-Identifier: Apache-2.0
 *
 * What a policy most likely does not mean, although it can be followed.
 */
#include <string.h>

#include "loading.h"
#include "policy.h"
#include "probe_body.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "tree.h"

static bool
is_kept(const struct locator *list, size_t count, const struct locator *locator)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].text, locator->text) == 0)
			return true;
	return false;
}

/* Who decides a case sees hashes of what is not kept; those under `hash` were meant. */
static void
warn_hashed(struct loading *loading, const struct node *compare, const struct policy *policy)
{
	const char *names = "";

	for (size_t i = 0; i < policy->compare_count; i++) {
		const struct comparison *by = &policy->compare[i];

		if (!by->found.text || is_kept(policy->keep, policy->keep_count, &by->found) ||
		    is_kept(policy->hash, policy->hash_count, &by->found))
			continue;
		names = arena_printf(loading->arena, "%s%s%s", names, names[0] ? ", " : "",
				     by->name);
	}
	if (compare && names[0] != '\0')
		warn_at_key(loading, compare,
			    "a difference is shown as hashes, because evidence does not keep: %s",
			    names);
}

/* Looked for in the tree: a faulty rule is there too. */
static bool
some_probe_has(const struct node *root, const char *key)
{
	const struct node *probes = node_member(root, "probes");

	for (const struct node *node = probes ? probes->first : NULL; node; node = node->next)
		if (node_member(node, key))
			return true;
	return false;
}

static bool
orders_versions(const struct policy *policy)
{
	for (size_t i = 0; i < policy->compare_count; i++)
		if (policy->compare[i].type == COMPARE_VERSION &&
		    policy->compare[i].order != VERSION_OPAQUE)
			return true;
	return false;
}

/* Keys that nothing leads to. */
static void
warn_unused(struct loading *loading, const struct node *root, const struct policy *policy)
{
	const struct {
		const char *key;
		bool used;
		const char *why;
	} keys[] = {
		{ "on_gone", some_probe_has(root, "gone"), "no probe has gone" },
		{ "on_absent", some_probe_has(root, "absent") || some_probe_has(root, "items"),
		  "no probe has absent or items" },
		{ "outcome", policy->compare_count == 0 || orders_versions(policy),
		  "nothing of type: version tells older from newer" },
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct node *key = node_member(root, keys[i].key);

		if (key && !keys[i].used)
			warn_at_key(loading, key, "never follows: %s", keys[i].why);
	}
}

/* Some alternative of found is satisfied by a body that says nothing of a list. */
static bool
found_says_nothing(const struct probe *probe)
{
	for (size_t i = 0; i < probe->found.count; i++) {
		const struct condition *condition = &probe->found.any[i];
		bool says = false;

		for (size_t j = 0; j < condition->count; j++)
			says = says || condition->rows[j].locator.root == LOCATE_ITEM ||
			       condition->rows[j].locator.root == LOCATE_BODY;
		if (!says)
			return true;
	}
	return false;
}

static void
warn_empty_list(struct loading *loading, const struct node *node, const struct probe *probe)
{
	const struct node *items = node_member(node, "items");

	if (probe->has_items && probe->items.count > 0 && found_says_nothing(probe))
		warn_at_key(loading, node_member(node, "found"),
			    "a body without %s is taken for an empty list, better: a test of it "
			    "here",
			    items->text);
}

static bool
probe_needs(const struct probe *probe, enum operation_field field)
{
	for (size_t i = 0; i < probe->needs_count; i++)
		if (probe->needs[i] == field)
			return true;
	return false;
}

/* A field that the operation may lack, so that the test would be passed by no item. */
static const struct locator *
lacking_operand(const struct probe *probe, const struct test *test)
{
	const struct locator *from = test->operand.from, *found = NULL;

	if (test->kind == TEST_NOT)
		return NULL;
	if (from && from->root == LOCATE_OP_FIELD && from->field != OP_OPERATION_ID &&
	    from->field != OP_OPERATION_TYPE && from->field != OP_STATUS &&
	    !probe_needs(probe, from->field) && !probe_sends(probe, from->field))
		return from;
	for (size_t i = 0; test->kind == TEST_ALL && i < test->count && !found; i++)
		found = lacking_operand(probe, &test->children[i]);
	return found;
}

static void
warn_where(struct loading *loading, const struct node *node, const struct probe *probe)
{
	const struct node *where = node_member(node, "where");

	for (size_t i = 0; probe->has_where && i < probe->where.count; i++) {
		const struct condition_row *row = &probe->where.rows[i];
		const struct locator *lacking = lacking_operand(probe, &row->test);

		if (lacking)
			warn_at_key(loading, node_member(where, row->locator.text),
				    "without %s nothing is ours, which looks like absence; "
				    "better: needs: [%s]",
				    lacking->text, operation_field_name(lacking->field));
	}
}

/* Always there, so that a probe with nothing else is always asked. */
static bool
needs_more_than_id(const struct template_part *placeholder, const void *context)
{
	return placeholder->batch_join ||
	       (placeholder->field != OP_OPERATION_ID && placeholder->field != OP_OPERATION_TYPE &&
		placeholder->field != OP_STATUS && placeholder->field != OP_CREATED_AT);
}

static bool
is_always_asked(const struct probe *probe)
{
	return probe->path.text && probe->needs_count == 0 && probe->batch_max == 0 &&
	       !probe_any_placeholder(probe, needs_more_than_id, NULL);
}

static bool
answers_absent(const struct probe *probe)
{
	return probe->absent.count > 0 || probe->has_items;
}

static bool
is_reread(const struct policy *policy, const struct probe *probe)
{
	for (size_t i = 0; i < policy->probes_count; i++)
		if (policy->probes[i].reread.probe == probe)
			return true;
	return false;
}

/* A probe goes on to the next one only when it is not asked, or answers absent. */
static void
warn_never_asked(struct loading *loading, const struct node *node, const struct policy *policy,
		 size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_always_asked(&policy->probes[i]) && !answers_absent(&policy->probes[i]) &&
		    !is_reread(policy, &policy->probes[index])) {
			warn_about(loading, node,
				   "%s is never asked: %s is asked before, always, and never "
				   "answers absent",
				   policy->probes[index].name, policy->probes[i].name);
			return;
		}
}

/* What the second read takes from the item, and then does not ask for. */
static void
warn_with(struct loading *loading, const struct node *node, const struct reread *reread)
{
	const struct node *with = node_member(node_member(node, "then"), "with");

	for (size_t i = 0; reread->probe && i < reread->with_count; i++) {
		const char *name = operation_field_name(reread->with[i].field);

		if (with && !probe_sends(reread->probe, reread->with[i].field))
			warn_at_key(loading, node_member(with, name), "%s has no placeholder {%s}",
				    reread->probe->name, name);
	}
}

/* Names under which systems count their own changes. */
static bool
is_own_counter(const struct locator *locator)
{
	static const char *const names[] = {
		"header.etag",		"header.x-amz-version-id",
		"header.last-modified", "/_seq_no",
		"/resourceVersion",	"/metadata/resourceVersion",
		"/lock_version",	"/SyncToken",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], locator->text) == 0)
			return true;
	return false;
}

static bool
is_our_version(const struct comparison *by)
{
	for (size_t i = 0; i < by->count; i++)
		if (by->values[i].from && by->values[i].from->root == LOCATE_OP_FIELD &&
		    by->values[i].from->field == OP_VERSION)
			return true;
	return false;
}

static void
warn_counters(struct loading *loading, const struct node *compare, const struct policy *policy)
{
	for (size_t i = 0; i < policy->compare_count; i++) {
		const struct comparison *by = &policy->compare[i];
		const struct node *node = node_member(node_member(compare, by->name), "found");

		if (node && by->found.text && by->type == COMPARE_VERSION &&
		    by->order != VERSION_OPAQUE && is_our_version(by) && is_own_counter(&by->found))
			warn_about(loading, node,
				   "the target counts its own changes there, which says nothing of "
				   "our version");
	}
}

void
policy_warn(struct loading *loading, const struct node *root, const struct policy *policy)
{
	const struct node *compare = node_member(root, "compare");
	const struct node *probes = node_member(root, "probes");
	size_t i = 0;

	warn_hashed(loading, compare, policy);
	warn_counters(loading, compare, policy);
	warn_unused(loading, root, policy);
	for (const struct node *node = probes ? probes->first : NULL;
	     node && i < policy->probes_count; node = node->next, i++) {
		warn_empty_list(loading, node, &policy->probes[i]);
		warn_where(loading, node, &policy->probes[i]);
		warn_with(loading, node, &policy->probes[i].reread);
		warn_never_asked(loading, node, policy, i);
	}
}
