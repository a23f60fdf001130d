/* SPDX-License-Identifier: Apache-2.0
 *
 * What policy check finds although each key is right: rows and rules that can never fire, references
 * that reach into a query language, and what is only doubtful.
 */
#include "config_case.h"

#define TYPE "operation_type: t\ntarget: crm\n"
#define PROBES                                                                                     \
	"probes:\n"                                                                                \
	"  - get: /c/{business_key}\n"                                                             \
	"    found: {status: 200}\n"                                                               \
	"    absent: {status: 404, /error: not_found}\n"
#define COMPARE "compare: {version: {found: /version, is: op.version}}\n"
#define EVIDENCE "evidence: {keep: [/version]}\n"
#define AT "policies.d/t.yaml:"

/* What a case adds begins at line 9. */
#define SMALLEST TYPE PROBES COMPARE EVIDENCE

struct check_case {
	const char *name, *text, *want;
};

#define JUDGE(rows) SMALLEST "judge:\n" rows
#define HOLDS(line) "is never reached, the row at line " line ", column 5 holds wherever this one does\n"
#define PAIR(line, other)                                                                          \
	"is never reached, one of the rows at line " line ", column 5 and line " other             \
	", column 5 always holds\n"

static const struct check_case rows[] = {
	{ "different states",
	  JUDGE("  - {when: {/s: [a, b], op.version: '1'}, class: waiting}\n"
		"  - {when: {/s: [a, b]}, class: divergent}\n"
		"  - {when: {/s: {not: [a, b, c]}}, class: ambiguous}\n"),
	  "" },
	{ "the same row again",
	  JUDGE("  - {when: {/s: a}, class: waiting}\n  - {when: {/s: a}, class: divergent}\n"),
	  AT "11:5: judge: " HOLDS("10") },
	{ "one of those before",
	  JUDGE("  - {when: {/s: [a, b]}, class: waiting}\n  - {when: {/s: {is: b}}, class: divergent}\n"),
	  AT "11:5: judge: " HOLDS("10") },
	{ "some of those before",
	  JUDGE("  - {when: {/s: [a, b, c]}, class: waiting}\n  - {when: {/s: [c, a], /t: x}, class: "
		"divergent}\n"),
	  AT "11:5: judge: " HOLDS("10") },
	{ "more than before is more",
	  JUDGE("  - {when: {/s: [a, b]}, class: waiting}\n  - {when: {/s: [b, c]}, class: divergent}\n"),
	  "" },
	{ "a row with one more test",
	  JUDGE("  - {when: {/s: a}, class: waiting}\n"
		"  - {when: {/s: a, op.entity_state: cancelled}, class: not_applicable}\n"),
	  AT "11:5: judge: " HOLDS("10") },
	{ "what is there is no other thing",
	  JUDGE("  - {when: {/s: {not: a}}, class: waiting}\n  - {when: {/s: b}, class: divergent}\n"),
	  AT "11:5: judge: " HOLDS("10") },
	{ "of several values one may be another",
	  JUDGE("  - {when: {/s/*: {not: a}}, class: waiting}\n  - {when: {/s/*: b}, class: divergent}\n"),
	  "" },
	{ "a headers' value too",
	  JUDGE("  - {when: {header.s: {not: a}}, class: waiting}\n"
		"  - {when: {header.s: b}, class: divergent}\n"),
	  "" },
	{ "a value is present",
	  JUDGE("  - {when: {/s: {present: true}}, class: waiting}\n  - {when: {/s: {prefix: b}}, class: "
		"divergent}\n"),
	  AT "11:5: judge: " HOLDS("10") },
	{ "null is not",
	  JUDGE("  - {when: {/s: {present: true}}, class: waiting}\n  - {when: {/s: null}, class: "
		"divergent}\n"),
	  "" },
	{ "numbers",
	  JUDGE("  - {when: {/n: {ge: 1.50}}, class: waiting}\n  - {when: {/n: {gt: 2}}, class: "
		"divergent}\n  - {when: {/n: 7}, class: divergent}\n  - {when: {/n: {gt: 1}}, class: "
		"divergent}\n  - {when: {/n: {lt: 1.4}}, class: divergent}\n"),
	  AT "11:5: judge: " HOLDS("10") AT "12:5: judge: " HOLDS("10") },
	{ "a prefix",
	  JUDGE("  - {when: {/s: {prefix: ab}}, class: waiting}\n  - {when: {/s: abc}, class: divergent}\n"
		"  - {when: {/s: {prefix: a}}, class: divergent}\n"),
	  AT "11:5: judge: " HOLDS("10") },
	{ "spelling that counts and that does not",
	  JUDGE("  - {when: {/s: {is: A, fold: case}}, class: waiting}\n  - {when: {/s: a}, class: "
		"divergent}\n"),
	  "" },
	{ "a pair that leaves nothing",
	  JUDGE("  - {when: {/s: [a, b]}, class: waiting}\n  - {when: {/s: {not: [a, b]}}, class: "
		"divergent}\n  - {when: {/t: c}, class: ambiguous}\n"),
	  AT "12:5: judge: " PAIR("10", "11") },
	{ "a pair that leaves nothing and overlaps",
	  JUDGE("  - {when: {/s: {not: a}}, class: waiting}\n  - {when: {/s: [a, b]}, class: "
		"divergent}\n  - {when: {/t: c}, class: ambiguous}\n"),
	  AT "12:5: judge: " PAIR("10", "11") },
	{ "there and not there",
	  JUDGE("  - {when: {/s: {present: false}}, class: waiting}\n  - {when: {/s: {present: true}}, "
		"class: divergent}\n  - {when: {/t: c}, class: ambiguous}\n"),
	  AT "12:5: judge: " PAIR("10", "11") },
	{ "a pair that leaves something",
	  JUDGE("  - {when: {/s: a}, class: waiting}\n  - {when: {/s: {not: [a, b]}}, class: "
		"divergent}\n  - {when: {/t: c}, class: ambiguous}\n"),
	  "" },
	{ "a row that contradicts itself",
	  JUDGE("  - {when: {/s: {is: a, not: a}}, class: waiting}\n"
		"  - {when: {/n: {ge: 5, lt: 5}}, class: divergent}\n"
		"  - {when: {/t: {is: a, prefix: b}}, class: divergent}\n"
		"  - {when: {/u: {present: false, is: b}}, class: divergent}\n"
		"  - {when: {/v/*: {is: a, prefix: b}}, class: divergent}\n"
		"  - {when: {/w: {ge: 5, le: 5}}, class: divergent}\n"),
	  AT "10:17: /s: never holds: its tests contradict each other\n" AT
	     "11:17: /n: never holds: its tests contradict each other\n" AT
	     "12:17: /t: never holds: its tests contradict each other\n" AT
	     "13:17: /u: never holds: its tests contradict each other\n" },
	{ "rows about the operation",
	  SMALLEST "on_absent:\n  - {when: {op.entity_state: [deleted, cancelled]}, class: "
		   "not_applicable}\n  - {when: {op.entity_state: deleted}, class: divergent}\n",
	  AT "11:5: on_absent: " HOLDS("10") },
	{ "nothing is there to be compared",
	  SMALLEST "on_absent: [{when: {op.version: '1'}, class: compare}]\n"
		   "on_gone: [{when: {op.version: '1'}, class: compare}]\n",
	  AT "9:46: class: nothing is there to be compared, allowed: waiting, divergent, ambiguous, "
	     "not_applicable\n" AT "10:44: class: nothing is there to be compared, allowed: waiting, "
				   "divergent, ambiguous, not_applicable\n" },
};

#define ACTIONS(rows) SMALLEST "idempotent: natural\nactions:\n  missing:\n" rows

static const struct check_case actions[] = {
	{ "rows",
	  ACTIONS("    - {when: {op./expected/amount: {lt: 50}}, do: requeue}\n"
		  "    - {when: {op.entity_state: {not: active}}, do: wait}\n    - {do: review}\n"),
	  "" },
	{ "one row", ACTIONS("    - {do: wait}\n"), "" },
	{ "no rows", SMALLEST "actions: {missing: []}\n",
	  AT "9:20: missing: found a list, allowed: an action, or rows of {when, do}\n" },
	{ "a mapping", SMALLEST "actions: {missing: {do: review}}\n",
	  AT "9:20: missing: found a mapping, allowed: an action, or rows of {when, do}\n" },
	{ "nothing for the rest", ACTIONS("    - {when: {op.version: '1'}, do: requeue}\n"),
	  AT "12:7: missing: the last row has no when: it says what is done otherwise\n" },
	{ "the rest too early", ACTIONS("    - {do: wait}\n    - {do: review}\n"),
	  AT "12:7: missing: when is missing, only the last row has none\n" },
	{ "a condition that always holds", ACTIONS("    - {when: {}, do: wait}\n    - {do: review}\n"),
	  AT "12:14: when: an empty condition, allowed: no when in the last row\n" },
	{ "answers are not asked here", ACTIONS("    - {when: {/a: b}, do: wait}\n    - {do: review}\n"),
	  AT "12:15: /a: only fields of the operation (op.…) can be tested here\n" },
	{ "nothing is done", ACTIONS("    - {when: {op.version: '1'}}\n    - {do: sleep}\n"),
	  AT "12:7: missing: do is missing: what is done then\n" AT
	     "13:12: do: found \"sleep\", allowed: requeue, review, wait\n" },
	{ "a row of texts", ACTIONS("    - review\n"),
	  AT "12:7: missing: found \"review\", allowed: a mapping with when, do\n" },
	{ "a row that is never reached",
	  ACTIONS("    - {when: {op.entity_state: [a, b]}, do: wait}\n"
		  "    - {when: {op.entity_state: b}, do: requeue}\n    - {do: review}\n"),
	  AT "13:7: missing: is never reached, the row at line 12, column 7 holds wherever this one "
	     "does\n" },
	{ "the last one must be there even if it is not",
	  ACTIONS("    - {when: {op.entity_state: a}, do: wait}\n"
		  "    - {when: {op.entity_state: {not: a}}, do: requeue}\n    - {do: review}\n"),
	  "" },
	{ "requeue for others than missing",
	  SMALLEST "actions:\n  divergent:\n    - {when: {op.version: '1'}, do: requeue}\n    - {do: "
		   "compensate}\n  ambiguous:\n    - {when: {op.version: '1'}, do: requeue}\n    - {do: "
		   "review}\n",
	  AT "11:37: do: found \"requeue\", allowed: compensate, review, wait\n" AT
	     "14:37: do: found \"requeue\", allowed: review, wait\n" },
	{ "requeue without idempotence in any row",
	  SMALLEST "actions:\n  missing:\n    - {when: {op.version: '1'}, do: wait}\n"
		   "    - {when: {op.version: '2'}, do: requeue}\n    - {do: review}\n",
	  AT "12:37: do: requeue needs idempotent: key, natural or conditional\n" },
	{ "requeue without the life of a key in the last row",
	  SMALLEST "idempotent: key\nactions:\n  missing:\n    - {when: {op.version: '1'}, do: wait}\n"
		   "    - {do: requeue}\n",
	  AT "13:12: do: requeue with idempotent: key needs resend: {key_valid: …}, how long the "
	     "target keeps it\n" },
	{ "requeue without a control in a row",
	  "operation_type: t\ntarget: bare\n" PROBES COMPARE EVIDENCE "idempotent: natural\nactions:\n"
	  "  missing:\n    - {when: {op.version: '1'}, do: requeue}\n    - {do: review}\n",
	  AT "12:37: do: requeue needs a control of target \"bare\"\n" },
	{ "money is sent again where a row says so",
	  SMALLEST "stakes: money\nidempotent: natural\nactions:\n  missing:\n"
		   "    - {when: {op./expected/amount: {lt: 50}}, do: requeue}\n    - {do: review}\n",
	  "" },
	{ "and not otherwise",
	  SMALLEST "stakes: irreversible\nidempotent: natural\nactions:\n  missing:\n"
		   "    - {when: {op./expected/amount: {lt: 50}}, do: wait}\n    - {do: requeue}\n",
	  AT "14:12: do: requeue needs a row with when where stakes are money or irreversible\n" },
	{ "an older version is sent again over what is there",
	  SMALLEST "idempotent: natural\noutcome: {older: missing}\nactions: {missing: requeue}\n",
	  AT "10:18: older: missing is sent again over what is there, so it needs idempotent: "
	     "conditional\n" },
	{ "where the write is conditional it is harmless",
	  SMALLEST "idempotent: conditional\noutcome: {older: missing}\nactions: {missing: requeue}\n",
	  "" },
};

#define PROBE(text) TYPE "probes:\n" text COMPARE EVIDENCE
#define NO_EVIDENCE "never holds: 408, 425, 429 and 5xx are no evidence before any rule\n"

static const struct check_case rules[] = {
	{ "kinds that differ",
	  PROBE("  - get: /a\n    found: {status: 200, /id: {present: true}}\n"
		"    gone: {status: 404, /error: deleted}\n    absent: {status: 404, /error: {present: "
		"true}}\n"),
	  "" },
	{ "absence that is taken for gone",
	  PROBE("  - get: /a\n    found: {status: 200}\n    gone: {/error: {present: true}}\n"
		"    absent: [{status: 404, /error: not_found}, {status: 404, /code: none}]\n"),
	  AT "7:14: absent: never holds: gone is tried before and takes the same answers\n" },
	{ "found that is taken for absent",
	  PROBE("  - get: /a\n    found: {status: 200, /total: 0}\n    absent: {/total: 0}\n"),
	  AT "5:12: found: never holds: absent is tried before and takes the same answers\n" },
	{ "the same answer is two kinds",
	  PROBE("  - get: /a\n    found: {status: 200}\n    several: {status: 300}\n"
		"    unfinished: {status: {is: '300'}, /x: y}\n"),
	  AT "7:17: unfinished: never holds: several is tried before and takes the same answers\n" },
	{ "statuses that are no evidence",
	  PROBE("  - get: /a\n    found: {status: [200, 503]}\n    unfinished: {status: 503}\n"
		"    gone: {status: {ge: 500}, /a: b}\n    several: {status: [425, 429]}\n"),
	  AT "6:26: status: " NO_EVIDENCE AT "7:20: status: " NO_EVIDENCE AT
	     "8:23: status: " NO_EVIDENCE },
	{ "a status that cannot be",
	  PROBE("  - get: /a\n    found: {status: {ge: 300, lt: 300}}\n"),
	  AT "5:21: status: " NO_EVIDENCE },
	{ "an item that cannot be",
	  PROBE("  - get: /a\n    found: {status: 200, /i: {present: true}}\n    items: /i\n"
		"    where: {/key: {is: op.business_key}, /state: {is: live, not: [live, test]}}\n"
		"    skip: [{/a: b}, {/n: {gt: 5, lt: 6}}, {/n: {gt: 6, lt: 5}}]\n"),
	  AT "7:50: /state: never holds: its tests contradict each other\n" AT
	     "8:48: /n: never holds: its tests contradict each other\n" },
};

/* %s of a case is in line 6. */
#define GUARD(reference, question)                                                                 \
	TYPE "reference: '" reference "'\nprobes:\n  - get: /a\n    " question                     \
	     "\n    found: {status: 200}\n    absent: {status: 404, /a: b}\n" COMPARE EVIDENCE
#define SEARCH "query: {q: \"id = '{operation_id}'\", limit: \"5\"}"
#define LETS(text) AT "6:16: q: reference lets " text " through, which can change the question around "

static const struct check_case guards[] = {
	{ "letters and digits", GUARD("^[A-Za-z0-9_-]{8,64}$", SEARCH), "" },
	{ "quotes", GUARD("^[A-Za-z'']{8,64}$", SEARCH), LETS("'") "{operation_id}\n" },
	{ "a quote of the other kind does no harm", GUARD("^[A-Za-z\"]{8,64}$", SEARCH), "" },
	{ "everything but the quote", GUARD("^[^'']+$", SEARCH), LETS("\\ * %") "{operation_id}\n" },
	{ "anything", GUARD("^.{1,64}$", SEARCH), LETS("' \\ * %") "{operation_id}\n" },
	{ "a class of characters", GUARD("^[[:alnum:][:punct:]]+$", SEARCH),
	  LETS("' \\ * %") "{operation_id}\n" },
	{ "a range", GUARD("^[ -z]+$", SEARCH), LETS("' \\ * %") "{operation_id}\n" },
	{ "an escaped character", GUARD("^[a-z]+\\*?$", SEARCH), LETS("*") "{operation_id}\n" },
	{ "in one of several ways", GUARD("^([a-z]+|x%[0-9]{2})$", SEARCH),
	  LETS("%") "{operation_id}\n" },
	{ "a wildcard that is an operator of the expression", GUARD("^[a-z]*(x|y)+z?$", SEARCH), "" },
	{ "other fields have the usual letters", GUARD("^.+$", "query: {q: \"id = '{remote_id}%'\"}"),
	  "" },
	{ "a whole value is no part of another", GUARD("^.+$", "query: {q: \"{operation_id}\"}"), "" },
	{ "a name with something before it", GUARD("^.+$", "query: {q: \"ops-{operation_id}\"}"), "" },
	{ "without quotes", GUARD("^[a-z()]+$", "query: {q: \"id:{operation_id} AND live:true\"}"),
	  LETS("( )") "{operation_id}\n" },
	{ "in json", GUARD("^[a-z\"]+$", "json: {q: \"metadata[\\\"id\\\"]:\\\"{operation_id}\\\"\"}")
	  , AT "5:5: probes: json, form and text belong to post\n"
	    AT "6:15: q: reference lets \" through, which can change the question around "
	       "{operation_id}\n" },
	{ "line ends are never sent, whatever the expression says",
	  GUARD("^[^a]+$", "headers: {X-Op: \"{business_key}\"}"), "" },
	{ "no expression, said once", GUARD("^[a", SEARCH),
	  AT "3:12: reference: no regular expression: Unmatched [, [^, [:, [., or [=\n" },
};

/* In line 7. */
#define JOIN(reference, text)                                                                      \
	TYPE reference "probes:\n  - get: /a\n    batch: {max: 5, match: /k}\n    query: {ids: \"" \
		       text "\"}\n    found: {status: 200, /i: {present: true}}\n    items: /i\n"    \
		       "    where: {/k: {is: op.business_key}}\n" COMPARE EVIDENCE

static const struct check_case separators[] = {
	{ "a comma", JOIN("", "{batch|join ,}"), "" },
	{ "what the usual letters hold", JOIN("", "{batch|join :}"),
	  AT "6:18: ids: \":\" between the values can be part of one, a business_key may hold it\n" },
	{ "what the expression lets through", JOIN("reference: '^[a-z,]+$'\n", "{batch|join ,}"),
	  AT "7:18: ids: \",\" between the values can be part of one, a business_key may hold it\n" },
	{ "between quotes", JOIN("reference: '^[a-z'',]+$'\n", "'{batch|join ','}'"),
	  AT "7:18: ids: \"','\" between the values can be part of one, a business_key may hold it\n" AT
	     "7:18: ids: reference lets ' through, which can change the question around "
	     "{business_key}\n" },
};

static const struct check_case warnings[] = {
	{ "nothing is doubtful", SMALLEST, "" },
	{ "what evidence does not keep",
	  TYPE PROBES "compare:\n  a: {found: /a, is: x}\n  b: {found: /b, is: x}\n  c: {found: /c, is: "
		      "x}\n  d: {found: /d, is: x}\nevidence: {keep: [/b], hash: [/c]}\n",
	  AT "7:1: warning: compare: a difference is shown as hashes, because evidence does not keep: "
	     "a, d\n" },
	{ "rows that nothing leads to",
	  TYPE "probes: [{get: /a, found: {status: 200}}]\n" COMPARE EVIDENCE
	       "on_gone: [{when: {op.version: '1'}, class: divergent}]\n"
	       "on_absent: [{when: {op.version: '1'}, class: divergent}]\noutcome: {newer: missing}\n",
	  AT "6:1: warning: on_gone: never follows: no probe has gone\n" AT
	     "7:1: warning: on_absent: never follows: no probe has absent or items\n" AT
	     "8:1: warning: outcome: never follows: nothing of type: version tells older from newer\n" },
	{ "a body without a list",
	  PROBE("  - get: /a\n    found: {status: 200}\n    items: /list\n    where: {/k: op.operation_id}\n"),
	  AT "5:5: warning: found: a body without /list is taken for an empty list, better: a test of "
	     "it here\n" },
	{ "the body is the list",
	  PROBE("  - get: /a\n    found: {status: 200}\n    items: ''\n    where: {/k: op.operation_id}\n"), "" },
	{ "whose items they are when the operation does not say it",
	  PROBE("  - get: /a\n    found: {status: 200, /i: {present: true}}\n    items: /i\n"
		"    where: {/k: {is: op.business_key, fold: case}, /l: {not: op.version}, /m: "
		"op.operation_id}\n"),
	  AT "7:13: warning: /k: without op.business_key nothing is ours, which looks like absence; "
	     "better: needs: [business_key]\n" },
	{ "fields that it needs, and that it sends",
	  PROBE("  - get: /a\n    needs: [remote_id]\n    query: {k: \"{business_key}\"}\n"
		"    found: {status: 200, /i: {present: true}}\n    items: /i\n"
		"    where: {/k: op.business_key, /l: op.remote_id}\n"),
	  "" },
	{ "a probe that is never asked",
	  PROBE("  - get: /a/{operation_id}\n    found: {status: 200}\n  - get: /b\n    found: {status: "
		"200}\n"),
	  AT "6:5: warning: probes: probe-2 is never asked: probe-1 is asked before, always, and never "
	     "answers absent\n" },
	{ "a probe that is asked when the first cannot be",
	  PROBE("  - get: /a/{remote_id}\n    found: {status: 200}\n  - get: /b\n    found: {status: "
		"200}\n"),
	  "" },
	{ "a second read that does not ask for what it takes",
	  PROBE("  - get: /a\n    found: {status: 200, /i: {present: true}}\n    items: /i\n    where: "
		"{/k: op.operation_id}\n    stale: true\n    then: {probe: b, with: {remote_id: /id}}\n"
		"  - name: b\n    get: /b/{business_key}\n    found: {status: 200}\n"),
	  AT "9:29: warning: remote_id: b has no placeholder {remote_id}\n" },
	{ "spaces in a question",
	  GUARD("^[a-z ]+$", "query: {q: \"id:{operation_id}\"}"),
	  AT "6:16: warning: q: reference lets spaces through, which may change the question around "
	     "{operation_id}\n" },
	{ "a counter of the target's own",
	  TYPE PROBES "compare: {v: {found: header.etag, type: version, is: op.version}}\n"
		      "evidence: {keep: [header.etag]}\n",
	  AT "7:22: warning: found: the target counts its own changes there, which says nothing of our "
	     "version\n" },
	{ "a tag that our write was answered with",
	  TYPE PROBES "compare: {v: {found: header.etag, type: version, order: opaque, is: op.version}}\n"
		      "evidence: {keep: [header.etag]}\n",
	  "" },
};

static void
test_cases(const struct check_case *cases, size_t count, bool of_warnings)
{
	for (size_t i = 0; i < count; i++) {
		case_write("policies.d/t.yaml", cases[i].text);
		case_check_for("policies.d/t.yaml", of_warnings, cases[i].want, cases[i].name);
	}
}

#define TEST(cases, of_warnings) test_cases(cases, sizeof(cases) / sizeof((cases)[0]), of_warnings)

int
main(void)
{
	case_begin();
	case_write("targets.d/crm.yaml", "target: crm\nbase: https://crm.example.com\n"
					 "control: {get: /control, found: {status: 200}}\n");
	case_write("targets.d/bare.yaml",
		   "target: bare\nbase: https://bare.example.com\ncontrol: none\n");
	TEST(rows, false);
	TEST(actions, false);
	TEST(rules, false);
	TEST(guards, false);
	TEST(separators, false);
	TEST(warnings, true);
	return case_end();
}
