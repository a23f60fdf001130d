/* SPDX-License-Identifier: Apache-2.0
 *
 * One operation over several looks.
 */
#include "scenario.h"

#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"

struct scenario
scenario_start(struct arena *arena, const char *policy, const char *target, const char *op)
{
	return (struct scenario){
		.policy = build_policy(arena, policy),
		.rules = build_target(arena, target),
		.op = build_operation(arena, op),
	};
}

static void
add_headers(struct arena *arena, const char *text, struct response *response)
{
	struct header *headers = arena_array(arena, struct header, 8);
	char *copy = arena_strdup(arena, text ? text : ""), *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strstr(line, ": ");

		*value = '\0';
		headers[response->headers_count++] = (struct header){ line, value + 2 };
	}
	response->headers = headers;
}

static const struct response *
response_of(struct arena *arena, const struct probe *probe, const struct scripted *answer)
{
	struct response *response = arena_new(arena, struct response);
	char *body = arena_strdup(arena, answer->body ? answer->body : "");

	for (char *c = body; *c && !answer->raw; c++)
		if (*c == '\'')
			*c = '"';
	*response = (struct response){
		.fault = answer->fault ? answer->fault : REASON_COUNT,
		.status = answer->status,
		.body = body,
		.body_len = strlen(body),
		.elapsed_us = 42 * MILLISECOND,
	};
	add_headers(arena, answer->headers, response);
	response_read(arena, probe, response);
	return response;
}

/* Asks for one page after the other, while there are answers. */
static const struct reading *
reading_of(struct arena *arena, struct scenario *s, const struct look_step *step,
	   const struct scripted *answers, size_t count)
{
	struct exchange *pages = arena_array(arena, struct exchange, count);
	struct question question = { .probe = step->probe, .ops = &step->op, .ops_count = 1 };
	struct answer judged = { .rules = s->rules, .probe = step->probe, .op = step->op };
	const struct reading *reading;

	judged.pages = pages;
	do {
		pages[judged.count] = (struct exchange){
			request_render(arena, &question),
			response_of(arena, step->probe, &answers[judged.count]),
		};
		judged.count++;
		reading = reading_judge(arena, &judged);
		if (reading->next)
			question.page = *reading->next;
	} while (reading->next && judged.count < count);
	return reading;
}

/* What recording does to the row. */
static void
record(struct scenario *s)
{
	s->op.earned = s->verdict.earned;
	s->op.checks++;
	s->op.postponed = s->decision.postponed;
	if (!class_is_verdict(s->verdict.class) || !s->decision.changed)
		return;
	s->changes++;
	s->op.class = s->verdict.class;
	s->op.reason = s->verdict.reason;
	s->op.recommended_action =
		s->decision.recommended == ACTION_WAIT ? "" : action_name(s->decision.recommended);
	s->op.status = s->decision.status;
	s->op.disputed = s->decision.disputed;
}

size_t
scenario_look(struct arena *arena, struct scenario *s, const struct scripted *answers, size_t count)
{
	struct decide_context context = {
		.arena = arena,
		.observe = s->observe,
		.control = answers[0].control,
		.now_us = SENT_US + answers[0].at_s * SECOND,
	};
	struct look_step step;
	size_t used = 0;

	s->look = (struct look){ .at_us = context.now_us, .control = answers[0].control };
	while (used < count && (step = look_next(s->policy, &s->op, &s->look, arena)).probe) {
		const struct reading *reading =
			reading_of(arena, s, &step, &answers[used], count - used);

		s->look.readings[s->look.count++] = reading;
		s->look.reread = step.reread;
		used += reading->pages_count;
	}
	classify(arena, s->policy, &s->op, &s->look, &s->verdict);
	decide(s->policy, &s->op, &s->verdict, &context, &s->decision);
	record(s);
	return used;
}

void
scenario_play(struct arena *arena, struct scenario *s, const struct scripted *answers, size_t count)
{
	for (size_t i = 0; i < count && (answers[i].status || answers[i].fault);) {
		size_t same = 1;

		while (i + same < count && (answers[i + same].status || answers[i + same].fault) &&
		       answers[i + same].at_s == answers[i].at_s)
			same++;
		s->unused += same - scenario_look(arena, s, &answers[i], same);
		i += same;
	}
}
