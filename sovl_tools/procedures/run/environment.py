"""What a run works with, and what of it step handlers get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sovl_tools.model.call import Level
from sovl_tools.model.document import JSON
from sovl_tools.model.protocols import ToolCaller, ToolLookup
from sovl_tools.procedures.model import Procedure
from sovl_tools.procedures.run.events import Event


class Outcome(NamedTuple):
    """What came of an attempt in an earlier process: a value, or else why it failed."""

    value: JSON = None
    error: str | None = None


class StepLog:
    """Where the steps of a run are written down; this one writes nothing.

    Attributes:
        run_id: of the run; ``""`` for one that is not written down.
    """

    run_id = ""

    def known(self, key: str, action: str, tool: str | None, arguments: JSON) -> Outcome | None:
        """Return what came of an attempt in an earlier process; None if it did not end."""

    def begin(
        self, key: str, action: str, tool: str | None, arguments: JSON, *, is_durable: bool
    ) -> None:
        """Write down that an attempt begins; if it is durable, so that no crash loses it."""

    def succeed(self, key: str, result: JSON, *, is_durable: bool) -> None:
        """Write down what came of an attempt."""

    def fail(self, key: str, error: str, *, is_durable: bool) -> None:
        """Write down why an attempt failed."""

    def skip(self, key: str, action: str) -> None:
        """Write down that a step was not to be taken."""


class RunEnvironment(NamedTuple):
    """What a run works with.

    Attributes:
        registry: where tools and step handlers are.
        tooler: calls tools.
        procedure: returns another procedure by its name, given the one that asks for it.
        log: where steps are written down.
        listen: told what happens, also from the threads of tools; None for nobody.
    """

    registry: ToolLookup
    tooler: ToolCaller
    procedure: Callable[[Procedure, str], Procedure]
    log: StepLog
    listen: Callable[[Event], object] | None


class StepContext(NamedTuple):
    """Given to ``handler(step, context)`` beside the step, whose templates are filled in.

    Attributes:
        variables: those that are there, a copy.
        inputs: of the procedure.
        tooler: calls tools.
        registry: where the tools are.
        run_id: of the run; ``""`` for one that is not written down.
        log: says something about the run: ``context.log("warning", "no answer yet")``.
    """

    variables: Mapping[str, JSON]
    inputs: JSON
    tooler: ToolCaller
    registry: ToolLookup
    run_id: str
    log: Callable[[Level, str], None]

    def __repr__(self) -> str:
        run = f" of run {self.run_id}" if self.run_id else ""
        return f"<StepContext{run} with {len(self.variables)} variables>"
