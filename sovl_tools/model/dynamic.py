"""Parts of a schema that are functions: called whenever the schema is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sovl_tools.model.document import JSON, copied
from sovl_tools.model.errors import ResolutionError

_LISTS = {"enum", "examples", "required", "allOf", "anyOf", "oneOf", "prefixItems"}


def is_dynamic(schema: Any) -> bool:
    """Tell whether a function stands anywhere in a schema."""
    if isinstance(schema, Mapping):
        return any(map(is_dynamic, schema.values()))
    if isinstance(schema, list | tuple):
        return any(map(is_dynamic, schema))
    return callable(schema)


def resolved(schema: Any, call: Callable[[Any], Any], place: str = "") -> JSON:
    """Return a schema of values alone, each function replaced by what ``call`` makes of it.

    Raises:
        ResolutionError: a function fails, or returns nothing that could stand in its place.
    """
    if isinstance(schema, Mapping):
        return {key: _member(key, value, call, place) for key, value in schema.items()}
    if isinstance(schema, list | tuple):
        return [resolved(item, call, f"{place}[{index}]") for index, item in enumerate(schema)]
    if not callable(schema):
        return schema
    value = _called(schema, call, place)
    if not isinstance(value, Mapping):
        raise ResolutionError(place, f"returned {type(value).__name__}, not a schema")
    return resolved(value, call, place)


def _member(key: str, value: Any, call: Callable[[Any], Any], place: str) -> JSON:
    inner = f"{place}.{key}" if place else key
    if not callable(value) or "properties" in {place, inner}:
        return resolved(value, call, inner)
    made = _called(value, call, inner)
    if key not in _LISTS:
        return copied(made)
    if isinstance(made, str | bytes | Mapping) or not hasattr(made, "__iter__"):
        raise ResolutionError(inner, f"returned {type(made).__name__}, not a list")
    return copied(list(made))


def _called(function: Any, call: Callable[[Any], Any], place: str) -> Any:
    try:
        return call(function)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ResolutionError(place, f"failed: {type(error).__name__}: {error}") from error


def without_functions(schema: Any, place: str = "") -> JSON:
    """Return a schema without its dynamic parts: what can be said of it before they are called."""
    if isinstance(schema, list | tuple):
        return [without_functions(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: {} if callable(value) else value for key, value in schema.items()}
    if place != "properties":
        kept = {key: value for key, value in schema.items() if not callable(value)}
    return {key: without_functions(value, key) for key, value in kept.items()}
