# SPDX-License-Identifier: Apache-2.0
"""Values, places and tests of the policy language, for the independent evaluator.

A scalar is its text: a number keeps the spelling that it had, true is "true". None is null, MISSING
is nothing at all. Written from the language alone; nothing here knows the program under test.
"""

import functools
import json
import re
import unicodedata
from fractions import Fraction

import yaml

MISSING = object()
DEPTH_MAX = 64


class Many(Exception):
    """[name=value] matched more than one element."""


class Unparsed(Exception):
    """A body that is no evidence; args[0] is the reason."""


class Bare(str):
    """A number or a truth value, which had no quotes: the same text, but not the same item."""


class TextLoader(yaml.SafeLoader):
    """Every scalar is text; only a plain null is null."""


TextLoader.yaml_implicit_resolvers = {}
TextLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(null|~|)$"), ["n", "~", ""])


def load_yaml(text):
    return yaml.load(text, TextLoader)  # noqa: S506 (a SafeLoader)


def number(text):
    """The exact value of a number text, or None."""
    found = re.fullmatch(r"([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?", text, re.A)
    if not found:
        return None
    sign, whole, part, exponent = found.groups()
    if len((exponent or "").lstrip("+-0")) > 4 or abs(int(exponent or 0)) > 1000:
        return None
    value = Fraction(int(whole + (part or "")), 10 ** len(part or ""))
    value = value * Fraction(10) ** int(exponent or 0)
    return -value if sign == "-" else value


def depth_of(text):
    """How deep brackets nest, outside of strings."""
    deepest = depth = 0
    inside = escaped = False
    for c in text:
        if inside:
            if escaped:
                escaped = False
            elif c == "\\":
                escaped = True
            elif c == '"':
                inside = False
        elif c == '"':
            inside = True
        elif c in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif c in "]}":
            depth -= 1
    return deepest


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members


def _refuse(word):
    raise ValueError(word)


def _scalars(value):
    if isinstance(value, bool):
        return Bare("true" if value else "false")
    if isinstance(value, str):
        value.encode()  # a lone surrogate is an error
        return value
    if isinstance(value, list):
        return [_scalars(v) for v in value]
    if isinstance(value, dict):
        return {_scalars(k): _scalars(v) for k, v in value.items()}
    return value


def read_json(text):
    text = text.removeprefix("\ufeff")
    if not text.strip(" \t\r\n"):
        raise Unparsed("empty_body")
    if text.count("[") + text.count("{") > DEPTH_MAX and depth_of(text) > DEPTH_MAX:
        raise Unparsed("too_deep")
    try:
        return _scalars(json.loads(text, parse_int=Bare, parse_float=Bare, parse_constant=_refuse,
                                   object_pairs_hook=_members))
    except (ValueError, RecursionError):
        raise Unparsed("not_json") from None


def shape(value):
    """What identical items have in common."""
    if isinstance(value, dict):
        return "object", frozenset((name, shape(v)) for name, v in value.items())
    if isinstance(value, list):
        return "list", tuple(shape(v) for v in value)
    return type(value).__name__, value


# --- folding

def fold(text, how):
    if "case" in how:
        # Folding may undo composition and composing may bring letters back that fold.
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    if "nfc" in how:
        text = unicodedata.normalize("NFC", text)
    if "space" in how:
        text = " ".join(text.split())
    return text


def folds(value):
    return [] if value is None else [value] if isinstance(value, str) else value


# --- pointers

@functools.cache
def split_pointer(pointer):
    """The tokens of a pointer; a "/" inside brackets does not split."""
    if pointer == "":
        return ()
    tokens, depth, token = [], 0, ""
    for c in pointer[1:]:
        if c == "/" and depth == 0:
            tokens.append(token)
            token = ""
            continue
        depth += (c == "[") - (c == "]")
        token += c
    return (*tokens, token)


def step(value, token, op):
    """The values that one token leads to."""
    if token == "*":
        return value if isinstance(value, list) else [value]
    if token.startswith("[") and token.endswith("]"):
        path, _, wanted = token[1:-1].partition("=")
        wanted = render(wanted, op)
        elements = value if isinstance(value, list) else [value]
        found = [] if wanted is None else [e for e in elements if wanted in find(e, "/" + path, op)]
        if len(found) > 1:
            raise Many
        return found
    token = token.replace("~1", "/").replace("~0", "~")
    if isinstance(value, dict):
        return [value[token]] if token in value else []
    if isinstance(value, list) and re.fullmatch(r"0|[1-9][0-9]*", token, re.A) and int(token) < len(value):
        return [value[int(token)]]
    return []


def find(value, pointer, op):
    values = [] if value is MISSING else [value]
    for token in split_pointer(pointer):
        values = [v for start in values for v in step(start, token, op)]
    return values


def has_all(value, pointer, op):
    """Whether each value that a pointer passes has what the next token asks for; an empty list has."""
    values = [value]
    for token in split_pointer(pointer):
        steps = [step(start, token, op) for start in values]
        if token != "*" and not all(steps):
            return False
        values = [v for found in steps for v in found]
    return True


# --- the operation

PLACEHOLDER = re.compile(r"\{(?:(expected\.)(/[^}|]*)|([a-z_]+)([+-][0-9]+[smhd])?)(\|[^}]*)?\}")
TIMES = ("created_at", "first_sent_at", "sent_at")


def op_value(op, path):
    """What stands behind "op.": MISSING also when it is empty."""
    if path.startswith("/"):
        values = find({"expected": op.get("expected", {})}, path, op)
        value = values[0] if len(values) == 1 else values if values else MISSING
    else:
        value = op.get(path, MISSING)
    return MISSING if value is None or value == "" else value


def placeholders(text):
    """(field, path in expected, format) of each placeholder."""
    for found in PLACEHOLDER.finditer(text):
        field = "expected" if found.group(1) else found.group(3)
        yield field, found.group(2), (found.group(5) or "|")[1:]


def render(text, op):
    """With placeholders replaced, or None when one is missing. Not for times."""
    missing = False

    def replace(found):
        nonlocal missing
        value = op_value(op, "/expected" + found.group(2) if found.group(1) else found.group(3))
        missing = missing or not isinstance(value, str)
        return value if isinstance(value, str) else ""

    text = PLACEHOLDER.sub(replace, text)
    return None if missing else text


# --- locators and tests

class Scene:
    """What a locator looks into: an operation, perhaps a response, perhaps an item of it."""

    def __init__(self, op, response=None, item=MISSING):
        self.op, self.response, self.item = op, response, item

    def find(self, locator):
        if locator.startswith("op."):
            value = op_value(self.op, locator[3:])
            return [] if value is MISSING else [value]
        if self.response is None:
            return []
        if locator == "status":
            return [str(self.response["status"])]
        if locator.startswith("header."):
            name = locator[7:].lower()
            return [v for k, v in self.response["headers"].items() if k.lower() == name]
        if locator.startswith("body."):
            return find(self.response["tree"], locator[5:], self.op)
        start = self.response["tree"] if self.item is MISSING else self.item
        return find(start, locator, self.op)

    def find_or_none(self, locator):
        try:
            return self.find(locator)
        except Many:
            return []

    def operand(self, value):
        """A literal, or what the operation has there; MISSING when it has nothing."""
        if isinstance(value, str) and value.startswith("op."):
            return op_value(self.op, value[3:])
        return value


ORDER = {"gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}


def passes(scene, value, test):
    """Whether one value passes a test that is not about presence."""
    if test is None:
        return value is None
    if isinstance(test, list):
        return any(passes(scene, value, t) for t in test)
    if isinstance(test, str):
        test = {"is": test}
    how = folds(test.get("fold"))
    for name, wanted in test.items():
        if name == "fold":
            continue
        if name == "present":
            good = value is not None
        elif name == "is" and wanted is None:
            good = value is None
        else:
            wanted = scene.operand(wanted)
            good = isinstance(value, str) and isinstance(wanted, str) and check(name, value, wanted, how)
        if not good:
            return False
    return True


def check(name, value, wanted, how):
    if name == "is":
        return fold(value, how) == fold(wanted, how)
    if name == "prefix":
        return fold(value, how).startswith(fold(wanted, how))
    a, b = number(value), number(wanted)
    return a is not None and b is not None and ORDER[name](a, b)


def test_holds(scene, values, test):
    if isinstance(test, dict):
        if "not" in test:
            rest = {k: v for k, v in test.items() if k not in ("not",)}
            return not test_holds(scene, values, test["not"]) and (not rest or test_holds(scene, values, rest))
        if test.get("present") == "false":
            rest = {k: v for k, v in test.items() if k != "present"}
            return all(v is None for v in values) and (not rest or test_holds(scene, values, rest))
    return any(passes(scene, value, test) for value in values)


def holds(scene, condition):
    """All of {LOCATOR: TEST}; a list of those: any of them."""
    if condition is None:
        return False
    if isinstance(condition, list):
        return any(holds(scene, c) for c in condition)
    return all(test_holds(scene, scene.find_or_none(locator), test) for locator, test in condition.items())
