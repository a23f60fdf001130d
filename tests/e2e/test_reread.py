# SPDX-License-Identifier: Apache-2.0
"""An index that may be behind: what it says against us is looked up where it is true."""

from target import NOT_FOUND, answer_json

POLICY = """
operation_type: sync_customer
target: crm
mode: enforce
describe: {effect: e, truth: t, proof: p, owner: o}
latency_window: 5m
probes:
  - name: search
    get: /search
    query: {key: "{business_key}"}
    found: {status: 200, /hits: {present: true}}
    items: /hits
    where: {/key: op.business_key}
    stale: true
    then: {probe: object, with: {remote_id: /id}}
  - name: object
    needs: [remote_id]
    get: /objects/{remote_id}
    found: {status: 200}
    absent: {status: 404, /error: not_found}
    remote_id: /id
absence: {confirm: 1, over: 0s}
compare: {version: {found: /version, type: version, is: op.version}}
evidence: {keep: [/version]}
"""


def answers(hit, thing):
    """What the index says, and the object itself."""
    def answer(request):
        if request.path == "/search":
            return answer_json({"hits": [hit] if hit else []})
        return answer_json(thing) if thing and request.path == f"/objects/{thing['id']}" \
            else NOT_FOUND
    return answer


def look(world, crm, hit, thing):
    world.policy(text=POLICY)
    crm.answer = answers(hit, thing)
    world.send("op-1")
    return world.once().of("op-1")


OLD = {"id": "c7", "key": "op-1", "version": 6}
NEW = {"id": "c7", "key": "op-1", "version": 7}


def test_what_differs_in_the_index_is_read_where_it_is_true(world, crm):
    line = look(world, crm, OLD, NEW)
    assert (line["class"], line["reason"]) == ("correct", "fields_equal")
    assert [request.path for request in crm.asked()] == ["/search", "/objects/c7"]
    evidence = world.evidence("op-1")
    assert (evidence["probe"], evidence["kept"]) == ("object", {"/version": "7"})
    assert world.operation("op-1")["remote_id"] == "c7"


def test_what_differs_there_too_is_divergent(world, crm):
    line = look(world, crm, OLD, OLD)
    assert line["class"] == "divergent"
    assert len(crm.asked("/objects/")) == 1


def test_what_is_right_in_the_index_needs_no_second_read(world, crm):
    line = look(world, crm, NEW, OLD)
    assert line["class"] == "correct"
    assert not crm.asked("/objects/")


def test_a_second_read_that_fails_says_nothing(world, crm):
    world.policy(text=POLICY)
    world.target(crm.url, more="retry: {attempts: 1}")
    index = answers(OLD, None)
    crm.answer = lambda request: (index(request) if request.path == "/search"
                                  else answer_json({}, 500))
    world.send("op-1")
    line = world.once(expect=3).of("op-1")
    assert (line["class"], line["reason"]) == ("inconclusive", "http_5xx")


def test_many_second_reads_at_once_ask_each_for_its_own(world, crm):
    def answer(request):
        if request.path == "/search":
            key = request.query["key"]
            return answer_json({"hits": [{"id": f"id-{key}", "key": key, "version": 6}]})
        return answer_json({"id": request.path.rsplit("/", 1)[1], "version": 7})

    world.policy(text=POLICY)
    crm.answer = answer
    for number in range(40):
        world.send(f"op-{number}")
    world.once()
    for number in range(40):
        row = world.operation(f"op-{number}")
        assert (row["status"], row["remote_id"]) == ("confirmed", f"id-op-{number}")
    assert len(crm.asked("/objects/")) == 40
