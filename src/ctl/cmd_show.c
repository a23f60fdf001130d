/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl show ID: one operation, what was expected and found, and its history with the evidence.
 */
#include <string.h>

#include "command.h"
#include "evidence_view.h"
#include "facts.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/views.h"
#include "view_json.h"

/* Shown in this order where the column is not null. */
static const struct {
	const char *heading, *column;
} facts[] = {
	{ "type", "operation_type" },
	{ "scope", "scope" },
	{ "target", "target" },
	{ "version", "version" },
	{ "key", "idempotency_key" },
	{ "business key", "business_key" },
	{ "remote id", "remote_id" },
	{ "correlation", "correlation_id" },
	{ "requested", "created_at" },
	{ "first sent", "first_sent_at" },
	{ "last sent", "sent_at" },
	{ "attempt until", "attempt_until" },
	{ "deadline", "deadline_at" },
	{ "next look", "due_at" },
	{ "looks", "checks" },
	{ "attempts", "attempts" },
	{ "superseded by", "superseded_by" },
	{ "compensates", "compensates" },
	{ "assignee", "assignee" },
	{ "snoozed until", "snoozed_until" },
	{ "closed", "closed_at" },
	{ "closed because", "closed_reason" },
	{ "duplicate risk", "duplication_risk" },
};

/* What an action takes before it may happen by itself. */
static const struct {
	const char *action, *takes;
} needs[] = {
	{ "requeue",
	  "an idempotent type, the same key and payload, a key that the target still keeps, no "
	  "attempt alive, an absence seen just now, the control object found, limits and guards "
	  "open" },
	{ "compensate",
	  "no attempt alive, the latency window over, two looks with the same divergence" },
	{ "review", "a person: nothing is done by itself" },
};

static void
print_fact(const struct screen *screen, const char *heading, const char *text)
{
	if (text != NULL && *text != '\0')
		screen_field(screen, 2, heading, screen_tone_of(text), text);
}

static void
print_state(const struct screen *screen, const struct view *op)
{
	struct strbuf words = { 0 };

	screen_line(screen, TONE_STRONG, facts_text(op, 0, "operation_id"));
	print_fact(screen, "status", facts_get(op, 0, "status"));
	facts_verdict(&words, op, 0);
	print_fact(screen, "verdict", strbuf_text(&words));
	print_fact(screen, "recommended", facts_get(op, 0, "recommended_action"));
	strbuf_reset(&words);
	facts_entity(&words, op, 0);
	print_fact(screen, "entity", strbuf_text(&words));
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		strbuf_reset(&words);
		facts_time(&words, facts_get(op, 0, facts[i].column));
		print_fact(screen, facts[i].heading, strbuf_text(&words));
	}
	strbuf_finish(&words);
}

static void
put_row(struct strbuf *out, const struct view *journal, size_t row)
{
	const char *to = facts_text(journal, row, "to_status");

	strbuf_printf(out, "%s  ", facts_text(journal, row, "revision"));
	facts_time(out, facts_get(journal, row, "at"));
	strbuf_printf(out, "  %s", facts_text(journal, row, "event"));
	if (strcmp(facts_text(journal, row, "from_status"), to) != 0)
		strbuf_printf(out, "  -> %s", to);
	strbuf_printf(out, "  by %s", facts_text(journal, row, "actor"));
}

static void
print_row(const struct screen *screen, const struct view *journal, size_t row)
{
	const char *text = facts_get(journal, row, "evidence");
	json_t *evidence = evidence_parse(text);
	struct strbuf words = { 0 };

	strbuf_puts(&words, "  ");
	put_row(&words, journal, row);
	screen_line(screen, TONE_PLAIN, strbuf_text(&words));
	strbuf_reset(&words);
	facts_verdict(&words, journal, row);
	if (facts_get(journal, row, "rule") != NULL)
		strbuf_printf(&words, ", by the rule %s", facts_get(journal, row, "rule"));
	if (words.len > 0)
		screen_field(screen, 6, "verdict", TONE_PLAIN, strbuf_text(&words));
	if (facts_get(journal, row, "action") != NULL)
		screen_field(screen, 6, "action", TONE_PLAIN, facts_get(journal, row, "action"));
	if (evidence != NULL)
		evidence_print(screen, evidence);
	else if (text != NULL)
		screen_field(screen, 6, "evidence", TONE_PLAIN, text);
	strbuf_finish(&words);
	json_decref(evidence);
}

static void
print_timeline(const struct screen *screen, const struct view *journal)
{
	screen_line(screen, TONE_PLAIN, "");
	screen_line(screen, TONE_STRONG, "Timeline");
	for (size_t r = 0; r < view_rows(journal); r++)
		print_row(screen, journal, r);
}

/* The evidence of the last look, or NULL. */
static json_t *
last_evidence(const struct view *journal)
{
	json_t *evidence = NULL;

	for (size_t r = view_rows(journal); r > 0 && evidence == NULL; r--)
		if (facts_get(journal, r - 1, "rule") != NULL)
			evidence = evidence_parse(facts_get(journal, r - 1, "evidence"));
	return evidence;
}

static void
print_needs(const struct screen *screen, const struct view *op)
{
	const char *action = facts_text(op, 0, "recommended_action");

	for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
		if (strcmp(needs[i].action, action) != 0)
			continue;
		screen_line(screen, TONE_PLAIN, "");
		screen_line(screen, TONE_STRONG, "Recommended");
		screen_field(screen, 2, "action", TONE_PLAIN, action);
		screen_field(screen, 2, "takes", TONE_PLAIN, needs[i].takes);
	}
}

static void
print_all(const struct screen *screen, const struct view *op, const struct view *journal)
{
	json_t *evidence = last_evidence(journal),
	       *expected = evidence_parse(facts_get(op, 0, "expected"));

	print_state(screen, op);
	evidence_print_compared(screen, evidence, expected);
	print_needs(screen, op);
	print_timeline(screen, journal);
	json_decref(evidence);
	json_decref(expected);
}

static void
print_json(const struct view *op, const struct view *journal)
{
	struct strbuf json = { 0 };

	strbuf_puts(&json, "{\"operation\":");
	view_json_row(&json, op, 0);
	strbuf_puts(&json, ",\"journal\":");
	view_json_rows(&json, journal, view_rows(journal));
	strbuf_putc(&json, '}');
	ctl_print_json(&json);
	strbuf_finish(&json);
}

static enum ctl_exit
show(struct ctl *ctl, const char *id, const struct view *op)
{
	struct view *journal = NULL;
	struct err err = { 0 };

	if (view_rows(op) == 0)
		return ctl_fail(CTL_REFUSED, "unknown operation \"%s\"", id);
	if (!view_journal(ctl->db, id, &journal, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	if (ctl->json)
		print_json(op, journal);
	else
		print_all(&ctl->screen, op, journal);
	view_destroy(journal);
	return CTL_DONE;
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	enum ctl_exit code = ctl_connect(ctl);
	struct view *op = NULL;
	struct err err = { 0 };

	if (code != CTL_DONE)
		return code;
	if (!view_operation(ctl->db, argv[0], &op, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	code = show(ctl, argv[0], op);
	view_destroy(op);
	return code;
}

const struct command command_show = {
	.name = "show",
	.arguments = "ID",
	.help = "one operation: expected against found, history with evidence",
	.arguments_min = 1,
	.arguments_max = 1,
	.run = run,
};
