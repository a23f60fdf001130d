# SPDX-License-Identifier: Apache-2.0
"""Ten thousand orders that were sent an hour ago, and a simulated shop that has them all."""

import pytest

from simulator import Simulator

COUNT = 10000

POLICY = """
operation_type: create_order
target: shop
mode: enforce
describe: {{effect: the order is in the shop, truth: shop, proof: number and total, owner: tests}}
latency_window: 1s
idempotent: key
resend: {{key_valid: 24h}}
probes:
  - get: /orders
    query: {{number: "{{business_key}}", limit: "10"}}
    found: {{status: 200, /has_more: {{present: true}}}}
    absent: {{status: 404, /error: not_found}}
    items: /data
    where: {{/number: {{is: op.business_key}}}}
    complete: {{/has_more: "false"}}
    remote_id: /id
absence: {{confirm: 2, over: 1s}}
compare:
  total: {{found: /total, type: number, is: op./expected/total}}
recheck: {{first: 2s, factor: 1, max: 2s, jitter: 10%}}
actions: {{missing: requeue}}
{more}
"""

TARGET = """
target: shop
base: {base}
timeout: {{connect: 3s, total: 5s}}
rate: {{concurrent: {concurrent}}}
breaker: {{open: 2s}}
control:
  get: /orders/control
  found: {{status: 200, /id: control}}
"""

# As an application would that records at the moment of sending; then an hour passes.
REQUEST = """
SELECT count((reconcile.request(operation_type => 'create_order',
    operation_id => 'op-' || to_char(i, 'FM00000'), entity_type => 'order', entity_id => i::text,
    idempotency_key => 'key-' || i, business_key => 'n-' || i,
    expected => json_build_object('total', i || '.50'),
    payload => json_build_object('number', 'n-' || i, 'total', i || '.50'),
    already_sent => true)).revision)
FROM generate_series(1, %s) i"""
AN_HOUR_LATER = """
UPDATE reconcile.operations SET due_at = due_at - interval '1 hour',
    created_at = created_at - interval '1 hour', sent_at = sent_at - interval '1 hour',
    first_sent_at = first_sent_at - interval '1 hour'"""


@pytest.fixture(scope="session")
def orders_template(cluster, template):
    """A database with the operations, to be copied."""
    name = cluster.create_database(f"{template}_orders", template=template)
    with cluster.connect(name, "app_login") as app:
        app.execute(REQUEST, [COUNT])
    with cluster.connect(name) as db:
        db.execute(AN_HOUR_LATER)
        db.execute("VACUUM ANALYZE reconcile.operations")
    return name


@pytest.fixture
def orders_database(cluster, orders_template):
    name = cluster.create_database("orders", template=orders_template)
    yield name
    with cluster.connect() as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def shop(world):
    running = start_shop(world.directory)
    yield running
    assert running.stop() == 0


def start_shop(directory):
    """The simulator, with the effect of every operation and an object for the control."""
    running = Simulator(directory, {"collections": {"orders": {
        "indexes": ["number"], "seed": [{"id": "control", "number": "control"}]}}})
    orders = [{"id": f"o-{i}", "number": f"n-{i}", "total": f"{i}.50"} for i in range(1, COUNT + 1)]
    for first in range(0, COUNT, 2000):
        running.seed("orders", *orders[first:first + 2000])
    return running


def configure(world, simulator, concurrent=16, more=""):
    world.policy(text=POLICY.format(more=more))
    (world.directory / "targets.d/shop.yaml").write_text(
        TARGET.format(base=simulator.base, concurrent=concurrent))
