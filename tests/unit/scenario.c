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

static const struct reading *
reading_of(struct arena *arena, const struct scenario *s, const struct look_step *step,
	   const struct scripted *answer)
{
	struct exchange *page = arena_new(arena, struct exchange);
	const struct question question = { .probe = step->probe, .ops = &step->op, .ops_count = 1 };
	const struct answer judged = {
		.rules = s->rules, .probe = step->probe, .op = step->op, .pages = page, .count = 1
	};
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
	response_read(arena, step->probe, response);
	*page = (struct exchange){ request_render(arena, &question), response };
	return reading_judge(arena, &judged);
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

	s->look = (struct look){ .at_us = context.now_us, .control = answers[0].control };
	while (s->look.count < count &&
	       (step = look_next(s->policy, &s->op, &s->look, arena)).probe != NULL) {
		const struct scripted *answer = &answers[s->look.count];

		s->look.readings[s->look.count] = reading_of(arena, s, &step, answer);
		s->look.reread = step.reread;
		s->look.count++;
	}
	classify(arena, s->policy, &s->op, &s->look, &s->verdict);
	decide(s->policy, &s->op, &s->verdict, &context, &s->decision);
	record(s);
	return s->look.count;
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
