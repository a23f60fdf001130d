/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME: {found, is | one_of | at_least | not_before, type and its options}. An option is refused
 * where the type has no use for it, so that nobody believes in a tolerance that is not applied.
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
#include "zone.h"

enum { NAME_MAX_BYTES = 100 };

static const struct word type_list[] = {
	{ "text", .value = COMPARE_TEXT },	 { "number", .value = COMPARE_NUMBER },
	{ "money", .value = COMPARE_MONEY },	 { "time", .value = COMPARE_TIME },
	{ "set", .value = COMPARE_SET },	 { "list", .value = COMPARE_LIST },
	{ "bool", .value = COMPARE_BOOL },	 { "digest", .value = COMPARE_DIGEST },
	{ "version", .value = COMPARE_VERSION },
};
WORDS(type_words, type_list);

static const struct word order_list[] = {
	{ "integer", .value = VERSION_INTEGER },
	{ "time", .value = VERSION_TIME },
	{ "dotted", .value = VERSION_DOTTED },
	{ "opaque", .value = VERSION_OPAQUE },
};
WORDS(order_words, order_list);

static const struct word unit_list[] = {
	{ "major", .value = MONEY_MAJOR },
	{ "minor", .value = MONEY_MINOR },
	{ "hundredths", .value = MONEY_HUNDREDTHS },
};
WORDS(unit_words, unit_list);

static const struct word algorithm_list[] = {
	{ "md5", .value = DIGEST_MD5 },	      { "sha1", .value = DIGEST_SHA1 },
	{ "sha256", .value = DIGEST_SHA256 }, { "sha384", .value = DIGEST_SHA384 },
	{ "sha512", .value = DIGEST_SHA512 }, { "crc32c", .value = DIGEST_CRC32C },
};
WORDS(algorithm_words, algorithm_list);

static const struct word encoding_list[] = {
	{ "hex", .value = DIGEST_HEX },
	{ "base64", .value = DIGEST_BASE64 },
	{ "base64url", .value = DIGEST_BASE64URL },
};
WORDS(encoding_words, encoding_list);

static void
decode_found(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct comparison *comparison = at;

	(void)locator_decode(loading, node, &comparison->found);
}

/* The values that are good; what is said about the others is enough. */
static void
decode_relation(struct loading *loading, const struct node *node, void *at,
		const struct field *field)
{
	struct comparison *comparison = at;
	bool is_list = node->kind == NODE_LIST,
	     may_list = field->min != COMPARE_AT_LEAST && field->min != COMPARE_NOT_BEFORE;
	struct operand *values = arena_array(loading->arena, struct operand, node->count + 1);
	size_t count = 0;

	comparison->relation = (enum compare_relation)field->min;
	comparison->values = values;
	comparison->count = 0;
	comparison->listed = is_list && field->min == COMPARE_IS;
	if (field->min == COMPARE_ONE_OF && (!is_list || node->count == 0)) {
		complain_found(loading, node, "a list of values");
		return;
	}
	if (!is_list || !may_list) {
		comparison->count = operand_decode(loading, node, &values[0]);
		return;
	}
	for (const struct node *child = node->first; child; child = child->next)
		count += operand_decode(loading, child, &values[count]);
	comparison->count = count;
}

static void
decode_fold_option(struct loading *loading, const struct node *node, void *at,
		   const struct field *field)
{
	struct comparison *comparison = at;

	(void)fold_decode(loading, node, &comparison->fold);
}

static void
decode_tolerance(struct loading *loading, const struct node *node, void *at,
		 const struct field *field)
{
	struct comparison *comparison = at;

	if (node->kind == NODE_TEXT && number_is_valid(node->text, strlen(node->text)) &&
	    number_compare(node->text, "0") >= 0)
		comparison->tolerance = node->text;
	else
		complain_found(loading, node, "a number that is not negative");
}

/* "scale 4": from 0 to NUMBER_SCALE_MAX, without leading zeros. */
static bool
read_scale(const char *text, int *ret_scale)
{
	static const char prefix[] = "scale ";
	const char *digits = text + strlen(prefix);
	size_t count;
	int scale = 0;

	if (strncmp(text, prefix, strlen(prefix)) != 0)
		return false;
	count = strspn(digits, "0123456789");
	if (count == 0 || count > 2 || digits[count] != '\0' || (count == 2 && digits[0] == '0'))
		return false;
	for (size_t i = 0; i < count; i++)
		scale = scale * 10 + (digits[i] - '0');
	*ret_scale = scale;
	return scale <= NUMBER_SCALE_MAX;
}

static void
decode_unit(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct comparison *comparison = at;

	if (node->kind == NODE_TEXT && read_scale(node->text, &comparison->scale)) {
		comparison->unit = MONEY_SCALE;
		return;
	}
	for (size_t i = 0; node->kind == NODE_TEXT && i < field->words->count; i++)
		if (strcmp(node->text, field->words->list[i].name) == 0) {
			comparison->unit = (enum money_unit)field->words->list[i].value;
			return;
		}
	complain_found(loading, node,
		       "major, minor, hundredths, or scale 0 to scale 30: decimal places of a "
		       "number without point");
}

static void
decode_place(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct locator *locator = arena_new(loading->arena, struct locator);

	if (locator_decode(loading, node, locator))
		*(const struct locator **)at = locator;
}

static void
decode_zone(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	(void)zone_decode(loading, node, at);
}

static const struct shape tolerance_shape = {
	.kind = SHAPE_NUMBER,
	.pattern = "^[+-]?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$",
	.help = "A number that is not negative.",
};
static const struct shape operands = { .kind = SHAPE_LIST, .of = &shape_operand, .min = 1 };
static const struct shape elements = { .kind = SHAPE_LIST, .of = &shape_operand };
static const struct shape *const is_either[] = { &shape_operand, &elements, NULL };
static const struct shape is_shape = { .kind = SHAPE_EITHER, .either = is_either };
static const struct shape scale_shape = {
	.kind = SHAPE_STRING,
	.pattern = "^scale ([0-9]|[12][0-9]|30)$",
};

#define SIGN(member) offsetof(struct money_sign, member)
static const struct field sign_fields[] = {
	{ "by", SIGN(by), OWN(decode_place), .shape = &shape_locator, .required = true,
	  .help = "where the direction of the amount is" },
	{ "plus", SIGN(plus), TEXT(NULL), .required = true,
	  .help = "what stands there when the amount counts as it is" },
	{ "minus", SIGN(minus), TEXT(NULL), .required = true,
	  .help = "what stands there when it counts as negative" },
};
TABLE(sign_table, sign_fields);

#define OF(member) offsetof(struct comparison, member)
static const struct field fields[] = {
	{ "found", 0, OWN(decode_found), .shape = &shape_locator, .required = true,
	  .help = "where the value is in the item" },
	{ "is", 0, OWN(decode_relation), .shape = &is_shape, .min = COMPARE_IS,
	  .help = "The expected value; of sets and lists a list." },
	{ "one_of", 0, OWN(decode_relation), .shape = &operands, .min = COMPARE_ONE_OF,
	  .help = "Any of these." },
	{ "at_least", 0, OWN(decode_relation), .shape = &shape_operand, .min = COMPARE_AT_LEAST,
	  .help = "This or more." },
	{ "not_before", 0, OWN(decode_relation), .shape = &shape_operand, .min = COMPARE_NOT_BEFORE,
	  .help = "This time or a later one." },
	{ "type", OF(type), WORD(type_words, COMPARE_TEXT), .help = "How values are compared." },
	{ "fold", 0, OWN(decode_fold_option), .shape = &shape_fold,
	  .help = "Differences in spelling that do not count." },
	{ "tolerance", 0, OWN(decode_tolerance), .shape = &tolerance_shape,
	  .help = "Largest difference that still is equal." },
	{ "unit", 0, OWN(decode_unit), .words = &unit_words, .shape = &scale_shape,
	  .help = "What the found amount counts; the expected one is in the major unit." },
	{ "currency", OF(currency), OWN(decode_place), .shape = &shape_locator,
	  .help = "Where the code of the currency is." },
	{ "sign", OF(sign), NESTED(sign_table),
	  .help = "Where the direction stands when the amount has none." },
	{ "skew", OF(skew_us), DURATION(0, FIELD_DURATION_MAX, 0),
	  .help = "Largest distance of times that still is equal." },
	{ "zone", OF(zone), OWN(decode_zone), .shape = &shape_zone,
	  .help = "The time zone of times that name none." },
	{ "algorithm", OF(algorithm), WORD(algorithm_words, DIGEST_ANY),
	  .help = "Which digest it is, so that others are unreadable." },
	{ "encoding", OF(encoding), WORD(encoding_words, DIGEST_HEX),
	  .help = "How the found digest is written." },
	{ "order", OF(order), WORD(order_words, VERSION_INTEGER),
	  .help = "How versions follow each other." },
};
const struct table comparison_table = { fields, ARRAY_LEN(fields) };

static const char *const relation_keys[] = { "is", "one_of", "at_least", "not_before", NULL };
static const struct shape_option shape_options[] = {
	NEEDS_VALUE("fold", "type", "text"),
	NEEDS_VALUE("tolerance", "type", "number", "money"),
	NEEDS_VALUE("unit", "type", "money"),
	NEEDS_VALUE("currency", "unit", "minor"),
	NEEDS_VALUE("sign", "type", "money"),
	NEEDS_VALUE("skew", "type", "time", "version"),
	NEEDS_VALUE("zone", "type", "time", "version"),
	NEEDS_VALUE("algorithm", "type", "digest"),
	NEEDS_VALUE("encoding", "type", "digest"),
	NEEDS_VALUE("order", "type", "version"),
	NEEDS_VALUE("at_least", "type", "number", "money", "time", "version"),
	NEEDS_VALUE("not_before", "type", "time", "version"),
};
static const struct shape comparison_shape = {
	.name = "comparison",
	.kind = SHAPE_TABLE,
	.table = &comparison_table,
	.one_of = relation_keys,
	.options = shape_options,
	.options_count = ARRAY_LEN(shape_options),
};
const struct shape shape_comparisons = { .kind = SHAPE_MAP, .of = &comparison_shape, .min = 1 };

#define BIT(type) (1U << (type))

/* Times are compared by type time, and by versions that are times. */
static bool
is_of_time(const struct comparison *comparison)
{
	return comparison->type == COMPARE_TIME ||
	       (comparison->type == COMPARE_VERSION && comparison->order == VERSION_TIME);
}

static bool
is_ordered(const struct comparison *comparison)
{
	static const unsigned types =
		BIT(COMPARE_NUMBER) | BIT(COMPARE_MONEY) | BIT(COMPARE_TIME) | BIT(COMPARE_VERSION);

	return (types & BIT(comparison->type)) != 0 &&
	       (comparison->type != COMPARE_VERSION || comparison->order != VERSION_OPAQUE);
}

static bool
is_single(const struct comparison *comparison)
{
	return comparison->type != COMPARE_SET && comparison->type != COMPARE_LIST;
}

static bool
is_in_minor_units(const struct comparison *comparison)
{
	return comparison->type == COMPARE_MONEY && comparison->unit == MONEY_MINOR;
}

/* Keys, and what has a use for them: a type, or whatever passes. */
static const struct {
	const char *key;
	unsigned types;
	bool (*passes)(const struct comparison *comparison);
	const char *message;
} uses[] = {
	{ "fold", BIT(COMPARE_TEXT), NULL, "belongs to type: text" },
	{ "tolerance", BIT(COMPARE_NUMBER) | BIT(COMPARE_MONEY), NULL,
	  "belongs to type: number, money" },
	{ "unit", BIT(COMPARE_MONEY), NULL, "belongs to type: money" },
	{ "currency", 0, is_in_minor_units, "belongs to unit: minor of type: money" },
	{ "sign", BIT(COMPARE_MONEY), NULL, "belongs to type: money" },
	{ "skew", 0, is_of_time, "belongs to type: time, or to order: time" },
	{ "zone", 0, is_of_time, "belongs to type: time, or to order: time" },
	{ "algorithm", BIT(COMPARE_DIGEST), NULL, "belongs to type: digest" },
	{ "encoding", BIT(COMPARE_DIGEST), NULL, "belongs to type: digest" },
	{ "order", BIT(COMPARE_VERSION), NULL, "belongs to type: version" },
	{ "one_of", 0, is_single, "sets and lists are compared with one other: is" },
	{ "at_least", 0, is_ordered,
	  "needs type: number, money, time or version, and an order that is not opaque" },
	{ "not_before", 0, is_of_time, "needs type: time or order: time" },
};

static void
check_uses(struct loading *loading, const struct node *node, const struct comparison *comparison)
{
	for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
		const struct node *key = node_member(node, uses[i].key);
		bool used = uses[i].passes ? uses[i].passes(comparison)
					   : (uses[i].types & BIT(comparison->type)) != 0;

		if (key && !used)
			complain_at_key(loading, key, "%s", uses[i].message);
	}
}

static void
check_money(struct loading *loading, const struct node *node, const struct comparison *comparison)
{
	const struct node *sign = node_member(node, "sign");
	const struct money_sign *words = &comparison->sign;

	if (is_in_minor_units(comparison) && !node_member(node, "currency"))
		complain(loading, node_member(node, "unit"),
			 "minor needs currency: where the code of the currency is");
	if (sign && words->plus && words->minus && strcmp(words->plus, words->minus) == 0)
		complain(loading, sign, "plus and minus are the same");
}

/* What a literal of each type looks like, for messages. */
static const char *const looks[] = {
	[COMPARE_TEXT] = "a text",
	[COMPARE_NUMBER] = "a number like 10 or 10.50",
	[COMPARE_MONEY] = "an amount in the major unit like 10.99",
	[COMPARE_TIME] = "a time like 2026-03-01T12:00:00Z; without an offset it needs zone",
	[COMPARE_SET] = "a list, or a field of the operation that has one",
	[COMPARE_LIST] = "a list, or a field of the operation that has one",
	[COMPARE_BOOL] = "true, false",
	[COMPARE_DIGEST] = "a digest of the length of its algorithm, in hex or as encoding says",
	[COMPARE_VERSION] = "a version of its order: integer 7, dotted 1.10, or time",
};

static void
check_literal(struct loading *loading, const struct node *node, const struct comparison *comparison)
{
	bool literal = node->kind == NODE_TEXT && node->text[0] != '\0' &&
		       strncmp(node->text, "op.", 3) != 0;

	if (literal && (!is_single(comparison) || !compare_reads(comparison, node->text)))
		complain_found(loading, node, looks[comparison->type]);
}

/* The expected values: one at least, in one way. */
static void
check_relation(struct loading *loading, const struct node *node,
	       const struct comparison *comparison)
{
	const struct node *value = NULL;
	int given = 0;

	for (size_t i = 0; relation_keys[i]; i++) {
		const struct node *key = node_member(node, relation_keys[i]);

		given += key != NULL;
		value = key ? key : value;
	}
	if (given != 1) {
		complain(loading, node,
			 "found %d expectations, allowed: one of is, one_of, at_least, not_before",
			 given);
		return;
	}
	if (comparison->listed && is_single(comparison))
		complain_found(loading, value, looks[comparison->type]);
	else if (value->kind != NODE_LIST)
		check_literal(loading, value, comparison);
	else if (!comparison->listed && is_single(comparison))
		for (const struct node *child = value->first; child; child = child->next)
			check_literal(loading, child, comparison);
}

static void
decode_one(struct loading *loading, const struct node *node, struct comparison *ret_comparison)
{
	struct comparison *comparison = ret_comparison;

	if (node->key[0] == '\0' || strlen(node->key) > NAME_MAX_BYTES)
		complain_at_key(loading, node, "a compared field has a name of 1 to 100 bytes");
	fields_decode(loading, node, &comparison_table, comparison);
	comparison->name = node->key;
	if (node->kind != NODE_MAP)
		return;
	check_uses(loading, node, comparison);
	check_money(loading, node, comparison);
	check_relation(loading, node, comparison);
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
