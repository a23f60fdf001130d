# SPDX-License-Identifier: Apache-2.0
"""Promise 12: how many automatic actions a type may take, decided while they are recorded."""

import pytest
from statements import record

HOUR_AGO = "date_trunc('minute', clock_timestamp()) - interval '{}'"


@pytest.fixture
def kind(root, request):
    """A type of its own with this guard, under policy "d"."""

    def make(guard_max=20, share=0.5, sample=10, name=None):
        name = name or request.node.name.replace("[", "-").replace("]", "")
        root.execute(
            "INSERT INTO reconcile.operation_types (operation_type, target, policy, mode,"
            " guard_window, guard_max, guard_share, guard_sample)"
            " VALUES (%s, 'crm', 'd', 'enforce', '10 min', %s, %s, %s)",
            [name, guard_max, share, sample])
        return name

    return make


@pytest.fixture
def sent(app):
    """Operations that were sent and whose outcome is not known."""

    def make(kind, *names):
        for name in names:
            app.execute("SELECT reconcile.request(%s, %s, already_sent => true)", [kind, name])
        return names

    return make


@pytest.fixture
def daemon(connect):
    return connect("daemon")


@pytest.fixture
def tripped(root):
    """The guards of a type, oldest first, those that were released too."""

    def rows(name):
        return [(row["reason"], row["count"], row["share"] and float(row["share"]),
                 row["released_at"] is None) for row in root.execute(
            "SELECT * FROM reconcile.guards WHERE name = %s ORDER BY tripped_at", [name])]

    return rows


def look(operation_id, kind, verdict="missing", **more):
    """A verdict that sends the operation to review, or confirms a correct one."""
    confirms = verdict == "correct"
    return {"operation_id": operation_id, "operation_type": kind, "revision": 0, "changed": True,
            "from_status": "awaiting_confirmation",
            "to_status": "confirmed" if confirms else "manual_review", "class": verdict,
            "reason": "r", "closed_reason": "r" if confirms else None,
            "due_in": None if confirms else 3600000000, "event": "judged", "policy": "d",
            "journal_class": verdict, "journal_reason": "r", "tally_class": verdict,
            "tally_action": "confirm" if confirms else "review", "guarded": not confirms, **more}


def outcomes(told):
    return [outcome for outcome, _ in told]


def tally(root, kind, ago, verdict, counted, instance="i9"):
    root.execute(
        "INSERT INTO reconcile.tallies (instance_id, minute, operation_type, class, action, n,"
        f" counted) VALUES (%s, {HOUR_AGO.format(ago)}, %s, %s, 'review', %s, %s)",
        [instance, kind, verdict, counted, counted])


def test_an_exact_fit_trips_nothing(kind, sent, daemon, tripped, one):
    k = kind(guard_max=3)
    names = sent(k, "fit1", "fit2", "fit3", "fit4")
    assert outcomes(record(daemon, [look(n, k) for n in names[:3]])) == ["done"] * 3
    assert tripped(k) == []
    assert one("SELECT used FROM reconcile.budgets WHERE operation_type = %s", k)["used"] == 3
    assert outcomes(record(daemon, [look("fit4", k)])) == ["held"]
    assert tripped(k) == [("max", 4, None, True)]


def test_one_too_many_is_held_and_nothing_of_it_is_written(kind, sent, daemon, tripped, root):
    k = kind(guard_max=3)
    names = sent(k, "over1", "over2", "over3", "over4")
    told = record(daemon, [look(n, k) for n in names])
    assert told == [("done", 1), ("done", 1), ("done", 1), ("held", None)]
    assert tripped(k) == [("max", 4, None, True)]
    assert [tuple(row.values()) for row in root.execute(
        "SELECT operation_id, status, checks, revision FROM reconcile.operations"
        " WHERE operation_type = %s ORDER BY 1", [k])] == [
        ("over1", "manual_review", 1, 1), ("over2", "manual_review", 1, 1),
        ("over3", "manual_review", 1, 1), ("over4", "awaiting_confirmation", 0, 0)]
    assert root.execute("SELECT sum(n) AS n, sum(counted) AS c FROM reconcile.tallies"
                        " WHERE operation_type = %s", [k]).fetchone() == {"n": 3, "c": 3}


def test_tripped_holds_every_action_and_no_confirmation(kind, sent, daemon, tripped):
    k = kind(guard_max=0)
    sent(k, "con1", "con2", "con3")
    assert outcomes(record(daemon, [look("con1", k)])) == ["held"]
    assert outcomes(record(daemon, [look("con1", k), look("con2", k, "correct"),
                                    look("con3", k, "divergent")])) == ["held", "done", "held"]
    assert tripped(k) == [("max", 1, None, True)]


def test_looks_without_an_action_go_on_while_tripped(kind, sent, daemon):
    k = kind(guard_max=0)
    sent(k, "go1")
    record(daemon, [look("go1", k)])
    assert record(daemon, [look("go1", k, changed=False, guarded=False,
                                to_status="awaiting_confirmation", tally_action="wait")]) \
        == [("done", 0)]


@pytest.mark.parametrize("verdicts,held,trip", [
    # share above one half, from four verdicts on
    ("mmm", 0, []),
    ("mmcc", 0, []),
    ("mmmc", 3, [("share", 4, 0.75, True)]),
    ("mdmcc", 3, [("share", 5, 0.6, True)]),
    ("aaaa", 0, []),
    ("mmaac", 0, []),
])
def test_share_of_one_batch(kind, sent, daemon, tripped, verdicts, held, trip):
    words = {"m": "missing", "d": "divergent", "c": "correct", "a": "ambiguous"}
    k = kind(share=0.5, sample=4)
    names = sent(k, *(f"{verdicts}-{n}" for n in range(len(verdicts))))
    told = record(daemon, [look(n, k, words[v]) for n, v in zip(names, verdicts)])
    assert outcomes(told).count("held") == held
    assert tripped(k) == trip


def test_the_sample_is_gathered_over_batches_and_instances(kind, sent, daemon, tripped):
    k = kind(share=0.5, sample=4)
    sent(k, "s1", "s2", "s3", "s4")
    assert outcomes(record(daemon, [look("s1", k), look("s2", k)], "i1")) == ["done", "done"]
    assert outcomes(record(daemon, [look("s3", k)], "i2")) == ["done"]
    assert outcomes(record(daemon, [look("s4", k)], "i1")) == ["held"]
    assert tripped(k) == [("share", 4, 1.0, True)]


def test_what_counts(kind, sent, daemon, one):
    """Verdicts on what is under way: neither looks without verdict nor cases that are decided."""
    k = kind()
    names = sent(k, "w1", "w2", "w3", "w4")
    record(daemon, [look(names[0], k), look(names[1], k, "correct"),
                    look(names[2], k, "waiting", changed=False, guarded=False, **{"class": None},
                         to_status="awaiting_confirmation"),
                    look(names[3], k, "inconclusive", changed=False, guarded=False,
                         **{"class": None}, to_status="awaiting_confirmation")])
    counted = "SELECT sum(n) AS n, sum(counted) AS c FROM reconcile.tallies" \
              " WHERE operation_type = %s"
    assert one(counted, k) == {"n": 4, "c": 2}
    record(daemon, [look(names[0], k, changed=False, guarded=False, revision=1, checks=1,
                         from_status="manual_review")])
    assert one(counted, k) == {"n": 5, "c": 2}


@pytest.mark.parametrize("recent,expected", [(49, "held"), (50, "done")])
def test_reaches_back_to_the_last_fifty_verdicts(kind, sent, daemon, root, recent, expected):
    """Two hours ago recent correct ones; three hours ago a hundred missing ones."""
    k = kind()
    tally(root, k, "2 hours", "correct", recent)
    tally(root, k, "3 hours", "missing", 100)
    sent(k, f"back{recent}")
    assert outcomes(record(daemon, [look(f"back{recent}", k)])) == [expected]


def test_a_whole_window_counts_even_with_more_than_fifty(kind, sent, daemon, root, tripped):
    k = kind()
    tally(root, k, "1 min", "correct", 60)
    tally(root, k, "8 min", "missing", 60)
    tally(root, k, "1 hour", "correct", 1000)
    sent(k, "win1")
    assert outcomes(record(daemon, [look("win1", k)])) == ["held"]
    assert tripped(k) == [("share", 121, 0.5041, True)]


def test_another_type_is_another_matter(kind, sent, daemon, tripped):
    k, other = kind(guard_max=0), kind(name="unconcerned")
    sent(k, "at1")
    sent(other, "at2")
    assert record(daemon, [look("at1", k), look("at2", other)]) == [("held", None), ("done", 1)]
    assert tripped(other) == []


def test_a_type_without_policy_has_the_usual_guard(sent, daemon, tripped):
    names = sent("unpublished", *(f"un{n:02}" for n in range(21)))
    looks = [look(n, "unpublished", "ambiguous") for n in names]
    assert outcomes(record(daemon, looks)) == ["done"] * 20 + ["held"]
    assert tripped("unpublished") == [("max", 21, None, True)]


def test_a_window_ends(kind, sent, daemon, root, tripped):
    k = kind(guard_max=1)
    sent(k, "end1", "end2", "end3")
    assert outcomes(record(daemon, [look("end1", k)])) == ["done"]
    root.execute("UPDATE reconcile.budgets SET window_started_at = clock_timestamp()"
                 " - interval '10 min' WHERE operation_type = %s", [k])
    assert outcomes(record(daemon, [look("end2", k)])) == ["done"]
    assert outcomes(record(daemon, [look("end3", k)])) == ["held"]
    assert tripped(k) == [("max", 2, None, True)]


def test_what_is_stale_or_refused_draws_nothing(kind, sent, daemon, one, refused, tripped):
    k = kind(guard_max=3)
    sent(k, "st1", "st2", "st3")
    assert outcomes(record(daemon, [look("st1", k, revision=7), look("nobody", k),
                                    look("st2", k)])) == ["stale", "stale", "done"]
    assert tripped(k) == []
    with refused("RC422"):
        record(daemon, [look("st1", k), look("st3", k, to_status="compensated")])
    assert one("SELECT used FROM reconcile.budgets WHERE operation_type = %s", k)["used"] == 1


def test_a_release_lets_so_many_through(kind, sent, daemon, tripped, connect):
    """Whatever the limits say; after that they hold again."""
    k = kind(share=0.5, sample=2)
    names = sent(k, "re1", "re2", "re3", "re4", "re5")
    assert outcomes(record(daemon, [look(n, k) for n in names])) == ["held"] * 5
    row = connect("operator").execute("SELECT * FROM reconcile.release_guard('type', %s, 3,"
                                      " 'known: the import of May')", [k]).fetchone()
    assert (row["action_limit"], row["let_through"], row["released_by"], row["release_reason"]) \
        == (3, 0, "operator:operator_login", "known: the import of May")
    assert outcomes(record(daemon, [look("re1", k), look("re2", k)])) == ["done", "done"]
    assert tripped(k) == [("share", 5, 1.0, False)]
    told = record(daemon, [look("re3", k), look("re4", k), look("re5", k)])
    assert outcomes(told) == ["done", "held", "held"]
    assert tripped(k) == [("share", 5, 1.0, False), ("share", 5, 1.0, True)]


def test_what_a_release_lets_through_is_not_of_the_window(kind, sent, daemon, connect, one, tripped):
    k = kind(guard_max=2)
    names = sent(k, "rw1", "rw2", "rw3", "rw4", "rw5")
    assert outcomes(record(daemon, [look(n, k) for n in names[:3]])) == ["done", "done", "held"]
    connect("operator").execute("SELECT reconcile.release_guard('type', %s, 1, 'once')", [k])
    assert outcomes(record(daemon, [look("rw3", k)])) == ["done"]
    assert one("SELECT used FROM reconcile.budgets WHERE operation_type = %s", k)["used"] == 2
    assert outcomes(record(daemon, [look("rw4", k)])) == ["held"]
    assert tripped(k) == [("max", 3, None, False), ("max", 3, None, True)]


def test_a_release_without_a_limit_trips_anew(kind, sent, daemon, connect, tripped):
    k = kind(guard_max=0)
    sent(k, "rn1")
    record(daemon, [look("rn1", k)])
    connect("operator").execute("SELECT reconcile.release_guard('type', %s, reason => 'try')", [k])
    assert outcomes(record(daemon, [look("rn1", k)])) == ["held"]
    assert [open_ for *_, open_ in tripped(k)] == [False, True]


def test_instances_do_not_add_up(kind, sent, connect, background, root, tripped):
    """Six at once, each with batches of its own, and together exactly max."""
    k = kind(guard_max=10)
    names = sent(k, *(f"many{n:02}" for n in range(60)))

    def work(number):
        connection, done = connect("daemon"), 0
        for first in range(number * 10, number * 10 + 10, 2):
            looks = [look(n, k, "ambiguous") for n in names[first:first + 2]]
            done += outcomes(record(connection, looks, f"i{number}")).count("done")
        return done

    tasks = [background(lambda n=n: work(n)) for n in range(6)]
    assert sum(task.result() for task in tasks) == 10
    assert root.execute("SELECT count(*) AS n FROM reconcile.operations WHERE operation_type = %s"
                        " AND status = 'manual_review'", [k]).fetchone()["n"] == 10
    assert [(reason, open_) for reason, _, _, open_ in tripped(k)] == [("max", True)]


def test_types_are_drawn_in_one_order(kind, sent, connect, background):
    """Batches that name the same types in another order do not lock each other out."""
    first, second = kind(guard_max=1000, name="order-a"), kind(guard_max=1000, name="order-b")
    sent(first, *(f"oa{n:02}" for n in range(40)))
    sent(second, *(f"ob{n:02}" for n in range(40)))

    def work(connection, numbers, turned):
        for n in numbers:
            looks = [look(f"oa{n:02}", first, "ambiguous"), look(f"ob{n:02}", second, "ambiguous")]
            told = record(connection, looks[::-1] if turned else looks)
            assert outcomes(told) == ["done", "done"]

    tasks = [background(lambda c=connect("daemon"), t=t: work(c, range(t, 40, 2), t))
             for t in range(2)]
    for task in tasks:
        task.result()


def test_waiting_for_a_row_draws_once(kind, sent, connect, background, one):
    """The row changes while the statement waits for it: what was counted is not counted again."""
    k = kind(guard_max=5)
    sent(k, "wait1", "wait2")
    holder = connect("app", autocommit=False)
    holder.execute("SELECT reconcile.receipt('wait2', 'r')")
    task = background(lambda: record(connect("daemon"), [look("wait1", k, "ambiguous"),
                                                        look("wait2", k, "ambiguous")]))
    task.thread.join(0.2)
    holder.commit()
    assert outcomes(task.result()) == ["done", "stale"]
    assert one("SELECT used FROM reconcile.budgets WHERE operation_type = %s", k)["used"] == 2


def test_the_rewind_guard_holds_every_type(kind, sent, daemon, root, connect):
    k = kind()
    sent(k, "rwd1", "rwd2")
    root.execute("INSERT INTO reconcile.guards (kind, name, reason) VALUES"
                 " ('rewind', 'database', 'beats')")
    assert outcomes(record(daemon, [look("rwd1", k), look("rwd2", k, "correct")])) \
        == ["held", "done"]
    connect("operator").execute("SELECT reconcile.release_guard('rewind', 'database', 0, 'seen')")
    assert outcomes(record(daemon, [look("rwd1", k)])) == ["done"]
