/* SPDX-License-Identifier: Apache-2.0
 *
 * Look after look. Between two of them the operation changes as recording would change its row, but
 * it never becomes final: that the case goes on shows that it was looked at again.
 */
#include "case_run.h"

#include <limits.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/duration.h"

/* A case while it is played. */
struct play {
	struct arena *arena;
	const struct test_case *test;
	const struct target *target;
	struct policy policy; /* enforced, whatever its file says */
	struct operation op;
	size_t used; /* readings */
	struct look look;
	struct verdict verdict;
	struct decision decision;
	struct case_result *result;
};

static const char *
moment_name(struct arena *arena, int64_t us)
{
	char text[DURATION_TEXT_MAX];

	duration_format(us, text);
	return arena_strdup(arena, text);
}

#define FAULT(play, ...) add_fault((play)->result, arena_printf((play)->arena, __VA_ARGS__))

static void
add_fault(struct case_result *result, const char *text)
{
	if (result->faults_count < CASE_FAULTS_MAX)
		result->faults[result->faults_count++] = text;
}

/* The driver would have stopped reading. */
static bool
is_too_large(const struct play *play, const struct test_answer *answer)
{
	return (int64_t)answer->body_len > play->target->max_body_bytes;
}

/* answer NULL: nothing is written for the question, so it counts as one that could not be asked. */
static const struct response *
respond(const struct play *play, const struct probe *probe, const struct test_answer *answer)
{
	struct response *response = arena_new(play->arena, struct response);

	if (answer == NULL)
		*response = (struct response){ .fault = REASON_INCOMPLETE };
	else if (answer->fault != REASON_COUNT || is_too_large(play, answer))
		*response = (struct response){
			.fault = answer->fault != REASON_COUNT ? answer->fault : REASON_TOO_LARGE,
		};
	else
		*response = (struct response){
			.fault = REASON_COUNT,
			.status = answer->status,
			.headers = answer->headers,
			.headers_count = answer->headers_count,
			.body = answer->body,
			.body_len = answer->body_len,
		};
	response_read(play->arena, probe, response);
	return response;
}

/* Asks page after page, as long as the judgement wants another one. */
static const struct reading *
read_pages(struct play *play, const struct look_step *step, const struct test_reading *written)
{
	size_t size = (written ? written->pages_count : 0) + 1, count = 0;
	struct exchange *pages = arena_array(play->arena, struct exchange, size);
	struct question question = { .probe = step->probe, .ops = &step->op, .ops_count = 1 };
	struct answer answer = { &play->target->rules, step->probe, step->op, pages, 0 };
	const struct reading *reading;

	do {
		bool there = written && count < written->pages_count;

		pages[count].request = request_render(play->arena, &question);
		pages[count].response =
			respond(play, step->probe, there ? &written->pages[count] : NULL);
		answer.count = ++count;
		reading = reading_judge(play->arena, &answer);
		if (reading->next)
			question.page = *reading->next;
		if (!there)
			play->result->unasked = count == 1
							? step->probe->name
							: arena_printf(play->arena, "%s, page %zu",
								       step->probe->name, count);
	} while (reading->next && count < size);
	if (written && count < written->pages_count)
		FAULT(play, "%s at %s: %zu of %zu pages are not used", written->probe,
		      moment_name(play->arena, written->at_us), written->pages_count - count,
		      written->pages_count);
	return reading;
}

/* The reading of the look that is written for the probe and not used yet. */
static const struct test_reading *
take(struct play *play, const struct test_reading *written, size_t count, bool *taken,
     const char *probe)
{
	for (size_t i = 0; i < count; i++)
		if (!taken[i] && strcmp(written[i].probe, probe) == 0) {
			taken[i] = true;
			return &written[i];
		}
	return NULL;
}

static void
ask(struct play *play, const struct test_reading *written, size_t count)
{
	bool *taken = arena_array(play->arena, bool, count + 1);
	struct look *look = &play->look;
	struct look_step step;

	while (!play->result->unasked &&
	       (step = look_next(&play->policy, &play->op, look, play->arena)).probe != NULL) {
		const struct test_reading *reading =
			take(play, written, count, taken, step.probe->name);

		look->readings[look->count] = read_pages(play, &step, reading);
		look->reread = step.reread;
		look->count++;
	}
	for (size_t i = 0; i < count; i++)
		if (!taken[i])
			FAULT(play, "%s at %s is not used: the look was over before",
			      written[i].probe, moment_name(play->arena, written[i].at_us));
}

/* As recording would; see the head of the file about final states. */
static void
record(struct play *play)
{
	struct operation *op = &play->op;
	const struct decision *decision = &play->decision;

	op->earned = play->verdict.earned;
	op->checks++;
	op->postponed = decision->postponed;
	if (!class_is_verdict(play->verdict.class))
		return;
	op->class = play->verdict.class;
	op->reason = play->verdict.reason;
	op->recommended_action =
		decision->recommended == ACTION_WAIT ? "" : action_name(decision->recommended);
	op->disputed = decision->disputed;
	if (!status_is_final(decision->status))
		op->status = decision->status;
}

/* now_us: since the last send. A look that ended early is inconclusive, however many there were. */
static void
judge(struct play *play, int64_t now_us)
{
	struct policy policy = play->policy;
	struct decide_context context = {
		.arena = play->arena,
		.control = play->look.control,
		.now_us = play->test->sent_us + now_us,
	};

	if (play->result->unasked)
		policy.give_up = INT_MAX;
	play->look.now_us = context.now_us;
	classify(play->arena, &policy, &play->op, &play->look, &play->verdict);
	decide(&policy, &play->op, &play->verdict, &context, &play->decision);
}

/* One look: the readings with the same time. */
static void
look(struct play *play, const struct test_reading *written, size_t count, bool last)
{
	int64_t at_us = count > 0 ? written[0].at_us : 0, now_us = at_us;

	if (last && play->test->now_us != TIME_NONE)
		now_us = play->test->now_us;
	if (now_us < at_us)
		FAULT(play, "now is before the last reading");
	if (count == 0)
		at_us = now_us;
	play->result->unasked = NULL;
	play->look = (struct look){
		.at_us = play->test->sent_us + at_us,
		.control = play->test->control,
	};
	ask(play, written, count);
	judge(play, now_us);
	record(play);
}

static void
play_all(struct play *play)
{
	const struct test_reading *readings = play->test->readings;
	size_t count = play->test->readings_count, i = 0;

	do {
		size_t same = i < count;

		while (i + same < count && readings[i + same].at_us == readings[i].at_us)
			same++;
		look(play, readings + i, same, i + same == count);
		i += same;
		if (i < count && readings[i].at_us < readings[i - 1].at_us)
			FAULT(play, "%s at %s is out of order: there is a later one before",
			      readings[i].probe, moment_name(play->arena, readings[i].at_us));
	} while (i < count);
}

static void
compare(struct play *play)
{
	const struct test_expected *expected = &play->test->expected;
	const struct case_result *result = play->result;
	const struct {
		const char *what, *expected, *got;
	} parts[] = {
		{ "class", class_name(expected->class), class_name(result->verdict.class) },
		{ "reason", expected->reason, result->verdict.reason },
		{ "rule", expected->rule, result->verdict.rule },
		{ "action", expected->action == ACTION_COUNT ? NULL : action_name(expected->action),
		  action_name(result->action) },
	};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].expected &&
		    (!parts[i].got || strcmp(parts[i].expected, parts[i].got) != 0))
			FAULT(play, "%s: expected %s, got %s", parts[i].what, parts[i].expected,
			      parts[i].got ? parts[i].got : "nothing");
}

void
case_run(struct arena *arena, const struct test_file *tests, const struct test_case *test,
	 struct case_result *ret_result)
{
	struct play play = {
		.arena = arena,
		.test = test,
		.target = tests->target,
		.policy = *tests->policy,
		.op = test->op,
		.result = ret_result,
	};

	*ret_result = (struct case_result){ 0 };
	play.policy.enforce = true;
	play_all(&play);
	ret_result->verdict = play.verdict;
	ret_result->action = play.decision.action;
	compare(&play);
	ret_result->ok = ret_result->faults_count == 0;
}
