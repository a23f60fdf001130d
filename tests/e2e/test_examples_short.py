# SPDX-License-Identifier: Apache-2.0
"""examples/python and examples/node: each a worker that sends once and leaves doubt to reconciled."""

import os
import signal
import subprocess
import sys

import pytest

import node_server
from php_shop import PHP, Sampler, Shop

EXAMPLES = PHP.parent
FAULTS = ("lamp", "answer-lost", "no-answer", "never-arrived", "lamp")
LANGUAGES = ("python", "node")


class Program:
    """orders.py or orders.mjs, with the settings of a shop."""

    def __init__(self, language, shop):
        self.python, self.shop = language == "python", shop
        world = shop.world
        self.command = [sys.executable, EXAMPLES / "python/orders.py"] if self.python else [
            "node", EXAMPLES / "node/orders.mjs"]
        self.name = self.command[1].name
        self.environment = {
            **os.environ, "TIMEOUT": "1", "LEASE": "4", "DATABASE": shop.conninfo if self.python else
            f"postgres://app_login@/{world.database}?host={world.cluster.directory}",
            "WAREHOUSE": shop.sim.address if self.python else shop.sim.base}
        self.log = shop.directory / "short.log"

    def run(self, *arguments):
        done = subprocess.run([*self.command, *arguments], env=self.environment, text=True,
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def work(self):
        with open(self.log, "ab") as log:
            self.shop.workers.append(Process(subprocess.Popen(
                [*self.command, "work"], env=self.environment, stdin=subprocess.DEVNULL, stderr=log)))
        return self.shop.workers[-1]


class Process:
    def __init__(self, process):
        self.process = process

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def shop(world, tmp_path):
    directory = tmp_path / "shop"
    directory.mkdir()
    made = Shop(world, directory, token=None)
    yield made
    made.close()


@pytest.fixture(params=LANGUAGES)
def program(request, shop):
    if request.param == "node":
        node_server.install(EXAMPLES / "node")
    return Program(request.param, shop)


def test_each_order_arrives_once(world, shop, program):
    world.start_daemon()
    orders = [shop.place(i, article) for i, article in enumerate(FAULTS, 1)]
    worker = program.work()
    attempts = [shop.end(order, "confirmed")["attempts"] for order in orders]
    assert attempts == [1, 1, 1, 2, 1]
    assert [[line["key"] for line in shop.effects(order)] for order in orders] == [
        [order] for order in orders]
    # what was answered was confirmed by the worker, what was not by reconciled
    assert [world.journal(order)[-1]["actor"].split(":")[0] for order in orders] == [
        "app", "reconciled", "reconciled", "app", "app"]
    assert worker.stop() == 0


def test_no_transaction_is_open_while_the_target_is_called(world, shop, program):
    world.once()
    shop.sim.behave({"name": "slow", "on": "effect", "latency": "700ms"})
    sampler = Sampler(world, program.name)
    orders = [shop.place(i) for i in range(1, 6)]
    program.work()
    for i, order in enumerate(orders, 1):
        world.wait_for(lambda n=i: len(shop.sim.lines("effect")) == n, what="a call")
        for _ in range(10):
            sampler.sample()  # its answer is still to come
        shop.end(order, "confirmed")
    assert len(sampler.seen) == 50
    assert set(sampler.seen) == {("idle", None, None, None)}


def test_a_refusal_ends_it_and_a_page_does_not(world, shop, program):
    world.once()
    shop.sim.behave(
        {"name": "no", "on": "effect", "where": {"article": "rug"}, "status": 422,
         "type": "application/json", "body": '{"error":"unknown_article"}'},
        {"name": "page", "on": "effect", "where": {"article": "mat"}, "status": 422,
         "type": "text/html", "body": "<h1>422</h1>"})
    rug, mat = shop.place(1, "rug"), shop.place(2, "mat")
    program.work()
    assert shop.end(rug, "not_applicable")["closed_reason"] == "rejected: unknown_article"
    shop.end(mat, "awaiting_confirmation")


def test_a_key_gives_one_order_and_one_answer(world, shop, program):
    world.start_daemon()
    world.db.execute((PHP / "schema.sql").read_text())
    first = program.run("place", "north", "key-1", "answer-lost", "10.50")
    assert first.startswith("202 ")
    assert program.run("place", "north", "key-1", "answer-lost", "10.50") == first
    assert program.run("place", "north", "key-1", "answer-lost", "99.00") == "422 conflict\n"
    [order] = world.db.execute("SELECT id, total::text FROM orders").fetchall()
    assert order["total"] == "10.50" and order["id"] in first
    program.work()
    assert shop.end(order["id"], "confirmed")["scope"] == "north"
    [effect] = shop.effects(order["id"])
    assert (effect["key"], effect["body"]["total"]) == (order["id"], "10.50")


def test_a_reservation_without_an_order_is_told(world, shop, program):
    """Its owner died; until the lease is over nobody else may."""
    world.db.execute((PHP / "schema.sql").read_text())
    world.app.execute("SELECT FROM reconcile.reserve('north', 'place_order', 'key-1',"
                      " '{\"article\": \"lamp\", \"total\": \"10.50\"}')")
    assert program.run("place", "north", "key-1", "lamp", "10.50") == "409 in_progress\n"
