# SPDX-License-Identifier: Apache-2.0
"""An evaluator of the policy language that shares nothing with the program.

judge_case(policy, target, case) tells class, reason and rule of the last look of a policy test, and
which readings were used. Knows HTTP probes only, and no actions. Slow, exact, and small enough to be
read beside the description of the language.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction

from fields import (DIFFERENT, EQUAL, NEWER, OLDER, UNREADABLE, Unreadable, compare_field, duration, read_time)
from tree import MISSING, TIMES, Many, Scene, Unparsed, find, holds, number, op_value, placeholders, read_json, shape

DEFAULT_REFERENCE = "[A-Za-z0-9._:@+=~-]{1,200}"
OWN = ("operation_id", "idempotency_key", "business_key")
AWAY = ("timeout", "refused", "dns", "tls", "transport", "throttled", "http_5xx", "control")
SENT = "2026-03-01T12:00:00Z"


@dataclass
class Reading:
    kind: str                 # found absent gone several unfinished nothing
    reason: str = ""          # of nothing
    probe: dict = None
    items: list = field(default_factory=list)    # (item, response)
    skipped: list = field(default_factory=list)
    age: int = 0
    used: int = 0             # pages


@dataclass
class Verdict:
    cls: str
    reason: str
    rule: str
    why: str = ""


@dataclass
class Run:
    """Negative evidence over looks: whose, how many looks, the first of them."""
    kind: str = ""
    looks: int = 0
    first: Fraction = None
    inconclusive: int = 0


class Ended(Exception):
    """The look ends because a probe has no written answer."""


# --- what is sent: placeholders and references

def sent_texts(probe):
    """Every text of a probe that may hold placeholders."""
    yield next(probe[m] for m in ("get", "head", "post") if m in probe)
    stack = [probe.get(k) for k in ("query", "headers", "json", "form", "text")]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, str):
            yield value


BATCH = re.compile(r"\{batch\|(?:each ([^=}]*)=([a-z_]+)|join [^}]*)\}")


def sent_fields(probe):
    """(field, path, format) of everything that a probe sends of an operation."""
    for text in sent_texts(probe):
        for found in BATCH.finditer(text):
            yield found.group(2) or batch_field(probe), None, ""
        yield from placeholders(BATCH.sub("", text))


def batch_field(probe):
    """Of {batch|join}: what `where` compares with at the matched place."""
    wanted = probe["where"][probe["batch"]["match"]]
    return (wanted["is"] if isinstance(wanted, dict) else wanted)[3:]


KNOWN = {}


def sent_values(probe, op):
    """(field, value, format); value MISSING when the operation has none."""
    fields = KNOWN.get(id(probe)) or KNOWN.setdefault(id(probe), (probe, list(sent_fields(probe))))
    for name, path, how in fields[1]:
        yield name, op_value(op, "/expected" + path if path else name), how


def applies(probe, op):
    needed = [op_value(op, name) for name in probe.get("needs", [])]
    values = [value for _, value, _ in sent_values(probe, op)]
    return all(isinstance(v, str) for v in values) and MISSING not in needed


def is_reference(pattern, text):
    return text not in ("", ".", "..") and re.fullmatch(pattern, text, re.A) is not None


def is_safe(policy, probe, op):
    for name, value, how in sent_values(probe, op):
        if name in TIMES:
            continue
        own = policy.get("reference", DEFAULT_REFERENCE) if name in OWN else DEFAULT_REFERENCE
        own = own.removeprefix("^").removesuffix("$")
        for part in value.split("/") if how == "path" else [value]:
            if not is_reference(own, part):
                return False
    return True


# --- from an answer to a reading

def nothing(reason, probe=None):
    return Reading("nothing", reason, probe)


def open_response(answer, probe):
    """An answer with its body as a tree, or with the reason why it has none."""
    response = {"status": int(answer.get("status", "200")), "headers": answer.get("headers") or {},
                "tree": MISSING, "unparsed": ""}
    if "head" in probe:
        return response
    try:
        response["tree"] = read_json(answer.get("body") or "")
    except Unparsed as unparsed:
        response["unparsed"] = unparsed.args[0]
    return response


def status_reason(status):
    if status in (429, 503):
        return "throttled"
    if status in (408, 425):
        return "http_4xx"
    return "http_5xx" if status >= 500 else ""


def unrecognised_reason(response):
    if 300 <= response["status"] < 400:
        return "redirect"
    if response["status"] >= 400:
        return "http_4xx"
    return response["unparsed"] or "unrecognised"


def conditions(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def reads_body(condition):
    return any(locator.startswith(("/", "body.")) for locator in condition)


def rule_holds(scene, rule):
    """What a body does not hold cannot be told from one that cannot be read."""
    return any(holds(scene, c) for c in conditions(rule)
               if scene.response["tree"] is not MISSING or not reads_body(c))


def recognise(target, probe, response, op):
    """("found", "") and the like, or ("nothing", reason)."""
    scene = Scene(op, response)
    if status_reason(response["status"]):
        return "nothing", status_reason(response["status"])
    for reason in ("throttled", "broken"):
        if holds(scene, conditions(target.get(reason))):
            return "nothing", reason
    for kind in ("gone", "several", "unfinished", "absent", "found"):
        if rule_holds(scene, probe.get(kind)):
            if kind == "found" and response["unparsed"]:
                return "nothing", response["unparsed"]
            return kind, ""
    return "nothing", unrecognised_reason(response)


def elements_of(probe, response, op):
    """The elements of the list on one page, before `each`."""
    if "head" in probe:
        return [{}]
    if "items" not in probe:
        return [response["tree"]]
    elements = []
    for value in find(response["tree"], probe["items"], op):
        elements += value if isinstance(value, list) else [] if value is None else [value]
    return elements


def items_of(probe, elements, op):
    if "each" not in probe:
        return elements
    items = []
    for element in elements:
        for value in find(element, probe["each"], op):
            items += value if isinstance(value, list) else [] if value is None else [value]
    return items


def next_link(response):
    for name, value in response["headers"].items():
        if name.lower() == "link":
            for part in re.finditer(r"<([^>]*)>((?:\s*;[^,<]*)*)", value):
                if re.search(r';\s*rel\s*=\s*"?(?:[^";]*\s)?next(?:\s[^";]*)?(?:"|\s*(?:;|$))', part.group(2), re.I):
                    return True
    return False


def goes_on(pages, op, response, index, elements):
    """Whether page `index` has one behind it; None when that cannot be told."""
    scene = Scene(op, response)
    if "link" in pages:
        return next_link(response)
    if "offset" in pages:
        return len(elements) >= int(pages["size"])
    values = scene.find_or_none(pages.get("next") or pages["total"])
    if "next" in pages:
        if not values or values == [None] or values == [""]:
            return False
        return True if len(values) == 1 and isinstance(values[0], str) else None
    if len(values) != 1 or not isinstance(values[0], str) or not re.fullmatch(r"[0-9]+", values[0], re.A):
        return None
    return index + 1 < int(values[0])


def walk(target, probe, op, answers):
    """Reads pages until the last one. Returns (reading that ends it or None, pages, whole)."""
    pages, declared = [], probe.get("pages")
    for index, answer in enumerate(answers):
        response = open_response(answer, probe)
        kind, reason = recognise(target, probe, response, op)
        if kind != "found":
            if index > 0 and kind != "nothing":
                kind, reason = "nothing", "incomplete"
            return Reading(kind, reason, probe, used=index + 1), pages, False
        elements = elements_of(probe, response, op)
        pages.append((response, elements))
        more = goes_on(declared, op, response, index, elements) if declared else False
        if more is None or not more:
            return None, pages, more is not None
        if index + 1 >= int(declared.get("max", "10")):
            return None, pages, False
    return nothing("incomplete", probe), pages, False


def is_whole(probe, pages, op, walked):
    """What declares that the list is whole says so. covers apart, which matters for absence only."""
    last, elements = pages[-1]
    if "pages" in probe and not walked:
        return False
    if "complete" in probe and not holds(Scene(op, last), conditions(probe["complete"])):
        return False
    return not ("full" in probe and len(elements) >= int(probe["full"]))


def covers(probe, pages, op, sent):
    """Whether the data reach past the last send."""
    if "covers" not in probe or sent is None:
        return True
    values = Scene(op, pages[-1][0]).find_or_none(probe["covers"]["until"])
    try:
        return len(values) == 1 and read_time(values[0]) > sent
    except Unreadable:
        return False


def ours_of(probe, op, pages):
    """The items that are ours, as (item, response); identical ones on two pages count once."""
    ours, seen = [], set()
    for response, elements in pages:
        items = items_of(probe, elements, op)
        fresh = [i for i in items if shape(i) not in seen]
        seen |= {shape(i) for i in items}
        for item in fresh:
            scene = Scene(op, response, item)
            if "batch" in probe:
                mine = op_value(op, batch_field_of(probe))
                if mine not in find(item, probe["batch"]["match"], op):
                    continue
            if "where" not in probe or holds(scene, probe["where"]):
                ours.append((item, response))
    return ours


def batch_field_of(probe):
    for text in sent_texts(probe):
        for found in BATCH.finditer(text):
            return found.group(2) or batch_field(probe)
    raise ValueError("a batch that is not sent")


def read_list(probe, op, pages, walked, sent):
    """The reading of an answer that is usable."""
    ours = ours_of(probe, op, pages)
    whole = is_whole(probe, pages, op, walked)
    if not ours:
        declared = any(k in probe for k in ("complete", "full", "pages", "batch", "covers"))
        empty = not any(elements for _, elements in pages)
        if not whole or not (declared or empty):
            return nothing("incomplete", probe)
        return Reading("absent", "", probe) if covers(probe, pages, op, sent) else nothing("not_covered", probe)
    skips = [holds(Scene(op, response, item), conditions(probe.get("skip"))) for item, response in ours]
    live = [o for o, skip in zip(ours, skips) if not skip]
    skipped = [o for o, skip in zip(ours, skips) if skip]
    if len(live) < 2 and not whole and "batch" not in probe:
        return nothing("incomplete", probe)
    return Reading("found", "", probe, live, skipped)


def age_of(pages):
    ages = [number(v) for response in pages for k, v in response["headers"].items() if k.lower() == "age"]
    return max([a for a in ages if a is not None], default=0)


def read(target, probe, op, answer, sent):
    if "fault" in answer:
        reading = nothing(answer["fault"], probe)
        reading.used = 1
        return reading
    answers = answer.get("pages") or [answer]
    broken = next((i for i, a in enumerate(answers) if "fault" in a), len(answers))
    ended, pages, walked = walk(target, probe, op, answers[:broken])
    if ended and ended.reason == "incomplete" and not ended.used and broken < len(answers):
        ended = nothing(answers[broken]["fault"], probe)
        ended.used = broken + 1
    try:
        reading = ended or read_list(probe, op, pages, walked, sent)
    except Many:
        reading = nothing("incomplete", probe)
    reading.used = reading.used or len(pages)
    reading.age = age_of([open_response(a, probe) for a in answers[:reading.used]])
    return reading


# --- from readings to a verdict

class Judge:
    """One operation over several looks."""

    def __init__(self, policy, target, op, sent):
        self.policy, self.target, self.op, self.sent = policy, target, op, sent
        absence = policy.get("absence") or {}
        window = policy.get("latency_window", "5m")
        self.after = duration(absence.get("after", window))
        self.confirm = int(absence.get("confirm", "2"))
        self.over = duration(absence.get("over", "0" if self.confirm == 1 else window))
        self.horizon = duration(absence["horizon"]) if "horizon" in absence else None
        self.proves = absence.get("proves", "missing")
        until = (policy.get("waiting") or {}).get("until", policy.get("deadline", "7d"))
        self.until = duration(until)
        self.give_up = int(policy.get("give_up", "12"))
        self.run = Run()
        self.never_sent = op_value(op, "first_sent_at") is MISSING
        self.has_control = isinstance(target.get("control"), dict)

    def look(self, at, control, ask, now=None):
        """One look, judged at `now`. ask(probe) gives the written answer, or raises Ended."""
        self.now = at if now is None else max(at, now)
        self.at, self.control_lost = at, self.has_control and control == "absent"
        self.kept, self.run, self.used, self.ended = self.run, Run(), [], False
        verdict = self.judge(ask)
        if verdict.cls == "inconclusive":
            verdict = self.no_verdict(verdict)
        return verdict

    def no_verdict(self, verdict):
        kept = self.kept
        counts = verdict.reason not in AWAY and not self.control_lost
        self.run = Run(kept.kind, kept.looks, kept.first, kept.inconclusive + counts)
        if self.run.inconclusive >= self.give_up and not self.control_lost and not self.ended:
            return Verdict("ambiguous", "give_up", "give_up")
        return verdict

    def judge(self, ask):
        asked = [p for p in self.policy["probes"] if applies(p, self.op)]
        if not all(is_safe(self.policy, p, self.op) for p in asked):
            return Verdict("ambiguous", "bad_reference", "reference")
        if not asked:
            return Verdict("ambiguous", "no_reliable_query", "applicable")
        self.oldest = at = self.at
        for probe in asked:
            try:
                reading = self.read(probe, self.op, ask)
            except Ended:
                return Verdict("inconclusive", "incomplete", "probe")
            if reading.kind == "absent":
                self.oldest = min(self.oldest, at - reading.age)
                continue
            verdict = self.judge_reading(reading)
            if self.must_reread(reading, verdict):
                verdict = self.reread(probe, reading, verdict, ask)
            if verdict is not None:
                return verdict
        return self.absent()

    def read(self, probe, op, ask):
        try:
            answer = ask(probe)
        except Ended:
            self.ended = True
            raise
        reading = read(self.target, probe, op, answer, self.sent)
        self.used.append(reading.used)
        return reading

    def judge_reading(self, reading):
        if reading.kind == "nothing":
            return Verdict("inconclusive", reading.reason, "probe")
        if reading.kind == "gone":
            return self.rows("on_gone", Scene(self.op)) or Verdict("divergent", "gone_at_target", "gone")
        if reading.kind == "unfinished":
            return self.waiting("unfinished_at_target", "unfinished")
        if reading.kind == "several" or len(reading.items) > 1:
            return self.several()
        if reading.items:
            return self.item(*reading.items[0])
        return self.only_skipped(reading)

    def several(self):
        if self.policy.get("on_several", "ambiguous") == "divergent":
            return Verdict("divergent", "duplicate_effect", "several")
        return Verdict("ambiguous", "several_at_target", "several")

    def only_skipped(self, reading):
        """The class on which the judge rows agree for all of them."""
        verdicts = [self.rows("judge", Scene(self.op, response, item)) for item, response in reading.skipped]
        if all(verdicts) and len({v.cls for v in verdicts}) == 1:
            return verdicts[0]
        return Verdict("ambiguous", "unknown_state" if len(verdicts) == 1 else "several_at_target", "skip")

    def waiting(self, reason, rule, why=""):
        start = self.sent
        if start is None:
            created = op_value(self.op, "created_at")
            start = None if created is MISSING else read_time(created)
        if start is not None and self.now > start + self.until:
            return Verdict("ambiguous", "stuck_at_target", rule)
        return Verdict("waiting", reason, rule, why)

    def rows(self, name, scene):
        """The verdict of the first row that holds; None without one, or where it says compare."""
        for n, row in enumerate(self.policy.get(name) or []):
            if not holds(scene, row["when"]):
                continue
            if row["class"] == "compare":
                return None
            why = row.get("why", "")
            word = re.fullmatch(r"[a-z_]+", why, re.A)
            reason, text = (why, "") if word else ("judged", why)
            rule = f"{name}[{n}]"
            if row["class"] == "waiting":
                return self.waiting(reason, rule, text)
            return Verdict(row["class"], reason, rule, text)
        return None

    def item(self, item, response):
        scene = Scene(self.op, response, item)
        judged = self.rows("judge", scene)
        if judged:
            return judged
        results = [compare_field(scene, by) for by in (self.policy.get("compare") or {}).values()]
        if DIFFERENT in results:
            return Verdict("divergent", "field_differs", "compare")
        if UNREADABLE in results:
            return Verdict("ambiguous", "unreadable", "compare")
        if OLDER in results and NEWER in results:
            return Verdict("divergent", "newer", "compare")
        for result in (OLDER, NEWER):
            if result in results:
                return self.outcome(result)
        assert set(results) <= {EQUAL}
        return Verdict("correct", "fields_equal", "compare")

    def outcome(self, result):
        word = (self.policy.get("outcome") or {}).get(result, "divergent")
        if word == "divergent":
            return Verdict("divergent", result, "compare")
        if word == "not_applicable" and op_value(self.op, "superseded_by") is MISSING:
            word = "divergent"
        return Verdict(word, result, "outcome")

    # what is earned

    def count(self, kind):
        """Counts this look; True when that is enough."""
        kept = self.kept
        if kept.kind == kind and kept.looks > 0:
            self.run = Run(kind, kept.looks + 1, kept.first)
        else:
            self.run = Run(kind, 1, self.at)
        return self.run.looks >= self.confirm and self.at - self.run.first >= self.over

    def keep(self):
        self.run = Run(self.kept.kind, self.kept.looks, self.kept.first)

    def early(self, rule):
        """A look that does not count, whenever it is judged; nor does it end a run."""
        self.keep()
        start = self.now if self.sent is None else self.sent
        return Verdict("waiting", "too_early" if self.now < start + self.after else "absent_unconfirmed", rule)

    def absent(self):
        if self.control_lost:
            return Verdict("inconclusive", "control", "control")
        if self.never_sent:
            return Verdict("waiting", "never_sent", "absence")
        if self.at < self.sent + self.after:
            return self.early("absence")
        if self.oldest < self.sent + self.after:
            return Verdict("inconclusive", "not_covered", "probe")
        enough = self.count("absent")
        if self.horizon is not None and self.now > self.sent + self.horizon:
            return Verdict("ambiguous", "beyond_horizon", "absence")
        if not enough:
            return Verdict("waiting", "absent_unconfirmed", "absence")
        if self.proves == "nothing":
            return Verdict("ambiguous", "absence_proves_nothing", "absence")
        return self.rows("on_absent", Scene(self.op)) or Verdict("missing", "absent_confirmed", "absence")

    def earn(self, verdict, kind):
        """A verdict that only a run of looks gives."""
        if verdict.cls == "missing" and self.control_lost:
            return Verdict("inconclusive", "control", "control")
        if self.never_sent and verdict.cls == "missing":
            return Verdict("waiting", "never_sent", verdict.rule)
        start = self.sent if self.sent is not None else self.at - self.after
        if self.at < start + self.after:
            if verdict.cls == "missing":
                return self.early(verdict.rule)
            self.keep()
        elif self.count(kind):
            return verdict
        return Verdict("waiting", "absent_unconfirmed", verdict.rule)

    # the second read

    def must_reread(self, reading, verdict):
        """Whether a verdict needs a second read, or a run of looks. Being stuck is about time, not about a copy."""
        if reading.kind != "found" or len(reading.items) > 1:
            return False
        if reading.probe.get("stale") != "true":
            return verdict.cls == "missing"
        if not reading.items:
            return verdict.cls == "divergent"
        return verdict.cls in ("divergent", "ambiguous", "missing") and verdict.reason != "stuck_at_target"

    def reread(self, probe, reading, verdict, ask):
        """None: absent there too, so the next probe is asked."""
        then = probe.get("then") if probe.get("stale") == "true" and reading.items else None
        op = then and self.with_values(then, *reading.items[0])
        if not op:
            return self.earn(verdict, verdict.cls)
        second = next(p for p in self.policy["probes"] if p.get("name") == then["probe"])
        if not applies(second, op) or not is_safe(self.policy, second, op):
            return self.earn(verdict, verdict.cls)
        try:
            reading = self.read(second, op, ask)
        except Ended:
            return Verdict("inconclusive", "incomplete", "probe")
        if reading.kind == "absent":
            self.oldest = min(self.oldest, self.at - reading.age)
            return None
        verdict = self.judge_reading(reading)
        if verdict.cls == "missing":
            return self.earn(verdict, verdict.cls)
        return verdict

    def with_values(self, then, item, response):
        """The operation with what the item says, or None when that is not there."""
        op = dict(self.op)
        for name, locator in (then.get("with") or {}).items():
            values = Scene(self.op, response, item).find_or_none(locator)
            if len(values) != 1 or not isinstance(values[0], str) or not is_reference(DEFAULT_REFERENCE, values[0]):
                return None
            op[name] = values[0]
        return op


# --- policy tests

def operation_of(policy, case):
    """The operation of a case, with what is set where it says nothing."""
    sent = case.get("sent", SENT)
    op = {"operation_type": policy["operation_type"], "scope": "", "entity_state": "active",
          "status": "awaiting_confirmation", "created_at": sent, "first_sent_at": sent, "sent_at": sent}
    return op | {k: v for k, v in case["operation"].items()}


def looks_of(case):
    """[(seconds after the send, [reading…])]"""
    looks = []
    for reading in case.get("readings") or []:
        at = duration(reading["at"])
        if looks and looks[-1][0] == at:
            looks[-1][1].append(reading)
        else:
            looks.append((at, [reading]))
    return looks


def judge_case(policy, target, case):
    """The verdict of the last look, and for each reading how many of its pages were used."""
    op = operation_of(policy, case)
    last = op_value(op, "sent_at")
    sent = None if last is MISSING else read_time(last)
    start = read_time(case.get("sent", SENT))
    judge = Judge(policy, target, op, sent)
    looks = looks_of(case)
    now = start + duration(case["now"]) if "now" in case else None
    used = []
    if not looks:
        looks = [(0, [])]
    for n, (at, readings) in enumerate(looks):
        waiting = list(readings)

        def ask(probe, waiting=waiting):
            if not waiting or waiting[0].get("probe", probe.get("name")) != probe.get("name"):
                raise Ended
            used.append(waiting[0])
            return waiting.pop(0)

        verdict = judge.look(start + at, case.get("control", "found"), ask, now if n == len(looks) - 1 else None)
    return verdict, used
