"""The Model Context Protocol: tools as ``tools/list`` returns them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from tests.formats.rules import checks
from tests.formats.rules.walking import walk

NAME = r"[A-Za-z0-9._-]{1,128}"

_HINTS = dict.fromkeys(
    ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), bool
)  # fmt: skip
_LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_META_KEY = re.compile(
    rf"(?:{_LABEL}(?:\.{_LABEL})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?"
)
_RESERVED = {"modelcontextprotocol", "mcp"}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def problems_of_mcp(definition: Any, *, strict: bool = False) -> list[str]:
    """Return what clients reject in a tool; strict has no meaning here."""
    optional = {
        "title": str, "description": str, "outputSchema": dict, "annotations": dict,
        "icons": list, "_meta": dict,
    }  # fmt: skip
    wrong = list(checks.keys(definition, {"name": str, "inputSchema": dict}, optional))
    if wrong:
        return wrong
    wrong += checks.name(definition["name"], NAME)
    if definition["inputSchema"].get("type") != "object":
        wrong.append("the root of inputSchema isn't an object")
    for key in ("inputSchema", "outputSchema"):
        wrong += [f"{key}: {what}" for what in _schema(definition.get(key, {}))]
    annotations = definition.get("annotations", {})
    wrong += checks.keys(annotations, {}, {"title": str, **_HINTS}, of="the annotations")
    return wrong + [what for key in definition.get("_meta", ()) for what in _meta_key(key)]


def _schema(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("$schema", _DIALECT) == _DIALECT:
        yield from checks.sound(schema)
    identifiers = {
        node.schema["$id"] for node in walk(schema) if "$id" in checks.keywords(node)
    } | {Draft202012Validator.META_SCHEMA["$id"]}
    for node in walk(schema):
        reference = node.schema.get("$ref", "#") if isinstance(node.schema, dict) else "#"
        if not reference.startswith("#") and reference.partition("#")[0] not in identifiers:
            yield f"{node.place}: {reference!r} would must be fetched"


def _meta_key(key: str) -> Iterator[str]:
    labels = key.rpartition("/")[0].split(".")
    if not _META_KEY.fullmatch(key):
        yield f"the key {key!r} in _meta"
    elif len(labels) > 1 and labels[1] in _RESERVED:
        yield f"the key {key!r} in _meta is reserved"
