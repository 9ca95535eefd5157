"""Repairs of arguments whose form is wrong: ``"5"`` where an integer is expected.

A value is changed only where its schema rejects it and exactly one change helps. Strings become the
number, boolean, null, array or object that they spell, integers become strings, and a string
becomes the allowed one that differs only in case and surrounding white space. Values are never
added or wrapped in an array, or omitted, but for ``"null"`` where null means that. Only deprecated
arguments are renamed, to the one that ``x-replaced-by`` names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from itertools import product
from typing import NamedTuple, TypeAlias

from sovl_tools.dispatch.arguments import (
    ArgumentCheck,
    Arguments,
    Unparsed,
    drop_nulls,
    null_places,
    parse_arguments,
    without_places,
)
from sovl_tools.model.document import JSON, MAX_DEPTH, Path, depth, json_path, kind, value_at
from sovl_tools.model.result import Failure, Repair
from sovl_tools.schema.problem import LISTED, MISSING, Problem, Validator, options

_MOST_STEPS = 20
_MOST_WAYS = 16
_LONGEST_NUMBER = 64
_LARGEST_EXACT = 2**53
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

_FINAL = MISSING | {
    "additionalProperties", "propertyNames", "false", "minItems", "maxItems", "minProperties",
    "maxProperties", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
}  # fmt: skip
"""Keywords that reject a value independently of the values inside it."""

Patch: TypeAlias = dict[Path, JSON]
"""Other values for some places."""


def repaired(
    check: ArgumentCheck, given: Arguments, found: dict[str, JSON] | Failure
) -> tuple[dict[str, JSON] | Failure, tuple[Repair, ...]]:
    """Return the keywords of arguments after repairs, or else the check's result.

    Deprecated arguments are replaced even if they are valid.
    """
    arguments = parse_arguments(given)
    if isinstance(arguments, Unparsed):
        return found, ()
    if isinstance(arguments, dict):
        drop_nulls(arguments, check.nullable)
        renamed, renames = _renamed(check.replaced, arguments)
        keywords, repairs = _fitted(check, renamed) if renames else (None, ())
        if keywords is not None:
            return keywords, (*renames, *repairs)
    keywords, repairs = _fitted(check, arguments) if isinstance(found, Failure) else (found, ())
    return found if keywords is None else keywords, repairs


def _renamed(
    replaced: Mapping[str, str], arguments: dict[str, JSON]
) -> tuple[dict[str, JSON], tuple[Repair, ...]]:
    """Return arguments with the names to use instead of deprecated ones, unless both are given."""
    wanted = {name: other for name, other in replaced.items() if name in arguments}
    taken = [*arguments, *wanted.values()]
    names = {name: other for name, other in wanted.items() if taken.count(other) == 1}
    made = {names.get(name, name): value for name, value in arguments.items()}
    repairs = [
        each
        for name, other in names.items()
        for each in (
            Repair(json_path((name,)), arguments[name], None),
            Repair(json_path((other,)), None, arguments[name]),
        )
    ]
    return made, tuple(repairs)


def _fitted(
    check: ArgumentCheck, arguments: JSON
) -> tuple[dict[str, JSON] | None, tuple[Repair, ...]]:
    """Return the keywords of arguments that can be made to fit; None for others."""
    nulls: dict[Path, JSON] = {}
    found = repair_arguments(arguments, check.validator)
    if found is None and isinstance(arguments, dict):
        inner = [*null_places(check.validator.problems(arguments), is_spelt=True)]
        nulls = {(name,): arguments[name] for name in _spelt_nulls(check, arguments)}
        nulls |= {path: value_at(arguments, path) for path in inner}
        left = without_places(arguments, nulls)
        found = repair_arguments(left, check.validator) if nulls else None
        if found is not None and inner and not check.can_be_left_out(found[0], inner):
            found = None
    checked = None if found is None else check(found[0])
    if found is None or not isinstance(checked, dict):
        return None, ()
    left_out = (Repair(json_path(path), each, None) for path, each in nulls.items() if each)
    return checked, (*left_out, *found[1])


def _spelt_nulls(check: ArgumentCheck, arguments: dict[str, JSON]) -> Iterator[str]:
    """Yield the arguments whose text spells null, where null means that they are omitted."""
    refused = {each.path for each in check.validator.problems(arguments)}
    for name in check.nullable:
        value = arguments.get(name)
        if (name,) in refused and isinstance(value, str) and value.strip() == "null":
            yield name


def repair_arguments(
    arguments: JSON, validator: Validator
) -> tuple[JSON, tuple[Repair, ...]] | None:
    """Return valid arguments and their repairs, or None without a unique repair.

    The arguments can be a string that contains the object; they are never changed themselves, and
    valid ones are returned unchanged. A repair's ``given`` is the value that was at its place when
    it was made: below a string that became an object, the value in the string.

    Raises:
        ValueError: a string in the arguments can't be encoded.
    """
    found = _solved(validator, _State(arguments, {}))
    if found is None or not isinstance(found.document, dict):
        return None
    document, given = found
    if depth(document) > MAX_DEPTH:
        return None
    repairs = [
        Repair(json_path(path), before, _copy(value_at(document, path)))
        for path, before in given.items()
    ]
    return document, tuple(repairs)


class _State(NamedTuple):
    """A document during its repair, and the original values of the changed places."""

    document: JSON
    given: Patch

    def patched(self, patch: Patch) -> _State:
        document = _copy(self.document)
        given = {path: value_at(document, path) for path in patch}
        for path, value in patch.items():
            if path:
                value_at(document, path[:-1])[path[-1]] = value
            else:
                document = value
        return _State(document, self.given | given)


def _copy(value: JSON) -> JSON:
    """Return a copy of a value in which no container is shared, even within itself."""
    if isinstance(value, dict):
        return {key: _copy(member) for key, member in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _solved(validator: Validator, state: _State) -> _State | None:
    """Return a state without problems; None if there isn't one way to it."""
    for _ in range(_MOST_STEPS):
        problems = validator.problems(state.document)
        if not problems:
            return state
        ways = [_ways(problem, state) for problem in problems]
        if not all(ways):
            return None
        patch = _join(each[0] for each in ways if len(each) == 1)
        if not patch:  # the first problem with several solutions, one of which can be valid
            doubtful = zip(problems, ways, strict=True)
            patch = next((_chosen(validator, state, *each) for each in doubtful if each[1][1:]), {})
        if not patch:
            return None
        state = state.patched(patch)
    return None


def _chosen(validator: Validator, state: _State, problem: Problem, ways: list[Patch]) -> Patch:
    """Return the one way that solves a problem; an empty patch if there are several or none."""
    place = problem.path
    found = [
        way
        for way in ways
        if not any(
            each.path[: len(place)] == place
            for each in validator.problems(state.patched(way).document)
        )
    ]
    return found[0] if len(found) == 1 else {}


def _ways(problem: Problem, state: _State) -> list[Patch]:
    """Return the patches that may solve a problem: none, or an empty one if others' may do."""
    found: list[Patch] = []
    if problem.branches:
        for branch in problem.branches:
            choices = [_ways(each, state) for each in branch]
            # more ways than can be tried, and a single one hardly ever helps
            if math.prod(map(len, choices)) > _MOST_WAYS:
                return []
            found += map(_join, product(*choices))
        found = _distinct(found)
        if len(found) > 1 and {} in found:
            found.remove({})
        return found if len(found) <= _MOST_WAYS else []
    if problem.keyword not in {"type", *LISTED}:
        return [] if problem.keyword in _FINAL else [{}]
    # a value that was changed once and is still rejected isn't an error of form
    if problem.path in state.given:
        return []
    value = value_at(state.document, problem.path)
    if problem.keyword == "type":
        readings = _spelt(value, problem.expected)
    else:  # the allowed values that it spells or resembles
        alike: list[JSON] = []
        for each in options(problem):
            if isinstance(value, str) and isinstance(each, str):
                is_alike = value.strip().casefold() == each.strip().casefold()
            else:
                is_alike = each in _spelt(value, [kind(each)])
            alike += [each] if is_alike else []
        readings = _distinct(map(_copy, alike))
    return [{problem.path: each} for each in readings]


def _join(patches: Iterable[Patch]) -> Patch:
    return {path: value for patch in patches for path, value in patch.items()}


def _spelt(value: JSON, types: Iterable[str]) -> list[JSON]:
    """Return the values a string spells in other JSON types; for an integer, its text."""
    if type(value) is int:
        return [str(value)] if "string" in types else []
    if not isinstance(value, str):
        return []
    text = value.strip()
    return _distinct(each for name in sorted(types) for each in _READERS[name](text))


def _distinct(values: Iterable[JSON]) -> list[JSON]:
    found: list[JSON] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _number(text: str) -> Iterator[float]:
    """Yield the number that a string spells, if a float has all its digits."""
    if len(text) > _LONGEST_NUMBER:
        return
    if _INTEGER.fullmatch(text):
        yield int(text)
    elif _NUMBER.fullmatch(text):
        number = float(text)
        if math.isfinite(number) and Decimal(repr(number)) == Decimal(text):
            yield number


def _container(text: str, *, opening: str) -> Iterator[JSON]:
    found = parse_arguments(text) if text.startswith(opening) else None
    if isinstance(found, dict | list):
        yield found


_BOOLEANS = {"true": [True], "false": [False]}
_READERS: dict[str, Callable[[str], Iterable[JSON]]] = {
    # of ``1e3`` and ``2.0`` too, as far as a float has every integer
    "integer": lambda text: (
        int(each)
        for each in _number(text)
        if isinstance(each, int) or (each.is_integer() and abs(each) <= _LARGEST_EXACT)
    ),
    "number": _number,
    "boolean": lambda text: _BOOLEANS.get(text.lower(), []),
    "null": lambda text: [None] if text == "null" else [],
    "array": partial(_container, opening="["),
    "object": partial(_container, opening="{"),
}
"""The value that a string spells in each of the JSON types but string: one or none."""
