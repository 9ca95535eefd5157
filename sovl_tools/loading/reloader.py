"""A registry's tools kept up to date: when somebody asks for it, or whenever a file changes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TypeAlias

from sovl_tools.loading.load import Load
from sovl_tools.loading.origins import Origin
from sovl_tools.loading.shelf import Shelf
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, internal_diagnostic
from sovl_tools.watching.events import Events, Place
from sovl_tools.watching.signs import Signs
from sovl_tools.watching.watcher import Watcher

Swap: TypeAlias = Callable[[Catalog, tuple[Diagnostic, ...], CatalogChange], None]
"""Takes a new catalog, what is wrong with the paths, and what has changed."""


class Reloader:
    """Loads folders again, one reload at a time, and hands the new catalog to the registry."""

    def __init__(self, load: Load, swap: Swap) -> None:
        self._shelf = Shelf(load)
        self._swap = swap
        self._lock = threading.RLock()
        self._counting = threading.Lock()
        self._watcher: Watcher | None = None
        self._blocks = 0

    def reload(
        self, touched: Collection[str] | None = None, *, since: float | None = None
    ) -> CatalogChange:
        """Load the folders in which something was touched, or look at all of them.

        A reload that fails by a mistake of ours changes nothing, and its diagnostics say so.

        Args:
            touched: absolute paths; None for everything.
            since: when the first sign of the change was seen, by ``perf_counter``.
        """
        started = perf_counter() if since is None else since
        with self._lock:
            try:
                return self._handed_over(self._shelf.reload(touched), started)
            except Exception as error:  # noqa: BLE001 - the barrier: the tools of before serve
                found = internal_diagnostic(error, ".")
                return CatalogChange(diagnostics=(found,), duration=perf_counter() - started)

    @property
    def catalog(self) -> Catalog:
        """The tools as they are now."""
        return self._shelf.catalog

    def register(self, definitions: Sequence[ToolDefinition], *, override: bool) -> list[Candidate]:
        """Enter tools that are in no folder; return their candidates, rejected if unsound.

        ``override`` puts each before all that were registered before.
        """
        started = perf_counter()
        with self._lock:
            register = self._shelf.enlisted.register
            candidates = [register(each, is_first=override) for each in definitions]
            if any(each.status == "loaded" for each in candidates):
                self._handed_over(self._shelf.enlist(), started)
        return candidates

    def unregister(self, name: str) -> bool:
        """Take out the tool that was registered by that name first; tell whether there was one."""
        started = perf_counter()
        with self._lock:
            is_found = bool(self._shelf.enlisted.unregister(name))
            self._handed_over(self._shelf.enlist(), started)
        return is_found

    def look(self, origin: Origin) -> CatalogChange:
        """Enter all tools of an origin, from now on at every reload."""
        started = perf_counter()
        with self._lock:
            return self._handed_over(self._shelf.enlist([origin]), started)

    def _handed_over(self, change: CatalogChange, started: float) -> CatalogChange:
        change = change._replace(duration=perf_counter() - started)
        self._swap(self._shelf.catalog, self._shelf.diagnostics, change)
        return change

    @contextmanager
    def watch(self, *, poll: bool, libraries: Iterable[str]) -> Iterator[Watcher]:
        """Reload whatever changes until the block ends; of several blocks the last one counts.

        Args:
            poll: look again and again instead of waiting for events; the first block decides.
            libraries: folders and modules outside of the tools' folders that tools import.
        """
        watcher = self._begin(poll=poll, libraries=map(os.path.abspath, libraries))
        try:
            yield watcher
        finally:
            self._end(watcher)

    def _begin(self, *, poll: bool, libraries: Iterable[str]) -> Watcher:
        with self._lock:
            self._shelf.libraries.add(libraries)
            with self._counting:
                if self._watcher is not None:
                    self._blocks += 1
                    return self._watcher
            signs = Signs()
            watcher = Watcher(self, None if poll else Events(signs.tell), signs)
            watcher.start()
            with self._counting:
                self._watcher, self._blocks = watcher, 1
            return watcher

    def _end(self, watcher: Watcher) -> None:
        """Count a block less, without waiting for a reload that is under way."""
        with self._counting:
            self._blocks -= 1
            is_last = not self._blocks
            if is_last:
                self._watcher = None
        if is_last:
            watcher.stop()

    def places(self) -> set[Place]:
        """Return the directories to watch."""
        with self._lock:
            return self._shelf.places()

    def learn(self) -> set[str]:
        """Look at all folders for the first time; return those that changed since they loaded."""
        with self._lock:
            return self._shelf.learn()

    def changed(self) -> set[str]:
        """Return the folders that look otherwise than when they were loaded, or that are new."""
        with self._lock:
            return self._shelf.changed()

    def react(self, touched: set[str], *, since: float) -> None:
        """Load the folders again in which something was touched."""
        self.reload(touched, since=since)
