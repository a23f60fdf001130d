/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal's evidence: what it says, what it hides, that any database stores it, and which looks
 * it calls the same.
 */
#include "scenario.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/evidence.h"
#include "tap.h"

static struct hmac *key;

#define POLICY                                                                                     \
	"{'probes':[{'name':'by_key','get':'/customers/{business_key}','found':{'status':'200'},"  \
	"'absent':{'status':'404','/error':'not_found'}}],"                                        \
	"'judge':[{'when':{'/archived':'true'},'class':'divergent'}],"                             \
	"'compare':{'version':{'found':'/version','type':'version','is':'op.version'},"            \
	"'email':{'found':'/email','is':'op./expected/email'},"                                    \
	"'state':{'found':'/state','one_of':['live']}},"                                           \
	"'evidence':{'keep':['/id','/version'],'hash':['/email']}}"
#define OP "{'business_key':'c42','version':'7','expected':{'email':'secret-a@example.com'}}"

static char *
evidence_of(struct arena *arena, struct scenario *s, char ret_digest[static 65])
{
	struct strbuf out = { 0 };
	const struct evidence_of of = { s->policy, &s->op, &s->look, &s->verdict, &s->decision };
	char *text;

	evidence_write(&out, arena, key, &of, ret_digest);
	text = arena_strndup(arena, out.data, out.len);
	strbuf_finish(&out);
	return text;
}

static char *
play(struct arena *arena, const char *policy, const char *op, const struct scripted *answer,
     char ret_digest[static 65])
{
	struct scenario s = scenario_start(arena, policy, "{}", op);

	scenario_look(arena, &s, answer, 1);
	return evidence_of(arena, &s, ret_digest);
}

static bool
is_json(struct arena *arena, const char *text)
{
	const struct value *value;

	return value_read_json(arena, text, strlen(text), &value) == VALUE_OK;
}

static void
has(const char *text, const char *part, const char *name)
{
	if (!tap_ok(strstr(text, part) != NULL, "%s", name))
		printf("# want: %s\n# in:   %s\n", part, text);
}

static void
lacks(const char *text, const char *part, const char *name)
{
	if (!tap_ok(strstr(text, part) == NULL, "%s", name))
		printf("# in: %s\n", text);
}

static void
test_contents(struct arena *arena)
{
	static const struct scripted answer = {
		900, 200, "{'id':'c9','version':6,'email':'secret-b@example.com','state':'odd'}"
	};
	char digest[65], hash[22], *text = play(arena, POLICY, OP, &answer, digest);

	tap_ok(is_json(arena, text), "it is JSON");
	has(text, "{\"target\":\"test_target\",\"probe\":\"by_key\",", "target and probe");
	has(text, "\"request\":{\"method\":\"GET\",\"url\":\"/customers/{business_key}\"}",
	    "the URL as a template");
	has(text, "\"reading\":\"found\",\"decided\":\"divergent-review\"", "reading and row");
	has(text,
	    "\"rules\":[{\"rule\":\"judge[0]\",\"held\":false},{\"rule\":\"compare\",\"held\":true}"
	    "]",
	    "rules");
	has(text, "{\"field\":\"version\",\"result\":\"older\",\"expected\":\"7\",\"found\":\"6\"}",
	    "a kept field");
	has(text,
	    "{\"field\":\"state\",\"result\":\"different\",\"expected\":\"live\",\"found\":\"hmac:",
	    "what the policy itself expects is shown, what was found is not");
	has(text, "\"kept\":{\"/id\":\"c9\",\"/version\":\"6\"}", "kept values");
	has(text, "\"response\":{\"status\":200,\"bytes\":68,\"sha256\":\"",
	    "status, size, digest");
	has(text, "\"ms\":42}", "time");
	has(text, "\"looks\":{\"absences\":0,\"since\":null,\"control\":\"none\"}", "looks");
	lacks(text, "secret", "promise 11: values that are not kept appear nowhere");
	lacks(text, "odd", "promise 11: nor does an unknown state");
	lacks(text, "c42", "promise 11: nor the reference in the URL");
	evidence_hash(key, "secret-b@example.com", 20, hash);
	has(text, arena_printf(arena, "\"hashed\":{\"/email\":\"%s\"}", hash), "a hashed value");
}

#define ABSENT "'absent':{'status':'404','/e':'none'}"
#define SENDING                                                                                    \
	"{'probes':[{'get':'/x','found':{'status':'200'}," ABSENT "}],'existence_only':'true',"    \
	"'absence':{'confirm':'1'},'idempotent':'natural','actions':{'missing':'requeue'}}"

/* Each clause with its result, and another result is another look. */
static void
test_clauses(struct arena *arena)
{
	static const struct scripted found = { 900, 404, "{'e':'none'}", .control = CONTROL_FOUND };
	char digest[65], other[65];
	const char *text = play(arena, SENDING, "{}", &found, digest);

	has(text, "\"decided\":\"missing-requeue\"", "the row");
	has(text,
	    "\"clauses\":[{\"name\":\"idempotent\",\"ok\":true},{\"name\":\"same_key\",\"ok\":true}"
	    ","
	    "{\"name\":\"key_fresh\",\"ok\":true},{\"name\":\"attempt_over\",\"ok\":true},"
	    "{\"name\":\"wanted\",\"ok\":true},{\"name\":\"undisputed\",\"ok\":true},"
	    "{\"name\":\"fresh\",\"ok\":true},{\"name\":\"control\",\"ok\":true},"
	    "{\"name\":\"limits\",\"ok\":true},{\"name\":\"guard\",\"ok\":true}]",
	    "every clause");
	text = play(arena, SENDING, "{'entity_state':'cancelled'}", &found, other);
	has(text, "\"decided\":\"missing-requeue-review\"", "another row");
	has(text, "{\"name\":\"wanted\",\"ok\":false}", "the clause that does not hold");
	tap_ok(strcmp(digest, other) != 0, "is another look");
	text = play(arena, POLICY, OP, &found, other);
	lacks(text, "clauses", "no clauses where nothing is sent again");
}

/* HMAC-SHA-256 of RFC 4231, test case 2. */
static void
test_hash(void)
{
	struct hmac *jefe = hmac_create("Jefe", 4);
	char hash[22];

	for (int i = 0; i < 2; i++) {
		evidence_hash(jefe, "what do ya want for nothing?", 28, hash);
		tap_str(hash, "hmac:5bdcc146bf60754e", "a keyed hash");
	}
	hmac_destroy(jefe);
}

static void
test_no_page(struct arena *arena)
{
	static const struct scripted page = { 900, 502, "<html><h1>Bad Gateway</h1></html>" };
	char digest[65], *text = play(arena, POLICY, OP, &page, digest);

	has(text, "\"reading\":\"unavailable\",\"error\":\"http_5xx\"", "P01: the reason");
	has(text, "\"status\":502,\"bytes\":33,\"sha256\":\"", "P01: status, size, digest");
	lacks(text, "Gateway", "P01: not the page");
	lacks(text, "compared", "nothing was compared");
}

static void
test_nothing_asked(struct arena *arena)
{
	static const struct scripted unused = { 900, 200, "{}" };
	char digest[65], *text = play(arena, POLICY, "{'version':'7'}", &unused, digest);

	tap_ok(is_json(arena, text), "nothing was asked: still JSON");
	has(text, "\"rules\":[{\"rule\":\"applicable\",\"held\":true}]", "the rule");
	lacks(text, "response", "no response");
}

static void
test_looks(struct arena *arena)
{
	static const struct scripted absent = { 900, 404, "{'error':'not_found'}",
						.control = CONTROL_FOUND };
	char digest[65], *text = play(arena, POLICY, OP, &absent, digest);

	has(text,
	    "\"looks\":{\"absences\":1,\"since\":\"2026-03-01T12:15:00.000000Z\",\"control\":"
	    "\"found\"}",
	    "earned evidence");
}

/* J02: what PostgreSQL would refuse in jsonb. */
static void
test_storable(struct arena *arena)
{
	static const struct scripted nul = { 900, 200, "{'id':'x\\u0000y','version':7}" };
	static const struct scripted emoji = { 900, 200, "{'id':'\\ud83d\\ude00','version':7}" };
	static const struct scripted escapes = { 900, 200,
						 "{'id':'\\b\\f\\n\\r\\t\\u001f\\\\\\u0022/'}" };
	static const struct scripted huge = { 900, 200, "{'id':1e131072,'version':7}" };
	static const struct scripted header = { 900, 200, "{'version':7}",
						"x-a: a\xff\xfe"
						"b" };
	char digest[65];

	has(play(arena, POLICY, OP, &nul, digest), "\"/id\":\"x\\\\u0000y\"",
	    "a NUL becomes plain text");
	has(play(arena, POLICY, OP, &emoji, digest), "\"/id\":\"\xf0\x9f\x98\x80\"",
	    "a valid pair is kept");
	has(play(arena, POLICY, OP, &escapes, digest),
	    "\"/id\":\"\\b\\f\\n\\r\\t\\u001F\\\\\\\"/\"", "escapes");
	has(play(arena, POLICY, OP, &huge, digest), "\"/id\":\"1e131072\"", "a number stays text");
	has(play(arena,
		 "{'probes':[{'get':'/x','found':{'status':'200'}}],'existence_only':'true',"
		 "'evidence':{'keep':['header.x-a']}}",
		 OP, &header, digest),
	    "\"header.x-a\":\"a\xef\xbf\xbd\xef\xbf\xbd"
	    "b\"",
	    "broken bytes become a mark");
}

/* A value that is too long is cut at a character and told apart from others by its hash. */
static void
test_long_values(struct arena *arena)
{
	char *body = arena_alloc(arena, 4096), digest[2][65], *text;
	struct scripted answer = { 900, 200, body };

	strcpy(body, "{'version':7,'id':'");
	for (int i = 0; i < 300; i++)
		strcat(body, "\xc3\xa9");
	strcat(body, "1'}");
	text = play(arena, POLICY, OP, &answer, digest[0]);
	has(text, "\xc3\xa9\xe2\x80\xa6hmac:", "cut and marked");
	body[strlen(body) - 3] = '2';
	play(arena, POLICY, OP, &answer, digest[1]);
	tap_ok(strcmp(digest[0], digest[1]) != 0, "two long values that differ at the end differ");
}

static void
test_bound(struct arena *arena)
{
	struct strbuf policy = { 0 }, body = { 0 };
	struct scripted answer = { 900, 200 };
	char digest[65], *text;

	strbuf_puts(&policy, "{'probes':[{'get':'/x','found':{'status':'200'}}],'compare':{");
	strbuf_puts(&body, "{'z':0");
	for (int i = 0; i < 200; i++) {
		strbuf_printf(&policy, "%s'field_%d_%0200d':{'found':'/v%d','one_of':['x']}",
			      i ? "," : "", i, i, i);
		strbuf_printf(&body, ",'v%d':'", i);
		for (int n = 0; n < 400; n++)
			strbuf_puts(&body, "\\u0001");
		strbuf_puts(&body, "'");
	}
	strbuf_puts(&policy, "},'evidence':{'keep':['/z'");
	for (int i = 0; i < 200; i++)
		strbuf_printf(&policy, ",'/v%d'", i);
	strbuf_puts(&policy, "]}}");
	strbuf_puts(&body, "}");
	answer.body = strbuf_text(&body);
	text = play(arena, strbuf_text(&policy), "{}", &answer, digest);
	tap_ok(strlen(text) <= EVIDENCE_BYTES_MAX, "bounded (%zu bytes)", strlen(text));
	tap_ok(is_json(arena, text), "and still JSON");
	strbuf_finish(&policy);
	strbuf_finish(&body);
}

#define PAGED                                                                                      \
	"{'probes':[{'name':'list','get':'/x','found':{'status':'200'},'items':'/l',"              \
	"'where':{'/id':{'is':'op.operation_id'}},'remote_id':'/id',"                              \
	"'pages':{'next':'/next','into':'c'},'stale':'true',"                                      \
	"'then':{'probe':'one','with':{'remote_id':'/key'}}},"                                     \
	"{'name':'one','needs':['remote_id'],'get':'/x/{remote_id}','found':{'status':'200'}}],"   \
	"'compare':{'n':{'found':'/n','is':'op./expected/n'}},'evidence':{'keep':['/n']}}"
#define PAGED_OP "{'expected':{'n':'1'}}"

static char *
play_pages(struct arena *arena, const struct scripted *answers, size_t count,
	   char ret_digest[static 65])
{
	struct scenario s = scenario_start(arena, PAGED, "{}", PAGED_OP);

	scenario_look(arena, &s, answers, count);
	return evidence_of(arena, &s, ret_digest);
}

static void
test_pages(struct arena *arena)
{
	struct scripted answers[] = {
		{ 900, 200, "{'l':[{'id':'x'}],'next':'a'}" },
		{ 900, 200, "{'l':[{'id':'op_00000001','n':1}]}" },
	};
	char digest[65], again[65], *text = play_pages(arena, answers, 2, digest);

	has(text, "\"response\":{\"status\":200,\"bytes\":34,\"sha256\":\"", "the last page");
	has(text, "\"count\":2,\"pages\":[{\"status\":200,\"bytes\":29,\"sha256\":\"", "all pages");
	has(text, "}],\"ms\":84}", "the time of all of them");
	lacks(text, "reread", "nothing was read again");
	tap_ok(is_json(arena, text), "pages: it is JSON");
	answers[0].body = "{'l':[{'id':'y','z':0}],'next':'b'}";
	play_pages(arena, answers, 2, again);
	tap_str(again, digest, "another page before is no change");
	answers[0].body = "{'l':[{'id':'op_00000001','n':2,'key':'k'}]}";
	answers[1].body = "{'n':1}";
	text = play_pages(arena, answers, 2, digest);
	has(text, "\"probe\":\"one\",\"asked\":[\"list\",\"one\"],\"reread\":true",
	    "a second read");
	has(text, "\"kept\":{\"/n\":\"1\"}", "and what it saw");
	lacks(text, "pages", "one page needs no list of pages");
}

/* A source that may be behind: whose run is counted. */
static void
test_earning(struct arena *arena)
{
	const struct scripted answer = { 900, 200, "{'l':[{'id':'op_00000001','n':2}]}" };
	char digest[65], *text = play_pages(arena, &answer, 1, digest);

	has(text, "\"looks\":{\"absences\":1,\"earning\":\"divergent\",\"since\":\"2026-",
	    "the run");
}

static void
test_digest(struct arena *arena)
{
	struct scripted answer = { 900, 200, "{'id':'c9','version':6,'email':'a','at':1}" };
	char first[65], second[65];

	play(arena, POLICY, OP, &answer, first);
	answer.body = "{'id':'c9','version':6,'email':'a','at':22}";
	answer.at_s = 1800;
	play(arena, POLICY, OP, &answer, second);
	tap_str(second, first, "size, hash and time of the response are no change");
	answer.body = "{'id':'c9','version':5,'email':'a','at':1}";
	play(arena, POLICY, OP, &answer, second);
	tap_ok(strcmp(first, second) != 0, "another version is");
	answer.body = "{'id':'c9','version':6,'email':'b','at':1}";
	play(arena, POLICY, OP, &answer, second);
	tap_ok(strcmp(first, second) != 0, "another hidden value is");
}

int
main(void)
{
	struct arena *arena = arena_create();

	key = hmac_create("0123456789abcdef0123456789abcdef", 32);
	test_contents(arena);
	test_clauses(arena);
	test_hash();
	test_no_page(arena);
	test_nothing_asked(arena);
	test_looks(arena);
	test_storable(arena);
	test_long_values(arena);
	test_bound(arena);
	test_pages(arena);
	test_earning(arena);
	test_digest(arena);
	hmac_destroy(key);
	arena_destroy(arena);
	return tap_done();
}
