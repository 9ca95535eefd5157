"""Gemini: function declarations with ``parametersJsonSchema``, in the names of the wire.

Gemini ignores unknown keywords, so the description has them in words. Whether
schemas are enforced is set for a whole request (``toolConfig``), not for a tool. Source: Google's
API reference (``FunctionDeclaration``, ``FunctionCallingConfig``; generateContent, the keywords
listed at ``responseJsonSchema``), the types of its SDK (``google.genai.types``, among them
``JSONSchema``), and its guide "Structured output".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sovl_tools.formats.base import ROOT, Format, Loss, Options, Shape, as_list
from sovl_tools.formats.providers import GEMINI
from sovl_tools.formats.transformer import Transformed, loose
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.schema.keywords import IN_LIST, SINGLE


def convert(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool; it has no description if the manifest's is empty."""
    definition: dict[str, JSON] = {"name": tool.name}
    losses: tuple[Loss, ...] = ()
    if tool.description.strip():
        definition["description"] = tool.description
    else:
        message = "description is empty, which can be rejected"
        losses = (Loss("doubt", ("description",), message, "describe the tool"),)
    found = loose(tool.parameters, GEMINI)
    definition["parametersJsonSchema"] = found.schema
    return Shape(tool, definition, (*losses, *found.losses, *_infinite_recursions(found)))


DECLARATIONS = Format(convert, partial(as_list, most=GEMINI.tools, provider=GEMINI.name))


def _infinite_recursions(found: Transformed) -> Iterator[Loss]:
    """Yield definitions that contain themselves without an optional property on the way."""
    if not found.definitions.are_used:
        return
    schemas = {f"#/$defs/{name}": each for name, each in found.schema.get("$defs", {}).items()}
    schemas["#"] = found.schema
    needed = {reference: _required_references(schema) for reference, schema in schemas.items()}
    for reference, first in needed.items():
        reached: set[str] = set()
        pending = [reference] if first else []
        while pending:
            following = needed.get(pending.pop(), set()) - reached
            reached |= following
            pending += following
        if reference in reached:
            source = found.definitions.targets.get(reference.removeprefix("#/$defs/"))
            path = () if source is None else source.path
            name = path[-1] if path else ROOT[0]
            message = f"{name!r} contains itself outside of properties that can be omitted"
            advice = "do not require a property on the way"
            yield Loss("limit", (*ROOT, *path), message, advice)


def _required_references(schema: JSON) -> set[str]:
    """Return the references in a schema that don't are in properties that can be omitted."""
    found, pending = set(), [schema]
    for each in pending:  # which grows
        if type(each) is not dict or _LEADING.isdisjoint(each):
            continue
        if "$ref" in each:
            found.add(each["$ref"])
        if "properties" in each and "required" in each:
            properties = each["properties"]
            pending += [properties[name] for name in each["required"] if name in properties]
        for keyword in each.keys() & _NESTING:
            below = each[keyword]
            pending += below if type(below) is list else [below]
    return found


_NESTING = frozenset({*IN_LIST, *SINGLE})
_LEADING = _NESTING | {"$ref", "properties"}
