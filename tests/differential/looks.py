# SPDX-License-Identifier: Apache-2.0
"""Random looks: operations, and what a target might answer, driven by what a policy looks at.

An answer is built to pass a rule of the probe that is asked, and then spoilt in one place or
another. Everything comes from the given random.Random, so that a seed repeats a run.
"""

import copy
import json

from evaluator import Ended, Judge, op_value, operation_of
from fields import Unreadable, duration, read_time, version
from tree import MISSING, render, split_pointer

FAULTS = ["timeout", "refused", "dns", "tls", "truncated"]
STATUSES = ["200", "201", "204", "206", "301", "302", "400", "401", "403", "404", "408", "409", "410", "412", "425",
            "429", "500", "502", "503", "504"]
HOSTILE = ["", "  \n", "null", "[]", "{}", '""', "0", "<html><h1>Bad Gateway</h1></html>", '{"data":[', '{"id":"1","id":"2"}',
           '{"id":"\\ud800"}', '{"id":"a\\u0000b"}', "[" * 70 + "]" * 70, '{"a":NaN}', '{"a":01}', "{'a':1}",
           '{"a":1,}', '[1] [2]', "\ufeff{}", '{"errors":[{"code":"THROTTLED"}]}', '{"errors":[{"message":"boom"}]}',
           '{"fault":{"code":3}}', '"text"', '[[],{}]', '{"result":null}', '{"a":1e5,"b":-0.0}', "[" * 200]
TEXTS = ["Ärger", "A\u0308rger", "STRASSE", "straße", "Straße", "a b", " a  b ", "a\tb", "İ", "ı", "ﬁ", "Å", "Å", "x",
         "ΟΔΟΣ", "οδος", "οδοσ", "no", "true", "null", "1", "\U0001f600", "é", "e\u0301", "E\u0301", "a\u00a0b", "日本"]
NUMBERS = ["0", "-0", "1", "1.0", "1e0", "10", "1e1", "100", "1e2", "0.30", "0.3", "0.30000000000000004",
           "9007199254740992", "9007199254740993", "18446744073709551616", "18446744073709551617", "1E2", "2.50", "2.5",
           "123456789012345678901234567890.123456789", "123456789012345678901234567890.123456788", "-5", "-5.05", "-4.95",
           "10.05", "10.1", "9.9", "9.95", "1e1000", "1e-1000", "1e1001", "+7", "7", "007", "1e+2", "99.95", "100.05"]
NOT_NUMBERS = ["", ".5", "5.", "1,5", "1 000", "0x10", "1e", "NaN", "ten", "1.2.3", " 7", "7 ", "٧", "--1", "1e99999"]
MOMENTS = ["2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00", "2026-03-01 12:00:00Z", "2026-03-01T12:00:00+0000",
           "2026/03/01T12:00:00Z", "Sun, 01 Mar 2026 12:00:00 GMT", "1772366400", "1772366400000", "/Date(1772366400000)/",
           "2026-03-01T12:00:02Z", "2026-03-01T12:00:02.5Z", "2026-03-01T11:59:58Z", "2026-03-01T11:59:57.999999Z",
           "2026-03-01T12:00:00.000Z", "2026-03-01t12:00:00z", "1772366402", "1772366402001", "2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00",
           "2017-01-01T00:00:00Z", "2040-02-29T00:00:00Z", "2100-03-01T00:00:00Z", "2026-03-01T07:00:00-05:00",
           "2026-03-01T12:05:00Z", "2026-03-01T12:04:59Z", "2026-03-01T11:54:59Z", "2026-03-01T11:55:00Z", "1772366399"]
LOCAL = ["2026-03-01T13:00:00", "2026-07-01T14:00:00", "2026-07-01 14:00:00", "2026-03-29T02:30:00", "2026-10-25T02:30:00"]
NOT_MOMENTS = ["", "2026-03-01", "2026-02-30T00:00:00Z", "2026-03-01T25:00:00Z", "2026-13-01T00:00:00Z", "yesterday",
               "12:00", "177236640", "17723664000", "2026-03-01T12:00:00+1", "2026-03-01T12:00Z", "2026-03-01T12:00:61Z",
               "Sun, 01 Mar 2026 12:00:00", "2026-03-01T12:00:60Z", "2026-03-01T12:00:00 Z", "2026-06-30T23:59:60+01:00", "2026-03/01T12:00:00Z"]
DIGESTS = {"md5": ["d41d8cd98f00b204e9800998ecf8427e", "D41D8CD98F00B204E9800998ECF8427E", "1B2M2Y8AsgTpgAmY7PhCfg=="],
           "sha1": ["da39a3ee5e6b4b0d3255bfef95601890afd80709", "2jmj7l5rSw0yVb_vlWAYkK_YBwk=", "2jmj7l5rSw0yVb_vlWAYkK_YBwk",
                    "2jmj7l5rSw0yVb/vlWAYkK/YBwk="],
           "sha256": ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                      "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
                      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b856"],
           "crc32c": ["00000000", "AAAAAA==", "AAAAAA", "E3069283", "4waSgw==", "e3069283"]}
NOT_DIGESTS = ["", "d41d8cd98f00b204e9800998ecf8427e-3", "xyz", "d41d8cd9", "=====", "47DEQpj8HBSa"]
VERSIONS = {"integer": ["7", "8", "6", "10", "9", "07", "18446744073709551617", "-1"],
            "dotted": ["1.2", "1.2.0", "1.10", "1.9", "2", "01.2", "1.2.0.1", "10"], "opaque": ['"a1"', 'W/"a1"', '"a2"', "7"]}
NOT_VERSIONS = ["", "v7", "1..2", ".1", "1.", "seven", "1.2-rc1"]
AMOUNTS = ["10.99", "10.990", "0.1099", "1099", "10", "10.00", "0", "-10.99", "0.10", "5.0000", "1e1", "12345678901234567890.12"]
CODES = ["EUR", "eur", "JPY", "KWD", "USD", "ZZZ", "", "EURO"]
IDS = ["op_00000001", "op_00000002", "k-77", "a_b-2", "c42", "o1"]
UNSAFE = ["o1#x", "a?b", "../o2", "..", ".", "a/b", "o1%2F", "a b", 'x"y', "é", "x" * 201, "a//b", "/a", "a/", "x\n"]
STATES = ["active", "cancelled", "deleted", "refunded", "replaced", "frozen", "unclear"]
ODD = [None, "", [], {}, "zzz", ["a", "b"], {"x": "y"}, "true", 0, True, [None], ["a"], [[]]]


def type_pool(by):
    kind = by.get("type", "text")
    if kind == "text":
        return TEXTS, [""]
    if kind == "number":
        return NUMBERS, NOT_NUMBERS
    if kind == "money":
        return AMOUNTS, NOT_NUMBERS
    if kind == "time" or by.get("order") == "time":
        return (MOMENTS + LOCAL if "zone" in by else MOMENTS), NOT_MOMENTS + LOCAL[:1]
    if kind == "digest":
        return DIGESTS[by["algorithm"]], NOT_DIGESTS
    if kind == "version":
        return VERSIONS[by.get("order", "integer")], NOT_VERSIONS
    if kind == "bool":
        return ["true", "false"], ["", "yes", "TRUE", "2"]
    return TEXTS, [""]


class Maker:
    """Random answers for one policy and one operation."""

    def __init__(self, rng, policy, target):
        self.rng, self.policy, self.target = rng, policy, target
        self.op = {}
        self.wild = rng.choice([0, 0, 0.05, 0.2])
        self.kinds = None   # of answers, mostly
        self.until = ""     # how far the data reach
        self.side = rng.choice([""] * 6 + ["older", "newer"])   # where versions mostly are

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, *choices):
        return self.rng.choice(choices[0] if len(choices) == 1 else choices)

    # --- the operation

    def operation(self):
        rng, op = self.rng, {"operation_id": self.pick(IDS[:2] + ["op_77"])}
        for name in ("idempotency_key", "business_key", "remote_id", "entity_id", "correlation_id", "superseded_by",
                     "entity_type", "version", "scope"):
            if self.chance(0.97 if name not in ("remote_id", "superseded_by", "correlation_id") else 0.4):
                op[name] = self.pick(UNSAFE + ["b/1"]) if self.chance(0.01) else self.pick(IDS[:4])
        if any("|path}" in probe.get("head", "") for probe in self.policy["probes"]) and self.chance(0.5):
            op["business_key"] = self.pick("b/1", "a/b/c_d", "a//b", "a/../b", "abcd/efgh")
        if "version" in op:
            by = [c for c in (self.policy.get("compare") or {}).values() if "op.version" in c.values()]
            op["version"] = self.pick(type_pool(by[0])[0]) if by else "7"
        if self.chance(0.03):
            op["operation_id"] = self.pick(["a'b", "x" * 180, "op.1", "o#1"])
        if any("batch" in probe for probe in self.policy["probes"]) and self.chance(0.7):
            op["remote_id"] = self.pick(IDS)
        if self.chance(0.4):
            op["entity_state"] = self.pick(STATES + ["cancelled", "deleted", "deleted"])
        if self.chance(0.04):
            op["first_sent_at"] = op["sent_at"] = None
        op["expected"] = self.expected()
        self.op = operation_of(self.policy, {"operation": op})
        return op

    def expected(self):
        out = {"sku": self.pick(IDS)}
        for by in (self.policy.get("compare") or {}).values():
            for value in by.values():
                for v in value if isinstance(value, list) else [value]:
                    if isinstance(v, str) and v.startswith("op./expected/") and not self.chance(0.03):
                        out[v.rsplit("/", 1)[1]] = self.expected_value(by)
        for row in self.policy.get("judge") or []:
            for locator in row["when"]:
                if locator.startswith("op./expected/"):
                    out.setdefault(locator.rsplit("/", 1)[1], self.pick([50, 100, 101, "150.5", "x"]))
        return out

    def expected_value(self, by):
        good, bad = type_pool(by)
        if by.get("type") in ("set", "list"):
            if self.chance(0.1) or "[" in str(by.get("is")):
                return self.pick(["x", "", None, [], ["x", ""]]) if self.chance(0.2) else "x"
            return [self.pick(["s1", "s2", "s3", 4]) for _ in range(self.rng.randrange(4))]
        if self.chance(0.04):
            return self.pick(bad + ODD)
        return self.spell(self.pick(good))

    def spell(self, text):
        """A number text may be written as a number."""
        if self.chance(0.5) and json_number(text):
            return Raw(text)
        return {"true": True, "false": False}.get(text, text) if self.chance(0.5) else text

    # --- trees

    def put(self, tree, pointer, value):
        """Sets what a pointer leads to, making what is missing on the way."""
        tokens = split_pointer(pointer)
        if not tokens:
            return value
        head, rest = tokens[0], "".join("/" + t for t in tokens[1:])
        if head == "*":
            tree = tree if isinstance(tree, list) and tree else [{}]
            n = self.rng.randrange(len(tree))
            tree[n] = self.put(tree[n], rest, value)
            return tree
        if head.startswith("["):
            path, _, wanted = head[1:-1].partition("=")
            tree = tree if isinstance(tree, list) else [tree] if isinstance(tree, dict) and tree else [{}]
            n = self.rng.randrange(len(tree))
            tree[n] = self.put(tree[n] if isinstance(tree[n], dict) else {}, "/" + path, render(wanted, self.op) or "zz")
            tree[n] = self.put(tree[n], rest, value)
            return tree
        tree = tree if isinstance(tree, dict) else {}
        tree[head] = self.put(tree.get(head, {}), rest, value)
        return tree

    def satisfying(self, test):
        """A value that passes a test; MISSING for one that nothing there passes."""
        if test is None:
            return None
        if isinstance(test, list):
            return self.satisfying(self.pick(test)) if test else "x"
        if isinstance(test, str):
            value = op_value(self.op, test[3:]) if test.startswith("op.") else test
            return "zz" if value is MISSING else self.spell(value) if isinstance(value, str) else copy.deepcopy(value)
        if "not" in test:
            return self.pick([MISSING, None, "other", "paid", "succeeded", 5])
        if "present" in test:
            return MISSING if test["present"] == "false" else self.pick(["x", 7, {"a": 1}, ["y"], True])
        for name in ("gt", "ge", "lt", "le"):
            if name in test:
                base = self.satisfying(test[name])
                return Raw(str(int(base) + {"gt": 1, "ge": 0, "lt": -1, "le": 0}[name])) if str(base).isdigit() else 5
        value = self.satisfying(test.get("is", test.get("prefix")))
        if "prefix" in test and isinstance(value, str):
            value += self.pick("", "07", "-x")
        if "fold" in test and isinstance(value, str) and self.chance(0.4):
            value = value.upper()
        return value

    def apply(self, answer, body, item, condition):
        """Makes an answer, and perhaps one item of it, pass a condition. Returns both trees."""
        for locator, test in condition.items():
            value = self.satisfying(test) if not self.chance(self.wild / 4) else self.pick(ODD)
            if locator == "status":
                answer["status"] = str(value) if str(value) in STATUSES + ["203", "300"] else "200"
            elif locator.startswith("header."):
                self.header(answer, locator[7:], value)
            elif locator.startswith("op.") or value is MISSING:
                continue
            elif locator.startswith("body.") or item is MISSING:
                body = self.put(body, locator.removeprefix("body."), value)
            else:
                item = self.put(item, locator, value)
        return body, item

    def header(self, answer, name, value):
        if isinstance(value, (str, Raw)) and str(value).isprintable() and str(value).isascii() and str(value) == str(value).strip():
            answer["headers"][self.pick(name, name.upper())] = str(value)

    # --- items

    def item(self, probe, answer):
        item = {}
        for name, by in (self.policy.get("compare") or {}).items():
            item = self.compared(answer, item, by)
        if "where" in probe:
            wanted = probe["where"]
            if self.chance(0.12):
                wanted = {k: "other" if self.chance(0.6) else v for k, v in wanted.items()}
            _, item = self.apply(answer, {}, item, wanted)
        if "batch" in probe and self.chance(0.3):
            item = self.put(item, probe["batch"]["match"], self.pick(IDS))
        for name in ("remote_id",):
            item.setdefault("id", self.pick(IDS[:3]))
        extra = [row["when"] for row in self.policy.get("judge") or []] * self.chance(0.35)
        extra += (probe.get("skip") or []) * self.chance(0.3)
        if extra:
            _, item = self.apply(answer, {}, item, self.pick(extra))
        elif self.policy.get("judge") and self.chance(0.7):
            self.settle(item)
        if "then" in probe and self.chance(0.8):
            for locator in probe["then"]["with"].values():
                item = self.put(item, locator, self.pick(IDS[:3]) if self.chance(0.9) else self.pick(ODD + UNSAFE))
        return self.spoil(item)

    def settle(self, item):
        """States that the judge rows of the policies let through."""
        for name, words in {"status": ["succeeded", "COMPLETED"], "state": ["ok", "paid", "fine"], "notes": ["n"]}.items():
            if any("/" + name in row["when"] for row in self.policy["judge"]):
                item[name] = self.pick(words)

    def compared(self, answer, item, by):
        locator = by["found"]
        relation = next(r for r in ("is", "one_of", "at_least", "not_before") if r in by)
        wanted = by[relation]
        if by.get("type") in ("set", "list"):
            value = self.found_list(by, wanted)
            if "*" in locator:
                start, _, end = locator.partition("/*")
                return self.put(item, start, [self.put({}, end, v) for v in value])
        else:
            value = self.found_value(by, self.pick(wanted) if isinstance(wanted, list) else wanted)
        if "sign" in by:
            item = self.put(item, by["sign"]["by"], self.pick(by["sign"]["plus"], by["sign"]["minus"]))
        if "currency" in by and not self.chance(0.1):
            item = self.put(item, by["currency"], self.pick(CODES) if self.chance(0.4) else "EUR")
        if locator.startswith("header."):
            self.header(answer, locator[7:], value)
            return item
        return item if self.chance(0.02) else self.put(item, locator, value)

    def found_value(self, by, wanted):
        good, bad = type_pool(by)
        if self.chance(self.wild):
            return self.pick(bad + ODD)
        if self.chance(0.15):
            return self.spell(self.pick(good))
        value = op_value(self.op, wanted[3:]) if wanted.startswith("op.") else wanted
        if not isinstance(value, str):
            return self.spell(self.pick(good))
        if self.side and by.get("type") == "version" and by.get("order") != "opaque" and self.chance(0.8):
            return self.spell(self.pick(self.versions(by, good, value) or [value]))
        if by.get("type") == "money":
            return self.money(by, value)
        if by.get("type") == "text" and "fold" in by and self.chance(0.3):
            return value.upper()
        if by.get("type") == "digest":
            return self.pick(good)
        return self.spell(value)

    def versions(self, by, pool, value):
        """Those of the pool that are on the wanted side of a value."""
        try:
            ours = version(value, by)
            return [v for v in pool if (version(v, by) < ours if self.side == "older" else version(v, by) > ours)]
        except Unreadable:
            return []

    def money(self, by, value):
        """The same amount in the target's unit, often."""
        places = {"major": 0, "minor": 2, "hundredths": 2}.get(by["unit"])
        places = int(by["unit"].split()[1]) if places is None else places
        whole, _, part = value.lstrip("-").partition(".")
        if not (whole + part).isdigit() or self.chance(0.1):
            return self.spell(self.pick(AMOUNTS))
        digits = whole + part.ljust(places, "0")
        cut = len(whole) + places
        text = (digits[:cut].lstrip("0") or "0") + ("." + digits[cut:] if digits[cut:].strip("0") else "")
        return self.spell(("-" if value.startswith("-") and "sign" not in by else "") + text)

    def found_list(self, by, wanted):
        wanted = op_value(self.op, wanted[3:]) if isinstance(wanted, str) else \
            [op_value(self.op, w[3:]) if w.startswith("op.") else w for w in wanted]
        value = [self.spell(v) if isinstance(v, str) else "x" for v in wanted] if isinstance(wanted, list) else []
        if self.chance(0.2):
            self.rng.shuffle(value)
        if self.chance(0.1):
            value.append(self.pick("s1", "s9", None, "", {}))
        if value and self.chance(0.1):
            value.pop()
        return value

    def spoil(self, tree):
        """Sometimes changes one member of an object."""
        if isinstance(tree, dict) and tree and self.chance(self.wild):
            name = self.pick(sorted(tree))
            if isinstance(tree[name], dict) and tree[name] and self.chance(0.5):
                tree[name] = self.spoil(tree[name])
            elif self.chance(0.4):
                del tree[name]
            else:
                tree[name] = self.pick(ODD + HOSTILE[:6])
        return tree

    # --- answers

    def answer(self, probe, at):
        """A written reading: a fault, one answer, or several pages."""
        reading = {"at": at, "probe": probe["name"]}
        if self.chance(0.06):
            return reading | {"fault": self.pick(FAULTS)}
        self.until = self.pick("2017-01-01T00:00:00Z", "2040-02-29T00:00:00Z", "2026-03-05T00:00:00Z", "2026-02-27T00:00:00Z",
                               "2026-03-01T12:00:00.5Z", "2026-03-01T11:59:59Z", "2026-03-05", "soon")
        pages = probe.get("pages")
        if not pages or self.chance(0.05):
            return reading | self.page(probe, 0, 1)
        count = self.pick([1, 1, 2, 2, 3, 4])
        return reading | {"pages": [self.page(probe, n, count) for n in range(count)]}

    def kind(self, probe):
        known = [k for k in ("gone", "several", "unfinished", "absent") if k in probe]
        if self.kinds is None:
            self.kinds = self.pick([["found"] * 8, ["found", "found", "absent", "absent"], ["absent"] * 6, ["gone", "gone", "found"],
                                    ["found", "gone", "several", "unfinished", "absent", "odd"]])
        kind = self.pick(self.kinds)
        return "odd" if self.chance(0.05) else kind if kind in known + ["found", "odd"] else "found"

    def page(self, probe, index, count):
        kind = "found" if count > 1 and not self.chance(0.05) else self.kind(probe)
        answer = {"status": "200", "headers": {}}
        body = self.whole_body(probe, answer, index, count)
        rules = (self.target.get("throttled") or []) + (self.target.get("broken") or [])
        if rules and self.chance(0.06):
            body, _ = self.apply(answer, body, MISSING, self.pick(rules))
        elif kind == "odd":
            answer["status"] = self.pick(STATUSES)
        elif kind in probe:
            rule = probe[kind]
            body, _ = self.apply(answer, body, MISSING, self.pick(rule) if isinstance(rule, list) else rule)
        self.extras(probe, answer, index, count)
        if "head" not in probe:
            answer["body"] = write(body)
            if kind == "odd" and self.chance(0.7):
                answer["body"] = self.pick(HOSTILE)
        if not answer["headers"]:
            del answer["headers"]
        return answer

    def whole_body(self, probe, answer, index, count):
        if "head" in probe:
            self.item(probe, answer)
            return {}
        if "items" not in probe:
            return self.item(probe, answer)
        want_absent = self.kinds and "absent" in self.kinds and "found" not in self.kinds
        sizes = [0, 0, 1] if want_absent else [0, 1, 1, 1, 2, 2, 3]
        items = [self.item(probe, answer) for _ in range(self.pick(sizes))]
        if items and self.chance(0.15):
            items.append(copy.deepcopy(self.pick(items)))
        if want_absent and "where" in probe and items:
            items = [self.put(i, self.pick(sorted(k for k in probe["where"] if k.startswith("/"))), "foreign") for i in items]
        if self.chance(0.03):
            items.append(self.pick(ODD))
        if "each" in probe:
            items = [self.put({"n": self.rng.randrange(3)}, probe["each"], i) for i in items]
        value = items
        if self.chance(0.06):
            value = self.pick([items[0] if items else None, None, items])
        body = {} if self.chance(0.03) and probe["items"] else self.put({}, probe["items"], value)
        return self.lists(probe, answer, body, index, count)

    def lists(self, probe, answer, body, index, count):
        """What says whether there is more."""
        more = index + 1 < count
        pages = probe.get("pages") or {}
        if isinstance(body, dict):
            if "next" in pages:
                body = self.put(body, pages["next"], f"t{index}" if more else self.pick([None, ""]))
                if not more and self.chance(0.3):
                    body.pop(pages["next"][1:])
            if "total" in pages:
                body = self.put(body, pages["total"], count if not self.chance(self.wild) else self.pick(ODD))
            if "complete" in probe and not more:
                rule = probe["complete"]
                body, _ = self.apply(answer, body, MISSING, self.pick(rule) if isinstance(rule, list) else rule)
        if "link" in pages and more:
            answer["headers"]["Link"] = self.pick('<https://plain.example.com/api/things?p=%d>; rel="next"' % index,
                                                  '</api/a>; rel="prev", </api/things?p=%d>; rel=next' % index)
        until = (probe.get("covers") or {}).get("until", "")
        if until.startswith("header."):
            self.header(answer, until[7:], self.until)
        elif until.startswith("body.") and isinstance(body, dict):
            body = self.put(body, until[5:], self.until)
        return body

    def extras(self, probe, answer, index, count):
        if self.chance(0.08):
            answer["headers"]["Age"] = self.pick(["0", "55", "290", "301", "90000", "x"])
        if self.chance(0.03):
            answer["headers"]["Retry-After"] = self.pick("30", "Sun, 01 Mar 2026 12:00:00 GMT")
        if self.chance(0.03):
            answer["status"] = self.pick(STATUSES)


class Raw(str):
    """The text of a number, written without quotes."""


def json_number(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return isinstance(text, str) and text.lstrip("-")[:1].isdigit()


encode = json.JSONEncoder(ensure_ascii=False).encode


def write(value):
    """JSON text of a tree; Raw numbers as they are."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(encode(k) + ":" + write(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    return encode(value)


def times(rng, policy):
    """Seconds after the send at which looks begin, some of them exactly on a limit."""
    absence = policy.get("absence") or {}
    window = policy.get("latency_window", "5m")
    after = int(duration(absence.get("after", window)))
    over = int(duration(absence.get("over", window)))
    until = int(duration((policy.get("waiting") or {}).get("until", policy.get("deadline", "7d"))))
    horizon = int(duration(absence.get("horizon", "90d")))
    starts = [after, after, after - 1, after + 1, after // 2, after + 30, 1, until, until + 1, horizon, horizon + 1]
    at = max(rng.choice(starts), 0)
    out = [at]
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 4, 12])):
        at += max(rng.choice([over, over, over // 2, over - 1, over + 1, 60, 1, after]), 1)
        out.append(at)
    return out


def texts(value):
    """An operation as evaluation sees it after being written: scalars are text."""
    if isinstance(value, dict):
        return {k: texts(v) for k, v in value.items()}
    if isinstance(value, list):
        return [texts(v) for v in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None else str(value)


def make_case(rng, policy, target, name):
    """One case of a policy test, with what the evaluator expects."""
    maker = Maker(rng, policy, target)
    operation = texts(maker.operation())
    control = rng.choice(["found"] * 5 + ["absent"])
    case = {"name": name, "operation": operation, "readings": []}
    if control != "found":
        case["control"] = control
    op = operation_of(policy, case)
    maker.op = op
    start = read_time("2026-03-01T12:00:00Z")
    sent = op_value(op, "sent_at")
    judge = Judge(policy, target, op, None if sent is MISSING else read_time(sent))
    moments = times(rng, policy)
    later = moments[-1] + rng.choice([1, 600, 86_400, 90 * 86_400]) if rng.random() < 0.15 else None
    if later:
        case["now"] = f"{later}s"
    for at in moments:
        def ask(probe, at=at):
            if rng.random() < 0.02 and case["readings"] and case["readings"][-1]["at"] == f"{at}s":
                raise Ended
            reading = maker.answer(probe, f"{at}s")
            case["readings"].append(reading)
            return reading

        before = len(case["readings"])
        now = start + later if later and at == moments[-1] else None
        verdict = judge.look(start + at, control, ask, now)
        for reading, used in zip(case["readings"][before:], judge.used):
            if "pages" in reading:
                reading["pages"] = reading["pages"][:max(used, 1)]
        if before == len(case["readings"]):
            break
    case["expect"] = {"class": verdict.cls, "reason": verdict.reason}
    return case, verdict
