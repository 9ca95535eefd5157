"""Schemas that demand every property, and what undoes that.

Where a provider wants every property to be required, an optional one may be null instead. Such a
null is taken out again before the tool is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice, product

from sovl_tools.formats.base import Compile
from sovl_tools.model.document import JSON

_NULL: dict[str, JSON] = {"type": "null"}
_OUTSIDE = ("title", "description")


def demanding(schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return a narrowed schema in which every property is required, and null where it was not."""
    definitions = schema.get("$defs", {})
    made = _demanding(schema, definitions)
    if definitions:
        made["$defs"] = {name: _demanding(each, definitions) for name, each in definitions.items()}
    return made


def _demanding(schema: dict[str, JSON], definitions: Mapping[str, JSON]) -> dict[str, JSON]:
    made = dict(schema)
    if "anyOf" in schema:
        made["anyOf"] = [_demanding(each, definitions) for each in schema["anyOf"]]
    if "items" in schema:
        made["items"] = _demanding(schema["items"], definitions)
    if "properties" in schema:
        required, inner = schema["required"], {}
        for name, each in schema["properties"].items():
            found = _demanding(each, definitions)
            inner[name] = found if name in required else _nullable(found, definitions)
        made.update(properties=inner, required=list(inner))
    return made


def _nullable(schema: dict[str, JSON], definitions: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a schema that admits null beside what it admits."""
    if accepts_null(schema, definitions):
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], _NULL]}
    if "$ref" in schema or "const" in schema:
        outside = {key: schema[key] for key in _OUTSIDE if key in schema}
        inside = {key: each for key, each in schema.items() if key not in outside}
        return {"anyOf": [inside, _NULL], **outside}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    made = {**schema, "type": types if "null" in types else [*types, "null"]}
    if "enum" in schema and None not in schema["enum"]:
        made["enum"] = [*schema["enum"], None]
    return made


def accepts_null(
    schema: dict[str, JSON], definitions: Mapping[str, JSON], seen: tuple[str, ...] = ()
) -> bool:
    """Tell whether a narrowed schema admits null; ``seen`` are references on the way to it."""
    while "$ref" in schema:
        reference: str = schema["$ref"]
        if reference in seen or reference == "#":
            return False
        seen = (*seen, reference)
        schema = definitions[reference.removeprefix("#/$defs/")]
    if "anyOf" in schema:
        return any(accepts_null(each, definitions, seen) for each in schema["anyOf"])
    types = schema["type"]
    if "null" not in (types if isinstance(types, list) else [types]):
        return False
    values = [schema["const"]] if "const" in schema else schema.get("enum", [None])
    return None in values


def undoing(schema: dict[str, JSON], parameters: dict[str, JSON]) -> Undoing | None:
    """Return what undoes ``demanding`` of a schema in arguments; None if there is nothing.

    ``parameters`` is the schema of the manifest, which the arguments have to fit in the end.
    """
    every = [schema, *schema.get("$defs", {}).values()]
    return Undoing(schema, parameters) if any(map(_has_optional, every)) else None


def _has_optional(schema: dict[str, JSON]) -> bool:
    properties = schema.get("properties", {})
    if len(properties) > len(schema.get("required", ())):
        return True
    inner = [*properties.values(), *schema.get("anyOf", ())]
    inner += [schema["items"]] if "items" in schema else []
    return any(map(_has_optional, inner))


_MOST = 64
"""So many ways to read a value are tried."""


class Undoing:
    """Takes nulls out of arguments that stand for properties left out.

    Where a null may stand for itself as well, or a value for several alternatives, the manifest
    decides: the first way to read the arguments that fits it is taken.
    """

    def __init__(self, schema: dict[str, JSON], parameters: dict[str, JSON]) -> None:
        self._schema = schema
        self._parameters = parameters
        self._checks: dict[int, Callable[[JSON], bool]] = {}

    def __call__(self, arguments: dict[str, JSON], compile_schema: Compile) -> dict[str, JSON]:
        """Return the arguments without such nulls; what does not fit the schema stays as it is."""
        ways: list[dict[str, JSON]] = self._ways(arguments, self._schema, compile_schema)
        if len(ways) == 1:
            return ways[0]
        if id(self) not in self._checks:
            self._checks[id(self)] = compile_schema(self._parameters)
        fits = self._checks[id(self)]
        return next((each for each in ways if fits(each)), ways[0])

    def _ways(self, value: JSON, schema: dict[str, JSON], compile_schema: Compile) -> list[JSON]:
        """Return the ways to read a value, the likeliest first."""
        schema = self._followed(schema)
        if not isinstance(value, dict | list):
            return [value]
        if "anyOf" in schema:
            return self._alternatives(value, schema["anyOf"], compile_schema)
        if isinstance(value, dict) and "properties" in schema:
            return self._ways_of_object(value, schema, compile_schema)
        if isinstance(value, list) and "items" in schema:
            items = (self._ways(each, schema["items"], compile_schema) for each in value)
            return [list(each) for each in islice(product(*items), _MOST)]
        return [value]

    def _ways_of_object(
        self, value: dict[str, JSON], schema: dict[str, JSON], compile_schema: Compile
    ) -> list[JSON]:
        members: list[list[tuple[tuple[str, JSON], ...]]] = []
        for name, each in value.items():
            known = schema["properties"].get(name)
            kept: list[tuple[tuple[str, JSON], ...]]
            if known is None or each is not None or name in schema["required"]:
                ways = [each] if known is None else self._ways(each, known, compile_schema)
                kept = [((name, way),) for way in ways]
            elif accepts_null(known, self._schema.get("$defs", {})):
                kept = [((name, None),), ()]
            else:
                kept = [()]
            members.append(kept)
        found = islice(product(*members), _MOST)
        return [dict(pair for each in way for pair in each) for way in found]

    def _followed(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        while "$ref" in schema:
            if schema["$ref"] == "#":
                return self._schema
            schema = self._schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def _alternatives(
        self, value: JSON, branches: list[dict[str, JSON]], compile_schema: Compile
    ) -> list[JSON]:
        """Return the ways in which a value is one of the alternatives."""
        found = [
            way
            for branch in branches
            for way in self._ways(value, branch, compile_schema)
            if len(branches) == 1 or self._fits(way, branch, compile_schema)
        ]
        different = [each for index, each in enumerate(found) if each not in found[:index]]
        return different[:_MOST] or [value]

    def _fits(self, value: JSON, branch: dict[str, JSON], compile_schema: Compile) -> bool:
        if id(branch) not in self._checks:
            whole = {**_rerooted(branch), "$defs": self._definitions()}
            self._checks[id(branch)] = compile_schema(whole)
        return self._checks[id(branch)](value)

    def _definitions(self) -> dict[str, JSON]:
        """Return all definitions, and the schema itself as one of them."""
        definitions = {**self._schema.get("$defs", {}), _ROOT: {**self._schema, "$defs": {}}}
        return {name: _rerooted(each) for name, each in definitions.items()}


_ROOT = "(root)"


def _rerooted(schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return a narrowed schema that can stand in another one: ``#`` leads to a definition."""
    if schema.get("$ref") == "#":
        return {**schema, "$ref": f"#/$defs/{_ROOT}"}
    made = dict(schema)
    if "anyOf" in schema:
        made["anyOf"] = [_rerooted(each) for each in schema["anyOf"]]
    if "items" in schema:
        made["items"] = _rerooted(schema["items"])
    if "properties" in schema:
        made["properties"] = {name: _rerooted(each) for name, each in schema["properties"].items()}
    return made
