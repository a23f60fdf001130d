# SPDX-License-Identifier: Apache-2.0
"""The idempotency store: who may do the work of a key, and what everybody else is told."""

import datetime
import threading
import time
import uuid

import psycopg
import pytest

SCOPE = {"scope": "north", "operation": "create_order"}
BODY = b'{"order": "o-1"}\x00\xff\xfe'  # no text in any encoding


@pytest.fixture
def key(request):
    """A key of this test alone, as the arguments that name it."""
    return {**SCOPE, "key": request.node.name[:400]}


@pytest.fixture
def reserve(call, key):
    def with_payload(payload='{"total": 100}', **more):
        return call("reserve", **{**key, "payload": payload, **more})

    return with_payload


@pytest.fixture
def record(root, key):
    def row():
        return root.execute("SELECT * FROM reconcile.idempotency_records WHERE scope = %(scope)s"
                            " AND operation = %(operation)s AND key = %(key)s", key).fetchone()

    return row


@pytest.fixture
def operation(call):
    """An operation of this name that was sent; how it ends is the test's affair."""

    def make(name):
        call("request", operation_type="order", operation_id=name)
        call("start", operation_id=name)
        return call("sent", operation_id=name)

    return make


def complete(call, key, held, **more):
    call("complete", **{**key, "owner": held["owner"], "response_code": 201, "response_body": BODY,
                        "content_type": "application/json; charset=x", **more})


# the states of a record


def test_the_first_owns_it_and_the_second_waits(reserve):
    first = reserve()
    assert first["outcome"] == "reserved" and isinstance(first["owner"], uuid.UUID)
    assert reserve() == {"outcome": "in_progress", "owner": None, "response_code": None,
                         "response_body": None, "content_type": None, "resource_id": None,
                         "operation_id": None}


def test_the_answer_is_repeated_byte_for_byte(reserve, call, key):
    complete(call, key, reserve(), resource_id="o-1")
    for _ in range(2):
        assert reserve() == {"outcome": "replay", "owner": None, "response_code": 201,
                             "response_body": BODY, "resource_id": "o-1", "operation_id": None,
                             "content_type": "application/json; charset=x"}


def test_a_refusal_is_repeated_as_well(reserve, call, key):
    call("fail", **key, owner=reserve()["owner"], response_code=422, response_body=b"no",
         content_type="text/plain")
    again = reserve()
    assert (again["outcome"], again["response_code"], again["response_body"]) == \
        ("failed", 422, b"no")


def test_after_a_retryable_failure_the_next_caller_owns_it(reserve, call, key, refused):
    first = reserve()
    call("fail", **key, owner=first["owner"], retryable=True)
    second = reserve()
    assert second["outcome"] == "reserved" and second["owner"] != first["owner"]
    with refused("RC409"):
        complete(call, key, first)
    complete(call, key, second)
    assert reserve()["outcome"] == "replay"


def test_retryable_is_refused_once_the_operation_was_sent(reserve, call, key, refused, operation):
    held = reserve(operation_id="rf-1")
    operation("rf-1")
    with refused("RC422"):
        call("fail", **key, owner=held["owner"], retryable=True)
    assert reserve()["outcome"] == "in_progress"


def test_i01_an_expired_lease_never_runs_it_again(reserve, call, key, one, operation):
    held = reserve(operation_id="ex-1", lease="0 s")
    operation("ex-1")
    assert one("SELECT due_at > clock_timestamp() + interval '4 min' AS far"
               " FROM reconcile.operations WHERE operation_id = 'ex-1'")["far"]
    for _ in range(2):
        again = reserve()
        assert (again["outcome"], again["owner"], again["operation_id"]) == \
            ("uncertain", None, "ex-1")
    assert one("SELECT due_at <= clock_timestamp() AS now FROM reconcile.operations"
               " WHERE operation_id = 'ex-1'")["now"]
    complete(call, key, held)  # the owner was only slow
    assert reserve()["response_body"] == BODY


def test_a_living_attempt_is_not_asked_about_before_it_is_over(reserve, call, one):
    call("request", operation_type="order", operation_id="la-1")
    until = call("start", operation_id="la-1", lease="1 h")["attempt_until"]
    reserve(operation_id="la-1", lease="0 s")
    assert reserve()["outcome"] == "uncertain"
    assert one("SELECT due_at FROM reconcile.operations WHERE operation_id = 'la-1'") == \
        {"due_at": until}


def test_without_an_operation_only_the_owner_settles_it(reserve, call, key):
    held = reserve(lease="0 s")
    assert reserve()["outcome"] == "uncertain"
    complete(call, key, held)
    assert reserve()["outcome"] == "replay"


@pytest.mark.parametrize("lease,seconds", [("1500 milliseconds", 1.5), ("2 min", 120),
                                           ("1 day", 86400)])
def test_i01_a_lease_is_as_long_as_it_says(reserve, record, lease, seconds):
    reserve(lease=lease)
    row = record()
    assert row["lease_until"] - row["created_at"] == datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize("more", [
    {"lease": "-1 s"}, {"lease": "25 h"}, {"lease": None}, {"wait": "-1 s"}, {"wait": "5001 ms"},
    {"wait": None}, {"ttl": "0 s"}, {"ttl": "-1 h"}, {"ttl": None}, {"scope": None},
    {"operation": None}, {"key": None}, {"key": ""}, {"operation": ""}, {"key": "k" * 501},
    {"payload": '{"a": 1, "a": 2}'}, {"payload": "1e1001"}, {"ignore": ["a"]},
    {"ignore": ["/a~2"]}, {"ignore": [None]}, {"ignore": ["/a"] * 101}])
def test_what_is_no_argument(reserve, record, refused, more):
    with refused("RC400"):
        reserve(**more)
    assert record() is None


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_another_isolation_level_is_refused(connect, reserve, refused, level):
    on = connect("app", autocommit=False)
    on.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
    with refused("RC400"):
        reserve(on=on)


# who may settle it


def test_only_the_owner_settles(reserve, call, key, refused):
    reserve()
    for function in ("complete", "fail", "uncertain"):
        for owner in (uuid.uuid4(), None):
            with refused("RC409"):
                call(function, **key, owner=owner)
        with refused("RC404"):
            call(function, **{**key, "key": "nobody's"}, owner=uuid.uuid4())


def test_settled_once(reserve, call, key, refused):
    held = reserve()
    complete(call, key, held)
    complete(call, key, held)  # its answer was lost
    with refused("RC409"):
        complete(call, key, held, response_body=b"another")
    for function, more in (("fail", {}), ("fail", {"retryable": True}), ("uncertain", {})):
        with refused("RC409"):
            call(function, **key, owner=held["owner"], **more)
    assert reserve()["response_body"] == BODY


@pytest.mark.parametrize("more", [{"response_code": 99}, {"response_code": 600},
                                  {"content_type": "x" * 501}, {"resource_id": "x" * 501},
                                  {"response_body": b"x" * (8 * 1024 * 1024 + 1)}])
def test_what_is_no_answer(reserve, call, key, refused, more):
    held = reserve()
    with refused("RC400"):
        complete(call, key, held, **more)
    assert reserve()["outcome"] == "in_progress"


def test_uncertain_is_asked_about(reserve, call, key, record, operation, one):
    held = reserve(operation_id="un-1")
    operation("un-1")
    call("uncertain", **key, owner=held["owner"], external_reference="psp-77")
    assert reserve()["outcome"] == "uncertain"
    assert (record()["status"], record()["external_reference"]) == ("pending", "psp-77")
    assert one("SELECT due_at <= clock_timestamp() AS now FROM reconcile.operations"
               " WHERE operation_id = 'un-1'")["now"]


# what the operation says


@pytest.mark.parametrize("lease", ["0 s", "1 h"])
def test_a_confirmed_operation_completes_it(reserve, call, key, operation, lease):
    held = reserve(operation_id=f"cf-{lease[0]}", lease=lease)
    operation(f"cf-{lease[0]}")
    call("confirm", operation_id=f"cf-{lease[0]}", remote_id="crm-9")
    assert {name: reserve()[name] for name in ("outcome", "resource_id", "response_code")} == \
        {"outcome": "replay", "resource_id": "crm-9", "response_code": None}
    complete(call, key, held)  # the owner has the words for it
    assert (reserve()["response_body"], reserve()["resource_id"]) == (BODY, "crm-9")


def test_a_refused_operation_fails_it(reserve, call, operation):
    reserve(operation_id="rj-1")
    operation("rj-1")
    call("reject", operation_id="rj-1")
    assert reserve()["outcome"] == "failed"


def test_not_before_a_late_effect_is_ruled_out(reserve, call, root, operation):
    root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy, watch)"
                 " VALUES ('order', 't', 'd', '1 h')")
    reserve(operation_id="rj-2")
    operation("rj-2")
    call("reject", operation_id="rj-2")
    assert reserve()["outcome"] == "in_progress"
    root.execute("UPDATE reconcile.operations SET closed_at = closed_at - interval '1 h'"
                 " WHERE operation_id = 'rj-2'")
    assert reserve()["outcome"] == "failed"
    root.execute("DELETE FROM reconcile.operation_types WHERE operation_type = 'order'")


def test_the_business_transaction_was_rolled_back(reserve, call, key, refused):
    first = reserve(operation_id="rb-1", lease="0 s")
    second = reserve(operation_id="rb-1")
    assert second["outcome"] == "reserved" and second["owner"] != first["owner"]
    with refused("RC409"):
        complete(call, key, first)
    assert reserve()["outcome"] == "in_progress"


def test_an_operation_that_was_purged_is_remembered(reserve, root):
    root.execute("INSERT INTO reconcile.tombstones (operation_id, status, remote_id) VALUES"
                 " ('pu-1', 'confirmed', 'crm-1')")
    reserve(operation_id="pu-1", lease="0 s")
    assert (reserve()["outcome"], reserve()["resource_id"]) == ("replay", "crm-1")


# the payload

# what is sent first, then, and whether it is the same
PAYLOADS = [
    ('{"a":1,"b":2}', '{"b":2,"a":1}', True),
    ("[1,2]", "[2,1]", False),
    ("1", '"1"', False),
    ("1", "1.0", True),
    ("1", "1e0", True),
    ('{"a":1}', '{"a":1,"b":null}', False),
    ("9007199254740992", "9007199254740993", False),
    (None, None, True),
    (None, "null", False),
]


@pytest.mark.parametrize("first,second,same", PAYLOADS)
def test_i02_the_same_payload(reserve, first, second, same):
    reserve(first)
    assert reserve(second)["outcome"] == ("in_progress" if same else "conflict")


@pytest.mark.parametrize("ignore,second,same", [
    (["/meta/sent_at"], '{"total": 1, "meta": {"sent_at": "later", "id": 7}}', True),
    (["/meta/sent_at"], '{"total": 1, "meta": {"sent_at": "now", "id": 8}}', False),
    (["/meta"], '{"total": 1}', True),
    (["/lines/0", "/nowhere/at/all", "/total/deeper"],
     '{"total": 1, "meta": {"sent_at": "now", "id": 7}}', True),
    (["/a~1b~0c"], '{"a/b~c": 5, "total": 1, "meta": {"sent_at": "now", "id": 7}}', True)])
def test_i02_what_is_left_out(reserve, ignore, second, same):
    reserve('{"total": 1, "meta": {"sent_at": "now", "id": 7}}', ignore=ignore)
    assert reserve(second, ignore=ignore)["outcome"] == ("in_progress" if same else "conflict")


def test_fixed_vectors(one):
    """By printf '{"a":1,"b":[true,null,"x"]}' | sha256sum."""
    assert one("SELECT encode(reconcile.fingerprint_without(%s, %s), 'hex') AS hex",
               '{"b": [true, null, "x"], "n": 5, "a": 1.0}', ["/n"])["hex"] == \
        "eca8cfb31ab74533e1eb2f4c74d2d55dfe3c79ac704787e54be8647ea7777eb1"


def test_i05_a_conflict_leaves_a_trace_and_nothing_else(reserve, call, key, record):
    complete(call, key, reserve())
    before = record()
    for times in (1, 2):
        assert reserve('{"total": 120}') == {
            "outcome": "conflict", "owner": None, "response_code": None, "response_body": None,
            "content_type": None, "resource_id": None, "operation_id": None}
        assert record()["conflicts"] == times
    after = record()
    assert after["last_conflict_at"] is not None
    assert {**after, "conflicts": 0, "last_conflict_at": None} == before
    assert reserve()["outcome"] == "replay"


def test_i03_tenants_and_operations_are_apart(call, request):
    name = request.node.name
    for scope, operation in (("north", "create_order"), ("south", "create_order"),
                             ("north", "issue_refund"), ("", "create_order")):
        assert call("reserve", scope=scope, operation=operation, key=name,
                    payload=f'"{scope}{operation}"')["outcome"] == "reserved"


# time


def test_i04_the_answer_is_kept_from_its_settlement(reserve, call, key, record, root):
    held = reserve(ttl="1 h")
    assert record()["expires_at"] is None
    root.execute("UPDATE reconcile.idempotency_records SET created_at = created_at - interval '1 day'"
                 " WHERE key = %s", [key["key"]])
    complete(call, key, held)
    row = record()
    assert row["expires_at"] - row["updated_at"] == datetime.timedelta(hours=1)
    root.execute("UPDATE reconcile.idempotency_records SET expires_at = clock_timestamp()"
                 " - interval '1 day' WHERE key = %s", [key["key"]])
    assert reserve()["outcome"] == "replay"  # as long as it is there


@pytest.fixture
def expire(root, key):
    def by(span):
        root.execute("UPDATE reconcile.idempotency_records SET expires_at = clock_timestamp() - %s,"
                     " created_at = clock_timestamp() - interval '10 years',"
                     " lease_until = clock_timestamp() - interval '9 years' WHERE key = %s",
                     [span, key["key"]])

    return by


def test_i04_an_expired_answer_is_purged(reserve, call, key, record, expire):
    complete(call, key, reserve())
    call("purge", max=10000)
    assert record() is not None
    expire(datetime.timedelta(seconds=1))
    assert call("purge", max=10000)["purge"] == 1
    assert record() is None
    assert reserve('{"total": 120}')["outcome"] == "reserved"


@pytest.mark.parametrize("state", ["processing", "pending", "given back"])
def test_i04_what_is_not_settled_is_never_purged(reserve, call, key, record, expire, state):
    held = reserve()
    if state == "pending":
        call("uncertain", **key, owner=held["owner"])
    elif state == "given back":
        call("fail", **key, owner=held["owner"], retryable=True)
    expire(datetime.timedelta(days=1000))
    call("purge", max=10000)
    assert record() is not None


def test_purge_takes_those_that_expired_first(call, root, request):
    for number in range(5):
        key = {**SCOPE, "key": f"{request.node.name}-{number}"}
        complete(call, key, call("reserve", **key))
        root.execute("UPDATE reconcile.idempotency_records SET expires_at = clock_timestamp()"
                     " - %s * interval '1 min' WHERE key = %s", [number + 1, key["key"]])
    assert [call("purge", max=3)["purge"], call("purge", max=3)["purge"],
            call("purge", max=3)["purge"]] == [3, 2, 0]


def test_purge_reads_only_what_it_deletes(root):
    """With 20,000 records that are kept; by the index, not by the table."""
    root.execute("INSERT INTO reconcile.idempotency_records (scope, operation, key, status, expires_at)"
                 " SELECT 'many', 'x', i::text, 'completed', clock_timestamp() + interval '1 day'"
                 " FROM generate_series(1, 20000) i")
    root.execute("ANALYZE reconcile.idempotency_records")
    plan = root.execute(
        "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT reconcile.purge(1000)").fetchone()
    top = plan["QUERY PLAN"][0]["Plan"]
    assert top["Shared Hit Blocks"] + top["Shared Read Blocks"] < 200
    root.execute("DELETE FROM reconcile.idempotency_records WHERE scope = 'many'")


@pytest.mark.parametrize("most", [0, -1, 10001, None])
def test_purge_is_bounded(call, refused, most):
    with refused("RC400"):
        call("purge", max=most)


def test_who_waits_gets_the_answer(reserve, connect, call, key):
    held, on, answers = reserve(), connect("app"), []
    waiter = threading.Thread(target=lambda: answers.append(reserve(on=on, wait="5 s")))
    waiter.start()
    complete(call, key, held)
    waiter.join(30)
    assert [answer["outcome"] for answer in answers] == ["replay"]


def test_nobody_waits_longer_than_he_said(reserve):
    reserve()
    started = time.monotonic()
    assert reserve(wait="300 ms")["outcome"] == "in_progress"
    assert time.monotonic() - started >= 0.3


# many at once


class Clients:
    """Connections of an application that all reserve the same key at the same moment."""

    def __init__(self, cluster, database, key, count):
        self.connections = [cluster.connect(database, "app_login") for _ in range(count)]
        self.key, self.outcomes = key, []
        self.gate = threading.Barrier(count + 1)

    def one(self, connection):
        self.gate.wait()
        with connection:
            self.outcomes.append(connection.execute(
                "SELECT outcome FROM reconcile.reserve(%(scope)s, %(operation)s, %(key)s,"
                " '{\"total\": 100}', wait => '5 s')", self.key).fetchone()[0])

    def run(self, meanwhile):
        threads = [threading.Thread(target=self.one, args=[c]) for c in self.connections]
        for thread in threads:
            thread.start()
        self.gate.wait()
        meanwhile()
        for thread in threads:
            thread.join(60)
        return {outcome: self.outcomes.count(outcome) for outcome in set(self.outcomes)}


@pytest.fixture
def owner(cluster, database, key):
    """A connection whose transaction has reserved the key and is still open."""
    connection = cluster.connect(database, "app_login")
    connection.autocommit = False
    held = connection.execute(
        "SELECT owner FROM reconcile.reserve(%(scope)s, %(operation)s, %(key)s,"
        " '{\"total\": 100}')", key).fetchone()[0]
    yield connection, held
    connection.close()


@pytest.fixture
def others(cluster, database, key):
    made = Clients(cluster, database, key, 200)
    yield made
    for connection in made.connections:
        connection.close()


def wait_until_blocked(root, count):
    for _ in range(6000):
        if root.execute("SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                        ).fetchone()["n"] >= count:
            return
        time.sleep(0.01)
    raise AssertionError("nobody waits for the owner")


def test_200_at_once(others, record):
    assert others.run(lambda: None) == {"reserved": 1, "in_progress": 199}
    assert record()["conflicts"] == 0


def test_200_and_the_owner_commits_late(others, owner, root, call, key):
    def settle():
        wait_until_blocked(root, 50)
        owner[0].commit()
        complete(call, key, {"owner": owner[1]})

    assert others.run(settle) == {"replay": 200}


def test_200_and_the_owner_rolls_back(others, owner, root):
    def give_up():
        wait_until_blocked(root, 50)
        owner[0].rollback()

    assert others.run(give_up) == {"reserved": 1, "in_progress": 199}


def test_200_and_the_owner_dies(others, owner, root):
    def die():
        wait_until_blocked(root, 50)
        root.execute("SELECT pg_terminate_backend(%s)", [owner[0].info.backend_pid])

    assert others.run(die) == {"reserved": 1, "in_progress": 199}
    with pytest.raises(psycopg.OperationalError):
        owner[0].execute("SELECT 1")
