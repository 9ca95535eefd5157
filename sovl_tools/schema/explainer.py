"""Finds a schema's problems with a value, one place at a time, with an engine's yes or no.

An engine returns all its errors at once, with the errors of each alternative nested inside: for a
recursive union and a small value these are a thousand million. This search has a maximum of time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from time import thread_time
from typing import Final, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, value_at
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.names import names_at
from sovl_tools.schema.problem import MAX_PROBLEMS, UNEXPLAINED, Problem, deduplicated
from sovl_tools.schema.subschemas import SchemaNode, detached, places_of

IsValid: TypeAlias = Callable[[JSON], bool]
Compile: TypeAlias = Callable[[JSON], IsValid]

MAX_SECONDS: Final = 1.0
"""The time that the search for the problems of one value may take."""
_MOST_IN_BRANCH = 100
"""The maximum number of problems of an alternative."""

_Key: TypeAlias = tuple[str, Path, str]


class Explainer:
    """Explains what one schema rejects.

    Args:
        compile_schema: returns an engine's check whether a value matches a schema.
        node: the schema; each part of it is compiled when it is needed first.
    """

    def __init__(self, compile_schema: Compile, node: SchemaNode) -> None:
        self._compile = compile_schema
        self._node = node
        self._questions: dict[_Key, IsValid] = {}

    def problems(self, value: JSON) -> list[Problem]:
        """Return the problems of a value, each place and keyword once, up to a maximum."""
        found = _Search(self).problems(_At(self._node, value, ()))
        return deduplicated([*islice(found, MAX_PROBLEMS)])

    def question(self, key: _Key, make: Callable[[], JSON]) -> IsValid:
        """Return a part of the schema, compiled when it is needed first."""
        if key not in self._questions:
            try:
                self._questions[key] = self._compile(make())
            except SchemaError:  # it makes sense only within the whole
                self._questions[key] = bool
        return self._questions[key]


class _OverMaximumError(Exception):
    """A search would take more time than one may."""


class _At(NamedTuple):
    """A value, its path, and the subschema that it must match."""

    node: SchemaNode
    value: JSON
    path: Path

    @property
    def schema(self) -> JSON:
        return self.node.schema

    def under(self, *place: str | int) -> _At:
        """Return the same value with the subschema at a place below."""
        node = self.node
        schema = value_at(node.schema, place)
        return self._replace(node=node._replace(schema=schema, path=(*node.path, *place)))

    def problem(self, keyword: str, expected: JSON = None) -> Problem:
        return Problem(keyword, self.path, self.value, expected)


_Found: TypeAlias = Iterator[Problem]


class _Search:
    """One search for problems."""

    def __init__(self, explainer: Explainer) -> None:
        self._explainer = explainer
        self._end = thread_time() + MAX_SECONDS

    def problems(self, at: _At) -> _Found:
        """Yield the problems of a value."""
        if not self.fits(at):
            yield from self.rejected(at)

    def rejected(self, at: _At) -> _Found:
        """Yield the problems of a value that is certainly rejected: at least one."""
        if at.schema is False:
            yield at.problem("false")
            return
        is_found = False
        try:
            for search in (self.by_keyword, self.members, self.unevaluated):
                # the unevaluated keywords depend on all others
                for problem in search(at) if search != self.unevaluated or not is_found else ():
                    is_found = True
                    yield problem
        except (_OverMaximumError, RecursionError):
            pass
        if not is_found:
            yield at.problem("schema")

    def by_keyword(self, at: _At) -> _Found:
        for keyword in at.schema:
            if keyword in _SEARCHES:
                yield from _SEARCHES[keyword](self, at, keyword)

    def fits(self, at: _At) -> bool:
        """Return True if the value matches."""
        return self._ask(("fits", at.node.path, ""), lambda: detached(at.node), at.value)

    def matches(self, pattern: str, name: str) -> bool:
        """Return True if a pattern is found in a name."""
        return self._ask(("matches", (), pattern), lambda: {"pattern": pattern}, name)

    def _ask(self, key: _Key, make: Callable[[], JSON], value: JSON) -> bool:
        if thread_time() > self._end:
            raise _OverMaximumError
        return self._explainer.question(key, make)(value)

    def assertion(self, at: _At, keyword: str) -> _Found:
        said = {keyword: at.schema[keyword]}
        if not self._ask(("meets", at.node.path, keyword), lambda: said, at.value):
            yield at.problem(keyword, _expected(keyword, at.schema[keyword], at.value))

    def contains(self, at: _At, keyword: str) -> _Found:
        counts = {key: at.schema[key] for key in ("minContains", "maxContains") if key in at.schema}
        inner = at.under(keyword).node
        if not self._ask(
            ("meets", at.node.path, keyword), lambda: {keyword: detached(inner), **counts}, at.value
        ):
            yield at.problem(keyword)

    def reference(self, at: _At, _: str) -> _Found:
        target = at.node.target()
        if target is not None:
            yield from self.problems(at._replace(node=target))

    def all_of(self, at: _At, keyword: str) -> _Found:
        for index in range(len(at.schema[keyword])):
            yield from self.problems(at.under(keyword, index))

    def one_of(self, at: _At, keyword: str) -> _Found:
        cases = [at.under(keyword, index) for index in range(len(at.schema[keyword]))]
        fitting = sum(map(self.fits, cases))
        if not fitting:
            searches = [islice(self.rejected(each), _MOST_IN_BRANCH) for each in cases]
            branches = [tuple(deduplicated([*each])) for each in searches]
            yield at.problem(keyword)._replace(branches=branches)
        elif keyword == "oneOf" and fitting > 1:
            yield at.problem(keyword)

    def negation(self, at: _At, keyword: str) -> _Found:
        if self.fits(at.under(keyword)):
            yield at.problem(keyword, at.schema[keyword])

    def condition(self, at: _At, keyword: str) -> _Found:
        following = "then" if self.fits(at.under(keyword)) else "else"
        if following in at.schema:
            yield from self.problems(at.under(following))

    def dependent(self, at: _At, keyword: str) -> _Found:
        for name in at.schema[keyword] if isinstance(at.value, dict) else ():
            if name in at.value:
                yield from self.problems(at.under(keyword, name))

    def members(self, at: _At) -> _Found:
        """Yield the problems of the members of an object, or of the items of an array."""
        value, path, superfluous = at.value, at.path, []
        if not isinstance(value, dict | list) or _OF_MEMBERS.isdisjoint(at.schema):
            return
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            for place in places_of(at.schema, key, self.matches):
                if place == ("additionalProperties",) and at.schema[place[0]] is False:
                    superfluous.append(key)
                else:
                    below = at.under(*place)._replace(value=each, path=(*path, key))
                    yield from self.problems(below)
        if superfluous:
            yield at.problem("additionalProperties", tuple(superfluous[:MAX_PROBLEMS]))

    def names(self, at: _At, keyword: str) -> _Found:
        below = at.under(keyword)
        names = at.value if isinstance(at.value, dict) else ()
        rejected = (name for name in names if not self.fits(below._replace(value=name)))
        for name in islice(rejected, 1):
            yield at._replace(value=name).problem(keyword)

    def unevaluated(self, at: _At) -> _Found:
        """Yield one problem for all names that the schema lists nowhere."""
        if "unevaluatedItems" in at.schema and isinstance(at.value, list):
            yield at.problem("unevaluatedItems")
        keyword = "unevaluatedProperties"
        if keyword not in at.schema or not isinstance(at.value, dict):
            return
        known, below = names_at(at.node).places, at.under(keyword)
        names = (
            name
            for name, each in at.value.items()
            if name not in known
            and not places_of(at.schema, name, self.matches)
            and not self.fits(below._replace(value=each))
        )
        if found := tuple(islice(names, MAX_PROBLEMS)):
            yield at.problem(keyword, found)


_ASSERTIONS = (
    *("type", "const", "enum", "required", "dependentRequired", "pattern", "format"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
)

_SEARCHES: dict[str, Callable[[_Search, _At, str], _Found]] = {
    **dict.fromkeys(_ASSERTIONS, _Search.assertion),
    "$ref": _Search.reference,
    **dict.fromkeys(("anyOf", "oneOf"), _Search.one_of),
    "allOf": _Search.all_of,
    "not": _Search.negation,
    "if": _Search.condition,
    "dependentSchemas": _Search.dependent,
    "contains": _Search.contains,
    "propertyNames": _Search.names,
}
"""How the problems with each keyword are found, apart from those in members."""
_OF_MEMBERS = frozenset(
    {"prefixItems", "items", "properties", "patternProperties", "additionalProperties"}
)


def _expected(keyword: str, wanted: JSON, value: JSON) -> JSON:
    """Return the requirement of a keyword; see ``Problem``."""
    if keyword in UNEXPLAINED:
        return None
    if keyword == "type":
        return (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if keyword == "dependentRequired":
        needed = (name for key, names in wanted.items() if key in value for name in names)
        wanted = dict.fromkeys(needed)
    elif keyword != "required":
        return wanted
    return tuple(name for name in wanted if name not in value)
