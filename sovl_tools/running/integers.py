"""``2.0`` is an integer to JSON Schema; a function that wants one gets ``2``."""

from __future__ import annotations

from sovl_tools.loading.references import lookup
from sovl_tools.model.document import JSON

_MAX_REFERENCES = 16


def with_integers(value: JSON, schema: JSON) -> JSON:
    """Return a valid value in which whole numbers are ints wherever the schema says integer."""
    return _Converter(schema).convert(value, schema, 0)


class _Converter:
    """Walks a value along its schema; the root is where references are looked up."""

    def __init__(self, root: JSON) -> None:
        self._root = root

    def convert(self, value: JSON, schema: JSON, references: int) -> JSON:
        if not isinstance(schema, dict):
            return value
        if isinstance(value, float):
            value = _converted(value, schema)
        elif isinstance(value, dict):
            value = {key: self._member(key, each, schema) for key, each in value.items()}
        elif isinstance(value, list):
            value = [self._item(index, each, schema) for index, each in enumerate(value)]
        for part in self._applied(schema, references):
            value = self.convert(value, part, references + 1)
        return value

    def _member(self, key: str, value: JSON, schema: dict[str, JSON]) -> JSON:
        properties = schema.get("properties", {})
        part = properties[key] if key in properties else schema.get("additionalProperties")
        return self.convert(value, part, 0)

    def _item(self, index: int, value: JSON, schema: dict[str, JSON]) -> JSON:
        first = schema.get("prefixItems", ())
        return self.convert(value, first[index] if index < len(first) else schema.get("items"), 0)

    def _applied(self, schema: dict[str, JSON], references: int) -> list[JSON]:
        """Return the other schemas that the same value has to fit."""
        if references > _MAX_REFERENCES:
            return []
        parts = [each for key in ("allOf", "anyOf", "oneOf") for each in schema.get(key, ())]
        parts += [schema[key] for key in ("then", "else") if key in schema]
        if isinstance(schema.get("$ref"), str):
            parts.append(lookup(self._root, schema["$ref"]).target)
        return parts


def _converted(value: float, schema: dict[str, JSON]) -> int | float:
    kinds = schema.get("type", ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    wanted = "integer" in kinds and "number" not in kinds and value.is_integer()
    return int(value) if wanted else value
