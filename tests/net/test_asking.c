/* SPDX-License-Identifier: Apache-2.0
 *
 * One reading of several requests, and one request for several readings: pages and batches.
 */
#include <stdlib.h>
#include <unistd.h>

#include "asking.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/percent.h"

enum { CROWD_MAX = 256 };

static struct locator
locator(const char *text)
{
	struct locator found = { 0 };
	struct err err = { 0 };

	tap_ok(locator_parse(arena, text, &found, &err), "%s can be read", text);
	return found;
}

static struct pointer
pointer(const char *text)
{
	struct pointer found = { 0 };
	struct err err = { 0 };

	tap_ok(pointer_parse(arena, text, &found, &err), "%s can be read", text);
	return found;
}

static struct template template(const char *text)
{
	struct template found = { 0 };
	struct err err = { 0 };

	tap_ok(template_parse(arena, text, &found, &err), "%s can be read", text);
	return found;
}

/* Lists at /data; ours is the one whose id is the business key. */
static struct probe *
lists(const char *path)
{
	const struct policy *policy = build_policy(
		arena, arena_printf(arena,
				    "{'existence_only':true,'probes':[{"
				    "'get':'%s','found':{'status':[200,207]},'items':'/data',"
				    "'where':{'/id':{'is':'op.business_key'}}}]}",
				    path));
	struct probe *probe = arena_new(arena, struct probe);

	*probe = policy->probes[0];
	probe->pages.max = 10;
	return probe;
}

static struct probe_target_options
begin_paged(const char *folder)
{
	begin();
	server_says("/fresh", "");
	return options("http", server.plain, folder);
}

static struct probe *
token_pages(const char *path)
{
	struct probe *probe = lists(path);

	probe->pages.kind = PAGING_NEXT;
	probe->pages.into = "cursor";
	probe->pages.from = locator("/next");
	return probe;
}

static struct seen
look_for(struct probe_target *target, const struct probe *probe, const char *key)
{
	struct seen seen = { 0 };

	op.business_key = key;
	start(target, probe, &seen);
	turn(base, &seen.calls, 1);
	return seen;
}

static void
test_tokens(void)
{
	struct probe_target_options with = begin_paged("");
	struct probe_target *target = probe_engine_add(engine, &with);
	const struct probe *probe = token_pages("/listed/3");
	struct seen seen = look_for(target, probe, "i7");

	expect(&seen, READING_FOUND, REASON_COUNT, "on the last of four pages");
	tap_int((long long)seen.reading->pages_count, 4, "all pages are in the reading");
	tap_str(server_says("/paged", "count"), "4", "each was asked for once");
	tap_str(server_says("/paged", "last"), "/listed/3?cursor=t3", "the last one by its token");
	seen = look_for(target, probe, "i9");
	expect(&seen, READING_ABSENT, REASON_COUNT, "on none of them");
}

/* Each page is a question to the rate; the slot is one. */
static void
test_rate_of_pages(void)
{
	struct probe_target_options with = begin_paged("");

	with.concurrent = 1;
	with.rate_count = 1;
	with.rate_period_us = 100 * MILLISECOND;
	with.rate_burst = 1;

	struct probe_target *target = probe_engine_add(engine, &with);
	int64_t began_us = clock_monotonic_us();
	struct seen seen = look_for(target, token_pages("/listed/3"), "i7");

	expect(&seen, READING_FOUND, REASON_COUNT, "at the pace of the rate");
	tap_ok(clock_monotonic_us() - began_us >= 300 * MILLISECOND,
	       "three pages waited for their token each");
	tap_int(probe_target_closed_us(target) > 0, 1, "all four were counted");
}

/* A page that fails is asked again, without those before it. */
static void
test_retry_of_page(void)
{
	struct probe_target_options with = begin_paged("");

	with.retry_attempts = 2;
	with.retry_backoff_us = 20 * MILLISECOND;
	with.retry_max_us = SECOND;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct seen seen = look_for(target, token_pages("/scripted/200n1-200n2-503-200/x"), "none");

	expect(&seen, READING_ABSENT, REASON_COUNT, "the third page at the second try");
	tap_int((long long)seen.reading->pages_count, 3, "three pages");
	tap_str(server_says("/paged", "count"), "4", "four requests");
	tap_str(server_says("/paged", "last"), "/scripted/200n1-200n2-503-200/x?cursor=t2",
		"the same page twice");
	server_says("/fresh", "");
	seen = look_for(target, token_pages("/scripted/200n1-500/y"), "none");
	expect(&seen, READING_UNAVAILABLE, REASON_HTTP_5XX, "a page that does not come");
	tap_str(server_says("/paged", "count"), "3", "was asked for twice");
}

static void
count_answer(void *owner, const char *target, enum reason cause, int64_t elapsed_us)
{
	++*(int *)owner;
}

static void
test_cancelled_between_pages(void)
{
	struct probe_target_options with = begin_paged("");

	with.rate_count = 1;
	with.rate_period_us = 100 * MILLISECOND;
	with.rate_burst = 1;

	struct probe_target *target = probe_engine_add(engine, &with);
	struct seen seen = { 0 };
	int answers = 0;
	struct probe_run *run;

	probe_engine_on_answered(engine, count_answer, &answers);
	op.business_key = "none";
	run = start(target, token_pages("/listed/3"), &seen);
	turn(base, &answers, 2);
	probe_cancel(run);
	turn_for(base, 250 * MILLISECOND);
	tap_int(seen.calls, 0, "what was cancelled between pages is not told");
	tap_str(server_says("/paged", "count"), "2", "and its pages are not asked for");
}

#define HERE "http://127.0.0.1:*" /* the address of the server */

static const struct {
	const char *link;
	bool followed;
} links[] = {
	{ HERE "/base/end", true },
	{ HERE "/base/end?a=b&c=%20", true },
	{ HERE "/base", true },
	{ "/base/end", true },
	{ "end", true },
	{ "../end", true },
	{ "?page=2", true },
	{ "HTTP://127.0.0.1:*/base/end", true },
	{ HERE "/end", false },
	{ "/end", false },
	{ "/bases/end", false },
	{ "/base/../end", false },
	{ HERE "/base/../end", false },
	{ "/base/%2e%2E/end", false },
	{ "/base/.%2e", false },
	{ "/base/a\\..\\..\\end", false },
	{ "../../end", false },
	{ "http://127.0.0.1/base/end", false },
	{ "http://localhost:*/base/end", false },
	{ "https://127.0.0.1:*/base/end", false },
	{ "http://ada@127.0.0.1:*/base/end", false },
	{ "//example.com/base/end", false },
	{ "ftp://127.0.0.1:*/base/end", false },
	{ "javascript:alert(1)", false },
};

/* The link with the port in it, as one segment of a path. */
static const char *
naming(const char *link)
{
	const char *star = strchr(link, '*');
	CLEANUP(strbuf_finish) struct strbuf whole = { 0 }, coded = { 0 };

	strbuf_add(&whole, link, star != NULL ? (size_t)(star - link) : strlen(link));
	if (star != NULL)
		strbuf_printf(&whole, "%d%s", server.plain, star + 1);
	percent_add(&coded, strbuf_text(&whole), whole.len, false);
	return arena_printf(arena, "/linked/%s", strbuf_text(&coded));
}

static void
test_links(void)
{
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		struct probe_target_options with = begin_paged("/base");
		struct probe_target *target = probe_engine_add(engine, &with);
		struct probe *probe = lists(naming(links[i].link));
		bool followed = links[i].followed;
		struct seen seen;

		probe->pages.kind = PAGING_LINK;
		seen = look_for(target, probe, "i2");
		expect(&seen, followed ? READING_FOUND : READING_INCOMPLETE,
		       followed ? REASON_COUNT : REASON_INCOMPLETE, links[i].link);
		tap_str(server_says("/paged", "count"), followed ? "2" : "1", links[i].link);
	}
}

/* Many operations, each with an arena of its own, and what was told of them. */
struct crowd {
	struct probe_target *target;
	const struct probe *probe;
	int started, calls;
	struct arena *arenas[CROWD_MAX];
	struct operation ops[CROWD_MAX];
	struct probe_run *runs[CROWD_MAX];
	const struct reading *readings[CROWD_MAX];
};

struct place {
	struct crowd *crowd;
	int number;
};
static struct place places[CROWD_MAX];

static void
on_one(void *owner, const struct probe_answer *answer)
{
	struct place *place = owner;

	place->crowd->calls++;
	place->crowd->readings[place->number] = answer->reading;
}

static void
add_one(struct crowd *crowd, const char *key)
{
	int number = crowd->started++;
	struct arena *own = crowd->arenas[number] = arena_create();
	struct probe_question question = { .arena = own, .probe = crowd->probe };

	crowd->ops[number] = build_operation(own, "{'operation_id':'op_1'}");
	crowd->ops[number].business_key = arena_strdup(own, key);
	question.op = &crowd->ops[number];
	places[number] = (struct place){ crowd, number };
	crowd->runs[number] = probe_start(crowd->target, &question, on_one, &places[number]);
}

/* Keys "a0", "a1" … */
static void
add_many(struct crowd *crowd, int count)
{
	for (int i = 0; i < count; i++)
		add_one(crowd, arena_printf(arena, "a%d", i));
}

static void
disperse(struct crowd *crowd)
{
	for (int i = 0; i < crowd->started; i++)
		arena_destroy(crowd->arenas[i]);
}

static struct probe *
batch_of(int max, const char *path)
{
	struct probe *probe = lists(path);
	struct named_template *ids = arena_new(arena, struct named_template);

	*ids = (struct named_template){ "ids", template("{batch|join ,}") };
	probe->query = ids;
	probe->query_count = 1;
	probe->batch_max = max;
	probe->batch_match = pointer("/id");
	probe->batch_field = OP_BUSINESS_KEY;
	return probe;
}

static struct crowd
crowd_of(struct probe_target *target, int max, const char *path)
{
	return (struct crowd){ .target = target, .probe = batch_of(max, path) };
}

static int
count_kind(const struct crowd *crowd, enum reading_kind kind)
{
	int count = 0;

	for (int i = 0; i < crowd->started; i++)
		count += crowd->readings[i] != NULL && crowd->readings[i]->kind == kind;
	return count;
}

static void
test_batch(void)
{
	struct probe_target_options with = begin_paged("");
	struct crowd crowd;

	with.concurrent = 1;
	crowd = crowd_of(probe_engine_add(engine, &with), 100, "/many/207");
	add_many(&crowd, 100);
	turn(base, &crowd.calls, 100);
	tap_int(count_kind(&crowd, READING_FOUND), 100, "a hundred readings");
	tap_str(server_says("/paged", "count"), "1", "from one request");
	tap_ok(crowd.readings[0]->response == crowd.readings[99]->response,
	       "the answer was read once");
	tap_str(crowd.readings[42]->items[0].value->first->text, "a42", "each finds its own");
	disperse(&crowd);
}

static void
test_parts(void)
{
	struct probe_target_options with = begin_paged("");
	struct crowd crowd = crowd_of(probe_engine_add(engine, &with), 10, "/many/207");

	add_one(&crowd, "a1");
	add_one(&crowd, "bad2");
	add_one(&crowd, "no3");
	turn(base, &crowd.calls, 3);
	tap_int(count_kind(&crowd, READING_FOUND), 2, "what is there");
	tap_int(crowd.readings[2]->kind, READING_ABSENT, "what is missing, alone");
	tap_str(server_says("/paged", "count"), "1", "asked before the batch was full");
	disperse(&crowd);
}

/* The room of a target counts what fits into a request. */
static void
test_room(void)
{
	struct probe_target_options with = begin_paged("");
	struct policy policy = { .probes_count = 1 };
	struct crowd crowd;

	with.concurrent = 2;
	crowd = crowd_of(probe_engine_add(engine, &with), 10, "/many/207");
	policy.probes = crowd.probe;
	tap_int(probe_target_room(crowd.target, &policy), 20, "two slots, ten in each");
	add_many(&crowd, 1);
	tap_int(probe_target_room(crowd.target, &policy), 19, "one has its place");
	tap_int(probe_target_free(crowd.target), 1, "and its batch a slot");
	add_many(&crowd, 14);
	tap_int(probe_target_room(crowd.target, &policy), 5, "a second batch");
	add_many(&crowd, 5);
	tap_int(probe_target_room(crowd.target, &policy), 0, "both are full");
	add_one(&crowd, "late");
	turn(base, &crowd.calls, 21);
	tap_int(count_kind(&crowd, READING_FOUND), 21, "what came too early waited for its slot");
	tap_str(server_says("/paged", "count"), "3", "three requests");
	disperse(&crowd);
}

/* Beside a batch that takes more, who needs a slot of his own and has none keeps others back. */
static void
test_room_beside_single(void)
{
	struct probe_target_options with = begin_paged("");
	struct probe probes[2];
	struct policy policy = { .probes = probes, .probes_count = 2 };
	struct crowd crowd = { 0 };
	struct seen seen[3] = { 0 };

	with.concurrent = 2;
	crowd.target = probe_engine_add(engine, &with);
	probes[0] = *lists("/slow");
	probes[1] = *batch_of(10, "/many/207");
	crowd.probe = &probes[1];
	start(crowd.target, &probes[0], &seen[0]);
	tap_int(probe_target_room(crowd.target, &policy), 10, "one slot, ten in it");
	add_many(&crowd, 1);
	tap_int(probe_target_room(crowd.target, &policy), 9, "places in the batch");
	start(crowd.target, &probes[0], &seen[1]);
	tap_int(probe_target_room(crowd.target, &policy), 9, "also while it has to wait");
	start(crowd.target, &probes[0], &seen[2]);
	usleep(10); /* its time has come, the loop did not turn */
	tap_int(probe_target_room(crowd.target, &policy), 0, "not when others wait too");
	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		turn(base, &seen[i].calls, 1);
	turn(base, &crowd.calls, 1);
	tap_int(count_kind(&crowd, READING_FOUND), 1, "all of them are answered");
	disperse(&crowd);
}

/* One after the other, in the same turn: the rate counts requests. */
static void
test_rate_of_batches(void)
{
	struct probe_target_options with = begin_paged("");
	struct crowd crowd;

	with.rate_count = 1;
	with.rate_period_us = 200 * MILLISECOND;
	with.rate_burst = 1;
	crowd = crowd_of(probe_engine_add(engine, &with), 50, "/many/207");
	add_many(&crowd, 100);
	turn(base, &crowd.calls, 50);
	tap_int(crowd.calls, 50, "one request at first");
	turn(base, &crowd.calls, 100);
	tap_int(count_kind(&crowd, READING_FOUND), 100, "then the other");
	tap_str(server_says("/paged", "count"), "2", "two requests for a hundred");
	disperse(&crowd);
}

static void
test_refused_batch(void)
{
	struct probe_target_options with = begin_paged("");
	struct crowd crowd;

	with.retry_attempts = 2;
	with.retry_backoff_us = 20 * MILLISECOND;
	with.retry_max_us = SECOND;
	crowd = crowd_of(probe_engine_add(engine, &with), 10, "/many/429a100-207");
	add_many(&crowd, 10);
	turn(base, &crowd.calls, 10);
	tap_int(count_kind(&crowd, READING_FOUND), 10, "429: asked again as a whole");
	tap_str(server_says("/paged", "count"), "2", "with one more request");
	disperse(&crowd);

	with = begin_paged("");
	crowd = crowd_of(probe_engine_add(engine, &with), 10, "/many/500");
	add_many(&crowd, 10);
	turn(base, &crowd.calls, 10);
	tap_int(count_kind(&crowd, READING_UNAVAILABLE), 10, "a failure is everybody's");
	disperse(&crowd);
}

static void
test_cancelled_in_batch(void)
{
	struct probe_target_options with = begin_paged("");
	struct crowd crowd;

	with.breaker_failures = 0;
	crowd = crowd_of(probe_engine_add(engine, &with), 10, "/many/207");
	add_many(&crowd, 6);
	probe_cancel(crowd.runs[0]); /* before it was sent */
	arena_reset(crowd.arenas[0]);
	turn_for(base, 10 * MILLISECOND);
	probe_cancel(crowd.runs[3]); /* under way */
	arena_reset(crowd.arenas[3]);
	turn(base, &crowd.calls, 4);
	turn_for(base, 30 * MILLISECOND);
	tap_int(crowd.calls, 4, "the others are told, those are not");
	tap_int(count_kind(&crowd, READING_FOUND), 4, "what they asked for");
	disperse(&crowd);

	crowd = crowd_of(probe_engine_add(engine, &with), 10, "/many/never");
	add_many(&crowd, 3);
	turn_for(base, 10 * MILLISECOND);
	for (int i = 0; i < 3; i++)
		probe_cancel(crowd.runs[i]);
	tap_int(probe_target_free(crowd.target), 8, "without anybody, the slot is free again");
	disperse(&crowd);

	crowd = crowd_of(probe_engine_add(engine, &with), 10, "/many/never");
	add_many(&crowd, 3);
	turn_for(base, 10 * MILLISECOND);
	begin(); /* ends the engine */
	tap_int(crowd.calls, 0, "nothing is told when the engine ends");
	disperse(&crowd);
}

/* The first that is told stops all others, as a pass does when it fails. */
static struct crowd *stopped;

static void
on_stop(void *owner, const struct probe_answer *answer)
{
	stopped->calls++;
	for (int i = 1; i < stopped->started; i++)
		probe_cancel(stopped->runs[i]);
}

static void
test_stopped_by_one(void)
{
	struct probe_target_options with = begin_paged("");
	struct crowd crowd = crowd_of(probe_engine_add(engine, &with), 10, "/many/207");
	struct probe_question question = { .arena = arena, .probe = crowd.probe, .op = &op };

	stopped = &crowd;
	op.business_key = "first";
	crowd.runs[0] = probe_start(crowd.target, &question, on_stop, NULL);
	crowd.arenas[0] = arena_create();
	crowd.started = 1;
	add_many(&crowd, 4);
	turn(base, &crowd.calls, 1);
	turn_for(base, 30 * MILLISECOND);
	tap_int(crowd.calls, 1, "one that is told may cancel the others");
	tap_int(probe_target_free(crowd.target), 8, "and the slot is free");
	disperse(&crowd);
}

int
main(void)
{
	setup();
	test_tokens();
	test_rate_of_pages();
	test_retry_of_page();
	test_cancelled_between_pages();
	test_links();
	test_batch();
	test_parts();
	test_room();
	test_room_beside_single();
	test_rate_of_batches();
	test_refused_batch();
	test_cancelled_in_batch();
	test_stopped_by_one();
	return teardown();
}
