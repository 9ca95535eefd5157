"""The schema of a function's result, by its return annotation."""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import Callable
from typing import Any, get_args

from sovl_tools.annotations.hints import (
    layers,
    names_of,
    origin_of,
    read_annotations,
    resolved,
)
from sovl_tools.annotations.kinds import SchemaBuilder
from sovl_tools.model.content import CONTENT, Structured
from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import nodes

_STREAMS = (
    collections.abc.Generator,
    collections.abc.Iterator,
    collections.abc.AsyncGenerator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncIterable,
)
"""Types of results that become a list of their items."""


def returned(function: Callable[..., Any]) -> dict[str, JSON] | None:
    """Return the JSON Schema of a function's result, or None without a useful annotation.

    Members that aren't listed are allowed: an instance can have more attributes than its class
    takes arguments.
    """
    inner = layers(function)[-1]
    try:
        signature = read_annotations(inspect.signature, inner, "annotation_format")
        annotation = signature.return_annotation
        if annotation is signature.empty:
            return None
        hint = resolved(annotation, names_of(inner))
        if origin_of(hint) in _STREAMS:
            hint = list[(*get_args(hint), Any)[0]]  # type: ignore[misc]
        if _holds_content(hint):
            return None
        builder = SchemaBuilder(with_none=True)
        schema = builder.with_definitions(builder.build(hint))
    except Exception:  # noqa: BLE001 - an annotation runs its author's code
        return None
    for node in nodes(schema, ()):
        if node.schema.get("additionalProperties") is False:
            del node.schema["additionalProperties"]
    return schema if schema and schema != {"type": "null"} else None


def _holds_content(hint: Any) -> bool:
    """Return True if a result can be blocks of content, such as images, which aren't JSON."""
    is_content = isinstance(hint, type) and issubclass(hint, (*CONTENT, Structured))
    return is_content or any(map(_holds_content, get_args(hint)))


def has_fields(schema: dict[str, JSON]) -> bool:
    """Return True if a schema lists the members of an object."""
    return any("properties" in node.schema for node in nodes(schema, ()))
