"""What each provider takes of tools: one table of what it refuses, enforces and limits.

The modules of the formats say in which pages of the provider it stands.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from sovl_tools.model.document import JSON

# an escaped parenthesis opens nothing, but one after an escaped backslash does
_LOOKAROUND = re.compile(r"(?<!\\)(?:\\\\)*\((?:\?[=!]|\?<[=!])")
_ELABORATE = re.compile(r"\\[1-9]|\\k<|\(\?P=|[*+?}]\?")


def has_lookaround(pattern: str) -> bool:
    """Tell whether a regular expression looks ahead or behind, which providers refuse."""
    return "(?" in pattern and _LOOKAROUND.search(pattern) is not None


def is_elaborate(pattern: str) -> bool:
    """Tell whether a regular expression looks around, refers back or is lazy, or seems to."""
    return has_lookaround(pattern) or _ELABORATE.search(pattern) is not None


ANY_NAME = re.compile(".*", re.DOTALL)


class Rules(NamedTuple):
    """What a provider refuses with an error, or ignores, in any schema.

    Attributes:
        root: keywords that can't stand beside the properties of the root.
        needs_members: whether arrays have to say what their items are, and objects what their
            properties are.
        takes_lookaround: whether regular expressions may look ahead and behind.
        names: what the names of properties have to match.
        is_sure: whether other names of arguments are refused for certain.
        heeded: keywords that are not ignored, beside references and ``enum``; empty for all.
        doubtful: keywords that may be ignored.
    """

    root: frozenset[str]
    needs_members: bool = True
    takes_lookaround: bool = False
    names: re.Pattern[str] = ANY_NAME
    is_sure: bool = False
    heeded: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()

    def takes_names(self, names: Iterable[str]) -> bool:
        """Tell whether properties may have these names."""
        return self.names is ANY_NAME or all(map(self.names.fullmatch, names))


@dataclass(frozen=True, eq=False)
class Dialect:
    """The part of JSON Schema that a provider enforces.

    Attributes:
        keeps: keywords that may stay as they are, but for those of ``admits``.
        admits: tells it of the values of some keywords.
        require_all: whether every property has to be required; an optional one may be null instead.
        is_recursive: whether definitions may refer to themselves.
        wraps_references: whether a reference that is described becomes an ``anyOf`` of one, which
            may be described; else what it leads to takes its place.
        tells_by_first: whether objects that are alternatives must differ in their first names.
        minds_case: whether texts to choose from come back in the case in which they were given.
    """

    keeps: frozenset[str]
    admits: Mapping[str, Callable[[JSON], bool]]
    require_all: bool = False
    is_recursive: bool = True
    wraps_references: bool = True
    tells_by_first: bool = False
    minds_case: bool = True

    def takes(self, keyword: str, value: JSON) -> bool:
        """Tell whether a keyword may stay as it is."""
        if keyword in self.admits:
            return self.admits[keyword](value)
        return keyword in self.keeps


_NO_DIALECT = Dialect(frozenset(), {})


class Size(NamedTuple):
    """The size of a strict schema, as providers count it; each definition counts once.

    Attributes:
        properties: how many properties its objects have.
        values: how many values there are to choose from.
        characters: of all names of properties and definitions, and of all values.
        longest: characters of the values of the longest choice of more than 250 texts.
        depth: how many objects and arrays lie in one another, recursion not followed; where there
            are no more of them than may lie so, how many there are.
    """

    properties: int = 0
    values: int = 0
    characters: int = 0
    longest: int = 0
    depth: int = 0


class Provider(NamedTuple):
    """What a provider takes.

    Attributes:
        name: what people call it.
        rules: what it refuses in any schema.
        dialect: the part of JSON Schema that it enforces for strict tools.
        size: how large the schema of a strict tool may be; None for any size.
        tools: how many tools there may be in one request.
        strict: how much there may be in the strict tools of one request together.
    """

    name: str
    rules: Rules
    dialect: Dialect = _NO_DIALECT
    size: Size | None = None
    tools: int = sys.maxsize
    strict: Mapping[str, int] = MappingProxyType({})


_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_ALTERNATIVES = frozenset({"oneOf", "anyOf", "allOf", "not", "enum", "const"})

OPENAI = Provider(
    "OpenAI",
    Rules(_ALTERNATIVES | {"if", "then", "else"}),
    Dialect(
        frozenset(
            {
                "title", "description", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
                "exclusiveMaximum", "minItems", "maxItems",
            }
        ),
        {"format": _FORMATS.__contains__, "pattern": lambda pattern: not is_elaborate(pattern)},
        require_all=True,
        tells_by_first=True,
    ),
    Size(properties=5000, values=1000, characters=120_000, longest=15_000, depth=10),
    tools=128,
)  # fmt: skip

ANTHROPIC = Provider(
    "Anthropic",
    Rules(
        _ALTERNATIVES,
        needs_members=False,
        takes_lookaround=True,
        names=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
        is_sure=True,
    ),
    Dialect(
        frozenset({"title", "description", "default"}),
        # minItems 0 is idle and 1 is enforced; a larger one is refused
        {"format": (_FORMATS | {"uri"}).__contains__, "minItems": lambda least: least == 1},
        is_recursive=False,
        wraps_references=False,
        minds_case=False,
    ),
    strict={"strict tools": 20, "optional parameters": 24, "unions": 16},
)

# a request is passed on to a provider, so that a schema has to suit them all
OPENROUTER = OPENAI._replace(
    name="OpenRouter", rules=OPENAI.rules._replace(names=ANTHROPIC.rules.names)
)

GEMINI = Provider(
    "Gemini",
    OPENAI.rules._replace(
        names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"),
        heeded=frozenset(
            {
                "type", "title", "description", "default", "format", "minItems", "maxItems",
                "minimum", "maximum", "items", "prefixItems", "anyOf", "properties",
                "additionalProperties", "required",
            }
        ),
        doubtful=frozenset(
            {"minLength", "maxLength", "pattern", "uniqueItems", "minProperties", "maxProperties"}
        ),
    ),
    tools=512,
)  # fmt: skip
