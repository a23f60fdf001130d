# SPDX-License-Identifier: Apache-2.0
"""Policies and targets of the table in test_traps.py: one for each kind of system that can be asked."""

HEAD = """
operation_type: {name}
target: {target}
mode: enforce
describe: {{effect: e, truth: t, proof: p, owner: o}}
guard: {{max: 1000000, share: 100%}}
"""

# For a pass the program refuses nothing of these; @URL@ is the base of the one server behind them.
TARGETS = {
    "shop": """
throttled: [{status: 403, header.x-ratelimit-remaining: "0"}]
broken: [{/Fault: {present: true}}]
""",
    "pay": "control: {get: /control, found: {status: 200, /id: {present: true}}}",
    "crm": "",
    "graph": """
throttled: [{/errors/*/extensions/code: THROTTLED}]
broken: [{/errors: {present: true}}]
""",
    "store": "control: {head: /control.pdf, found: {status: 200}}",
    "lost": "control: {head: /control.pdf, found: {status: 200}}",
    "search": "",
    "mail": "",
    "carrier": "",
    "plain": "",
    "slow": "timeout: {connect: 1s, total: 1s}",
}

POLICIES = {
    # a REST shop, asked by a filtered list: our reference is a business key, others may use it too
    "create_order": ("shop", """
latency_window: 5m
probes:
  - get: /orders
    query: {reference: "{operation_id}", limit: "5"}
    found: {status: 200, /orders: {present: true}}
    items: /orders
    where: {/reference: op.operation_id}
    complete: {/has_more: false}
    full: 5
    remote_id: /id
absence: {confirm: 2, over: 10m, horizon: 60d}
judge:
  - {when: {/state: [draft, importing]}, class: waiting}
  - {when: {/state: [failed, declined]}, class: divergent, why: target_rejected}
  - {when: {/state: cancelled, op.entity_state: cancelled}, class: not_applicable, why: cancelled_on_both_sides}
  - {when: {/state: refunded, op.entity_state: refunded}, class: not_applicable, why: made and undone}
  - {when: {/state: [cancelled, refunded]}, class: divergent, why: undone_at_target}
  - {when: {op.entity_state: cancelled}, class: divergent, why: effect_after_cancel}
  - {when: {/state: {not: [open, paid]}}, class: ambiguous, why: unknown_state}
on_absent:
  - {when: {op.entity_state: cancelled}, class: not_applicable, why: cancelled_before_effect}
compare:
  total: {found: /total, type: number, is: op./expected/total}
  currency: {found: /currency, fold: case, is: op./expected/currency}
waiting: {until: 7d}
evidence: {keep: [/id, /state, /total]}
"""),
    # the same shop, whose list says nothing about being whole
    "create_order_plain_list": ("shop", """
probes:
  - get: /orders
    query: {reference: "{operation_id}"}
    found: {status: 200, /orders: {present: true}}
    items: /orders
    where: {/reference: op.operation_id}
absence: {confirm: 1, over: 0s}
compare: {total: {found: /total, type: number, is: op./expected/total}}
give_up: 2
"""),
    # a payment provider, asked by our own unique key with a POST that reads; keys are kept 30 minutes
    "charge_card": ("pay", """
probes:
  - post: /charges/search
    reads: true
    json: {filter: {key: "{idempotency_key}"}, limit: 100}
    found: {status: 200, /object: list}
    items: /data
    where: {/key: op.idempotency_key, /livemode: true, /type: charge, /status: {not: canceled}}
    complete: {/has_more: false}
    remote_id: /id
absence: {confirm: 2, over: 10m}
on_several: divergent
judge:
  - {when: {/status: requires_capture, op./expected/capture: manual}, class: compare}
  - {when: {/status: [processing, requires_capture]}, class: waiting}
  - {when: {/status: settled, op./expected/direction: debit}, class: waiting, why: not_final}
  - {when: {/status: declined}, class: divergent, why: target_rejected}
  - {when: {/status: {not: [succeeded, settled, funds_available]}}, class: ambiguous, why: unknown_state}
compare:
  amount: {found: /amount, type: number, is: op./expected/amount}
  currency: {found: /currency, fold: case, is: op./expected/currency}
  direction: {found: /direction, is: op./expected/direction}
waiting: {until: 7d}
idempotent: key
resend: {key_valid: 30m}
actions: {missing: requeue}
evidence: {keep: [/id, /status, /amount, /note]}
"""),
    # a CRM with an error body of its own
    "sync_customer": ("crm", """
probes:
  - get: /customers/{business_key}
    gone: {status: 410}
    several: {status: [300, 412]}
    unfinished: {status: 202}
    absent: {status: 404, /error: not_found}
    found: {status: 200, /id: {present: true}}
    remote_id: /id
absence: {confirm: 2, over: 10m}
on_gone:
  - {when: {op.entity_state: deleted}, class: not_applicable, why: deleted_on_both_sides}
compare:
  version: {found: /version, type: version, is: op.version}
  name: {found: /name, fold: nfc, is: op./expected/name}
  active: {found: /active, type: bool, is: op./expected/active}
waiting: {until: 7d}
give_up: 2
evidence: {keep: [/version]}
"""),
    # absence counts later than the window, and what is unfinished at the deadline is stuck
    "sync_by_tomorrow": ("crm", """
deadline: 1d
probes:
  - get: /customers/{business_key}
    unfinished: {status: 202}
    absent: {status: 404, /error: not_found}
    found: {status: 200, /id: {present: true}}
absence: {after: 20m, confirm: 2}
existence_only: true
"""),
    # conditional writes: an older copy means that ours did not arrive
    "sync_stock": ("crm", """
probes:
  - get: /stock/{business_key}
    absent: {status: 404, /error: not_found}
    found: {status: 200, /version: {present: true}}
absence: {confirm: 1, over: 0s}
compare: {version: {found: /version, type: version, is: op.version}}
outcome: {older: missing, newer: not_applicable}
idempotent: conditional
"""),
    "sync_stock_slowly": ("crm", """
probes:
  - get: /stock/{business_key}
    absent: {status: 404, /error: not_found}
    found: {status: 200, /version: {present: true}}
absence: {confirm: 2, over: 10m}
compare: {version: {found: /version, type: version, is: op.version}}
outcome: {older: missing}
idempotent: conditional
"""),
    "sync_both": ("crm", """
probes:
  - get: /both/{operation_id}
    absent: {status: 404, /error: not_found}
    found: {status: 200, /config: {present: true}}
absence: {confirm: 1, over: 0s}
compare:
  config: {found: /config, type: version, is: op.version}
  schema: {found: /schema, type: version, at_least: op.version}
outcome: {older: missing}
idempotent: conditional
"""),
    "deploy_release": ("crm", """
probes:
  - get: /releases/{business_key}
    absent: {status: 404, /error: not_found}
    found: {status: 200, /version: {present: true}}
compare:
  version: {found: /version, type: version, order: dotted, is: op.version}
  replicas: {found: /replicas, type: number, at_least: op./expected/replicas}
  load: {found: /load, type: number, tolerance: "0.5", is: op./expected/load}
  tier: {found: /tier, one_of: [gold, op./expected/tier]}
"""),
    # a GraphQL API: errors arrive with status 200
    "publish_article": ("graph", """
probes:
  - post: /graphql
    reads: true
    json:
      query: "query($ref: String!) { articles(ref: $ref) { nodes { ref title } pageInfo { hasNextPage } } }"
      variables: {ref: "{operation_id}"}
    found: {status: 200, /data/articles/nodes: {present: true}}
    items: /data/articles/nodes
    where: {/ref: op.operation_id}
    complete: {/data/articles/pageInfo/hasNextPage: false}
absence: {confirm: 1, over: 0s}
compare: {title: {found: /title, fold: [case, space], is: op./expected/title}}
"""),
    # an object store, asked by HEAD
    "store_document": ("store", """
probes:
  - head: /documents/{business_key|path}
    gone: {status: 404, header.x-amz-delete-marker: "true"}
    absent: {status: 404}
    found: {status: 200}
absence: {confirm: 1, over: 0s}
compare:
  etag: {found: header.etag, type: version, order: opaque, is: op./expected/etag}
  version: {found: header.x-amz-meta-version, type: version, is: op.version}
"""),
    # a search index
    "index_note": ("search", """
probes:
  - get: /notes/_search
    query: {q: "key:{operation_id}"}
    found: {status: 200, /timed_out: false, /_shards/failed: 0}
    unfinished: {status: 200, /state: PROCESSING}
    items: /hits/hits
    each: /_source
    where: {/key: op.operation_id}
    complete: {/hits/total/relation: eq}
absence: {confirm: 2, over: 10m}
compare: {text: {found: /text, is: op./expected/text}}
"""),
    # a mail provider that forgets: not finding a message says nothing
    "send_mail": ("mail", """
probes:
  - get: /messages
    query: {tag: "{operation_id}"}
    found: {status: 200, /messages: {present: true}}
    items: /messages
    where: {/tag: op.operation_id}
absence: {confirm: 1, over: 0s, proves: nothing}
judge:
  - {when: {/event: [bounced, dropped]}, class: divergent, why: bounced}
  - {when: {/event: queued}, class: waiting}
  - {when: {/event: {not: delivered}}, class: ambiguous, why: unknown_state}
existence_only: true
"""),
    # a carrier that may answer about another parcel
    "ship_parcel": ("carrier", """
probes:
  - get: /track/{business_key}
    found: {status: 200, /shipment: {present: true}}
    items: /shipment
    where: {/number: op.business_key}
    complete: {status: 200}
existence_only: true
"""),
    # objects by id, where the ids are anything
    "fetch_object": ("plain", """
reference: '^.{1,100}$'
probes:
  - get: /objects/{business_key}
    absent: {status: 404, /error: not_found}
    found: {status: 200}
    where: {/id: op.business_key}
compare: {id: {found: /id, is: op.business_key}}
"""),
    "fetch_path": ("plain", """
reference: '^[a-z0-9.]{1,20}$'
probes:
  - get: /objects/{business_key|path}
    absent: {status: 404, /error: not_found}
    found: {status: 200}
existence_only: true
"""),
    "fetch_by_header": ("plain", """
reference: '^.{1,100}$'
probes:
  - get: /values/{operation_id}
    headers: {X-Reference: "{business_key}"}
    found: {status: 200}
existence_only: true
"""),
    "fetch_by_query": ("plain", """
reference: '^.{1,100}$'
probes:
  - get: /values/{operation_id}
    query: {reference: "{business_key}"}
    found: {status: 200}
existence_only: true
"""),
    "fetch_by_body": ("plain", """
reference: '^.{1,100}$'
probes:
  - post: /values/{operation_id}
    reads: true
    json: {filter: {reference: "{business_key}"}}
    found: {status: 200}
existence_only: true
"""),
    # exact texts and numbers
    "set_value": ("plain", """
probes:
  - get: /values/{operation_id}
    absent: {status: 404, /error: not_found}
    found: {status: 200}
compare: {value: {found: /n, type: number, is: op./expected/n}}
evidence: {keep: [/n]}
"""),
    "set_text": ("plain", """
probes:
  - get: /values/{operation_id}
    absent: {status: 404, /error: not_found}
    found: {status: 200}
compare: {value: {found: /n, is: op./expected/n}}
evidence: {keep: [/n]}
"""),
    # every kind of test, on a body that is a list itself
    "set_member": ("plain", """
probes:
  - get: /values/{operation_id}
    absent: {status: 404, /error: not_found}
    found: {status: 200}
    items: ""
    where: {/id: op.operation_id}
judge:
  - {when: {/marks/*: void}, class: divergent, why: voided}
  - {when: {/voided_at: {not: null, present: true}}, class: divergent, why: has_been_voided}
  - {when: {/code: {prefix: TMP-}}, class: waiting, why: temporary}
  - {when: {/rank: {ge: 10, lt: 1e3}}, class: ambiguous, why: high_rank}
  - {when: {/owner: op./expected/owner}, class: divergent, why: owned}
compare: {n: {found: "/ids/[type=ours]/value", is: op./expected/n}}
"""),
}

POLICIES["store_lost_document"] = ("lost", POLICIES["store_document"][1])
POLICIES["sync_lost_stock"] = ("lost", POLICIES["sync_stock"][1])
POLICIES["wait_long"] = ("slow", POLICIES["set_text"][1])
POLICIES["ship_parcel_loosely"] = ("carrier", POLICIES["ship_parcel"][1].replace(
    "    complete: {status: 200}\n", ""))


def install(world, url):
    for name, more in TARGETS.items():
        world.target(f"{url}/{name}", more=more, name=name)
    for name, (target, text) in POLICIES.items():
        world.policy(text=HEAD.format(name=name, target=target) + text)
