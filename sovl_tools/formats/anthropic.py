"""Anthropic's Messages: ``input_schema``, and examples, caching and deferred loading.

Source: Anthropic's pages "Define tools", "Structured outputs" (JSON Schema limitations, complexity
limits), "Tool search tool", "Prompt caching", and its SDK (``anthropic.types.ToolParam``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sovl_tools.formats.base import ROOT, Asked, Loss, Shape
from sovl_tools.formats.compat import ANTHROPIC
from sovl_tools.formats.form import Cost, Form, loose, not_strict, size_of, strict
from sovl_tools.formats.strict import FORMATS, Dialect, StrictError
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied
from sovl_tools.schema.fit import surely_fits

MOST = {"strict tools": 20, "optional parameters": 24, "unions": 16}
"""How many there may be in the strict tools of one request together."""

_BEYOND = {
    name: Loss("loose", ROOT, f"not strict: the request would have more than {most} {name}")
    for name, most in MOST.items()
}


DIALECT = Dialect(
    frozenset({"title", "description", "default"}),
    {"format": (FORMATS | {"uri"}).__contains__, "minItems": lambda least: least == 1},
    is_recursive=False,
    wraps_references=False,
    minds_case=False,
)


def _cost(schema: dict[str, JSON]) -> Cost:
    size = size_of(schema)
    return ("strict tools", 1), ("optional parameters", size.optional), ("unions", size.unions)


def _define(tool: ToolDefinition, schema: dict[str, JSON], *, is_strict: bool) -> dict[str, JSON]:
    definition: dict[str, JSON] = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": schema,
    }
    if is_strict:
        definition["strict"] = True
    return definition


_FORM = Form(ANTHROPIC, DIALECT, _cost, _define)

_OF_ROOT = 2
"""So long at the most is the place of what is said of all arguments, whose properties it adds."""


def shaped(tool: ToolDefinition, asked: Asked) -> Shape:
    """Return one tool, with those of its examples that have arguments."""
    shape = _completed(loose(tool, _FORM), asked)
    return _enforced(shape, asked) if asked.strict else shape


def _enforced(shape: Shape, asked: Asked) -> Shape:
    """Return a loose tool as a strict one; if it can't be, as it is with the reason."""
    try:
        return _completed(strict(shape.tool, _FORM), asked)
    except StrictError as error:
        return not_strict(shape, error)


def _completed(shape: Shape, asked: Asked) -> Shape:
    if shape.tool.name in asked.defer_loading:
        shape.definition["defer_loading"] = True
    return _with_examples(shape) if shape.tool.examples else shape


def _with_examples(shape: Shape) -> Shape:
    given = (each.get("input") for each in shape.tool.examples)
    inputs: list[JSON] = [each for each in given if isinstance(each, dict)]
    reason = _why_no_examples(shape, inputs) if inputs else None
    if reason is not None:
        loss = Loss("dropped", ("examples",), f"examples are left out: {reason}")
        return shape._replace(losses=(*shape.losses, loss))
    if inputs:
        shape.definition["input_examples"] = copied(inputs)
    return shape


def _why_no_examples(shape: Shape, inputs: list[JSON]) -> str | None:
    """Return why examples would be refused: each has to fit the schema that is sent."""
    if "defer_loading" in shape.definition:
        return "a tool that is deferred can't have any"
    if shape.is_strict and any(each.kind == "rewritten" for each in shape.losses):
        return "they may not fit the strict schema"
    root = shape.definition["input_schema"]
    is_whole = all(len(each.path) > _OF_ROOT for each in shape.losses)
    is_sure = is_whole or all(surely_fits(each, root, root, with_formats=True) for each in inputs)
    return None if is_sure else "they may not fit the schema that is sent"


def settled(shapes: Sequence[Shape], asked: Asked) -> list[Shape]:
    """Return the shapes with as many of them strict as there may be in one request.

    It takes them as they are when they are not strict, so that nobody makes more than can be.
    """
    spent = Counter[str]()
    return [_settled(shape, asked, spent) for shape in shapes] if asked.strict else list(shapes)


def _settled(shape: Shape, asked: Asked, spent: Counter[str]) -> Shape:
    """Return a shape, strict if there is room for it, which is spent then."""
    beyond = _beyond(_least_cost(shape.tool.parameters), spent)
    if beyond is None:
        enforced = _enforced(shape, asked)
        beyond = _beyond(enforced.cost, spent)
        if beyond is None:
            spent.update(dict(enforced.cost))
            return enforced
    return shape._replace(losses=(_BEYOND[beyond], *shape.losses))


def _least_cost(parameters: dict[str, JSON]) -> Cost:
    """Return what a strict tool costs at least, so that none is made for which there is no room."""
    optional = 0
    if parameters.keys().isdisjoint(("allOf", "$ref")):
        required = parameters.get("required", ())
        described = parameters.get("properties", {}).items()
        optional = sum(name not in required and each is not False for name, each in described)
    return ("strict tools", 1), ("optional parameters", optional)


def _beyond(cost: Cost, spent: Counter[str]) -> str | None:
    """Return of what there would be too much, if there would."""
    return next((name for name, count in cost if spent[name] + count > MOST[name]), None)


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
