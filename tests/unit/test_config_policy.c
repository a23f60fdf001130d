/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy files: what does not load and why, each at its place.
 */
#include "config_case.h"

#define TYPE "operation_type: t\ntarget: crm\n"
#define PROBES                                                                                     \
	"probes:\n"                                                                                \
	"  - get: /c/{business_key}\n"                                                             \
	"    found: {status: 200}\n"                                                               \
	"    absent: {status: 404, /error: not_found}\n"
#define COMPARE "compare:\n  version: {found: /version, is: op.version}\n"

/* The smallest policy has eight lines; what a case adds begins at line 9. */
#define SMALLEST TYPE PROBES COMPARE
#define AT "policies.d/t.yaml:"

struct policy_case {
	const char *name, *text, *want;
};

static const struct policy_case keys[] = {
	{ "the smallest", SMALLEST, "" },
	{ "nothing that it needs", "operation_type: t\n",
	  AT "1:1: target is missing: which system is asked\n" AT
	     "1:1: probes is missing: how the target is asked\n" AT
	     "1:1: compare is missing: what must be as expected, or existence_only: true\n" },
	{ "an unknown key", SMALLEST "latency: 5m\nonabsent: []\n",
	  AT "9:1: latency: unknown key, nearest known key: latency_window\n" AT
	     "10:1: onabsent: unknown key, nearest known key: on_absent\n" },
	{ "the window twice",
	  SMALLEST "latency_window: 60s\nrecheck: {first: 1m}\nlatency_window: 0s\n",
	  AT "11:1: latency_window: key appears a second time, first at line 9, column 1\n" },
	{ "a window of nothing", SMALLEST "latency_window: 0s\npickup_window: 0s\ndeadline: 0s\n",
	  AT
	  "9:17: latency_window: found \"0s\", allowed: a duration like 90s, 15m, 24h, 30d, from "
	  "1s to 36500d\n" AT
	  "10:16: pickup_window: found \"0s\", allowed: a duration like 90s, 15m, 24h, 30d, from "
	  "1s to 36500d\n" AT
	  "11:11: deadline: found \"0s\", allowed: a duration like 90s, 15m, 24h, 30d, from 1s "
	  "to 36500d\n" },
	{ "booleans of old", SMALLEST "existence_only: off\nreview: {auto_confirm: y}\n",
	  AT "9:17: existence_only: found \"off\", allowed: true, false\n" AT
	     "10:24: auto_confirm: found \"y\", allowed: true, false\n" },
	{ "an action that is a boolean elsewhere", SMALLEST "actions: {missing: off}\n",
	  AT "9:20: missing: found \"off\", allowed: requeue, review, wait\n" },
	{ "another name than the file's", "operation_type: no\ntarget: crm\n" PROBES COMPARE,
	  AT "1:17: operation_type: \"no\" belongs in a file named no.yaml, this one is t.yaml\n" },
	{ "a target that does not exist", "operation_type: t\ntarget: shop\n" PROBES COMPARE,
	  AT "2:9: target: there is no target \"shop\", no file in the folder of the targets has this name\n" },
	{ "what comes later, each at its place",
	  SMALLEST "compensate: {operation_type: x}\ndeliver_to: {target: crm}\n"
		   "watch: 24h\nverify_confirmed: {after: 1d}\n",
	  AT "9:1: compensate: not supported yet\n" AT "10:1: deliver_to: not supported yet\n" AT
	     "11:1: watch: not supported yet\n" AT "12:1: verify_confirmed: not supported yet\n" },
	{ "everything else that is supported",
	  SMALLEST
	  "mode: enforce\n"
	  "describe: {effect: a, truth: b, proof: c, owner: d, runbook: e}\nstakes: irreversible\n"
	  "latency_window: 1m\ndeadline: 1h\npickup_window: 1m\nreference: '^[a-z]{1,64}$'\n"
	  "idempotent: conditional\nresend: {key_valid: 24h}\n"
	  "absence: {after: 0s, confirm: 1, over: 0s, horizon: 60d, proves: nothing}\n"
	  "on_several: ambiguous\njudge: [{when: {/a: b}, class: waiting, why: c}]\n"
	  "on_absent: [{when: {op.entity_state: deleted}, class: not_applicable}]\n"
	  "on_gone: [{when: {}, class: divergent}]\noutcome: {older: missing, newer: "
	  "not_applicable}\n"
	  "waiting: {until: 3d}\nrecheck: {first: 1s, factor: 1.5, max: 1h, jitter: 0%}\n"
	  "give_up: 3\nevidence: {keep: [/a, header.etag], hash: [/b]}\n"
	  "actions: {correct: confirm, missing: wait, divergent: compensate, ambiguous: review, "
	  "not_applicable: close}\n"
	  "attempts: {max: 3, delay: 2s, factor: 1}\nrequeue: {max: 0, delay: 1m, factor: 100}\n"
	  "guard: {window: 1m, max: 0, share: 100%, sample: 1}\n"
	  "review: {recheck: 1h, auto_confirm: false, approvals: 2}\n",
	  "" },
	{ "numbers and words",
	  SMALLEST "give_up: 0\nstakes: high\nmode: act\nidempotent: yes\n"
		   "recheck: {factor: 0.5, jitter: 10}\nattempts: {factor: 1.0005}\n",
	  AT "9:10: give_up: found \"0\", allowed: 1 to 10000\n" AT
	     "10:9: stakes: found \"high\", allowed: normal, money, irreversible\n" AT
	     "11:7: mode: found \"act\", allowed: observe, enforce\n" AT
	     "12:13: idempotent: found \"yes\", allowed: no, key, natural, conditional\n" AT
	     "13:19: factor: found \"0.5\", allowed: a factor from 1 to 100, like 2 or 1.5\n" AT
	     "13:32: jitter: found \"10\", allowed: 0% to 100%\n" AT
	     "14:20: factor: found \"1.0005\", allowed: a factor from 1 to 100, like 2 or 1.5\n" },
	{ "regular expressions", SMALLEST "reference: '^[a-z'\n",
	  AT "9:12: reference: no regular expression: Unmatched [, [^, [:, [., or [=\n" },
	{ "regular expressions that cost", SMALLEST "reference: '((a{1,999}){1,999}){1,999}'\n",
	  AT "9:12: reference: the regular expression is too large, allowed: 500 bytes, 100000 "
	     "copies\n" },
	{ "an empty one", SMALLEST "reference: ''\n",
	  AT "9:12: reference: found \"\", allowed: a POSIX extended regular expression\n" },
	{ "times that contradict",
	  SMALLEST "absence: {after: 1h, over: 1h, horizon: 2h}\nrecheck: {first: 2h, max: 1h}\n",
	  AT "9:41: horizon: ends before absence can be proven (after and over)\n" AT
	     "10:10: recheck: first is longer than max\n" },
};

#define PROBE(text) TYPE "probes:\n" text COMPARE

static const struct policy_case probes[] = {
	{ "no list", TYPE "probes: {get: /x}\n" COMPARE,
	  AT "3:9: probes: found a mapping, allowed: a list of probes\n" },
	{ "an empty list", TYPE "probes: []\n" COMPARE,
	  AT "3:9: probes: found a list, allowed: a list of probes\n" },
	{ "nothing is asked", PROBE("  - found: {status: 200}\n"),
	  AT "4:5: probes: asks nothing, allowed: one of get, head, post\n" },
	{ "two paths", PROBE("  - get: /a\n    head: /b\n    found: {status: 200}\n"),
	  AT "5:5: head: a probe has one of get, head, post\n" },
	{ "nothing is found", PROBE("  - get: /a\n    absent: {status: 404, /a: b}\n"),
	  AT "4:5: probes: found is missing: which answer is usable\n" },
	{ "a POST that does not say that it reads",
	  PROBE("  - post: /a\n    json: {k: 1}\n    found: {status: 200}\n"),
	  AT "4:5: post: a POST must say reads: true\n" },
	{ "a POST that says that it does not",
	  PROBE("  - post: /a\n    reads: false\n    found: {status: 200}\n"),
	  AT "5:12: reads: a POST that does not read cannot be a probe\n" },
	{ "head has no body",
	  PROBE("  - head: /a\n    found: {status: 200, /id: {present: true}}\n    items: /d\n"
		"    where: {/k: op.operation_id}\n"),
	  AT "5:5: found: the answer to head has no body, allowed: status, header.NAME\n" AT
	     "6:5: items: the answer to head has no body\n" },
	{ "a body without POST", PROBE("  - get: /a\n    form: {a: b}\n    found: {status: 200}\n"),
	  AT "4:5: probes: json, form and text belong to post\n" },
	{ "two bodies",
	  PROBE("  - post: /a\n    reads: true\n    form: {a: b}\n    text: c\n    found: {status: "
		"200}\n"),
	  AT "7:5: text: a probe has one of json, form, text\n" },
	{ "a question mark", PROBE("  - get: /a?b={entity_id}\n    found: {status: 200}\n"),
	  AT "4:10: get: no \"?\" in a path, allowed: query: {name: value}\n" },
	{ "paths that are none", PROBE("  - get: a\n    found: {status: 200}\n"),
	  AT "4:10: get: found \"a\", allowed: a path that begins with /\n" },
	{ "a space", PROBE("  - get: /a b\n    found: {status: 200}\n"),
	  AT "4:10: get: a character that must be percent-encoded in a path\n" },
	{ "a way out", PROBE("  - get: /a/../{entity_id}\n    found: {status: 200}\n"),
	  AT "4:10: get: no \".\" or \"..\" in a path\n" },
	{ "a way out at the end", PROBE("  - get: /{entity_id}/..\n    found: {status: 200}\n"),
	  AT "4:10: get: no \".\" or \"..\" in a path\n" },
	{ "an unknown placeholder", PROBE("  - get: /{busines_key}\n    found: {status: 200}\n"),
	  AT "4:10: get: unknown placeholder \"{busines_key}\", the nearest is \"{business_key}\" "
	     "(a literal brace is followed by a space)\n" },
	{ "unknown needs",
	  PROBE("  - get: /a\n    needs: [remote, remote_id]\n    found: {status: 200}\n"),
	  AT "5:13: needs: the operation has no field \"remote\"\n" },
	{ "headers",
	  PROBE("  - get: /a\n    headers: {Authorization: x, X-Op: \"{operation_id}\"}\n"
		"    found: {status: 200}\n"),
	  AT "5:15: Authorization: credentials belong to auth of the target\n" },
	{ "keys of lists without a list",
	  PROBE("  - get: /a\n    found: {status: 200}\n    each: /x\n    full: 5\n"
		"    complete: {/more: false}\n"),
	  AT "6:5: each: needs items: where the list is\n" AT
	     "7:5: full: needs items: where the list is\n" AT
	     "8:5: complete: needs items: where the list is\n" },
	{ "a list without where",
	  PROBE("  - get: /a\n    query: {k: \"{operation_id}\"}\n    found: {status: 200}\n"
		"    items: /data\n"),
	  AT "7:5: items: needs where: which items of the list are ours\n" },
	{ "one object without where",
	  PROBE("  - get: /a\n    found: {status: 200, /data/order/id: {present: true}}\n"
		"    items: /data/order\n"),
	  "" },
	{ "an element is no member",
	  PROBE("  - get: /a\n    found: {status: 200, /data/0: {present: true}}\n    items: "
		"/data\n"),
	  AT "6:5: items: needs where: which items of the list are ours\n" },
	{ "a where that takes all",
	  PROBE("  - get: /a\n    found: {status: 200}\n    items: /data\n    where: {}\n"),
	  AT "7:12: where: an empty condition would take every item for ours\n" },
	{ "what comes later",
	  PROBE("  - get: /a\n    found: {status: 200}\n    blind: [{/a: b}]\n"),
	  AT "6:5: blind: not supported yet\n" },
	{ "other drivers come later", PROBE("  - receipt: {kind: x}\n"),
	  AT "4:5: receipt: not supported yet\n" },
	{ "each probe has its faults, and a name of its own",
	  PROBE("  - get: /a\n    found: {status: 200}\n  - get: /b\n    fund: {status: 200}\n"
		"    name: probe-1\n"),
	  AT "6:5: probes: found is missing: which answer is usable\n" AT
	     "6:5: probes: a second probe named \"probe-1\"\n" AT
	     "7:5: fund: unknown key, nearest known key: found\n" },
};

#define FOUND(test) PROBE("  - get: /a\n    found: {status: 200}\n    absent: " test "\n")

static const struct policy_case conditions[] = {
	{ "every test",
	  FOUND("{status: [404, 410], /a: null, /b: {not: null}, /c: {prefix: op.remote_id, fold: "
		"case}, "
		"/d: {gt: 1, le: op.version}, /e: {present: true}, header.x-a: {present: false}, "
		"body./f: {not: {is: x, fold: [nfc, space]}}, op.entity_state: {not: [a, b]}, /g: "
		"''}"),
	  "" },
	{ "an unknown locator", FOUND("{code: 404, /a: b}"),
	  AT "6:14: code: \"code\" is no place; allowed: /pointer, status, header.NAME, "
	     "body./pointer, op.FIELD, op./expected/name\n" },
	{ "an unknown test", FOUND("{/a: {equals: b}}"),
	  AT
	  "6:19: equals: unknown key; allowed: is, not, prefix, present, gt, ge, lt, le, fold\n" },
	{ "no test", FOUND("{/a: {}}"),
	  AT
	  "6:18: /a: found a mapping, allowed: a test with is, not, prefix, present, gt, ge, lt, "
	  "le\n" },
	{ "a list of nothing", FOUND("{/a: []}"), AT "6:18: /a: an empty list never holds\n" },
	{ "a list in a list", FOUND("{/a: [b, [c]]}"),
	  AT "6:22: /a: found a list, allowed: a text, or a field of the operation: op.version\n" },
	{ "numbers", FOUND("{/a: {gt: ten, lt: 1e3}}"),
	  AT "6:23: gt: found \"ten\", allowed: a number, or a field of the operation\n" },
	{ "an unknown field of the operation", FOUND("{/a: {is: op.versoin}}"),
	  AT "6:23: is: unknown field \"op.versoin\", the nearest is \"op.version\"\n" },
	{ "what is no status", FOUND("{status: [4xx, 404], /a: b}"),
	  AT "6:22: status: \"4xx\" is no status of HTTP, allowed: 100 to 599, tests like {ge: 400}; a "
	  "member of the body is written /status\n" },
	{ "fold alone", FOUND("{/a: {gt: 1, fold: case}}"),
	  AT "6:26: fold: needs is or prefix beside it\n" },
	{ "an unknown fold", FOUND("{/a: {is: b, fold: lower}}"),
	  AT "6:32: fold: found \"lower\", allowed: case, nfc, space\n" },
	{ "a condition that is none", FOUND("404"),
	  AT "6:13: absent: found \"404\", allowed: a condition like {status: 200, /id: {present: "
	     "true}}\n" },
	{ "an empty condition", FOUND("{}"),
	  AT "6:13: absent: an empty condition would recognise everything\n" },
	{ "absent by status alone", FOUND("{status: 404}"),
	  AT "6:13: absent: a status alone is no evidence, allowed: a test of the target's own "
	     "answer too\n" },
	{ "absent by status and what an error page lacks too",
	  FOUND("{status: 404, /id: {present: false}}"),
	  AT "6:13: absent: a status alone is no evidence, allowed: a test of the target's own "
	     "answer too\n" },
	{ "absent by status and the operation", FOUND("{status: 404, op.version: '1'}"),
	  AT "6:13: absent: a status alone is no evidence, allowed: a test of the target's own "
	     "answer too\n" },
	{ "one of the alternatives by status alone", FOUND("[{status: 404, /a: b}, {status: 410}]"),
	  AT "6:13: absent: a status alone is no evidence, allowed: a test of the target's own "
	     "answer too\n" },
	{ "head with a control",
	  PROBE("  - head: /{entity_id}\n    found: {status: 200}\n    absent: {status: 404}\n"),
	  "" },
	{ "head without a control",
	  "operation_type: t\ntarget: bare\nprobes:\n  - head: /{entity_id}\n    found: {status: "
	  "200}\n"
	  "    absent: {status: 404}\n" COMPARE,
	  AT "6:13: absent: a status alone is no evidence: target \"bare\" has no control\n" },
};

static const struct policy_case rows[] = {
	{ "not applicable without the operation",
	  SMALLEST "judge: [{when: {/a: b}, class: not_applicable}]\n"
		   "on_absent: [{when: {}, class: not_applicable}]\n"
		   "on_gone: [{when: {}, class: not_applicable}]\n",
	  AT
	  "9:9: judge: not_applicable needs a test of the operation too (op.entity_state for "
	  "example)\n" AT
	  "10:13: on_absent: not_applicable needs a test of the operation too (op.entity_state for "
	  "example)\n" AT
	  "11:11: on_gone: not_applicable needs a test of the operation too (op.entity_state for "
	  "example)\n" },
	{ "absent things have no fields",
	  SMALLEST "on_absent: [{when: {/a: b, op.version: '1'}, class: not_applicable}]\n",
	  AT "9:21: /a: only fields of the operation (op.…) can be tested here\n" },
	{ "unreachable rows",
	  SMALLEST "judge:\n  - {when: {/a: b}, class: waiting}\n  - {when: {}, class: compare}\n"
		   "  - {when: {/c: d}, class: divergent}\n",
	  AT "12:5: judge: is never reached, the row at line 11, column 5 always holds\n" },
	{ "incomplete rows", SMALLEST "judge: [{class: correct}, {when: {/a: b}}]\n",
	  AT "9:9: judge: when is missing: the condition of the row\n" AT
	     "9:17: class: found \"correct\", allowed: waiting, compare, divergent, ambiguous, "
	     "not_applicable\n" AT "9:27: judge: class is missing: what it is then\n" },
	{ "an ambiguous operation is never sent again", SMALLEST "actions: {ambiguous: requeue}\n",
	  AT "9:22: ambiguous: found \"requeue\", allowed: review, wait\n" },
	{ "nor compensated", SMALLEST "actions: {ambiguous: compensate}\n",
	  AT "9:22: ambiguous: found \"compensate\", allowed: review, wait\n" },
	{ "what is not correct is not confirmed",
	  SMALLEST "actions: {missing: confirm, divergent: requeue, correct: requeue}\n",
	  AT "9:20: missing: found \"confirm\", allowed: requeue, review, wait\n" AT
	     "9:40: divergent: found \"requeue\", allowed: compensate, review, wait\n" AT
	     "9:58: correct: found \"requeue\", allowed: confirm, review, wait\n" },
	{ "requeue with all it needs",
	  SMALLEST "idempotent: key\nresend: {key_valid: 24h}\nactions: {missing: requeue}\n", "" },
	{ "requeue without idempotence", SMALLEST "actions: {missing: requeue}\n",
	  AT "9:20: missing: requeue needs idempotent: key, natural or conditional\n" },
	{ "requeue with idempotent: no", SMALLEST "idempotent: no\nactions: {missing: requeue}\n",
	  AT "10:20: missing: requeue needs idempotent: key, natural or conditional\n" },
	{ "requeue with a key that is kept for ever",
	  SMALLEST "idempotent: key\nactions: {missing: requeue}\n",
	  AT "10:20: missing: requeue with idempotent: key needs resend: {key_valid: …}, how long "
	     "the target keeps it\n" },
	{ "a key that is forgotten before it can be sent again",
	  SMALLEST "latency_window: 15m\nidempotent: key\nresend: {key_valid: 16m}\n"
		   "actions: {missing: requeue}\n",
	  AT "11:21: key_valid: 16m is over before anything can be sent again: latency_window 15m "
	     "and requeue.delay 1m\n" },
	{ "one that is kept a little longer",
	  SMALLEST "latency_window: 15m\nidempotent: key\nresend: {key_valid: 961s}\n"
		   "actions: {missing: requeue}\n",
	  "" },
	{ "a key that is forgotten before absence is proven",
	  SMALLEST "absence: {after: 2h}\nidempotent: key\nresend: {key_valid: 2h}\n"
		   "requeue: {delay: 10s}\nactions: {missing: requeue}\n",
	  AT "11:21: key_valid: 2h is over before anything can be sent again: absence.after 2h and "
	     "requeue.delay 10s\n" },
	{ "how long it is kept matters only where it is sent again",
	  SMALLEST "idempotent: key\nresend: {key_valid: 1s}\n", "" },
	{ "and where it makes a second send harmless",
	  SMALLEST "idempotent: natural\nresend: {key_valid: 1s}\nactions: {missing: requeue}\n",
	  "" },
	{ "guards", SMALLEST "guard: {window: 0s, max: -1, share: 50, sample: 0}\n",
	  AT "9:17: window: found \"0s\", allowed: a duration like 90s, 15m, 24h, 30d, from 1s to "
	     "36500d\n" AT "9:26: max: found \"-1\", allowed: 0 to 1000000\n" AT
	     "9:37: share: found \"50\", allowed: 0% to 100%\n" AT
	     "9:49: sample: found \"0\", allowed: 1 to 1000000\n" },
	{ "requeue without a control",
	  "operation_type: t\ntarget: bare\n" PROBES COMPARE
	  "idempotent: natural\nactions: {missing: requeue}\n",
	  AT "10:20: missing: requeue needs a control of target \"bare\"\n" },
	{ "requeue where money is at stake",
	  SMALLEST "idempotent: natural\nstakes: money\nactions: {missing: requeue}\n",
	  AT "11:20: missing: requeue needs a row with when where stakes are money or "
	     "irreversible\n" },
	{ "enforce without a description",
	  SMALLEST "mode: enforce\ndescribe: {effect: a, proof: c}\n",
	  AT "9:7: mode: enforce needs describe: {truth: …}\n" AT
	     "9:7: mode: enforce needs describe: {owner: …}\n" },
};

#define SEVERAL(text) PROBE(text) "on_several: divergent\n"
#define NOT_OURS                                                                                   \
	"on_several: divergent needs our own unique reference in where of probe-1: "               \
	"op.operation_id, op.idempotency_key or op.remote_id\n"

static const struct policy_case several[] = {
	{ "by our reference",
	  SEVERAL("  - get: /a\n    found: {status: 200}\n    items: /d\n    where: {/k: "
		  "op.operation_id}\n"),
	  "" },
	{ "by our reference among others",
	  SEVERAL("  - get: /a\n    found: {status: 200}\n    items: /d\n"
		  "    where: {/x: y, /k: {is: op.idempotency_key, fold: case}}\n"),
	  "" },
	{ "below a path of ours",
	  SEVERAL("  - get: /a/{operation_id}/effects\n    found: {status: 200}\n    items: /d\n"
		  "    where: {/x: y}\n"),
	  "" },
	{ "one object cannot be several", SEVERAL("  - get: /a\n    found: {status: 200}\n"), "" },
	{ "the target says so of our reference",
	  SEVERAL("  - get: /a\n    query: {k: \"{operation_id}\"}\n    found: {status: 200}\n"
		  "    several: {status: 300}\n"),
	  "" },
	{ "by a key of the business",
	  SEVERAL("  - get: /a\n    found: {status: 200}\n    items: /d\n    where: {/k: "
		  "op.business_key}\n"),
	  AT "10:13: " NOT_OURS },
	{ "a filter in the query may be ignored",
	  SEVERAL("  - get: /a\n    query: {k: \"{operation_id}\"}\n    found: {status: 200}\n"
		  "    items: /d\n    where: {/k: op.business_key}\n"),
	  AT "11:13: " NOT_OURS },
	{ "not ours is not ours",
	  SEVERAL("  - get: /a\n    found: {status: 200}\n    items: /d\n"
		  "    where: {/k: {not: op.operation_id}}\n"),
	  AT "10:13: " NOT_OURS },
	{ "one of several references is no reference",
	  SEVERAL("  - get: /a\n    found: {status: 200}\n    items: /d\n"
		  "    where: {/k: [op.operation_id, x]}\n"),
	  AT "10:13: " NOT_OURS },
};

#define COMPARING(text) TYPE PROBES "compare:\n  a: " text "\n"
#define UNITS                                                                                      \
	"major, minor, hundredths, or scale 0 to scale 30: decimal places of a number without "    \
	"point\n"
#define ZONES "UTC, or a zone of /usr/share/zoneinfo, like Europe/Berlin\n"
#define ORDERED "needs type: number, money, time or version, and an order that is not opaque\n"
#define TIMES "a time like 2026-03-01T12:00:00Z; without an offset it needs zone\n"
#define DIGESTS "a digest of the length of its algorithm, in hex or as encoding says\n"

static const struct policy_case compares[] = {
	{ "every type",
	  TYPE PROBES
	  "compare:\n  a: {found: /a, fold: case, one_of: [x, op./expected/a]}\n"
	  "  b: {found: /b, type: number, tolerance: '0.01', is: op./expected/b}\n"
	  "  c: {found: status, type: number, at_least: '1e3'}\n"
	  "  d: {found: /d, type: version, order: dotted, at_least: 1.2.3}\n"
	  "  e: {found: header.etag, type: version, order: opaque, is: op.version}\n"
	  "  f: {found: /f, type: bool, is: 'true'}\n"
	  "  g: {found: /g, type: money, unit: minor, currency: /c, at_least: '10.99'}\n"
	  "  h: {found: /h, type: money, unit: hundredths, tolerance: '0.01', is: 10,\n"
	  "      sign: {by: /i, plus: CR, minus: DR}}\n"
	  "  i: {found: /i, type: money, unit: scale 4, one_of: ['-1.5', 1e3]}\n"
	  "  j: {found: /j, type: money, is: op./expected/j}\n"
	  "  k: {found: /k, type: time, skew: 5m, not_before: op.first_sent_at}\n"
	  "  l: {found: /l, type: time, zone: Europe/Berlin, is: 2026-03-01 12:00:00}\n"
	  "  m: {found: /m, type: time, zone: UTC, at_least: 1772366400}\n"
	  "  n: {found: /n/*/o, type: set, is: op./expected/n}\n"
	  "  o: {found: /o, type: set, is: []}\n"
	  "  p: {found: /p, type: list, is: [a, op.remote_id]}\n"
	  "  q: {found: /q, type: digest, algorithm: md5, encoding: base64,\n"
	  "      is: 1B2M2Y8AsgTpgAmY7PhCfg==}\n"
	  "  r: {found: /r, type: digest, algorithm: crc32c, is: DEADBEEF}\n"
	  "  s: {found: /s, type: version, order: time, zone: America/New_York, skew: 1s,\n"
	  "      at_least: 2026-03-01T12:00:00Z}\n",
	  "" },
	{ "nothing is compared", TYPE PROBES,
	  AT "1:1: compare is missing: what must be as expected, or existence_only: true\n" },
	{ "existence is enough", TYPE PROBES "existence_only: true\n", "" },
	{ "existence is not enough", TYPE PROBES "existence_only: false\n",
	  AT "7:17: existence_only: without compare only true is allowed\n" },
	{ "both", SMALLEST "existence_only: true\n",
	  AT "9:17: existence_only: contradicts compare\n" },
	{ "an empty mapping", TYPE PROBES "compare: {}\n",
	  AT "7:10: compare: found a mapping, allowed: a mapping of names to comparisons\n" },
	{ "no place", COMPARING("{is: op.version}"),
	  AT "8:6: a: found is missing: where the value is in the item\n" },
	{ "no expectation", COMPARING("{found: /a}"),
	  AT "8:6: a: found 0 expectations, allowed: one of is, one_of, at_least, not_before\n" },
	{ "two expectations", COMPARING("{found: /a, is: b, one_of: [c]}"),
	  AT "8:6: a: found 2 expectations, allowed: one of is, one_of, at_least, not_before\n" },
	{ "an empty expectation", COMPARING("{found: /a, is: ''}"),
	  AT "8:22: is: found \"\", allowed: a text, or a field of the operation: op.version\n" },
	{ "null is expected", COMPARING("{found: /a, is: null}"),
	  AT
	  "8:22: is: found nothing, allowed: a text, or a field of the operation: op.version\n" },
	{ "a typing error", COMPARING("{found: /a, type: money, untt: minor, is: 1}"),
	  AT "8:31: untt: unknown key, nearest known key: unit\n" },
	{ "what is later in the same file", COMPARING("{found: /a, type: monney, is: 1}"),
	  AT "8:24: type: found \"monney\", allowed: text, number, money, time, set, list, bool, "
	     "digest, version; nearest: money\n" },
	{ "an option of another type", COMPARING("{found: /a, type: number, fold: case, is: '1'}"),
	  AT "8:32: fold: belongs to type: text\n" },
	{ "options without their type",
	  COMPARING("{found: /a, tolerance: '1', order: dotted, is: b}"),
	  AT "8:18: tolerance: belongs to type: number, money\n" AT
	     "8:34: order: belongs to type: version\n" },
	{ "more options without their type",
	  COMPARING(
		  "\n    found: /a\n    unit: major\n    currency: /b\n    sign: {by: /c, plus: +, "
		  "minus: '-'}\n    skew: 1s\n    zone: UTC\n    algorithm: md5\n"
		  "    encoding: hex\n    is: b"),
	  AT "10:5: unit: belongs to type: money\n" AT
	     "11:5: currency: belongs to unit: minor of type: money\n" AT
	     "12:5: sign: belongs to type: money\n" AT
	     "13:5: skew: belongs to type: time, or to order: time\n" AT
	     "14:5: zone: belongs to type: time, or to order: time\n" AT
	     "15:5: algorithm: belongs to type: digest\n" AT
	     "16:5: encoding: belongs to type: digest\n" },
	{ "times of versions that are none",
	  COMPARING("{found: /a, type: version, zone: UTC, skew: 1s, is: 7}"),
	  AT "8:33: zone: belongs to type: time, or to order: time\n" AT
	     "8:44: skew: belongs to type: time, or to order: time\n" },
	{ "a currency that is not looked at",
	  COMPARING("{found: /a, type: money, unit: hundredths, currency: /c, is: 1}"),
	  AT "8:49: currency: belongs to unit: minor of type: money\n" },
	{ "minor units of what", COMPARING("{found: /a, type: money, unit: minor, is: 1}"),
	  AT "8:37: unit: minor needs currency: where the code of the currency is\n" },
	{ "units that there are not",
	  TYPE PROBES "compare:\n  a: {found: /a, type: money, unit: cents, is: 1}\n"
		      "  b: {found: /a, type: money, unit: scale, is: 1}\n"
		      "  c: {found: /a, type: money, unit: scale 31, is: 1}\n"
		      "  d: {found: /a, type: money, unit: scale 02, is: 1}\n"
		      "  e: {found: /a, type: money, unit: scale -1, is: 1}\n",
	  AT "8:37: unit: found \"cents\", allowed: " UNITS AT
	     "9:37: unit: found \"scale\", allowed: " UNITS AT
	     "10:37: unit: found \"scale 31\", allowed: " UNITS AT
	     "11:37: unit: found \"scale 02\", allowed: " UNITS AT
	     "12:37: unit: found \"scale -1\", allowed: " UNITS },
	{ "a sign by half",
	  COMPARING("{found: /a, type: money, sign: {by: amount, plus: CR}, is: 1}"),
	  AT "8:37: sign: minus is missing: what stands there when it counts as negative\n" AT
	     "8:42: by: \"amount\" is no place; allowed: /pointer, status, header.NAME, "
	     "body./pointer, op.FIELD, op./expected/name\n" },
	{ "a sign that says nothing",
	  COMPARING("{found: /a, type: money, sign: {by: /b, plus: X, minus: X}, is: 1}"),
	  AT "8:37: sign: plus and minus are the same\n" },
	{ "zones that there are not",
	  TYPE PROBES
	  "compare:\n  a: {found: /a, type: time, zone: Europe/Berlln, is: op.sent_at}\n"
	  "  b: {found: /a, type: time, zone: ../../etc/passwd, is: op.sent_at}\n"
	  "  c: {found: /a, type: time, zone: right/UTC, is: op.sent_at}\n"
	  "  d: {found: /a, type: time, zone: Europe, is: op.sent_at}\n"
	  "  e: {found: /a, type: time, zone: '+01:00', is: op.sent_at}\n"
	  "  f: {found: /a, type: time, zone: [UTC], is: op.sent_at}\n",
	  AT "8:36: zone: found \"Europe/Berlln\", allowed: " ZONES AT
	     "9:36: zone: found \"../../etc/passwd\", allowed: " ZONES AT
	     "10:36: zone: found \"right/UTC\", allowed: " ZONES AT
	     "11:36: zone: found \"Europe\", allowed: " ZONES AT
	     "12:36: zone: found \"+01:00\", allowed: " ZONES AT
	     "13:36: zone: found a list, allowed: " ZONES },
	{ "texts have no order", COMPARING("{found: /a, at_least: b}"),
	  AT "8:18: at_least: " ORDERED },
	{ "opaque versions neither",
	  COMPARING("{found: /a, type: version, order: opaque, at_least: b}"),
	  AT "8:48: at_least: " ORDERED },
	{ "numbers are not before others", COMPARING("{found: /a, type: number, not_before: 1}"),
	  AT "8:32: not_before: needs type: time or order: time\n" },
	{ "sets of sets",
	  TYPE PROBES "compare:\n  a: {found: /a, type: set, one_of: [a]}\n"
		      "  b: {found: /a, type: list, is: a}\n"
		      "  c: {found: /a, is: [a]}\n"
		      "  d: {found: /a, type: set, is: [[a]]}\n",
	  AT
	  "8:29: one_of: sets and lists are compared with one other: is\n" AT
	  "9:34: is: found \"a\", allowed: a list, or a field of the operation that has one\n" AT
	  "10:22: is: found a list, allowed: a text\n" AT
	  "11:34: is: found a list, allowed: a text, or a field of the operation: op.version\n" },
	{ "literals of their type",
	  TYPE PROBES "compare:\n  a: {found: /a, type: number, is: ten}\n"
		      "  b: {found: /a, type: bool, is: 'yes'}\n"
		      "  c: {found: /a, type: version, is: '1.5'}\n"
		      "  d: {found: /a, type: money, at_least: '10,99'}\n"
		      "  e: {found: /a, type: time, is: 2026-03-01 12:00:00}\n"
		      "  f: {found: /a, type: time, not_before: 2026-02-30T12:00:00Z}\n"
		      "  g: {found: /a, type: digest, algorithm: sha256, is: abcd}\n"
		      "  h: {found: /a, type: digest, is: '\"abcd\"'}\n"
		      "  i: {found: /a, type: number, one_of: [1, two, 3]}\n",
	  AT
	  "8:36: is: found \"ten\", allowed: a number like 10 or 10.50\n" AT
	  "9:34: is: found \"yes\", allowed: true, false\n" AT
	  "10:37: is: found \"1.5\", allowed: a version of its order: integer 7, dotted 1.10, or "
	  "time\n" AT
	  "11:41: at_least: found \"10,99\", allowed: an amount in the major unit like 10.99\n" AT
	  "12:34: is: found \"2026-03-01 12:00:00\", allowed: " TIMES AT
	  "13:42: not_before: found \"2026-02-30T12:00:00Z\", allowed: " TIMES AT
	  "14:55: is: found \"abcd\", allowed: " DIGESTS AT
	  "15:36: is: found \"\"abcd\"\", allowed: " DIGESTS AT
	  "16:44: one_of: found \"two\", allowed: a number like 10 or 10.50\n" },
	{ "a negative tolerance", COMPARING("{found: /a, type: number, tolerance: '-1', is: '1'}"),
	  AT "8:43: tolerance: found \"-1\", allowed: a number that is not negative\n" },
};

static void
test_cases(const struct policy_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		case_write("policies.d/t.yaml", cases[i].text);
		case_check("policies.d/t.yaml", cases[i].want, cases[i].name);
	}
}

#define TEST(cases) test_cases(cases, sizeof(cases) / sizeof((cases)[0]))

int
main(void)
{
	case_begin();
	case_write("targets.d/crm.yaml", "target: crm\nbase: https://crm.example.com\n"
					 "control: {get: /control, found: {status: 200}}\n");
	case_write("targets.d/bare.yaml",
		   "target: bare\nbase: https://bare.example.com\ncontrol: none\n");
	TEST(keys);
	TEST(probes);
	TEST(conditions);
	TEST(rows);
	TEST(several);
	TEST(compares);
	return case_end();
}
