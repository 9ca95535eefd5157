"""What the text of a manifest can hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON, copied, dotted, encodes
from sovl_tools.schema.subschemas import nodes

_DISPENSABLE = ("default", "description")


def unwritable(value: Any) -> str | None:
    """Return why a manifest can't hold a value; None if it can."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            pending += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple):
            pending += each
        elif (reason := _flaw(each)) is not None:
            return reason
    return None


def _flaw(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if encodes(value) else "it holds half of a surrogate pair"
    if isinstance(value, int | float):
        return None if _is_finite(value) else "it is not a number that JSON can hold"
    return f"it holds {type(value).__name__!r}, which is no JSON"


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def plain(value: Any) -> JSON:
    """Return a value as JSON has it: a tuple is a list, any mapping a dictionary."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


class Written(NamedTuple):
    """A schema without what no text can hold.

    Attributes:
        schema: the schema.
        notes: which defaults and descriptions are left out, and why.
        flaws: by property, why the rest of its schema can't be written.
    """

    schema: dict[str, JSON]
    notes: tuple[str, ...]
    flaws: Mapping[str, str]


def written(parameters: dict[str, JSON]) -> Written:
    """Return the schema of a function's arguments as far as a manifest can hold it."""
    schema = copied(parameters)
    notes = tuple(_without_unwritable(schema))
    found = {name: unwritable(each) for name, each in reached(schema).items()}
    return Written(schema, notes, {name: flaw for name, flaw in found.items() if flaw})


def _without_unwritable(schema: dict[str, JSON]) -> Iterator[str]:
    for node in nodes(schema, ()):
        for key in _DISPENSABLE:
            reason = unwritable(node.schema.get(key))
            if reason is not None:
                del node.schema[key]
                path = tuple(each for each in node.path if each not in {"properties", "$defs"})
                yield f"the {key} of {dotted(path)!r} is left out: {reason}"


def reached(schema: dict[str, JSON]) -> dict[str, list[JSON]]:
    """Return the schema of each property with the definitions that it needs."""
    definitions = schema.get("$defs", {})
    return {
        name: [each, *(definitions[key] for key in needed(each, definitions))]
        for name, each in schema["properties"].items()
    }


def needed(schema: JSON, definitions: Mapping[str, JSON]) -> list[str]:
    """Return the names of the definitions that a schema refers to, or those that it needs do."""
    found: list[str] = []
    pending = [schema]
    while pending:
        each = pending.pop()
        for node in nodes(each, ()) if isinstance(each, dict) else ():
            name = defined_name(node.schema.get("$ref"))
            if name in definitions and name not in found:
                found.append(name)
                pending.append(definitions[name])
    return found


def defined_name(reference: JSON) -> str:
    """Return the name of the definition that a reference leads to; "" if it leads elsewhere."""
    start = "#/$defs/"
    is_plain = isinstance(reference, str) and reference.startswith(start)
    return reference.removeprefix(start) if is_plain else ""
