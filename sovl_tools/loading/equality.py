"""Whether two candidates, or two definitions, are those of one function."""

from __future__ import annotations

from types import MethodType
from typing import Any

from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition


def is_another(first: Candidate, second: Candidate) -> bool:
    """Tell whether two candidates certainly stand for two objects."""
    functions = [each.definition.function for each in (first, second) if each.definition]
    return len(functions) > 1 and ran(functions[0]) != ran(functions[1])


def is_same_tool(first: ToolDefinition, second: ToolDefinition) -> bool:
    """Tell whether two definitions say the same of the same function."""
    return ran(first.function) == ran(second.function) and content_of(first) == content_of(second)


def content_of(definition: ToolDefinition | None) -> tuple[Any, ...]:
    """Return what a definition is made of, so that 1, 1.0 and true are told apart."""
    if definition is None:
        return ()
    fields = dict(vars(definition))
    handlers = fields.pop("step_handlers")
    code = fields.pop("function"), *(handlers[action] for action in sorted(handlers))
    return repr(fields), sorted(handlers), [ran(each) for each in code]


def ran(function: Any) -> tuple[int, ...]:
    """Return what tells one function from another; a bound method is another object each time."""
    if isinstance(function, MethodType):
        return id(function.__func__), id(function.__self__)
    return (id(function),)
