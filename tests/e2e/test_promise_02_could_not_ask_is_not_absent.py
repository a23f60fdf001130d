# SPDX-License-Identifier: Apache-2.0
"""Promise 2: "could not ask" is never "not there". Cases P01, P03, H01, H02, H03."""

import gzip
import socket

import pytest
from ports import free_port
from target import answer_json

HTML = (404, {"content-type": "text/html"}, "<html><h1>Not Found</h1></html>")

# name, what the target answers, reason, exit code of --once (3: it could not be asked)
ANSWERS = [
    ("html_404", lambda r: HTML, "http_4xx", 3),
    ("html_502", lambda r: (502, {"content-type": "text/html"}, "<h1>Bad Gateway</h1>"), "http_5xx", 3),
    ("html_200", lambda r: (200, {"content-type": "text/html"}, "<h1>Login</h1>"), "not_json", 0),
    ("json_500", lambda r: answer_json({"e": 1}, 500), "http_5xx", 3),
    ("forbidden", lambda r: answer_json({"error": "forbidden"}, 403), "http_4xx", 3),
    ("other_error", lambda r: answer_json({"error": "no_such_tenant"}, 404), "http_4xx", 3),
    ("empty_200", lambda r: (200, {}, ""), "empty_body", 0),
    ("empty_404", lambda r: (404, {}, ""), "http_4xx", 3),
    ("throttled", lambda r: answer_json({"error": "not_found"}, 429), "throttled", 3),
    ("unavailable", lambda r: answer_json({"error": "not_found"}, 503), "throttled", 3),
    ("redirect", lambda r: (302, {"location": "http://127.0.0.1:1/"}, ""), "redirect", 3),
    ("short_body", lambda r: (404, {"content-length": "200"}, '{"error":"not_found"}'), "truncated", 3),
    ("closed", lambda r: None, "transport", 3),
    ("half_json", lambda r: (200, {}, '{"id":'), "not_json", 0),
    ("duplicate_member", lambda r: (200, {}, '{"id":"c","id":"d"}'), "not_json", 0),
    ("lone_surrogate", lambda r: (200, {}, '{"id":"\\ud800"}'), "not_json", 0),
    ("deep", lambda r: (200, {}, "[" * 100000), "too_deep", 0),
    ("large", lambda r: (200, {}, '{"id":"' + "x" * 2_000_000 + '"}'), "too_large", 0),
    ("gzip_bomb", lambda r: (200, {"content-encoding": "gzip"}, gzip.compress(bytes(50_000_000))),
     "too_large", 0),
    ("unrecognised", lambda r: answer_json({"status": "ERROR"}), "unrecognised", 0),
]


@pytest.mark.parametrize("answer, reason, code", [a[1:] for a in ANSWERS], ids=[a[0] for a in ANSWERS])
def test_an_unusable_answer_is_no_verdict(world, crm, answer, reason, code):
    world.policy()
    crm.answer = answer
    world.send("op-1")
    line = world.once(expect=code).of("op-1")
    assert (line["class"], line["reason"], line["action"]) == ("inconclusive", reason, "wait")
    operation = world.operation("op-1")
    assert operation["status"] == "awaiting_confirmation"
    assert operation["class"] is None and operation["absences"] == 0
    assert world.events("op-1") == ["operation.requested"]


def send_fifty(world, more=""):
    world.policy()
    world.target(f"http://127.0.0.1:{free_port()}", more=more)
    for i in range(50):
        world.send(f"op-{i}")


def untouched(world):
    return world.db.execute("SELECT count(*) AS n FROM reconcile.operations WHERE status ="
                            " 'awaiting_confirmation' AND absences = 0 AND inconclusive = 0"
                            ).fetchone()["n"]


def test_fifty_operations_while_the_target_refuses(world):
    send_fifty(world, "breaker: {failures: 1000}")
    counts = world.once(expect=3).json["types"]["sync_customer"]
    assert (counts["checked"], counts["inconclusive"], counts["missing"]) == (50, 50, 0)
    assert counts["actions"] == {}
    assert untouched(world) == 50


def test_a_target_that_refuses_is_left_alone(world):
    send_fifty(world)
    counts = world.once(expect=3).json["types"]["sync_customer"]
    assert 0 < counts["checked"] < 50
    assert counts["inconclusive"] == counts["checked"]
    assert (counts["missing"], counts["actions"]) == (0, {})
    assert untouched(world) == 50
    asked = world.db.execute("SELECT count(*) AS n FROM reconcile.operations WHERE checks > 0")
    assert asked.fetchone()["n"] == counts["checked"]


def test_a_target_that_never_answers_and_comes_back(world, target):
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    world.policy()
    world.target(f"http://127.0.0.1:{listener.getsockname()[1]}",
                 more="timeout: {connect: 1s, total: 1s}")
    world.send("op-1")
    assert world.once(expect=3).of("op-1")["reason"] == "timeout"
    listener.close()
    world.target(target.url)
    target.serve({"op-1": {"id": "c1", "version": 7}})
    world.make_due("op-1")
    assert world.once().of("op-1")["class"] == "correct"
    assert world.operation("op-1")["status"] == "confirmed"
