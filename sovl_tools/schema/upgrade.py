"""Schemas of older drafts, of OpenAPI 3.0 and of Gemini, rewritten in draft 2020-12."""

from __future__ import annotations

from typing import ClassVar

from sovl_tools.model.aliases import TYPES
from sovl_tools.model.document import JSON, JSON_KINDS, Path, pointer
from sovl_tools.schema.keywords import ANNOTATIONS, COMBINING, IDENTITY
from sovl_tools.schema.requests import Requests
from sovl_tools.schema.rewrite import Definitions, Rewrite
from sovl_tools.schema.subschemas import follow

_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_MOST_DIGITS = 19


def upgrade(
    schema: dict[str, JSON],
    root: dict[str, JSON] | None = None,
    *,
    requests: Requests | None = None,
) -> dict[str, JSON]:
    """Return a schema in draft 2020-12, with the targets of its references in ``$defs``.

    Invalid values are unchanged, so that later checks report them.

    Args:
        schema: in any dialect.
        root: the document where its references are looked up; None for the schema itself.
        requests: the schemas of an OpenAPI document, if it describes a client's requests.
    """
    definitions = Definitions(schema if root is None else root)
    copy = _Upgrade(definitions, requests)
    made = copy.schema(schema, ())
    found = copy.finish()
    # providers and checks need the type at the root
    if "$ref" in made and "type" not in made:
        target = follow(made, {"$defs": found})
        if isinstance(target, dict):
            made = {**target, **{key: each for key, each in made.items() if key != "$ref"}}
    return {**made, "$defs": found} if found else made


class _Upgrade(Rewrite):
    """A copy in draft 2020-12."""

    dropped: ClassVar[frozenset[str]] = IDENTITY | {
        "$schema", "xml", "externalDocs", "discriminator", "propertyOrdering", "$recursiveAnchor",
        "$recursiveRef",
    }  # fmt: skip

    def __init__(self, definitions: Definitions, requests: Requests | None) -> None:
        super().__init__(definitions)
        self._requests = requests

    def schema(self, schema: JSON, path: Path) -> JSON:
        """Return the copy of a subschema."""
        if isinstance(schema, dict):
            if "$recursiveRef" in schema:  # of draft 2019-09, as OpenAI's own document has it
                owner = path[:3] if path[:2] == ("components", "schemas") else ()
                schema = {**schema, "$ref": "#" + pointer(owner)}
            schema = modernized(self._requests.schema(schema) if self._requests else schema)
        return super().schema(schema, path)

    def changed(self, schema: dict[str, JSON], copy: dict[str, JSON], path: Path) -> JSON:
        """Return a subschema in draft 2020-12."""
        del schema, path
        return _nullable(copy) if copy.pop("nullable", False) is True else copy


def modernized(schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return a subschema with the keywords of draft 2020-12; its own subschemas are unchanged."""
    found = dict(schema)
    _rename(found)
    if isinstance(found.get("items"), list):
        found["prefixItems"] = found.pop("items")
        if not found["prefixItems"]:
            del found["prefixItems"]
        if "additionalItems" in found:
            found["items"] = found.pop("additionalItems")
    if isinstance(found.get("dependencies"), dict):
        for name, each in found.pop("dependencies").items():
            keyword = "dependentRequired" if isinstance(each, list) else "dependentSchemas"
            found[keyword] = {**found.get(keyword, {}), name: each}
    return _with_required_names(found)


def _with_required_names(schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return a schema with ``required`` as a list of names, also where properties say it."""
    properties = schema.get("properties")
    members: dict[str, JSON] = properties if isinstance(properties, dict) else {}
    said = {
        name: each["required"]
        for name, each in members.items()
        if isinstance(each, dict) and isinstance(each.get("required"), bool)
    }
    if said:
        schema["properties"] = {
            name: {key: own for key, own in each.items() if key != "required"}
            if name in said
            else each
            for name, each in members.items()
        }
    names = schema.get("required")
    listed = names if isinstance(names, list) else []
    if said or (names is None and "required" in schema):
        schema["required"] = [*listed, *(n for n in said if said[n] and n not in listed)]
    return schema


def _rename(copy: dict[str, JSON]) -> None:
    """Rename keywords and types of other dialects."""
    kind = copy.get("type")
    if isinstance(kind, str):
        lower = kind.casefold()
        copy["type"] = TYPES.get(lower, lower if lower in JSON_KINDS else kind)
        if lower in {"type_unspecified", "any"}:
            del copy["type"]
    for key, bound in _BOUNDS.items():
        if isinstance(copy.get(key), bool):
            is_exclusive = copy.pop(key)
            if is_exclusive and bound in copy:
                copy[key] = copy.pop(bound)
    for key in _COUNTS:  # Gemini's are int64, which its JSON writes as strings
        if (
            isinstance(copy.get(key), str)
            and copy[key].isdecimal()
            and len(copy[key]) <= _MOST_DIGITS
        ):
            copy[key] = int(copy[key])
    if "example" in copy:
        example = copy.pop("example")
        copy.setdefault("examples", [example])


def _nullable(copy: dict[str, JSON]) -> dict[str, JSON]:
    """Return a schema that also admits null."""
    if not COMBINING.isdisjoint(copy) or "const" in copy:
        outer = {key: each for key, each in copy.items() if key in ANNOTATIONS}
        inner = {key: each for key, each in copy.items() if key not in ANNOTATIONS}
        return {**outer, "anyOf": [inner, {"type": "null"}]}
    kind, values = copy.get("type"), copy.get("enum")
    if isinstance(kind, str):
        copy["type"] = [kind, "null"] if kind != "null" else kind
    elif isinstance(kind, list) and "null" not in kind:
        copy["type"] = [*kind, "null"]
    if isinstance(values, list) and None not in values:
        copy["enum"] = [*values, None]
    return copy
