"""What generated schemas are made of: names, values, and what a place can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st

Schema: TypeAlias = Any
Draw: TypeAlias = st.DrawFn

PLAIN_NAMES = ("city", "limit", "tags", "filters", "kind", "value_2", "X")
ODD_NAMES = (
    "properties", "type", "$ref", "default", "required", "null", "items", "enum", "const", "$defs",
    "additionalProperties", "description", "title", "pattern", "anyOf", "format", "a b", "é",
    "名前", "a.b", "a/b", "~", "x-own", "", "0", "self", "n" * 65,
)  # fmt: skip
DEFINITIONS = ("node", "Point", "a b", "type", "a/b", "é", "~x", "properties")
PATTERNS = ("^[a-z]{2,4}$", r"^\d+$", "b", r"^(red|blue)\.?$", r"^[^\s?]+$")
LOOKAROUND = ("^(?!x)", "(?<=a)b$", r"^a(?=\.)")
FORMATS = ("date-time", "email", "uuid", "ipv4")
OTHER_FORMATS = ("uri", "regex", "phone", "idn-email")

texts = st.sampled_from(["red", "blue", "Red", "", "a b", "é", "$ref", "null", "1"])
numbers = st.sampled_from([0, 1, -1, 2, 1.5, 100])
scalars = st.none() | st.booleans() | texts | numbers
data = scalars | st.sampled_from(
    [{}, [], [1, [2]], {"$ref": "#/nowhere"}, {"type": "x", "default": 1}, {"required": ["a"]}]
)


Kind: TypeAlias = Callable[[Draw, "Scope"], Schema]
"""What makes schemas of one kind."""


class Scope(NamedTuple):
    """What a subschema can hold at its place.

    Attributes:
        depth: how many levels may lie below.
        kinds: what it can be.
        references: those that lead to what comes later, so that no circle arises.
        circular: those that may lead back.
        is_below: whether a property or an item lies between the definition and the place.
        may_end: whether a value may do without it.
        names: the names that properties can have.
    """

    depth: int
    kinds: tuple[Kind, ...]
    references: tuple[str, ...] = ()
    circular: tuple[str, ...] = ()
    is_below: bool = False
    may_end: bool = False
    names: tuple[str, ...] = PLAIN_NAMES

    def within(self, *, may_end: bool) -> Scope:
        """Return the scope of a property or an item."""
        return self._replace(depth=self.depth - 1, is_below=True, may_end=self.may_end or may_end)

    @property
    def possible(self) -> tuple[str, ...]:
        """The references that may be here."""
        safe = self.is_below and self.may_end
        return self.references + (self.circular if safe else ())


def some(draw: Draw, chances: Mapping[str, st.SearchStrategy[Any]], most: int = 2) -> Schema:
    """Return a few of the keywords."""
    chosen = draw(st.lists(st.sampled_from(sorted(chances)), max_size=most, unique=True))
    return {each: draw(chances[each]) for each in chosen}


def few(draw: Draw, names: tuple[str, ...]) -> list[str]:
    """Return up to three of the names, mostly two or three."""
    count = draw(st.sampled_from([2, 3, 1, 2, 3, 0]))
    chosen = st.lists(st.sampled_from(names), min_size=count, max_size=count, unique=True)
    return draw(chosen)
