"""Strict where a provider can enforce the schema, and otherwise as loose as it may be."""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARKEYWORDS
from types import CodeType
from typing import Any, NamedTuple

from sovl_tools.formats.dialect import UnfitError
from sovl_tools.formats.easing import Rules, eased, misnamed
from sovl_tools.formats.rooting import ROOT
from sovl_tools.formats.shape import Loss, Undo
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.functions import underlying


class Schema(NamedTuple):
    """The arguments of a tool as a provider is told of them; see Shape."""

    parameters: dict[str, JSON]
    losses: tuple[Loss, ...] = ()
    undo: Undo | None = None
    is_strict: bool = False
    cost: tuple[tuple[str, int], ...] = ()


Strict = Callable[[dict[str, JSON]], Schema]
"""From the parameters of a tool to a strict schema; raises an UnfitError where there is none."""


def schema_of(tool: ToolDefinition, strict: Strict | None, rules: Rules) -> Schema:
    """Return the schema of a tool's arguments, a strict one if ``strict`` can make it."""
    if strict is None:
        return Schema(*eased(tool.parameters, rules))
    try:
        found = strict(tool.parameters)
    except UnfitError as error:
        loss = Loss("loose", error.path, f"not strict: {error.message}", error.help)
    except RecursionError:
        loss = Loss("loose", ROOT, "not strict: it is nested too deep")
    else:
        return _with_words(found, tool, rules)
    parameters, losses = eased(tool.parameters, rules)
    return Schema(parameters, (loss, *losses))


def _with_words(found: Schema, tool: ToolDefinition, rules: Rules) -> Schema:
    """Return a strict schema with what else is to be said of it."""
    losses = found.losses
    if "additionalProperties" not in tool.parameters and _takes_any(tool.function):
        message = "the function takes other arguments too, which can't be given"
        losses = (*losses, Loss("rewritten", ROOT, message))
    names = misnamed(tool.parameters, found.parameters, rules=rules)
    return found._replace(losses=(*losses, *names))


def _takes_any(function: Any) -> bool:
    """Tell whether a function has ``**kwargs``."""
    code = getattr(underlying(function), "__code__", None)
    return isinstance(code, CodeType) and bool(code.co_flags & CO_VARKEYWORDS)
