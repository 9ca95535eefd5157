"""A problem in words: what is there and what would be right."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress

from sovl_tools.model.document import JSON, Path, json_path, kind
from sovl_tools.model.suggestion import as_hint, nearest, question
from sovl_tools.schema.problem import SUPERFLUOUS, Problem, explained, in_order, options

_LONGEST_VALUE = 60
_LONGEST_PATTERN = 200
_LONGEST_LIST = 20
_ARTICLES = {"integer": "an integer", "array": "an array", "object": "an object", "null": "null"}


def describe(problem: Problem) -> str:
    """Return what a value must be and is not: ``must be an integer, not the string "five"``."""
    if problem.keyword in _WORDS:
        return _WORDS[problem.keyword](problem)
    return f"breaks {problem.keyword!r}: {shown(problem.expected)}"


def explanations(
    problems: Iterable[Problem], known: Callable[[Path], Collection[str]]
) -> list[tuple[Path, str]]:
    """Return every place where something is wrong and what that is, in order of place.

    Missing and superfluous properties have the place that they have or would have. ``known``
    returns the names of the properties that the object at a place may have, for suggestions.
    """
    every = explained(problems)
    missing = {each.path: each.expected for each in every if each.keyword == "required"}
    found: list[tuple[Path, str]] = []
    for problem in every:
        path, keyword = problem.path, problem.keyword
        if keyword in _ABSENT:
            found += [((*path, name), _ABSENT[keyword]) for name in problem.expected]
        elif keyword in SUPERFLUOUS:
            names, lacking = problem.expected, missing.get(path, ())
            # A name that is given already is not what another one was meant to be.
            others = {*known(path), *lacking}.difference(names)
            near = {name: nearest(name, others) for name in names}
            # One too many and one too few: that is a rename, however unlike the names are.
            if len(names) == len(lacking) == 1:
                near = {name: each or lacking[0] for name, each in near.items()}
            free = {name: each for name, each in near.items() if each and each not in problem.value}
            found += [
                ((*path, name), f"is not a parameter{as_hint(free.get(name))}") for name in names
            ]
        else:
            found.append((path, describe(problem)))
    return sorted(found, key=lambda line: in_order(line[0]))


_ABSENT = {
    "required": "is required",
    "dependentRequired": "is required because of what else is given",
}


def shown(value: JSON) -> str:
    """Return the value as JSON text, shortened to a few words."""
    return _cut(_encode(value), _LONGEST_VALUE)


# made once: ``json.dumps`` makes an encoder for each call that has options
_encode = json.JSONEncoder(ensure_ascii=False, default=repr).encode


def _cut(text: str, length: int = _LONGEST_PATTERN) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


MAX_MESSAGE = 4000
"""How many characters of an exception a model reads."""
MAX_NAME = 200
"""How many characters of a name that it made up."""


def brief(text: str, limit: int = MAX_MESSAGE, *, length: int | None = None) -> str:
    """Return the text, or its beginning and how much was left out of its ``length``."""
    left_out = (len(text) if length is None else length) - limit
    return text if left_out <= 0 else f"{text[:limit]}… [{left_out:,} characters left out]"


def place(path: Path) -> str:
    """Return a path as people write it, odd keys in brackets: ``filters[0]['odd key']``."""
    return json_path(path).removeprefix("$").removeprefix(".")


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


def _articles(types: Iterable[str]) -> list[str]:
    return [_ARTICLES.get(name, f"a {name}") for name in sorted(types)]


def _type(problem: Problem) -> str:
    value, types = problem.value, problem.expected
    words = f"must be {one_of(_articles(types))}, not {named(value)}"
    # Models like to send the text of an array or of an object.
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            inner = kind(json.loads(value))
            if inner in types:
                words += f"; give the {inner} itself, not JSON text of it"
    return words


def _enum(problem: Problem) -> str:
    value, allowed = problem.value, problem.expected
    if not allowed:
        return f"can't be given now: there is nothing to choose from, so not {shown(value)}"
    near = None
    if isinstance(value, str):
        near = nearest(value, [each for each in allowed if isinstance(each, str)])
    alike = [near] if near is not None else allowed
    if near is None:
        # "1" where 1 is meant, or another case; nobody means a container by a slip
        is_container = isinstance(value, dict | list)
        alike = [each for each in allowed if not is_container and _bare(each) == _bare(value)]
    hint = f"; {question(shown(alike[0]))}" if alike else ""
    return f"must be one of {', '.join(_listed(allowed))}, not {shown(value)}{hint}"


def _listed(allowed: list[JSON]) -> list[str]:
    more = ["…"] if len(allowed) > _LONGEST_LIST else []
    return [*map(shown, allowed[:_LONGEST_LIST]), *more]


def _bare(value: JSON) -> str:
    return value.strip().casefold() if isinstance(value, str) else shown(value)


def _required(problem: Problem) -> str:
    return f"lacks {_quoted(problem.expected)}"


def _superfluous(problem: Problem) -> str:
    return f"must not have {_quoted(problem.expected)}"


def _plural(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun.removesuffix('y')}ies" if noun.endswith("y") else f"{count} {noun}s"


def _sized(bound: str, noun: str) -> Callable[[Problem], str]:
    def words(problem: Problem) -> str:
        length = _plural(len(problem.value), noun)
        return f"must have {bound} {_plural(int(problem.expected), noun)}, not {length}"

    return words


def _bounded(relation: str) -> Callable[[Problem], str]:
    def words(problem: Problem) -> str:
        # of 5 and 5.0, which are one number in JSON, people write 5
        bound = str(problem.expected).removesuffix(".0")
        return f"must be {relation} {bound}, not {shown(problem.value)}"

    return words


def _repeated(problem: Problem) -> str:
    seen = set()
    for item in problem.value:
        text = json.dumps(item, sort_keys=True)
        if text in seen:
            return f"must not have the same item twice: {shown(item)}"
        seen.add(text)
    return "must not have the same item twice"


def _not(problem: Problem) -> str:
    if not isinstance(problem.expected, dict) or problem.expected.keys() != {"required"}:
        return f"must not be {shown(problem.value)}"
    names = [repr(name) for name in problem.expected["required"]]
    return f"must not have {' and '.join(names)}{' together' if len(names) > 1 else ''}"


def _alternatives(problem: Problem) -> str:
    if not problem.branches or not all(problem.branches):
        return "fits more than one of the alternatives, but must fit exactly one"
    first, *more = told = explained([problem])
    if more or first.path != problem.path or not first.branches:
        places = [place(each.path[len(problem.path) :]) for each in told]
        found = zip(places, map(describe, told), strict=True)
        return "; ".join(f"{below} {words}".strip() for below, words in found)
    # All branches are equally far off, so that each is named.
    every = [each for branch in first.branches for each in branch]
    if every[0].keyword == "required":
        return f"lacks {one_of(' and '.join(map(repr, each.expected)) for each in every)}"
    allowed = [option for each in every if each.keyword != "type" for option in options(each)]
    types = {name for each in every if each.keyword == "type" for name in each.expected}
    return f"must be {one_of([*_listed(allowed), *_articles(types)])}, not {named(first.value)}"


_WORDS: dict[str, Callable[[Problem], str]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda problem: f"must be {shown(problem.expected)}, not {shown(problem.value)}",
    "required": _required,
    "dependentRequired": lambda problem: (
        f"{_required(problem)}, required because of what else is given"
    ),
    "additionalProperties": _superfluous,
    "unevaluatedProperties": _superfluous,
    "minLength": _sized("at least", "character"),
    "maxLength": _sized("at most", "character"),
    "minItems": _sized("at least", "item"),
    "maxItems": _sized("at most", "item"),
    "minProperties": _sized("at least", "entry"),
    "maxProperties": _sized("at most", "entry"),
    "minimum": _bounded("at least"),
    "maximum": _bounded("at most"),
    "exclusiveMinimum": _bounded("more than"),
    "exclusiveMaximum": _bounded("less than"),
    "multipleOf": _bounded("a multiple of"),
    "pattern": lambda problem: (
        f"must match the pattern {_cut(problem.expected)}, which {shown(problem.value)} does not"
    ),
    "format": lambda problem: f"is no {problem.expected}: {shown(problem.value)}",
    "uniqueItems": _repeated,
    "unevaluatedItems": lambda _: "has an item too many",
    "contains": lambda _: "has too few or too many of the items that it must contain",
    "propertyNames": lambda problem: f"has a key that is not allowed: {shown(problem.value)}",
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "not": _not,
    "false": lambda _: "is not allowed here",
}
