# SPDX-License-Identifier: Apache-2.0
"""Servers that nobody here wrote: json-server, whose 404 says nothing, and CouchDB's answers."""

import json

import pytest

from node_server import NodeServer

HEAD = """
operation_type: sync_customer
target: {target}
mode: enforce
describe: {{effect: the customer is there, truth: the server, proof: its version, owner: sales}}
latency_window: 5m
absence: {{confirm: 1}}
"""

BY_LIST = HEAD.format(target="api") + """
probes:
  - get: /customers
    query: {FILTER: "{business_key}", _limit: "10"}
    found: {status: 200}
    items: ""
    where: {/key: {is: op.business_key}}
    full: 10
    remote_id: /id
compare: {version: {found: /version, type: version, is: op.version}}
"""

BY_ID = HEAD.format(target="couch") + """
probes:
  - get: /{business_key}
    found: {status: 200, /_id: {present: true}}
    absent: {status: 404, /error: not_found, /reason: missing}
    remote_id: /_id
compare: {version: {found: /version, type: version, is: op.version}}
"""

BY_ALL_DOCS = HEAD.format(target="couch") + """
probes:
  - get: /_all_docs
    query: {keys: '["{business_key}"]', include_docs: "true"}
    found: {status: 200, /rows/0/id: {present: true}}
    gone: {status: 200, /rows/0/value/deleted: "true"}
    absent: {status: 200, /rows/0/error: not_found}
    items: /rows
    where: {/key: {is: op.business_key}}
    remote_id: /id
compare: {version: {found: /doc/version, type: version, is: op.version}}
on_gone: [{when: {op.entity_state: deleted}, class: not_applicable, why: deleted_on_both_sides}]
"""


@pytest.fixture
def api(tmp_path):
    """json-server on a data file of its own."""
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"customers": [
        {"id": 1, "key": "right", "version": 7},
        {"id": 2, "key": "newer", "version": 8},
        {"id": 3, "key": "twice", "version": 7},
        {"id": 4, "key": "twice", "version": 7},
    ]}))
    with NodeServer("json-server", data) as server:
        yield server


@pytest.fixture(scope="module")
def couch():
    with NodeServer("couchdb") as server:
        assert server.request("PUT", "/customers")[0] == 201
        for key, version in (("right", 7), ("older", 6), ("gone", 7), ("gone-too", 7)):
            server.request("PUT", f"/customers/{key}", {"version": version})
        for key in ("gone", "gone-too"):
            revision = server.request("GET", f"/customers/{key}")[1]["_rev"]
            assert server.request("DELETE", f"/customers/{key}?rev={revision}")[0] == 200
        yield server


def verdicts(world, *operation_ids, expect=0):
    """class, reason, status of each operation after one pass."""
    run = world.once(expect=expect)
    return {i: tuple(run.of(i)[key] for key in ("class", "reason", "status"))
            for i in operation_ids}


def test_json_server_by_a_filtered_list(world, api):
    assert api.request("GET", "/customers/99") == (404, {})  # which is why its 404 is not asked for
    world.target(api.url, name="api")
    world.policy(text=BY_LIST.replace("FILTER", "key"))
    for key in ("right", "newer", "twice", "nobody"):
        world.send(key)
    assert verdicts(world, "right", "newer", "twice", "nobody") == {
        "right": ("correct", "fields_equal", "confirmed"),
        "newer": ("divergent", "newer", "manual_review"),
        "twice": ("ambiguous", "several_at_target", "manual_review"),
        "nobody": ("missing", "absent_confirmed", "manual_review"),
    }
    assert world.operation("right")["remote_id"] == "1"
    assert api.request("GET", "/customers?key=newer")[1] == [{"id": 2, "key": "newer", "version": 8}]


def test_json_server_ignores_a_filter_that_no_object_has(world, api):
    for number in range(10):
        api.request("POST", "/customers", {"key": f"other-{number}", "version": 1})
    assert len(api.request("GET", "/customers?kee=nobody&_limit=10")[1]) == 10
    world.target(api.url, name="api")
    world.policy(text=BY_LIST.replace("FILTER", "kee"))
    world.send("nobody")
    assert verdicts(world, "nobody") == {
        "nobody": ("inconclusive", "incomplete", "awaiting_confirmation")}


def test_json_server_finds_what_arrived_meanwhile(world, api):
    world.target(api.url, name="api")
    world.policy(text=BY_LIST.replace("FILTER", "key"))
    world.send("late")
    assert verdicts(world, "late")["late"][2] == "manual_review"
    assert api.request("POST", "/customers", {"key": "late", "version": 7})[0] == 201
    line = world.once("--operation", "late").of("late")
    assert (line["class"], line["status"]) == ("correct", "confirmed")
    assert world.operation("late")["remote_id"] == "5"


def test_json_server_away(world, api):
    world.target(api.url, name="api")
    world.policy(text=BY_LIST.replace("FILTER", "key"))
    world.send("right")
    api.stop()
    assert verdicts(world, "right", expect=3) == {
        "right": ("inconclusive", "refused", "awaiting_confirmation")}


def test_a_status_alone_is_no_absence(world, api):
    world.target(api.url, name="api")
    world.policy(text=HEAD.format(target="api") + """
probes:
  - get: /customers/{business_key}
    found: {status: 200}
    absent: {status: 404}
compare: {version: {found: /version, type: version, is: op.version}}
""")
    run = world.run("reconciled", "--check-config")
    assert run.code == 2
    assert "sync_customer.yaml:" in run.err and "absent" in run.err


def test_couchdb_missing_is_not_a_wrong_database(world, couch):
    assert couch.request("GET", "/customers/nobody") == (
        404, {"error": "not_found", "reason": "missing"})
    assert couch.request("GET", "/custmers/nobody") == (
        404, {"error": "not_found", "reason": "no_db_file"})
    world.target(couch.url + "/customers", name="couch")
    world.policy(text=BY_ID)
    for key in ("right", "older", "nobody"):
        world.send(key)
    assert verdicts(world, "right", "older", "nobody") == {
        "right": ("correct", "fields_equal", "confirmed"),
        "older": ("divergent", "older", "manual_review"),
        "nobody": ("missing", "absent_confirmed", "manual_review"),
    }
    world.target(couch.url + "/custmers", name="couch")
    world.send("nobody-2")
    assert verdicts(world, "nobody-2", expect=3) == {
        "nobody-2": ("inconclusive", "http_4xx", "awaiting_confirmation")}


def test_couchdb_deleted_is_not_missing(world, couch):
    world.target(couch.url + "/customers", name="couch")
    world.policy(text=BY_ALL_DOCS)
    for key in ("right", "older", "nobody", "gone", "gone-too"):
        world.send(key)
    world.app.execute("SELECT reconcile.set_entity_state('customer', 'gone-too', 'deleted')")
    assert verdicts(world, "right", "older", "nobody", "gone", "gone-too") == {
        "right": ("correct", "fields_equal", "confirmed"),
        "older": ("divergent", "older", "manual_review"),
        "nobody": ("missing", "absent_confirmed", "manual_review"),
        "gone": ("divergent", "gone_at_target", "manual_review"),
        "gone-too": ("not_applicable", "deleted_on_both_sides", "not_applicable"),
    }


def test_couchdb_with_its_database_gone_says_nothing(world, couch):
    world.target(couch.url + "/custmers", name="couch")
    world.policy(text=BY_ALL_DOCS)
    world.send("right")
    assert verdicts(world, "right", expect=3) == {
        "right": ("inconclusive", "http_4xx", "awaiting_confirmation")}
