"""From paths to a catalog: load all folders on a thread with a time limit, and log the result."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.import_errors import import_verdicts, own_place
from sovl_tools.loading.pipeline import load_contents, rejected
from sovl_tools.loading.rules.module import ImportFailure, import_stalled
from sovl_tools.loading.sources import Collected, Contents, collect, read_folder
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.definition import StepHandler, ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, ask
from sovl_tools.model.errors import TimeLimitError, UnavailableError
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.reporting.text import plain
from sovl_tools.threads import Job, is_from_user

_LOGGER = logging.getLogger("sovl_tools")

Observer: TypeAlias = Callable[[ToolFolder | Candidate], None]
"""Called with each folder before it is loaded and with each candidate afterwards."""


def load_folders(
    folders: Sequence[Contents],
    settings: Settings,
    *,
    existing: Mapping[str, StepHandler] | None = None,
    observe: Observer | None = None,
) -> list[Candidate]:
    """Load the folders in turn, each within the time limit, and return a candidate for each.

    ``existing`` are step handlers of tools loaded before; each tool sees those before it.

    Raises:
        KeyboardInterrupt: the user's. If a tool raises it, only that tool is rejected.
    """
    handlers = dict(existing or {})
    candidates: list[Candidate] = []
    while len(candidates) < len(folders):
        # after a folder that stalled, the rest get another thread
        rest = folders[len(candidates) :]
        candidates += _loaded(rest, settings, handlers, observe or (lambda _: None))
    return candidates


def _loaded(
    folders: Sequence[Contents],
    settings: Settings,
    handlers: dict[str, StepHandler],
    observe: Observer,
) -> list[Candidate]:
    """Load folders on one thread until one exceeds the limit; its candidate is the last then."""
    candidates: list[Candidate] = []
    abandoned = threading.Event()
    started = time.monotonic()

    def load_all() -> None:
        nonlocal started
        for contents in folders:
            started = time.monotonic()
            observe(contents.folder)
            candidate = _load(contents, settings, handlers)
            if abandoned.is_set():
                return
            if candidate.definition is not None:
                handlers.update(candidate.definition.step_handlers)
            observe(candidate)
            candidates.append(candidate)

    job = Job(load_all)
    while not job.wait(started + settings.limit - time.monotonic()):
        if time.monotonic() < started + settings.limit:
            continue
        abandoned.set()
        done = candidates[:]
        folder = folders[len(done)].folder
        place = own_place(job.frame, folder)  # before the thread continues or ends
        job.give_up()
        failure = ImportFailure(place, "", str(TimeLimitError(settings.limit)))
        stalled = rejected(folder, ask((import_stalled,), failure))
        observe(stalled)
        return [*done, stalled]
    job.result()  # raises what ended the thread, which no tool can have raised
    return candidates


def _load(contents: Contents, settings: Settings, handlers: Mapping[str, StepHandler]) -> Candidate:
    folder, process = contents.folder, os.getpid()
    try:
        with _in_progress(folder.location):
            return load_contents(contents, settings, handlers)
    except KeyboardInterrupt as error:
        if is_from_user(error):
            raise
        return rejected(folder, import_verdicts(error, folder))
    finally:
        if os.getpid() != process:
            os._exit(0)  # the tool has forked, and its parent continues


def import_later(
    contents: Contents, settings: Settings, on_failure: Callable[[Candidate, Contents], object]
) -> ToolDefinition:
    """Import a folder's module whose tool was made of its text, and bind and check it as always.

    Raises:
        UnavailableError: that fails; ``on_failure`` has been called with the candidate.
    """
    (candidate,) = load_folders([contents], settings._replace(defer=None))
    if candidate.definition is None:
        on_failure(candidate, contents)
        raise UnavailableError(candidate.name, "; ".join(candidate.reasons))
    return candidate.definition


class _Progress(threading.local):
    """The locations of folders that the current thread is loading."""

    def __init__(self) -> None:
        self.locations: list[str] = []


_PROGRESS = _Progress()


@contextmanager
def _in_progress(location: str) -> Iterator[None]:
    _PROGRESS.locations.append(location)
    try:
        yield
    finally:
        _PROGRESS.locations.remove(location)


class Load(NamedTuple):
    """The result of a load, and its sources.

    Attributes:
        paths: as the caller named them.
        base: what relative paths are relative to, should the current directory change.
        names: names of tools; None for all.
        exclude: patterns of folders to skip.
        settings: how the folders are loaded.
        collected: the folders.
        digests: hashes of their contents, in the same order.
        candidates: their candidates, in the same order.
        catalog: the candidates combined.
    """

    paths: Sequence[str | os.PathLike[str]] = ()
    base: str = ""
    names: Collection[str] | None = None
    exclude: Sequence[str] = ()
    settings: Settings = Settings()
    collected: Collected = Collected((), ())
    digests: Sequence[str] = ()
    candidates: Sequence[Candidate] = ()
    catalog: Catalog = Catalog()


def load(
    paths: Sequence[str | os.PathLike[str]],
    *,
    names: Collection[str] | None = None,
    exclude: Sequence[str] = (),
    settings: Settings,
) -> Load:
    """Take all tool folders of the paths through the pipeline, and combine the candidates."""
    base = os.path.abspath("")
    collected = collect(paths, names=names, exclude=exclude)
    if _PROGRESS.locations:  # imports by a tool's own code
        folders = [each for each in collected.folders if each.location not in _PROGRESS.locations]
        collected = collected._replace(folders=tuple(folders))
    contents = [read_folder(each, settings) for each in collected.folders]
    candidates = load_folders(contents, settings)
    digests = [each.digest for each in contents]
    catalog = combine(candidates)
    return Load(paths, base, names, exclude, settings, collected, digests, candidates, catalog)


def log_load(catalog: Catalog) -> None:
    """Log each tool of a load; rejected ones as warnings."""
    for each in catalog.candidates:
        if each.status == "rejected":
            log_rejected(each)
        elif each.status == "loaded":
            _LOGGER.info("tool %s was loaded from %s", each.name, each.path)


def log_change(change: CatalogChange, catalog: Catalog, before: Iterable[Candidate]) -> None:
    """Log a change; rejected versions as warnings, unless they were logged before."""
    for kind in ("added", "updated", "removed"):
        for name in getattr(change, kind):
            _LOGGER.info("tool %s was %s", name, kind)
    if not change.rejected:
        return
    known = {each.location: each for each in before}
    for each in catalog.candidates:
        is_new = each.name in change.rejected and each != known.get(each.location)
        if each.status == "rejected" and is_new:
            log_rejected(each)


def log_sources(found: Iterable[Diagnostic], before: Iterable[Diagnostic] = ()) -> None:
    """Log each source of tools, such as a directory or an entry point, that can't be loaded.

    Problems that it had before were logged then.
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
