"""Anthropic's Messages: ``input_schema``, and examples, caching and deferred loading.

Source: Anthropic's pages "Define tools", "Structured outputs" (JSON Schema limitations, complexity
limits), "Tool search tool", "Prompt caching", and its SDK (``anthropic.types.ToolParam``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sovl_tools.formats.certainty import certainly_fits
from sovl_tools.formats.dialect import COMMON_FORMATS, Dialect
from sovl_tools.formats.easing import ANTHROPIC
from sovl_tools.formats.measuring import size_of
from sovl_tools.formats.narrowing import Narrowed
from sovl_tools.formats.rooting import ROOT
from sovl_tools.formats.shape import Asked, Loss, Shape
from sovl_tools.formats.strictness import Schema, Strict, schema_of
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied

FORMATS = COMMON_FORMATS | {"uri"}

MOST = {"strict tools": 20, "optional parameters": 24, "unions": 16}
"""How many there may be in the strict tools of one request together."""


def _admits(keyword: str, value: JSON) -> bool:
    if keyword == "format":
        return value in FORMATS
    return keyword != "minItems" or value == 1


DIALECT = Dialect(
    frozenset({"title", "description", "default", "format", "minItems"}),
    _admits,
    is_recursive=False,
    wraps_references=False,
    minds_case=False,
)


def _flat(schema: dict[str, JSON], _: dict[str, JSON]) -> Schema:
    optional = len(schema["properties"]) - len(schema["required"])
    return Schema(schema, is_strict=True, cost=_cost(optional, 0))


def _whole(found: Narrowed, _: dict[str, JSON]) -> Schema:
    size = size_of(found.schema)
    cost = _cost(size.optional, size.unions)
    return Schema(found.schema, found.losses, is_strict=True, cost=cost)


_OF_ROOT = 2
"""So long at the most is the place of what is said of all arguments, whose properties it adds."""


def _cost(optional: int, unions: int) -> tuple[tuple[str, int], ...]:
    return ("strict tools", 1), ("optional parameters", optional), ("unions", unions)


STRICT = Strict(DIALECT, _flat, _whole)


def shaped(tool: ToolDefinition, asked: Asked) -> Shape:
    """Return one tool, with those of its examples that have arguments."""
    found = schema_of(tool, STRICT if asked.strict else None, ANTHROPIC)
    definition: dict[str, JSON] = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": found.parameters,
    }
    losses = found.losses
    if found.is_strict:
        definition["strict"] = True
    if tool.name in asked.defer_loading:
        definition["defer_loading"] = True
    inputs = _inputs(tool) if tool.examples else []
    reason = _why_no_examples(found, definition, inputs) if inputs else None
    if reason is not None:
        losses = (*losses, Loss("dropped", ("examples",), f"examples are left out: {reason}"))
    elif inputs:
        definition["input_examples"] = copied(inputs)
    return Shape(tool, definition, losses, None, found.is_strict, found.cost)


def _inputs(tool: ToolDefinition) -> list[JSON]:
    return [each["input"] for each in tool.examples if isinstance(each.get("input"), dict)]


def _why_no_examples(schema: Schema, definition: dict[str, JSON], inputs: list[JSON]) -> str | None:
    """Return why examples would be refused: each has to fit the schema that is sent."""
    if "defer_loading" in definition:
        return "a tool that is deferred can't have any"
    if schema.is_strict and any(each.kind == "rewritten" for each in schema.losses):
        return "they may not fit the strict schema"
    root, is_whole = schema.parameters, all(len(each.path) > _OF_ROOT for each in schema.losses)
    is_sure = is_whole or all(certainly_fits(each, root, root) for each in inputs)
    return None if is_sure else "they may not fit the schema that is sent"


def settled(shapes: Sequence[Shape], asked: Asked) -> list[Shape]:
    """Return the shapes with as many of them strict as there may be in one request.

    It takes them as they are when they are not strict, so that nobody makes more than can be.
    """
    spent = Counter[str]()
    return [_settled(shape, asked, spent) for shape in shapes] if asked.strict else list(shapes)


def _settled(shape: Shape, asked: Asked, spent: Counter[str]) -> Shape:
    """Return a shape, strict if there is room for it, which is spent then."""
    beyond = ["strict tools"] if spent["strict tools"] >= MOST["strict tools"] else []
    if not beyond:
        strict = shaped(shape.tool, asked)
        beyond = [name for name, count in strict.cost if spent[name] + count > MOST[name]]
        if not beyond:
            spent.update(dict(strict.cost))
            return strict
    message = f"not strict: the request would have more than {MOST[beyond[0]]} {beyond[0]}"
    losses = (Loss("loose", ROOT, message), *shape.losses)
    return Shape(shape.tool, shape.definition, losses)


def gathered(shapes: Sequence[Shape], asked: Asked) -> tuple[Any, tuple[Loss, ...]]:
    """Return the definitions as a list, the last one that can be cached with its mark."""
    found = [shape.definition for shape in shapes]
    return _cached(found, asked), tuple(_deferral(found, asked))


def _cached(definitions: list[JSON], asked: Asked) -> list[JSON]:
    """Return the definitions with a mark on the last one that can be cached."""
    places = [index for index, each in enumerate(definitions) if "defer_loading" not in each]
    if asked.cache_control is None or not places:
        return definitions
    last = places[-1]
    marked = {**definitions[last], "cache_control": dict(asked.cache_control)}
    return [*definitions[:last], marked, *definitions[last + 1 :]]


def _deferral(definitions: list[JSON], asked: Asked) -> list[Loss]:
    if not asked.defer_loading:
        return []
    deferred = sum("defer_loading" in each for each in definitions)
    if deferred < len(definitions):
        return []
    message = "every tool is deferred, which Anthropic refuses"
    return [Loss("limit", (), message, "leave one, or a search tool, that is not")]
