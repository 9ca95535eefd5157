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

from sovl_tools.formats.base import Format, Loss, Options, Shape, as_list
from sovl_tools.formats.providers import GEMINI
from sovl_tools.formats.recursion import recursions
from sovl_tools.formats.transformer import Transformed, loose
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON


def convert(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool as a function declaration."""
    found = loose(tool.parameters, GEMINI)
    definition: dict[str, JSON] = {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": found.schema,
    }
    return Shape(tool, definition, (*found.losses, *_infinite_recursions(found)))


DECLARATIONS = Format(convert, partial(as_list, most=GEMINI.tools, provider=GEMINI.name))


def _infinite_recursions(found: Transformed) -> Iterator[Loss]:
    for path in recursions(found, through_optional=False):
        message = f"{path[-1]!r} contains itself outside of properties that can be omitted"
        yield Loss("limit", path, message, "do not require a property on the way")
