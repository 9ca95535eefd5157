"""Schemas that demand every property, and what undoes that.

Where a provider wants every property to be required, an optional one may be null instead. Such a
null is taken out again before the tool is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sovl_tools.formats.shape import Compile
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
    return {**made, "enum": [*schema["enum"], None]} if "enum" in schema else made


def accepts_null(schema: dict[str, JSON], definitions: Mapping[str, JSON]) -> bool:
    """Tell whether a narrowed schema admits null."""
    seen: list[str] = []
    while "$ref" in schema:
        if schema["$ref"] in seen or schema["$ref"] == "#":
            return False
        seen.append(schema["$ref"])
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        return any(accepts_null(each, definitions) for each in schema["anyOf"])
    types = schema["type"]
    if "null" not in (types if isinstance(types, list) else [types]):
        return False
    values = [schema["const"]] if "const" in schema else schema.get("enum", [None])
    return None in values


def undoing(schema: dict[str, JSON]) -> Undoing | None:
    """Return what undoes ``demanding`` of that schema in arguments; None if there is nothing."""
    every = [schema, *schema.get("$defs", {}).values()]
    return Undoing(schema) if any(map(_has_optional, every)) else None


def _has_optional(schema: dict[str, JSON]) -> bool:
    properties = schema.get("properties", {})
    if len(properties) > len(schema.get("required", ())):
        return True
    inner = [*properties.values(), *schema.get("anyOf", ())]
    inner += [schema["items"]] if "items" in schema else []
    return any(map(_has_optional, inner))


class Undoing:
    """Takes nulls out of arguments that stand for properties left out.

    ``schema`` is what the arguments have to be afterwards, a narrowed schema.
    """

    def __init__(self, schema: dict[str, JSON]) -> None:
        self.schema = schema
        self._checks: dict[int, Callable[[JSON], bool]] = {}

    def __call__(self, arguments: dict[str, JSON], compile_schema: Compile) -> dict[str, JSON]:
        """Return the arguments without such nulls; what does not fit the schema stays as it is."""
        found: dict[str, JSON] = self._undone(arguments, self.schema, compile_schema)
        return found

    def _undone(self, value: JSON, schema: dict[str, JSON], compile_schema: Compile) -> JSON:
        schema = self._followed(schema)
        if "anyOf" in schema:
            return self._chosen(value, schema["anyOf"], compile_schema)
        if isinstance(value, dict) and "properties" in schema:
            return {
                name: self._undone(each, schema["properties"].get(name, {}), compile_schema)
                for name, each in value.items()
                if each is not None or not self._is_left_out(name, schema)
            }
        if isinstance(value, list) and "items" in schema:
            return [self._undone(each, schema["items"], compile_schema) for each in value]
        return value

    def _followed(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        while "$ref" in schema:
            if schema["$ref"] == "#":
                return self.schema
            schema = self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def _is_left_out(self, name: str, schema: dict[str, JSON]) -> bool:
        known = schema["properties"].get(name)
        if known is None or name in schema["required"]:
            return False
        return not accepts_null(known, self.schema.get("$defs", {}))

    def _chosen(
        self, value: JSON, branches: list[dict[str, JSON]], compile_schema: Compile
    ) -> JSON:
        """Return a value as the first alternative wants it that it then fits."""
        if not isinstance(value, dict | list):
            return value
        for branch in branches:
            found = self._undone(value, branch, compile_schema)
            if len(branches) == 1 or self._fits(found, branch, compile_schema):
                return found
        return value

    def _fits(self, value: JSON, branch: dict[str, JSON], compile_schema: Compile) -> bool:
        if id(branch) not in self._checks:
            whole = {**_rerooted(branch), "$defs": self._definitions()}
            self._checks[id(branch)] = compile_schema(whole)
        return self._checks[id(branch)](value)

    def _definitions(self) -> dict[str, JSON]:
        """Return all definitions, and the schema itself as one of them."""
        definitions = {**self.schema.get("$defs", {}), _ROOT: {**self.schema, "$defs": {}}}
        return {name: _rerooted(each) for name, each in definitions.items()}


_ROOT = "(root)"


def _rerooted(schema: JSON) -> JSON:
    """Return a narrowed schema that can stand in another one: ``#`` leads to a definition."""
    if isinstance(schema, list):
        return [_rerooted(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: value if key in {"enum", "const"} else _rerooted(value)
        for key, value in schema.items()
    }
    return {**made, "$ref": f"#/$defs/{_ROOT}"} if schema.get("$ref") == "#" else made
