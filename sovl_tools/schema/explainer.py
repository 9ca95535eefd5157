"""Finds a schema's problems with a value, one place at a time, with an engine's yes or no.

An engine returns all its errors at once, with the errors of each alternative nested inside: for a
recursive union and a small value these are a thousand million. This search opens an alternative
only when the explanation needs it. It measures the engine's time and stops at a maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from time import thread_time
from typing import Final, TypeAlias

from sovl_tools.model.document import JSON, Path, value_at
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.problem import (
    MAX_PROBLEMS,
    UNEXPLAINED,
    Branches,
    Problem,
    deduplicated,
)
from sovl_tools.schema.subschemas import SchemaNode, detached, is_static, lookup

IsValid: TypeAlias = Callable[[JSON], bool]
Compile: TypeAlias = Callable[[JSON], IsValid]

MAX_SECONDS: Final = 1.0
"""The time that an engine may work for the problems of a value, and for their alternatives."""
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
        search = _Search(self)
        found = [*islice(search.problems(self._node, value, ()), MAX_PROBLEMS)]
        search.left = MAX_SECONDS  # for their alternatives
        return deduplicated(found)

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


class _Search:
    """One search for problems.

    Attributes:
        left: the seconds that the engine may still work.
    """

    def __init__(self, explainer: Explainer) -> None:
        self.left = MAX_SECONDS
        self._explainer = explainer

    def problems(self, node: SchemaNode, value: JSON, path: Path) -> Iterator[Problem]:
        """Yield the problems of a subschema with the value at a path."""
        if not self.fits(node, value):
            yield from self.rejected(node, value, path)

    def rejected(self, node: SchemaNode, value: JSON, path: Path) -> Iterator[Problem]:
        """Yield the problems with a value that a subschema rejects: at least one."""
        schema: JSON = node.schema
        if schema is False:
            yield Problem("false", path, value)
            return
        is_found = False
        try:
            # the unevaluated keywords depend on all others
            for keyword in sorted(schema, key=lambda each: each.startswith("unevaluated")):
                search = _SEARCHES.get(keyword)
                if search is not None and not (keyword == "unevaluatedItems" and is_found):
                    for problem in search(self, node, keyword, value, path):
                        is_found = True
                        yield problem
        except (_OverMaximumError, RecursionError):
            pass
        if not is_found:
            yield Problem("schema", path, value)

    def below(self, node: SchemaNode, place: Path, value: JSON, path: Path) -> Iterator[Problem]:
        """Yield the problems of the subschema at a place below."""
        return self.problems(_at(node, place), value, path)

    def fits(self, node: SchemaNode, value: JSON) -> bool:
        """Return True if a value matches a subschema."""
        return self._ask(("fits", node.path, ""), lambda: detached(node), value)

    def meets(self, node: SchemaNode, keyword: str, value: JSON) -> bool:
        """Return True if a value meets a keyword that has no subschemas."""
        key = "meets", node.path, keyword
        return self._ask(key, lambda: {keyword: node.schema[keyword]}, value)

    def matches(self, pattern: str, name: str) -> bool:
        """Return True if a pattern is found in a name."""
        return self._ask(("matches", (), pattern), lambda: {"pattern": pattern}, name)

    def _ask(self, key: _Key, make: Callable[[], JSON], value: JSON) -> bool:
        if self.left <= 0:
            raise _OverMaximumError
        start = thread_time()
        try:
            return self._explainer.question(key, make)(value)
        finally:
            self.left -= thread_time() - start

    def assertion(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        if not self.meets(node, keyword, value):
            yield Problem(keyword, path, value, _expected(keyword, node.schema[keyword], value))

    def contains(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        def make() -> JSON:
            bounds = {key: node.schema[key] for key in _COUNTS if key in node.schema}
            return {keyword: detached(_at(node, (keyword,))), **bounds}

        if not self._ask(("meets", node.path, keyword), make, value):
            yield Problem(keyword, path, value)

    def reference(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        reference = node.schema[keyword]
        if keyword == "$ref" or is_static(node.root, reference):
            found = lookup(node.root, reference)
            if found.target is not None:
                target = node._replace(schema=found.target, path=(*node.base, *found.path))
                yield from self.problems(target, value, path)

    def all_of(self, node: SchemaNode, keyword: str, value: JSON, path: Path) -> Iterator[Problem]:
        for index in range(len(node.schema[keyword])):
            yield from self.below(node, (keyword, index), value, path)

    def one_of(self, node: SchemaNode, keyword: str, value: JSON, path: Path) -> Iterator[Problem]:
        places = [(keyword, index) for index in range(len(node.schema[keyword]))]
        fitting = sum(self.fits(_at(node, place), value) for place in places)
        if not fitting:

            def branches() -> list[tuple[Problem, ...]]:
                searches = [self.rejected(_at(node, place), value, path) for place in places]
                return [tuple(deduplicated([*islice(each, _MOST_IN_BRANCH)])) for each in searches]

            yield Problem(keyword, path, value, branches=Branches(branches))
        elif keyword == "oneOf" and fitting > 1:
            yield Problem(keyword, path, value)

    def negation(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        if self.fits(_at(node, (keyword,)), value):
            yield Problem(keyword, path, value, node.schema[keyword])

    def condition(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        following = "then" if self.fits(_at(node, (keyword,)), value) else "else"
        if following in node.schema:
            yield from self.below(node, (following,), value, path)

    def dependent(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        for name, needed in node.schema[keyword].items():
            if not isinstance(value, dict) or name not in value:
                continue
            if not isinstance(needed, list):
                yield from self.below(node, (keyword, name), value, path)
            elif lacking := tuple(each for each in needed if each not in value):
                yield Problem("dependentRequired", path, value, lacking)

    def properties(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        for name in node.schema[keyword]:
            if isinstance(value, dict) and name in value:
                yield from self.below(node, (keyword, name), value[name], (*path, name))

    def patterns(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        for pattern in node.schema[keyword] if isinstance(value, dict) else ():
            names = [name for name in value if self.matches(pattern, name)]
            for name in names:
                yield from self.below(node, (keyword, pattern), value[name], (*path, name))

    def additional(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        if not isinstance(value, dict):
            return
        names = [name for name in value if not self._is_listed(node.schema, name)]
        if node.schema[keyword] is False and names:
            yield Problem(keyword, path, value, tuple(names[:MAX_PROBLEMS]))
            return
        for name in names:
            yield from self.below(node, (keyword,), value[name], (*path, name))

    def _is_listed(self, schema: Mapping[str, JSON], name: str) -> bool:
        return name in schema.get("properties", ()) or any(
            self.matches(pattern, name) for pattern in schema.get("patternProperties", ())
        )

    def names(self, node: SchemaNode, keyword: str, value: JSON, path: Path) -> Iterator[Problem]:
        if isinstance(value, dict):
            below = _at(node, (keyword,))
            rejected = (name for name in value if not self.fits(below, name))
            yield from (Problem(keyword, path, name) for name in islice(rejected, 1))

    def prefix(self, node: SchemaNode, keyword: str, value: JSON, path: Path) -> Iterator[Problem]:
        if isinstance(value, list):
            for index, item in enumerate(value[: len(node.schema[keyword])]):
                yield from self.below(node, (keyword, index), item, (*path, index))

    def items(self, node: SchemaNode, keyword: str, value: JSON, path: Path) -> Iterator[Problem]:
        if isinstance(value, list):
            begin = len(node.schema.get("prefixItems", ()))
            for index, item in enumerate(value[begin:], begin):
                yield from self.below(node, (keyword,), item, (*path, index))

    def unevaluated_items(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        del node
        if isinstance(value, list):
            yield Problem(keyword, path, value)

    def unevaluated_properties(
        self, node: SchemaNode, keyword: str, value: JSON, path: Path
    ) -> Iterator[Problem]:
        if not isinstance(value, dict):
            return
        known = [*self._applied(node._replace(schema=_without(node.schema, keyword)), value)]
        if any(_TAKING_ALL & schema.keys() for schema in known):
            return
        below = _at(node, (keyword,))
        rejected = (
            name
            for name, each in value.items()
            if not any(self._is_listed(schema, name) for schema in known)
            and not self.fits(below, each)
        )
        if found := tuple(islice(rejected, MAX_PROBLEMS)):
            yield Problem(keyword, path, value, found)

    def _applied(self, node: SchemaNode, value: JSON) -> Iterator[dict[str, JSON]]:
        """Yield a schema and its subschemas that apply to the same value and accept it."""
        schema = node.schema
        yield schema
        places: list[Path] = [
            (key, index) for key in _LISTS for index in range(len(schema.get(key, ())))
        ]
        places += [("dependentSchemas", key) for key in schema.get("dependentSchemas", ())]
        if "if" in schema:
            is_met = self.fits(_at(node, ("if",)), value)
            places += [("if",), ("then",)] if is_met else [("else",)]
        applied = [_at(node, each) for each in places if each[0] in schema]
        found = lookup(node.root, schema["$ref"]) if "$ref" in schema else None
        if found is not None and found.target is not None:
            applied.append(node._replace(schema=found.target, path=(*node.base, *found.path)))
        for each in applied:
            below: JSON = each.schema
            if isinstance(below, dict) and self.fits(each, value):
                yield from self._applied(each, value)


_ASSERTIONS = (
    *("type", "const", "enum", "required", "dependentRequired", "pattern", "format"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
)
_COUNTS = ("minContains", "maxContains")
_LISTS = ("allOf", "anyOf", "oneOf")
_TAKING_ALL = {"additionalProperties", "unevaluatedProperties"}

_SEARCHES: dict[str, Callable[[_Search, SchemaNode, str, JSON, Path], Iterator[Problem]]] = {
    **dict.fromkeys(_ASSERTIONS, _Search.assertion),
    **dict.fromkeys(("$ref", "$dynamicRef"), _Search.reference),
    **dict.fromkeys(("anyOf", "oneOf"), _Search.one_of),
    "allOf": _Search.all_of,
    "not": _Search.negation,
    "if": _Search.condition,
    **dict.fromkeys(("dependentSchemas", "dependencies"), _Search.dependent),
    "contains": _Search.contains,
    "properties": _Search.properties,
    "patternProperties": _Search.patterns,
    "additionalProperties": _Search.additional,
    "propertyNames": _Search.names,
    "prefixItems": _Search.prefix,
    "items": _Search.items,
    "unevaluatedItems": _Search.unevaluated_items,
    "unevaluatedProperties": _Search.unevaluated_properties,
}
"""How the problems with each keyword are found."""


def _at(node: SchemaNode, place: Path) -> SchemaNode:
    """Return the subschema at a place below another; it can be true or false."""
    return node._replace(schema=value_at(node.schema, place), path=(*node.path, *place))


def _without(schema: dict[str, JSON], keyword: str) -> dict[str, JSON]:
    return {key: each for key, each in schema.items() if key != keyword}


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
