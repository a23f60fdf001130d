/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts by type, class, action; the text table and the JSON object of reconciled --once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"

#include "summary.h"

struct tally {
	const char *operation_type;
	int64_t checked, stale, refused, held;
	int64_t classes[CLASS_COUNT], actions[ACTION_COUNT];
	int64_t reasons[REASON_COUNT]; /* of inconclusive looks */
	bool observed;
};

struct summary {
	FILE *out;
	bool json;
	bool listed; /* an operation was written already */
	bool unavailable;
	struct tally *tallies;
	size_t count;
};

/* In the order in which they are shown. */
static const enum verdict_class shown[] = {
	CLASS_MISSING,	      CLASS_CORRECT, CLASS_DIVERGENT,	 CLASS_AMBIGUOUS,
	CLASS_NOT_APPLICABLE, CLASS_WAITING, CLASS_INCONCLUSIVE,
};

struct summary *
summary_create(FILE *out, bool json, const struct pass_type *types, size_t count)
{
	struct summary *summary = xcalloc(1, sizeof(*summary));

	summary->out = out;
	summary->json = json;
	summary->tallies = xcalloc(count, sizeof(*summary->tallies));
	summary->count = count;
	for (size_t i = 0; i < count; i++)
		summary->tallies[i].operation_type = types[i].policy->operation_type;
	return summary;
}

void
summary_destroy(struct summary *summary)
{
	if (!summary)
		return;
	free(summary->tallies);
	free(summary);
}

static struct tally *
tally_of(struct summary *summary, const char *operation_type)
{
	size_t i = 0;

	while (strcmp(summary->tallies[i].operation_type, operation_type) != 0)
		i++;
	return &summary->tallies[i];
}

static void
list_operation(struct summary *summary, const struct pass_outcome *outcome)
{
	json_t *line = json_pack(
		"{s:s,s:s,s:s,s:s?,s:s?,s:s,s:s,s:s,s:I}", "operation_id", outcome->operation_id,
		"operation_type", outcome->policy->operation_type, "class",
		class_name(outcome->class), "reason", outcome->reason, "rule", outcome->rule,
		"action", action_name(outcome->action), "mode",
		outcome->observed || !outcome->policy->enforce ? "observe" : "enforce", "status",
		status_name(outcome->status), "revision", (json_int_t)outcome->revision);

	fputs(summary->listed ? ",\n " : "{\"operations\":[\n ", summary->out);
	json_dumpf(line, summary->out, JSON_COMPACT);
	json_decref(line);
	summary->listed = true;
}

static void
count_verdict(struct tally *tally, const struct pass_outcome *outcome)
{
	enum reason reason;

	tally->classes[outcome->class]++;
	if (outcome->class != CLASS_WAITING && outcome->class != CLASS_INCONCLUSIVE)
		tally->actions[outcome->action]++;
	if (outcome->class == CLASS_INCONCLUSIVE && reason_from_name(outcome->reason, &reason))
		tally->reasons[reason]++;
	tally->observed |= outcome->observed;
	tally->held += outcome->held;
}

void
summary_add(struct summary *summary, const struct pass_outcome *outcome)
{
	struct tally *tally = tally_of(summary, outcome->policy->operation_type);

	tally->checked++;
	summary->unavailable |= outcome->unavailable;
	if (outcome->stale) {
		tally->stale++;
		return;
	}
	if (outcome->refused) {
		tally->refused++;
		return;
	}
	count_verdict(tally, outcome);
	if (summary->json)
		list_operation(summary, outcome);
}

int64_t
summary_checked(const struct summary *summary)
{
	int64_t checked = 0;

	for (size_t i = 0; i < summary->count; i++)
		checked += summary->tallies[i].checked;
	return checked;
}

bool
summary_unavailable(const struct summary *summary)
{
	return summary->unavailable;
}

bool
summary_refused(const struct summary *summary)
{
	for (size_t i = 0; i < summary->count; i++)
		if (summary->tallies[i].refused > 0)
			return true;
	return false;
}

static json_t *
json_of(const struct tally *tally)
{
	json_t *object = json_pack("{s:I}", "checked", (json_int_t)tally->checked);
	json_t *actions = json_object();

	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		json_object_set_new(object, class_name(shown[i]),
				    json_integer(tally->classes[shown[i]]));
	json_object_set_new(object, "stale", json_integer(tally->stale));
	for (int i = 0; i < ACTION_COUNT; i++)
		if (tally->actions[i] > 0)
			json_object_set_new(actions, action_name((enum action)i),
					    json_integer(tally->actions[i]));
	json_object_set_new(object, "actions", actions);
	return object;
}

static void
print_json(struct summary *summary, int64_t without_policy)
{
	json_t *types = json_object();

	for (size_t i = 0; i < summary->count; i++)
		json_object_set_new(types, summary->tallies[i].operation_type,
				    json_of(&summary->tallies[i]));
	fputs(summary->listed ? "],\n\"types\":" : "{\"operations\":[],\n\"types\":", summary->out);
	json_dumpf(types, summary->out, JSON_COMPACT);
	fprintf(summary->out, ",\n\"without_policy\":%" PRId64 "}\n", without_policy);
	json_decref(types);
}

/* "confirm 12, review 3" */
static void
add_counts(struct strbuf *line, const char *name, int64_t n)
{
	if (n > 0)
		strbuf_printf(line, "%s%s %" PRId64, line->len > 0 ? ", " : "", name, n);
}

static void
print_row(const struct summary *summary, const struct tally *tally, int width)
{
	struct strbuf actions = { 0 };

	fprintf(summary->out, "%-*s %8" PRId64, width, tally->operation_type, tally->checked);
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		fprintf(summary->out, " %*" PRId64, (int)strlen(class_name(shown[i])),
			tally->classes[shown[i]]);
	for (int i = 0; i < ACTION_COUNT; i++)
		add_counts(&actions, action_name((enum action)i), tally->actions[i]);
	fprintf(summary->out, " %5" PRId64 "  %s%s\n", tally->stale,
		tally->observed ? "would " : "", actions.len > 0 ? strbuf_text(&actions) : "-");
	strbuf_finish(&actions);
}

static void
print_notes(const struct summary *summary, const struct tally *tally)
{
	struct strbuf reasons = { 0 };

	for (int i = 0; i < REASON_COUNT; i++)
		add_counts(&reasons, reason_name((enum reason)i), tally->reasons[i]);
	if (reasons.len > 0)
		fprintf(summary->out, "%s: no evidence because of: %s\n", tally->operation_type,
			strbuf_text(&reasons));
	strbuf_finish(&reasons);
	if (tally->held > 0)
		fprintf(summary->out, "%s: held back because a guard is tripped: %" PRId64 "\n",
			tally->operation_type, tally->held);
}

static int
type_width(const struct summary *summary)
{
	size_t width = strlen("type");

	for (size_t i = 0; i < summary->count; i++)
		if (strlen(summary->tallies[i].operation_type) > width)
			width = strlen(summary->tallies[i].operation_type);
	return (int)width;
}

static void
print_text(const struct summary *summary, int64_t without_policy)
{
	int width = type_width(summary);

	fprintf(summary->out, "%-*s %8s", width, "type", "checked");
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		fprintf(summary->out, " %s", class_name(shown[i]));
	fprintf(summary->out, " %5s  actions\n", "stale");
	for (size_t i = 0; i < summary->count; i++)
		print_row(summary, &summary->tallies[i], width);
	for (size_t i = 0; i < summary->count; i++)
		print_notes(summary, &summary->tallies[i]);
	if (without_policy > 0)
		fprintf(summary->out,
			"left alone: %" PRId64 " due operations of types without a policy\n",
			without_policy);
}

void
summary_print(struct summary *summary, int64_t without_policy)
{
	if (summary->json)
		print_json(summary, without_policy);
	else
		print_text(summary, without_policy);
	fflush(summary->out);
}
