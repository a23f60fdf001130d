/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys are looked for in the tree, so that a faulty value does not cause a second complaint.
 */
#include "probe_check.h"

#include <string.h>

#include "condition.h"
#include "loading.h"
#include "probe_body.h"
#include "reconciled/base/attributes.h"
#include "tree.h"

/* Nothing in it could ever hold or be found. */
void
probe_check_head(struct loading *loading, const struct node *node, const struct probe *probe)
{
	const struct {
		const char *key;
		const struct conditions *conditions;
	} readers[] = {
		{ "found", &probe->found },	{ "gone", &probe->gone },
		{ "several", &probe->several }, { "unfinished", &probe->unfinished },
		{ "absent", &probe->absent },
	};

	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		if (conditions_read_body(readers[i].conditions))
			complain_at_key(
				loading, node_member(node, readers[i].key),
				"the answer to head has no body, allowed: status, header.NAME");
	if (probe->has_items)
		complain_at_key(loading, node_member(node, "items"),
				"the answer to head has no body");
}

static bool
token_is_member(const struct pointer_token *token)
{
	return token->kind == POINTER_NAME && strspn(token->name, "0123456789") < token->name_len;
}

static bool
token_equals(const struct pointer_token *a, const struct pointer_token *b)
{
	return a->kind == POINTER_NAME && b->kind == POINTER_NAME && a->name_len == b->name_len &&
	       memcmp(a->name, b->name, a->name_len) == 0;
}

/* Names only; a batch is matched by nothing else. */
static bool
pointer_equals(const struct pointer *a, const struct pointer *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!token_equals(&a->tokens[i], &b->tokens[i]))
			return false;
	return true;
}

/* The locator names a member of what stands at items: then that is one object and no list. */
static bool
locator_is_member_of(const struct locator *locator, const struct pointer *items)
{
	if (locator->root != LOCATE_ITEM && locator->root != LOCATE_BODY)
		return false;
	if (locator->pointer.count <= items->count)
		return false;
	for (size_t i = 0; i < items->count; i++)
		if (!token_equals(&locator->pointer.tokens[i], &items->tokens[i]))
			return false;
	return token_is_member(&locator->pointer.tokens[items->count]);
}

static bool
found_is_one_object(const struct probe *probe)
{
	for (size_t i = 0; i < probe->found.count; i++) {
		const struct condition *condition = &probe->found.any[i];
		bool one = false;

		for (size_t j = 0; j < condition->count; j++)
			one = one ||
			      (condition->rows[j].test.kind != TEST_NOT &&
			       condition->rows[j].test.kind != TEST_ABSENT &&
			       locator_is_member_of(&condition->rows[j].locator, &probe->items));
		if (!one)
			return false;
	}
	return probe->found.count > 0;
}

/* A list without where is ours as a whole, so it must be known to be one object. */
static void
check_where(struct loading *loading, const struct node *node, const struct probe *probe)
{
	const struct node *items = node_member(node, "items");
	const struct node *found = node_member(node, "found");

	if (!probe->has_items || node_member(node, "where"))
		return;
	if (found && probe->found.count == 0)
		return; /* not readable, said before */
	if (!found_is_one_object(probe))
		complain_at_key(loading, items, "needs where: which items of the list are ours");
}

static bool
is_integer(const char *text)
{
	return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* The parameter as the question gives it, which is that of the first page; NULL: it does not. */
static const struct node *
first_page(const struct node *node, const struct pages *pages)
{
	static const char *const places[] = { "query", "json", "form" };
	const struct node *found = NULL;

	for (size_t i = 0; pages->into && i < ARRAY_LEN(places) && !found; i++)
		found = node_member(node_member(node, places[i]), pages->into);
	return found;
}

static void
check_pages(struct loading *loading, const struct node *node, const struct probe *probe)
{
	const struct node *pages = node_member(node, "pages");
	const struct node *first = first_page(node, &probe->pages);

	if (!pages || probe->pages.kind == PAGING_NONE)
		return;
	if (node_member(node, "head"))
		complain_at_key(loading, pages, "the answer to head has no body");
	if (node_member(node, "text") && probe->pages.kind != PAGING_LINK)
		complain_at_key(loading, pages,
				"%s has no place in text, allowed: a body of json or form",
				probe->pages.into);
	if (probe->pages.kind != PAGING_NUMBER && probe->pages.kind != PAGING_OFFSET)
		return;
	if (first && (first->kind != NODE_TEXT || !is_integer(first->text)))
		complain_found(loading, first, "the whole number of the first page");
}

/* The row of where by which an item of the answer is known as that of one operation. */
static bool
find_batch_field(struct probe *probe)
{
	for (size_t i = 0; i < probe->where.count; i++) {
		const struct condition_row *row = &probe->where.rows[i];
		const struct locator *from = row->test.operand.from;

		if (row->locator.root != LOCATE_ITEM || row->test.kind != TEST_IS || !from ||
		    from->root != LOCATE_OP_FIELD ||
		    !pointer_equals(&row->locator.pointer, &probe->batch_match))
			continue;
		probe->batch_field = from->field;
		return true;
	}
	return false;
}

static bool
is_of_one_operation(const struct template_part *placeholder, const void *context)
{
	return placeholder->batch_join == NULL;
}

static void
check_batch_question(struct loading *loading, const struct node *node, const struct probe *probe)
{
	const struct node *batch = node_member(node, "batch");
	const struct json_template *each = json_template_batch(probe->json);

	if (!probe_asks_batch(probe)) {
		complain_at_key(loading, batch,
				"the question names one operation, allowed: {batch|each NAME=%s} "
				"in json or {batch|join ,} in query",
				operation_field_name(probe->batch_field));
		return;
	}
	if (each && each->batch_field != probe->batch_field)
		complain_at_key(loading, batch,
				"{batch|each %s=%s} sends another field than %s, "
				"which where finds at match",
				each->batch_name, operation_field_name(each->batch_field),
				operation_field_name(probe->batch_field));
	if (probe_any_placeholder(probe, is_of_one_operation, NULL))
		complain_at_key(loading, batch,
				"a question about several operations has no placeholders of one, "
				"allowed: {batch|…}");
}

static void
check_batch(struct loading *loading, const struct node *node, struct probe *probe)
{
	const struct node *batch = node_member(node, "batch");
	const struct node *where = node_member(node, "where");

	if (!batch && probe_asks_batch(probe))
		complain(loading, node, "{batch|…} needs batch: {max, match}");
	if (!batch || probe->batch_max == 0 || (where && !probe->has_where))
		return;
	if (find_batch_field(probe))
		check_batch_question(loading, node, probe);
	else
		complain_at_key(loading, batch,
				"needs a row of where at match that says whose item it is, like "
				"{%s: {is: op.business_key}}",
				node_member(batch, "match")->text);
}

void
probe_check_list(struct loading *loading, const struct node *node, struct probe *probe)
{
	static const char *const list_keys[] = { "each", "skip",  "complete",
						 "full", "pages", "batch" };
	const struct node *items = node_member(node, "items");

	for (size_t i = 0; i < ARRAY_LEN(list_keys); i++) {
		const struct node *key = node_member(node, list_keys[i]);

		if (key && !items)
			complain_at_key(loading, key, "needs items: where the list is");
	}
	check_where(loading, node, probe);
	check_pages(loading, node, probe);
	check_batch(loading, node, probe);
}

static void
check_names(struct loading *loading, const struct node *node, const struct probe *probes)
{
	size_t i = 0;

	for (const struct node *child = node->first; child; child = child->next, i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(probes[i].name, probes[j].name) == 0)
				complain(loading, child, "a second probe named \"%s\"",
					 probes[i].name);
}

static const struct probe *
probe_find(const struct probe *probes, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(probes[i].name, name) == 0)
			return &probes[i];
	return NULL;
}

/* then: {probe: NAME} of one probe. */
static void
link_reread(struct loading *loading, const struct node *node, struct probe *probe,
	    const struct probe *other)
{
	const struct node *then = node_member(node, "then");
	const struct node *name = node_member(then, "probe");

	if (!node_member(node, "stale"))
		complain_at_key(loading, then, "needs stale: true, nothing else is read again");
	if (!other)
		complain(loading, name, "there is no probe %s", found_words(loading, name));
	else if (other == probe)
		complain(loading, name, "a probe is not its own second read");
	else if (other->stale)
		complain(loading, name, "%s is stale itself", found_words(loading, name));
	else
		probe->reread.probe = other;
}

void
probes_link(struct loading *loading, const struct node *node, struct probe *probes, size_t count)
{
	size_t i = 0;

	check_names(loading, node, probes);
	for (const struct node *child = node->first; child; child = child->next, i++) {
		const struct node *name = node_member(node_member(child, "then"), "probe");

		if (name && name->kind == NODE_TEXT)
			link_reread(loading, child, &probes[i],
				    probe_find(probes, count, name->text));
	}
}
