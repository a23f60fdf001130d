/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises over random histories: a fixed seed, thousands of operations, looks of every kind in any
 * order. What must hold is checked against a plain list of what was seen.
 */
#include "scenario.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "tap.h"

enum { HISTORIES = 1500, LOOKS = 24, WINDOW_S = 900, OVER_S = 1800, CONFIRM = 3 };

/* Three looks over thirty minutes after a quarter of an hour. */
#define POLICY                                                                                     \
	"{'probes':[{'get':'/p','found':{'status':'200'},'gone':{'status':'410'},"                 \
	"'unfinished':{'status':'202'},'items':'/data','complete':{'/more':'false'},"              \
	"'where':{'/ref':{'is':'op.operation_id'}}}],'latency_window':'15m',"                      \
	"'absence':{'confirm':'3','over':'30m'},'give_up':'4',"                                    \
	"'judge':[{'when':{'/state':'busy'},'class':'waiting'}],"                                  \
	"'compare':{'amount':{'found':'/amount','type':'number','is':'op./expected/amount'},"      \
	"'version':{'found':'/version','type':'version','is':'op.version'}},"                      \
	"'outcome':{'older':'missing'},'actions':{'missing':'requeue','divergent':'compensate'}}"
#define OP "{'version':'7','expected':{'amount':'10'}}"
#define OURS(amount, version) "{'ref':'op_00000001','amount':" amount ",'version':" version "}"
#define LISTED(items) "{'more':false,'data':[" items "]}"
#define PARTIAL(items) "{'more':true,'data':[" items "]}"
#define OTHER "{'ref':'op_00000002','amount':10,'version':7}"

enum seen { NOTHING, ABSENT, EQUAL, OLDER, DIVERGES, UNREADABLE, TWO, OTHERWISE };

/* clang-format off */
static const struct kind {
	struct scripted answer;
	enum seen seen;
} kinds[] = {
	{ { .fault = REASON_TIMEOUT }, NOTHING },
	{ { .fault = REASON_TRUNCATED, .status = 200, .body = LISTED("") }, NOTHING },
	{ { .status = 503, .body = LISTED("") }, NOTHING },
	{ { .status = 500 }, NOTHING },
	{ { .status = 404, .body = LISTED("") }, NOTHING },
	{ { .status = 301 }, NOTHING },
	{ { .status = 200, .body = "" }, NOTHING },
	{ { .status = 200, .body = "<html>" }, NOTHING },
	{ { .status = 200, .body = PARTIAL("") }, NOTHING },
	{ { .status = 200, .body = PARTIAL(OURS("10", "7")) }, NOTHING },
	{ { .status = 200, .body = "{'data':[]}" }, NOTHING },
	{ { .status = 200, .body = LISTED(""), .control = CONTROL_LOST }, NOTHING },
	{ { .status = 200, .body = LISTED(""), .headers = "age: 999999999" }, NOTHING },
	{ { .status = 200, .body = LISTED("") }, ABSENT },
	{ { .status = 200, .body = LISTED("") }, ABSENT },
	{ { .status = 200, .body = LISTED("") }, ABSENT },
	{ { .status = 200, .body = LISTED(OTHER) }, ABSENT },
	{ { .status = 200, .body = LISTED(OURS("10", "7")) }, EQUAL },
	{ { .status = 200, .body = LISTED(OTHER "," OURS("10.0", "7")) }, EQUAL },
	{ { .status = 200, .body = LISTED(OURS("10", "6")) }, OLDER },
	{ { .status = 200, .body = LISTED(OURS("11", "7")) }, DIVERGES },
	{ { .status = 200, .body = LISTED(OURS("null", "7")) }, UNREADABLE },
	{ { .status = 200, .body = LISTED(OURS("10", "7") "," OURS("10", "7")) }, TWO },
	{ { .status = 200, .body = PARTIAL(OURS("10", "7") "," OTHER "," OURS("10", "7")) }, TWO },
	{ { .status = 410 }, DIVERGES },
	{ { .status = 202, .body = "{}" }, OTHERWISE },
	{ { .status = 200, .body = LISTED("{'ref':'op_00000001','state':'busy'}") }, OTHERWISE },
};
/* clang-format on */

/* What a careful clerk would have noted: the looks since the last one that broke the run. */
struct clerk {
	enum seen run;
	int count, first_s, last_s;
	bool disputed;
};

struct tally {
	bool missing_earned, correct_equal, inconclusive_kept, two_never_one, no_sending,
		disputed_held, no_evidence_no_verdict;
	int missing, correct, review;
};

static uint64_t seed = 20260301;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void
note(struct clerk *clerk, enum seen seen, int at_s)
{
	if (seen == NOTHING || ((seen == ABSENT || seen == OLDER) && at_s < WINDOW_S))
		return;
	if (seen != clerk->run)
		*clerk =
			(struct clerk){ .run = seen, .first_s = at_s, .disputed = clerk->disputed };
	clerk->count++;
	clerk->last_s = at_s;
	if (seen == DIVERGES || seen == TWO)
		clerk->disputed = true;
}

static bool
has_earned(const struct clerk *clerk, enum seen seen)
{
	return (seen == ABSENT || seen == OLDER) && clerk->run == seen && clerk->count >= CONFIRM &&
	       clerk->last_s - clerk->first_s >= OVER_S;
}

static void
check(const struct scenario *s, const struct operation *before, const struct clerk *clerk,
      enum seen seen, struct tally *t)
{
	enum verdict_class class = s->verdict.class;

	t->missing += class == CLASS_MISSING;
	t->correct += class == CLASS_CORRECT;
	t->review += s->decision.action == ACTION_REVIEW;
	if ((class == CLASS_MISSING) != has_earned(clerk, seen))
		t->missing_earned = false;
	if ((class == CLASS_CORRECT) != (seen == EQUAL))
		t->correct_equal = false;
	if (seen == NOTHING && class != CLASS_INCONCLUSIVE && class != CLASS_WAITING &&
	    strcmp(s->verdict.reason, "give_up") != 0)
		t->no_evidence_no_verdict = false;
	if (!class_is_verdict(class) &&
	    (s->op.class != before->class || s->op.status != before->status ||
	     s->op.disputed != before->disputed || s->decision.outbox_type != NULL ||
	     (before->class != CLASS_NONE && s->decision.changed)))
		t->inconclusive_kept = false;
	if (seen == TWO && !s->verdict.several)
		t->two_never_one = false;
	if (s->decision.action == ACTION_REQUEUE || s->decision.action == ACTION_COMPENSATE ||
	    s->decision.status == STATUS_RETRY_SCHEDULED)
		t->no_sending = false;
	if (class == CLASS_CORRECT && before->disputed && s->decision.status == STATUS_CONFIRMED)
		t->disputed_held = false;
}

/* An outage, a lost control or an old cache before the window is too early anyway. */
static enum seen
seen_at(const struct kind *kind, int at_s)
{
	bool cached = kind->answer.headers != NULL;

	return cached && at_s < WINDOW_S ? ABSENT : kind->seen;
}

static void
play_history(struct arena *arena, const struct scenario *start, struct tally *t)
{
	struct scenario s = *start;
	struct clerk clerk = { .run = NOTHING };
	int at_s = 0;

	for (int i = 0; i < LOOKS && !status_is_final(s.op.status); i++) {
		const struct kind *kind = &kinds[draw(2) ? 13 + draw(3) : draw(ARRAY_LEN(kinds))];
		struct scripted answer = kind->answer;
		struct operation before = s.op;

		at_s += 1 + (int)draw(1200);
		answer.at_s = at_s;
		scenario_look(arena, &s, &answer, 1);
		note(&clerk, seen_at(kind, at_s), at_s);
		check(&s, &before, &clerk, seen_at(kind, at_s), t);
		if (clerk.disputed != s.op.disputed)
			t->disputed_held = false;
	}
}

int
main(void)
{
	struct arena *lasting = arena_create(), *arena = arena_create();
	struct scenario start = scenario_start(lasting, POLICY, "{}", OP);
	struct tally t = { true, true, true, true, true, true, true, 0, 0, 0 };

	for (int i = 0; i < HISTORIES; i++) {
		play_history(arena, &start, &t);
		arena_reset(arena);
	}
	tap_ok(t.missing_earned, "promise 4: missing exactly when it was earned (%d times)",
	       t.missing);
	tap_ok(t.correct_equal, "correct exactly when every field was equal (%d times)", t.correct);
	tap_ok(t.no_evidence_no_verdict, "promise 2: no evidence leads to no verdict but give_up");
	tap_ok(t.inconclusive_kept,
	       "promise 2: a look without verdict changes no class and no status");
	tap_ok(t.two_never_one, "no other object turns two into one");
	tap_ok(t.no_sending, "promise 1: nothing is sent again");
	tap_ok(t.disputed_held, "what was divergent or several is remembered and never confirmed");
	tap_ok(t.missing > 100 && t.correct > 100 && t.review > 100,
	       "the histories reach all of this");
	arena_destroy(arena);
	arena_destroy(lasting);
	return tap_done();
}
