# SPDX-License-Identifier: Apache-2.0
"""Versions of one entity: the highest one counts, in whichever order they come."""

import pytest


@pytest.fixture(autouse=True)
def types(root):
    for name, order in (("dotted", "dotted"), ("time", "time"), ("opaque", "opaque")):
        root.execute("INSERT INTO reconcile.operation_types (operation_type, target, policy,"
                     " version_order) VALUES (%s, 'crm', 'd', %s) ON CONFLICT DO NOTHING",
                     [name, order])


@pytest.fixture
def want(call):
    def request(name, version, *, entity="1", kind="sync", scope="", entity_type="customer"):
        return call("request", operation_type=kind, operation_id=name, scope=scope,
                    entity_type=entity_type, entity_id=entity, version=version)
    return request


@pytest.fixture
def by(one):
    return lambda name: one("SELECT superseded_by FROM reconcile.operations"
                            " WHERE operation_id = %s", name)["superseded_by"]


def test_a_higher_version_supersedes_open_ones(want, by, journal, events, call, refused):
    want("a9", "9", entity="a")
    want("a10", "10", entity="a")  # as numbers, not as text
    assert (by("a9"), by("a10")) == ("a10", None)
    last = journal("a9")[-1]
    assert (last["event"], last["from_status"], last["to_status"], last["evidence"]) == (
        "superseded", "pending", "pending", '{"superseded_by":"a10","version":"10"}')
    assert events("a9") == ["operation.requested"]
    with refused("RC422") as refusal:
        call("start", operation_id="a9")
    assert "superseded" in refusal.message
    assert call("claim", operation_types=["sync"])["operation_id"] == "a10"


def test_an_older_version_that_comes_late_is_superseded_itself(want, by, journal):
    want("b8", "8", entity="b")
    assert want("b7", "7", entity="b")["superseded_by"] == "b8"
    assert by("b8") is None
    row, = journal("b7")
    assert row["evidence"] == '{"superseded_by":"b8"}'


def test_version_8_is_done_then_7_is_requested_and_cannot_start(want, call, refused):
    want("c8", "8", entity="c")
    call("start", operation_id="c8")
    call("confirm", operation_id="c8")
    assert want("c7", "7", entity="c")["superseded_by"] == "c8"
    with refused("RC422"):
        call("start", operation_id="c7")


def test_closed_ones_are_not_marked(want, by, call):
    want("d1", "1", entity="d")
    call("cancel", operation_id="d1")
    want("d2", "2", entity="d")
    assert by("d1") is None


def test_marked_once_by_the_first_successor(want, by, journal):
    want("e1", "1", entity="e")
    want("e2", "2", entity="e")
    want("e3", "3", entity="e")
    assert (by("e1"), by("e2"), by("e3")) == ("e2", "e3", None)
    assert [r["event"] for r in journal("e1")] == ["requested", "superseded"]


@pytest.mark.parametrize("other", [{"scope": "t"}, {"kind": "other"}, {"entity_type": "x"},
                                   {"entity_type": None}, {"entity": "f2"}])
def test_other_entities_types_and_scopes_are_apart(want, by, other):
    name = "f-" + "-".join(map(str, next(iter(other.items()))))
    want(name + "-1", "1", **{"entity": name, **other})
    want(name + "-2", "2", entity=name)
    assert by(name + "-1") is None


def test_an_equal_version_supersedes_nothing(want, by):
    want("g1", "5", entity="g")
    want("g2", "5.", entity="g")
    want("g3", "5", entity="g")
    assert (by("g1"), by("g2"), by("g3")) == (None, None, None)


@pytest.mark.parametrize("kind,low,high", [
    ("dotted", "1.9", "1.10"), ("dotted", "1.0.9", "1.1"),
    ("time", "2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00Z"),
])
def test_orders(want, by, kind, low, high):
    want(low + kind, low, entity="o" + low, kind=kind)
    want(high + kind, high, entity="o" + low, kind=kind)
    assert (by(low + kind), by(high + kind)) == (high + kind, None)


@pytest.mark.parametrize("kind,one_version,other", [
    ("opaque", "1", "2"), ("sync", "v1", "v2"), ("time", "2026-01-01", "2026-01-02"),
    ("time", "2026-13-01T00:00:00Z", "2026-01-02T00:00:00Z"),
])
def test_without_order_nothing_is_superseded(want, by, kind, one_version, other):
    want("n" + kind + one_version, one_version, entity="n" + one_version, kind=kind)
    want("n" + kind + other, other, entity="n" + one_version, kind=kind)
    assert by("n" + kind + one_version) is None and by("n" + kind + other) is None


@pytest.mark.parametrize("ending", ["sent", "confirm", "reject", "retry"])
def test_the_end_of_an_outdated_attempt_makes_its_successors_due(want, call, one, journal, ending):
    """Also the highest version, which is final already: the old one may have landed on it."""
    name = "h" + ending
    want(name + "1", "1", entity=name)
    call("start", operation_id=name + "1")
    want(name + "2", "2", entity=name)
    want(name + "3", "3", entity=name)
    call("start", operation_id=name + "3")
    call("confirm", operation_id=name + "3")
    ended = call(ending, operation_id=name + "1")
    for successor, status in ((name + "2", "pending"), (name + "3", "confirmed")):
        row = one("SELECT * FROM reconcile.operations WHERE operation_id = %s", successor)
        assert (row["due_at"], row["status"]) == (ended["updated_at"], status)
        journal(successor)  # due_at alone is no revision


def test_two_versions_at_once(want, by, cluster, database, background):
    """The lock makes the second wait: whoever commits first, the lower one ends superseded."""
    def request(connection, name, version):
        connection.execute("SELECT reconcile.request('sync', %s, entity_id => 'race',"
                           " version => %s)", [name, version])

    first = cluster.connect(database, "app_login", autocommit=False)
    second = cluster.connect(database, "app_login", autocommit=False)
    request(first, "race2", "2")
    waiting = background(lambda: (request(second, "race1", "1"), second.commit()))
    assert waiting.thread.is_alive()
    first.commit()
    waiting.result()
    assert (by("race1"), by("race2")) == ("race2", None)
    first.close()
    second.close()
