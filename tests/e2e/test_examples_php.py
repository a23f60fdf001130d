# SPDX-License-Identifier: Apache-2.0
"""examples/php: its order service and its worker together, from the client's request to the effect.

Real PHP, PostgreSQL and daemon, the simulated warehouse with its books. What is asserted at the end
of each: one order, one operation, one effect, the same bytes for each repetition.
"""

import concurrent.futures
import contextlib
import http.client

import pytest

from fault_proxy import FaultProxy
from php_shop import PHP, TOKEN, Sampler, Service, Shop

ORDER = {"article": "lamp", "total": "10.50"}
KEY = "key-of-the-client-1"


@pytest.fixture
def shop(world, tmp_path):
    directory = tmp_path / "shop"
    directory.mkdir()
    made = Shop(world, directory)
    world.db.execute((PHP / "schema.sql").read_text())
    world.once()  # makes the policies known
    yield made
    made.close()


@pytest.fixture
def service(shop):
    with contextlib.closing(Service(shop.conninfo, shop.directory)) as running:
        yield running


@pytest.fixture
def proxy(world, shop):
    """Between a service and PostgreSQL, to cut it off at a certain statement."""
    with FaultProxy(f"unix:{world.cluster.directory}/.s.PGSQL.5432",
                    f"unix:{shop.directory}/.s.PGSQL.5432", postgres=True) as running:
        yield running


def through(world, directory):
    return f"host={directory} dbname={world.database} user=app_login"


def records(world):
    return world.db.execute("SELECT * FROM reconcile.idempotency_records").fetchall()


def only_order(world):
    """The business row, of which there is one, and its operation."""
    [row] = world.db.execute("SELECT * FROM orders").fetchall()
    [operation] = world.db.execute("SELECT * FROM reconcile.operations").fetchall()
    assert operation["operation_id"] == row["id"]
    return row["id"]


def one_effect(shop, order):
    [effect] = shop.effects(order)
    assert effect["key"] == order
    return effect


def same(first, again):
    assert (first.status, first.body, first.headers["content-type"]) == (
        again.status, again.body, again.headers["content-type"])


def test_an_order_from_the_client_to_the_warehouse(world, shop, service):
    world.start_daemon()
    shop.worker()
    answer = service.place(KEY, ORDER)
    assert answer.status == 202
    order = only_order(world)
    assert (answer.json["order"], answer.json["status"]) == (order, "accepted")
    row = shop.end(order, "confirmed")
    assert row["scope"] == "north"
    assert one_effect(shop, order)["body"]["total"] == "10.50"
    shown = service.show(order)
    assert (shown.status, shown.json["status"], shown.json["remote_id"]) == (
        200, "confirmed", row["remote_id"])
    same(answer, service.place(KEY, ORDER))


def test_the_answer_is_lost_after_the_result_was_stored(world, shop, service):
    """The client hangs up before it has read a byte, and asks again."""
    shop.worker()
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    connection.request("POST", "/orders", '{"article": "lamp", "total": "10.50"}',
                       {"Idempotency-Key": KEY, "X-Tenant": "north"})
    world.wait_for(lambda: [r for r in records(world) if r["status"] == "completed"], what="a result")
    connection.close()
    again = service.place(KEY, ORDER)
    assert again.status == 202
    [record] = records(world)
    assert again.body == bytes(record["response_body"])
    order = only_order(world)
    shop.end(order, "confirmed")
    one_effect(shop, order)
    same(again, service.place(KEY, ORDER))


def test_another_spelling_of_the_same_order_is_the_same(world, service):
    first = service.place(KEY, '{"article":"lamp","total":"10.50"}')
    same(first, service.place(KEY, '{ "total" : "10.50",\n"article" : "\\u006camp" }'))
    only_order(world)


def test_another_payload_with_the_same_key_is_refused(world, shop, service):
    first = service.place(KEY, ORDER)
    before = world.operation(only_order(world))
    refused = service.place(KEY, {"article": "lamp", "total": "99.00"})
    assert refused.status == 422
    [record] = records(world)
    assert record["conflicts"] == 1
    assert world.operation(only_order(world)) == before
    same(first, service.place(KEY, ORDER))
    shop.worker()
    order = only_order(world)
    shop.end(order, "confirmed")
    assert one_effect(shop, order)["body"]["total"] == "10.50"


def test_tenants_do_not_share_keys(world, service):
    north, south = (service.place(KEY, ORDER, tenant) for tenant in ("north", "south"))
    assert (north.status, south.status) == (202, 202)
    assert north.json["order"] != south.json["order"]
    assert service.show(north.json["order"], "south").status == 404


def test_a_refusal_of_the_business_is_repeated(world, service):
    refused = service.place(KEY, {"article": "palace", "total": "10000.01"})
    assert refused.status == 422 and "signature" in refused.json["error"]
    same(refused, service.place(KEY, {"article": "palace", "total": "10000.01"}))
    assert world.db.execute("SELECT count(*) AS n FROM orders").fetchone()["n"] == 0


@pytest.mark.parametrize("key, body", [
    ("", ORDER), ("short", ORDER), (KEY, {"article": "lamp", "total": "10"}), (KEY, "no JSON"),
    (KEY, {"total": "10.50"}), (KEY, '["lamp"]')])
def test_nonsense_is_refused_before_anything_is_reserved(world, service, key, body):
    assert service.place(key, body).status == 400
    assert records(world) == []


def test_many_clients_with_one_key(world, shop, service):
    """Forty at once: who gets an answer gets the same one, and the others are told to ask again."""
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda _: service.place(KEY, ORDER, timeout=60), range(40)))
    assert {answer.status for answer in answers} <= {202, 409}
    assert len({answer.body for answer in answers if answer.status == 202}) == 1
    shop.worker()
    order = only_order(world)
    shop.end(order, "confirmed")
    one_effect(shop, order)


def test_the_service_dies_after_the_reservation(world, shop, proxy):
    """Nothing was written down, so the next caller gets the key when the lease is over."""
    with contextlib.closing(Service(through(world, shop.directory), shop.directory,
                                    "dying", 1)) as dying:
        lost = proxy.lose("INSERT INTO orders", what="question", how="silence")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = pool.submit(dying.place, KEY, ORDER)
            assert lost.happened.wait(30)
            dying.kill()
            assert isinstance(asked.exception(30), (OSError, http.client.HTTPException))
        [record] = records(world)
        assert record["status"] == "processing"
        assert world.db.execute("SELECT count(*) AS n FROM orders").fetchone()["n"] == 0
        dying.start()
        assert dying.place(KEY, ORDER).status == 409  # the lease still runs
        world.db.execute("UPDATE reconcile.idempotency_records SET lease_until = clock_timestamp()")
        answer = dying.place(KEY, ORDER)
        assert answer.status == 202
        same(answer, dying.place(KEY, ORDER))
    shop.worker()
    order = only_order(world)
    shop.end(order, "confirmed")
    one_effect(shop, order)


def test_a_service_that_slept_does_not_answer_for_another(world, shop, proxy, service):
    """Its lease ends before it has written anything, another one gets the key; then it goes on."""
    with contextlib.closing(Service(through(world, shop.directory), shop.directory,
                                    "sleeper", 1)) as sleeper:
        with world.cluster.connect(world.database, autocommit=False) as holder, \
                concurrent.futures.ThreadPoolExecutor() as pool:
            holder.execute("LOCK TABLE reconcile.entity_versions, reconcile.content")
            asked = pool.submit(sleeper.place, KEY, ORDER, timeout=60)
            world.wait_for(lambda: waits(world, "sleeper"), what="a request that waits")
            world.db.execute("UPDATE reconcile.idempotency_records SET"
                             " lease_until = clock_timestamp()")
            other = pool.submit(service.place, KEY, ORDER, timeout=60)
            world.wait_for(lambda: waits(world, "service"), what="another one")
            holder.rollback()
            answers = [asked.result(60), other.result(60)]
        assert sorted(answer.status for answer in answers) in ([202, 202], [202, 409]), answers
        assert len({answer.body for answer in answers if answer.status == 202}) == 1
        first = next(answer for answer in answers if answer.status == 202)
        same(first, service.place(KEY, ORDER))
    only_order(world)


def waits(world, name):
    return world.db.execute("SELECT FROM pg_stat_activity WHERE application_name = %s"
                            " AND wait_event_type = 'Lock'", [name]).fetchall()


def test_a_key_that_was_forgotten_is_not_used_for_another_order(world, service):
    """Its record was purged, the order was not."""
    first = service.place(KEY, ORDER)
    world.db.execute("DELETE FROM reconcile.idempotency_records")
    again = service.place(KEY, ORDER)
    assert (again.status, again.json["order"]) == (202, first.json["order"])
    world.db.execute("DELETE FROM reconcile.idempotency_records")
    assert service.place(KEY, {"article": "rug", "total": "10.50"}).status == 422
    only_order(world)


def test_the_answer_of_the_commit_is_lost(world, shop, proxy):
    """The service does not know whether it has an order. The client asks again, and gets that one."""
    with contextlib.closing(Service(through(world, shop.directory), shop.directory,
                                    "unsure", 1)) as unsure:
        lost = proxy.lose("COMMIT", how="reset")
        answer = unsure.place(KEY, ORDER)
        assert lost.happened.wait(30) and answer.status == 503
        again = unsure.place(KEY, ORDER)
        assert again.status == 202
        same(again, unsure.place(KEY, ORDER))
    only_order(world)


def test_the_order_is_rolled_back(world, shop, proxy):
    """The database refuses in the middle: the key is free at once, and nothing was requested."""
    with contextlib.closing(Service(through(world, shop.directory), shop.directory,
                                    "refused", 1)) as service:
        world.db.execute("ALTER TABLE orders ADD CONSTRAINT no_lamps CHECK (article <> 'lamp')")
        assert service.place(KEY, ORDER).status == 503
        assert world.db.execute("SELECT count(*) AS n FROM reconcile.operations").fetchone()["n"] == 0
        world.db.execute("ALTER TABLE orders DROP CONSTRAINT no_lamps")
        assert service.place(KEY, ORDER).status == 202
    only_order(world)


def test_an_address_changes_while_the_one_before_is_in_flight(world, shop, service):
    world.start_daemon()
    order = service.place(KEY, ORDER).json["order"]
    shop.sim.behave({"name": "slow", "on": "effect", "collection": "addresses", "latency": "2s",
                     "lose": "close", "times": 1})
    assert service.move(order, "Old Street 1").json == {"order": order, "version": 1}
    shop.worker("first", TIMEOUT=8, LEASE=20, AT_ONCE=1)
    first, second = f"address-{order}-1", f"address-{order}-2"
    world.wait_for(lambda: shop.effects(first), what="the first address")
    assert service.move(order, "New Street 2").json == {"order": order, "version": 2}
    shop.worker("second")
    shop.end(second, "confirmed")
    shop.end(first, "not_applicable")
    stored = shop.sim.admin("GET", f"objects/addresses/{order}")["object"]
    assert (stored["street"], stored["version"]) == ("New Street 2", 2)
    shop.end(order, "confirmed")
    one_effect(shop, order)


def test_where_somebody_lives_is_in_no_journal(world, shop, service):
    world.start_daemon()
    order = service.place(KEY, ORDER).json["order"]
    shop.sim.behave({"name": "lost", "on": "effect", "lose": "close"})
    service.move(order, "Secret Street 1", "Hidden Town")
    shop.worker()
    address = f"address-{order}-1"
    assert shop.end(address, "confirmed")["class"] == "correct"
    evidence = world.evidence(address)
    assert [row["result"] for row in evidence["compared"]] == ["equal"] * 3
    written = str(world.journal(address)) + str(world.db.execute(
        "SELECT payload FROM reconcile.outbox").fetchall()) + shop.workers[0].log.read_text()
    for secret in ("Secret Street", "Hidden Town", TOKEN):
        assert secret not in written


def test_no_transaction_of_the_service_outlasts_its_request(world, shop, service):
    """It calls nobody, and nothing of it is open afterwards."""
    sampler = Sampler(world, "service")
    for i in range(5):
        assert service.place(f"{KEY}-{i}", ORDER).status == 202
        sampler.sample()
    assert [row for row in sampler.seen if row[0] != "idle"] == []
