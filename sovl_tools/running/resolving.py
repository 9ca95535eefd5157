"""A tool whose schema is made by functions at each call, until that has been done."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeAlias

from sovl_tools.model.call import Mode
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import ResolutionError
from sovl_tools.model.result import Failure
from sovl_tools.running.hooks import formed
from sovl_tools.running.plan import Absence, Plan, Settings, is_async, mode_of
from sovl_tools.running.statistics import CallLog

Making: TypeAlias = Callable[[ToolDefinition], Plan | Absence]
"""Makes the plan of a tool that has no functions in its schema."""


class Dynamic:
    """In a plan's place for a tool whose schema has yet to be made: what is known before.

    Attributes:
        definition: the tool, with functions in its parameters.
        limit: how long a call may take, in seconds; making the schema is a part of it.
        mode: where the functions run, as where a sync tool does.
        is_async: whether the tool itself has to be awaited.
        hooks: those that concern it.
        secrets: environment variables whose values must not be seen.
        log: where its calls are counted.
    """

    __slots__ = (
        "_known", "_lock", "_make", "definition", "hooks", "is_async", "limit", "log", "mode",
        "secrets",
    )  # fmt: skip

    def __init__(
        self, definition: ToolDefinition, settings: Settings, log: CallLog, *, make: Making
    ) -> None:
        self.definition = definition
        self.limit: float | None = definition.execution.get("timeout") or settings.timeout
        self.mode: Mode | None = mode_of(definition, settings)
        self.is_async = is_async(definition.function)
        self.hooks = tuple(
            formed(each) for each in settings.hooks if each.concerns(definition.name)
        )
        self.secrets = tuple(definition.requires.get("env", ()))
        self.log = log
        self._make = make
        self._lock = Lock()
        self._known: tuple[str, Plan] | None = None

    def plan(self) -> Plan | Absence:
        """Call the functions and return the plan of what they make; it may be that of before.

        They may run on several threads at a time; so many calls at a time are let in as there may
        be, whatever the schema.
        """
        try:
            resolved = self.definition.resolve()
        except ResolutionError as error:
            return unavailable(self.definition.name, str(error))
        schema = repr(resolved.parameters)
        with self._lock:
            if self._known is not None and self._known[0] == schema:
                return self._known[1]
            made = self._make(resolved)
            if isinstance(made, Plan):
                if self._known is not None:
                    made.gate = self._known[1].gate
                self._known = schema, made
            return made


def unavailable(name: str, reason: str) -> Absence:
    """Return the answer to calls of a tool that is there but can't be called."""
    return Absence(Failure("unavailable", f"tool {name!r} is not available: {reason}"))
