/* SPDX-License-Identifier: Apache-2.0
 *
 * The explanation as one JSON object.
 */
#include "explain.h"

#include <stdlib.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/explain.h"
#include "view_json.h"

/* Columns of the operation that are shown to everybody who may explain it. */
/* clang-format off */
static const char *const columns[] = {
	"operation_id", "operation_type", "entity_type", "entity_id", "entity_state", "version", "status", "revision",
	"attempts", "requeues", "checks", "created_at", "first_sent_at", "sent_at", "attempt_until", "due_at",
	"superseded_by", "compensates",
};
/* clang-format on */

static void
member(struct strbuf *json, const char *name, const char *text)
{
	strbuf_printf(json, ",\"%s\":", name);
	view_json_text(json, text);
}

static void
member_bool(struct strbuf *json, const char *name, bool value)
{
	strbuf_printf(json, ",\"%s\":%s", name, value ? "true" : "false");
}

static void
put_operation(struct strbuf *json, const struct explained *of)
{
	int64_t age_us = of->now_us - of->op->created_at_us;

	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		strbuf_puts(json, i > 0 ? ",\"" : "{\"");
		strbuf_printf(json, "%s\":", columns[i]);
		view_json_column(json, of->row, 0, columns[i]);
	}
	member(json, "target", of->policy->target);
	strbuf_printf(json, ",\"age\":%lld}", (long long)(age_us / SECOND));
}

static void
put_tests(struct strbuf *json, const struct explained_rule *rule)
{
	strbuf_puts(json, ",\"tests\":[");
	for (size_t i = 0; i < rule->tests_count; i++) {
		const struct explained_test *test = &rule->tests[i];

		strbuf_puts(json, i > 0 ? ",{\"at\":" : "{\"at\":");
		view_json_text(json, test->locator);
		member(json, "test", test->test);
		strbuf_puts(json, ",\"seen\":[");
		for (size_t j = 0; j < test->seen_count; j++) {
			if (j > 0)
				strbuf_putc(json, ',');
			view_json_text(json, test->seen[j]);
		}
		strbuf_putc(json, ']');
		member_bool(json, "held", test->held);
		strbuf_putc(json, '}');
	}
	strbuf_putc(json, ']');
}

static void
put_rules(struct strbuf *json, const struct explained_rule *rules, size_t count)
{
	strbuf_puts(json, ",\"rules\":[");
	for (size_t i = 0; i < count; i++) {
		strbuf_puts(json, i > 0 ? ",{\"rule\":" : "{\"rule\":");
		view_json_text(json, rules[i].rule);
		member_bool(json, "held", rules[i].held);
		member(json, "note", rules[i].note);
		put_tests(json, &rules[i]);
		strbuf_putc(json, '}');
	}
	strbuf_putc(json, ']');
}

static void
put_reading(struct strbuf *json, const struct explained_probe *probe)
{
	const struct reading *reading = probe->reading;
	const struct response *response = reading->response;
	size_t bytes = 0;

	for (size_t i = 0; i < reading->pages_count; i++)
		bytes += reading->pages[i].response->body_len;
	member(json, "method", http_method_name(reading->probe->method));
	member(json, "url", reading->request ? reading->request->url_template : NULL);
	strbuf_printf(json, ",\"pages\":%zu", reading->pages_count);
	if (response->fault == REASON_COUNT)
		strbuf_printf(json, ",\"status\":%d", response->status);
	else
		strbuf_puts(json, ",\"status\":null");
	strbuf_printf(json, ",\"bytes\":%zu,\"ms\":%lld", bytes,
		      (long long)(response->elapsed_us / MILLISECOND));
	member(json, "reading", reading_kind_name(reading->kind));
	member(json, "reason",
	       reading->reason == REASON_COUNT ? NULL : reason_name(reading->reason));
	member_bool(json, "second_read", probe->reread);
	member(json, "note", probe->note);
	put_rules(json, probe->rules, probe->rules_count);
}

static void
put_probes(struct strbuf *json, const struct explanation *explanation)
{
	strbuf_puts(json, ",\"probes\":[");
	for (size_t i = 0; i < explanation->probes_count; i++) {
		const struct explained_probe *probe = &explanation->probes[i];

		strbuf_puts(json, i > 0 ? ",{\"probe\":" : "{\"probe\":");
		view_json_text(json, probe->probe->name);
		member_bool(json, "asked", probe->unasked == NULL);
		if (probe->unasked)
			member(json, "why", probe->unasked);
		else
			put_reading(json, probe);
		strbuf_putc(json, '}');
	}
	strbuf_putc(json, ']');
}

/* What evidence has of it already; an empty list or object where it says nothing. */
static void
put_evidence(struct strbuf *json, const struct explained *of)
{
	static const struct {
		const char *name, *nothing;
	} parts[] = {
		{ "compared", "[]" }, { "kept", "{}" }, { "hashed", "{}" }, { "clauses", "[]" }
	};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		json_t *part = json_object_get(of->evidence, parts[i].name);
		char *text = part ? json_dumps(part, JSON_COMPACT) : NULL;

		strbuf_printf(json, ",\"%s\":%s", parts[i].name, text ? text : parts[i].nothing);
		free(text);
	}
}

static void
put_verdict(struct strbuf *json, const struct explained *of)
{
	const struct verdict *verdict = of->verdict;
	const struct decision *decision = of->decision;

	member(json, "class", class_name(verdict->class));
	member(json, "reason", verdict->reason);
	member(json, "rule", verdict->rule);
	member(json, "why", verdict->why);
	member(json, "action", action_name(decision->action));
	member(json, "recommended",
	       decision->recommended == ACTION_WAIT ? NULL : action_name(decision->recommended));
	member(json, "decided", decision->row);
	member(json, "mode", decision->observed || !of->policy->enforce ? "observe" : "enforce");
}

static void
put_earned(struct strbuf *json, const struct explained *of)
{
	const struct earned *earned = &of->verdict->earned;
	const struct policy *policy = of->policy;

	strbuf_printf(json, ",\"earned\":{\"looks\":%d,\"confirm\":%d,\"seconds\":%lld",
		      earned->looks, policy->absence_confirm,
		      earned->since_us == TIME_NONE
			      ? 0LL
			      : (long long)((of->look->at_us - earned->since_us) / SECOND));
	strbuf_printf(json, ",\"over\":%lld,\"inconclusive\":%d,\"give_up\":%d},",
		      (long long)(policy->absence_over_us / SECOND), earned->inconclusive,
		      policy->give_up);
	strbuf_puts(json, "\"control\":");
	view_json_text(json, control_state_name(of->look->control));
}

void
explain_print_json(const struct explained *of)
{
	struct strbuf json = { 0 };

	strbuf_puts(&json, "{\"operation\":");
	put_operation(&json, of);
	put_probes(&json, &of->explanation);
	put_rules(&json, of->explanation.rules, of->explanation.rules_count);
	put_evidence(&json, of);
	put_verdict(&json, of);
	put_earned(&json, of);
	strbuf_putc(&json, '}');
	ctl_print_json(&json);
	strbuf_finish(&json);
}
