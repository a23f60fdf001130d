/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists over several pages: what is asked next, when it ends, when the list is whole, and what of
 * all that is evidence.
 */
#include "scenario.h"

#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "tap.h"

#define LIST "'found':{'status':'200'},'items':'/l','where':{'/id':'1'}"
#define PROBE(more) "{'probes':[{'get':'/x'," LIST "," more "}]}"
#define NEXT PROBE("'pages':{'next':'/next','into':'cursor'}")
#define NEXT_2 PROBE("'pages':{'next':'/next','into':'cursor','max':'2'}")
#define RULES                                                                                      \
	PROBE("'pages':{'next':'/next','into':'cursor'},'absent':{'status':'404','/e':'none'},"    \
	      "'gone':{'status':'410'},'unfinished':{'status':'202'},'several':{'status':'300'}")
#define LINK PROBE("'pages':{'link':'next'}")
#define NUMBER PROBE("'pages':{'number':'page','total':'/total'}")
#define OFFSET PROBE("'pages':{'offset':'from','size':'2'}")
#define COVERS(more) PROBE("'covers':{'until':'body./until'}" more)
#define BATCH(more)                                                                                \
	"{'probes':[{'post':'/x','json':{'ids':'{batch|each id=business_key}'},"                   \
	"'batch':{'max':'100','match':'/id'},'found':{'status':'200'},'items':'/l',"               \
	"'where':{'/id':{'is':'op.business_key'}}" more "}]}"
#define KEY "{'business_key':'k1'}"

#define OTHERS "{'l':[{'id':2},{'id':3}]"
#define OURS "{'l':[{'id':1,'n':'a'},{'id':3}]"
#define OURS_TOO "{'l':[{'id':1,'n':'b'}]"

/* clang-format off */
static const struct row {
	const char *name, *policy, *op;
	struct scripted pages[5];
	size_t asked;
	const char *kind, *reason; /* reason NULL: evidence */
	size_t items, skipped;
} rows[] = {
	/* a token */
	{ "a token that is absent ends the list", NEXT, "{}", { { 0, 200, OTHERS "}" } }, 1, "absent" },
	{ "so does null", NEXT, "{}", { { 0, 200, OTHERS ",'next':null}" } }, 1, "absent" },
	{ "and an empty one", NEXT, "{}", { { 0, 200, OTHERS ",'next':''}" } }, 1, "absent" },
	{ "ours is on the second page", NEXT, "{}",
	  { { 0, 200, OTHERS ",'next':'a'}" }, { 0, 200, OURS "}" } }, 2, "found", NULL, 1 },
	{ "ours is on the first page", NEXT, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 200, OTHERS "}" } }, 2, "found", NULL, 1 },
	{ "T6 behind an empty page there is more", NEXT, "{}",
	  { { 0, 200, "{'l':[],'next':'a'}" }, { 0, 200, OURS "}" } }, 2, "found", NULL, 1 },
	{ "one on each of two pages are two", NEXT, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 200, OURS_TOO "}" } }, 2, "found", NULL, 2 },
	{ "the same on two pages is one", NEXT, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 200, "{'l':[{'n':'a','id':1}]}" } }, 2, "found", NULL, 1 },
	{ "the same twice on one page are two", NEXT, "{}",
	  { { 0, 200, "{'l':[{'id':1},{'id':1}]}" } }, 1, "found", NULL, 2 },
	{ "pages without end: the same token again", NEXT, "{}",
	  { { 0, 200, OTHERS ",'next':'a'}" }, { 0, 200, OTHERS ",'next':'a'}" } }, 2, "incomplete", "incomplete" },
	{ "pages in a circle", NEXT, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 200, OTHERS ",'next':'b'}" }, { 0, 200, OTHERS ",'next':'a'}" } },
	  3, "incomplete", "incomplete" },
	{ "most pages, and more to come", NEXT_2, "{}",
	  { { 0, 200, OTHERS ",'next':'a'}" }, { 0, 200, OTHERS ",'next':'b'}" } }, 2, "incomplete", "incomplete" },
	{ "one of ours in them is not known to be the only one", NEXT_2, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 200, OTHERS ",'next':'b'}" } }, 2, "incomplete", "incomplete" },
	{ "two of ours in them are two", NEXT_2, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 200, OURS_TOO ",'next':'b'}" } }, 2, "found", NULL, 2 },
	{ "most pages, and no more", NEXT_2, "{}",
	  { { 0, 200, OTHERS ",'next':'a'}" }, { 0, 200, OTHERS ",'next':null}" } }, 2, "absent" },
	{ "a token may be a number", NEXT, "{}",
	  { { 0, 200, OTHERS ",'next':7}" }, { 0, 200, OTHERS "}" } }, 2, "absent" },
	{ "an object is no token", NEXT, "{}", { { 0, 200, OTHERS ",'next':{}}" } }, 1, "incomplete", "incomplete" },
	{ "nor is a text with NUL", NEXT, "{}",
	  { { 0, 200, OTHERS ",'next':'a\\u0000b'}" } }, 1, "incomplete", "incomplete" },
	{ "nor are two", PROBE("'pages':{'next':'/n/*','into':'cursor'}"), "{}",
	  { { 0, 200, OTHERS ",'n':['a','b']}" } }, 1, "incomplete", "incomplete" },
	{ "complete is asked of the last page", PROBE("'pages':{'next':'/next','into':'c'},'complete':{'/more':'false'}"),
	  "{}", { { 0, 200, OTHERS ",'more':true,'next':'a'}" }, { 0, 200, OTHERS ",'more':false}" } }, 2, "absent" },
	{ "the last page says that it is not", PROBE("'pages':{'next':'/next','into':'c'},'complete':{'/more':'false'}"),
	  "{}", { { 0, 200, OTHERS ",'more':false,'next':'a'}" }, { 0, 200, OTHERS ",'more':true}" } },
	  2, "incomplete", "incomplete" },

	/* every page must be found */
	{ "no answer to the second page", RULES, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, .fault = REASON_TIMEOUT } }, 2, "unavailable", "timeout" },
	{ "503 to the second page", RULES, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 503 } }, 2, "unavailable", "throttled" },
	{ "403 to the second page", RULES, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 403, "{}" } }, 2, "unavailable", "http_4xx" },
	{ "the second page is a page of HTML", RULES, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 200, "<html>" } }, 2, "incomplete", "not_json" },
	{ "the second page is cut off", RULES, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 200, "{}", .fault = REASON_TRUNCATED } },
	  2, "unavailable", "truncated" },
	{ "no rule knows the second page", RULES, "{}",
	  { { 0, 200, OURS ",'next':'a'}" }, { 0, 206, "{}" } }, 2, "incomplete", "unrecognised" },
	{ "absent is about the first page only", RULES, "{}",
	  { { 0, 200, OTHERS ",'next':'a'}" }, { 0, 404, "{'e':'none'}" } }, 2, "incomplete", "incomplete" },
	{ "so is gone", RULES, "{}",
	  { { 0, 200, OTHERS ",'next':'a'}" }, { 0, 410 } }, 2, "incomplete", "incomplete" },
	{ "and several", RULES, "{}",
	  { { 0, 200, OTHERS ",'next':'a'}" }, { 0, 300 } }, 2, "incomplete", "incomplete" },
	{ "and unfinished", RULES, "{}",
	  { { 0, 200, OTHERS ",'next':'a'}" }, { 0, 202 } }, 2, "incomplete", "incomplete" },
	{ "a page that did not come yet", NEXT, "{}", { { 0, 200, OURS ",'next':'a'}" } }, 1, "incomplete", "incomplete" },

	/* the count of pages */
	{ "one page of one", NUMBER, "{}", { { 0, 200, OTHERS ",'total':1}" } }, 1, "absent" },
	{ "no page at all", NUMBER, "{}", { { 0, 200, "{'l':[],'total':0}" } }, 1, "absent" },
	{ "three pages of three", NUMBER, "{}",
	  { { 0, 200, OTHERS ",'total':3}" }, { 0, 200, OTHERS ",'total':'3'}" }, { 0, 200, OURS ",'total':3}" } },
	  3, "found", NULL, 1 },
	{ "no count of pages", NUMBER, "{}", { { 0, 200, OURS "}" } }, 1, "incomplete", "incomplete" },
	{ "a count that is null", NUMBER, "{}", { { 0, 200, OTHERS ",'total':null}" } }, 1, "incomplete", "incomplete" },
	{ "a count that is no number", NUMBER, "{}",
	  { { 0, 200, OTHERS ",'total':'many'}" } }, 1, "incomplete", "incomplete" },
	{ "a count that the second page lacks", NUMBER, "{}",
	  { { 0, 200, OTHERS ",'total':2}" }, { 0, 200, OTHERS "}" } }, 2, "incomplete", "incomplete" },
	{ "a count beyond the most pages", PROBE("'pages':{'number':'page','total':'/total','max':'2'}"), "{}",
	  { { 0, 200, OTHERS ",'total':1e9}" }, { 0, 200, OTHERS ",'total':1e9}" } }, 2, "incomplete", "incomplete" },

	/* the size of pages */
	{ "a page shorter than the size ends it", OFFSET, "{}", { { 0, 200, "{'l':[{'id':2}]}" } }, 1, "absent" },
	{ "full pages go on, to an empty one", OFFSET, "{}",
	  { { 0, 200, OTHERS "}" }, { 0, 200, OURS "}" }, { 0, 200, "{'l':[]}" } }, 3, "found", NULL, 1 },
	{ "elements are counted, not what each finds in them",
	  PROBE("'each':'/in','pages':{'offset':'from','size':'2'}"), "{}",
	  { { 0, 200, "{'l':[{'in':[]},{'in':[]}]}" }, { 0, 200, "{'l':[{'in':[{'id':1}]}]}" } }, 2, "found", NULL, 1 },

	/* links */
	{ "no link ends it", LINK, "{}", { { 0, 200, OTHERS "}" } }, 1, "absent" },
	{ "a link goes on", LINK, "{}",
	  { { 0, 200, OTHERS "}", "link: </x?p=2>; rel=\"next\"" }, { 0, 200, OURS "}", "link: </x?p=1>; rel=prev" } },
	  2, "found", NULL, 1 },
	{ "a link to the same page again", LINK, "{}",
	  { { 0, 200, OTHERS "}", "link: </x?p=2>; rel=next" }, { 0, 200, OTHERS "}", "link: </x?p=2>; rel=next" } },
	  2, "incomplete", "incomplete" },

	/* how far the data reach; the last send was at 12:00:00 */
	{ "T12 the data end before the send", COVERS(""), "{}",
	  { { 0, 200, OTHERS ",'until':'2026-03-01T11:59:59Z'}" } }, 1, "incomplete", "not_covered" },
	{ "the data reach the send: that makes the list whole", COVERS(""), "{}",
	  { { 0, 200, OTHERS ",'until':'2026-03-01T12:00:00Z'}" } }, 1, "absent" },
	{ "T12 but not while an attempt may send again", COVERS(""), "{'attempt_until':60}",
	  { { 0, 200, OTHERS ",'until':'2026-03-01T12:00:59Z'}" } }, 1, "incomplete", "not_covered" },
	{ "nothing says how far", COVERS(""), "{}", { { 0, 200, OTHERS "}" } }, 1, "incomplete", "not_covered" },
	{ "nor can it be read", COVERS(""), "{}", { { 0, 200, OTHERS ",'until':'soon'}" } }, 1, "incomplete", "not_covered" },
	{ "without a zone it cannot", COVERS(""), "{}",
	  { { 0, 200, OTHERS ",'until':'2026-03-02T12:00:00'}" } }, 1, "incomplete", "not_covered" },
	{ "it does not matter to what is found", COVERS(""), "{}",
	  { { 0, 200, OURS ",'until':'2020-01-01T00:00:00Z'}" } }, 1, "found", NULL, 1 },
	{ "an empty list is not covered either", COVERS(""), "{}", { { 0, 200, "{'l':[]}" } }, 1, "incomplete", "not_covered" },
	{ "a list that is cut off is no more whole for it", COVERS(",'full':'2'"), "{}",
	  { { 0, 200, OTHERS ",'until':'2026-03-02T12:00:00Z'}" } }, 1, "incomplete", "incomplete" },
	{ "the earliest of the pages counts", COVERS(",'pages':{'next':'/next','into':'c'}"), "{}",
	  { { 0, 200, OTHERS ",'next':'a','until':'2026-03-01T11:00:00Z'}" },
	    { 0, 200, OTHERS ",'until':'2026-03-01T13:00:00Z'}" } }, 2, "incomplete", "not_covered" },
	{ "all pages reach the send", COVERS(",'pages':{'next':'/next','into':'c'}"), "{}",
	  { { 0, 200, OTHERS ",'next':'a','until':'2026-03-01T12:30:00Z'}" },
	    { 0, 200, OTHERS ",'until':'Sun, 01 Mar 2026 13:00:00 GMT'}" } }, 2, "absent" },
	{ "what was never sent is covered by any data", COVERS(""), "{'sent':null}",
	  { { 0, 200, OTHERS ",'until':'2020-01-01T00:00:00Z'}" } }, 1, "absent" },

	/* several operations with one question */
	{ "ours among others", BATCH(""), KEY, { { 0, 200, "{'l':[{'id':'k0'},{'id':'k1'},{'id':'k2'}]}" } },
	  1, "found", NULL, 1 },
	{ "T53 the answer lacks ours", BATCH(""), KEY, { { 0, 200, "{'l':[{'id':'k0'},{'id':'k2'}]}" } }, 1, "absent" },
	{ "T53 it lacks ours and is not whole", BATCH(",'complete':{'/more':'false'}"), KEY,
	  { { 0, 200, "{'l':[{'id':'k0'}],'more':true}" } }, 1, "incomplete", "incomplete" },
	{ "what there is of ours counts all the same", BATCH(",'complete':{'/more':'false'}"), KEY,
	  { { 0, 200, "{'l':[{'id':'k1'}],'more':true}" } }, 1, "found", NULL, 1 },
	{ "ours twice", BATCH(""), KEY, { { 0, 200, "{'l':[{'id':'k1'},{'id':'k1'}]}" } }, 1, "found", NULL, 2 },
	{ "T54 the part for ours failed",
	  "{'probes':[{'post':'/x','json':{'ids':'{batch|each id=business_key}'},"
	  "'batch':{'max':'9','match':'/id'},'found':{'status':'207','/failed/[id={business_key}]':{'present':false}},"
	  "'items':'/l','where':{'/id':{'is':'op.business_key'}}}]}",
	  KEY, { { 0, 207, "{'l':[{'id':'k0'}],'failed':[{'id':'k1','code':500}]}" } },
	  1, "incomplete", "unrecognised" },
	{ "T54 the part for another failed",
	  "{'probes':[{'post':'/x','json':{'ids':'{batch|each id=business_key}'},"
	  "'batch':{'max':'9','match':'/id'},'found':{'status':'207','/failed/[id={business_key}]':{'present':false}},"
	  "'items':'/l','where':{'/id':{'is':'op.business_key'}}}]}",
	  KEY, { { 0, 207, "{'l':[{'id':'k1'}],'failed':[{'id':'k0','code':500}]}" } }, 1, "found", NULL, 1 },

	/* items that do not count beside others */
	{ "T27 one that counts and one that does not", PROBE("'complete':{'/m':0},'skip':[{'/s':'x'}]"), "{}",
	  { { 0, 200, "{'m':0,'l':[{'id':1,'s':'x'},{'id':1,'s':'y'}]}" } }, 1, "found", NULL, 1, 1 },
	{ "none that counts", PROBE("'complete':{'/m':0},'skip':[{'/s':'x'},{'/s':'z'}]"), "{}",
	  { { 0, 200, "{'m':0,'l':[{'id':1,'s':'x'},{'id':1,'s':'z'},{'id':2}]}" } }, 1, "found", NULL, 0, 2 },
	{ "others than ours are not skipped either", PROBE("'complete':{'/m':0},'skip':[{'/s':'x'}]"), "{}",
	  { { 0, 200, "{'m':0,'l':[{'id':2,'s':'x'}]}" } }, 1, "absent" },
	{ "a list that is not whole may have one that counts", PROBE("'complete':{'/m':0},'skip':[{'/s':'x'}]"), "{}",
	  { { 0, 200, "{'m':1,'l':[{'id':1,'s':'x'},{'id':1,'s':'x','n':2}]}" } }, 1, "incomplete", "incomplete" },
	{ "or a second one", PROBE("'complete':{'/m':0},'skip':[{'/s':'x'}]"), "{}",
	  { { 0, 200, "{'m':1,'l':[{'id':1,'s':'x'},{'id':1,'s':'y'}]}" } }, 1, "incomplete", "incomplete" },
	{ "a skipped item on two pages is one", PROBE("'pages':{'next':'/next','into':'c'},'skip':[{'/s':'x'}]"), "{}",
	  { { 0, 200, "{'l':[{'id':1,'s':'x'}],'next':'a'}" }, { 0, 200, "{'l':[{'id':1,'s':'x'}]}" } },
	  2, "found", NULL, 0, 1 },
};
/* clang-format on */

static void
test_row(struct arena *arena, const struct row *row)
{
	struct scenario s = scenario_start(arena, row->policy, "{}", row->op);
	const struct reading *r;
	size_t count = 0;
	bool ok;

	while (row->pages[count].status || row->pages[count].fault)
		count++;
	scenario_look(arena, &s, row->pages, count);
	r = s.look.readings[0];
	ok = strcmp(reading_kind_name(r->kind), row->kind) == 0 && r->items_count == row->items &&
	     r->skipped_count == row->skipped && r->pages_count == row->asked &&
	     count == row->asked &&
	     (row->reason ? r->reason != REASON_COUNT &&
				    strcmp(reason_name(r->reason), row->reason) == 0
			  : r->reason == REASON_COUNT);
	tap_ok(ok, "%s", row->name);
	if (!ok)
		printf("# got %s %s, %zu items, %zu skipped, %zu pages\n",
		       reading_kind_name(r->kind),
		       r->reason == REASON_COUNT ? "-" : reason_name(r->reason), r->items_count,
		       r->skipped_count, r->pages_count);
}

/* What the header Link says; NULL: that is all, "?": it cannot be read. */
static const struct {
	const char *headers, *next;
} links[] = {
	{ "link: </x?p=2>; rel=next", "/x?p=2" },
	{ "link: <https://api.example/x?p=2>; rel=\"next\"", "https://api.example/x?p=2" },
	{ "link: <?p=2>;REL=NEXT", "?p=2" },
	{ "link: </1>; rel=\"prev\", </3>; rel=\"next\", </9>; rel=\"last\"", "/3" },
	{ "link: </1>; rel=prev\nlink: </3>; rel=next", "/3" },
	{ "link: </3>; rel=\"last next\"", "/3" },
	{ "link: </3>; title=\"a, b; rel=prev\"; rel=next", "/3" },
	{ "link: </3>; title=\"a \\\" b\"; rel=next", "/3" },
	{ "link: </a,b;c>; rel=next", "/a,b;c" },
	{ "link: </3> ; a ; b=1 ; rel = next", "/3" },
	{ "link: , </3>; rel=next ,", "/3" },
	{ "link: </3>; rel=next, </4>; rel=next", "/3" },
	{ "link: </3>; rel=prev; rel=next", NULL },
	{ "link: </3>; rel=nextone", NULL },
	{ "link: </3>; rel=\"x-next\"", NULL },
	{ "link: </3>; rev=next", NULL },
	{ "link: </3>; rel=next; anchor=\"/other\"", NULL },
	{ "link: </3>", NULL },
	{ "x-link: </3>; rel=next", NULL },
	{ "link: <>; rel=next", "?" },
	{ "link: </3; rel=next", "?" },
	{ "link: /3; rel=next", "?" },
	{ "link: </3>; rel=\"next", "?" },
	{ "link: </3> rel=next", "?" },
};

static void
test_links(struct arena *arena)
{
	struct scenario s = scenario_start(arena, LINK, "{}", "{}");

	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		const struct scripted answer = { 0, 200, OTHERS "}", links[i].headers };
		const struct reading *reading;
		char *name = arena_strdup(arena, links[i].headers);
		const char *got = NULL;

		scenario_look(arena, &s, &answer, 1);
		reading = s.look.readings[0];
		if (reading->next != NULL)
			got = reading->next->link;
		else if (reading->kind == READING_INCOMPLETE)
			got = "?";
		name[strcspn(name, "\n")] = '\0';
		tap_str(got, links[i].next, name);
	}
}

/* What is asked for each page. */
static const struct {
	const char *policy;
	const char *first, *second, *third; /* query or body */
	const char *body, *body_too;	    /* of the first and the second answer */
} questions[] = {
	{ "{'probes':[{'get':'/x','query':{'q':'a b'},'items':'/l','found':{'status':'200'},"
	  "'pages':{'next':'/next','into':'cursor'}}]}",
	  "q=a%20b", "q=a%20b&cursor=%2B%2F%3D", "q=a%20b&cursor=z", "{'next':'+/='}",
	  "{'next':'z'}" },
	{ "{'probes':[{'get':'/x','query':{'cursor':'*','q':'a'},'items':'/l',"
	  "'found':{'status':'200'},'pages':{'next':'/next','into':'cursor'}}]}",
	  "cursor=%2A&q=a", "q=a&cursor=b", "q=a&cursor=c", "{'next':'b'}", "{'next':'c'}" },
	{ "{'probes':[{'get':'/x','items':'/l','found':{'status':'200'},"
	  "'pages':{'number':'page','total':'/n'}}]}",
	  "page=1", "page=2", "page=3", "{'n':3}", "{'n':3}" },
	{ "{'probes':[{'get':'/x','query':{'page':'0'},'items':'/l','found':{'status':'200'},"
	  "'pages':{'number':'page','total':'/n'}}]}",
	  "page=0", "page=1", "page=2", "{'n':3}", "{'n':3}" },
	{ "{'probes':[{'get':'/x','items':'/l','found':{'status':'200'},"
	  "'pages':{'offset':'skip','size':'2'}}]}",
	  "skip=0", "skip=2", "skip=4", "{'l':[1,2]}", "{'l':[3,4]}" },
	{ "{'probes':[{'get':'/x','query':{'start':'1'},'items':'/l','found':{'status':'200'},"
	  "'pages':{'offset':'start','size':'2'}}]}",
	  "start=1", "start=3", "start=5", "{'l':[1,2]}", "{'l':[3,4]}" },
	{ "{'probes':[{'post':'/x','json':{'q':'a'},'items':'/l','found':{'status':'200'},"
	  "'pages':{'next':'/next','into':'after'}}]}",
	  "{\"q\":\"a\"}", "{\"q\":\"a\",\"after\":\"b\\\"\"}", "{\"q\":\"a\",\"after\":\"7\"}",
	  "{'next':'b\\u0022'}", "{'next':7}" },
	{ "{'probes':[{'post':'/x','json':{'after':null,'q':'a'},'items':'/l',"
	  "'found':{'status':'200'},'pages':{'next':'/next','into':'after'}}]}",
	  "{\"after\":null,\"q\":\"a\"}", "{\"q\":\"a\",\"after\":\"b\"}",
	  "{\"q\":\"a\",\"after\":\"c\"}", "{'next':'b'}", "{'next':'c'}" },
	{ "{'probes':[{'post':'/x','json':{'from':10},'items':'/l','found':{'status':'200'},"
	  "'pages':{'offset':'from','size':'2'}}]}",
	  "{\"from\":10}", "{\"from\":12}", "{\"from\":14}", "{'l':[1,2]}", "{'l':[3,4]}" },
	{ "{'probes':[{'post':'/x','json':{'from':'0'},'items':'/l','found':{'status':'200'},"
	  "'pages':{'offset':'from','size':'2'}}]}",
	  "{\"from\":\"0\"}", "{\"from\":\"2\"}", "{\"from\":\"4\"}", "{'l':[1,2]}",
	  "{'l':[3,4]}" },
	{ "{'probes':[{'post':'/x','json':{},'items':'/l','found':{'status':'200'},"
	  "'pages':{'number':'page','total':'/n'}}]}",
	  "{\"page\":1}", "{\"page\":2}", "{\"page\":3}", "{'n':3}", "{'n':3}" },
	{ "{'probes':[{'post':'/x','form':{'q':'a'},'items':'/l','found':{'status':'200'},"
	  "'pages':{'number':'page','total':'/n'}}]}",
	  "q=a&page=1", "q=a&page=2", "q=a&page=3", "{'n':3}", "{'n':3}" },
	{ "{'probes':[{'post':'/x','query':{'page':'1'},'json':{'q':'a'},'items':'/l',"
	  "'found':{'status':'200'},'pages':{'number':'page','total':'/n'}}]}",
	  "page=1", "page=2", "page=3", "{'n':3}", "{'n':3}" },
};

static const char *
asked(const struct request *request)
{
	return request->query != NULL ? request->query : request->body;
}

static void
test_questions(struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
		const struct scripted answers[] = { { 0, 200, questions[i].body },
						    { 0, 200, questions[i].body_too },
						    { 0, 200, "{}" } };
		struct scenario s = scenario_start(arena, questions[i].policy, "{}", "{}");
		const struct reading *reading;

		scenario_look(arena, &s, answers, 3);
		reading = s.look.readings[0];
		tap_int((long long)reading->pages_count, 3, "three pages");
		tap_str(asked(reading->pages[0].request), questions[i].first, "the first page");
		if (reading->pages_count < 3)
			continue;
		tap_str(asked(reading->pages[1].request), questions[i].second, "the second page");
		tap_str(asked(reading->pages[2].request), questions[i].third, "the third page");
	}
}

/* The address of a link is handed on as it came. */
static void
test_link_question(struct arena *arena)
{
	static const struct scripted answers[] = {
		{ 0, 200, OTHERS "}", "link: <https://other.example/x?p=2#f>; rel=next" },
		{ 0, 200, OTHERS "}" },
	};
	struct scenario s = scenario_start(arena, LINK, "{}", "{}");
	const struct reading *reading;

	scenario_look(arena, &s, answers, 2);
	reading = s.look.readings[0];
	tap_str(reading->pages[0].request->link, NULL, "the first page has no link");
	tap_str(reading->pages[1].request->link, "https://other.example/x?p=2#f", "the second has");
	tap_str(reading->pages[1].request->query, NULL, "and no query");
}

/* One answer about many operations: what each of them keeps does not grow with the list. */
static void
test_batch_memory(struct arena *arena)
{
	enum { OPERATIONS = 100 };
	struct policy *policy = build_policy(arena, BATCH(""));
	struct response response = { .fault = REASON_COUNT, .status = 200 };
	struct exchange page = { .response = &response };
	struct operation op = build_operation(arena, KEY);
	struct answer answer = { .rules = build_target(arena, "{}"),
				 .probe = policy->probes,
				 .op = &op,
				 .pages = &page,
				 .count = 1 };
	struct arena *own = arena_create();
	char *body = arena_strdup(arena, "{\"l\":[");
	size_t found = 0;

	for (int i = 0; i < OPERATIONS; i++)
		body = arena_printf(arena, "%s%s{\"id\":\"k%d\"}", body, i ? "," : "", i);
	response.body = arena_printf(arena, "%s]}", body);
	response.body_len = strlen(response.body);
	response_read(arena, answer.probe, &response);
	for (int i = 0; i < OPERATIONS; i++) {
		op.business_key = arena_printf(arena, "k%d", i);
		found += reading_judge(own, &answer)->items_count;
	}
	tap_int((long long)found, OPERATIONS, "each operation finds its own");
	tap_ok(arena_bytes(own) < OPERATIONS * 512, "and keeps little more than that (%zu bytes)",
	       arena_bytes(own));
	arena_destroy(own);
}

/* A list of ones, with a token for the next page. */
static char *
page_of(struct arena *arena, size_t values, const char *token)
{
	char *body = arena_alloc(arena, 2 * values + strlen(token) + 64), *at;

	at = stpcpy(body, "{'l':[1");
	for (size_t i = 1; i < values; i++)
		at = stpcpy(at, ",1");
	at = stpcpy(at, "],'next':'");
	at = stpcpy(at, token);
	stpcpy(at, "'}");
	return body;
}

/* A target that goes on and on is not followed for ever, nor is an endless token. */
static void
test_limits(struct arena *arena)
{
	struct scenario s = scenario_start(
		arena, PROBE("'pages':{'next':'/next','into':'c','max':'1000'}"), "{}", "{}");
	struct scripted answers[20] = { 0 };
	char *token = arena_alloc(arena, 8 * 1024 + 2);

	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		answers[i] =
			(struct scripted){ 0, 200,
					   page_of(arena, 100000, arena_printf(arena, "t%zu", i)) };
	scenario_look(arena, &s, answers, ARRAY_LEN(answers));
	tap_ok(s.look.readings[0]->pages_count < 10, "H02: pages of many values: %zu are asked for",
	       s.look.readings[0]->pages_count);
	tap_str(reading_kind_name(s.look.readings[0]->kind), "incomplete",
		"and the list is not whole");
	tap_ok(s.look.readings[0]->next == NULL, "no more is asked for");
	memset(token, 'a', 8 * 1024 + 1);
	answers[0].body = page_of(arena, 1, token);
	scenario_look(arena, &s, answers, 1);
	tap_ok(s.look.readings[0]->next == NULL,
	       "H02: nothing is asked with a token of 8 KiB and more");
	answers[0].body = page_of(arena, 1, token + 1);
	scenario_look(arena, &s, answers, 1);
	tap_ok(s.look.readings[0]->next != NULL, "one of 8 KiB is one");
}

int
main(void)
{
	struct arena *arena = arena_create();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		test_row(arena, &rows[i]);
	test_links(arena);
	test_questions(arena);
	test_link_question(arena);
	test_batch_memory(arena);
	test_limits(arena);
	arena_destroy(arena);
	return tap_done();
}
