"""What a step handler may ask of the run in which its step is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sovl_tools.model.call import Level
from sovl_tools.model.document import JSON
from sovl_tools.model.protocols import ToolCaller, ToolLookup


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
