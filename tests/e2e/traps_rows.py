# SPDX-License-Identifier: Apache-2.0
"""The table of test_traps.py: an operation, what the target says at each look, and what must follow.

The ids name the kind of misleading answer: tNN by what it looks like, pNN hNN jNN by a failure that
people reported elsewhere. Rows of one number belong together. What follows was derived from the
description of the policy language, never from what the program said."""

import gzip
from dataclasses import dataclass, field

from target import NOT_FOUND, answer_json

# ---- what must follow: class, reason, action, status afterwards

CORRECT = ("correct", "fields_equal", "confirm", "confirmed")
MISSING = ("missing", "absent_confirmed", "review", "manual_review")
OLDER = ("missing", "older", "review", "manual_review")
TOO_EARLY = ("waiting", "too_early", "wait", "awaiting_confirmation")
UNCONFIRMED = ("waiting", "absent_unconfirmed", "wait", "awaiting_confirmation")


def divergent(reason="field_differs"):
    return "divergent", reason, "review", "manual_review"


def ambiguous(reason):
    return "ambiguous", reason, "review", "manual_review"


def not_applicable(reason):
    return "not_applicable", reason, "close", "not_applicable"


def waiting(reason):
    return "waiting", reason, "wait", "awaiting_confirmation"


def inconclusive(reason):
    return "inconclusive", reason, "wait", "awaiting_confirmation"


# ---- what the target says; $ID stands for the operation's id

def order(**changed):
    return {"id": "o1", "reference": "$ID", "state": "paid", "total": "30.00", "currency": "EUR", **changed}


def orders(*found, more=False, **members):
    return answer_json({"orders": list(found), "has_more": more, **members})


def cached(age):
    return answer_json({"orders": [], "has_more": False}, age=str(age))


def charge(**changed):
    return {"id": "ch1", "key": "$ID", "type": "charge", "livemode": True, "status": "succeeded",
            "amount": 1099, "currency": "jpy", "direction": "debit", **changed}


def charges(*found, more=False):
    return answer_json({"object": "list", "data": list(found), "has_more": more})


def customer(**changed):
    return answer_json({"id": "c1", "version": 7, "name": "Zoë", "active": True, **changed})


def stock(version):
    return answer_json({"version": version})


def release(**changed):
    return answer_json({"version": "1.10", "replicas": 3, "load": "2.4", "tier": "silver", **changed})


def articles(*titles, more=False, **members):
    nodes = [{"ref": "$ID", "title": title} for title in titles]
    return answer_json({"data": {"articles": {"nodes": nodes, "pageInfo": {"hasNextPage": more}}}, **members})


def document(etag='"abc"', version="7"):
    return 200, {"etag": etag, "x-amz-meta-version": version}, ""


def notes(*texts, failed=0, timed_out=False, relation="eq", key="$ID"):
    return answer_json({"timed_out": timed_out, "_shards": {"failed": failed}, "hits": {
        "total": {"relation": relation}, "hits": [{"_source": {"key": key, "text": t}} for t in texts]}})


def messages(*events):
    return answer_json({"messages": [{"tag": "$ID", "event": event} for event in events]})


def parcel(number):
    return answer_json({"shipment": {"number": number}})


def members(*pairs, **more):
    return answer_json([{"id": "$ID", "ids": [{"type": name, "value": text} for name, text in pairs], **more}])


def value(text):
    """An object whose member n is this JSON text, byte for byte."""
    return 200, {"content-type": "application/json"}, b'{"n":' + text + b"}"


def html(status):
    return status, {"content-type": "text/html"}, "<html><h1>Bad Gateway</h1></html>"


EMPTY = orders()
NOTHING = charges()
OTHERS = [order(reference=f"other-{i}") for i in range(5)]
ORDER = {"total": "30.0", "currency": "eur"}
CHARGE = {"amount": 1099, "currency": "JPY", "direction": "debit"}
CUSTOMER = {"name": "Zoë", "active": True}
RELEASE = {"replicas": 3, "load": 2, "tier": "silver"}
EXPECTED = {"create_order": ORDER, "create_order_plain_list": ORDER, "charge_card": CHARGE,
            "sync_customer": CUSTOMER, "deploy_release": RELEASE, "publish_article": {"title": "On Waiting"},
            "store_document": {"etag": '"abc"'}, "index_note": {"text": "hello"},
            "store_lost_document": {"etag": '"abc"'}, "wait_long": {"n": "1"}, "set_member": {"n": "7"}}


# ---- rows

@dataclass
class Row:
    """looks: (answer, what must follow) each; ago: since the send at the first look; gap: between two looks."""
    id: str
    type: str
    looks: list
    ago: str = "1 hour"
    gap: str = "10 minutes"
    state: str = "active"
    worker: str = "sent"     # how far it came: started, sent, died (lease of 5 minutes), retries
    superseded: bool = False
    asked: int = None        # how many questions the target may have heard
    recommended: str = None  # action, where a person has it
    kept: dict = None        # of the evidence
    op: dict = field(default_factory=dict)


def row(name, kind, answer, follows, **more):
    return looks(name, kind, (answer, follows), **more)


def looks(name, kind, *pairs, **more):
    known = {key: more.pop(key) for key in list(more) if key in Row.__dataclass_fields__}
    more.setdefault("expected", EXPECTED.get(kind, {}))
    return Row(name, kind, list(pairs), op=more, **known)


SHOP = [
    row("t04-403-remaining-0", "create_order",
        answer_json({"message": "rate limit"}, 403, **{"x-ratelimit-remaining": "0"}), inconclusive("throttled")),
    row("t03-403", "create_order", answer_json({"message": "no"}, 403), inconclusive("http_4xx")),
    row("t05-200-fault", "create_order", orders(order(), Fault={"code": 1}), inconclusive("broken")),
    row("t06-more-on-an-empty-page", "create_order", orders(more=True), inconclusive("incomplete")),
    row("t06-exactly-full", "create_order", orders(*OTHERS), inconclusive("incomplete")),
    row("t06-ours-on-a-page-with-more", "create_order", orders(order(), more=True), inconclusive("incomplete")),
    row("t06-ours-on-a-full-page", "create_order", orders(*OTHERS[1:], order()), inconclusive("incomplete")),
    row("t07-others-on-a-whole-list", "create_order", orders(*OTHERS[1:]), UNCONFIRMED),
    row("t07-filter-ignored", "create_order_plain_list", orders(*OTHERS[3:]), inconclusive("incomplete")),
    row("t07-ours-among-others", "create_order_plain_list", orders(*OTHERS, order()), CORRECT),
    row("t07-empty", "create_order_plain_list", orders(), MISSING),
    row("t07-without-has-more", "create_order", answer_json({"orders": []}), inconclusive("incomplete")),
    row("t07-without-list", "create_order", answer_json({"has_more": False}), inconclusive("unrecognised")),
    row("t09-right-after-the-send", "create_order", EMPTY, TOO_EARLY, ago="4 minutes"),
    row("t09-attempt-may-still-land", "create_order", EMPTY, ("waiting", "too_early", "wait", "processing"),
        worker="started"),
    row("t09-lease-ran-out-lately", "create_order", EMPTY, ("waiting", "too_early", "wait", "processing"),
        worker="died", ago="9 minutes"),
    looks("t10-lease-ran-out", "create_order", (EMPTY, ("waiting", "absent_unconfirmed", "wait", "processing")),
          (EMPTY, MISSING), worker="died", ago="11 minutes"),
    row("t09-found-while-the-attempt-lives", "create_order", orders(order()), CORRECT, worker="started"),
    looks("t10-three-within-a-minute", "create_order", (EMPTY, UNCONFIRMED), (EMPTY, UNCONFIRMED),
          (EMPTY, UNCONFIRMED), gap="20 seconds"),
    looks("t10-before-the-window-does-not-count", "create_order", (EMPTY, TOO_EARLY), (EMPTY, TOO_EARLY),
          (EMPTY, UNCONFIRMED), ago="1 second", gap="2.5 minutes"),
    looks("t11-outage-between", "create_order", (EMPTY, UNCONFIRMED), (html(502), inconclusive("http_5xx")),
          (EMPTY, MISSING)),
    looks("t11-seen-between", "create_order", (EMPTY, UNCONFIRMED), (orders(order(state="draft")), waiting("judged")),
          (EMPTY, UNCONFIRMED), (EMPTY, MISSING)),
    looks("t11-half-an-answer-between", "create_order", (EMPTY, UNCONFIRMED),
          (orders(more=True), inconclusive("incomplete")), (EMPTY, MISSING)),
    looks("t10-while-a-retry-waits", "create_order",
          (EMPTY, ("waiting", "absent_unconfirmed", "wait", "retry_scheduled")),
          (EMPTY, ("missing", "absent_confirmed", "wait", "retry_scheduled")), worker="retries"),
    row("t13-beyond-the-horizon", "create_order", EMPTY, ambiguous("beyond_horizon"), ago="61 days"),
    row("t13-found-beyond-the-horizon", "create_order", orders(order()), CORRECT, ago="61 days"),
    row("t14-cancelled-stub", "create_order", orders(order(state="cancelled")), divergent("undone_at_target")),
    row("t15-cancelled-here-paid-there", "create_order", orders(order()), divergent("effect_after_cancel"),
        state="cancelled"),
    looks("t16-cancelled-here-absent-there", "create_order", (EMPTY, UNCONFIRMED),
          (EMPTY, not_applicable("cancelled_before_effect")), state="cancelled"),
    row("t17-cancelled-here-absent-unconfirmed", "create_order", EMPTY, UNCONFIRMED, state="cancelled"),
    row("t18-cancelled-there-active-here", "create_order", orders(order(state="cancelled")),
        divergent("undone_at_target")),
    row("t18-cancelled-on-both-sides", "create_order", orders(order(state="cancelled")),
        not_applicable("cancelled_on_both_sides"), state="cancelled"),
    looks("t18-paid-then-cancelled-there", "create_order", (orders(order()), divergent("effect_after_cancel")),
          (orders(order(state="cancelled")), not_applicable("cancelled_on_both_sides")), state="cancelled"),
    row("t19-refunded-there", "create_order", orders(order(state="refunded")), divergent("undone_at_target")),
    row("t19-refunded-on-both-sides", "create_order", orders(order(state="refunded")), not_applicable("judged"),
        state="refunded"),
    row("t20-failed", "create_order", orders(order(state="failed")), divergent("target_rejected")),
    row("t22-draft", "create_order", orders(order(state="draft")), waiting("judged"), ago="6 days"),
    row("t22-draft-for-too-long", "create_order", orders(order(state="draft")), ambiguous("stuck_at_target"),
        ago="8 days"),
    row("t23-unknown-state", "create_order", orders(order(state="initiated_v2")), ambiguous("unknown_state"),
        kept={"/state": "initiated_v2"}),
    row("t23-no-state", "create_order", orders({"reference": "$ID", "total": "30", "currency": "eur"}),
        ambiguous("unknown_state")),
    looks("t23-unknown-then-paid", "create_order", (orders(order(state="v2")), ambiguous("unknown_state")),
          (orders(order()), CORRECT)),
    looks("t23-unknown-then-absent", "create_order", (orders(order(state="v2")), ambiguous("unknown_state")),
          (EMPTY, ("waiting", "absent_unconfirmed", "wait", "manual_review")), (EMPTY, MISSING)),
    looks("t26-two-then-one", "create_order", (orders(order(), order(id="o2")), ambiguous("several_at_target")),
          (orders(order()), ("correct", "fields_equal", "review", "manual_review"))),
    row("t26-two-by-business-key", "create_order", orders(order(), order(id="o2")), ambiguous("several_at_target")),
    row("t26-two-although-there-is-more", "create_order", orders(order(), order(id="o2"), more=True),
        ambiguous("several_at_target")),
    row("t30-representation", "create_order", orders(order(total=30.0, currency="Eur")), CORRECT),
    row("t39-other-total", "create_order", orders(order(total="30.01")), divergent()),
    row("t43-total-is-null", "create_order", orders(order(total=None)), ambiguous("unreadable")),
    row("t43-total-with-a-sign-of-currency", "create_order", orders(order(total="€30")), ambiguous("unreadable")),
    row("t43-other-currency-and-no-total", "create_order", orders(order(total=None, currency="USD")), divergent()),
    row("t43-nothing-expected", "create_order", orders(order()), ambiguous("unreadable"), expected={}),
    row("t01-html-404", "create_order", html(404), inconclusive("http_4xx")),
    looks("p02-visible-after-40-seconds", "create_order", (EMPTY, TOO_EARLY), (EMPTY, TOO_EARLY),
          (orders(order()), CORRECT), ago="1 second", gap="20 seconds"),
    looks("t12-p02-answer-of-a-cache", "create_order", (cached(3400), inconclusive("not_covered")),
          (cached(10), UNCONFIRMED)),
    looks("p01-give-up", "create_order_plain_list", (html(200), inconclusive("not_json")),
          (html(200), ambiguous("give_up"))),
    looks("p06b-error-in-200", "create_order_plain_list",
          (answer_json({"status": "ERROR", "errors": [{"error": "Record not found"}]}), inconclusive("unrecognised")),
          (answer_json({"status": "ERROR", "errors": [{"error": "Record not found"}]}), ambiguous("give_up"))),
    looks("p06c-400-with-a-code", "create_order_plain_list",
          (answer_json({"code": "19001"}, 400), inconclusive("http_4xx")),
          (answer_json({"code": "19001"}, 400), ambiguous("give_up"))),
    looks("p01-http-5xx-never-gives-up", "create_order_plain_list", *[(html(502), inconclusive("http_5xx"))] * 4),
]

PAY = [
    row("t20-declined", "charge_card", charges(charge(status="declined")), divergent("target_rejected")),
    row("t21-manual-capture", "charge_card", charges(charge(status="requires_capture")), CORRECT,
        expected={**CHARGE, "capture": "manual"}),
    row("t21-no-manual-capture", "charge_card", charges(charge(status="requires_capture")), waiting("judged")),
    row("t24-settled-debit", "charge_card", charges(charge(status="settled")), waiting("not_final")),
    row("t24-funds-available", "charge_card", charges(charge(status="funds_available")), CORRECT),
    row("t25-two-with-our-key", "charge_card", charges(charge(), charge(id="ch2")), divergent("duplicate_effect")),
    row("t25-same-amount-twice-with-more", "charge_card", charges(charge(), charge(), more=True),
        divergent("duplicate_effect")),
    row("t27-cancelled-attempt-and-success", "charge_card", charges(charge(id="ch0", status="canceled"), charge()),
        CORRECT),
    looks("t27-only-a-cancelled-attempt", "charge_card", (charges(charge(status="canceled")), UNCONFIRMED),
          (charges(charge(status="canceled")), MISSING), recommended="requeue"),
    row("t29-refund-with-our-key", "charge_card", charges(charge(), charge(id="re1", type="refund", amount=-1099)),
        CORRECT),
    row("t31-minor-units-of-yen", "charge_card", charges(charge(amount="1099")), CORRECT),
    row("t32-other-direction", "charge_card", charges(charge(direction="credit")), divergent()),
    row("t44-foreign-key", "charge_card", charges(charge(key="other")), UNCONFIRMED),
    row("t50-test-mode", "charge_card", charges(charge(livemode=False)), UNCONFIRMED),
    row("t51-no-key", "charge_card", NOTHING, ambiguous("no_reliable_query"), idempotency_key=None, asked=0),
    row("t51-empty-key", "charge_card", NOTHING, ambiguous("no_reliable_query"), idempotency_key="", asked=0),
    row("t52-quotes", "charge_card", NOTHING, ambiguous("bad_reference"), idempotency_key='k" OR "1"="1', asked=0),
    looks("t55-missing-after-the-key-expired", "charge_card", (NOTHING, UNCONFIRMED), (NOTHING, MISSING),
          recommended="requeue", ago="31 minutes"),
    looks("p06d-declined-then-done", "charge_card", (charges(charge(status="declined")), divergent("target_rejected")),
          (charges(charge()), ("correct", "fields_equal", "review", "manual_review"))),
    looks("p06d-processing-then-done", "charge_card", (charges(charge(status="processing")), waiting("judged")),
          (charges(charge()), CORRECT)),
    row("p04-no-probe-applies", "charge_card", NOTHING, ambiguous("no_reliable_query"), ago="25 hours",
        idempotency_key=None, asked=0),
    row("p04-shows-the-effect", "charge_card", charges(charge()), CORRECT, ago="25 hours"),
    row("j02-nul-in-the-answer", "charge_card", charges(charge(status="declined", note="x\0y")),
        divergent("target_rejected")),
]

CRM = [
    row("t01-404-without-our-error", "sync_customer", answer_json({"message": "no Route matched"}, 404),
        inconclusive("http_4xx")),
    row("t14-410", "sync_customer", answer_json({"error": "gone"}, 410), divergent("gone_at_target")),
    row("t14-410-without-a-body", "sync_customer", (410, {}, ""), divergent("gone_at_target")),
    row("t14-410-deleted-here-too", "sync_customer", answer_json({"error": "gone"}, 410),
        not_applicable("deleted_on_both_sides"), state="deleted"),
    row("t28-300", "sync_customer", answer_json(["a", "b"], 300), ambiguous("several_at_target")),
    row("t28-412", "sync_customer", answer_json({}, 412), ambiguous("several_at_target")),
    row("t22-202", "sync_customer", answer_json({"job": 1}, 202), waiting("unfinished_at_target")),
    row("t22-202-for-too-long", "sync_customer", answer_json({"job": 1}, 202), ambiguous("stuck_at_target"),
        ago="8 days"),
    row("t30-nfc-and-nfd", "sync_customer", customer(name="Zoe\u0308"), CORRECT),
    row("t35-newer-as-numbers", "sync_customer", customer(version=10), divergent("newer"), version="9"),
    row("t35-older-as-numbers", "sync_customer", customer(version="9"), divergent("older"), version="10"),
    row("t35-version-beyond-64-bits", "sync_customer", customer(version="18446744073709551617"), divergent("newer"),
        version="18446744073709551616"),
    row("t36-older", "sync_customer", customer(version=6), divergent("older"), kept={"/version": "6"}),
    row("t38-newer", "sync_customer", customer(version=8), divergent("newer")),
    row("t39-version-copied-name-not", "sync_customer", customer(name="Zoé"), divergent()),
    row("t39-older-and-other-name", "sync_customer", customer(version=6, name="Zoé"), divergent()),
    row("t43-newer-and-no-name", "sync_customer", customer(version=8, name=""), ambiguous("unreadable")),
    row("t43-version-absent", "sync_customer", answer_json({"id": "c", "name": "Zoë", "active": True}),
        ambiguous("unreadable")),
    row("t43-version-empty", "sync_customer", customer(version=""), ambiguous("unreadable")),
    row("t43-version-a-list", "sync_customer", customer(version=[7]), ambiguous("unreadable")),
    row("t43-version-a-word", "sync_customer", customer(version="7a"), ambiguous("unreadable")),
    row("t43-active-a-word", "sync_customer", customer(active="yes"), ambiguous("unreadable")),
    row("t43-not-active", "sync_customer", customer(active=False), divergent()),
    row("t43-duplicate-member", "sync_customer",
        (200, {}, '{"id":"c","version":6,"version":7,"name":"Zoë","active":true}'), inconclusive("not_json")),
    row("t36-older-conditional", "sync_stock", stock(6), OLDER),
    row("t36-older-inside-the-window", "sync_stock", stock(6), TOO_EARLY, ago="1 minute"),
    looks("t36-older-is-earned-too", "sync_stock_slowly", (stock(6), UNCONFIRMED),
          (stock(6), OLDER)),
    row("t36-older-while-the-control-is-lost", "sync_lost_stock", stock(6), inconclusive("control")),
    row("t36-same-while-the-control-is-lost", "sync_lost_stock", stock(7), CORRECT),
    row("t37-newer-and-replaced", "sync_stock", stock(8), not_applicable("newer"), superseded=True),
    row("t38-newer-not-ours", "sync_stock", stock(8), divergent("newer")),
    row("t35-dotted", "deploy_release", release(), CORRECT, version="1.10.0"),
    row("t35-dotted-newer", "deploy_release", release(), divergent("newer"), version="1.9"),
    row("t35-dotted-word", "deploy_release", release(version="1.10-rc1"), ambiguous("unreadable"), version="1.10"),
    row("t30-at-least", "deploy_release", release(replicas="4.0"), CORRECT, version="1.10"),
    row("t30-below-at-least", "deploy_release", release(replicas=2), divergent(), version="1.10"),
    row("t30-tolerance-is-inclusive", "deploy_release", release(load="2.5"), CORRECT, version="1.10"),
    row("t30-beyond-tolerance", "deploy_release", release(load="2.5000000000000000000001"), divergent(),
        version="1.10"),
    row("t30-one-of", "deploy_release", release(tier="gold"), CORRECT, version="1.10"),
    row("t30-none-of", "deploy_release", release(tier="Gold"), divergent(), version="1.10"),
    row("t22-no-longer-than-the-deadline", "sync_by_tomorrow", answer_json({}, 202), waiting("unfinished_at_target")),
    row("t22-longer-than-the-deadline", "sync_by_tomorrow", answer_json({}, 202), ambiguous("stuck_at_target"),
        ago="25 hours"),
    looks("t09-after-is-longer-than-the-window", "sync_by_tomorrow", (NOT_FOUND, TOO_EARLY), (NOT_FOUND, UNCONFIRMED),
          (NOT_FOUND, MISSING), ago="15 minutes"),
    row("t16-absent-for-a-target-without-control", "sync_stock", NOT_FOUND, MISSING),
    row("t37-absent-and-replaced", "sync_by_tomorrow", NOT_FOUND, UNCONFIRMED, superseded=True),
    looks("p01-a-verdict-starts-the-count-again", "sync_customer", (html(200), inconclusive("not_json")),
          (answer_json({}, 202), waiting("unfinished_at_target")), (html(200), inconclusive("not_json")),
          (html(200), ambiguous("give_up"))),
    looks("p01-an-outage-does-not-count", "sync_customer", (html(200), inconclusive("not_json")),
          (html(502), inconclusive("http_5xx")), (html(200), ambiguous("give_up"))),
    looks("p01-cut-off-counts", "sync_customer", *[((404, {"content-length": "99"}, '{"error":'), follows)
                                                   for follows in (inconclusive("truncated"), ambiguous("give_up"))]),
    looks("p01-throttled-never-gives-up", "sync_customer", *[(answer_json({}, 429), inconclusive("throttled"))] * 3),
    looks("p01-redirects-give-up", "sync_customer", ((302, {"location": "/login"}, ""), inconclusive("redirect")),
          ((302, {"location": "/login"}, ""), ambiguous("give_up"))),
    looks("p01-given-up-goes-on", "sync_customer", (html(200), inconclusive("not_json")),
          (html(200), ambiguous("give_up")), (html(200), ambiguous("give_up"))),
    looks("p01-given-up-then-found", "sync_customer", (html(200), inconclusive("not_json")),
          (html(200), ambiguous("give_up")), (customer(), CORRECT)),
    row("t35-not-below", "sync_both", answer_json({"config": 7, "schema": "8"}), CORRECT),
    row("t36-below", "sync_both", answer_json({"config": 7, "schema": "6"}), OLDER),
    row("t36-older-and-newer", "sync_both", answer_json({"config": 8, "schema": "6"}), divergent("newer")),
    row("p01-206", "sync_customer", (206, *customer()[1:]), inconclusive("unrecognised")),
    row("p01-408", "sync_customer", answer_json({"error": "not_found"}, 408), inconclusive("http_4xx")),
    row("p01-425", "sync_customer", answer_json({"error": "not_found"}, 425), inconclusive("http_4xx")),
    row("p01-502-html", "sync_customer", html(502), inconclusive("http_5xx")),
    row("t01-204", "sync_customer", (204, {"connection": "close"}, ""), inconclusive("empty_body")),
    row("p01-200-html", "sync_customer", html(200), inconclusive("not_json")),
    row("p01-500-json", "sync_customer", answer_json({"e": 1}, 500), inconclusive("http_5xx")),
    row("p03-empty-body", "sync_customer", (200, {}, ""), inconclusive("empty_body")),
    row("p03-no-answer-in-time", "wait_long", answer_json({}), inconclusive("timeout")),
    row("p04-unreachable", "sync_customer", None, inconclusive("transport"), ago="25 hours"),
    row("h01a-shorter-than-announced", "sync_customer", (404, {"content-length": "200"}, '{"error":"not_found"}'),
        inconclusive("truncated")),
    row("h01b-without-the-last-chunk", "sync_customer",
        (404, {"transfer-encoding": "chunked"}, '15\r\n{"error":"not_found"}\r\n'), inconclusive("truncated")),
    row("h01c-cut-off-without-length", "sync_customer", (200, {"connection": "close"}, '{"id":"c","version":'),
        inconclusive("not_json")),
    row("h02-inflates", "sync_customer", (200, {"content-encoding": "gzip"}, gzip.compress(bytes(50_000_000))),
        inconclusive("too_large")),
    row("h02-nested", "sync_customer", (200, {}, "[" * 100_000), inconclusive("too_deep")),
    looks("h02-long-string", "sync_customer", (customer(name="x" * 10_000_000), inconclusive("too_large")),
          (customer(name="x" * 10_000_000), ambiguous("give_up"))),
]

OTHER_SYSTEMS = [
    row("t05-graphql-errors", "publish_article",
        answer_json({"data": None, "errors": [{"message": "boom"}]}), inconclusive("broken")),
    row("t05-graphql-errors-beside-data", "publish_article", articles("On Waiting", errors=[{"message": "slow"}]),
        inconclusive("broken")),
    row("t05-graphql-null-data", "publish_article", answer_json({"data": {"articles": None}}),
        inconclusive("unrecognised")),
    row("t04-graphql-throttled", "publish_article",
        answer_json({"errors": [{"extensions": {"code": "THROTTLED"}}]}), inconclusive("throttled")),
    row("t30-graphql-found", "publish_article", articles("  on  WAITING "), CORRECT),
    row("t39-graphql-other-title", "publish_article", articles("On Waiting Rooms"), divergent()),
    row("t07-graphql-empty", "publish_article", articles(), MISSING),
    row("t06-graphql-more", "publish_article", articles(more=True), inconclusive("incomplete")),
    row("t02-bucket-control-fails", "store_lost_document", (404, {}, ""), inconclusive("control")),
    row("t02-found-without-control", "store_lost_document", document(), CORRECT),
    row("t03-s3-403", "store_document", (403, {}, ""), inconclusive("http_4xx")),
    row("t14-delete-marker", "store_document", (404, {"x-amz-delete-marker": "true"}, ""), divergent("gone_at_target")),
    row("t16-s3-absent", "store_document", (404, {}, ""), MISSING),
    row("t40-same-etag", "store_document", document(), CORRECT),
    row("t40-other-etag", "store_document", document(etag='"abd"'), divergent()),
    row("t40-other-etag-and-older", "store_document", document(etag='"abd"', version="6"), divergent()),
    row("t41-no-etag", "store_document", (200, {"x-amz-meta-version": "7"}, ""), ambiguous("unreadable")),
    row("t36-older-header", "store_document", document(version="6"), divergent("older")),
    row("t02-index-not-found", "index_note", answer_json({"error": {"type": "index_not_found"}}, 404),
        inconclusive("http_4xx")),
    row("t06-timed-out", "index_note", notes(timed_out=True), inconclusive("unrecognised")),
    row("t06-failed-shards", "index_note", notes("hello", failed=1), inconclusive("unrecognised")),
    row("t06-batch-in-progress", "index_note", answer_json({"state": "PROCESSING"}), waiting("unfinished_at_target")),
    row("t06-counted-no-further", "index_note", notes(relation="gte"), inconclusive("incomplete")),
    row("t07-fuzzy-search", "index_note", notes("hello", key="nearly ours"), UNCONFIRMED),
    row("t08-each-source", "index_note", notes("hello"), CORRECT),
    row("t13-mail-not-found", "send_mail", messages(), ambiguous("absence_proves_nothing")),
    row("t09-mail-not-found-yet", "send_mail", messages(), TOO_EARLY, ago="1 minute"),
    row("t20-bounced", "send_mail", messages("bounced"), divergent("bounced")),
    row("t49-queued", "send_mail", messages("queued"), waiting("judged")),
    row("t23-mail-unknown-event", "send_mail", messages("deferred"), ambiguous("unknown_state")),
    row("t26-two-mails", "send_mail", messages("delivered", "delivered"), ambiguous("several_at_target")),
    row("t08-other-parcel", "ship_parcel", parcel("00340434"), UNCONFIRMED),
    row("t08-other-parcel-undeclared", "ship_parcel_loosely", parcel("00340434"), inconclusive("incomplete")),
]

EXACT = [
    row("j01-beyond-2-53", "set_value", value(b"9007199254740993"), divergent(), expected={"n": 9007199254740992},
        kept={"/n": "9007199254740993"}),
    row("j01-float-noise", "set_value", value(b"0.30000000000000004"), divergent(), expected={"n": "0.30"}),
    row("j01-scale", "set_value", value(b'"10.00"'), CORRECT, expected={"n": 10}),
    row("j01-exponent", "set_value", value(b"1e2"), CORRECT, expected={"n": 100}),
    row("j01-minor-and-major", "set_value", value(b'"15.00"'), divergent(), expected={"n": 1500}),
    row("j01-as-text", "set_text", value(b'"10.00"'), divergent(), expected={"n": "10"}),
    row("j01-seven-in-other-words", "set_value", value(b'"+7.0e0"'), CORRECT, expected={"n": "7"}),
    row("j01-half-a-number", "set_value", value(b'"7."'), ambiguous("unreadable"), expected={"n": "7"}),
    row("j01-number-with-a-space", "set_value", value(b'" 7"'), ambiguous("unreadable"), expected={"n": "7"}),
    row("j01-true-is-no-number", "set_value", value(b"true"), ambiguous("unreadable"), expected={"n": 1}),
    row("j01-other-text-same-number", "set_text", value(b"7.0"), divergent(), expected={"n": 7}),
    row("t43-null-expected-and-found", "set_text", value(b"null"), ambiguous("unreadable"), expected={"n": None}),
    row("t43-empty-expected-and-found", "set_text", value(b'""'), ambiguous("unreadable"), expected={"n": ""}),
    row("t43-object-expected-and-found", "set_text", value(b'{"a":1}'), ambiguous("unreadable"),
        expected={"n": {"a": 1}}),
    row("j02-nul", "set_text", value(b'"x\\u0000y"'), divergent(), expected={"n": "xy"}),
    row("j02-lone-surrogate", "set_text", value(b'"\\ud800"'), inconclusive("not_json"), expected={"n": "?"}),
    row("j02-pair", "set_text", value(b'"\\ud83d\\ude00"'), CORRECT, expected={"n": "\U0001f600"}),
    row("j02-giant-exponent", "set_value", value(b"1e131072"), ambiguous("unreadable"), expected={"n": 1}),
    row("j02-exponent-1000", "set_value", value(b"1e1000"), CORRECT, expected={"n": "10e999"}),
    row("j02-not-utf-8", "set_text", value(b'"\xff"'), inconclusive("not_json"), expected={"n": "?"}),
    row("t43-one-of-ours", "set_member", members(("gtin", "1"), ("ours", "7")), CORRECT),
    row("t43-none-of-ours", "set_member", members(("gtin", "7")), ambiguous("unreadable")),
    row("t43-two-of-ours", "set_member", members(("ours", "7"), ("ours", "7")), ambiguous("unreadable")),
    row("t19-any-of-the-marks", "set_member", members(("ours", "7"), marks=["new", "void"]), divergent("voided")),
    row("t19-voided-at-null", "set_member", members(("ours", "7"), voided_at=None), CORRECT),
    row("t19-voided-at", "set_member", members(("ours", "7"), voided_at="2026-01-01"), divergent("has_been_voided")),
    row("t23-prefix", "set_member", members(("ours", "7"), code="TMP-1"), waiting("temporary")),
    row("t23-rank-as-a-number", "set_member", members(("ours", "7"), rank="100"), ambiguous("high_rank")),
    row("t23-rank-below", "set_member", members(("ours", "7"), rank="9.99"), CORRECT),
    row("t23-rank-is-no-number", "set_member", members(("ours", "7"), rank="z"), CORRECT),
    row("t51-nothing-to-compare-with", "set_member", members(("ours", "7"), owner=""), CORRECT,
        expected={"owner": "", "n": "7"}),
    row("t43-owner-is-ours", "set_member", members(("ours", "7"), owner="me"), divergent("owned"),
        expected={"owner": "me", "n": "7"}),
    row("h04-o1", "fetch_object", None, CORRECT, business_key="o1"),
    row("h04-fragment", "fetch_object", None, UNCONFIRMED, business_key="o1#x"),
    row("h04-query", "fetch_object", None, UNCONFIRMED, business_key="o1?x=1"),
    row("h04-escaped", "fetch_object", None, UNCONFIRMED, business_key="o1%2F"),
    row("h04-slash", "fetch_object", None, UNCONFIRMED, business_key="a/b"),
    row("h04-up-and-over", "fetch_object", None, UNCONFIRMED, business_key="../o2"),
    row("h04-dots", "fetch_object", None, ambiguous("bad_reference"), business_key=".."),
    row("h04-dot", "fetch_object", None, ambiguous("bad_reference"), business_key="."),
    row("h04-empty", "fetch_object", None, ambiguous("no_reliable_query"), business_key=""),
    row("h04-another-object", "fetch_object", None, inconclusive("incomplete"), business_key="alias"),
    row("h04-line-break-in-a-header", "fetch_by_header", value(b"1"), ambiguous("bad_reference"),
        business_key="o1\r\nX-Role: admin", asked=0),
    row("h04-nothing-breaks-out-of-a-query", "fetch_by_query", value(b'"$ID"'), CORRECT,
        business_key="o1&reference=o2#x +%41", asked=1),
    row("h04-nothing-breaks-out-of-a-body", "fetch_by_body", value(b'"$ID"'), CORRECT,
        business_key='o1", "role": "admin', asked=1),
    row("h04-path", "fetch_path", None, CORRECT, business_key="folder/o3"),
    row("h04-path-up", "fetch_path", None, ambiguous("bad_reference"), business_key="folder/../o2"),
    row("h04-path-with-a-hole", "fetch_path", None, ambiguous("bad_reference"), business_key="folder//o3"),
]

ROWS = SHOP + PAY + CRM + OTHER_SYSTEMS + EXACT
OBJECTS = {"o1": "o1", "o2": "o2", "alias": "o1", "folder/o3": "o3"}
