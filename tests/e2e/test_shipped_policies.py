# SPDX-License-Identifier: Apache-2.0
"""The example policies load without a remark, and judge as their test files say.

What misleads people about other systems is listed here once, each with the cases that show how a
policy meets it; a case that is renamed or removed is missed."""

import json
import pathlib
import subprocess

import pytest
import yaml
from world import BUILD

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = [ROOT / "etc", ROOT / "examples/first-policy", ROOT / "examples/php"]
POLICIES = sorted(p for folder in EXAMPLES for p in folder.glob("policies.d/*.yaml"))
TARGETS = sorted(p for folder in EXAMPLES for p in folder.glob("targets.d/*.yaml"))

# Observation: the cases that show it, as (operation type, name of the case).
OBSERVATIONS = {
    "a 404 that is not the error of the target": [
        ("charge_card", "a page of a proxy instead of the error of Stripe"),
        ("sync_customer", "a 404 with a page of HTML"),
        ("capture_payment", "a 404 that is not the error of the API"),
        ("ship_parcel", "a 404 of something in between"),
        ("collect_debit", "a gateway answers instead of Fernpay")],
    "not there, because what contains it is not there": [
        ("store_document", "not there, but neither is the object that always is"),
        ("charge_card", "while the control is not found no absence counts"),
        ("collect_debit", "the control debit is not there, so this is the wrong account")],
    "a 403 that may mean absent, forbidden or badly signed": [
        ("store_document", "a 403 may be a wrong signature as well")],
    "throttling in another dress than 429": [
        ("update_customer", "a 403 that says that no question is left"),
        ("create_order", "throttled with status 200")],
    "an error in the body of a success": [
        ("create_order", "GraphQL errors with status 200"),
        ("update_customer", "an error in the body of a success")],
    "an answer that is only a part": [
        ("sync_customer", "a batch that is still being processed"),
        ("charge_card", "an empty page that says there is more"),
        ("send_email", "a page as long as the limit, without our mail"),
        ("capture_payment", "a failing page makes the report incomplete")],
    "a list without ours, whose filter may have been ignored": [
        ("charge_card", "a page of other payments that may go on proves nothing"),
        ("update_customer", "the search that may have ignored the filter is not whole"),
        ("collect_debit", "the filter was ignored and there is more")],
    "the answer is about another object": [
        ("send_email", "what the search returns is another mail"),
        ("ship_parcel", "the answer is about another operation")],
    "nothing found right after the write": [
        ("charge_card", "nothing is found five minutes after the charge"),
        ("charge_card", "an attempt whose end nobody reported may still land"),
        ("collect_debit", "not listed within the first two minutes")],
    "several looks within a minute": [
        ("charge_card", "three looks within a minute are one observation")],
    "absent, an outage, absent again": [
        ("charge_card", "an outage between the looks neither counts nor starts again"),
        ("collect_debit", "not there, twice with five minutes and an outage between, so it is sent again")],
    "data that do not reach to our send": [
        ("capture_payment", "the report ends before our capture"),
        ("update_customer", "the index ends before our send")],
    "asked after the target has forgotten": [
        ("create_order", "after sixty days the shop does not show it any more"),
        ("send_email", "after three days the activity is gone"),
        ("ship_parcel", "after ninety days the warehouse has forgotten")],
    "it was there and is deleted": [
        ("update_customer", "deleted there only"),
        ("update_customer", "deleted on both sides"),
        ("store_document", "deleted there, a delete marker is left"),
        ("store_document", "deleted on both sides"),
        ("sync_customer", "deleted there only"),
        ("sync_customer", "deleted on both sides")],
    "cancelled here, done there": [
        ("charge_card", "cancelled here, charged there"),
        ("capture_payment", "cancelled here, captured there")],
    "cancelled here, proven absent there": [
        ("charge_card", "cancelled here, and certainly not charged"),
        ("collect_debit", "cancelled here before anything happened")],
    "cancelled here, absent there, not proven": [
        ("charge_card", "cancelled here, not seen there, not yet certain")],
    "cancelled there, wanted here": [
        ("charge_card", "cancelled there although it is wanted here"),
        ("create_order", "cancelled in the shop only")],
    "made and undone": [
        ("capture_payment", "refunded there only"),
        ("capture_payment", "refunded on both sides"),
        ("capture_payment", "a partial refund leaves a part of the money there"),
        ("charge_card", "refunded there only"),
        ("charge_card", "refunded on both sides")],
    "refused by the target": [
        ("charge_card", "the card was declined"),
        ("send_email", "bounced, as three looks over two hours say"),
        ("capture_payment", "declined"),
        ("ship_parcel", "rejected")],
    "an end that depends on what was intended": [
        ("charge_card", "authorized, to be captured by hand as intended"),
        ("charge_card", "authorized, but the money should be taken")],
    "under way for too long": [
        ("charge_card", "processing for more than seven days needs a person"),
        ("capture_payment", "pending for more than five days needs a person")],
    "a state that is not known": [
        ("charge_card", "a status that did not exist when this was written"),
        ("capture_payment", "a status that did not exist when this was written"),
        ("send_email", "a status that did not exist when this was written, seen three times"),
        ("ship_parcel", "a state that did not exist when this was written")],
    "a state that is final for another kind of effect": [
        ("collect_debit", "funds are available is the end of a payout, not of a debit")],
    "two objects with a reference that is ours alone": [
        ("charge_card", "two payments with our own reference"),
        ("capture_payment", "two captures with our invoice"),
        ("send_email", "the same mail twice to one recipient")],
    "two objects with a key of the business": [
        ("sync_customer", "two contacts of one customer")],
    "a failed attempt beside the success": [
        ("charge_card", "an abandoned attempt beside the payment is no second payment")],
    "the target itself answers that there are several": [
        ("update_customer", "several customers answer to the key")],
    "our reference on a row of another kind": [
        ("capture_payment", "a fee with our invoice is no capture"),
        ("capture_payment", "a refund beside the capture is no second capture")],
    "the same value, written otherwise": [
        ("charge_card", "30.0 and 30.00 are the same amount"),
        ("charge_card", "amounts in minor units and currencies in small letters are the same"),
        ("sync_customer", "a name is the same whether its accents are composed or not"),
        ("store_document", "a digest in hex and one in base64 are the same")],
    "decimals of a currency, and of a field": [
        ("charge_card", "yen have no minor unit"),
        ("charge_card", "dinars have three decimals"),
        ("charge_card", "Icelandic kronur stand there with two decimals that they do not have"),
        ("capture_payment", "amounts are decimal numbers, in yen too")],
    "versions are numbers": [
        ("sync_customer", "version 10 is newer than version 9, and not of ours")],
    "an older version": [
        ("sync_customer", "an older version is not written over without asking"),
        ("update_customer", "one look at an older version"),
        ("update_customer", "an older version, twice, may be written over, since the target refuses older ones")],
    "a newer version that is ours": [
        ("sync_customer", "a newer version that a newer operation of ours wrote")],
    "a newer version that is not ours": [
        ("update_customer", "a newer version without a newer operation of ours")],
    "the right version with other content": [
        ("sync_customer", "the right version with another address")],
    "a tag without direction that differs from that of our write": [
        ("store_document", "another ETag than the one that our upload was answered with"),
        ("store_document", "the ETag that our upload was answered with")],
    "a tag or checksum that is no digest of the content": [
        ("store_document", "the checksum of an upload in parts is no digest of the content"),
        ("store_document", "an object without a checksum")],
    "a counter of the target beside our version": [
        ("sync_customer", "counters of HubSpot itself are not compared"),
        ("store_document", "a version id that S3 gave is not ours to compare")],
    "a value that cannot be read": [
        ("charge_card", "an amount that is null cannot be read"),
        ("charge_card", "a body that names a member twice is no evidence"),
        ("sync_customer", "an empty address cannot be read"),
        ("sync_customer", "a list in the place of a name cannot be read"),
        ("sync_customer", "an address that we do not have is never equal"),
        ("ship_parcel", "a time without a zone cannot be read")],
    "an effect from before our request": [
        ("ship_parcel", "shipped before our request is an older shipment"),
        ("ship_parcel", "shipped five minutes before our request, as far as clocks may differ")],
    "one differing answer of an index": [
        ("send_email", "one differing look at an index is not believed"),
        ("charge_card", "an old copy in the search index is read again by its id")],
    "an object of test mode": [
        ("charge_card", "a payment of test mode is not ours"),
        ("create_order", "an order of test mode"),
        ("collect_debit", "a test debit with our reference is none")],
    "an empty reference": [
        ("sync_customer", "an empty key is never sent as an empty filter")],
    "a reference that would change the query": [
        ("charge_card", "a reference with a quote would change the query"),
        ("send_email", "an id with a quote would change the query"),
        ("store_document", "a key that leads out of the folder is not sent")],
    "one of many is missing in the answer": [
        ("sync_customer", "a batch without our customer, who is not in the archive either")],
    "one of many failed": [
        ("sync_customer", "the part of the batch that is about our customer failed"),
        ("sync_customer", "a part of the batch failed, but not ours")],
    "missing, but the idempotency key is no longer kept": [
        ("charge_card", "missing when the idempotency key is no longer kept is not sent again"),
        ("collect_debit", "after a day the key protects no more")],
}


def file_of_tests(policy):
    return policy.parents[1] / "policy-tests" / policy.name


def ctl(*arguments):
    return subprocess.run([BUILD / "reconcilectl", "--json", "policy", *arguments], check=False,
                          capture_output=True, text=True)


@pytest.fixture(scope="module")
def played():
    """Operation type → name of the case → what came of it."""
    cases = {}
    for policy in POLICIES:
        done = ctl("test", file_of_tests(policy))
        assert not done.stderr, done.stderr
        cases[policy.stem] = {case["name"]: case for case in json.loads(done.stdout)["cases"]}
    return cases


def test_examples_are_there():
    assert {p.stem for p in POLICIES} >= {
        "capture_payment", "charge_card", "create_order", "send_email", "ship_parcel",
        "store_document", "sync_customer", "update_customer", "collect_debit", "place_order",
        "set_address"}


@pytest.mark.parametrize("file", POLICIES + TARGETS, ids=lambda p: p.stem)
def test_loads_without_a_remark(file):
    done = ctl("check", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["files"] == [
        {"file": str(file), "ok": True, "errors": [], "warnings": []}]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.stem)
def test_judges_as_its_test_file_says(policy):
    done = ctl("test", file_of_tests(policy))
    result = json.loads(done.stdout)
    assert [case for case in result["cases"] if not case["ok"]] == []
    assert (done.returncode, result["failed"], result["passed"]) == (0, 0, len(result["cases"]))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.stem)
def test_each_row_decides_a_case(played, policy):
    text = yaml.safe_load(policy.read_text())
    rows = {f"{name}[{i}]" for name in ("judge", "on_absent", "on_gone")
            for i, row in enumerate(text.get(name, [])) if row["class"] != "compare"}
    assert rows - {case["rule"] for case in played[policy.stem].values()} == set()


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_observation_is_met(played, observation):
    for operation_type, name in OBSERVATIONS[observation]:
        assert played[operation_type][name]["ok"]
