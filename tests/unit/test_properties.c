/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of the judgement over random policies, lists and histories. Most compare two looks that
 * differ in one thing that must not matter. A fixed seed and one that is new each time; a seed given
 * as argument repeats a run.
 */
#include "scenario.h"

#include <inttypes.h>
#include <stdlib.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/random.h"
#include "reconciled/base/strbuf.h"
#include "tap.h"

enum { LISTS = 3000, HISTORIES = 600, LOOKS = 16, ITEMS_MAX = 6, FULL = 50 };

/* What declares that the list is whole; none of them: only an empty list is. */
static const char *const wholeness[] = { "'complete':{'/more':'false'}", "'full':'50'",
					 "'complete':{'/more':'false'},'full':'50'", "" };
static const char *const skips[] = { "", "'skip':[{'/state':'void'}],",
				     "'skip':[{'/state':'void'},{'/kind':'refund'}]," };
static const char *const several[] = { "ambiguous", "divergent" };
static const char *const outcomes[] = { "{}", "{'older':'missing'}",
					"{'older':'missing','newer':'not_applicable'}" };

/* Items that `where` takes for ours. */
static const char *const ours[] = {
	"{'ref':'op_00000001','amount':10,'version':7}",
	"{'ref':'op_00000001','amount':'10.00','version':'7'}",
	"{'ref':'op_00000001','amount':10.01,'version':7}",
	"{'ref':'op_00000001','amount':10,'version':6}",
	"{'ref':'op_00000001','amount':10,'version':8}",
	"{'ref':'op_00000001','amount':null,'version':7}",
	"{'ref':'op_00000001','version':7}",
	"{'ref':'op_00000001','amount':[10],'version':7}",
	"{'ref':'op_00000001','amount':10,'version':7,'state':'busy'}",
	"{'ref':'op_00000001','amount':10,'version':7,'state':'odd'}",
	"{'ref':'op_00000001','amount':10,'version':7,'kind':'refund'}",
};
static const char ours_void[] = "{'ref':'op_00000001','amount':10,'version':7,'state':'void'}";
static const char *const foreign[] = {
	"{'ref':'op_00000002','amount':10,'version':7}",
	"{'amount':10,'version':7}",
	"{'ref':null}",
	"{'ref':['op_00000002']}",
	"{'ref':{'op_00000001':1},'amount':10,'version':7}",
	"'op_00000001'",
	"7",
	"[]",
	"{}",
};
/* Answers that tell nothing about the effect. */
static const struct scripted no_evidence[] = {
	{ .fault = REASON_TIMEOUT },
	{ .fault = REASON_REFUSED },
	{ .fault = REASON_DNS },
	{ .fault = REASON_TLS },
	{ .fault = REASON_TRUNCATED, .status = 200, .body = "{'more':false,'data':[]}" },
	{ .fault = REASON_TOO_LARGE, .status = 200, .body = "{'more':false,'data':[]}" },
	{ .status = 200, .body = "" },
	{ .status = 200, .body = " \n" },
	{ .status = 200, .body = "<html>{}</html>" },
	{ .status = 200, .body = "{'more':false,'data':[" },
	{ .status = 200, .body = "{'more':false,'more':false,'data':[]}" },
	{ .status = 200, .body = "{'more':true,'data':[]}" },
	{ .status = 200, .body = "{'errors':[{'message':'x'}],'more':false,'data':[]}" },
	{ .status = 200, .body = "{'errors':[{'code':'SLOW'}],'more':false,'data':[]}" },
	{ .status = 204, .body = "" },
	{ .status = 206, .body = "{'more':false,'data':[]}" },
	{ .status = 301, .body = "{'more':false,'data':[]}" },
	{ .status = 401, .body = "{'more':false,'data':[]}" },
	{ .status = 403, .body = "{'more':false,'data':[]}" },
	{ .status = 404, .body = "<html>" },
	{ .status = 404, .body = "{'error':'no_such_route'}" },
	{ .status = 408, .body = "{'more':false,'data':[]}" },
	{ .status = 425, .body = "{'more':false,'data':[]}" },
	{ .status = 429, .body = "{'error':'not_found'}" },
	{ .status = 500, .body = "{'more':false,'data':[]}" },
	{ .status = 502, .body = "{'error':'not_found'}" },
	{ .status = 503, .body = "{'more':false,'data':[]}" },
	{ .status = 200, .body = "{'more':false,'data':[]}", .headers = "age: 999999999" },
	{ .status = 200, .body = "{'more':false,'data':[]}", .control = CONTROL_LOST },
};

static uint64_t state;

static size_t
draw(size_t below)
{
	return random_next(&state) % below;
}

#define PICK(list) ((list)[draw(ARRAY_LEN(list))])

struct list {
	const char *items[ITEMS_MAX + 1];
	size_t count;
	bool more;
};

/* One random policy, and what of it decides which comparisons are fair. */
struct world {
	struct arena *arena;
	struct scenario start;
	bool declared; /* a list can be known to be whole */
	bool has_more; /* /more says whether it is */
	bool skips_void;
};

static struct world
make_world(struct arena *arena)
{
	size_t whole = draw(ARRAY_LEN(wholeness)), skip = draw(ARRAY_LEN(skips));
	const char *policy = arena_printf(
		arena,
		"{'probes':[{'get':'/p','found':{'status':'200','/data':{'present':'true'}},"
		"'absent':{'status':'404','/error':'not_found'},'items':'/data',%s%s%s"
		"'where':{'/ref':{'is':'op.operation_id'}}}],'on_several':'%s',"
		"'absence':{'confirm':'%zu','over':'%zum'},'give_up':'%zu','outcome':%s,"
		"'judge':[{'when':{'/state':'busy'},'class':'waiting'},"
		"{'when':{'/state':'void'},'class':'divergent'},"
		"{'when':{'/state':{'present':'true'}},'class':'ambiguous'}],"
		"'compare':{'amount':{'found':'/amount','type':'number','is':'op./expected/"
		"amount'},"
		"'version':{'found':'/version','type':'version','is':'op.version'}}}",
		wholeness[whole], *wholeness[whole] ? "," : "", skips[skip], PICK(several),
		1 + draw(3), draw(20), 2 + draw(20), PICK(outcomes));
	const char *target = "{'throttled':[{'/errors/*/code':'SLOW'}],"
			     "'broken':[{'/errors/*/message':{'present':'true'}}]}";
	const char *op =
		draw(2) ? "{'version':'7','expected':{'amount':'10'},'superseded_by':'op_2'}"
			: "{'version':'7','expected':{'amount':'10'}}";

	return (struct world){
		.arena = arena,
		.start = scenario_start(arena, policy, target, op),
		.declared = *wholeness[whole] != '\0',
		.has_more = whole == 0 || whole == 2,
		.skips_void = skip > 0,
	};
}

static struct list
make_list(void)
{
	struct list list = { .count = draw(ITEMS_MAX), .more = draw(5) == 0 };

	for (size_t i = 0; i < list.count; i++)
		if (draw(2))
			list.items[i] = PICK(foreign);
		else
			list.items[i] = draw(4) ? PICK(ours) : ours_void;
	return list;
}

static const char *
body_of(struct arena *arena, const struct list *list)
{
	CLEANUP(strbuf_finish) struct strbuf out = { 0 };

	strbuf_printf(&out, "{'more':%s,'data':[", list->more ? "true" : "false");
	for (size_t i = 0; i < list->count; i++)
		strbuf_printf(&out, "%s%s", i ? "," : "", list->items[i]);
	strbuf_puts(&out, "]}");
	return arena_strdup(arena, out.data);
}

/* One look well after the window, at an operation of which nothing is known yet. */
static struct verdict
verdict_on(const struct world *world, const struct list *list)
{
	struct scenario s = world->start;
	const struct scripted answer = { 4000, 200, body_of(world->arena, list) };

	scenario_look(world->arena, &s, &answer, 1);
	return s.verdict;
}

static bool
same_verdict(const struct verdict *a, const struct verdict *b)
{
	return a->class == b->class && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->rule, b->rule) == 0 && a->several == b->several;
}

/* Counts, and what was seen when something did not hold for the first time. */
struct property {
	const char *name;
	int tried, failed;
	char *example; /* owned */
};

enum { ORDER, UNRELATED, EXTRA, EQUAL_FIELDS, NO_EVIDENCE, KEPT, PART, ELSEWHERE, PROPERTIES };

static struct property properties[PROPERTIES] = {
	[ORDER] = { "the order of a list changes no verdict" },
	[UNRELATED] = { "an item that is not ours changes nothing in a list that is whole" },
	[EXTRA] = { "one object more never turns two into one" },
	[EQUAL_FIELDS] = { "correct only with every compared field equal" },
	[NO_EVIDENCE] = { "no evidence, however often, leads neither to missing nor to correct" },
	[KEPT] = { "a look without evidence leaves class and earned run as they were" },
	[PART] = { "a part of a list proves neither absence nor that ours is the only one" },
	[ELSEWHERE] = { "absent in one place and no evidence in another is no evidence" },
};

static void
record(size_t which, bool held, const char *example)
{
	struct property *property = &properties[which];

	property->tried++;
	if (held)
		return;
	if (property->failed++ == 0)
		property->example = strdup(example);
}

static void
try_order(const struct world *world, const struct list *list, const struct verdict *before)
{
	struct list shuffled = *list;
	struct verdict after;

	for (size_t i = shuffled.count; i > 1; i--) {
		size_t j = draw(i);
		const char *item = shuffled.items[j];

		shuffled.items[j] = shuffled.items[i - 1];
		shuffled.items[i - 1] = item;
	}
	after = verdict_on(world, &shuffled);
	/* Which of several skipped items is named is not promised. */
	record(ORDER, same_verdict(before, &after), body_of(world->arena, &shuffled));
}

static void
try_unrelated(const struct world *world, const struct list *list, const struct verdict *before)
{
	struct list longer = *list;
	struct verdict after;

	if (!world->declared && list->count == 0)
		return; /* an empty list was whole, and one with a stranger in it is not known to be */
	longer.items[longer.count++] = PICK(foreign);
	after = verdict_on(world, &longer);
	record(UNRELATED, same_verdict(before, &after), body_of(world->arena, &longer));
}

static size_t
count_ours(const struct world *world, const struct list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->count; i++) {
		bool skipped = world->skips_void && list->items[i] == ours_void;

		n += strstr(list->items[i], "'ref':'op_00000001'") != NULL && !skipped &&
		     strstr(list->items[i], "refund") == NULL;
	}
	return n;
}

static void
try_extra(const struct world *world, const struct list *list)
{
	struct list longer = *list;
	struct verdict after;

	if (count_ours(world, list) < 2)
		return;
	longer.items[longer.count++] = draw(2) ? PICK(ours) : ours_void;
	after = verdict_on(world, &longer);
	record(EXTRA, after.several && strcmp(after.rule, "several") == 0,
	       body_of(world->arena, &longer));
}

static void
try_part(const struct world *world, const struct list *list)
{
	struct list part = *list;
	struct verdict after;

	if (!world->has_more || count_ours(world, list) > 1)
		return;
	part.more = true;
	for (size_t i = 0; i < part.count; i++)
		if (strstr(part.items[i], "refund"))
			return;
	after = verdict_on(world, &part);
	record(PART, after.class == CLASS_INCONCLUSIVE && strcmp(after.reason, "incomplete") == 0,
	       body_of(world->arena, &part));
}

static void
check_correct(const struct verdict *verdict, const char *example)
{
	bool equal = verdict->compared_count == 2;

	if (verdict->class != CLASS_CORRECT)
		return;
	for (size_t i = 0; i < verdict->compared_count; i++)
		equal = equal && verdict->compared[i].result == COMPARED_EQUAL;
	record(EQUAL_FIELDS, equal, example);
}

static void
try_list(struct arena *arena)
{
	struct world world = make_world(arena);
	struct list list = make_list();
	struct verdict verdict = verdict_on(&world, &list);

	check_correct(&verdict, body_of(arena, &list));
	try_order(&world, &list, &verdict);
	try_unrelated(&world, &list, &verdict);
	try_extra(&world, &list);
	try_part(&world, &list);
}

static bool
same_run(const struct earned *a, const struct earned *b)
{
	return a->class == b->class && a->looks == b->looks && a->since_us == b->since_us;
}

static struct scripted
random_evidence(struct arena *arena)
{
	struct list list = make_list();

	if (draw(2))
		return (struct scripted){ .status = 404, .body = "{'error':'not_found'}" };
	list.count = draw(2) ? list.count : 0;
	return (struct scripted){ .status = 200, .body = body_of(arena, &list) };
}

/*
 * A history with looks of both kinds, or of none that is evidence. An undeclared list makes some of
 * no_evidence usable: such policies are left out here.
 */
static void
try_history(struct arena *arena)
{
	struct world world = make_world(arena);
	struct scenario s = world.start;
	bool only_noise = draw(2);
	int at_s = 0;

	if (!world.has_more)
		return;
	for (int i = 0; i < LOOKS && !status_is_final(s.op.status); i++) {
		bool noise = only_noise || draw(2);
		struct scripted answer = noise ? PICK(no_evidence) : random_evidence(arena);
		struct operation before = s.op;
		const char *shown = answer.body ? answer.body : "(no body)";

		answer.at_s = at_s += 400 + (int)draw(2000);
		scenario_look(arena, &s, &answer, 1);
		check_correct(&s.verdict, shown);
		if (noise && strcmp(s.verdict.reason, "give_up") != 0)
			record(KEPT,
			       s.verdict.class == CLASS_INCONCLUSIVE &&
				       s.op.class == before.class && s.op.status == before.status &&
				       same_run(&s.op.earned, &before.earned),
			       shown);
		if (noise)
			record(NO_EVIDENCE,
			       s.verdict.class == CLASS_INCONCLUSIVE ||
				       s.verdict.class == CLASS_AMBIGUOUS,
			       shown);
	}
}

/* Absent where it is asked first; who is asked next cannot tell. */
static void
try_elsewhere(struct arena *arena)
{
	static const char policy[] =
		"{'probes':[{'name':'first','get':'/p','found':{'status':'200'},"
		"'absent':{'status':'404','/error':'not_found'}},"
		"{'name':'second','get':'/q','found':{'status':'200','/data':{'present':'true'}},"
		"'absent':{'status':'404','/error':'not_found'},'items':'/data',"
		"'complete':{'/more':'false'},'where':{'/ref':{'is':'op.operation_id'}}}],"
		"'absence':{'confirm':'1'},'give_up':'100',"
		"'compare':{'amount':{'found':'/amount','type':'number','is':'op./expected/"
		"amount'}}}";
	static const char target[] = "{'throttled':[{'/errors/*/code':'SLOW'}],"
				     "'broken':[{'/errors/*/message':{'present':'true'}}]}";
	struct scenario s = scenario_start(arena, policy, target, "{'expected':{'amount':'10'}}");

	for (size_t i = 0; i < ARRAY_LEN(no_evidence); i++) {
		struct scripted answers[] = { { .status = 404, .body = "{'error':'not_found'}" },
					      no_evidence[i] };

		answers[0].at_s = answers[1].at_s = 4000 + (int)i * 100;
		answers[0].control = answers[1].control;
		scenario_look(arena, &s, answers, 2);
		record(ELSEWHERE, s.verdict.class == CLASS_INCONCLUSIVE && s.op.earned.looks == 0,
		       answers[1].body ? answers[1].body : "(no body)");
	}
}

static void
run(uint64_t seed)
{
	struct arena *arena = arena_create();

	printf("# seed %" PRIu64 "\n", seed);
	state = seed;
	for (int i = 0; i < LISTS; i++) {
		try_list(arena);
		arena_reset(arena);
	}
	for (int i = 0; i < 10; i++) {
		try_elsewhere(arena);
		arena_reset(arena);
	}
	for (int i = 0; i < HISTORIES; i++) {
		try_history(arena);
		arena_reset(arena);
	}
	arena_destroy(arena);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		run(strtoull(argv[1], NULL, 10));
	else
		run(20260301);
	if (argc == 1)
		run(random_seed());
	for (size_t i = 0; i < PROPERTIES; i++) {
		struct property *property = &properties[i];

		tap_ok(property->failed == 0 && property->tried >= 100, "%s (%d looks)",
		       property->name, property->tried);
		if (property->failed)
			printf("# %d failed, first: %s\n", property->failed, property->example);
		free(property->example);
	}
	return tap_done();
}
