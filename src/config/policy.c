/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a policy file.
 */
#include "policy.h"

#include <string.h>

#include "comparison.h"
#include "condition.h"
#include "condition_shape.h"
#include "loading.h"
#include "probe.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/core/number.h"
#include "reference.h"
#include "rows.h"
#include "target.h"
#include "tree.h"

#define IN_POLICY(member) offsetof(struct policy, member)

enum { FACTOR_MILLI_MAX = 100 * 1000, FACTOR_BYTES_MAX = 8 };

static const struct word mode_list[] = {
	{ "observe", .value = false, .help = "Judges and records only." },
	{ "enforce", .value = true, .help = "Acts upon its verdicts; needs describe." }
};
WORDS(mode_words, mode_list);

static const struct word stakes_list[] = {
	{ "normal", .value = STAKES_NORMAL, .help = "A mistake can be repaired." },
	{ "money", .value = STAKES_MONEY,
	  .help = "What is missing is sent again only by a row with when." },
	{ "irreversible", .value = STAKES_IRREVERSIBLE,
	  .help = "As money; by default two people must agree." },
};
WORDS(stakes_words, stakes_list);

static const struct word idempotent_list[] = {
	{ "no", .value = IDEMPOTENT_NO, .help = "A second send may be a second effect." },
	{ "key", .value = IDEMPOTENT_KEY,
	  .help = "The target recognises the idempotency key; needs resend.key_valid." },
	{ "natural", .value = IDEMPOTENT_NATURAL,
	  .help = "A second send sets the same state again." },
	{ "conditional", .value = IDEMPOTENT_CONDITIONAL,
	  .help = "A second send does not meet its condition." },
};
WORDS(idempotent_words, idempotent_list);

static const struct word proves_list[] = {
	{ "missing", .value = PROVES_MISSING, .help = "That the effect is not there." },
	{ "nothing", .value = PROVES_NOTHING, .help = "A person decides." },
};
WORDS(proves_words, proves_list);

static const struct word several_list[] = { { "ambiguous", .value = false },
					    { "divergent", .value = true } };
WORDS(several_words, several_list);

static const struct word outcome_list[] = {
	{ "divergent", .value = OUTCOME_DIVERGENT },
	{ "missing", .value = OUTCOME_MISSING },
	{ "not_applicable", .value = OUTCOME_NOT_APPLICABLE },
};
WORDS(outcome_words, outcome_list);

/* Words that are stored as bool. */
static void
decode_flag(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	int value;

	if (word_decode(loading, node, field->words, &value))
		*(bool *)at = value != 0;
}

static const struct shape factor_shape = {
	.kind = SHAPE_NUMBER,
	.pattern = "^[0-9]+(\\.[0-9]{1,3})?$",
	.help = "A factor from 1 to 100, like 2 or 1.5.",
	.min = 1,
	.max = 100,
};

static void
decode_factor(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct backoff *backoff = at;
	const char *text = node->kind == NODE_TEXT ? node->text : "";
	size_t whole = strspn(text, "0123456789");
	const char *fraction = text[whole] == '.' ? text + whole + 1 : text + whole;
	size_t digits = strspn(fraction, "0123456789");
	int milli = 0, unit = 100;

	for (size_t i = 0; i < whole && milli <= FACTOR_MILLI_MAX; i++)
		milli = milli * 10 + (text[i] - '0') * 1000;
	for (size_t i = 0; i < digits && i < 3; i++, unit /= 10)
		milli += (fraction[i] - '0') * unit;
	if (whole == 0 || strlen(text) > FACTOR_BYTES_MAX || fraction[digits] != '\0' ||
	    digits > 3 || (digits == 0 && text[whole] == '.') || milli < 1000 ||
	    milli > FACTOR_MILLI_MAX) {
		complain_found(loading, node, "a factor from 1 to 100, like 2 or 1.5");
		return;
	}
	backoff->factor = text;
	backoff->factor_milli = milli;
}

static const struct shape reference_shape = { .kind = SHAPE_SCALAR, .min = 1, .max = 500 };

static void
decode_reference(struct loading *loading, const struct node *node, void *at,
		 const struct field *field)
{
	struct policy *policy = at;
	const char *text = text_decode(loading, node, "a POSIX extended regular expression");

	if (!text)
		return;
	policy->reference = reference_compile(loading, node, text);
}

static const struct shape locators_shape = { .kind = SHAPE_LIST, .of = &shape_locator };

static void
decode_locators(struct loading *loading, const struct node *node, const struct locator **ret_list,
		size_t *ret_count)
{
	struct locator *list = arena_array(loading->arena, struct locator, node->count + 1);
	size_t count = 0;

	if (node->kind != NODE_LIST) {
		complain_found(loading, node, "a list of places like /id");
		return;
	}
	for (const struct node *child = node->first; child; child = child->next)
		if (locator_decode(loading, child, &list[count]))
			count++;
	*ret_list = list;
	*ret_count = count;
}

static void
decode_keep(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct policy *policy = at;

	decode_locators(loading, node, &policy->keep, &policy->keep_count);
}

static void
decode_hash(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct policy *policy = at;

	decode_locators(loading, node, &policy->hash, &policy->hash_count);
}

static const struct field describe_fields[] = {
	{ "effect", IN_POLICY(describe.effect), TEXT(NULL), .help = "What the operation causes." },
	{ "truth", IN_POLICY(describe.truth), TEXT(NULL),
	  .help = "Which system has the last word." },
	{ "proof", IN_POLICY(describe.proof), TEXT(NULL), .help = "What proves the effect." },
	{ "owner", IN_POLICY(describe.owner), TEXT(NULL), .help = "Who answers for this policy." },
	{ "runbook", IN_POLICY(describe.runbook), TEXT(NULL), .help = "Where to read on." },
};
TABLE(describe_table, describe_fields);

static const struct field absence_fields[] = {
	{ "after", IN_POLICY(absence_after_us), DURATION(0, FIELD_DURATION_MAX, FIELD_UNSET),
	  .help = "Time since the last send before which absence proves nothing." },
	{ "confirm", IN_POLICY(absence_confirm), COUNT(1, 100, 2),
	  .help = "Looks that must show it." },
	{ "over", IN_POLICY(absence_over_us), DURATION(0, FIELD_DURATION_MAX, FIELD_UNSET),
	  .help = "Time from the first to the last of them." },
	{ "horizon", IN_POLICY(absence_horizon_us), DURATION(SECOND, FIELD_DURATION_MAX, 0),
	  .help = "How far back the target can see." },
	{ "proves", IN_POLICY(absence_proves), WORD(proves_words, PROVES_MISSING),
	  .help = "What absence says." },
};
TABLE(absence_table, absence_fields);

static const struct field outcome_fields[] = {
	{ "older", IN_POLICY(older), WORD(outcome_words, OUTCOME_DIVERGENT),
	  .help = "An older version was found." },
	{ "newer", IN_POLICY(newer), WORD(outcome_words, OUTCOME_DIVERGENT),
	  .help = "A newer version was found." },
};
TABLE(outcome_table, outcome_fields);

static const struct field waiting_fields[] = {
	{ "until", IN_POLICY(waiting_until_us), DURATION(SECOND, FIELD_DURATION_MAX, FIELD_UNSET),
	  .help = "Longest time an effect may stay unfinished." },
};
TABLE(waiting_table, waiting_fields);

static const struct field recheck_fields[] = {
	{ "first", IN_POLICY(recheck.first_us), DURATION(SECOND, FIELD_DURATION_MAX, MINUTE),
	  .help = "Until the second look." },
	{ "factor", IN_POLICY(recheck), OWN(decode_factor), .shape = &factor_shape,
	  .help = "How the pauses grow." },
	{ "max", IN_POLICY(recheck.max_us), DURATION(SECOND, FIELD_DURATION_MAX, HOUR),
	  .help = "Longest pause." },
	{ "jitter", IN_POLICY(recheck.jitter_percent), PERCENT(10),
	  .help = "How the pauses scatter." },
};
TABLE(recheck_table, recheck_fields);

static const struct field resend_fields[] = {
	{ "key_valid", IN_POLICY(key_valid_us), DURATION(SECOND, FIELD_DURATION_MAX, 0),
	  .help = "Time for which the target recognises a key that it saw." },
};
TABLE(resend_table, resend_fields);

static const struct field evidence_fields[] = {
	{ "keep", 0, OWN(decode_keep), .shape = &locators_shape,
	  .help = "Values that the journal keeps." },
	{ "hash", 0, OWN(decode_hash), .shape = &locators_shape,
	  .help = "Values of which it keeps a hash." },
};
TABLE(evidence_table, evidence_fields);

static const struct field attempts_fields[] = {
	{ "max", IN_POLICY(attempts_max), COUNT(1, 1000, 5), .help = "Most attempts of workers." },
	{ "delay", IN_POLICY(attempts.first_us), DURATION(SECOND, FIELD_DURATION_MAX, MINUTE),
	  .help = "Before the second one." },
	{ "factor", IN_POLICY(attempts), OWN(decode_factor), .shape = &factor_shape,
	  .help = "How the delays grow." },
};
TABLE(attempts_table, attempts_fields);

static const struct field requeue_fields[] = {
	{ "max", IN_POLICY(requeue_max), COUNT(0, 100, 3), .help = "Most times it is sent again." },
	{ "delay", IN_POLICY(requeue.first_us), DURATION(SECOND, FIELD_DURATION_MAX, MINUTE),
	  .help = "Before it is sent again." },
	{ "factor", IN_POLICY(requeue), OWN(decode_factor), .shape = &factor_shape,
	  .help = "How the delays grow." },
};
TABLE(requeue_table, requeue_fields);

static const struct field guard_fields[] = {
	{ "window", IN_POLICY(guard.window_us), DURATION(SECOND, FIELD_DURATION_MAX, 10 * MINUTE),
	  .help = "Time that is looked at." },
	{ "max", IN_POLICY(guard.max), COUNT(0, 1000000, 20),
	  .help = "Most actions in it, confirmations apart." },
	{ "share", IN_POLICY(guard.share_percent), PERCENT(50),
	  .help = "Most missing and divergent ones among its verdicts." },
	{ "sample", IN_POLICY(guard.sample), COUNT(1, 1000000, 10),
	  .help = "Verdicts from which the share counts." },
};
TABLE(guard_table, guard_fields);

static const struct field review_fields[] = {
	{ "recheck", IN_POLICY(review_recheck_us), DURATION(SECOND, FIELD_DURATION_MAX, HOUR),
	  .help = "Pause between looks while a person has it." },
	{ "auto_confirm", IN_POLICY(review_auto_confirm), BOOL(true),
	  .help = "Confirms by itself what turns out correct." },
	{ "approvals", IN_POLICY(approvals), COUNT(1, 2, FIELD_UNSET),
	  .help = "People who must agree." },
};
TABLE(review_table, review_fields);

static const struct field policy_fields[] = {
	{ "operation_type", IN_POLICY(operation_type), TEXT(NULL), .required = true,
	  .help = "which operations it judges, and the name of this file" },
	{ "target", IN_POLICY(target), TEXT(NULL), .required = true,
	  .help = "which system is asked" },
	{ "mode", IN_POLICY(enforce), OWN(decode_flag), .words = &mode_words,
	  .help = "Whether its verdicts are acted upon." },
	{ "describe", 0, NESTED(describe_table), .help = "For whoever decides." },
	{ "stakes", IN_POLICY(stakes), WORD(stakes_words, STAKES_NORMAL),
	  .help = "What a mistake costs." },
	{ "latency_window", IN_POLICY(latency_window_us),
	  DURATION(SECOND, FIELD_DURATION_MAX, 5 * MINUTE),
	  .help = "Time after a send in which nothing is concluded from absence." },
	{ "deadline", IN_POLICY(deadline_us), DURATION(SECOND, FIELD_DURATION_MAX, 0),
	  .help = "When the business expects it confirmed." },
	{ "pickup_window", IN_POLICY(pickup_window_us),
	  DURATION(SECOND, FIELD_DURATION_MAX, FIELD_UNSET),
	  .help = "Time in which a worker should have begun." },
	{ "reference", 0, OWN(decode_reference), .shape = &reference_shape,
	  .help = "What may be sent to the target." },
	{ "idempotent", IN_POLICY(idempotent), WORD(idempotent_words, IDEMPOTENT_NO),
	  .help = "What makes a second send harmless." },
	{ "probes", 0, OWN(probes_decode), .shape = &shape_probes, .table = &probe_table,
	  .required = true, .help = "how the target is asked" },
	{ "absence", 0, NESTED(absence_table), .help = "When absence is proven." },
	{ "on_several", IN_POLICY(several_divergent), OWN(decode_flag), .words = &several_words,
	  .help = "More than one effect was found." },
	{ "judge", IN_POLICY(judge), OWN(judge_rows_decode), .shape = &shape_judge_rows,
	  .table = &judge_row_table, .help = "What the state of a found item means." },
	{ "on_absent", IN_POLICY(on_absent), OWN(judge_rows_decode), .shape = &shape_judge_rows,
	  .min = 1, .table = &judge_row_table, .help = "What proven absence means." },
	{ "on_gone", IN_POLICY(on_gone), OWN(judge_rows_decode), .shape = &shape_judge_rows,
	  .min = 1, .table = &judge_row_table, .help = "What it means that it was there once." },
	{ "compare", 0, OWN(compare_decode), .shape = &shape_comparisons,
	  .table = &comparison_table, .help = "What must be as expected." },
	{ "existence_only", IN_POLICY(existence_only), BOOL(false),
	  .help = "That it exists is enough." },
	{ "outcome", 0, NESTED(outcome_table), .help = "What another version means." },
	{ "waiting", 0, NESTED(waiting_table), .help = "How long it may be under way." },
	{ "recheck", 0, NESTED(recheck_table), .help = "When it is looked at again." },
	{ "give_up", IN_POLICY(give_up), COUNT(1, 10000, 12),
	  .help = "Looks without verdict until a person is asked." },
	{ "resend", 0, NESTED(resend_table), .help = "What sending again needs." },
	{ "evidence", 0, NESTED(evidence_table), .help = "What of an answer is kept." },
	{ "actions", 0, NESTED(actions_table), .help = "What follows from a verdict." },
	{ "attempts", 0, NESTED(attempts_table), .help = "How often workers try." },
	{ "requeue", 0, NESTED(requeue_table), .help = "How often it is sent again." },
	{ "guard", 0, NESTED(guard_table), .help = "When there are too many actions." },
	{ "review", 0, NESTED(review_table), .help = "When a person has it." },
	{ "compensate", 0, LATER },
	{ "deliver_to", 0, LATER },
	{ "watch", 0, LATER },
	{ "verify_confirmed", 0, LATER },
};
const struct table policy_table = { policy_fields, ARRAY_LEN(policy_fields) };

static void
preset_backoff(struct backoff *backoff)
{
	backoff->factor = "2";
	backoff->factor_milli = 2000;
	backoff->max_us = FIELD_DURATION_MAX;
}

/* Where one key is not given, another stands for it. */
static void
settle_defaults(struct policy *policy)
{
	if (policy->pickup_window_us == FIELD_UNSET)
		policy->pickup_window_us = policy->latency_window_us;
	if (policy->absence_after_us == FIELD_UNSET)
		policy->absence_after_us = policy->latency_window_us;
	if (policy->absence_over_us == FIELD_UNSET)
		policy->absence_over_us =
			policy->absence_confirm > 1 ? policy->latency_window_us : 0;
	if (policy->waiting_until_us == FIELD_UNSET)
		policy->waiting_until_us = policy->deadline_us ? policy->deadline_us : 7 * DAY;
	if (policy->approvals == FIELD_UNSET)
		policy->approvals = policy->stakes == STAKES_IRREVERSIBLE ? 2 : 1;
}

void
policy_decode(struct loading *loading, const struct node *root, struct policy *ret_policy)
{
	struct policy *policy = ret_policy;

	preset_backoff(&policy->recheck);
	preset_backoff(&policy->attempts);
	preset_backoff(&policy->requeue);
	actions_preset(loading, policy);
	fields_decode(loading, root, &policy_table, policy);
	settle_defaults(policy);
	name_check(loading, root, "operation_type");
}
