"""OpenAI's Chat Completions: ``{"type": "function", "function": {…}}``.

Source: OpenAI's guides "Function calling" and "Structured outputs" (supported schemas), and the
types of its SDK (``openai.types.chat.ChatCompletionToolParam``).
"""

from __future__ import annotations

from functools import partial
from operator import le

from sovl_tools.formats.base import ROOT, Options, Shape, as_list
from sovl_tools.formats.compat import OPENAI
from sovl_tools.formats.form import Form, Size, convert_tool, size_of
from sovl_tools.formats.strict import FORMATS, Dialect, StrictError, is_elaborate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON

MOST_TOOLS = 128
"""How many tools one request may have."""

MOST = Size(properties=5000, values=1000, characters=120_000, longest=15_000, depth=10)
"""How large a strict schema may be."""

_SAYS = {
    "properties": "properties", "values": "values to choose from", "depth": "levels of nesting",
    "characters": "characters of names and values",
    "longest": "characters of values in one long choice",
}  # fmt: skip


DIALECT = Dialect(
    frozenset(
        {
            "title", "description", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
            "exclusiveMaximum", "minItems", "maxItems",
        }
    ),
    {"format": FORMATS.__contains__, "pattern": lambda pattern: not is_elaborate(pattern)},
    require_all=True,
    tells_by_first=True,
)  # fmt: skip


def check_size(schema: dict[str, JSON]) -> None:
    """Refuse a schema that is too large; there is no limit to all tools together.

    Raises:
        StrictError: it says what there is too much of.
    """
    size = size_of(schema)
    if all(map(le, size, MOST)):
        return
    for name, words in _SAYS.items():
        count, most = getattr(size, name), getattr(MOST, name)
        if count > most:
            raise StrictError(ROOT, f"it has {count:,} {words}, more than {most:,}")


def nested(tool: ToolDefinition, schema: dict[str, JSON], *, is_strict: bool) -> dict[str, JSON]:
    """Return a definition as compatible servers have taken it over."""
    function: dict[str, JSON] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": schema,
    }
    if is_strict:
        function["strict"] = True
    return {"type": "function", "function": function}


_FORM = Form(OPENAI, DIALECT, nested, check_size)


def convert(tool: ToolDefinition, options: Options) -> Shape:
    """Return one tool; ``strict`` is in it only if it is true."""
    return convert_tool(tool, _FORM, is_strict=options.strict)


collect = partial(as_list, most=MOST_TOOLS, provider="OpenAI")
