"""Anthropic's Messages: ``input_schema``, and examples, caching and deferred loading.

Source: Anthropic's pages "Define tools", "Structured outputs" (JSON Schema limitations, complexity
limits), "Tool search tool", "Prompt caching", and its SDK (``anthropic.types.ToolParam``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sovl_tools.formats.base import ROOT, Format, Loss, Options, Shape
from sovl_tools.formats.form import Form, loose, not_strict, strict
from sovl_tools.formats.providers import ANTHROPIC
from sovl_tools.formats.size import size_of
from sovl_tools.formats.strict import StrictError
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.subschemas import SchemaNode


def _define(
    tool: ToolDefinition, schema: dict[str, JSON], mark: dict[str, JSON]
) -> dict[str, JSON]:
    return {"name": tool.name, "description": tool.description, "input_schema": schema, **mark}


_FORM = Form(ANTHROPIC, _define)


def convert(tool: ToolDefinition, options: Options) -> Shape:
    """Return one tool, with its examples that have arguments."""
    shape = _completed(loose(tool, _FORM), options)
    return (
        _enforced(shape, options, dict.fromkeys(ANTHROPIC.strict, 0)) if options.strict else shape
    )


def _enforced(shape: Shape, options: Options, spent: dict[str, int]) -> Shape:
    """Return a loose tool as a strict one if there is room for it, else with the reason.

    Args:
        shape: the tool.
        options: the format's options.
        spent: the share of the limits that the strict tools so far use; this tool's is added.
    """
    if spent["strict tools"] == ANTHROPIC.strict["strict tools"]:
        return not_strict(shape, _beyond("strict tools"))
    try:
        found = strict(shape.tool, _FORM)
    except StrictError as error:
        return not_strict(shape, error)
    size = size_of(found.definition["input_schema"])
    after = {
        "strict tools": spent["strict tools"] + 1,
        "optional parameters": spent["optional parameters"] + size.optional,
        "unions": spent["unions"] + size.unions,
    }
    excess = next((name for name, count in after.items() if count > ANTHROPIC.strict[name]), None)
    if excess is not None:  # a tool that isn't strict in the end uses none
        return not_strict(shape, _beyond(excess))
    spent.update(after)
    return _completed(found, options)


def _beyond(name: str) -> StrictError:
    return StrictError(ROOT, f"the request would have more than {ANTHROPIC.strict[name]} {name}")


def _completed(shape: Shape, options: Options) -> Shape:
    """Return a shape with the keys next to the schema: deferral, and valid examples."""
    if shape.tool.name in options.defer_loading:
        shape.definition["defer_loading"] = True
    given = (each.get("input") for each in shape.tool.examples)
    inputs: list[JSON] = [each for each in given if isinstance(each, dict)]
    if not inputs:
        return shape
    # one example that does not match the schema that is sent makes the whole request fail
    root, reason = shape.definition["input_schema"], None
    if "defer_loading" in shape.definition:
        reason = "a tool that is deferred can't have any"
    elif shape.losses:
        node = SchemaNode((), root, root, ())
        if any(problems_at(node, each, with_formats=True) for each in inputs):
            reason = "they don't match the schema that is sent"
    if reason is not None:
        loss = Loss("dropped", ("examples",), f"examples are omitted: {reason}")
        return shape._replace(losses=(*shape.losses, loss))
    shape.definition["input_examples"] = copied(inputs)
    return shape


def apply_limits(shapes: Sequence[Shape], options: Options) -> list[Shape]:
    """Return the shapes with as many of them strict as there can be in one request."""
    if not options.strict:
        return list(shapes)
    spent = dict.fromkeys(ANTHROPIC.strict, 0)
    return [_enforced(shape, options, spent) for shape in shapes]


def collect(shapes: Sequence[Shape], options: Options) -> tuple[Any, tuple[Loss, ...]]:
    """Return the definitions as a list, the last cacheable one with its mark."""
    found = [shape.definition for shape in shapes]
    loaded = [place for place, each in enumerate(found) if "defer_loading" not in each]
    if options.cache_control is not None and loaded:
        # a new dictionary: the old one belongs to a shape that is kept
        marked = {**found[loaded[-1]], "cache_control": dict(options.cache_control)}
        found[loaded[-1]] = marked
    if loaded or not (found and options.defer_loading):
        return found, ()
    message = "every tool is deferred, which Anthropic rejects"
    return found, (Loss("limit", (), message, "leave one, or a search tool, that is not"),)


MESSAGES = Format(convert, collect, apply_limits)
