"""An OpenAPI 3.1 document in which every tool is one POST.

The schemas of arguments and results are components, because only those are checked by a client that
reads such a document; their definitions are components next to them. Source: spec.openapis.org,
OpenAPI Specification 3.1.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, get_args

from sovl_tools.formats.base import Format, Loss, Options, Shape
from sovl_tools.formats.meaning import note, with_notes
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.result import FailureKind
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.keywords import IDENTITY
from sovl_tools.schema.rewrite import Definitions, Rewrite, refer
from sovl_tools.schema.subschemas import SchemaNode, lookup


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
    """Return one tool as its path, the schema of its arguments, and other named schemas.

    A default stays only if it certainly matches its own schema, because checkers reject a document
    for a schema that does not; other keywords are in the description. Definitions, from any place,
    and anchors become components and references to those.
    """
    name = f"{tool.name}.arguments"
    operation = _operation(tool, _SCHEMAS + name)
    arguments, others, losses = _components(tool.parameters, name, ("parameters",))
    if tool.output_schema is not None:
        name = f"{tool.name}.result"
        result, more, lost = _components(tool.output_schema, name, ("output_schema",))
        others, losses = (*others, (name, result), *more), (*losses, *lost)
    return Shape(tool, ({"post": operation}, arguments, others), losses)


def collect(shapes: Sequence[Shape], _: Options) -> tuple[Any, tuple[Loss, ...]]:
    """Return one document of all tools; the call of NAME is ``POST /tools/NAME``."""
    paths, schemas = {}, {"Problem": _problem()}
    for shape in shapes:
        name = shape.tool.name
        paths[f"/tools/{name}"], schemas[f"{name}.arguments"], others = shape.definition
        schemas.update(others)
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


_Components: TypeAlias = tuple[
    dict[str, JSON], tuple[tuple[str, dict[str, JSON]], ...], tuple[Loss, ...]
]


def _components(schema: dict[str, JSON], name: str, base: Path) -> _Components:
    """Return a schema as a component, its definitions X as components NAME.X, and its losses."""
    work = _Component(
        Definitions(schema, lambda part: _SCHEMAS + (name if part is None else f"{name}.{part}")),
        base,
    )
    own = _complete(work.schema(schema, base))
    parts = tuple((f"{name}.{part}", _complete(each)) for part, each in work.finish().items())
    return own, parts, tuple(work.losses)


class _Component(Rewrite):
    """A copy of a schema that passes checkers of documents.

    Attributes:
        losses: the parts that it lacks.
    """

    dropped = IDENTITY | {"$schema"}

    def __init__(self, definitions: Definitions, base: Path) -> None:
        super().__init__(definitions, base)
        self.losses: list[Loss] = []

    def reference(self, reference: str) -> str:
        """Return the reference to a component, which is never only true or false."""
        is_object = isinstance(lookup(self.definitions.root, reference).target, dict)
        return (self.definitions.address(reference) if is_object else None) or reference

    def changed(self, schema: dict[str, JSON], made: dict[str, JSON], path: Path) -> JSON:
        """Return a subschema without the keywords that checkers reject, and record their loss."""
        notes = []
        is_readable = "pattern" not in schema or _is_readable(schema["pattern"])
        if "default" in schema:
            default, root = schema["default"], self.definitions.root
            # checkers would take a default that has "$ref" for a reference
            is_reference = isinstance(default, dict) and "$ref" in default
            node = SchemaNode(path, schema, root, self.base)
            is_refused = is_reference or problems_at(node, default, with_formats=True)
            if is_refused or not is_readable:
                notes.append(note("default", made.pop("default")))
                message = "default is in the description only: its own schema may reject it"
                advice = "correct or remove it"
                self.losses.append(Loss("moved", (*path, "default"), message, advice))
        if not is_readable:
            notes.append(note("pattern", made.pop("pattern")))
            message = "pattern is in the description only: not everyone can read it"
            self.losses.append(Loss("moved", (*path, "pattern"), message, "write it more simply"))
        for keyword in ("$dynamicRef", "$ref"):
            if keyword in made and not self.definitions.is_address(made[keyword]):
                self._replace(made, keyword, path)
        return with_notes(made, notes)

    def _replace(self, made: dict[str, JSON], keyword: str, path: Path) -> None:
        """Inline a reference's target, if that isn't a component so far."""
        reference = made.pop(keyword)
        target = lookup(self.definitions.root, reference).target
        if isinstance(target, bool):
            made["allOf"] = [*made.get("allOf", ()), target]
        elif isinstance(target, dict):
            refer(made, self.definitions.address(reference))
        else:
            message = f"{keyword} leads to nothing that a document could hold"
            help_ = "put what is meant under '$defs'"
            self.losses.append(Loss("dropped", (*path, keyword), message, help_))


def _is_readable(pattern: str) -> bool:
    """Return whether everyone reads a regular expression, and reads the same in it."""
    with warnings.catch_warnings():
        # Python warns of a set within a set, such as [[:alpha:]], which others take for one
        warnings.simplefilter("error", FutureWarning)
        try:
            re.compile(pattern)
        except (re.error, FutureWarning):
            return False
    return True


def _complete(component: dict[str, JSON]) -> dict[str, JSON]:
    """Return a component that requires next to an ``allOf`` only its own properties.

    Checkers reject others, since they overlook what conditions describe.
    """
    required = component.get("required", ())
    if "allOf" not in component or component.get("properties", {}).keys() >= {*required}:
        return component
    rest = {key: each for key, each in component.items() if key != "required"}
    return {**rest, "allOf": [*component["allOf"], {"required": required}]}
