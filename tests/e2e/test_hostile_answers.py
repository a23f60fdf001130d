# SPDX-License-Identifier: Apache-2.0
"""Answers that lie about themselves or are made to hurt, over real HTTP, all in one pass.

Cases H01, H02, J01, J02: none of them is evidence that it is not, and none disturbs another.
"""

import gzip
import hashlib
import json

from target import answer_json

GOOD = '{"id":"c1","version":7}'
LONG = {"content-length": "9" * 23}
TWO = {"content-length": "5", "Content-Length": str(len(GOOD))}
FOLDED_TWICE = {"content-length": f"{len(GOOD)}, {len(GOOD)}"}
BOMB = gzip.compress(b"0" * 50_000_000)

ANSWERS = {
    "length-huge": ((200, LONG, GOOD), "inconclusive", "transport"),
    "length-twice": ((200, TWO, GOOD), "inconclusive", "transport"),
    "length-list": ((200, FOLDED_TWICE, GOOD), "inconclusive", "transport"),
    "length-negative": ((200, {"content-length": "-5"}, GOOD), "inconclusive", "transport"),
    "length-short": ((200, {"content-length": "400"}, GOOD), "inconclusive", "truncated"),
    "bomb": ((200, {"content-encoding": "gzip"}, BOMB), "inconclusive", "too_large"),
    "large": (answer_json({"id": "c1", "version": 7, "p": "x" * 2_000_000}), "inconclusive", "too_large"),
    "deep": (answer_json("[" * 100_000), "inconclusive", "too_deep"),
    "nothing": (answer_json(""), "inconclusive", "empty_body"),
    "twice": (answer_json(GOOD + GOOD), "inconclusive", "not_json"),
    "repeated-member": (answer_json('{"id":"c1","id":"c2","version":7}'), "inconclusive", "not_json"),
    "half-surrogate": (answer_json(r'{"id":"\ud800","version":7}'), "inconclusive", "not_json"),
    "bad-utf8": (answer_json(b'{"id":"\xff","version":7}'), "inconclusive", "not_json"),
    "utf16": (answer_json(GOOD.encode("utf-16")), "inconclusive", "not_json"),
    "utf16-bare": (answer_json(GOOD.encode("utf-16-le"), **{"content-type": "application/json; charset=utf-16"}),
                   "inconclusive", "not_json"),
    "latin-1": (answer_json('{"id":"Ä","version":7}'.encode("latin-1"),
                            **{"content-type": "application/json; charset=iso-8859-1"}), "inconclusive", "not_json"),
    "nul-byte": (answer_json(b'{"id":"c1\x00","version":7}'), "inconclusive", "not_json"),
    "escaped-member": (answer_json(r'{"id":"c1","\u0069d":"c2","version":7}'), "inconclusive", "not_json"),
    "inner-member": (answer_json('{"id":"c1","version":7,"more":[{"a":1,"a":2}]}'), "inconclusive", "not_json"),
    "bom-twice": (answer_json(b"\xef\xbb\xbf" * 2 + GOOD.encode()), "inconclusive", "not_json"),
    "bom-alone": (answer_json(b"\xef\xbb\xbf"), "inconclusive", "empty_body"),
    "no-content": ((204, {}, ""), "inconclusive", "empty_body"),
    "partial": (answer_json(GOOD, 206), "inconclusive", "unrecognised"),
    "nul-in-version": (answer_json(r'{"id":"c1","version":"7\u0000"}'), "ambiguous", "unreadable"),
    "huge-version": (answer_json('{"id":"c1","version":1e131072}'), "ambiguous", "unreadable"),
    "long-version": (answer_json({"id": "c1", "version": "7" * 1_000_000}), "ambiguous", "unreadable"),
    "close-version": (answer_json('{"id":"c1","version":7.00000000000000000001}'), "ambiguous", "unreadable"),
    "huge-id": (answer_json('{"id":1e131072,"version":7}'), "correct", "fields_equal"),
    "nul-in-id": (answer_json(r'{"id":"c\u0000x","version":7}'), "correct", "fields_equal"),
    "emoji": (answer_json('{"id":"\U0001f600","version":7}'), "correct", "fields_equal"),
    "many-members": (answer_json(json.dumps({"id": "c1", "version": 7, **{f"k{i}": 0 for i in range(50_000)}})),
                     "correct", "fields_equal"),
    "long-list": (answer_json({"id": ["a"] * 100_000, "version": 7}), "correct", "fields_equal"),
    "bom": (answer_json(b"\xef\xbb\xbf" + GOOD.encode()), "correct", "fields_equal"),
}


def digest_of(name):
    """None for an empty body."""
    (_, _, body), *_ = ANSWERS[name]
    body = body.encode() if isinstance(body, str) else body
    return hashlib.sha256(body).hexdigest() if body else None


def test_each_is_called_what_it_is(world, crm):
    world.policy()
    world.target(crm.url, more="breaker: {failures: 1000}\n")
    crm.answer = lambda request: ANSWERS[request.path.rsplit("/", 1)[-1]][0]
    for name in ANSWERS:
        world.send(name)
    run = world.once(expect=3)
    seen = {o["operation_id"]: (o["class"], o["reason"]) for o in run.json["operations"]}
    assert seen == {name: wanted for name, (_, *wanted) in ANSWERS.items()
                    for wanted in [tuple(wanted)]}
    for name in ANSWERS:
        last = world.journal(name)[-1]
        assert len(last["evidence"]) <= 16 * 1024
        evidence = json.loads(last["evidence"])
        if last["reason"] not in ("transport", "truncated", "too_large"):
            assert evidence["response"].get("sha256") == digest_of(name)
        assert world.run("reconcilectl", "show", name).code == 0


def test_text_for_terminals_stays_text(world, crm):
    world.policy()
    crm.answer = lambda request: answer_json('{"id":"\\u001b[2J\\u009b31m\\u202e","version":7}')
    world.send("op-1")
    world.once()
    for arguments in (["show", "op-1"], ["show", "op-1", "--json"], ["list", "--all"], ["list", "--json"]):
        out = world.run("reconcilectl", *arguments).out
        assert not set(out) & set("\x1b\x9b\u202e"), arguments
