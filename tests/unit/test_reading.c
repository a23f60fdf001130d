/* SPDX-License-Identifier: Apache-2.0
 *
 * What an answer is evidence of: status codes before rules, rules in their order, items and lists
 * that are not whole.
 */
#include "scenario.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "tap.h"

#define PROBE(rules) "{'probes':[{'get':'/x'," rules "}]}"
#define ALL                                                                                        \
	"'found':{'status':'200'},'gone':{'/state':'gone'},'several':{'/state':['gone','two']},"   \
	"'unfinished':{'/state':['gone','two','busy']},"                                           \
	"'absent':{'/state':['gone','two','busy','none']}"
#define FOUND "'found':{'status':'200'}"
#define LIST FOUND ",'items':'/l','where':{'/id':'1'}"

/* clang-format off */
static const struct row {
	const char *name, *policy;
	struct scripted answer;
	const char *kind, *reason; /* reason NULL: evidence */
	size_t items;
} rows[] = {
	/* status codes first, whatever the rules say */
	{ "408", PROBE("'absent':{'status':'408'}"), { 0, 408, "{}" }, "unavailable", "http_4xx" },
	{ "425", PROBE("'absent':{'status':'425'}"), { 0, 425, "{}" }, "unavailable", "http_4xx" },
	{ "429", PROBE("'absent':{'status':'429'}"), { 0, 429, "{}" }, "unavailable", "throttled" },
	{ "500", PROBE("'absent':{'status':'500'}"), { 0, 500, "{}" }, "unavailable", "http_5xx" },
	{ "503", PROBE("'found':{'status':'503'}"), { 0, 503, "{}" }, "unavailable", "throttled" },
	{ "599", PROBE("'found':{'status':'599'}"), { 0, 599, "{}" }, "unavailable", "http_5xx" },

	/* faults */
	{ "timeout", PROBE(FOUND), { .fault = REASON_TIMEOUT }, "unavailable", "timeout" },
	{ "dns", PROBE(FOUND), { .fault = REASON_DNS }, "unavailable", "dns" },
	{ "tls", PROBE(FOUND), { .fault = REASON_TLS }, "unavailable", "tls" },
	{ "transport", PROBE(FOUND), { .fault = REASON_TRANSPORT }, "unavailable", "transport" },
	{ "truncated, though the text is JSON", PROBE(FOUND), { 0, 200, "{}", .fault = REASON_TRUNCATED },
	  "unavailable", "truncated" },
	{ "too large", PROBE(FOUND), { 0, 200, "{}", .fault = REASON_TOO_LARGE }, "incomplete", "too_large" },

	/* the order of the rules */
	{ "gone before all", PROBE(ALL), { 0, 200, "{'state':'gone'}" }, "gone", NULL },
	{ "several before unfinished", PROBE(ALL), { 0, 200, "{'state':'two'}" }, "several", NULL },
	{ "unfinished before absent", PROBE(ALL), { 0, 200, "{'state':'busy'}" }, "unfinished", NULL },
	{ "absent before found", PROBE(ALL), { 0, 200, "{'state':'none'}" }, "absent", NULL },
	{ "found last", PROBE(ALL), { 0, 200, "{'state':'here'}" }, "found", NULL, 1 },
	{ "any of several conditions", PROBE("'found':[{'status':'201'},{'status':'200','/a':'1'}]"),
	  { 0, 200, "{'a':1}" }, "found", NULL, 1 },

	/* nothing recognises it */
	{ "a redirect", PROBE(FOUND), { 0, 301, "" }, "unavailable", "redirect" },
	{ "a 3xx that a rule recognises", PROBE("'several':{'status':'300'}"), { 0, 300, "{}" }, "several", NULL },
	{ "404", PROBE(FOUND), { 0, 404, "{}" }, "unavailable", "http_4xx" },
	{ "another 2xx", PROBE(FOUND), { 0, 204, "" }, "incomplete", "empty_body" },
	{ "another 2xx with a body", PROBE(FOUND), { 0, 202, "{}" }, "incomplete", "unrecognised" },
	{ "another 2xx with a page", PROBE(FOUND), { 0, 203, "<p>" }, "incomplete", "not_json" },

	/* found needs a body that can be read */
	{ "an empty body", PROBE(FOUND), { 0, 200, " \n" }, "incomplete", "empty_body" },
	{ "a page", PROBE(FOUND), { 0, 200, "<html>" }, "incomplete", "not_json" },
	{ "half a body", PROBE(FOUND), { 0, 200, "{'data':[" }, "incomplete", "not_json" },
	{ "a lone surrogate", PROBE(FOUND), { 0, 200, "{'n':'\\ud800'}" }, "incomplete", "not_json" },
	{ "a pair of surrogates", PROBE(FOUND), { 0, 200, "{'n':'\\ud83d\\ude00'}" }, "found", NULL, 1 },
	{ "a body that is null", PROBE(FOUND), { 0, 200, "null" }, "found", NULL, 1 },
	{ "HEAD needs none", "{'probes':[{'head':'/x'," FOUND "}]}", { 0, 200, "" }, "found", NULL, 1 },

	/* items */
	{ "no items: the body", PROBE(FOUND), { 0, 200, "[1,2]" }, "found", NULL, 1 },
	{ "the whole body as a list", PROBE(FOUND ",'items':''"), { 0, 200, "[1,2]" }, "found", NULL, 2 },
	{ "an object is one item", PROBE(FOUND ",'items':'/l'"), { 0, 200, "{'l':{'id':1}}" }, "found", NULL, 1 },
	{ "a missing path is an empty list", PROBE(FOUND ",'items':'/l'"), { 0, 200, "{}" }, "absent", NULL },
	{ "so is null", PROBE(FOUND ",'items':'/l'"), { 0, 200, "{'l':null}" }, "absent", NULL },
	{ "each", PROBE(FOUND ",'items':'/l','each':'/p'"), { 0, 200, "{'l':[{'p':{'id':1}},{'p':[{},{}]}]}" },
	  "found", NULL, 3 },
	{ "each without anything in it is no empty list", PROBE(FOUND ",'items':'/l','each':'/p'"),
	  { 0, 200, "{'l':[{'q':1}]}" }, "incomplete", "incomplete" },
	{ "two that one name selects", PROBE(FOUND ",'items':'/l/[k=a]/x'"),
	  { 0, 200, "{'l':[{'k':'a','x':[]},{'k':'a','x':[]}]}" }, "incomplete", "incomplete" },
	{ "where keeps ours", PROBE(LIST), { 0, 200, "{'l':[{'id':1},{'id':2}]}" }, "found", NULL, 1 },
	{ "where keeps two", PROBE(LIST), { 0, 200, "{'l':[{'id':1},{'id':2},{'id':'1'}]}" }, "found", NULL, 2 },
	{ "where keeps none", PROBE(LIST), { 0, 200, "{'l':[{'id':2}]}" }, "incomplete", "incomplete" },
	{ "an empty list", PROBE(LIST), { 0, 200, "{'l':[]}" }, "absent", NULL },
	{ "a list that says it is whole", PROBE(LIST ",'complete':{'/more':'false'}"),
	  { 0, 200, "{'l':[{'id':2}],'more':false}" }, "absent", NULL },
	{ "a list that says it is not", PROBE(LIST ",'complete':{'/more':'false'}"),
	  { 0, 200, "{'l':[],'more':true}" }, "incomplete", "incomplete" },
	{ "full: shorter is whole", PROBE(LIST ",'full':'2'"), { 0, 200, "{'l':[{'id':2}]}" }, "absent", NULL },
	{ "full: as long may be cut off", PROBE(LIST ",'full':'2'"), { 0, 200, "{'l':[{'id':2},{'id':3}]}" },
	  "incomplete", "incomplete" },
	{ "full: one of ours in it is not the only one for sure", PROBE(LIST ",'full':'2'"),
	  { 0, 200, "{'l':[{'id':1},{'id':3}]}" }, "incomplete", "incomplete" },
	{ "full: two of ours are two", PROBE(LIST ",'full':'2'"), { 0, 200, "{'l':[{'id':1},{'id':1}]}" },
	  "found", NULL, 2 },
	{ "an extra object never turns two into one", PROBE(LIST ",'full':'3'"),
	  { 0, 200, "{'l':[{'id':1},{'id':1},{'id':2}]}" }, "found", NULL, 2 },
};
/* clang-format on */

static void
test_row(struct arena *arena, const struct row *row)
{
	struct scenario s = scenario_start(arena, row->policy, "{}", "{}");
	const struct reading *r;
	bool ok;

	scenario_look(arena, &s, &row->answer, 1);
	r = s.look.readings[0];
	ok = strcmp(reading_kind_name(r->kind), row->kind) == 0 && r->items_count == row->items &&
	     (row->reason ? r->reason != REASON_COUNT &&
				    strcmp(reason_name(r->reason), row->reason) == 0
			  : r->reason == REASON_COUNT);
	tap_ok(ok, "%s", row->name);
	if (!ok)
		printf("# got %s %s, %zu items\n", reading_kind_name(r->kind),
		       r->reason == REASON_COUNT ? "-" : reason_name(r->reason), r->items_count);
}

static void
test_depth(struct arena *arena)
{
	char *deep = arena_alloc(arena, 100001);
	struct scripted answer = { 0, 200, deep };
	struct scenario s = scenario_start(arena, PROBE(FOUND), "{}", "{}");

	memset(deep, '[', 100000);
	scenario_look(arena, &s, &answer, 1);
	tap_str(reason_name(s.look.readings[0]->reason), "too_deep",
		"H02: a hundred thousand brackets");
}

/* Few bytes for each value, many for each node of the tree. */
static void
test_many_values(struct arena *arena)
{
	char *many = arena_alloc(arena, 2 * VALUE_NODES_MAX + 2), *at = many;
	struct scripted answer = { 0, 200, many };
	struct scenario s = scenario_start(arena, PROBE(FOUND), "{}", "{}");

	*at++ = '[';
	for (size_t i = 1; i < VALUE_NODES_MAX; i++)
		at = stpcpy(at, "1,");
	strcpy(at, "1]");
	scenario_look(arena, &s, &answer, 1);
	tap_str(reason_name(s.look.readings[0]->reason), "too_large",
		"H02: more values than a tree may have");
}

static void
test_digest(struct arena *arena)
{
	struct scripted abc = { 0, 200, "abc" }, none = { 0, 200, "" };
	struct scenario s = scenario_start(arena, PROBE(FOUND), "{}", "{}");

	scenario_look(arena, &s, &abc, 1);
	tap_str(s.look.readings[0]->response->body_sha256,
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"SHA-256 of the body");
	scenario_look(arena, &s, &none, 1);
	tap_str(s.look.readings[0]->response->body_sha256, "", "none without a body");
}

int
main(void)
{
	struct arena *arena = arena_create();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		test_row(arena, &rows[i]);
	test_depth(arena);
	test_many_values(arena);
	test_digest(arena);
	arena_destroy(arena);
	return tap_done();
}
