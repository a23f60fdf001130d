/* SPDX-License-Identifier: Apache-2.0
 *
 * The explanation for people: the operation, each question with its rules, the rules of the
 * verdict, what differs, and what would follow.
 */
#include "explain.h"

#include "evidence_view.h"
#include "facts.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/duration.h"
#include "screen.h"

enum { INDENT = 2, INNER = 4 };

static void
heading(const struct screen *screen, const char *text)
{
	screen_line(screen, TONE_PLAIN, "");
	screen_line(screen, TONE_STRONG, text);
}

static void
fact(const struct screen *screen, const char *name, const char *text)
{
	if (text && *text)
		screen_field(screen, INDENT, name, screen_tone_of(text), text);
}

/* "2h 5m ago"; nothing without a time. */
static void
put_ago(struct strbuf *out, int64_t now_us, int64_t then_us)
{
	char seconds[24];

	if (then_us == TIME_NONE)
		return;
	facts_age(out, decimal_text(then_us > now_us ? 0 : (now_us - then_us) / SECOND, seconds));
	strbuf_puts(out, " ago");
}

static void
fact_ago(const struct screen *screen, const char *name, const struct explained *of, int64_t then_us)
{
	struct strbuf ago = { 0 };

	put_ago(&ago, of->now_us, then_us);
	fact(screen, name, strbuf_text(&ago));
	strbuf_finish(&ago);
}

static void
print_operation(const struct screen *screen, const struct explained *of)
{
	struct strbuf words = { 0 };

	screen_line(screen, TONE_STRONG, of->op->operation_id);
	strbuf_printf(&words, "%s at %s, %s", of->policy->operation_type, of->policy->target,
		      of->policy->enforce ? "enforced" : "observed");
	fact(screen, "type", strbuf_text(&words));
	strbuf_reset(&words);
	facts_entity(&words, of->row, 0);
	fact(screen, "entity", strbuf_text(&words));
	fact(screen, "version", of->op->version);
	fact(screen, "status", status_name(of->op->status));
	fact_ago(screen, "requested", of, of->op->created_at_us);
	fact_ago(screen, "last sent", of, operation_last_send(of->op));
	strbuf_finish(&words);
}

static void
put_seen(struct strbuf *out, const struct explained_test *test)
{
	if (test->seen_count == 0)
		strbuf_puts(out, "nothing");
	for (size_t i = 0; i < test->seen_count; i++)
		strbuf_printf(out, "%s%s", i > 0 ? ", " : "", test->seen[i]);
}

/* "yes  /status is succeeded; saw pending" */
static void
print_test(const struct screen *screen, int indent, const struct explained_test *test)
{
	struct strbuf words = { 0 };

	strbuf_printf(&words, "%s %s; saw ", test->locator, test->test);
	put_seen(&words, test);
	screen_field(screen, indent, test->held ? "yes" : "no", TONE_PLAIN, strbuf_text(&words));
	strbuf_finish(&words);
}

static void
print_rule(const struct screen *screen, int indent, const struct explained_rule *rule)
{
	struct strbuf words = { 0 };

	strbuf_puts(&words, rule->held ? "held" : "did not hold");
	if (rule->note)
		strbuf_printf(&words, " (%s)", rule->note);
	screen_field(screen, indent, rule->rule, rule->held ? TONE_GOOD : TONE_QUIET,
		     strbuf_text(&words));
	for (size_t i = 0; i < rule->tests_count; i++)
		print_test(screen, indent + 2, &rule->tests[i]);
	strbuf_finish(&words);
}

static void
print_rules(const struct screen *screen, int indent, const struct explained_rule *rules,
	    size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_rule(screen, indent, &rules[i]);
}

static void
put_answer(struct strbuf *out, const struct reading *reading)
{
	const struct response *response = reading->response;

	strbuf_puts(out, reading_kind_name(reading->kind));
	if (reading->reason != REASON_COUNT)
		strbuf_printf(out, " (%s)", reason_name(reading->reason));
	if (response->fault == REASON_COUNT)
		strbuf_printf(out, ": status %d, %zu bytes", response->status, response->body_len);
	strbuf_printf(out, ", %lld ms", (long long)(response->elapsed_us / MILLISECOND));
	if (reading->pages_count > 1)
		strbuf_printf(out, ", the last of %zu pages", reading->pages_count);
}

static void
print_probe(const struct screen *screen, const struct explained_probe *probe)
{
	struct strbuf words = { 0 };

	if (probe->unasked) {
		strbuf_printf(&words, "not asked: %s", probe->unasked);
		screen_field(screen, INDENT, probe->probe->name, TONE_QUIET, strbuf_text(&words));
		strbuf_finish(&words);
		return;
	}
	if (probe->reread)
		strbuf_puts(&words, "second read, ");
	put_answer(&words, probe->reading);
	screen_field(screen, INDENT, probe->probe->name, TONE_PLAIN, strbuf_text(&words));
	strbuf_reset(&words);
	if (probe->reading->request) {
		strbuf_printf(&words, "%s %s", http_method_name(probe->reading->probe->method),
			      probe->reading->request->url_template);
		screen_field(screen, INNER, "question", TONE_PLAIN, strbuf_text(&words));
	}
	if (probe->note)
		screen_field(screen, INNER, "rules", TONE_QUIET, probe->note);
	print_rules(screen, INNER, probe->rules, probe->rules_count);
	strbuf_finish(&words);
}

static void
print_verdict(const struct screen *screen, const struct explained *of)
{
	const struct verdict *verdict = of->verdict;
	struct strbuf words = { 0 };

	heading(screen, "Verdict");
	strbuf_printf(&words, "%s (%s), by the rule %s", class_name(verdict->class),
		      verdict->reason, verdict->rule);
	screen_field(screen, INDENT, "verdict", screen_tone_of(class_name(verdict->class)),
		     strbuf_text(&words));
	fact(screen, "why", verdict->why);
	strbuf_finish(&words);
}

static void
print_action(const struct screen *screen, const struct explained *of)
{
	const struct decision *decision = of->decision;
	struct strbuf words = { 0 };

	strbuf_puts(&words, action_name(decision->action));
	if (decision->observed)
		strbuf_puts(&words, ", but the policy only observes");
	if (decision->held)
		strbuf_puts(&words, ", because a guard is tripped");
	if (decision->recommended != ACTION_WAIT && decision->recommended != decision->action)
		strbuf_printf(&words, ", with %s recommended", action_name(decision->recommended));
	fact(screen, "action", strbuf_text(&words));
	fact(screen, "decided by", decision->row);
	for (size_t i = 0; i < decision->clauses_count; i++) {
		bool ok = decision->clauses[i].ok;

		screen_field(screen, INNER, clause_name(decision->clauses[i].clause),
			     ok ? TONE_GOOD : TONE_BAD, ok ? "ok" : "not met");
	}
	strbuf_finish(&words);
}

static void
put_earned(struct strbuf *out, const struct explained *of)
{
	const struct earned *earned = &of->verdict->earned;
	int64_t span_us = of->look->at_us - earned->since_us;
	char over[DURATION_TEXT_MAX], seconds[24];

	if (earned->looks == 0 || earned->since_us == TIME_NONE) {
		strbuf_puts(out, "nothing");
		return;
	}
	duration_format(of->policy->absence_over_us, over);
	strbuf_printf(out, "%d of %d looks, over ", earned->looks, of->policy->absence_confirm);
	facts_age(out, decimal_text(span_us > 0 ? span_us / SECOND : 0, seconds));
	strbuf_printf(out, " of %s", over);
}

/* With this look, as it would be recorded. */
static void
print_earned(const struct screen *screen, const struct explained *of)
{
	const struct earned *earned = &of->verdict->earned;
	struct strbuf words = { 0 };

	put_earned(&words, of);
	fact(screen, "earned", strbuf_text(&words));
	if (earned->inconclusive > 0) {
		strbuf_reset(&words);
		strbuf_printf(&words, "%d of %d looks in a row", earned->inconclusive,
			      of->policy->give_up);
		fact(screen, "no evidence", strbuf_text(&words));
	}
	if (of->look->control != CONTROL_NONE)
		fact(screen, "control object", control_state_name(of->look->control));
	strbuf_finish(&words);
}

/* This look was none: the next one comes when it would have come anyway. */
static void
print_next(const struct screen *screen, const struct explained *of)
{
	const char *due_at = facts_get(of->row, 0, "due_at");
	struct strbuf words = { 0 };
	char seconds[24];

	facts_time(&words, due_at);
	fact(screen, "next look", due_at ? strbuf_text(&words) : "none");
	if (due_at && of->decision->due) {
		strbuf_reset(&words);
		facts_age(&words, decimal_text(of->decision->due_in_us / SECOND, seconds));
		strbuf_puts(&words, " later, if that one sees the same");
		fact(screen, "and then", strbuf_text(&words));
	}
	strbuf_finish(&words);
}

void
explain_print(const struct screen *screen, const struct explained *of)
{
	const struct explanation *explanation = &of->explanation;

	print_operation(screen, of);
	heading(screen, "Questions");
	for (size_t i = 0; i < explanation->probes_count; i++)
		print_probe(screen, &explanation->probes[i]);
	heading(screen, "Rules");
	print_rules(screen, INDENT, explanation->rules, explanation->rules_count);
	evidence_print_compared(screen, of->evidence, NULL);
	evidence_print_values(screen, INDENT, of->evidence);
	print_verdict(screen, of);
	print_action(screen, of);
	print_earned(screen, of);
	print_next(screen, of);
	screen_line(screen, TONE_QUIET, "");
	screen_line(screen, TONE_QUIET, "Nothing was changed.");
}
