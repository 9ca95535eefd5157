"""One table per provider: the keywords it takes, enforces and limits.

The modules of the formats name the provider's pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from sovl_tools.model.document import JSON

# an escaped parenthesis begins no group, but one after an escaped backslash does
_LOOKAROUND = re.compile(r"(?<!\\)(?:\\\\)*\((?:\?[=!]|\?<[=!])")
_ELABORATE = re.compile(r"\\[1-9]|\\k<|\(\?P=|[*+?}]\?")


def has_lookaround(pattern: str) -> bool:
    """Return whether a regular expression looks ahead or behind, which providers reject."""
    return "(?" in pattern and _LOOKAROUND.search(pattern) is not None


def is_elaborate(pattern: str) -> bool:
    """Return whether a regular expression looks around, refers back or is lazy, or seems to."""
    return has_lookaround(pattern) or _ELABORATE.search(pattern) is not None


_PLAIN = frozenset(
    {
        "type", "title", "description", "required", "enum", "const", "minimum", "maximum",
        "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "minLength",
        "maxLength", "pattern", "format", "examples", "default",
    }
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Dialect:
    """The JSON Schema that a provider takes, or that it enforces.

    Attributes:
        keeps: keywords that stay unchanged, except ``admits``; None for all.
        admits: tells it of the values of some keywords.
        root: keywords that can't be next to the properties of the root.
        needs_members: whether arrays must have ``items``, and objects ``properties``.
        needs_enum: whether a constant must be an enum of one, and an enum must have a type.
        require_all: whether every property must be required; an optional one can be null instead.
        is_recursive: whether definitions may refer to themselves.
        wraps_references: whether a reference with other keywords next to it becomes an ``anyOf`` of
            one, next to which they can be.
    """

    keeps: frozenset[str] | None = None
    admits: Mapping[str, Callable[[JSON], bool]] = field(default_factory=dict)
    root: frozenset[str] = frozenset()
    needs_members: bool = False
    needs_enum: bool = False
    require_all: bool = False
    is_recursive: bool = True
    wraps_references: bool = False

    @cached_property
    def plain(self) -> frozenset[str]:
        """The commonest keywords without subschemas that stay with any value."""
        return frozenset(each for each in _PLAIN if each not in self.admits and self.takes(each, 0))

    def takes(self, keyword: str, value: JSON) -> bool:
        """Return whether a keyword may stay."""
        if keyword in self.admits:
            return self.admits[keyword](value)
        return self.keeps is None or keyword in self.keeps


class Provider(NamedTuple):
    """A provider's requirements.

    Attributes:
        name: what people call it.
        loose: the JSON Schema that it takes without enforcing it.
        dialect: the part of JSON Schema that it enforces for strict tools.
        size: how large the schema of a strict tool can be.
        tools: the maximum number of tools in one request.
        strict: the limits of all strict tools of one request together.
        names: the pattern of property names; None for any name.
        is_sure: whether other names of arguments are rejected for certain.
    """

    name: str
    loose: Dialect
    dialect: Dialect = Dialect(frozenset())
    size: Mapping[str, int] = MappingProxyType({})
    tools: int = sys.maxsize
    strict: Mapping[str, int] = MappingProxyType({})
    names: re.Pattern[str] | None = None
    is_sure: bool = False


_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_STRICT = frozenset(
    {
        "title", "description", "type", "enum", "const", "properties", "required", "items",
        "additionalProperties", "anyOf", "$ref",
    }
)  # fmt: skip
_AT_ROOT = frozenset({"$ref", "oneOf", "anyOf", "allOf", "not", "enum", "const"})

OPENAI = Provider(
    "OpenAI",
    Dialect(
        admits={
            "pattern": lambda pattern: not has_lookaround(pattern),
            "patternProperties": lambda patterns: not any(map(has_lookaround, patterns)),
        },
        root=_AT_ROOT | {"if", "then", "else"},
        needs_members=True,
    ),
    Dialect(
        _STRICT
        | {
            "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems",
            "maxItems",
        },
        {"format": _FORMATS.__contains__, "pattern": lambda pattern: not is_elaborate(pattern)},
        require_all=True,
        wraps_references=True,
    ),
    {"properties": 5000, "values": 1000},
    tools=128,
)  # fmt: skip

ANTHROPIC = Provider(
    "Anthropic",
    Dialect(root=_AT_ROOT),
    Dialect(
        _STRICT | {"default"},
        # minItems 0 is idle and 1 is enforced; a larger one is rejected
        {"format": (_FORMATS | {"uri"}).__contains__, "minItems": lambda least: least == 1},
        is_recursive=False,
    ),
    strict={"strict tools": 20, "optional parameters": 24, "unions": 16},
    names=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
    is_sure=True,
)

# a request is passed on to a provider, so that a schema must suit them all
OPENROUTER = OPENAI._replace(name="OpenRouter", names=ANTHROPIC.names)


def are_choices(values: JSON) -> bool:
    """Return whether an enum has only strings and numbers, which Gemini takes."""
    return {*map(type, values)} <= {str, int, float}


GEMINI = Provider(
    "Gemini",
    Dialect(
        frozenset(
            {
                "type", "title", "description", "default", "format", "minItems", "maxItems",
                "minimum", "maximum", "items", "prefixItems", "anyOf", "properties",
                "additionalProperties", "required", "$ref", "minLength", "maxLength", "pattern",
                "uniqueItems", "minProperties", "maxProperties",
            }
        ),
        {"enum": are_choices},
        needs_enum=True,
        wraps_references=True,
        root=OPENAI.loose.root,
    ),
    tools=512,
    names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"),
)  # fmt: skip
