"""An OpenAPI 3.1 document in which every tool is one POST.

The schemas of arguments and results are components, because only those are checked by a client that
reads such a document; their definitions are components next to them. Source: spec.openapis.org,
OpenAPI Specification 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

from sovl_tools.formats.base import Format, Loss, Options, Shape
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.result import FailureKind
from sovl_tools.schema.keywords import IDENTITY
from sovl_tools.schema.rewrite import Definitions, Rewrite


class Answer(NamedTuple):
    """How a server tells a kind of failure: by a status of HTTP, a title, and what that means."""

    status: int
    title: str
    description: str


ANSWERS: dict[FailureKind, Answer] = {
    "invalid_arguments": Answer(
        400, "Invalid arguments", "The arguments aren't JSON, or do not match their schema."
    ),
    "unknown_tool": Answer(404, "Unknown tool", "The tool doesn't exist anymore."),
    "cancelled": Answer(409, "Cancelled", "Someone cancelled the call."),
    "tool_error": Answer(500, "Tool failed", "The tool failed."),
    "invalid_result": Answer(
        502, "Invalid result", "What the tool returned isn't JSON, or does not match its schema."
    ),
    "unavailable": Answer(503, "Tool not available", "The tool is there but could not be loaded."),
    "timeout": Answer(504, "Time limit", "The tool was not done in time."),
}
"""The answer to each kind of failure; the status tells them apart, the body says more.

Arguments that do not match get 400 rather than 422 because malformed JSON gets the same
kind. HTTP has no status for a call that was cancelled; after 409, unlike 503, no client tries again
status.
"""

PROBLEM_TYPE = "urn:sovl-tools:problem:"
"""The type of a problem (RFC 9457) is this and the kind of failure."""

PROBLEM_MEDIA = "application/problem+json"

_SCHEMAS = "#/components/schemas/"
_VALUE, _PROBLEM = "#/components/responses/Value", "#/components/responses/Problem"
_ANYTHING = "What the tool returned."
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def convert(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool as its path and its named schemas.

    Definitions, from any place, and anchors become components and references to those.
    """
    name = f"{tool.name}.arguments"
    schemas = _components(tool.parameters, name)
    if tool.output_schema is not None:
        schemas += _components(tool.output_schema, f"{tool.name}.result")
    return Shape(tool, ({"post": _operation(tool, _SCHEMAS + name)}, schemas))


def collect(shapes: Sequence[Shape], _: Options) -> tuple[Any, tuple[Loss, ...]]:
    """Return one document of all tools; the call of NAME is ``POST /tools/NAME``."""
    paths, schemas = {}, {"Problem": _problem()}
    for shape in shapes:
        paths[f"/tools/{shape.tool.name}"], more = shape.definition
        schemas.update(more)
    lines = [f"- {status} `{name}`: {words}" for name, (status, _, words) in ANSWERS.items()]
    statuses = "\n".join(
        ["There's no value. The status, and the type in the body, say why:", "", *lines]
    )
    document = {
        "openapi": "3.1.0",
        "jsonSchemaDialect": _DIALECT,
        "info": {"title": "Tools", "version": "1.0.0"},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {
                "Value": _response(_ANYTHING, {}),
                "Problem": _response(statuses, {"$ref": f"{_SCHEMAS}Problem"}, PROBLEM_MEDIA),
            },
        },
    }
    return document, ()


DOCUMENT = Format(convert, collect)


def _operation(tool: ToolDefinition, arguments: str) -> dict[str, JSON]:
    first_line = tool.description.strip().partition("\n")[0]
    operation: dict[str, JSON] = {
        "operationId": tool.name,
        "summary": tool.title or first_line[: first_line.find(". ") + 1] or first_line,
        "description": tool.description,
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": arguments}}},
        },
        "responses": {"200": _value(tool), "default": {"$ref": _PROBLEM}},
    }
    if tool.deprecation:
        operation["deprecated"] = True
    if tool.tags:
        operation["tags"] = list(tool.tags)
    return operation


def _value(tool: ToolDefinition) -> dict[str, JSON]:
    if tool.output_schema is not None:
        schema = {"$ref": f"{_SCHEMAS}{tool.name}.result"}
        return _response(tool.returns or _ANYTHING, schema)
    return _response(tool.returns, {}) if tool.returns else {"$ref": _VALUE}


def _response(description: str, schema: JSON, media: str = "application/json") -> dict[str, JSON]:
    return {"description": description, "content": {media: {"schema": schema}}}


def _problem() -> dict[str, JSON]:
    """Return the schema of a problem document (RFC 9457), as a server tells a failure by it."""
    text = {"type": "string"}
    types = ["about:blank", *(f"{PROBLEM_TYPE}{name}" for name in get_args(FailureKind))]
    error = {
        "type": "object",
        "properties": {
            "pointer": {**text, "description": "The argument, as a JSON Pointer such as #/a/0."},
            "detail": {**text, "description": "What is wrong with it."},
        },
        "required": ["pointer", "detail"],
    }
    return {
        "type": "object",
        "description": "Why there's no value.",
        "properties": {
            "type": {
                **text,
                "enum": types,
                "description": "For programs; about:blank if the status says all.",
            },
            "title": {**text, "description": "The same for every problem of the type."},
            "status": {"type": "integer", "description": "The status of the response."},
            "detail": {**text, "description": "For the model."},
            "errors": {
                "type": "array",
                "items": error,
                "description": "One entry for each bad argument.",
            },
        },
        "required": ["type", "title", "status", "detail"],
    }


class _Component(Rewrite):
    """A copy of a schema without the keywords of its own place."""

    dropped = IDENTITY | {"$schema"}


def _components(schema: dict[str, JSON], name: str) -> list[tuple[str, dict[str, JSON]]]:
    """Return a schema as the component NAME, and its definitions X as components NAME.X."""
    copy = _Component(
        Definitions(schema, lambda part: _SCHEMAS + (name if part is None else f"{name}.{part}"))
    )
    own = copy.schema(schema, ())
    return [(name, own), *((f"{name}.{part}", each) for part, each in copy.finish().items())]
