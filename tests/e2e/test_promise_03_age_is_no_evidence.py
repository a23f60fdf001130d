# SPDX-License-Identifier: Apache-2.0
"""Promise 3: age and number of tries never turn an unknown outcome into failed or missing. Case P04."""

from ports import free_port


def test_a_target_that_is_away_uses_nothing_up(world):
    world.policy(more="deadline: 1d\ngive_up: 3\n")
    world.target(f"http://127.0.0.1:{free_port()}")
    world.send("op-1", ago="400 days")
    for _ in range(5):
        line = world.once("--operation", "op-1", expect=3).of("op-1")
        assert (line["class"], line["reason"]) == ("inconclusive", "refused")
    operation = world.operation("op-1")
    assert operation["status"] == "awaiting_confirmation" and operation["checks"] == 5


def test_answers_without_meaning_lead_to_a_person(world, crm):
    world.policy(more="give_up: 3\n")
    crm.answer = lambda request: (404, {"content-type": "text/html"}, "<h1>nothing here</h1>")
    world.send("op-1", ago="400 days")
    seen = [world.once("--operation", "op-1", expect=3).of("op-1") for _ in range(3)]
    assert [line["class"] for line in seen] == ["inconclusive", "inconclusive", "ambiguous"]
    assert (seen[2]["reason"], seen[2]["rule"], seen[2]["status"]) == \
        ("give_up", "give_up", "manual_review")


def test_no_way_to_ask_leads_to_a_person(world, crm):
    world.policy()
    world.send("op-1", ago="25 hours", business_key=None)
    line = world.once().of("op-1")
    assert (line["class"], line["reason"], line["status"]) == \
        ("ambiguous", "no_reliable_query", "manual_review")
    assert crm.requests == []


def test_old_and_there_is_confirmed(world, crm):
    world.policy()
    crm.serve({"op-1": {"id": "c1", "version": "7"}})
    world.send("op-1", ago="400 days")
    assert world.once().of("op-1")["status"] == "confirmed"
