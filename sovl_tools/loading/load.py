"""From paths to a catalog: all folders, on a thread that may be given up; loads in the log."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from time import time_ns
from typing import NamedTuple, TypeAlias

from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.collector import patient_collector
from sovl_tools.loading.import_errors import border_verdicts, own_place
from sovl_tools.loading.pipeline import check_folder, load_checked, rejected
from sovl_tools.loading.rules.module import ImportFailure, import_stalled
from sovl_tools.loading.sources import Collected, collect
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange, LoadReport
from sovl_tools.model.definition import StepHandler
from sovl_tools.model.diagnostic import Diagnostic, ask
from sovl_tools.model.errors import TimeLimitError
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.reporting.text import plain
from sovl_tools.threads import Job

_LOGGER = logging.getLogger("sovl_tools")

Observer: TypeAlias = Callable[[ToolFolder | Candidate], None]
"""Called with each folder before it is loaded and with each candidate afterwards."""


_AHEAD = 32
"""So many folders are read and checked before the first of them is imported.

That takes a sixth less than to go back and forth between reading and running.
"""

SOON = 0.5
"""Seconds after which a load that does not wait for a folder goes on without it."""


def load_folders(
    folders: Sequence[ToolFolder],
    settings: Settings,
    *,
    existing: Mapping[str, StepHandler] | None = None,
    observe: Observer | None = None,
    defer: Callable[[LateFolder], None] | None = None,
) -> list[Candidate]:
    """Load the folders in turn, each within the time limit, and return what became of them.

    ``existing`` are step handlers of tools loaded before; each tool sees those before it. With
    ``defer`` nobody waits for a folder that is not loaded soon: it is handed over, and left out.

    Raises:
        KeyboardInterrupt: the user's; what a tool raises is what became of that tool.
    """
    handlers = dict(existing or {})
    candidates: list[Candidate] = []
    # who observes, or waits for nobody, has to know which folder something comes of
    ahead = _AHEAD if observe is None and defer is None else 1
    with patient_collector(len(folders)):
        while folders:
            loader = _Loader(folders, settings, handlers, observe, ahead=ahead)
            done = loader.outcome(SOON if defer is not None else math.inf)
            candidates += done
            # one of those that were looked at together stalled; which one shows one by one
            ahead = 1 if loader.stalled_ahead else ahead
            # what comes after a folder that stalled gets another thread
            folders = folders[len(done) :]
            if loader.late is not None and defer is not None:
                defer(loader.late)
                folders = folders[1:]
    return candidates


class LateFolder(NamedTuple):
    """A folder whose import goes on while others are loaded."""

    folder: ToolFolder
    loader: _Loader

    def outcome(self) -> Candidate | None:
        """Wait for its candidate, no longer than it may take; None if it has been given up."""
        done = self.loader.outcome()
        return done[-1] if done and done[-1].location == self.folder.location else None

    def give_up(self) -> None:
        """Interrupt its import: nobody wants to know any more."""
        self.loader.give_up()


class _Loader:
    """One thread that loads folders in turn until it is done or abandoned.

    Attributes:
        late: the last of its folders if nobody waited for that; it takes no other any more.
        stalled_ahead: whether it was given up while it checked several folders.
    """

    def __init__(
        self,
        folders: Sequence[ToolFolder],
        settings: Settings,
        handlers: dict[str, StepHandler],
        observe: Observer | None,
        *,
        ahead: int,
    ) -> None:
        self._folders = folders
        self._settings = settings
        self._handlers = handlers
        self._observe = observe
        self._ahead = ahead
        self._is_ahead = False
        self.stalled_ahead = False
        self._candidates: list[Candidate] = []
        self._process = os.getpid()
        self._started = time.monotonic()
        self._abandoned = False
        self.late: LateFolder | None = None
        self._lock = threading.Lock()
        self._job = Job(self._load_all)

    def outcome(self, patience: float = math.inf) -> list[Candidate]:
        """Wait for the thread, no longer than its folders may take; return what it has done.

        After ``patience`` seconds with one folder, that becomes the late one.
        """
        while not self._job.wait(self._time_left(patience)):
            stalled = self._give_up_overdue()
            if stalled is not None:
                return [*self._candidates, *stalled]
            if patience < math.inf and self._defer(patience):
                return self._candidates[:]
        # raises what ended the thread, which no tool can have raised
        self._job.result()
        return self._candidates

    def _defer(self, patience: float) -> bool:
        """Take no more folders after one that goes on for long; tell whether there is one."""
        with self._lock:
            number = len(self._candidates)
            if number == len(self._folders) or self._time_left(patience) > 0:
                return False
            self.late = LateFolder(self._folders[number], self)
            return True

    def give_up(self) -> None:
        """Keep nothing more of what the thread does, and interrupt it."""
        with self._lock:
            self._abandoned = True
        self._job.give_up()

    def _load_all(self) -> None:
        for start in range(0, len(self._folders), self._ahead):
            folders = self._folders[start : start + self._ahead]
            self._started = time.monotonic()
            if self._observe is not None:
                self._observe(folders[0])
            self._is_ahead = len(folders) > 1
            checked = [check_folder(each, self._settings) for each in folders]
            with self._lock:
                if self._abandoned:
                    return
                self._is_ahead, self._started = False, time.monotonic()
            for folder, each in zip(folders, checked, strict=True):
                try:
                    candidate = load_checked(each, self._settings, self._handlers)
                except (
                    KeyboardInterrupt
                ) as error:  # a tool's own: the user's is for the main thread
                    candidate = rejected(folder, border_verdicts(error, folder))
                if os.getpid() != self._process:
                    os._exit(0)  # the tool has forked, and its parent goes on
                if not self._keep(candidate):
                    return

    def _keep(self, candidate: Candidate) -> bool:
        """Add a candidate, unless the thread has been abandoned; tell whether it goes on."""
        with self._lock:
            if self._abandoned:
                return False
            self._candidates.append(candidate)
            self._started = time.monotonic()
            goes_on = self.late is None
        # the thread that takes the next folders has the handlers now
        if candidate.definition is not None and goes_on:
            self._handlers.update(candidate.definition.step_handlers)
        if self._observe is not None:
            self._observe(candidate)
        return goes_on

    def _time_left(self, patience: float = math.inf) -> float:
        return self._started + min(self._settings.limit, patience) - time.monotonic()

    def _give_up_overdue(self) -> list[Candidate] | None:
        """Abandon the thread if its folder is overdue; return that folder's candidate.

        There is none if it might be any of several folders.
        """
        with self._lock:
            is_done = len(self._candidates) == len(self._folders)
            if self._time_left() > 0 or is_done:
                return None
            self._abandoned, self.stalled_ahead = True, self._is_ahead
        if self.stalled_ahead:
            self._job.give_up()
            return []
        folder = self._folders[len(self._candidates)]
        place = own_place(self._job.frame, folder)  # before it goes on, or ends
        self._job.give_up()
        failure = ImportFailure(place, "", str(TimeLimitError(self._settings.limit)))
        stalled = rejected(folder, ask((import_stalled,), failure))
        if self._observe is not None:
            self._observe(stalled)
        return [stalled]


class Load(NamedTuple):
    """What was loaded from where.

    Attributes:
        paths: as the caller named them.
        base: what relative paths are relative to, should the current directory change.
        names: only these tools, unless it is None.
        exclude: patterns of folders that are left out.
        settings: how the folders are loaded.
        collected: the folders.
        candidates: what became of them, in the same order.
        catalog: what was made of the candidates.
        moment: when it began, in nanoseconds since the epoch.
    """

    paths: Sequence[str | os.PathLike[str]] = ()
    base: str = ""
    names: Collection[str] | None = None
    exclude: Sequence[str] = ()
    settings: Settings = Settings()
    collected: Collected = Collected((), ())
    candidates: Sequence[Candidate] = ()
    catalog: Catalog = Catalog()
    moment: int = 0


def load(
    paths: Sequence[str | os.PathLike[str]],
    *,
    names: Collection[str] | None = None,
    exclude: Sequence[str] = (),
    settings: Settings,
) -> Load:
    """Take all tool folders of the paths through the pipeline, and combine what comes of them."""
    moment, base = time_ns(), os.path.abspath("")
    collected = collect(paths, names=names, exclude=exclude)
    candidates = load_folders(collected.folders, settings)
    catalog = combine(candidates)
    return Load(paths, base, names, exclude, settings, collected, candidates, catalog, moment)


def log_load(report: LoadReport) -> None:
    """Log each tool of a load: a warning for one that was rejected."""
    for each in report.folders:
        if each.status == "rejected":
            log_rejected(each)
        elif each.status == "loaded":
            _LOGGER.info("tool %s was loaded from %s", each.name, each.path)


def log_change(change: CatalogChange, catalog: Catalog, before: Iterable[Candidate]) -> None:
    """Log what has changed: a warning for each new version that was rejected.

    What was in the catalog before, as it is now, was logged then.
    """
    for kind in ("added", "updated", "removed"):
        for name in getattr(change, kind):
            _LOGGER.info("tool %s was %s", name, kind)
    if not change.rejected:
        return
    known = set(map(id, before))
    for each in catalog.candidates:
        if each.status == "rejected" and id(each) not in known and each.name in change.rejected:
            log_rejected(each)


def log_sources(found: Iterable[Diagnostic], before: Iterable[Diagnostic] = ()) -> None:
    """Log each source of tools, such as a directory or an entry point, that can't be loaded.

    What was wrong with one before was logged then.
    """
    known = set(before)
    for each in found:
        if each.severity == "error" and each not in known:
            _LOGGER.warning("tools can't be loaded: %s", plain(str(each)))


def log_rejected(candidate: Candidate) -> None:
    """Log why a tool was rejected."""
    reasons = plain("; ".join(candidate.reasons))
    subject = candidate.name if candidate.line else candidate.path
    _LOGGER.warning("tool %s was rejected: %s", plain(subject), reasons)
