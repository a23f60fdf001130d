# SPDX-License-Identifier: Apache-2.0
"""Compared values of the policy language, exactly: equal, different, older, newer or unreadable."""

import base64
import binascii
import re
import zoneinfo
from datetime import datetime, timedelta, timezone
from fractions import Fraction

from tree import MISSING, Many, fold, folds, has_all, number

EQUAL, DIFFERENT, OLDER, NEWER, UNREADABLE = "equal", "different", "older", "newer", "unreadable"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
UNITS = {"ms": Fraction(1, 1000), "s": 1, "m": 60, "h": 3600, "d": 86400}


class Unreadable(Exception):
    """A value that cannot be compared."""


def duration(text):
    """Seconds of "90s", "15m", "24h", "30d", or a plain 0."""
    count, unit = re.fullmatch(r"([0-9]+)(ms|s|m|h|d)?", text, re.A).groups()
    return int(count) * UNITS[unit or "s"]


# --- times, as exact seconds since 1970

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
DAYS = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
INTERNET = re.compile(r"(\d{4})([-/])(\d\d)\2(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?"
                      r"([Zz]|[+-]\d\d:?\d\d)?", re.A)
HTTP_DATE = re.compile(DAYS + r", (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT", re.A)


def _moment(year, month, day, hour, minute, second):
    """Without zone; second 60 is the 59th here."""
    if hour > 23 or minute > 59 or second > 60:
        raise Unreadable
    try:
        return datetime(year, month, day, hour, minute, min(second, 59))
    except ValueError:
        raise Unreadable from None


def _seconds(moment, away, second):
    """Seconds of a moment that clocks `away` seconds east of UTC show; leap seconds end months of UTC."""
    seconds = (moment.replace(tzinfo=timezone.utc) - EPOCH) // timedelta(seconds=1) - away
    if second < 60:
        return Fraction(seconds)
    if (EPOCH + timedelta(seconds=seconds + 1)).strftime("%d %X") != "01 00:00:00":
        raise Unreadable
    return Fraction(seconds + 1)


def _away(moment, zone):
    """Seconds east of UTC of a time that the clocks of a zone show once."""
    if zone is None:
        raise Unreadable
    info = zoneinfo.ZoneInfo(zone)
    both = [moment.replace(tzinfo=info, fold=f) for f in (0, 1)]
    if both[0].utcoffset() != both[1].utcoffset():
        raise Unreadable
    return both[0].utcoffset() // timedelta(seconds=1)


def read_time(text, zone=None):
    text = text if isinstance(text, str) else ""
    if re.fullmatch(r"\d{10}", text, re.A):
        return Fraction(int(text))
    if re.fullmatch(r"\d{13}", text, re.A):
        return Fraction(int(text), 1000)
    if found := re.fullmatch(r"/Date\((-?\d{1,15})\)/", text, re.A):
        return Fraction(int(found.group(1)), 1000)
    if found := HTTP_DATE.fullmatch(text):
        day, month, year, *clock = found.groups()
        if month not in MONTHS:
            raise Unreadable
        return _seconds(_moment(int(year), MONTHS.index(month) + 1, int(day), *map(int, clock)), 0, int(clock[2]))
    if not (found := INTERNET.fullmatch(text)):
        raise Unreadable
    year, _, month, day, hour, minute, second, part, offset = found.groups()
    moment = _moment(*map(int, (year, month, day, hour, minute, second)))
    part = Fraction(int(part), 10 ** len(part)) if part else 0
    away = 0
    if offset is None:
        away = _away(moment, zone)
    elif offset not in "Zz":
        hours, minutes = int(offset[1:3]), int(offset[-2:])
        if hours > 23 or minutes > 59:
            raise Unreadable
        away = (hours * 3600 + minutes * 60) * (-1 if offset[0] == "-" else 1)
    return _seconds(moment, away, int(second)) + part


# --- the other types: read both sides, then compare

def need_number(text):
    value = number(text)
    if value is None:
        raise Unreadable
    return value


DECIMALS = {"JPY": 0, "KRW": 0, "CLP": 0, "ISK": 0, "VND": 0, "UGX": 0, "EUR": 2, "USD": 2, "GBP": 2, "CHF": 2,
            "HUF": 2, "SEK": 2, "KWD": 3, "BHD": 3, "TND": 3, "JOD": 3, "OMR": 3, "CLF": 4}


def found_money(scene, by, text):
    amount = need_number(text)
    unit = by["unit"]
    if unit == "minor":
        code = one(scene, by["currency"])
        if code.upper() not in DECIMALS:
            raise Unreadable
        amount /= 10 ** DECIMALS[code.upper()]
    elif unit == "hundredths":
        amount /= 100
    elif unit.startswith("scale"):
        amount /= 10 ** int(unit.split()[1])
    if "sign" not in by:
        return amount
    if amount < 0 or text.startswith("-"):
        raise Unreadable
    direction = one(scene, by["sign"]["by"])
    if direction not in (by["sign"]["plus"], by["sign"]["minus"]):
        raise Unreadable
    return amount if direction == by["sign"]["plus"] else -amount


LENGTHS = {"md5": 16, "sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64, "crc32c": 4}


def digest_forms(text, encoding, algorithm):
    """The bytes that a text may stand for."""
    lengths = [LENGTHS[algorithm]] if algorithm else sorted(LENGTHS.values())
    try:
        if encoding == "hex":
            raw = bytes.fromhex(text) if re.fullmatch(r"[0-9A-Fa-f]+", text, re.A) else b""
        else:
            table = text.translate(str.maketrans("-_", "+/")) if encoding == "base64url" else text
            alphabet = r"[A-Za-z0-9_-]+={0,2}" if encoding == "base64url" else r"[A-Za-z0-9+/]+={0,2}"
            if encoding == "base64url" and "=" not in table:
                table += "=" * (-len(table) % 4)
            raw = base64.b64decode(table) if re.fullmatch(alphabet, text, re.A) else b""
    except (ValueError, binascii.Error):
        raw = b""
    return [raw] if len(raw) in lengths else []


def digest(text, encodings, algorithm):
    for encoding in encodings:
        for raw in digest_forms(text, encoding, algorithm):
            return raw
    raise Unreadable


def version(text, by):
    order = by.get("order", "integer")
    if order == "integer" and re.fullmatch(r"[+-]?[0-9]+", text, re.A):
        return int(text)
    if order == "time":
        return read_time(text, by.get("zone"))
    if order == "dotted" and re.fullmatch(r"[0-9]+(\.[0-9]+)*", text, re.A):
        parts = [int(p) for p in text.split(".")]
        while len(parts) > 1 and parts[-1] == 0:
            parts.pop()
        return parts
    if order == "opaque":
        return text
    raise Unreadable


WORDS = {"true": "true", "1": "true", "false": "false", "0": "false"}


def boolean(text):
    if text not in WORDS:
        raise Unreadable
    return WORDS[text]


def folded(text, by):
    """What is nothing but white space is empty where white space does not count."""
    text = fold(text, folds(by.get("fold")))
    if text == "":
        raise Unreadable
    return text


def reader(scene, by, ours):
    """text → what is compared."""
    kind = by.get("type", "text")
    encoding = by.get("encoding", "hex")
    return {
        "text": lambda t: folded(t, by),
        "number": need_number,
        "money": need_number if ours else lambda t: found_money(scene, by, t),
        "time": lambda t: read_time(t, by.get("zone")),
        "bool": boolean,
        "digest": lambda t: digest(t, ["hex", encoding] if ours else [encoding], by.get("algorithm")),
        "version": lambda t: version(t, by),
    }[kind]


def one(scene, locator):
    """The one scalar at a place."""
    try:
        values = scene.find(locator)
    except Many:
        raise Unreadable from None
    if len(values) != 1 or not isinstance(values[0], str) or values[0] == "":
        raise Unreadable
    return values[0]


def slack(by):
    kind = by.get("type", "text")
    if kind in ("number", "money"):
        return number(by.get("tolerance", "0"))
    return duration(by.get("skew", "0s"))


def relate(by, found, ours):
    kind = by.get("type", "text")
    if kind == "version" and by.get("order") != "opaque":
        if kind == "version" and by.get("order") == "time" and abs(found - ours) <= slack(by):
            return EQUAL
        return EQUAL if found == ours else OLDER if found < ours else NEWER
    if kind in ("number", "money", "time"):
        return EQUAL if abs(found - ours) <= slack(by) else OLDER if found < ours else NEWER
    return EQUAL if found == ours else DIFFERENT


RELATIONS = ("is", "one_of", "at_least", "not_before")


def compare_scalar(scene, by, relation, wanted):
    found = reader(scene, by, False)(one(scene, by["found"]))
    ours = scene.operand(wanted)
    if not isinstance(ours, str) or ours == "":
        raise Unreadable
    result = relate(by, found, reader(scene, by, True)(ours))
    is_version = by.get("type") == "version"
    if relation in ("at_least", "not_before"):
        if result == NEWER:
            return EQUAL
        return result if is_version or result == EQUAL else DIFFERENT
    return result if is_version or result == EQUAL else DIFFERENT


def compare_one_of(scene, by, choices):
    """A choice that is not there makes the whole unreadable; one that is no such value equals nothing."""
    if not all(isinstance(scene.operand(choice), str) for choice in choices):
        raise Unreadable
    results = []
    for choice in choices:
        try:
            results.append(compare_scalar(scene, by, "is", choice))
        except Unreadable:
            results.append(UNREADABLE)
    if EQUAL in results or set(results) == {UNREADABLE}:
        return EQUAL if EQUAL in results else UNREADABLE
    return DIFFERENT


def members(value):
    """Of a list of scalars."""
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise Unreadable
    return value


def found_list(scene, locator):
    try:
        values = scene.find(locator)
    except Many:
        raise Unreadable from None
    if len(values) == 1 and isinstance(values[0], list):
        return members(values[0])
    if "*" in locator.split("/") and found_everywhere(scene, locator):
        return members(values)
    raise Unreadable


def found_everywhere(scene, locator):
    """No element on the way lacks what is asked for."""
    root, _, pointer = locator.partition("/")
    tree = scene.response["tree"] if root == "body." or scene.item is MISSING else scene.item
    return has_all(tree, "/" + pointer, scene.op)


def compare_list(scene, by, wanted):
    found = found_list(scene, by["found"])
    ours = scene.operand(wanted)
    ours = members([scene.operand(v) for v in ours] if isinstance(ours, list) else ours)
    if by["type"] == "set":
        found, ours = sorted(found), sorted(ours)
    return EQUAL if found == ours else DIFFERENT


def compare_field(scene, by):
    relation = next(r for r in RELATIONS if r in by)
    try:
        if by.get("type") in ("set", "list"):
            return compare_list(scene, by, by[relation])
        if relation == "one_of":
            return compare_one_of(scene, by, by["one_of"])
        return compare_scalar(scene, by, relation, by[relation])
    except Unreadable:
        return UNREADABLE
