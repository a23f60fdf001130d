# SPDX-License-Identifier: Apache-2.0
"""Canonical JSON and its SHA-256. The texts are written by hand from the rules; the digests were
made of them with sha256sum. They are the same in every release: stored fingerprints depend on them.
"""

import hashlib

import pytest

CANONICAL = [
    # payload, canonical text
    ("null", "null"),
    ("true", "true"),
    (" false ", "false"),
    ("1", "1"),
    ("1.0", "1"),
    ("1e0", "1"),
    ("10E-1", "1"),
    ("100", "100"),
    ("1e2", "100"),
    ("0.10", "0.1"),
    ("-0", "0"),
    ("-0.0e5", "0"),
    ("-1.50", "-1.5"),
    ("1e-7", "0.0000001"),
    ("12345678901234567890", "12345678901234567890"),
    ("0.30000000000000004", "0.30000000000000004"),
    ('"1"', '"1"'),
    ('""', '""'),
    ("[]", "[]"),
    ("{}", "{}"),
    ('[ 1, "a" , null ]', '[1,"a",null]'),
    ('{"b":2,"a":1}', '{"a":1,"b":2}'),
    ('{"aa":1,"b":2}', '{"aa":1,"b":2}'),  # by bytes, not by length
    ('{"B":1,"a":2,"A":3}', '{"A":3,"B":1,"a":2}'),
    ('{"a":{"d":[{"z":1.0,"y":[]}],"c":null}}', '{"a":{"c":null,"d":[{"y":[],"z":1}]}}'),
    # é is C3 A9, ￿ is EF BF BF, 😀 is F0 9F 98 80: bytes, not UTF-16 units
    ('{"😀":1,"\uffff":2,"é":3,"z":4}', '{"z":4,"é":3,"\uffff":2,"😀":1}'),
    (r'"\u00e9\ud83d\ude00"', '"é😀"'),
    (r'"\/\u0041"', '"/A"'),
    (r'"\b\f\n\r\t\"\\"', r'"\b\f\n\r\t\"\\"'),
    (r'"\u0001\u001F"', r'"\u0001\u001f"'),
    ('"\u007f"', '"\u007f"'),
    (r'{"\u0062":1,"a":"x:y"}', '{"a":"x:y","b":1}'),
    ("1e1000", "1" + "0" * 1000),
    ("1e-1000", "0." + "0" * 999 + "1"),
]

DIGESTS = [
    ('{"b":2,"a":1.0}', "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"),
    ("null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"),
    ('{"amount":"10.50","note":"caf\\u00e9"}',
     "a54d608ad8e662e87d2ae995fd1501cd36c78afa315a655f8fc09bb703d172d4"),
]

REFUSED = {
    "exponent": "[1e1001]",
    "negative exponent": '{"a":1E-1001}',
    "exponent with zeros in front": "1e+0001001",
    "long exponent": "1e99999",
    "NUL": r'{"n":"x\u0000y"}',
    "lone surrogate": r'{"n":"\ud800"}',
    "too many digits": "1" * 140000,
    "repeated member": '{"a":1,"b":{"c":1,"c":1}}',
}


def fingerprint(one, payload):
    return one("SELECT reconcile.fingerprint(%s) AS f", payload)["f"]


@pytest.mark.parametrize("payload,canonical", CANONICAL)
def test_canonical_text(one, payload, canonical):
    assert one("SELECT reconcile.canonical(%s) AS c", payload)["c"] == canonical
    assert fingerprint(one, payload) == hashlib.sha256(canonical.encode()).digest()


@pytest.mark.parametrize("payload,digest", DIGESTS)
def test_digest(one, payload, digest):
    assert fingerprint(one, payload).hex() == digest


def test_no_payload_is_a_null_fingerprint(one):
    assert one("SELECT reconcile.fingerprint(NULL) AS f")["f"] is None


@pytest.mark.parametrize("a,b,equal", [
    ('{"a":1,"b":2}', '{"b":2,"a":1}', True),
    ("[1,2]", "[2,1]", False),
    ("1", '"1"', False),
    ("1", "1.0", True),
    ('{"a":1}', '{"a":1,"b":null}', False),
    ("9007199254740992", "9007199254740993", False),
])
def test_i02_equal_and_different_payloads(one, a, b, equal):
    assert (fingerprint(one, a) == fingerprint(one, b)) == equal


@pytest.mark.parametrize("payload", REFUSED.values(), ids=REFUSED.keys())
def test_refused_payload(one, refused, payload):
    with refused("RC400") as refusal:
        one("SELECT reconcile.fingerprint(%s) AS f", payload)
    assert refusal.message.startswith("payload: ")


@pytest.mark.parametrize("payload", ['"1e9999"', '{"e5":"a:b","c":"1E12345 : \\" \\\\"}',
                                     '"\\\\u0000"', "[true,false,1e1000]"])
def test_text_that_only_looks_refused(one, payload):
    assert len(fingerprint(one, payload)) == 32


def test_deep_nesting_is_refused_or_read_but_never_breaks(one, refused):
    assert fingerprint(one, "[" * 100 + "]" * 100) == \
        hashlib.sha256(("[" * 100 + "]" * 100).encode()).digest()
    with refused("RC400"):
        one("SELECT reconcile.fingerprint(%s) AS f", "[" * 3000 + "]" * 3000)
