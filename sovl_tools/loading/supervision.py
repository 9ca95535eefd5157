"""Loading many folders on a thread that may be given up.

Importing a tool runs its code, which may never return. The folders are loaded in turn on a
daemon thread; when one takes longer than its limit the thread is abandoned, the folder is
rejected, and another thread goes on with the rest.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TypeAlias

from sovl_tools.loading.checks.module import ImportFailure, import_stalled
from sovl_tools.loading.collector import patient_collector
from sovl_tools.loading.failures import border_verdicts, own_place
from sovl_tools.loading.limited import LOADER, frame_of, interrupt
from sovl_tools.loading.pipeline import Settings, load_folder, rejected
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import ask
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.interface import StepHandler

Observer: TypeAlias = Callable[[ToolFolder | Candidate], None]
"""Called with each folder before it is loaded and with each candidate afterwards."""


_FEW = 32
"""So few folders replace others, which the collector has to find: it is not held back."""


def load_folders(
    folders: Sequence[ToolFolder],
    settings: Settings,
    *,
    existing: Mapping[str, StepHandler] | None = None,
    observe: Observer = lambda _: None,
) -> list[Candidate]:
    """Load the folders in turn, each within the time limit, and return what became of them.

    ``existing`` are step handlers of tools loaded before; each tool sees those before it.

    Raises:
        KeyboardInterrupt: the user's; what a tool raises is what became of that tool.
    """
    handlers = dict(existing or {})
    candidates: list[Candidate] = []
    with patient_collector() if len(folders) > _FEW else nullcontext():
        while len(candidates) < len(folders):
            loader = _Loader(folders[len(candidates) :], settings, handlers, observe)
            loader.start()
            candidates += loader.outcome()
    return candidates


class _Forks:
    """Counts how often a process was forked until it became this one."""

    def __init__(self) -> None:
        self.number = 0

    def count(self) -> None:
        self.number += 1


_FORKS = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_FORKS.count)


class _Loader:
    """One thread that loads folders in turn until it is done or abandoned."""

    def __init__(
        self,
        folders: Sequence[ToolFolder],
        settings: Settings,
        handlers: dict[str, StepHandler],
        observe: Observer,
    ) -> None:
        self._folders = folders
        self._settings = settings
        self._handlers = handlers
        self._observe = observe
        self._candidates: list[Candidate] = []
        self._forks = _FORKS.number
        self._started = time.monotonic()
        self._failure: BaseException | None = None
        self._abandoned = False
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=LOADER, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def outcome(self) -> list[Candidate]:
        """Wait for the thread, no longer than its folders may take; return what it has done."""
        while not self._done.wait(self._time_left()):
            stalled = self._give_up()
            if stalled is not None:
                return [*self._candidates, stalled]
        if self._failure is not None:
            raise self._failure
        return self._candidates

    def _run(self) -> None:
        try:
            self._load_all()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._failure = error
        finally:
            self._done.set()

    def _load_all(self) -> None:
        for folder in self._folders:
            self._started = time.monotonic()
            self._observe(folder)
            candidate = self._loaded(folder)
            if _FORKS.number != self._forks:
                os._exit(0)  # the tool has forked, and its parent goes on
            if not self._keep(candidate):
                return

    def _loaded(self, folder: ToolFolder) -> Candidate:
        try:
            return load_folder(folder, self._settings, self._handlers)
        except KeyboardInterrupt as error:  # the user interrupts the main thread, and none else
            return rejected(folder, border_verdicts(error, folder))

    def _keep(self, candidate: Candidate) -> bool:
        """Add a candidate, unless the thread has been abandoned meanwhile."""
        with self._lock:
            if self._abandoned:
                return False
            self._candidates.append(candidate)
            self._started = time.monotonic()
        if candidate.definition is not None:
            self._handlers.update(candidate.definition.step_handlers)
        self._observe(candidate)
        return True

    def _time_left(self) -> float:
        left = self._started + self._settings.limit - time.monotonic()
        return min(max(0.0, left), threading.TIMEOUT_MAX)

    def _give_up(self) -> Candidate | None:
        """Abandon the thread if its folder is overdue; return that folder's candidate."""
        with self._lock:
            is_done = len(self._candidates) == len(self._folders)
            if self._time_left() > 0 or is_done:
                return None
            self._abandoned = True
        stalled = self._stalled(self._folders[len(self._candidates)])
        self._observe(stalled)
        return stalled

    def _stalled(self, folder: ToolFolder) -> Candidate:
        place = own_place(frame_of(self._thread), folder)
        interrupt(self._thread)
        words = f"was not done after {self._settings.limit:g} s"
        failure = ImportFailure(place, "", words)
        return rejected(folder, ask((import_stalled,), failure))
