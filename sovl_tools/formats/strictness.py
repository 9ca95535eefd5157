"""Strict where a provider can enforce the schema, and otherwise as loose as it may be."""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from sovl_tools.formats.dialect import Dialect, UnfitError
from sovl_tools.formats.easing import Rules, eased, misnamed
from sovl_tools.formats.flatness import flat
from sovl_tools.formats.narrowing import Narrowed, narrowed
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


class Strict(NamedTuple):
    """How a provider wants a schema that it is to enforce.

    Attributes:
        dialect: the part of JSON Schema that it knows.
        flat: from what ``flatness`` made, and from the schema of the manifest, to the end.
        whole: the same from what ``narrowing`` made; raises an UnfitError for what is too large.
    """

    dialect: Dialect
    flat: Callable[[dict[str, JSON], dict[str, JSON]], Schema]
    whole: Callable[[Narrowed, dict[str, JSON]], Schema]


def schema_of(tool: ToolDefinition, strict: Strict | None, rules: Rules) -> Schema:
    """Return the schema of a tool's arguments, a strict one if that can be."""
    parameters = tool.parameters
    if strict is None:
        return Schema(*eased(parameters, rules))
    plain = flat(parameters, strict.dialect)
    if plain is not None:
        return _with_words(strict.flat(plain, parameters), tool)
    try:
        found = strict.whole(narrowed(parameters, strict.dialect), parameters)
    except UnfitError as error:
        loss = Loss("loose", error.path, f"not strict: {error.message}", error.help)
    except RecursionError:
        loss = Loss("loose", ROOT, "not strict: it is nested too deep")
    else:
        return _with_words(found, tool, *misnamed(parameters, found.parameters, rules=rules))
    eased_parameters, losses = eased(parameters, rules)
    return Schema(eased_parameters, (loss, *losses))


def _with_words(found: Schema, tool: ToolDefinition, *losses: Loss) -> Schema:
    """Return a strict schema with what else is to be said of it."""
    if "additionalProperties" not in tool.parameters and _takes_any(tool.function):
        message = "the function takes other arguments too, which can't be given"
        losses = (Loss("rewritten", ROOT, message), *losses)
    return found._replace(losses=(*found.losses, *losses)) if losses else found


def _takes_any(function: Any) -> bool:
    """Tell whether a function has ``**kwargs``."""
    is_plain = type(function) is FunctionType and not hasattr(function, "__wrapped__")
    code = getattr(function if is_plain else underlying(function), "__code__", None)
    return isinstance(code, CodeType) and bool(code.co_flags & CO_VARKEYWORDS)
