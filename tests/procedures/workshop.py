"""Procedures as dictionaries, and tools that they can call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sovl_tools import (
    Diagnostic,
    LogMessage,
    ProcedureManager,
    Progress,
    ToolDefinition,
    Tooler,
    ToolRegistry,
    definition_of,
    tool,
)
from sovl_tools.procedures.run.environment import (
    Event,
    RunStarted,
    StepEnded,
    StepRetried,
    StepStarted,
)


def procedure(*steps: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    """Return a procedure of steps; each word that is given is a key of it."""
    known = {"name": "sample", "description": "A sample.", "steps": list(steps)}
    return {**known, **keys}


def inputs(*required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of inputs, some of which are required."""
    return {"type": "object", "properties": properties, "required": list(required)}


def call(name: str, save_as: str | None = None, /, **arguments: Any) -> dict[str, Any]:
    """Return a step that calls a tool."""
    kept = {} if save_as is None else {"save_as": save_as}
    return {"action": "tool", "tool": name, "arguments": arguments, **kept}


def values(**assigned: Any) -> dict[str, Any]:
    """Return a step that sets variables."""
    return {"action": "set", "values": assigned}


def returning(value: Any) -> dict[str, Any]:
    """Return a step that returns a value."""
    return {"action": "return", "value": value}


def registry_of(*functions: Any, **handlers: Any) -> ToolRegistry:
    """Return a registry of functions, and of a tool that brings step handlers."""
    registry = ToolRegistry()
    for each in functions:
        registry.register(each)
    if handlers:
        _bring(registry, handlers)
    return registry


def _bring(registry: ToolRegistry, handlers: Mapping[str, Any]) -> None:
    def bringer() -> None:
        """Bring handlers."""

    registry.register(defined(bringer, step_handlers=dict(handlers)))


def defined(function: Callable[..., Any], **fields: Any) -> ToolDefinition:
    """Return the definition of a function, with other fields than it would have."""
    return replace(definition_of(tool(function)), **fields)


def manager_of(*functions: Any, **handlers: Any) -> ProcedureManager:
    registry = registry_of(*functions, **handlers)
    return ProcedureManager(registry, Tooler(registry))


def run(source: Any, *functions: Callable[..., Any], **given: Any) -> Any:
    """Run a procedure over functions with the inputs that are given."""
    return manager_of(*functions).run_sync(source, given)


def add(a: int, b: int) -> int:
    """Add numbers."""
    return a + b


def echo(value: Any = None) -> Any:
    """Return what was given."""
    return value


def refuse(why: str = "no reason") -> None:
    """Fail."""
    from sovl_tools import ToolError

    raise ToolError(why)


class Flaky(NamedTuple):
    """Something that fails so many times before it succeeds; ``calls`` says how often it ran."""

    failures: int
    calls: list[int]

    def tool(self) -> Callable[[], int]:
        def flaky() -> int:
            """Fail a few times."""
            self.calls.append(len(self.calls) + 1)
            if len(self.calls) <= self.failures:
                raise ValueError(f"attempt {len(self.calls)}")
            return len(self.calls)

        return flaky


def story(events: list[Event]) -> list[str]:
    """Return events as short strings, in order."""
    return [_told(each) for each in events]


def _told(event: Event) -> str:
    if isinstance(event, RunStarted):
        return f"run {event.procedure}"
    if isinstance(event, StepStarted):
        return f"{event.key} started"
    if isinstance(event, StepRetried):
        return f"{event.key} attempt {event.attempt}: {event.message}"
    if isinstance(event, StepEnded):
        return f"{event.key} {event.state}" + (f": {event.message}" if event.message else "")
    if isinstance(event, Progress):
        return f"{event.tool} at {event.done}"
    assert isinstance(event, LogMessage)
    return f"{event.tool} says {event.message}"


def found(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    """Return diagnostics as ``CODE message``."""
    return [f"{each.code} {each.message}" for each in diagnostics]
