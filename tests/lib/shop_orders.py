# SPDX-License-Identifier: Apache-2.0
"""Orders at a shop, of a type whose policy sends again what is missing."""

from target import NOT_FOUND, answer_json

POLICY = """
operation_type: create_order
target: shop
mode: enforce
describe: {effect: the order is in the shop, truth: shop, proof: its total, owner: sales}
latency_window: 1m
probes:
  - get: /customers/{business_key}
    found: {status: 200, /id: {present: true}}
    absent: {status: 404, /error: not_found}
    remote_id: /id
absence: {confirm: 1, over: 0s}
compare: {total: {found: /total, type: number, is: op./expected/total}}
"""

SAFE = {
    "idempotent": "key",
    "resend": "{key_valid: 24h}",
    "requeue": "{max: 3, delay: 1m, factor: 2}",
    "attempts": "{max: 5}",
    "actions": "{missing: requeue}",
    "recheck": "{first: 1m}",
}

SOON = "{first: 1s, factor: 1, max: 1s}"  # recheck

CONTROL = "control: {get: /control, found: {status: 200, /id: control}}"

CLAUSES = ["idempotent", "same_key", "key_fresh", "attempt_over", "wanted", "undisputed", "fresh",
           "control", "limits", "guard"]
ALL_HOLD = dict.fromkeys(CLAUSES, True)

# Spelled so that only the same bytes are the same.
PAYLOAD = '{ "total":10.50,"number" : "n-77",\n "a":"\\u00e9",  "n": 1e2, "list":[ ] }'


class Shop:
    """Answers for a Target: its control object, and orders by business key."""

    def __init__(self, world, http):
        self.http, self.orders, self.control = http, {}, True
        http.answer = self
        world.target(http.url, more=CONTROL, name="shop")

    def __call__(self, request):
        if request.path == "/control":
            return answer_json({"id": "control"}) if self.control else NOT_FOUND
        found = self.orders.get(request.path.rsplit("/", 1)[-1])
        return NOT_FOUND if found is None else answer_json(found)


def policy(world, **changes):
    """Every clause may hold; a key with None is left out."""
    keys = {**SAFE, **changes}
    world.policy(text=POLICY + "".join(f"{name}: {value}\n" for name, value in keys.items() if value))


def order(world, operation_id="op-1", **fields):
    return world.request(operation_id, "create_order", **{
        "entity_type": "order", "version": None, "idempotency_key": f"key of {operation_id}",
        "expected": {"total": "10.50"}, "payload": PAYLOAD, **fields})


def send(world, operation_id="op-1", ago="1 hour", **fields):
    """Its first attempt ended without an answer, that long ago."""
    order(world, operation_id, **fields)
    sent(world, operation_id, ago, start=True)


def sent(world, operation_id="op-1", ago="1 hour", start=False):
    if start:
        world.app.execute("SELECT reconcile.start(%s)", [operation_id])
    world.app.execute("SELECT reconcile.sent(%s)", [operation_id])
    world.age(operation_id, ago)


def claim(world, count=1):
    """Whatever a worker gets."""
    return world.app.execute(
        "SELECT o.*, c.payload::text AS payload"
        " FROM reconcile.claim(ARRAY['create_order'], max => %s) o"
        " JOIN reconcile.content c USING (operation_id)", [count]).fetchall()


def let_time_pass(world):
    """Until workers may take what is to be sent again."""
    world.db.execute("UPDATE reconcile.operations SET next_attempt_at = clock_timestamp()"
                     " WHERE status = 'retry_scheduled'")


def clauses(world, operation_id="op-1"):
    """Of the newest journal row, in order."""
    return {clause["name"]: clause["ok"] for clause in world.evidence(operation_id)["clauses"]}


def failed(world, operation_id="op-1"):
    found = clauses(world, operation_id)
    assert list(found) == CLAUSES
    return [name for name, ok in found.items() if not ok]


def send_many(world, prefix, count, ago="1 hour"):
    """PREFIX-1 and on, each sent that long ago without an answer."""
    world.app.execute(
        "SELECT count((reconcile.request(operation_type => 'create_order',"
        " operation_id => %(prefix)s || '-' || i, entity_type => 'order',"
        " entity_id => %(prefix)s || '-' || i, idempotency_key => 'key of ' || i,"
        " business_key => %(prefix)s || '-' || i, expected => '{\"total\": \"10.50\"}',"
        " payload => '{}', already_sent => true)).revision) FROM generate_series(1, %(count)s) i",
        {"prefix": prefix, "count": count})
    world.db.execute(
        "UPDATE reconcile.operations SET created_at = created_at - %(ago)s::interval,"
        " first_sent_at = first_sent_at - %(ago)s::interval, sent_at = sent_at - %(ago)s::interval,"
        " due_at = due_at - %(ago)s::interval WHERE operation_id LIKE %(prefix)s || '-%%'",
        {"prefix": prefix, "ago": ago})
