"""A problem in words: what is there and what would be right."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from sovl_tools.model.document import JSON, kind
from sovl_tools.model.suggestion import nearest
from sovl_tools.validation.problem import Problem

_LONGEST_VALUE = 60
_ARTICLES = {"integer": "an integer", "array": "an array", "object": "an object", "null": "null"}


def describe(problem: Problem) -> str:
    """Return what a value must be and is not: ``must be an integer, not the string "five"``."""
    return _WORDS.get(problem.keyword, _other)(problem)


def shown(value: JSON) -> str:
    """Return the value as JSON text, shortened to a few words."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def named(value: JSON) -> str:
    """Return the value with its type: ``the string "five"``; containers by their type alone."""
    if isinstance(value, dict | list):
        return _ARTICLES[kind(value)]
    if value is None:
        return "null"
    return f"the {kind(value)} {shown(value)}"


def one_of(words: Iterable[str]) -> str:
    """Return ``a, b or c``."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _type(problem: Problem) -> str:
    expected = one_of(_ARTICLES.get(name, f"a {name}") for name in sorted(problem.expected))
    return f"must be {expected}, not {named(problem.value)}"


def _enum(problem: Problem) -> str:
    options = [shown(option) for option in problem.expected[:20]]
    more = ["…"] if len(problem.expected) > len(options) else []
    hint = ""
    if isinstance(problem.value, str):
        texts = [each for each in problem.expected if isinstance(each, str)]
        near = nearest(problem.value, texts)
        hint = f"; did you mean {shown(near)}?" if near is not None else ""
    return f"must be one of {', '.join(options + more)}, not {shown(problem.value)}{hint}"


def _required(problem: Problem) -> str:
    return f"lacks {_quoted(problem.expected)}"


def _superfluous(problem: Problem) -> str:
    return f"has no {_quoted(problem.expected)}"


def _plural(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun.removesuffix('y')}ies" if noun.endswith("y") else f"{count} {noun}s"


def _sized(bound: str, noun: str) -> Callable[[Problem], str]:
    def words(problem: Problem) -> str:
        length = _plural(len(problem.value), noun)
        return f"must have {bound} {_plural(int(problem.expected), noun)}, not {length}"

    return words


def _limited(relation: str) -> Callable[[Problem], str]:
    return lambda problem: f"must be {relation} {problem.expected}, not {shown(problem.value)}"


def _alternatives(problem: Problem) -> str:
    if not problem.branches or not all(problem.branches):
        return "fits more than one of the alternatives, but must fit exactly one"
    best = min(problem.branches, key=lambda branch: _distance(branch, problem))
    types = [each for branch in problem.branches for each in _root_types(branch, problem)]
    if len(types) == len(problem.branches):
        return _type(problem._replace(expected=dict.fromkeys(sum(types, ()))))
    return "; ".join(_inside(each, problem) for each in best)


def _distance(branch: tuple[Problem, ...], parent: Problem) -> tuple[bool, int, int]:
    """Order the branches by how well they fit: the right type first, then the fewest problems."""
    deepest = max(len(each.path) for each in branch)
    return bool(_root_types(branch, parent)), -deepest, len(branch)


def _root_types(branch: tuple[Problem, ...], parent: Problem) -> list[tuple[str, ...]]:
    return [each.expected for each in branch if each.keyword == "type" and each.path == parent.path]


def _inside(problem: Problem, parent: Problem) -> str:
    below = problem.path[len(parent.path) :]
    words = describe(problem)
    return f"{'.'.join(map(str, below))} {words}" if below else words


def _other(problem: Problem) -> str:
    return f"breaks {problem.keyword!r}: {shown(problem.expected)}"


_WORDS: dict[str, Callable[[Problem], str]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda problem: f"must be {shown(problem.expected)}, not {shown(problem.value)}",
    "required": _required,
    "dependentRequired": _required,
    "additionalProperties": _superfluous,
    "unevaluatedProperties": _superfluous,
    "minLength": _sized("at least", "character"),
    "maxLength": _sized("at most", "character"),
    "minItems": _sized("at least", "item"),
    "maxItems": _sized("at most", "item"),
    "minProperties": _sized("at least", "entry"),
    "maxProperties": _sized("at most", "entry"),
    "minimum": _limited("at least"),
    "maximum": _limited("at most"),
    "exclusiveMinimum": _limited("more than"),
    "exclusiveMaximum": _limited("less than"),
    "multipleOf": _limited("a multiple of"),
    "pattern": lambda problem: (
        f"must match the pattern {problem.expected}, which {shown(problem.value)} does not"
    ),
    "format": lambda problem: f"is no {problem.expected}: {shown(problem.value)}",
    "uniqueItems": lambda _: "must not have the same item twice",
    "unevaluatedItems": lambda _: "has an item too many",
    "contains": lambda _: "lacks an item that it must contain",
    "propertyNames": lambda problem: f"has a key that is not allowed: {shown(problem.value)}",
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "not": lambda problem: f"must not be {shown(problem.value)}",
    "false": lambda _: "is not allowed here",
}
