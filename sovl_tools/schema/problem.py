"""The problems a schema finds, in terms that no engine owns, and in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, canonical, json_path, kind, with_article
from sovl_tools.model.suggestion import as_hint, nearest, one_of, question

UNEXPLAINED = frozenset({"contains", "propertyNames", "uniqueItems", "unevaluatedItems", "false"})
"""Keywords whose problems are described without an expectation."""

MISSING = frozenset({"required", "dependentRequired"})
SUPERFLUOUS = frozenset({"additionalProperties", "unevaluatedProperties"})
LISTED = frozenset({"const", "enum"})


class Problem(NamedTuple):
    """One place where a value breaks its schema.

    Attributes:
        keyword: the JSON Schema keyword that rejects it; ``"false"`` for the schema ``false``,
            ``"schema"`` for a schema that isn't explained.
        path: from the root of the value to the place.
        value: the value there; for ``propertyNames`` the name.
        expected: the keyword's requirement: the types for ``type``, the missing names for
            ``required``, the superfluous ones for ``additionalProperties``, None for
            ``UNEXPLAINED`` ones, else the keyword's value.
        branches: for ``anyOf`` and ``oneOf``, the problems of each branch; without them, or
            with an empty one, the value matches more than one.
    """

    keyword: str
    path: Path
    value: JSON
    expected: JSON = None
    branches: Sequence[tuple[Problem, ...]] = ()


MAX_PROBLEMS = 1_000
"""The maximum number of problems of one value: millions would block other calls."""


class Validator(NamedTuple):
    """A compiled schema.

    Attributes:
        is_valid: the fast question. May raise ValueError for values that aren't JSON.
        problems: the slow one: everything that is wrong, each place and keyword once, but no more
            than ``MAX_PROBLEMS``.
    """

    is_valid: Callable[[JSON], bool]
    problems: Callable[[JSON], list[Problem]]


def deduplicated(problems: list[Problem]) -> list[Problem]:
    """Return the problems with those of one place and keyword merged into one."""
    if len(problems) == 1:
        return problems
    found: dict[tuple[Path, str], Problem] = {}
    for problem in problems:
        key = problem.path, problem.keyword
        first = found.setdefault(key, problem)
        if isinstance(first.expected, tuple) and isinstance(problem.expected, tuple):
            expected = tuple(dict.fromkeys(first.expected + problem.expected))
            found[key] = first._replace(expected=expected)
    return list(found.values())


def options(problem: Problem) -> list[JSON]:
    """Return the values that ``const`` or ``enum`` allows."""
    return [problem.expected] if problem.keyword == "const" else list(problem.expected)


def explained(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems in order of place, ``anyOf`` and ``oneOf`` by their best branch.

    Of several branches that name a discriminator the one counts whose value is given; if none is,
    only the discriminator is a problem, an ``enum`` of the branches' values. ``anyOf`` and
    ``oneOf`` stay where the branches are equally far off: with a ``type``, ``const`` or ``enum``
    of the place itself in each branch, or only with ``required`` in each.
    """
    return _explained(each for problem in problems for each in _resolved(problem))


def _explained(problems: Iterable[Problem]) -> list[Problem]:
    every = [*problems]
    # A list of allowed values makes their type redundant.
    listed = {each.path for each in every if each.keyword in LISTED}
    every = [each for each in every if each.keyword != "type" or each.path not in listed]
    return sorted(deduplicated(every), key=lambda each: (in_order(each.path), each.keyword))


def in_order(path: Path) -> list[tuple[bool, str | int]]:
    """Return a key to sort paths by, indexes before keys."""
    return [(isinstance(part, str), part) for part in path]


_Branch: TypeAlias = Sequence[Problem]


def _resolved(problem: Problem) -> _Branch:
    """Return a problem, or the problems of the union's branch that matches best."""
    if not problem.branches:
        return [problem]
    if not all(problem.branches):  # it matches more than one
        return [problem._replace(branches=())]
    branches: list[_Branch] = []
    for branch in problem.branches:
        inner = _explained(more for each in branch for more in _resolved(each))
        first = inner[0]
        # A branch that is a union itself, and undecided, is replaced by its own branches.
        is_union = len(inner) == 1 and first.path == problem.path and first.branches
        branches += first.branches if is_union else [inner]
    alike: list[_Branch] = []
    given = _kind(problem.value)
    for candidate in branches:
        here = [each for each in candidate if each.path == problem.path]
        # a branch for values of another type can't be meant
        is_other = any(
            each.keyword == "type"
            or (each.keyword in LISTED and given not in map(_kind, options(each)))
            for each in here
        )
        alike += [] if is_other else [candidate]
    if alike:
        found = _unlisted(problem, alike) or _lacking(problem, alike)
        return found or min(alike, key=lambda branch: _distance(branch, problem))
    # No branch takes such a value: say what they take together, in one keyword if one can.
    here = [_at(branch, problem.path, LISTED | {"type"}) for branch in branches]
    if all(each.keyword in LISTED for each in here):
        return [_choice(here)]
    if all(each.keyword == "type" for each in here):
        types = tuple(dict.fromkeys(name for each in here for name in each.expected))
        return [problem._replace(keyword="type", expected=types, branches=())]
    return [problem._replace(branches=tuple((each,) for each in here))]


def _kind(value: JSON) -> str:
    name = kind(value)
    return "number" if name == "integer" else name


def _at(branch: _Branch, path: Path, keywords: frozenset[str]) -> Problem:
    return next(each for each in branch if each.path == path and each.keyword in keywords)


def _choice(problems: list[Problem]) -> Problem:
    allowed = {repr(option): option for each in problems for option in options(each)}
    return problems[0]._replace(keyword="enum", expected=list(allowed.values()))


def _unlisted(problem: Problem, branches: list[_Branch]) -> _Branch:
    """Return a choice for each place where every branch wants other values than the one given."""
    depths = {len(problem.path), len(problem.path) + 1}
    listed = [
        {each.path for each in branch if each.keyword in LISTED and len(each.path) in depths}
        for branch in branches
    ]
    found = []
    for path in set.intersection(*listed):
        wanted = [_at(branch, path, LISTED) for branch in branches]
        if any(options(each) != options(wanted[0]) for each in wanted):
            found.append(_choice(wanted))
    return found


def _lacking(problem: Problem, branches: list[_Branch]) -> _Branch:
    """Return the names that are missing in every branch, if they are the only problem of one."""
    names = [
        branch[0].expected
        for branch in branches
        if [(each.keyword, each.path) for each in branch] == [("required", problem.path)]
    ]
    if len(names) < len(branches):
        return ()
    common = tuple(name for name in names[0] if all(name in each for each in names))
    if common:
        return [branches[0][0]._replace(expected=common)]
    # Branches that lack many names more than the best are hardly meant.
    most = min(map(len, names)) + 2
    few = tuple((branch[0],) for branch in branches if len(branch[0].expected) <= most)
    return [problem._replace(branches=few)] if len(few) > 1 else few[0]


def _distance(branch: _Branch, parent: Problem) -> int:
    """Return the distance of a value from a branch; problems deep below one key count once.

    A wrong discriminator speaks against its branch most, names too many or too few come next.
    """
    costs: dict[str | int, int] = {}
    for problem in branch:
        below = problem.path[len(parent.path) :]
        cost, keys = 1 if len(below) > 1 else 2, below[:1] or ("",)
        if not below and problem.keyword in MISSING | SUPERFLUOUS:
            cost, keys = 3, problem.expected
        elif (
            len(below) == 1
            and problem.keyword in LISTED
            and _kind(problem.value) in map(_kind, options(problem))
        ):
            # a key that tells the branches apart has one value in each, or by convention a name
            name, is_only = str(below[0]).casefold(), len(options(problem)) == 1
            cost = 10 if is_only or name.endswith(("type", "kind")) else cost
        for key in keys:
            costs[key] = max(cost, costs.get(key, 0))
    return sum(costs.values())


_LONGEST_VALUE = 60
_LONGEST_PATTERN = 200
_LONGEST_LIST = 20


MAX_HINTS = 20
"""The number of lines of an explanation that have suggestions; finding them is slow."""


def describe(problem: Problem, *, with_hint: bool = True) -> str:
    """Return the requirement that a value breaks: ``must be an integer, not the string "five"``."""
    if problem.keyword == "enum":
        return _enum(problem, with_hint=with_hint)
    if problem.keyword in ("anyOf", "oneOf"):
        return _alternatives(problem, with_hint=with_hint)
    if problem.keyword in _WORDS:
        return _WORDS[problem.keyword](problem)
    return f"breaks {problem.keyword!r}: {shown(problem.expected)}"


def explanations(
    problems: Iterable[Problem], known: Callable[[Path], Collection[str]]
) -> list[tuple[Path, str]]:
    """Return up to ``MAX_PROBLEMS`` places where something is wrong, with what that is, in order.

    Missing and superfluous properties have the place that they have or would have. ``known``
    returns the names of the properties that the object at a place can have, for suggestions.
    """
    every = explained(problems)
    missing = {each.path: each.expected for each in every if each.keyword == "required"}
    found: list[tuple[Path, str]] = []
    for problem in every:
        if len(found) >= MAX_PROBLEMS:
            break
        path, keyword = problem.path, problem.keyword
        if keyword in _ABSENT:
            found += [((*path, name), _ABSENT[keyword]) for name in problem.expected]
        elif keyword in SUPERFLUOUS:
            names, lacking = problem.expected[:MAX_PROBLEMS], missing.get(path, ())
            hinted = names[: max(0, MAX_HINTS - len(found))]
            # A name that is given already is not what another was meant to be.
            others = {*known(path), *lacking}.difference(names) if hinted else {*lacking}
            near = {name: nearest(name, others) for name in hinted}
            # One too many and one too few: that is a rename, however unlike the names are.
            if len(names) == len(lacking) == 1:
                near = {name: each or lacking[0] for name, each in near.items()}
            free = {name: each for name, each in near.items() if each and each not in problem.value}
            found += [
                ((*path, name), f"is not a parameter{as_hint(free.get(name))}") for name in names
            ]
        else:
            found.append((path, describe(problem, with_hint=len(found) < MAX_HINTS)))
    return sorted(found, key=lambda line: in_order(line[0]))[:MAX_PROBLEMS]


_ABSENT = {
    "required": "is required",
    "dependentRequired": "is required because of what else is given",
}


def shown(value: JSON) -> str:
    """Return the value as JSON text, shortened to a few words."""
    if isinstance(value, str):
        value = value[:_LONGEST_VALUE]
    # each piece has at least one character
    return _cut("".join(islice(_encode(value), _LONGEST_VALUE + 1)), _LONGEST_VALUE)


# made once: ``json.dumps`` makes an encoder for each call that has options
_encode = json.JSONEncoder(ensure_ascii=False, default=repr).iterencode


def _cut(text: str, length: int = _LONGEST_PATTERN) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


MAX_MESSAGE = 4000
"""The number of characters of an exception that a model reads."""
MAX_NAME = 200
"""The number of characters of a name that the model invented."""


def brief(text: str, limit: int = MAX_MESSAGE, *, length: int | None = None) -> str:
    """Return the text, or its beginning and the omitted part of its ``length``."""
    left_out = (len(text) if length is None else length) - limit
    return text if left_out <= 0 else f"{text[:limit]}… [{left_out:,} characters omitted]"


def place(path: Path) -> str:
    """Return a path as people write it, odd keys in brackets: ``filters[0]['odd key']``."""
    return json_path(path).removeprefix("$").removeprefix(".")


def named(value: JSON) -> str:
    """Return the value with its type: ``the string "five"``; containers only by their type."""
    if isinstance(value, dict | list):
        return with_article(kind(value))
    if value is None:
        return "null"
    return f"the {kind(value)} {shown(value)}"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _articles(types: Iterable[str]) -> list[str]:
    return [with_article(name) for name in sorted(types)]


def _type(problem: Problem) -> str:
    value, types = problem.value, problem.expected
    return f"must be {one_of(_articles(types))}, not {named(value)}{as_text_of(value, types)}"


def as_text_of(value: JSON, types: Collection[str]) -> str:
    """Return advice if a value is JSON text of an array or object of those types; else ""."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):  # as models like to send it
        with suppress(ValueError, RecursionError):
            inner = kind(json.loads(value))
            if inner in types:
                return f"; give the {inner} itself, not JSON text of it"
    return ""


def _enum(problem: Problem, *, with_hint: bool) -> str:
    value, allowed = problem.value, problem.expected
    if not allowed:
        return f"can't be given now: it has no choices, so not {shown(value)}"
    near = None
    if isinstance(value, str) and with_hint:
        near = nearest(value, [each for each in allowed if isinstance(each, str)])
    alike = [] if near is None else [near]
    # "1" where 1 is meant, or another case; no one means a container by a slip
    if near is None and with_hint and not isinstance(value, dict | list):
        bare = _bare(value)
        alike = [each for each in allowed if _bare(each) == bare]
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
        text = canonical(item)
        if text in seen:
            return f"must not have the same item twice: {shown(item)}"
        seen.add(text)
    return "must not have the same item twice"


def _not(problem: Problem) -> str:
    if not isinstance(problem.expected, dict) or problem.expected.keys() != {"required"}:
        return f"must not be {shown(problem.value)}"
    names = [repr(name) for name in problem.expected["required"]]
    return f"must not have {' and '.join(names)}{' together' if len(names) > 1 else ''}"


def _alternatives(problem: Problem, *, with_hint: bool) -> str:
    if not problem.branches or not all(problem.branches):
        return "matches more than one of the alternatives, but must match exactly one"
    first, *more = causes = explained([problem])
    if more or first.path != problem.path or not first.branches:
        shortened = causes[:_LONGEST_LIST]
        places = [place(each.path[len(problem.path) :]) for each in shortened]
        texts = [describe(each, with_hint=with_hint) for each in shortened]
        found = zip(places, texts, strict=True)
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
    "format": lambda problem: f"isn't a valid {problem.expected}: {shown(problem.value)}",
    "uniqueItems": _repeated,
    "unevaluatedItems": lambda _: "has an item too many",
    "contains": lambda _: "has too few or too many of the items that it must contain",
    "propertyNames": lambda problem: f"has a key that is not allowed: {shown(problem.value)}",
    "not": _not,
    "false": lambda _: "is not allowed here",
    "schema": lambda _: "does not match its schema",
}
