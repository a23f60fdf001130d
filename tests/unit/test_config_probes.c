/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of a probe that reach beyond one page, one operation, one answer; and what comes of them.
 */
#include "config_case.h"

#define TYPE "operation_type: t\ntarget: crm\n"
#define COMPARE "compare:\n  version: {found: /version, is: op.version}\n"
#define AT "policies.d/t.yaml:"

/* A list; what a case adds to the probe begins at line 8. */
#define LIST                                                                                       \
	TYPE "probes:\n"                                                                           \
	     "  - get: /list\n"                                                                      \
	     "    found: {status: 200, /items: {present: true}}\n"                                 \
	     "    items: /items\n"                                                                 \
	     "    where: {/key: {is: op.business_key}}\n"
#define PROBE(text) LIST text COMPARE

/* A batch; its question begins at line 10. */
#define BATCH(question)                                                                            \
	TYPE "probes:\n"                                                                           \
	     "  - batch: {max: 100, match: /key}\n"                                                  \
	     "    reads: true\n"                                                                   \
	     "    found: {status: 200, /items: {present: true}}\n"                                 \
	     "    items: /items\n"                                                                 \
	     "    where: {/key: {is: op.business_key}, /live: true}\n"                             \
	     "    post: /read\n" question COMPARE

#define FOUR                                                                                       \
	"allowed: one of {next, into}, {link: next}, {number, total}, {offset, size}, each with "   \
	"max\n"

static const struct {
	const char *name, *text, *want;
} cases[] = {
	/* pages */
	{ "by a token", PROBE("    pages: {next: /next, into: cursor, max: 5}\n"), "" },
	{ "by a token in a header", PROBE("    pages: {next: header.x-next, into: cursor}\n"), "" },
	{ "by a header", PROBE("    pages: {link: next}\n"), "" },
	{ "by their count", PROBE("    pages: {number: page, total: body./pages}\n"), "" },
	{ "by position",
	  PROBE("    query: {from: \"0\", limit: \"50\"}\n    pages: {offset: from, size: 50}\n"),
	  "" },
	{ "no kind", PROBE("    pages: {max: 5}\n"), AT "8:12: pages: " FOUR },
	{ "half a kind", PROBE("    pages: {next: /next}\n"), AT "8:12: pages: " FOUR },
	{ "the other half", PROBE("    pages: {into: cursor}\n"), AT "8:12: pages: " FOUR },
	{ "two kinds", PROBE("    pages: {next: /next, into: c, link: next}\n"),
	  AT "8:12: pages: " FOUR },
	{ "two kinds, half each", PROBE("    pages: {number: page, size: 5}\n"),
	  AT "8:12: pages: " FOUR },
	{ "pages as a word", PROBE("    pages: link\n"),
	  AT "8:12: pages: found \"link\", allowed: a mapping with next, into, link, number, total, "
	     "offset, size, max\n" },
	{ "an unknown key of pages", PROBE("    pages: {next: /next, in: cursor}\n"),
	  AT "8:12: pages: " FOUR AT "8:26: in: unknown key, nearest known key: into; allowed: next, "
				   "into, link, number, total, offset, size, max\n" },
	{ "a link to what is not next", PROBE("    pages: {link: prev}\n"),
	  AT "8:19: link: found \"prev\", allowed: next\n" },
	{ "a token from the operation", PROBE("    pages: {next: op.version, into: c}\n"),
	  AT "8:19: next: found \"op.version\", allowed: a place in the answer: /pointer, "
	     "header.NAME\n" },
	{ "numbers of pages", PROBE("    pages: {offset: from, size: 0, max: 1001}\n"),
	  AT "8:33: size: found \"0\", allowed: 1 to 1000000\n" AT
	     "8:41: max: found \"1001\", allowed: 1 to 1000\n" },
	{ "a first page that is no number",
	  PROBE("    query: {page: \"{version}\"}\n    pages: {number: page, total: /pages}\n"),
	  AT "8:19: page: found \"{version}\", allowed: the whole number of the first page\n" },
	{ "a first token may be any text",
	  PROBE("    query: {c: \"start\"}\n    pages: {next: /next, into: c}\n"), "" },
	{ "pages of head",
	  TYPE "probes:\n  - head: /a\n    found: {status: 200}\n    pages: {link: next}\n" COMPARE,
	  AT "6:5: pages: needs items: where the list is\n" AT
	     "6:5: pages: the answer to head has no body\n" },
	{ "a parameter in a text",
	  TYPE "probes:\n  - post: /a\n    reads: true\n    text: all\n    found: {status: 200, /i: x}\n"
	       "    items: /i\n    where: {/key: op.operation_id}\n"
	       "    pages: {next: /next, into: c}\n" COMPARE,
	  AT "10:5: pages: c has no place in text, allowed: a body of json or form\n" },

	/* batch */
	{ "a batch in json", BATCH("    json: {inputs: \"{batch|each id=business_key}\"}\n"), "" },
	{ "a batch somewhere in json",
	  BATCH("    json: {q: [{in: \"{batch|each source/id=business_key}\"}]}\n"), "" },
	{ "a batch in the query", BATCH("    query: {ids: \"{batch|join ,}\"}\n"), "" },
	{ "a batch without its parts", PROBE("    batch: {}\n"),
	  AT "8:12: batch: max is missing: most operations of one question\n" AT
	     "8:12: batch: match is missing: where an item has what was sent\n" },
	{ "a batch of none", PROBE("    batch: {max: 0, match: /key}\n"),
	  AT "8:18: max: found \"0\", allowed: 1 to 10000\n" },
	{ "a match in many places", PROBE("    batch: {max: 5, match: /keys/*}\n"),
	  AT "8:28: match: found \"/keys/*\", allowed: one place in the item, like /id\n" },
	{ "a question about one operation", BATCH("    json: {id: \"{business_key}\"}\n"),
	  AT "4:5: batch: the question names one operation, allowed: {batch|each NAME=business_key} "
	     "in json or {batch|join ,} in query\n" },
	{ "a question about several and one",
	  BATCH("    json: {ids: \"{batch|each id=business_key}\", v: \"{version}\"}\n"),
	  AT "4:5: batch: a question about several operations has no placeholders of one, allowed: "
	     "{batch|…}\n" },
	{ "another field is sent than is found",
	  BATCH("    json: {ids: \"{batch|each id=remote_id}\"}\n"),
	  AT "4:5: batch: {batch|each id=remote_id} sends another field than business_key, which "
	     "where finds at match\n" },
	{ "whose item it is",
	  TYPE "probes:\n  - get: /read\n    query: {ids: \"{batch|join ,}\"}\n"
	       "    found: {status: 200, /items: {present: true}}\n    items: /items\n"
	       "    where: {/keys: {is: op.business_key}, /key: {not: op.business_key}}\n"
	       "    batch: {max: 5, match: /key}\n" COMPARE,
	  AT "9:5: batch: needs a row of where at match that says whose item it is, like {/key: {is: "
	     "op.business_key}}\n" },
	{ "a list of names without a batch", PROBE("    query: {ids: \"{batch|join ,}\"}\n"),
	  AT "4:5: probes: {batch|…} needs batch: {max, match}\n" },
	{ "a batch within a text", BATCH("    json: {ids: \"[{batch|each id=business_key}]\"}\n"),
	  AT "4:5: batch: the question names one operation, allowed: {batch|each NAME=business_key} "
	     "in json or {batch|join ,} in query\n" AT
	     "10:17: ids: found \"[{batch|each id=business_key}]\", allowed: \"{batch|each "
	     "NAME=FIELD}\" as the whole text\n" },
	{ "a batch of times", BATCH("    json: {ids: \"{batch|each id=sent_at}\"}\n"),
	  AT "4:5: batch: the question names one operation, allowed: {batch|each NAME=business_key} "
	     "in json or {batch|join ,} in query\n" AT
	     "10:17: ids: found \"{batch|each id=sent_at}\", allowed: {batch|each NAME=FIELD} with "
	     "a text of the operation as FIELD, like {batch|each id=business_key}\n" },
	{ "a batch in a path",
	  TYPE "probes:\n  - get: \"/read/{batch|join ,}\"\n"
	       "    found: {status: 200, /items: {present: true}}\n    items: /items\n"
	       "    where: {/key: {is: op.business_key}}\n    batch: {max: 5, match: /key}\n" COMPARE,
	  AT "4:10: get: {batch|join …} belongs to query\n" },

	/* covers, skip, stale, then */
	{ "covers and skip",
	  PROBE("    covers: {until: body./refreshed_at}\n    skip: [{/state: void}, {/test: true}]\n"),
	  "" },
	{ "covers what the operation says", PROBE("    covers: {until: op.sent_at}\n"),
	  AT "8:21: until: found \"op.sent_at\", allowed: a place in the answer: /pointer, "
	     "header.NAME\n" },
	{ "covers nothing", PROBE("    covers: {}\n"),
	  AT "8:13: covers: until is missing: where the answer says how far its data reach\n" },
	{ "skip of nothing", PROBE("    skip: []\n"), AT "8:11: skip: an empty list never holds\n" },
	{ "skip needs a list",
	  TYPE "probes:\n  - get: /a\n    found: {status: 200}\n    skip: {/a: b}\n" COMPARE,
	  AT "6:5: skip: needs items: where the list is\n" },
	{ "a second read",
	  PROBE("    stale: true\n    then: {probe: by_id, with: {remote_id: /id}}\n"
		"  - name: by_id\n    get: /one/{remote_id}\n    found: {status: 200, /id: {present: "
		"true}}\n"),
	  "" },
	{ "a second read by what the operation has",
	  PROBE("    stale: true\n    then: {probe: by_id}\n"
		"  - name: by_id\n    get: /one/{operation_id}\n    found: {status: 200}\n"),
	  "" },
	{ "a second read of nobody", PROBE("    stale: true\n    then: {probe: by_id}\n"),
	  AT "9:19: probe: there is no probe \"by_id\"\n" },
	{ "a second read of itself", PROBE("    stale: true\n    then: {probe: probe-1}\n"),
	  AT "9:19: probe: a probe is not its own second read\n" },
	{ "a second read that is stale",
	  PROBE("    stale: true\n    then: {probe: by_id}\n"
		"  - name: by_id\n    get: /one/{remote_id}\n    found: {status: 200}\n"
		"    stale: true\n"),
	  AT "9:19: probe: \"by_id\" is stale itself\n" },
	{ "a second read of what is not stale",
	  PROBE("    then: {probe: by_id}\n  - name: by_id\n    get: /one/{remote_id}\n"
		"    found: {status: 200}\n"),
	  AT "8:5: then: needs stale: true, nothing else is read again\n" },
	{ "a second read that takes what is no text",
	  PROBE("    stale: true\n"
		"    then: {probe: by_id, with: {sent_at: /at, remote: /id, remote_id: status}}\n"
		"  - name: by_id\n    get: /one/{remote_id}\n    found: {status: 200}\n"),
	  AT "9:33: sent_at: is no text of the operation, allowed: a field like remote_id\n" AT
	     "9:47: remote: is no text of the operation, allowed: a field like remote_id\n" AT
	     "9:71: remote_id: found \"status\", allowed: a place in the answer: /pointer, "
	     "header.NAME\n" },
	{ "a second read without a name", PROBE("    stale: true\n    then: {with: {}}\n"),
	  AT "9:11: then: probe is missing: the probe that is asked then\n" },
	{ "too many probes",
	  TYPE "probes: [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}]\n" COMPARE,
	  AT "3:9: probes: 17 probes, allowed: at most 16\n" },
};

static const char loaded[] = TYPE
	"probes:\n"
	"  - name: batch\n"
	"    post: /read\n"
	"    reads: true\n"
	"    json: {ids: \"{batch|each source/id=business_key}\"}\n"
	"    batch: {max: 50, match: /properties/key}\n"
	"    found: {status: 200, /items: {present: true}}\n"
	"    items: /items\n"
	"    where: {/live: true, /properties/key: {is: op.business_key, fold: case}}\n"
	"    skip: [{/state: void}, {/test: true}]\n"
	"    pages: {next: /next, into: cursor}\n"
	"    covers: {until: /until}\n"
	"    stale: true\n"
	"    then: {probe: by_id, with: {remote_id: /id, version: /v}}\n"
	"  - name: by_id\n"
	"    get: /one/{remote_id}/{version}\n"
	"    found: {status: 200, /id: {present: true}}\n" COMPARE;

static void
check_loaded(const struct policy *policy)
{
	const struct probe *probe = &policy->probes[0];
	const struct json_template *json = probe->json->children;

	tap_int((long long)policy->probes_count, 2, "two probes");
	tap_int(json->kind, VALUE_LIST, "each is a list");
	tap_str(json->name, "ids", "of this name");
	tap_str(json->batch_name, "source/id", "of objects with this member");
	tap_int(json->batch_field, OP_BUSINESS_KEY, "and this field");
	tap_int(probe->batch_max, 50, "batch.max");
	tap_int((long long)probe->batch_match.count, 2, "batch.match");
	tap_int(probe->batch_field, OP_BUSINESS_KEY, "the field that where tests at match");
	tap_int((long long)probe->skip.count, 2, "skip");
	tap_int(probe->pages.kind, PAGING_NEXT, "pages by a token");
	tap_str(probe->pages.into, "cursor", "into");
	tap_str(probe->pages.from.text, "/next", "next");
	tap_int(probe->pages.max, 10, "at most 10 pages without max");
	tap_ok(probe->has_covers && probe->covers_until.root == LOCATE_ITEM, "covers.until");
	tap_ok(probe->stale, "stale");
	tap_ok(probe->reread.probe == &policy->probes[1], "then.probe");
	tap_int((long long)probe->reread.with_count, 2, "then.with");
	tap_int(probe->reread.with[0].field, OP_REMOTE_ID, "its field");
	tap_str(probe->reread.with[1].from.text, "/v", "its place");
	tap_int(policy->probes[1].pages.kind, PAGING_NONE, "the other has no pages");
	tap_int(policy->probes[1].batch_max, 0, "nor a batch");
	tap_ok(!policy->probes[1].stale && !policy->probes[1].reread.probe, "nor is it stale");
}

static void
test_loaded(void)
{
	struct problems *problems = problems_create();
	struct config *config;

	setenv("HASH_KEY", "0123456789abcdef0123456789abcdef", 1);
	case_write("reconciled.yaml", "evidence_hash_key: env:HASH_KEY\n");
	case_write("policies.d/t.yaml", loaded);
	config = config_load(case_path("reconciled.yaml"), CONFIG_ALL, problems);
	problems_print(problems, stdout);
	if (tap_ok(config != NULL, "a policy with all of it loads"))
		check_loaded(config_policy(config, "t"));
	config_unref(config);
	problems_destroy(problems);
}

int
main(void)
{
	case_begin();
	case_write("targets.d/crm.yaml", "target: crm\nbase: https://crm.example.com\n"
					 "control: {get: /control, found: {status: 200}}\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		case_write("policies.d/t.yaml", cases[i].text);
		case_check("policies.d/t.yaml", cases[i].want, cases[i].name);
	}
	test_loaded();
	return case_end();
}
