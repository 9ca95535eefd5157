"""Strict where a provider can enforce the schema, and otherwise as loose as it may be."""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any, NamedTuple, Protocol, TypeAlias

from sovl_tools.formats.base import ROOT, Loss, Shape, Undo
from sovl_tools.formats.compat import Rules, compatible, misnamed
from sovl_tools.formats.dialect import Dialect, UnfitError
from sovl_tools.formats.flatness import flat
from sovl_tools.formats.narrowing import narrowed
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.functions import underlying

Cost: TypeAlias = tuple[tuple[str, int], ...]
Finished: TypeAlias = tuple[dict[str, JSON], Undo | None, Cost]
"""A strict schema, what undoes it in arguments, and what it costs; see Shape."""


class Strict(NamedTuple):
    """How a provider wants a schema that it is to enforce.

    Both functions take a narrowed schema, and that of the manifest.

    Attributes:
        dialect: the part of JSON Schema that it knows.
        flat: finishes what ``flatness`` made.
        whole: finishes what ``narrowing`` made; raises an UnfitError for what is too large.
    """

    dialect: Dialect
    flat: Callable[[dict[str, JSON], dict[str, JSON]], Finished]
    whole: Callable[[dict[str, JSON], dict[str, JSON]], Finished]


class Define(Protocol):
    """Makes a provider's definition of a tool and the schema of its arguments."""

    def __call__(
        self, tool: ToolDefinition, schema: dict[str, JSON], *, is_strict: bool
    ) -> dict[str, JSON]:
        """Return a definition that holds the schema itself."""
        ...


class Form(NamedTuple):
    """How a provider takes tools.

    Attributes:
        rules: what it refuses in any schema.
        strict: what it can enforce.
        define: how it is told of a tool.
    """

    rules: Rules
    strict: Strict
    define: Define


def formed(tool: ToolDefinition, form: Form, *, is_strict: bool) -> Shape:
    """Return a tool in a form, strict if that is asked for and can be."""
    if not is_strict:
        return _loose(tool, form)
    parameters, strict = tool.parameters, form.strict
    losses = _unsaid(tool)
    simple = flat(parameters, strict.dialect)
    if simple is not None:
        schema, undo, cost = strict.flat(simple, parameters)
        return Shape(tool, form.define(tool, schema, is_strict=True), losses, undo, is_strict, cost)
    try:
        found = narrowed(parameters, strict.dialect)
        schema, undo, cost = strict.whole(found.schema, parameters)
    except UnfitError as error:
        return _loose(tool, form, error)
    except RecursionError:
        return _loose(tool, form, UnfitError(ROOT, "it is nested too deep"))
    losses = (*found.losses, *losses, *misnamed(parameters, schema, rules=form.rules))
    return Shape(tool, form.define(tool, schema, is_strict=True), losses, undo, is_strict, cost)


def _loose(tool: ToolDefinition, form: Form, why: UnfitError | None = None) -> Shape:
    """Return a tool that is not strict, and why not if that was asked for."""
    schema, losses, _ = compatible(tool.parameters, form.rules)
    if why is not None:
        losses = (Loss("loose", why.path, f"not strict: {why.message}", why.help), *losses)
    return Shape(tool, form.define(tool, schema, is_strict=False), losses)


def _unsaid(tool: ToolDefinition) -> tuple[Loss, ...]:
    """Return that a function would take more than a strict schema has, if it would."""
    if "additionalProperties" in tool.parameters or not _takes_any(tool.function):
        return ()
    message = "the function takes other arguments too, which can't be given"
    return (Loss("rewritten", ROOT, message),)


def _takes_any(function: Any) -> bool:
    """Tell whether a function has ``**kwargs``."""
    is_plain = type(function) is FunctionType and not hasattr(function, "__wrapped__")
    code = getattr(function if is_plain else underlying(function), "__code__", None)
    return isinstance(code, CodeType) and bool(code.co_flags & CO_VARKEYWORDS)
