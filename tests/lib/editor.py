# SPDX-License-Identifier: Apache-2.0
"""A YAML file as an editor checks it: scalars by the core schema of YAML 1.2, then the JSON Schema."""

import re

import jsonschema
import yaml


class Loader(yaml.SafeLoader):  # pylint: disable=too-many-ancestors
    """`no` and `12:30` are texts here, 0o17 a number; a key is a text, whatever it looks like."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node, deep=False):
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}

    def construct_number(self, node):
        text = node.value
        if re.match(r"0[ox]", text):
            return int(text[2:], 8 if text[1] == "o" else 16)
        if re.fullmatch(r"[-+]?[0-9]+", text):
            return int(text)
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


CORE = (
    ("null", r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("number", r"^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
     r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$", list("-+.0123456789")),
)
for name, pattern, first in CORE:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(pattern), first)
Loader.add_constructor("tag:yaml.org,2002:number", Loader.construct_number)
Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node))


def read(text):
    return yaml.load(text, Loader)  # noqa: S506 (a SafeLoader)


class Schema:
    """One JSON Schema."""

    def __init__(self, schema):
        self.schema = schema
        self.validator = jsonschema.Draft7Validator(schema)

    def complaints(self, text):
        """What the editor would underline: (path, message) each."""
        return [("/".join(map(str, error.absolute_path)), error.message)
                for error in self.validator.iter_errors(read(text))]
