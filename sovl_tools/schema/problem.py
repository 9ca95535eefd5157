"""What a schema refuses, in terms that no engine owns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, kind

UNEXPLAINED = frozenset({"contains", "propertyNames", "uniqueItems", "unevaluatedItems", "false"})
"""Keywords whose problems need no expectation to be told."""

MISSING = frozenset({"required", "dependentRequired"})
SUPERFLUOUS = frozenset({"additionalProperties", "unevaluatedProperties"})
LISTED = frozenset({"const", "enum"})
COMBINATORS = frozenset({"anyOf", "oneOf"})
ONE_FOR = {"minContains": "contains", "maxContains": "contains"}
"""Keywords that are told under the name of another one."""


class Problem(NamedTuple):
    """One place where a value breaks its schema.

    Attributes:
        keyword: the JSON Schema keyword that refuses it; ``"false"`` for the schema ``false``.
        path: from the root of the value to the place.
        value: what stands there; for ``propertyNames`` the name.
        expected: what the keyword asks for: the types for ``type``, the missing names for
            ``required``, the superfluous ones for ``additionalProperties``, None for
            ``UNEXPLAINED`` ones, else the keyword's value.
        branches: for ``anyOf`` and ``oneOf``, the problems of each branch; without them, or
            with an empty one, the value fits more than one.
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


def deduplicated(problems: list[Problem]) -> list[Problem]:
    """Return the problems with those of one place and keyword made one."""
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
    """Return the problems in order of place, ``anyOf`` and ``oneOf`` told by their best branch.

    Of several branches that name a discriminator the one counts whose value is given; if none is,
    the discriminator alone is a problem, an ``enum`` of what the branches allow. ``anyOf`` and
    ``oneOf`` stay where the branches are equally far off: with a ``type``, ``const`` or ``enum``
    of the place itself in each branch, or with ``required`` alone in each.
    """
    every = [each for problem in problems for each in _resolved(problem)]
    # Who reads which values are allowed need not read of which type they are.
    listed = {each.path for each in every if each.keyword in LISTED}
    every = [each for each in every if each.keyword != "type" or each.path not in listed]
    return sorted(deduplicated(every), key=lambda each: (in_order(each.path), each.keyword))


def in_order(path: Path) -> list[tuple[bool, str | int]]:
    """Return a key to sort paths by, indexes before keys."""
    return [(isinstance(part, str), part) for part in path]


_Branch: TypeAlias = Sequence[Problem]


def _resolved(problem: Problem) -> _Branch:
    if not problem.branches:
        return [problem]
    if not all(problem.branches):  # it fits more than one
        return [problem._replace(branches=())]
    branches: list[_Branch] = []
    for branch in problem.branches:
        inner = explained(branch)
        first = inner[0]
        # A branch that is a union itself, and undecided, stands for its own branches.
        is_union = len(inner) == 1 and first.path == problem.path and first.branches
        branches += first.branches if is_union else [inner]
    alike: list[_Branch] = []
    given = _kind(problem.value)
    for candidate in branches:
        here = [each for each in candidate if each.path == problem.path]
        # one that takes values of another kind than the one that is given can't be meant
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
    """Return what is missing whichever branch is meant, if nothing else is wrong with any."""
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
    """Return how far a value is from a branch; what is wrong deep below one key counts once.

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
