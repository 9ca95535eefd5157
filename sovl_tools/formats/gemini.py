"""Gemini: function declarations with ``parametersJsonSchema``, in the names of the wire.

Whether schemas are enforced is said of a whole request (``toolConfig``), not of a tool. Source:
Google's API reference (``FunctionDeclaration``, ``FunctionCallingConfig``) and the types of its SDK
(``google.genai.types``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sovl_tools.formats.declaring import SCALAR, Declared, declared
from sovl_tools.formats.plainness import Plainness, plain
from sovl_tools.formats.rooting import ROOT
from sovl_tools.formats.shape import Asked, Loss, Shape
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.schemanodes import IN_LIST, SINGLE

MOST_TOOLS = 512
"""So many declarations may stand in one tool of a request."""


_TO_CHOOSE_FROM = frozenset({str, int, float})


def _admits(keyword: str, value: JSON) -> bool:
    return keyword == "enum" and _TO_CHOOSE_FROM.issuperset(map(type, value))


_PLAIN = Plainness(SCALAR, _admits)


def shaped(tool: ToolDefinition, _: Asked) -> Shape:
    """Return one tool; it has no description if the manifest's is empty."""
    definition: dict[str, JSON] = {"name": tool.name}
    losses: tuple[Loss, ...] = ()
    if tool.description.strip():
        definition["description"] = tool.description
    else:
        message = "description is empty, which may be refused"
        losses = (Loss("doubt", ("description",), message, "say what the tool does"),)
    simple = plain(tool.parameters, _PLAIN)
    if simple is not None:
        definition["parametersJsonSchema"] = simple
        return Shape(tool, definition, losses)
    found = declared(tool.parameters)
    definition["parametersJsonSchema"] = found.schema
    return Shape(tool, definition, (*losses, *found.losses, *_endless(found)))


def gathered(shapes: Sequence[Shape], asked: Asked) -> tuple[Any, tuple[Loss, ...]]:
    """Return the definitions as a list, whether there are too many, and how to have them strict."""
    losses = []
    if asked.strict and shapes:
        message = "not strict: Gemini is asked for that once a request, not of each tool"
        advice = "set the mode VALIDATED in the request's function_calling_config (tool_config)"
        losses.append(Loss("loose", (), message, advice))
    if len(shapes) > MOST_TOOLS:
        message = (
            f"{len(shapes)} tools, more than the {MOST_TOOLS} that Gemini takes in one request"
        )
        losses.append(Loss("limit", (), message, "offer fewer tools at a time"))
    return [shape.definition for shape in shapes], tuple(losses)


def _endless(found: Declared) -> Iterator[Loss]:
    """Yield definitions that contain themselves through nothing that may be left out."""
    schemas = {f"#/$defs/{name}": each for name, each in found.schema.get("$defs", {}).items()}
    schemas["#"] = found.schema
    needed = {reference: {*_needed(schema)} for reference, schema in schemas.items()}
    for reference in schemas:
        if reference in _reached(reference, needed):
            path = found.source.paths.get(reference.removeprefix("#/$defs/"), ())
            name = path[-1] if path else ROOT[0]
            message = f"{name!r} contains itself outside of properties that may be left out"
            advice = "do not require a property on the way"
            yield Loss("limit", (*ROOT, *path), message, advice)


def _reached(start: str, needed: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    pending = [start]
    while pending:
        found = needed.get(pending.pop(), set()) - reached
        reached |= found
        pending += found
    return reached


def _needed(schema: JSON) -> Iterator[str]:
    """Yield the references in a schema that don't stand in properties that may be left out."""
    pending = [schema]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            if "$ref" in each:
                yield each["$ref"]
            pending += _members(each)


def _members(schema: dict[str, JSON]) -> Iterator[JSON]:
    required = schema.get("required", ())
    yield from (each for name, each in schema.get("properties", {}).items() if name in required)
    for keyword in schema.keys() & {*IN_LIST}:
        yield from schema[keyword]
    yield from (schema[keyword] for keyword in schema.keys() & {*SINGLE})
