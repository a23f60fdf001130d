/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows are tried in order, so one without condition must be the last. not_applicable needs both
 * sides: such a row must test the operation too.
 */
#include "rows.h"

#include <string.h>

#include "condition.h"
#include "condition_shape.h"
#include "loading.h"
#include "reach.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "tree.h"

struct draft {
	struct judge_row row;
	bool has_when;
	int class;
};

static const struct word class_list[] = {
	{ "waiting", .value = JUDGE_WAITING, .help = "Not final yet." },
	{ "compare", .value = JUDGE_COMPARE, .help = "The fields decide." },
	{ "divergent", .value = JUDGE_DIVERGENT,
	  .help = "An effect is there, another than intended." },
	{ "ambiguous", .value = JUDGE_AMBIGUOUS, .help = "It cannot be told." },
	{ "not_applicable", .value = JUDGE_NOT_APPLICABLE,
	  .help = "No longer wanted, and not there; needs a test of the operation." },
};
WORDS(class_words, class_list);

static void
decode_when(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	draft->has_when = condition_decode(loading, node, &draft->row.when);
}

static const struct field row_fields[] = {
	{ "when", 0, OWN(decode_when), .shape = &shape_condition, .required = true,
	  .help = "the condition of the row" },
	{ "class", offsetof(struct draft, class), WORD(class_words, FIELD_UNSET), .required = true,
	  .help = "what it is then" },
	{ "why", offsetof(struct draft, row.why), TEXT(NULL), .help = "Kept with the verdict." },
};
const struct table judge_row_table = { row_fields, ARRAY_LEN(row_fields) };
static const struct shape judge_row = {
	.name = "row",
	.kind = SHAPE_TABLE,
	.table = &judge_row_table,
	.help = "What it is where the condition holds; the first such row counts.",
};
const struct shape shape_judge_rows = { .kind = SHAPE_LIST, .of = &judge_row };

/* True when the condition could be read. */
static bool
row_decode(struct loading *loading, const struct node *node, bool operation_only,
	   struct judge_row *ret_row)
{
	struct draft draft = { 0 };

	fields_decode(loading, node, &judge_row_table, &draft);
	if (draft.has_when && operation_only)
		(void)condition_is_about_operation(loading, node_member(node, "when"),
						   &draft.row.when);
	if (operation_only && draft.class == JUDGE_COMPARE && node_member(node, "class"))
		complain(loading, node_member(node, "class"),
			 "nothing is there to be compared, allowed: waiting, divergent, ambiguous, "
			 "not_applicable");
	if (draft.has_when && draft.class == JUDGE_NOT_APPLICABLE &&
	    !condition_tests_operation(&draft.row.when))
		complain(loading, node,
			 "not_applicable needs a test of the operation too (op.entity_state for "
			 "example)");
	draft.row.class = (enum judge_class)draft.class;
	*ret_row = draft.row;
	return draft.has_when;
}

void
judge_rows_decode(struct loading *loading, const struct node *node, void *at,
		  const struct field *field)
{
	struct judge_rows *ret_rows = at;
	struct judge_row *rows = arena_array(loading->arena, struct judge_row, node->count + 1);
	const struct condition **whens =
		arena_array(loading->arena, const struct condition *, node->count + 1);
	size_t count = 0;

	if (node->kind != NODE_LIST) {
		complain_found(loading, node, "a list of {when, class, why}");
		return;
	}
	for (const struct node *child = node->first; child; child = child->next, count++)
		if (row_decode(loading, child, field->min == 1, &rows[count]))
			whens[count] = &rows[count].when;
	reach_check_rows(loading, node, whens, count);
	*ret_rows = (struct judge_rows){ .rows = rows, .count = count };
}

/* What may follow from a class. Confirming what is not correct or sending again what may be there
 * is not among it, whatever a policy wishes. */
static const struct word correct_list[] = {
	{ "confirm", .value = ACTION_CONFIRM, .help = "It is settled." },
	{ "review", .value = ACTION_REVIEW, .help = "A person decides." },
	{ "wait", .value = ACTION_WAIT, .help = "It is looked at again." },
};
static const struct word missing_list[] = {
	{ "requeue", .value = ACTION_REQUEUE,
	  .help = "A worker sends it again, if each clause holds." },
	{ "review", .value = ACTION_REVIEW, .help = "A person decides." },
	{ "wait", .value = ACTION_WAIT, .help = "It is looked at again." },
};
static const struct word divergent_list[] = {
	{ "compensate", .value = ACTION_COMPENSATE,
	  .help = "An operation that reverses it is requested." },
	{ "review", .value = ACTION_REVIEW, .help = "A person decides." },
	{ "wait", .value = ACTION_WAIT, .help = "It is looked at again." },
};
static const struct word ambiguous_list[] = {
	{ "review", .value = ACTION_REVIEW, .help = "A person decides." },
	{ "wait", .value = ACTION_WAIT, .help = "It is looked at again." },
};
static const struct word not_applicable_list[] = {
	{ "close", .value = ACTION_CLOSE, .help = "Nothing is left to do." },
	{ "review", .value = ACTION_REVIEW, .help = "A person decides." },
	{ "wait", .value = ACTION_WAIT, .help = "It is looked at again." },
};
WORDS(correct_words, correct_list);
WORDS(missing_words, missing_list);
WORDS(divergent_words, divergent_list);
WORDS(ambiguous_words, ambiguous_list);
WORDS(not_applicable_words, not_applicable_list);

static void
action_set(struct loading *loading, struct action_rule *rule, enum action action)
{
	struct action_row *row = arena_new(loading->arena, struct action_row);

	row->action = action;
	*rule = (struct action_rule){ .rows = row, .count = 1 };
}

/* What the table of a row writes into. */
struct action_draft {
	struct action_row row;
	const struct words *words;
};

static void
decode_action_when(struct loading *loading, const struct node *node, void *at,
		   const struct field *field)
{
	struct action_draft *draft = at;

	if (!condition_decode(loading, node, &draft->row.when) ||
	    !condition_is_about_operation(loading, node, &draft->row.when))
		return;
	if (draft->row.when.count == 0)
		complain(loading, node, "an empty condition, allowed: no when in the last row");
}

static void
decode_do(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct action_draft *draft = at;
	int action;

	if (word_decode(loading, node, draft->words, &action))
		draft->row.action = (enum action)action;
}

/* Of all classes; a row is held against those of its own. */
static const struct word action_list[] = {
	{ "confirm", .value = ACTION_CONFIRM, .help = "It is settled." },
	{ "requeue", .value = ACTION_REQUEUE,
	  .help = "A worker sends it again, if each clause holds." },
	{ "compensate", .value = ACTION_COMPENSATE,
	  .help = "An operation that reverses it is requested." },
	{ "review", .value = ACTION_REVIEW, .help = "A person decides." },
	{ "close", .value = ACTION_CLOSE, .help = "Nothing is left to do." },
	{ "wait", .value = ACTION_WAIT, .help = "It is looked at again." },
};
WORDS(action_words, action_list);

static const struct field action_row_fields[] = {
	{ "when", 0, OWN(decode_action_when), .shape = &shape_op_condition,
	  .help = "The condition of the row." },
	{ "do", 0, OWN(decode_do), .words = &action_words, .required = true,
	  .help = "what is done then" },
};
static const struct table action_row_table = { action_row_fields, ARRAY_LEN(action_row_fields) };

static const struct shape action_row = {
	.name = "action_row",
	.kind = SHAPE_TABLE,
	.table = &action_row_table,
	.help = "What is done where the condition holds; the last row has none.",
};
static const struct shape action_rows_shape = { .kind = SHAPE_LIST, .of = &action_row, .min = 1 };

/* Rows are tried in order; the last one, and only it, says what follows otherwise. */
static void
decode_action_rows(struct loading *loading, const struct node *node, struct action_rule *rule,
		   const struct words *words)
{
	struct action_row *rows = arena_array(loading->arena, struct action_row, node->count + 1);
	const struct condition **whens =
		arena_array(loading->arena, const struct condition *, node->count + 1);
	size_t count = 0;

	for (const struct node *child = node->first; child; child = child->next) {
		struct action_draft draft = { .words = words };
		bool has_when = node_member(child, "when");

		fields_decode(loading, child, &action_row_table, &draft);
		rows[count] = draft.row;
		whens[count] = draft.row.when.count > 0 ? &rows[count].when : NULL;
		count++;
		if (child->kind != NODE_MAP)
			continue;
		if (!child->next && has_when)
			complain(loading, child,
				 "the last row has no when: it says what is done otherwise");
		else if (child->next && !has_when)
			complain(loading, child, "when is missing, only the last row has none");
	}
	reach_check_rows(loading, node, whens, count - 1); /* the last one must be there */
	*rule = (struct action_rule){ .rows = rows, .count = count };
}

static void
decode_action(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	int action;

	if (node->kind == NODE_LIST && node->count > 0)
		decode_action_rows(loading, node, at, field->words);
	else if (node->kind != NODE_TEXT)
		complain_found(loading, node, "an action, or rows of {when, do}");
	else if (word_decode(loading, node, field->words, &action))
		action_set(loading, at, (enum action)action);
}

#define ACTIONS_OF(class_) offsetof(struct policy, actions) + (class_) * sizeof(struct action_rule)

static const struct field action_fields[] = {
	{ "correct", ACTIONS_OF(CLASS_CORRECT), OWN(decode_action), .shape = &action_rows_shape,
	  .words = &correct_words, .table = &action_row_table, .preset = ACTION_CONFIRM,
	  .help = "The effect is there as intended." },
	{ "missing", ACTIONS_OF(CLASS_MISSING), OWN(decode_action), .shape = &action_rows_shape,
	  .words = &missing_words, .table = &action_row_table, .preset = ACTION_REVIEW,
	  .help = "The effect is proven not to be there." },
	{ "divergent", ACTIONS_OF(CLASS_DIVERGENT), OWN(decode_action), .shape = &action_rows_shape,
	  .words = &divergent_words, .table = &action_row_table, .preset = ACTION_REVIEW,
	  .help = "An effect is there, another than intended." },
	{ "ambiguous", ACTIONS_OF(CLASS_AMBIGUOUS), OWN(decode_action), .shape = &action_rows_shape,
	  .words = &ambiguous_words, .table = &action_row_table, .preset = ACTION_REVIEW,
	  .help = "It cannot be told." },
	{ "not_applicable", ACTIONS_OF(CLASS_NOT_APPLICABLE), OWN(decode_action),
	  .shape = &action_rows_shape, .words = &not_applicable_words, .table = &action_row_table,
	  .preset = ACTION_CLOSE, .help = "The effect is no longer wanted, and not there." },
};
const struct table actions_table = { action_fields, ARRAY_LEN(action_fields) };

void
actions_preset(struct loading *loading, struct policy *policy)
{
	for (size_t i = 0; i < actions_table.count; i++) {
		const struct field *field = &actions_table.fields[i];
		struct action_rule *rule = (void *)((char *)policy + field->offset);

		action_set(loading, rule, (enum action)field->preset);
	}
}
