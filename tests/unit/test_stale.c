/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources that may be behind, second reads, and items that do not count beside others: what they
 * lead to over time.
 */
#include "verdict_row.h"

#include "reconciled/base/arena.h"
#include "tap.h"

#define MIN(n) ((n)*60)
#define DAYS(n) ((n)*86400)

#define BY_ID                                                                                      \
	"{'name':'by_id','needs':['remote_id'],'get':'/o/{remote_id}','found':{'status':'200'},"   \
	"'absent':{'status':'404','/error':'none'}}"
#define SEARCH(more)                                                                               \
	"{'name':'search','get':'/s','query':{'q':'{operation_id}'},'found':{'status':'200'},"     \
	"'items':'/l','where':{'/ref':{'is':'op.operation_id'}},'complete':{'/more':'false'},"     \
	"'skip':[{'/s':'canceled'},{'/s':'void'}],'remote_id':'/id','stale':'true'" more "}"
#define THEN ",'then':{'probe':'by_id','with':{'remote_id':'/id'}}"
#define REST                                                                                       \
	"'latency_window':'5m','absence':{'confirm':'2','over':'10m'},"                            \
	"'judge':[{'when':{'/s':'pending'},'class':'waiting'},"                                    \
	"{'when':{'/s':'failed'},'class':'divergent','why':'target_rejected'},"                    \
	"{'when':{'/s':'canceled'},'class':'divergent','why':'cancelled_at_target'},"              \
	"{'when':{'/s':'odd'},'class':'ambiguous','why':'unknown_state'}],"                        \
	"'compare':{'version':{'found':'/v','type':'version','is':'op.version'},"                  \
	"'name':{'found':'/n','is':'op./expected/n'}}"
#define INDEX(more) "{'probes':[" SEARCH("") "]," REST more "}"
#define BOTH(more) "{'probes':[" BY_ID "," SEARCH(THEN) "]," REST more "}"
#define ELSEWHERE                                                                                  \
	"{'probes':[" SEARCH(                                                                      \
		THEN) "," BY_ID ","                                                                \
		      "{'name':'by_key','needs':['business_key'],'get':'/k/{business_key}',"       \
		      "'found':{'status':'200'},'absent':{'status':'404','/error':'none'}}]," REST \
		      "}"
#define OP_ELSEWHERE "{'business_key':'k1','version':'7','expected':{'n':'a'}}"
#define OLDER_MISSING ",'outcome':{'older':'missing'}"
#define OP "{'version':'7','expected':{'n':'a'}}"
#define OP_KNOWN "{'remote_id':'r1','version':'7','expected':{'n':'a'}}"

#define FOUND(item) "{'more':false,'l':[" item "]}"
#define ITEM(fields) "{'ref':'op_00000001','id':'r1'," fields "}"
#define HIT(fields) FOUND(ITEM(fields))
#define RIGHT "'v':7,'n':'a'"
#define WRONG "'v':7,'n':'b'"
#define OLDER "'v':6,'n':'a'"
#define EMPTY FOUND("")
#define NONE "{'error':'none'}"

/* clang-format off */
static const struct verdict_row rows[] = {
	/* without a second read */
	{ "T45 one differing answer of an index", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) } }, "waiting", "absent_unconfirmed", "compare" },
	{ "T45 the same for long enough", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(30), 200, HIT(WRONG) } }, "divergent", "field_differs", "compare" },
	{ "T45 the same twice, too soon", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(29), 200, HIT(WRONG) } }, "waiting", "absent_unconfirmed", "compare" },
	{ "what was seen before the window is over does not count", INDEX(""), "{}", OP,
	  { { MIN(4), 200, HIT(WRONG) }, { MIN(14), 200, HIT(WRONG) } }, "waiting", "absent_unconfirmed", "compare" },
	{ "nor does it reset", INDEX(""), "{}", OP,
	  { { MIN(4), 200, HIT(WRONG) }, { MIN(5), 200, HIT(WRONG) }, { MIN(15), 200, HIT(WRONG) } },
	  "divergent", "field_differs", "compare" },
	{ "an outage neither counts nor resets", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(25), 503 }, { MIN(30), 200, HIT(WRONG) } },
	  "divergent", "field_differs", "compare" },
	{ "a look at something else resets", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(25), 200, HIT("'s':'pending'") }, { MIN(30), 200, HIT(WRONG) } },
	  "waiting", "absent_unconfirmed", "compare" },
	{ "an absence resets", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(25), 200, EMPTY }, { MIN(30), 200, HIT(WRONG) } },
	  "waiting", "absent_unconfirmed", "compare" },
	{ "and is reset: it never adds to the same run", INDEX(""), "{}", OP,
	  { { MIN(20), 200, EMPTY }, { MIN(25), 200, HIT(WRONG) }, { MIN(30), 200, EMPTY } },
	  "waiting", "absent_unconfirmed", "absence" },
	{ "another class is another run", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(30), 200, HIT("'s':'odd'") } },
	  "waiting", "absent_unconfirmed", "judge[3]" },
	{ "the same class for another reason is the same run", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(30), 200, HIT("'s':'failed'") } },
	  "divergent", "target_rejected", "judge[1]" },
	{ "ambiguous is earned as well", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT("'v':7") } }, "waiting", "absent_unconfirmed", "compare" },
	{ "ambiguous, earned", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT("'v':7") }, { MIN(30), 200, HIT("'v':7") } }, "ambiguous", "unreadable", "compare" },
	{ "missing by outcome is earned as anywhere", INDEX(OLDER_MISSING), "{}", OP,
	  { { MIN(20), 200, HIT(OLDER) } }, "waiting", "absent_unconfirmed", "outcome" },
	{ "missing by outcome, earned", INDEX(OLDER_MISSING), "{}", OP,
	  { { MIN(20), 200, HIT(OLDER) }, { MIN(30), 200, HIT(OLDER) } }, "missing", "older", "outcome" },
	{ "what is right counts at once", INDEX(""), "{}", OP,
	  { { 1, 200, HIT(RIGHT) } }, "correct", "fields_equal", "compare" },
	{ "what waits does so at once", INDEX(""), "{}", OP,
	  { { 1, 200, HIT("'s':'pending'") } }, "waiting", "judged", "judge[0]" },
	{ "and is stuck at the limit", INDEX(",'waiting':{'until':'7d'}"), "{}", OP,
	  { { DAYS(8), 200, HIT("'s':'pending'") } }, "ambiguous", "stuck_at_target", "judge[0]" },
	{ "two are two, at once", INDEX(",'on_several':'divergent'"), "{}", OP,
	  { { 1, 200, FOUND(ITEM(RIGHT) "," ITEM(WRONG)) } }, "divergent", "duplicate_effect", "several" },
	{ "a control that is lost does not matter to what is found", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG), .control = CONTROL_LOST },
	    { MIN(30), 200, HIT(WRONG), .control = CONTROL_LOST } }, "divergent", "field_differs", "compare" },

	/* with a second read */
	{ "T45 the second read is right", BOTH(""), "{}", OP,
	  { { 1, 200, HIT(WRONG) }, { 1, 200, "{" RIGHT "}" } }, "correct", "fields_equal", "compare" },
	{ "the second read differs too", BOTH(""), "{}", OP,
	  { { 1, 200, HIT(WRONG) }, { 1, 200, "{" WRONG "}" } }, "divergent", "field_differs", "compare" },
	{ "it replaces an unreadable first one", BOTH(""), "{}", OP,
	  { { 1, 200, HIT("'v':7") }, { 1, 200, "{" RIGHT "}" } }, "correct", "fields_equal", "compare" },
	{ "and one that is missing by outcome", BOTH(OLDER_MISSING), "{}", OP,
	  { { MIN(20), 200, HIT(OLDER) }, { MIN(20), 200, "{" RIGHT "}" } }, "correct", "fields_equal", "compare" },
	{ "which the second read confirms over time", BOTH(OLDER_MISSING), "{}", OP,
	  { { MIN(20), 200, HIT(OLDER) }, { MIN(20), 200, "{" OLDER "}" },
	    { MIN(30), 200, HIT(OLDER) }, { MIN(30), 200, "{" OLDER "}" } }, "missing", "older", "outcome" },
	{ "a judged first one is read again", BOTH(""), "{}", OP,
	  { { 1, 200, HIT("'s':'failed'") }, { 1, 200, "{'s':'pending'}" } }, "waiting", "judged", "judge[0]" },
	{ "what is right is not read again", BOTH(""), "{}", OP,
	  { { 1, 200, HIT(RIGHT) } }, "correct", "fields_equal", "compare" },
	{ "nor what waits, however long", BOTH(""), "{}", OP,
	  { { DAYS(8), 200, HIT("'s':'pending'") } }, "ambiguous", "stuck_at_target", "judge[0]" },
	{ "nor two", BOTH(""), "{}", OP,
	  { { 1, 200, FOUND(ITEM(RIGHT) "," ITEM(WRONG)) } }, "ambiguous", "several_at_target", "several" },
	{ "an absent second read is an absence", BOTH(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(20), 404, NONE } }, "waiting", "absent_unconfirmed", "absence" },
	{ "which is earned", BOTH(""), "{}", OP,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(20), 404, NONE }, { MIN(30), 200, EMPTY } },
	  "missing", "absent_confirmed", "absence" },
	{ "absent in the second read, so the next place is asked", ELSEWHERE, "{}", OP_ELSEWHERE,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(20), 404, NONE }, { MIN(20), 200, "{" RIGHT "}" } },
	  "correct", "fields_equal", "compare" },
	{ "and is no absence before that", ELSEWHERE, "{}", OP_ELSEWHERE,
	  { { MIN(20), 200, HIT(WRONG) }, { MIN(20), 404, NONE } }, "inconclusive", "incomplete", "probe" },
	{ "a second read without answer is no evidence", BOTH(""), "{}", OP,
	  { { 1, 200, HIT(WRONG) }, { 1, .fault = REASON_TIMEOUT } }, "inconclusive", "timeout", "probe" },
	{ "nor is one that no rule knows", BOTH(""), "{}", OP,
	  { { 1, 200, HIT(WRONG) }, { 1, 404, "<html>" } }, "inconclusive", "http_4xx", "probe" },
	{ "nor is a look that ends before it", BOTH(""), "{}", OP,
	  { { 1, 200, HIT(WRONG) } }, "inconclusive", "incomplete", "probe" },
	{ "an item without id: earned instead", BOTH(""), "{}", OP,
	  { { MIN(20), 200, FOUND("{'ref':'op_00000001'," WRONG "}") } }, "waiting", "absent_unconfirmed", "compare" },
	{ "an item with an id that is empty", BOTH(""), "{}", OP,
	  { { MIN(20), 200, FOUND("{'ref':'op_00000001','id':''," WRONG "}") } },
	  "waiting", "absent_unconfirmed", "compare" },
	{ "an item with an id that may not be sent", BOTH(""), "{}", OP,
	  { { MIN(20), 200, FOUND("{'ref':'op_00000001','id':'../r2'," WRONG "}") } },
	  "waiting", "absent_unconfirmed", "compare" },
	{ "an item with an id that climbs", BOTH(""), "{}", OP,
	  { { MIN(20), 200, FOUND("{'ref':'op_00000001','id':'..'," WRONG "}") } },
	  "waiting", "absent_unconfirmed", "compare" },
	{ "an item whose id is an object", BOTH(""), "{}", OP,
	  { { MIN(20), 200, FOUND("{'ref':'op_00000001','id':{'x':1}," WRONG "}") } },
	  "waiting", "absent_unconfirmed", "compare" },
	{ "an id that is a number is sent as it is written", BOTH(""), "{}", OP,
	  { { 1, 200, FOUND("{'ref':'op_00000001','id':17," WRONG "}") }, { 1, 200, "{" RIGHT "}" } },
	  "correct", "fields_equal", "compare" },
	{ "absent by our id, found, and read by the target's", BOTH(""), "{}", OP_KNOWN,
	  { { 1, 404, NONE }, { 1, 200, HIT(WRONG) }, { 1, 200, "{" RIGHT "}" } },
	  "correct", "fields_equal", "compare" },
	{ "the second read is the truth also where it is a probe of its own", BOTH(""), "{}", OP_KNOWN,
	  { { 1, 200, "{" WRONG "}" } }, "divergent", "field_differs", "compare" },

	/* items that do not count beside others */
	{ "T27 one cancelled attempt and one success", INDEX(""), "{}", OP,
	  { { 1, 200, FOUND(ITEM("'s':'canceled'") "," ITEM(RIGHT)) } }, "correct", "fields_equal", "compare" },
	{ "T27 the only attempt was cancelled, says an index", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT("'s':'canceled'") } }, "waiting", "absent_unconfirmed", "judge[2]" },
	{ "it says so for long enough", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT("'s':'canceled'") }, { MIN(30), 200, HIT("'s':'canceled'") } },
	  "divergent", "cancelled_at_target", "judge[2]" },
	{ "two cancelled attempts", INDEX(""), "{}", OP,
	  { { MIN(20), 200, FOUND(ITEM("'s':'canceled'") "," ITEM("'s':'canceled','k':2")) },
	    { MIN(30), 200, FOUND(ITEM("'s':'canceled'") "," ITEM("'s':'canceled','k':2")) } },
	  "divergent", "cancelled_at_target", "judge[2]" },
	{ "two that are judged differently", INDEX(""), "{}", OP,
	  { { MIN(20), 200, FOUND(ITEM("'s':'canceled'") "," ITEM("'s':'void'")) } },
	  "ambiguous", "several_at_target", "skip" },
	{ "one that nothing judges", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT("'s':'void'") } }, "ambiguous", "unknown_state", "skip" },
	{ "one that nothing judges is not compared", INDEX(""), "{}", OP,
	  { { MIN(20), 200, HIT("'s':'void'," RIGHT) } }, "ambiguous", "unknown_state", "skip" },
	{ "skipped where nothing is behind", "{'probes':[{'get':'/x','found':{'status':'200'},'items':'/l',"
	  "'complete':{'/more':'false'},'where':{'/ref':{'is':'op.operation_id'}},'skip':[{'/s':'canceled'}]}]," REST "}",
	  "{}", OP, { { 1, 200, HIT("'s':'canceled'") } }, "divergent", "cancelled_at_target", "judge[2]" },

	/* data that reach past the send, and pages, over time */
	{ "T12 the data end before the send", "{'probes':[{'get':'/x','found':{'status':'200'},'items':'/l',"
	  "'where':{'/ref':{'is':'op.operation_id'}},'covers':{'until':'body./until'}}]," REST "}", "{}", OP,
	  { { MIN(20), 200, "{'l':[{'ref':'x'}],'until':'2026-03-01T11:00:00Z'}" } },
	  "inconclusive", "not_covered", "probe" },
	{ "T12 once they reach it an absence counts", "{'probes':[{'get':'/x','found':{'status':'200'},'items':'/l',"
	  "'where':{'/ref':{'is':'op.operation_id'}},'covers':{'until':'body./until'}}]," REST "}", "{}", OP,
	  { { MIN(20), 200, "{'l':[{'ref':'x'}],'until':'2026-03-01T12:15:00Z'}" },
	    { MIN(25), 200, "{'l':[],'until':'2026-03-01T11:00:00Z'}" },
	    { MIN(30), 200, "{'l':[],'until':'2026-03-01T12:25:00Z'}" } }, "missing", "absent_confirmed", "absence" },
	{ "P02 one page of several from a cache", "{'probes':[{'get':'/x','found':{'status':'200'},'items':'/l',"
	  "'where':{'/ref':{'is':'op.operation_id'}},'pages':{'next':'/next','into':'c'}}]," REST "}", "{}", OP,
	  { { MIN(6), 200, "{'l':[],'next':'a'}", "age: 61" }, { MIN(6), 200, "{'l':[]}" } },
	  "inconclusive", "not_covered", "probe" },
	{ "judge sees the headers of the item's own page", "{'probes':[{'get':'/x','found':{'status':'200'},'items':'/l',"
	  "'where':{'/ref':{'is':'op.operation_id'}},'pages':{'next':'/next','into':'c'}}],"
	  "'judge':[{'when':{'header.x-state':'live'},'class':'not_applicable'}],'existence_only':'true'}", "{}", OP,
	  { { 1, 200, "{'l':[{'ref':'op_00000001'}],'next':'a'}", "x-state: live" },
	    { 1, 200, "{'l':[]}", "x-state: dead" } }, "not_applicable", "judged", "judge[0]" },
	{ "an Age of a first probe in the look", "{'probes':[" BY_ID "," SEARCH("") "]," REST "}", "{}", OP_KNOWN,
	  { { MIN(6), 404, NONE, "age: 61" }, { MIN(6), 200, EMPTY } }, "inconclusive", "not_covered", "probe" },

	/* several operations with one question */
	{ "T53 the batch lacks ours, and so does the next probe",
	  "{'probes':[{'post':'/b','json':{'ids':'{batch|each id=business_key}'},'batch':{'max':'9','match':'/id'},"
	  "'found':{'status':'200'},'items':'/l','where':{'/id':{'is':'op.business_key'}}},"
	  "{'name':'archived','get':'/a/{business_key}','found':{'status':'200'},"
	  "'absent':{'status':'404','/error':'none'}}],'existence_only':'true','absence':{'confirm':'1'}}", "{}",
	  "{'business_key':'k1'}", { { MIN(20), 200, "{'l':[{'id':'k0'}]}" }, { MIN(20), 404, NONE } },
	  "missing", "absent_confirmed", "absence" },
	{ "T52 a batch holds no reference with a quote",
	  "{'probes':[{'post':'/b','json':{'ids':'{batch|each id=business_key}'},'batch':{'max':'9','match':'/id'},"
	  "'found':{'status':'200'},'items':'/l','where':{'/id':{'is':'op.business_key'}}}],'existence_only':'true'}",
	  "{}", "{'business_key':'k\\\"1'}", { { 1, 200, "{}" } }, "ambiguous", "bad_reference", "reference" },
	{ "T51 nor an empty one",
	  "{'probes':[{'post':'/b','json':{'ids':'{batch|each id=business_key}'},'batch':{'max':'9','match':'/id'},"
	  "'found':{'status':'200'},'items':'/l','where':{'/id':{'is':'op.business_key'}}}],'existence_only':'true'}",
	  "{}", "{}", { { 1, 200, "{}" } }, "ambiguous", "no_reliable_query", "applicable" },
};
/* clang-format on */

/* The second read asks with what the item said, and the look keeps both. */
static void
test_second_read(struct arena *arena)
{
	static const struct scripted answers[] = { { 1, 200, HIT(WRONG) },
						   { 1, 200, "{" RIGHT "}" } };
	struct scenario s = scenario_start(arena, BOTH(""), "{}", OP);

	scenario_look(arena, &s, answers, 2);
	tap_int((long long)s.look.count, 2, "two readings");
	tap_ok(s.look.reread, "the last of them is a second read");
	tap_str(s.look.readings[1]->request->path, "/o/r1", "by the id of the item");
	tap_str(s.verdict.reading->probe->name, "by_id", "it decides");
	tap_str(s.verdict.remote_id, "r1", "the id of the first item is kept");
	tap_str(s.op.remote_id, "", "the operation itself is not changed");
}

/* What is stored between looks. */
static void
test_earned(struct arena *arena)
{
	static const struct scripted answers[] = {
		{ MIN(20), 200, HIT(WRONG) },
		{ MIN(30), 200, HIT(WRONG) },
		{ MIN(31), 200, HIT(RIGHT) },
	};
	struct scenario s = scenario_start(arena, INDEX(""), "{}", OP);

	scenario_play(arena, &s, answers, 1);
	tap_int(s.op.earned.class, CLASS_DIVERGENT, "a run of its own");
	tap_int(s.op.earned.looks, 1, "one look");
	tap_int(s.op.earned.since_us - SENT_US, MIN(20) * 1000000LL, "since the first");
	tap_int(s.decision.action, ACTION_WAIT, "nothing is done");
	tap_ok(!s.op.disputed, "and nothing disputed");
	scenario_play(arena, &s, answers + 1, 1);
	tap_int(s.verdict.class, CLASS_DIVERGENT, "earned");
	scenario_play(arena, &s, answers + 2, 1);
	tap_int(s.op.earned.class, CLASS_NONE, "what is right ends the run");
}

/* Of one item that is skipped the journal may show what it shows of others. */
static void
test_skipped_item(struct arena *arena)
{
	static const struct scripted one[] = { { 1, 200, HIT("'s':'canceled'") } };
	static const struct scripted two[] = {
		{ 1, 200, FOUND(ITEM("'s':'canceled'") "," ITEM("'s':'canceled','k':2")) }
	};
	struct scenario s = scenario_start(arena, INDEX(""), "{}", OP);

	scenario_look(arena, &s, one, 1);
	tap_ok(s.verdict.item != NULL, "the one skipped item is what was seen");
	tap_ok(!s.verdict.several, "it is not several");
	scenario_look(arena, &s, two, 1);
	tap_ok(s.verdict.item == NULL, "of two it is not known which");
	tap_ok(!s.verdict.several, "attempts that were cancelled are no duplicates");
}

int
main(void)
{
	struct arena *arena = arena_create();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		verdict_row_play(arena, &rows[i]);
	test_second_read(arena);
	test_earned(arena);
	test_skipped_item(arena);
	arena_destroy(arena);
	return tap_done();
}
