"""Journals that can't be used, and runs that can't be taken up."""

from __future__ import annotations

from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.suggestion import as_hint


class JournalError(SovlToolsError):
    """A journal that can't be opened, read or written.

    Attributes:
        path: of the journal's file.
        message: what is there.
        help: what would be right, as an imperative; None where that can't be told.
    """

    def __init__(self, path: str, message: str, advice: str | None = None) -> None:
        super().__init__(path, message, advice)
        self.path = path
        self.message = message
        self.help = advice

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" + (f"; {self.help}" if self.help else "")


class RunNotFoundError(SovlToolsError, KeyError):
    """No run of that id is in the journal; ``suggestion`` is the nearest that is."""

    def __init__(self, run_id: str, suggestion: str | None = None) -> None:
        super().__init__(run_id)
        self.run_id = run_id
        self.suggestion = suggestion

    def __str__(self) -> str:
        return f"there is no run {self.run_id!r}{as_hint(self.suggestion)}"


class RunBusyError(SovlToolsError):
    """A run that is under way elsewhere.

    Attributes:
        run_id: of the run.
        pid: the number of the process that runs it.
        host: the name of the machine on which that process is.
    """

    def __init__(self, run_id: str, pid: int, host: str) -> None:
        super().__init__(run_id, pid, host)
        self.run_id = run_id
        self.pid = pid
        self.host = host

    def __str__(self) -> str:
        return f"run {self.run_id!r} is under way in process {self.pid} on {self.host!r}"


class RunOverError(SovlToolsError):
    """A run of which nothing is left to do; ``state`` says how it ended."""

    def __init__(self, run_id: str, state: str) -> None:
        super().__init__(run_id, state)
        self.run_id = run_id
        self.state = state

    def __str__(self) -> str:
        return f"run {self.run_id!r} has {self.state}"
