# SPDX-License-Identifier: Apache-2.0
"""reconcile-sim: every behaviour does to the answer, the stored object and the books what it says."""

import http.client
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from simulator import BUILD, Simulator  # noqa: E402

CONFIG = {
    "collections": {
        "customers": {"indexes": ["key", "version"], "seed": [{"id": "control", "version": 1}]},
        "payments": {"id_prefix": "pay_", "indexes": ["reference"], "idempotency": True},
        "orders": {"indexes": ["number"], "not_found": "html"},
        "parcels": {"deleted": "410", "list": "bare", "indexes": ["code"]},
        "contacts": {"conditional": True, "not_found_body": {"status": "error", "category": "NONE"}},
    }
}


@pytest.fixture
def sim(tmp_path):
    simulator = Simulator(tmp_path, CONFIG)
    yield simulator
    assert simulator.stop() == 0


def test_objects_are_written_read_and_listed(sim):
    made = sim.request("PUT", "/customers/c1", {"key": "k1", "version": 7}, {"Operation-Id": "op-1"})
    assert (made.status, made.body) == (201, {"key": "k1", "version": 7, "id": "c1"})
    assert sim.get("/customers/c1").body == {"key": "k1", "version": 7, "id": "c1"}
    assert sim.request("HEAD", "/customers/c1").status == 200
    assert sim.get("/customers?key=k1").body == {
        "data": [{"key": "k1", "version": 7, "id": "c1"}], "has_more": False}
    assert sim.get("/customers?key=k1&version=8").body == {"data": [], "has_more": False}
    assert sim.get("/customers?key=none").body == {"data": [], "has_more": False}
    assert sim.get("/customers?colour=red").status == 400
    again = sim.request("PUT", "/customers/c1", {"key": "k2", "version": 8})
    assert again.status == 200
    assert sim.get("/customers?key=k1").body["data"] == []
    assert sim.request("DELETE", "/customers/c1").status == 204
    assert sim.get("/customers/c1").status == 404
    assert sim.get("/customers?key=k2").body["data"] == []


def test_a_search_by_post_reads_and_pages(sim):
    sim.seed("customers", *[{"id": f"c{i}", "key": "same", "version": i} for i in range(5)])
    first = sim.request("POST", "/customers/search", {"key": "same", "limit": 2}).body
    assert ([o["id"] for o in first["data"]], first["has_more"]) == (["c0", "c1"], True)
    rest = sim.request("POST", "/customers/search",
                       {"key": "same", "limit": 3, "starting_after": "c1"}).body
    assert ([o["id"] for o in rest["data"]], rest["has_more"]) == (["c2", "c3", "c4"], False)
    many = sim.request("POST", "/customers/search", {"version": [2, 4, 9]}).body
    assert [o["id"] for o in many["data"]] == ["c2", "c4"]
    everything = sim.get("/customers?limit=2").body
    assert ([o["id"] for o in everything["data"]], everything["has_more"]) == (
        ["control", "c0"], True)
    assert [line["purpose"] for line in sim.lines("request")] == ["probe"] * 4


def test_a_key_is_honoured_or_forgotten(sim):
    body = {"reference": "r1", "amount": "10.00"}
    key = {"Idempotency-Key": "k-1"}
    first = sim.request("POST", "/payments", body, key)
    assert first.status == 201
    assert first.body == {"reference": "r1", "amount": "10.00", "id": "pay_000001"}
    again = sim.request("POST", "/payments", body, key)
    assert (again.status, again.body["id"]) == (200, "pay_000001")
    assert again.headers["idempotent-replayed"] == "true"
    other = sim.request("POST", "/payments", {"reference": "r1", "amount": "11.00"}, key)
    assert other.status == 422
    assert len(sim.effects("k-1")) == 1
    sim.behave({"collection": "payments", "forget_key": True})
    assert sim.request("POST", "/payments", body, key).body["id"] == "pay_000002"
    assert sim.counts()["operations_with_several_effects"] == 1


@pytest.mark.parametrize("lose", ["close", "hang"])
def test_a_lost_answer_leaves_its_effect(sim, lose):
    sim.behave({"on": "effect", "lose": lose, "times": 1})
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError, socket.timeout)):
        sim.request("PUT", "/customers/c1", {"version": 7}, {"Operation-Id": "op-1"}, timeout=0.5)
    assert sim.get("/customers/c1").body["version"] == 7
    assert [e["id"] for e in sim.effects("op-1")] == ["c1"]
    assert [line["status"] for line in sim.lines("request")] == [None, 200]


def test_a_client_that_left_is_let_go(sim):
    open_files = Path(f"/proc/{sim.process.pid}/fd")
    sim.behave({"outage": "hang", "id": "control"})
    before = len(list(open_files.iterdir()))
    for _ in range(5):
        with pytest.raises(socket.timeout):
            sim.get("/customers/control", timeout=0.1)
    deadline = time.monotonic() + 10
    while len(list(open_files.iterdir())) > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(list(open_files.iterdir())) <= before


def test_an_answer_may_be_cut(sim):
    sim.behave({"on": "probe", "lose": "truncate", "times": 1})
    with pytest.raises(http.client.IncompleteRead):
        sim.get("/customers/control")
    assert sim.get("/customers/control").status == 200


def test_visibility_lags(sim):
    sim.seed("customers", {"id": "c1", "key": "old", "version": 6})
    sim.behave({"on": "effect", "visible_after": "1500ms", "listed_after": "2500ms"})
    start = time.monotonic()
    sim.request("PUT", "/customers/c1", {"key": "new", "version": 7})
    sim.request("PUT", "/customers/c2", {"key": "new", "version": 7})
    assert sim.get("/customers/c1").body["version"] == 6
    assert sim.get("/customers/c2").status == 404
    assert sim.admin("GET", "objects/customers/c2")["visible"] is False
    until(start + 1.6)
    assert sim.get("/customers/c1").body["version"] == 7
    assert sim.get("/customers/c2").status == 200
    until(start + 2.6)
    assert len(sim.get("/customers?key=new").body["data"]) == 2


def until(moment):
    time.sleep(max(0, moment - time.monotonic()))


def test_effects_happen_twice_and_wrong(sim):
    sim.behave({"collection": "payments", "where": {"reference": "dup-*"}, "copies": 2},
               {"collection": "payments", "where": {"reference": "bad-*"},
                "store": {"amount": "9.00"}, "drop": ["currency"]})
    sim.request("POST", "/payments", {"reference": "dup-1", "amount": "10.00"},
                {"Operation-Id": "op-d"})
    sim.request("POST", "/payments", {"reference": "bad-1", "amount": "10.00", "currency": "EUR"})
    twice = sim.get("/payments?reference=dup-1").body["data"]
    assert [p["amount"] for p in twice] == ["10.00", "10.00"]
    assert len(sim.effects("op-d")) == 2
    wrong = sim.get("/payments?reference=bad-1").body["data"]
    assert wrong == [{"reference": "bad-1", "amount": "9.00", "id": "pay_000003"}]


def test_outages_and_throttling_have_no_effect(sim):
    sim.behave({"name": "down", "outage": "503", "on": "effect", "times": 1},
               {"name": "slow-down", "on": "probe", "status": 429, "retry_after": "2s",
                "skip": 1, "times": 1})
    assert sim.request("PUT", "/customers/c1", {"version": 1}).status == 503
    assert sim.get("/customers/c1").status == 404
    throttled = sim.get("/customers/c1")
    assert (throttled.status, throttled.headers["retry-after"]) == (429, "2")
    assert sim.get("/customers/c1").status == 404
    assert sim.counts()["effects"] == 0
    assert sim.counts()["collections"]["customers"]["statuses"] == {"404": 2, "429": 1, "503": 1}
    assert sim.admin("GET", "behaviours")["data"] == [
        {"name": "down", "matched": 1}, {"name": "slow-down", "matched": 1}]


def test_a_time_window_ends(sim):
    sim.behave({"name": "soon", "from": "0s", "for": "1500ms", "outage": "503"})
    start = time.monotonic()
    assert sim.get("/customers/control").status == 503
    until(start + 1.6)
    assert sim.get("/customers/control").status == 200


@pytest.mark.parametrize("outage,kind", [("close", http.client.RemoteDisconnected),
                                         ("hang", socket.timeout)])
def test_no_answer_at_all(sim, outage, kind):
    sim.behave({"outage": outage, "id": "control"})
    with pytest.raises(kind):
        sim.get("/customers/control", timeout=0.5)
    assert sim.get("/customers/other").status == 404


def test_it_refuses_connections_for_a_while(sim):
    start = time.monotonic()
    sim.admin("POST", "refuse", {"for": "800ms"})
    with pytest.raises(ConnectionRefusedError):
        sim.get("/customers/control")
    until(start + 1)
    assert sim.get("/customers/control").status == 200


@pytest.mark.parametrize("how,kind,text", [
    ("json", "application/json", '{"error":"not_found"}'),
    ("html", "text/html", None),
    ("empty", "application/json", ""),
    ("bare", "text/plain", "Not Found"),
])
def test_not_found_honest_and_misleading(sim, how, kind, text):
    sim.behave({"not_found": how})
    answer = sim.get("/customers/nobody")
    assert (answer.status, answer.headers["content-type"]) == (404, kind)
    assert answer.text == text or (text is None and answer.text.startswith("<html>"))


def test_not_found_by_collection(sim):
    assert sim.get("/orders/1").headers["content-type"] == "text/html"
    assert sim.get("/contacts/1").body == {"status": "error", "category": "NONE"}
    assert sim.get("/nothing/1").body == {"error": "unknown_collection"}
    sim.seed("parcels", {"id": "p1", "code": 5})
    assert sim.get("/parcels?code=5").body == [{"id": "p1", "code": 5}]
    sim.request("DELETE", "/parcels/p1")
    assert (sim.get("/parcels/p1").status, sim.get("/parcels/p2").status) == (410, 404)


def test_another_tenant_sees_nothing(sim):
    sim.behave({"on": "probe", "other_tenant": True})
    assert sim.get("/customers/control").body == {"error": "not_found"}
    assert sim.get("/customers?version=1").body == {"data": [], "has_more": False}


def test_a_filter_may_be_ignored(sim):
    sim.behave({"ignore_filter": True})
    assert sim.get("/customers?key=none").body["data"] == [{"id": "control", "version": 1}]


def test_status_progresses(sim):
    sim.behave({"collection": "payments", "on": "effect", "progression": [
        {"after": "0s", "set": {"status": "pending"}},
        {"after": "1500ms", "set": {"status": "succeeded"}}]})
    start = time.monotonic()
    sim.request("POST", "/payments", {"reference": "r1"})
    assert sim.get("/payments/pay_000001").body["status"] == "pending"
    until(start + 1.6)
    assert sim.get("/payments?reference=r1").body["data"][0]["status"] == "succeeded"


def test_a_conditional_write_refuses_an_older_version(sim):
    assert sim.request("PUT", "/contacts/1", {"version": 8}).status == 201
    assert sim.request("PUT", "/contacts/1", {"version": 7}).status == 409
    assert sim.get("/contacts/1").body["version"] == 8


def test_canned_answers(sim):
    sim.behave({"id": "page", "status": 200, "type": "text/html", "body": "<p>hello</p>"},
               {"id": "huge", "status": 200, "body": "{}", "body_bytes": 3000000},
               {"id": "late", "latency": "1s"})
    assert sim.get("/customers/page").text == "<p>hello</p>"
    assert len(sim.get("/customers/huge").text) == 3000000
    with pytest.raises(socket.timeout):
        sim.get("/customers/late", timeout=0.2)
    assert sim.get("/customers/late").status == 404


def test_a_behaviour_may_go_before_its_answer(sim):
    sim.behave({"id": "late", "status": 200, "type": "text/x-late", "body": "x", "latency": "1s"})
    with socket.create_connection(tuple(sim.address.split(":"))) as client:
        client.sendall(b"GET /customers/late HTTP/1.1\r\nHost: x\r\n\r\n")
        while sim.admin("GET", "behaviours")["data"][0]["matched"] == 0:
            time.sleep(0.01)
        sim.honest()
        client.settimeout(10)
        assert b"text/x-late" in client.recv(4096)


def test_bad_requests_are_refused(sim):
    assert sim.request("PUT", "/customers/c1", [1]).status == 400
    assert sim.request("POST", "/customers/c1/x", {}).status == 405
    assert sim.request("PUT", "/customers/c1", {"x": "y" * 1100000}).status == 413
    bad = sim.request("POST", "/_sim/behaviours", {"name": "b", "colour": "red"})
    assert bad.status == 400
    assert '"colour" is none of name, collection' in bad.body["message"]
    assert sim.request("POST", "/_sim/behaviours", {"latency": "2 s"}).status == 400
    assert sim.counts()["effects"] == 0


def test_the_most_late_answers_at_one_moment_are_counted(sim):
    sim.get("/customers/control")
    assert sim.counts()["most_at_once"] == 0
    sim.behave({"latency": "300ms"})
    askers = [threading.Thread(target=sim.get, args=["/customers/control"]) for _ in range(3)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    sim.get("/customers/control")
    assert sim.counts()["most_at_once"] == 3


def test_ids_are_decoded(sim):
    sim.request("PUT", "/customers/a%2Fb%20c", {"version": 1})
    assert sim.get("/customers/a%2Fb%20c").body["id"] == "a/b c"
    assert [line["path"] for line in sim.lines("request")] == ["/customers/{id}"] * 2


def test_the_token_is_asked_for_and_not_written(tmp_path):
    sim = Simulator(tmp_path, dict(CONFIG, token="sesame-7"))
    try:
        assert sim.get("/customers/control").status == 401
        login = {"Authorization": "Bearer sesame-7"}
        assert sim.get("/customers/control", headers=login).status == 200
        sim.counts()
        assert "sesame" not in sim.books.read_text()
    finally:
        assert sim.stop() == 0


def test_a_unix_socket(tmp_path):
    path = tmp_path / "s"
    sim = Simulator(tmp_path, CONFIG, listen=f"unix:{path}")
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b"GET /customers/control HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            text = b""
            while part := client.recv(4096):
                text += part
        assert text.startswith(b"HTTP/1.1 200 OK")
        assert text.endswith(b'{"id":"control","version":1}')
    finally:
        assert sim.stop() == 0
    assert not path.exists()


@pytest.mark.parametrize("text,message", [
    ("colour: red\n", '"colour" is none of token, collections, behaviours'),
    ("collections: {a: {indexes: x}}\n", 'collection "a": indexes: is no list of texts'),
    ("collections: [\n", ":2:1"),
    ("token: a\ntoken: b\n", ":2:1: token: repeated"),
])
def test_a_wrong_configuration_is_named(tmp_path, text, message):
    config = tmp_path / "sim.yaml"
    config.write_text(text)
    done = subprocess.run([str(BUILD / "reconcile-sim"), "--config", str(config)],
                          capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert str(config) in done.stderr


def test_only_loopback(tmp_path):
    done = subprocess.run([str(BUILD / "reconcile-sim"), "--listen", "0.0.0.0:0"],
                          capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 2
    assert "is not loopback" in done.stderr


def test_terminate_delivers_what_is_under_way(tmp_path):
    sim = Simulator(tmp_path, CONFIG)
    sim.behave({"latency": "500ms"})
    with socket.create_connection(tuple(sim.address.split(":"))) as client:
        client.sendall(b"GET /customers/control HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.1)
        assert sim.stop() == 0
        assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")
