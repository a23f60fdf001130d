/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages have four kinds, each with its own keys; a mapping that has the keys of two is of none.
 */
#include "probe_list.h"

#include <string.h>

#include "condition.h"
#include "condition_shape.h"
#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/probe.h"
#include "tree.h"

enum { PAGES_MAX = 1000, BATCH_MAX = 10000 };

/* A place in an answer, not in the operation. */
static bool
answer_locator_decode(struct loading *loading, const struct node *node, struct locator *ret_locator)
{
	if (!locator_decode(loading, node, ret_locator))
		return false;
	if (ret_locator->root != LOCATE_ITEM && ret_locator->root != LOCATE_BODY &&
	    ret_locator->root != LOCATE_HEADER)
		return complain_found(loading, node,
				      "a place in the answer: /pointer, header.NAME"),
		       false;
	return true;
}

static void
decode_from(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	(void)answer_locator_decode(loading, node, at);
}

static void
decode_link(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	if (node->kind != NODE_TEXT || strcmp(node->text, "next") != 0)
		complain_found(loading, node, "next");
}

static const struct word link_list[] = { { "next", .value = PAGING_LINK } };
WORDS(link_words, link_list);

static const struct field pages_fields[] = {
	{ "next", offsetof(struct pages, from), OWN(decode_from), .shape = &shape_answer_locator,
	  .help = "Where the token of the next page is." },
	{ "into", offsetof(struct pages, into), TEXT(NULL),
	  .help = "Parameter that takes the token." },
	{ "link", 0, OWN(decode_link), .words = &link_words, .preset = -1,
	  .help = "The header Link with rel=next." },
	{ "number", offsetof(struct pages, into), TEXT(NULL),
	  .help = "Parameter that counts pages." },
	{ "total", offsetof(struct pages, from), OWN(decode_from), .shape = &shape_answer_locator,
	  .help = "Where the count of pages is." },
	{ "offset", offsetof(struct pages, into), TEXT(NULL),
	  .help = "Parameter that counts items." },
	{ "size", offsetof(struct pages, size), COUNT(1, PAGE_ITEMS_MAX, 0),
	  .help = "Items of a page that is not the last." },
	{ "max", offsetof(struct pages, max), COUNT(1, PAGES_MAX, 10), .help = "Most pages." },
};
const struct table pages_table = { pages_fields, ARRAY_LEN(pages_fields) };

static const char *const pages_one_of[] = { "next", "link", "number", "offset", NULL };
static const struct shape_option pages_options[] = {
	NEEDS("next", "into"),	  NEEDS("into", "next"),   NEEDS("number", "total"),
	NEEDS("total", "number"), NEEDS("offset", "size"), NEEDS("size", "offset"),
};
const struct shape shape_pages = {
	.kind = SHAPE_TABLE,
	.table = &pages_table,
	.one_of = pages_one_of,
	.options = pages_options,
	.options_count = ARRAY_LEN(pages_options),
};

/* The key that names a kind, and the one that it needs. */
static const struct {
	enum paging kind;
	const char *key, *needs;
} kinds[] = {
	{ PAGING_NEXT, "next", "into" },
	{ PAGING_LINK, "link", NULL },
	{ PAGING_NUMBER, "number", "total" },
	{ PAGING_OFFSET, "offset", "size" },
};

void
pages_decode(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	static const char allowed[] = "one of {next, into}, {link: next}, {number, total}, "
				      "{offset, size}, each with max";
	struct pages *pages = at;
	size_t given = 0, key_count = 0;

	fields_decode(loading, node, &pages_table, pages);
	if (node->kind != NODE_MAP)
		return;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		bool is_needed = kinds[i].needs && node_member(node, kinds[i].needs);
		bool is_given = node_member(node, kinds[i].key);

		key_count += is_given + is_needed;
		if (!is_given || (kinds[i].needs && !is_needed))
			continue;
		pages->kind = kinds[i].kind;
		given += kinds[i].needs ? 2 : 1;
	}
	if (given == 0 || given != key_count || given > (pages->kind == PAGING_LINK ? 1 : 2)) {
		complain(loading, node, "allowed: %s", allowed);
		pages->kind = PAGING_NONE;
	}
}

static const struct shape match_shape = { .kind = SHAPE_STRING,
					  .pattern = "^/",
					  .help = "A place in the item, like /id." };

static void
decode_match(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct probe *probe = at;

	if (!pointer_decode(loading, node, &probe->batch_match))
		return;
	for (size_t i = 0; i < probe->batch_match.count; i++)
		if (probe->batch_match.tokens[i].kind != POINTER_NAME) {
			complain_found(loading, node, "one place in the item, like /id");
			probe->batch_match.count = 0;
			return;
		}
	if (probe->batch_match.count == 0)
		complain_found(loading, node, "a pointer in the item, like /id");
}

static const struct field batch_fields[] = {
	{ "max", offsetof(struct probe, batch_max), COUNT(1, BATCH_MAX, 0), .required = true,
	  .help = "most operations of one question" },
	{ "match", 0, OWN(decode_match), .shape = &match_shape, .required = true,
	  .help = "where an item has what was sent" },
};
const struct table batch_table = { batch_fields, ARRAY_LEN(batch_fields) };

/* Without a usable `match` it is none, so that nothing more is said of it. */
void
batch_decode(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct probe *probe = at;

	fields_decode(loading, node, &batch_table, probe);
	if (probe->batch_match.count == 0)
		probe->batch_max = 0;
}

static void
decode_until(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct probe *probe = at;

	probe->has_covers = answer_locator_decode(loading, node, &probe->covers_until);
}

static const struct field covers_fields[] = {
	{ "until", 0, OWN(decode_until), .shape = &shape_answer_locator, .required = true,
	  .help = "where the answer says how far its data reach" },
};
const struct table covers_table = { covers_fields, ARRAY_LEN(covers_fields) };

void
covers_decode(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	fields_decode(loading, node, &covers_table, at);
}

static bool
with_field_decode(struct loading *loading, const struct node *node, enum operation_field *ret_field)
{
	if (operation_field_from_name(node->key, strlen(node->key), ret_field) &&
	    operation_field_is_text(*ret_field))
		return true;
	complain_at_key(loading, node,
			"is no text of the operation, allowed: a field like remote_id");
	return false;
}

static const struct shape with_shape = {
	.kind = SHAPE_MAP,
	.pattern = "^<field>$",
	.of = &shape_answer_locator,
};

static void
decode_with(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct reread *reread = at;
	struct reread_with *with = arena_array(loading->arena, struct reread_with, node->count + 1);
	size_t count = 0;

	if (node->kind != NODE_MAP) {
		complain_found(loading, node,
			       "a mapping of fields to places, like {remote_id: /id}");
		return;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		bool known = with_field_decode(loading, child, &with[count].field);

		if (answer_locator_decode(loading, child, &with[count].from) && known)
			count++;
	}
	reread->with = with;
	reread->with_count = count;
}

static void
decode_reread_probe(struct loading *loading, const struct node *node, void *at,
		    const struct field *field)
{
	(void)text_decode(loading, node, "the name of another probe");
}

static const struct field reread_fields[] = {
	{ "probe", 0, OWN(decode_reread_probe), .shape = &shape_text, .required = true,
	  .help = "the probe that is asked then" },
	{ "with", 0, OWN(decode_with), .shape = &with_shape,
	  .help = "Fields that it takes from the item." },
};
const struct table reread_table = { reread_fields, ARRAY_LEN(reread_fields) };

void
reread_decode(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	fields_decode(loading, node, &reread_table, at);
}
