# SPDX-License-Identifier: Apache-2.0
"""Lists that come page by page: all four ways to go on, what ends them, and what does not."""

import pytest

from target import answer_json

POLICY = """
operation_type: sync_customer
target: crm
mode: enforce
describe: {{effect: e, truth: t, proof: p, owner: o}}
latency_window: 5m
probes:
  - get: /customers
    query: {query}
    found: {{status: 200, /data: {{present: true}}}}
    items: /data
    where: {{/key: op.business_key}}
    remote_id: /id
    pages: {pages}
absence: {{confirm: 1, over: 0s}}
compare: {{version: {{found: /version, type: version, is: op.version}}}}
"""

# Five pages of two; ours is on the last.
ALL = [{"id": f"c{n}", "key": f"k-{n}", "version": 7} for n in range(9)] + [
    {"id": "c9", "key": "op-1", "version": 7}]


def page(number, rows=None):
    rows = ALL if rows is None else rows
    return rows[2 * number:2 * number + 2]


def by_token(request, rows=None):
    number = int(request.query.get("cursor", "p0")[1:])
    more = f"p{number + 1}" if 2 * number + 2 < len(rows or ALL) else None
    return answer_json({"data": page(number, rows), "next": more})


def by_number(request):
    return answer_json({"data": page(int(request.query["page"]) - 1), "total_pages": 5})


def by_offset(request):
    start = int(request.query["skip"])
    return answer_json({"data": ALL[start:start + 2] if start < 8 else ALL[start:]})


def by_link(request):
    number = int(request.query.get("page", 0))
    link = {"link": f'</customers?page={number + 1}>; rel="next"'} if number < 4 else {}
    return answer_json({"data": page(number)}, **link)


WAYS = {
    "next": ("{limit: '2'}", "{next: /next, into: cursor}", by_token, 5),
    "link": ("{limit: '2'}", "{link: next}", by_link, 5),
    "number": ("{page: '1'}", "{number: page, total: /total_pages}", by_number, 5),
    "offset": ("{skip: '0'}", "{offset: skip, size: 2}", by_offset, 6),
}


def use(world, query, pages, more=""):
    world.policy(text=POLICY.format(query=query, pages=pages) + more)


@pytest.mark.parametrize("way", WAYS)
def test_found_on_the_last_page(world, crm, way):
    query, pages, answer, requests = WAYS[way]
    use(world, query, pages)
    crm.answer = answer
    world.send("op-1")
    world.once()
    assert world.operation("op-1")["status"] == "confirmed"
    assert world.operation("op-1")["remote_id"] == "c9"
    assert len(crm.asked("/customers")) == requests


@pytest.mark.parametrize("way", WAYS)
def test_absent_from_all_pages(world, crm, way):
    query, pages, answer, requests = WAYS[way]
    use(world, query, pages)
    crm.answer = answer
    world.send("op-2")
    assert world.once().of("op-2")["class"] == "missing"
    assert len(crm.asked("/customers")) == requests


def test_more_pages_than_may_be_asked_for_are_not_the_whole_list(world, crm):
    use(world, "{limit: '2'}", "{next: /next, into: cursor, max: 3}")
    crm.answer = by_token
    world.send("op-2")
    line = world.once().of("op-2")
    assert (line["class"], line["reason"]) == ("inconclusive", "incomplete")
    assert len(crm.asked("/customers")) == 3


def test_a_page_that_fails_is_asked_again_and_not_those_before_it(world, crm):
    failed = []

    def sometimes(request):
        if request.query.get("cursor") == "p3" and not failed:
            failed.append(request)
            return answer_json({}, 502)
        return by_token(request)

    use(world, "{limit: '2'}", "{next: /next, into: cursor}")
    crm.answer = sometimes
    world.send("op-1")
    world.once()
    assert world.operation("op-1")["status"] == "confirmed"
    assert [request.query.get("cursor", "p0") for request in crm.asked("/customers")] == [
        "p0", "p1", "p2", "p3", "p3", "p4"]


@pytest.mark.parametrize("failure", [answer_json({}, 500), answer_json("<html>", 200),
                                     answer_json({"error": "not_found"}, 404),
                                     answer_json({"data": None})])
def test_a_page_that_does_not_come_proves_nothing(world, crm, failure):
    use(world, "{limit: '2'}", "{next: /next, into: cursor}")
    crm.answer = lambda request: (failure if request.query.get("cursor") == "p2"
                                  else by_token(request))
    world.send("op-2")
    run = world.run("reconciled", "--once", "--json")
    assert run.code in (0, 3)
    assert run.of("op-2")["class"] == "inconclusive"
    assert world.operation("op-2")["status"] == "awaiting_confirmation"


@pytest.mark.parametrize("link", ["http://127.0.0.1:9/customers?page=1", "/../customers?page=1",
                                  "//elsewhere.example/customers?page=1"])
def test_a_link_that_leaves_the_base_is_not_followed(world, crm, link):
    use(world, "{limit: '2'}", "{link: next}")
    crm.answer = lambda request: answer_json({"data": []}, link=f'<{link}>; rel="next"')
    world.send("op-2")
    run = world.once()
    line = run.of("op-2")
    assert (line["class"], line["reason"]) == ("inconclusive", "incomplete")
    assert "its link leaves the base of the target" in run.err
    assert len(crm.asked()) == 1


def test_every_page_counts_against_the_rate(world, crm):
    world.target(crm.url, more="rate: {per_second: 10, burst: 1, concurrent: 1}")
    use(world, "{limit: '2'}", "{next: /next, into: cursor}")
    crm.answer = by_token
    world.send("op-1")
    world.send("op-2")
    world.once()
    assert len(crm.asked("/customers")) == 10
    assert world.operation("op-1")["status"] == "confirmed"
    cursors = [request.query.get("cursor", "p0") for request in crm.asked("/customers")]
    assert cursors == ["p0", "p1", "p2", "p3", "p4"] * 2  # one reading after the other


def test_two_of_ours_on_two_pages_are_several(world, crm):
    rows = [*ALL, {"id": "c10", "key": "op-1", "version": 7}]
    use(world, "{limit: '2'}", "{next: /next, into: cursor}")
    crm.answer = lambda request: by_token(request, rows)
    world.send("op-1")
    line = world.once().of("op-1")
    assert (line["class"], line["reason"]) == ("ambiguous", "several_at_target")


def test_the_same_item_on_two_pages_is_one(world, crm):
    rows = [*ALL, ALL[-1]]
    use(world, "{limit: '2'}", "{next: /next, into: cursor}")
    crm.answer = lambda request: by_token(request, rows)
    world.send("op-1")
    world.once()
    assert world.operation("op-1")["status"] == "confirmed"
