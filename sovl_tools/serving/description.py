"""What the OpenAPI document says of the server, beside the calls of its tools."""

from __future__ import annotations

from typing import Final

from sovl_tools.model.document import JSON
from sovl_tools.search.phrases import MOST_FOUND

_TEXT: Final = {"type": "string"}
_PROBLEM: Final = {"$ref": "#/components/responses/Problem"}
_TOOL: Final = {"$ref": "#/components/schemas/Tool"}
_TAG = "server"


def describe(calls: dict[str, JSON], root: str, *, is_guarded: bool) -> dict[str, JSON]:
    """Return the OpenAPI document of the server.

    Args:
        calls: the document of the tools alone, as the format ``openapi`` makes it; it stays as it
            is.
        root: the path under which the server is mounted in another one; mostly ``""``.
        is_guarded: whether requests need a bearer token.
    """
    components = calls["components"]
    words = {"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}}
    match = _object({"tool": _TEXT, "score": {"type": "number"}, "words": words})
    schemas = {**components["schemas"], "Tool": _tool(), "Match": match}
    document = {
        **calls,
        "servers": [{"url": root or "/"}],
        "tags": [{"name": _TAG, "description": "The tools as a whole."}],
        "paths": {**_paths(), **calls["paths"]},
        "components": {**components, "schemas": schemas},
    }
    if is_guarded:
        bearer = {"type": "http", "scheme": "bearer"}
        document["components"]["securitySchemes"] = {"bearer": bearer}
        document["security"] = [{"bearer": []}]
    return document


def _paths() -> dict[str, JSON]:
    name = {"name": "name", "in": "path", "required": True, "schema": _TEXT}
    page = _object({"tools": {"type": "array", "items": _TOOL}, "next_cursor": _nullable()})
    found = _object({"matches": {"type": "array", "items": {"$ref": "#/components/schemas/Match"}}})
    health = _object({"status": _TEXT})
    anything = {"application/json": {"schema": {"type": "object"}}}
    return {
        "/tools": {"get": _operation("tools.list", "List the tools by name.", page, _LISTING)},
        "/tools/{name}": {"get": _operation("tools.show", "Describe a tool.", _TOOL, [name])},
        "/tools/{name}/stream": {
            "post": {
                **_operation("tools.stream", "Call a tool and hear of it meanwhile.", {}, [name]),
                "description": _EVENTS,
                "requestBody": {"required": True, "content": anything},
                "responses": {
                    "200": {"description": _EVENTS, "content": {"text/event-stream": {}}},
                    "default": _PROBLEM,
                },
            }
        },
        "/search": {"get": _operation("tools.search", "Find tools, best first.", found, _SEARCH)},
        "/openapi.json": {
            "get": _operation("server.openapi", "Return this document.", {"type": "object"})
        },
        "/healthz": {"get": _open("server.healthz", "Tell whether the server runs.", health)},
        "/readyz": {"get": _open("server.readyz", "Tell whether it takes requests.", health)},
    }


def _operation(
    name: str,
    summary: str,
    schema: dict[str, JSON],
    parameters: list[dict[str, JSON]] | None = None,
) -> dict[str, JSON]:
    # dots are in no tool's name, so that no tool's operation has the same
    content = {"application/json": {"schema": schema}}
    return {
        "operationId": name,
        "tags": [_TAG],
        "summary": summary,
        "parameters": parameters or [],
        "responses": {
            "200": {"description": summary, "content": content},
            "default": _PROBLEM,
        },
    }


def _open(name: str, summary: str, schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return an operation that needs no token."""
    return {**_operation(name, summary, schema), "security": []}


def _parameter(name: str, description: str, schema: dict[str, JSON]) -> dict[str, JSON]:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _nullable() -> dict[str, JSON]:
    return {"type": ["string", "null"], "description": "The cursor of the next page, if any."}


def _object(properties: dict[str, JSON]) -> dict[str, JSON]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_LIMIT: Final = {"type": "integer", "minimum": 1, "maximum": 1000}
_LISTING: Final = [
    _parameter("tag", "Only with this tag.", {"type": "array", "items": _TEXT}),
    _parameter("category", "Only of this category.", _TEXT),
    _parameter("limit", "How many on a page; all of them without it.", _LIMIT),
    _parameter("cursor", "Where the page begins: the next_cursor of the last one.", _TEXT),
]
_SEARCH: Final = [
    {**_parameter("q", "Words to look for.", _TEXT), "required": True},
    _parameter("limit", f"How many at most; {MOST_FOUND} without it.", _LIMIT),
]
_EVENTS = (
    "Server-sent events: `progress` ({done, total, message}), `log` ({level, message}), `item` "
    "(each item of a tool that is a generator), and at the end `result` (what the call without a "
    "stream returns) or `problem` (a problem document)."
)


def _tool() -> dict[str, JSON]:
    """Return the schema of a tool as ``GET /tools`` lists it."""
    schema = {"type": "object", "additionalProperties": True}
    texts = {"type": "array", "items": _TEXT}
    known = {
        "name": _TEXT,
        "title": _TEXT,
        "description": _TEXT,
        "parameters": {**schema, "description": "The JSON Schema of the arguments."},
        "output_schema": {**schema, "description": "The JSON Schema of the result."},
        "annotations": {**schema, "additionalProperties": {"type": "boolean"}},
        "category": _TEXT,
        "version": _TEXT,
        "tags": texts,
        "activation_phrases": texts,
        "examples": {"type": "array", "items": schema},
        "instructions": {**_TEXT, "description": "For a system prompt."},
    }
    return {**_object(known), "required": ["name", "description", "parameters"]}
