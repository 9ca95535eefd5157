"""Runs that cannot begin, runs that fail, and journals that cannot be used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import Path
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.suggestion import as_hint


class ProcedureError(SovlToolsError):
    """An invalid procedure; ``diagnostics`` has the places and reasons."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = tuple(diagnostics)

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class _NotFoundError(SovlToolsError, KeyError):
    """A name or an ID that doesn't exist; ``suggestion`` is the nearest that does."""

    kind = ""

    def __init__(self, name: str, suggestion: str | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.suggestion = suggestion

    def __str__(self) -> str:
        return f"there's no {self.kind} {self.name!r}{as_hint(self.suggestion)}"


class ProcedureNotFoundError(_NotFoundError):
    """There isn't a procedure of that name."""

    kind = "procedure"


class RunNotFoundError(_NotFoundError):
    """No run of that ID is in the journal."""

    kind = "run"


class _AdvisingError(SovlToolsError):
    """An error with advice.

    Attributes:
        message: the problem.
        help: the correction, as an imperative; None where that is unknown.
    """

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message, advice)
        self.message = message
        self.help = advice

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message


class UnreadableError(_AdvisingError, ValueError):
    """A string that can't be evaluated; ``line`` and ``column``, from 1, are the place."""

    def __init__(self, message: str, line: int, column: int, advice: str | None = None) -> None:
        super().__init__(message, advice)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {super().__str__()}"


class InputError(SovlToolsError, ValueError):
    """Inputs of a run that do not match; the message names each.

    Attributes:
        problems: the place of each in the inputs, and what is wrong there.
    """

    def __init__(self, message: str, problems: Iterable[tuple[Path, str]] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class StepError(SovlToolsError):
    """A step that failed, and with it the run.

    Attributes:
        message: why, as a tool or a step says it.
        key: of the step in the run; "" while it is unknown.
        path: where the step, or the template in it that has no value, is in its procedure.
        procedure: the name of that procedure.
    """

    def __init__(
        self, message: str, *, key: str = "", path: Path = (), procedure: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.key = key
        self.path = path
        self.procedure = procedure

    def __str__(self) -> str:
        return f"{self.key}: {self.message}" if self.key else self.message


class ChangedProcedureError(SovlToolsError):
    """A procedure that differs from the one of the run to continue."""

    def __init__(self, name: str, run_id: str) -> None:
        super().__init__(f"procedure {name!r} has changed since run {run_id} began")
        self.name = name
        self.run_id = run_id


class UnfinishedError(StepError):
    """A step that was running when its run was interrupted, and may do harm if it is repeated."""

    def __init__(self, key: str, action: str, tool: str | None) -> None:
        what = f"tool {tool!r}" if tool else f"action {action!r}"
        message = (
            f"{what} was running when the run was interrupted, and nothing says that it can be "
            "repeated"
        )
        super().__init__(message, key=key)


class JournalError(_AdvisingError):
    """A journal that can't be opened, read or written; ``path`` is its file."""

    def __init__(self, path: str, message: str, advice: str | None = None) -> None:
        super().__init__(message, advice)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {super().__str__()}"


class RunBusyError(SovlToolsError):
    """A run that is running elsewhere.

    Attributes:
        run_id: of the run.
        pid: the number of the process that runs it.
        host: the name of that process's machine.
    """

    def __init__(self, run_id: str, pid: int, host: str) -> None:
        super().__init__(f"run {run_id!r} is running in process {pid} on {host!r}")
        self.run_id = run_id
        self.pid = pid
        self.host = host


class RunOverError(SovlToolsError):
    """A finished run; ``state`` is its outcome."""

    def __init__(self, run_id: str, state: str) -> None:
        super().__init__(f"run {run_id!r} has {state}")
        self.run_id = run_id
        self.state = state


class TemplateError(_AdvisingError, ValueError):
    """A template or an expression that can't be read."""


class EvaluationError(_AdvisingError):
    """A template or an expression that has no value."""
