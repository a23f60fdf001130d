/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME: {found, is | one_of | at_least, type and its options}. An option is refused where the type
 * has no use for it, so that nobody believes in a tolerance that is not applied.
 */
#include "comparison.h"

#include <string.h>

#include "condition.h"
#include "condition_shape.h"
#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/number.h"
#include "tree.h"

enum { NAME_MAX_BYTES = 100 };

/* What the table writes into, before it becomes a struct comparison. */
struct draft {
	struct comparison comparison;
	bool has_found, has_values;
	int type, order;
};

static const struct word type_list[] = {
	{ "text", .value = COMPARE_TEXT },
	{ "number", .value = COMPARE_NUMBER },
	{ "version", .value = COMPARE_VERSION },
	{ "bool", .value = COMPARE_BOOL },
	{ "money", .value = COMPARE_MONEY, .later = true },
	{ "time", .value = COMPARE_TIME, .later = true },
	{ "set", .value = COMPARE_SET, .later = true },
	{ "list", .value = COMPARE_LIST, .later = true },
	{ "digest", .value = COMPARE_DIGEST, .later = true },
};
WORDS(type_words, type_list);

static const struct word order_list[] = {
	{ "integer", .value = VERSION_INTEGER },
	{ "dotted", .value = VERSION_DOTTED },
	{ "opaque", .value = VERSION_OPAQUE },
	{ "time", .value = VERSION_TIME, .later = true },
};
WORDS(order_words, order_list);

static void
decode_found(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	draft->has_found = locator_decode(loading, node, &draft->comparison.found);
}

static void
decode_relation(struct loading *loading, const struct node *node, void *at,
		const struct field *field)
{
	struct draft *draft = at;
	bool list = field->min == COMPARE_ONE_OF;
	size_t count = list ? node->count : 1, i = 0;
	struct operand *values = arena_array(loading->arena, struct operand, count + 1);
	bool good = true;

	if (list && (node->kind != NODE_LIST || count == 0)) {
		complain_found(loading, node, "a list of values");
		return;
	}
	if (!list)
		good = operand_decode(loading, node, &values[0]);
	for (const struct node *child = list ? node->first : NULL; child; child = child->next)
		good = operand_decode(loading, child, &values[i++]) && good;
	draft->comparison.relation = (enum compare_relation)field->min;
	draft->comparison.values = values;
	draft->comparison.count = count;
	draft->has_values = good;
}

static void
decode_fold_option(struct loading *loading, const struct node *node, void *at,
		   const struct field *field)
{
	struct draft *draft = at;

	(void)fold_decode(loading, node, &draft->comparison.fold);
}

static void
decode_tolerance(struct loading *loading, const struct node *node, void *at,
		 const struct field *field)
{
	struct draft *draft = at;

	if (node->kind == NODE_TEXT && number_is_valid(node->text, strlen(node->text)) &&
	    number_compare(node->text, "0") >= 0)
		draft->comparison.tolerance = node->text;
	else
		complain_found(loading, node, "a number that is not negative");
}

static const struct shape tolerance_shape = {
	.kind = SHAPE_NUMBER,
	.pattern = "^[+-]?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$",
};
static const struct shape operands = { .kind = SHAPE_LIST, .of = &shape_operand, .min = 1 };

static const struct field fields[] = {
	{ "found", 0, OWN(decode_found), .shape = &shape_locator, .required = true,
	  .help = "where the value is in the item" },
	{ "is", 0, OWN(decode_relation), .shape = &shape_operand, .min = COMPARE_IS,
	  .help = "The expected value." },
	{ "one_of", 0, OWN(decode_relation), .shape = &operands, .min = COMPARE_ONE_OF,
	  .help = "Any of these." },
	{ "at_least", 0, OWN(decode_relation), .shape = &shape_operand, .min = COMPARE_AT_LEAST,
	  .help = "This or more." },
	{ "type", offsetof(struct draft, type), WORD(type_words, COMPARE_TEXT),
	  .help = "How values are compared." },
	{ "fold", 0, OWN(decode_fold_option), .shape = &shape_fold,
	  .help = "Differences in spelling that do not count." },
	{ "tolerance", 0, OWN(decode_tolerance), .shape = &tolerance_shape,
	  .help = "Largest difference that still is equal." },
	{ "order", offsetof(struct draft, order), WORD(order_words, VERSION_INTEGER),
	  .help = "How versions follow each other." },
	{ "not_before", 0, LATER },
	{ "unit", 0, LATER },
	{ "currency", 0, LATER },
	{ "sign", 0, LATER },
	{ "skew", 0, LATER },
	{ "zone", 0, LATER },
	{ "algorithm", 0, LATER },
	{ "encoding", 0, LATER },
};
const struct table comparison_table = { fields, ARRAY_LEN(fields) };

static const char *const relations[] = { "is", "one_of", "at_least", NULL };
static const struct shape_option shape_options[] = {
	NEEDS_VALUE("fold", "type", "text"),
	NEEDS_VALUE("tolerance", "type", "number"),
	NEEDS_VALUE("order", "type", "version"),
	NEEDS_VALUE("at_least", "type", "number", "version"),
};
static const struct shape comparison_shape = {
	.name = "comparison",
	.kind = SHAPE_TABLE,
	.table = &comparison_table,
	.one_of = relations,
	.options = shape_options,
	.options_count = ARRAY_LEN(shape_options),
};
const struct shape shape_comparisons = { .kind = SHAPE_MAP, .of = &comparison_shape, .min = 1 };

/* Options and the type that has them. */
static const struct {
	const char *option;
	enum compare_type type;
	const char *type_name;
} options[] = {
	{ "fold", COMPARE_TEXT, "text" },
	{ "tolerance", COMPARE_NUMBER, "number" },
	{ "order", COMPARE_VERSION, "version" },
};

static void
check_options(struct loading *loading, const struct node *node, const struct draft *draft)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct node *option = node_member(node, options[i].option);

		if (option && draft->comparison.type != options[i].type)
			complain_at_key(loading, option, "belongs to type: %s",
					options[i].type_name);
	}
}

static void
check_relation(struct loading *loading, const struct node *node, const struct draft *draft)
{
	const struct node *at_least = node_member(node, "at_least");
	int given = (node_member(node, "is") != NULL) + (node_member(node, "one_of") != NULL) +
		    (at_least != NULL) + (node_member(node, "not_before") != NULL);

	if (given != 1)
		complain(loading, node,
			 "found %d expectations, allowed: one of is, one_of, at_least", given);
	if (!at_least)
		return;
	if (draft->comparison.type != COMPARE_NUMBER && draft->comparison.type != COMPARE_VERSION)
		complain_at_key(loading, at_least, "needs type: number or type: version");
	else if (draft->comparison.type == COMPARE_VERSION && draft->order == VERSION_OPAQUE)
		complain_at_key(loading, at_least, "opaque versions have no order");
}

static bool
literal_fits(const struct comparison *comparison, const char *text)
{
	if (comparison->type == COMPARE_NUMBER)
		return number_is_valid(text, strlen(text));
	if (comparison->type == COMPARE_BOOL)
		return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
	if (comparison->type == COMPARE_VERSION && comparison->order == VERSION_INTEGER)
		return number_is_valid(text, strlen(text)) && number_is_integer(text);
	return true;
}

static void
check_literals(struct loading *loading, const struct node *node, const struct draft *draft)
{
	for (size_t i = 0; draft->has_values && i < draft->comparison.count; i++) {
		const char *text = draft->comparison.values[i].text;

		if (text && !literal_fits(&draft->comparison, text))
			complain(loading, node, "the expected value \"%s\" is not of its type",
				 text);
	}
}

/* A type for later is named once; its options say nothing more then. */
static bool
type_is_later(const struct node *type)
{
	for (size_t i = 0; type->kind == NODE_TEXT && i < ARRAY_LEN(type_list); i++)
		if (strcmp(type->text, type_list[i].name) == 0)
			return type_list[i].later;
	return false;
}

static void
decode_one(struct loading *loading, const struct node *node, struct comparison *ret_comparison)
{
	struct draft draft = { 0 };
	const struct node *type = node_member(node, "type");
	bool later = type && type_is_later(type);
	bool known = loading->later_is_known;

	if (node->key[0] == '\0' || strlen(node->key) > NAME_MAX_BYTES)
		complain_at_key(loading, node, "a compared field has a name of 1 to 100 bytes");
	if (later) {
		complain_later_value(loading, type, type->text);
		loading->later_is_known = true;
	}
	fields_decode(loading, node, &comparison_table, &draft);
	loading->later_is_known = known;
	draft.comparison.name = node->key;
	draft.comparison.type = (enum compare_type)draft.type;
	draft.comparison.order = (enum version_order)draft.order;
	*ret_comparison = draft.comparison;
	if (later || node->kind != NODE_MAP)
		return;
	check_options(loading, node, &draft);
	check_relation(loading, node, &draft);
	check_literals(loading, node, &draft);
}

/* The version that request() compares own operations by. */
static void
note_version_order(struct policy *policy, const struct comparison *comparison)
{
	if (comparison->type != COMPARE_VERSION || comparison->order == VERSION_OPAQUE)
		return;
	for (size_t i = 0; i < comparison->count; i++) {
		const struct locator *from = comparison->values[i].from;

		if (!from || from->root != LOCATE_OP_FIELD || from->field != OP_VERSION)
			continue;
		policy->version_order_known = true;
		policy->version_order = comparison->order;
	}
}

void
compare_decode(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	struct policy *policy = at;
	struct comparison *list = arena_array(loading->arena, struct comparison, node->count + 1);
	size_t count = 0;

	if (node->kind != NODE_MAP || node->count == 0) {
		complain_found(loading, node, "a mapping of names to comparisons");
		return;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		decode_one(loading, child, &list[count]);
		note_version_order(policy, &list[count++]);
	}
	policy->compare = list;
	policy->compare_count = count;
}
