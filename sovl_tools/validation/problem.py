"""What a schema refuses, in terms that no engine owns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path

UNEXPLAINED = frozenset({"contains", "propertyNames", "uniqueItems", "unevaluatedItems", "false"})
"""Keywords whose problems need no expectation to be told."""


class Problem(NamedTuple):
    """One place where a value breaks its schema.

    Attributes:
        keyword: the JSON Schema keyword that refuses it; ``"false"`` for the schema ``false``.
        path: from the root of the value to the place.
        value: what stands there; for ``propertyNames`` the name.
        expected: what the keyword asks for: the types for ``type``, the missing names for
            ``required``, the superfluous ones for ``additionalProperties``, None for
            ``UNEXPLAINED`` ones, else the keyword's value.
        branches: for ``anyOf`` and ``oneOf``, the problems of each branch.
    """

    keyword: str
    path: Path
    value: JSON
    expected: JSON = None
    branches: tuple[tuple[Problem, ...], ...] = ()


class Validator(NamedTuple):
    """A compiled schema.

    Attributes:
        is_valid: the fast question. May raise ValueError for values that are no JSON.
        problems: the slow one: everything that is wrong, each place and keyword once.
    """

    is_valid: Callable[[JSON], bool]
    problems: Callable[[JSON], list[Problem]]


def merged(problems: list[Problem]) -> list[Problem]:
    """Return the problems with those of one place and keyword made one."""
    found: dict[tuple[Path, str], Problem] = {}
    for problem in problems:
        key = problem.path, problem.keyword
        found[key] = _joined(found[key], problem) if key in found else problem
    return list(found.values())


def _joined(first: Problem, second: Problem) -> Problem:
    if not isinstance(first.expected, tuple) or not isinstance(second.expected, tuple):
        return first
    return first._replace(expected=tuple(dict.fromkeys(first.expected + second.expected)))
