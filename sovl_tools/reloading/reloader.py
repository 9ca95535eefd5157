"""A registry's tools kept up to date, by one reload at a time."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeAlias

from sovl_tools.authoring.decorator import definitions_in
from sovl_tools.loading.catalog_builder import is_same_tool
from sovl_tools.loading.load import Load
from sovl_tools.loading.origins import Origin
from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.model.context import Watch
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, internal_diagnostic
from sovl_tools.model.errors import DuplicateToolError, ToolLoadError
from sovl_tools.reloading.reload_state import ReloadState

_LOGGER = logging.getLogger("sovl_tools")

Swap: TypeAlias = Callable[[Catalog, tuple[Diagnostic, ...], CatalogChange], None]
"""Puts a new catalog in the place of the old one, with what is wrong with the sources."""


class Reloader:
    """Loads folders again, one reload at a time, and hands the new catalog to the registry."""

    def __init__(self, load: Load, swap: Swap) -> None:
        self._state = ReloadState(load)
        self._swap = swap
        self._lock = threading.RLock()
        self._watches: Any = None

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
                return self._handed_over(self._state.reload(touched), started)
            except Exception as error:  # noqa: BLE001 - the barrier: the tools of before serve
                found = internal_diagnostic(error, ".")
                return CatalogChange(diagnostics=(found,), duration=perf_counter() - started)

    def register(
        self, tool: object, *, override: bool, strict: bool
    ) -> ToolDefinition | list[ToolDefinition]:
        """Enter whatever was handed over, and return the definitions that are in force now.

        Of an object the sound tools are entered even if others are unsound. ``override`` puts them
        before all that were registered before.

        Raises:
            TypeError: there is no tool in it, or its parameters can't be expressed.
            ToolLoadError: definitions are unsound.
            DuplicateToolError: another tool of its name is in force, and ``strict`` is set; then
                nothing is entered.
        """
        started = perf_counter()
        found = definitions_in(tool)
        many = found if isinstance(found, list) else [found]
        with self._lock:
            if strict and not override:
                self._check_new(many)
            register = self._state.registrations.register
            candidates = [register(each, is_first=override) for each in many]
            self._handed_over(self._state.combine(), started)
            in_force = [self._state.catalog.tools.get(each.name, each) for each in many]
        errors = [
            found
            for each in candidates
            if each.status != "loaded"
            for found in each.diagnostics
            if found.severity == "error"
        ]
        if errors:
            raise ToolLoadError(errors)
        return in_force if isinstance(found, list) else in_force[0]

    def _check_new(self, definitions: Iterable[ToolDefinition]) -> None:
        for each in definitions:
            known = self._state.catalog.tools.get(each.name)
            if known is not None and not is_same_tool(known, each):
                raise DuplicateToolError(each.name, known.source)

    def unregister(self, name: str) -> bool:
        """Take out the tool that was registered by that name first; tell whether there was one."""
        started = perf_counter()
        with self._lock:
            is_found = self._state.registrations.unregister(name)
            self._handed_over(self._state.combine(), started)
        return is_found

    def look(self, origin: Origin) -> CatalogChange:
        """Enter all tools of an origin, from now on at every reload."""
        started = perf_counter()
        with self._lock:
            return self._handed_over(self._state.look(origin), started)

    def _handed_over(self, change: CatalogChange, started: float) -> CatalogChange:
        change = change._replace(duration=perf_counter() - started)
        self._swap(self._state.catalog, self._state.diagnostics, change)
        return change

    @contextmanager
    def watch(self, *, poll: bool, libraries: Iterable[str]) -> Iterator[Watch]:
        """Reload whatever changes until the block ends; of several blocks the last one counts.

        Args:
            poll: look again and again instead of waiting for events; the first block decides.
            libraries: folders and modules outside of the tools' folders that tools import.
        """
        from sovl_tools.reloading.watcher import Watches  # noqa: PLC0415 - 2 ms, for this alone

        with self._lock:
            self._state.libraries.add(map(os.path.abspath, libraries))
            if self._watches is None:
                self._watches = Watches(self)
            watcher = self._watches.begin(poll=poll)
        try:
            yield watcher
        finally:
            self._watches.end(watcher)

    def watched(self) -> tuple[Collection[str], Mapping[str, str]]:
        """Return the paths to watch, and what symbolic links below them lead to."""
        with self._lock:
            return self._state.watched()

    def changed(self) -> set[str]:
        """Return the folders that look otherwise than when they were loaded, or that are new."""
        with self._lock:
            return self._state.changed()
