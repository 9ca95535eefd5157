"""A registry's tools kept up to date, by one change at a time."""

from __future__ import annotations

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
from sovl_tools.reloading.libraries import look_at_libraries
from sovl_tools.reloading.reload_state import State, changed, recombined, reload, with_origin

Swap: TypeAlias = Callable[[Catalog, tuple[Diagnostic, ...], CatalogChange], None]
"""Puts a new catalog in the place of the old one, with what is wrong with the sources."""
Tell: TypeAlias = Callable[[CatalogChange], None]
"""Tells subscribers of a change; called without a lock that another thread may wait for."""


class Reloader:
    """Holds the state of a registry's sources, changes it, and hands over each new catalog.

    Modules may register tools as they are imported, on another thread. So a load has a lock of its
    own, and takes that of the state when it is done.
    """

    def __init__(self, load: Load, swap: Swap, tell: Tell) -> None:
        self._state = State.of(load)
        self._swap = swap
        self._tell = tell
        self._loading = threading.RLock()
        self._lock = threading.RLock()
        self._watches: Any = None

    def reload(self) -> CatalogChange:
        """Look at everything, and load what has changed, or can't be judged by its files."""
        return self._reload(None, perf_counter(), is_patient=False)

    def follow(self, touched: set[str] | None, *, since: float) -> CatalogChange:
        """Load what has changed at the paths, or anywhere; wait for files on their way.

        Args:
            touched: absolute paths; None for everything.
            since: when the first sign of the change was seen, by ``perf_counter``.
        """
        return self._reload(touched, since, is_patient=True)

    def _reload(
        self, touched: set[str] | None, started: float, *, is_patient: bool
    ) -> CatalogChange:
        with self._loading:
            try:
                loaded = reload(self._state, touched, is_patient=is_patient)
                return self._enter(loaded, started)
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
        errors: list[Diagnostic] = []
        with self._lock:
            tools = self._state.catalog.tools
            for each in many if strict and not override else ():
                if each.name in tools and not is_same_tool(tools[each.name], each):
                    raise DuplicateToolError(each.name, tools[each.name].source)
            registrations = self._state.registrations
            for each in many:
                registrations, candidate = registrations.register(each, is_first=override)
                if candidate.status != "loaded":
                    errors += [one for one in candidate.diagnostics if one.severity == "error"]
            change = self._combine(self._state._replace(registrations=registrations), started)
            tools = self._state.catalog.tools
        self._tell(change)
        if errors:
            raise ToolLoadError(errors)
        in_force = [tools.get(each.name, each) for each in many]
        return in_force if isinstance(found, list) else in_force[0]

    def unregister(self, name: str) -> bool:
        """Remove the tool that was registered by that name first; tell whether there was one."""
        started = perf_counter()
        with self._lock:
            before = self._state.registrations
            registrations = before.unregister(name)
            change = self._combine(self._state._replace(registrations=registrations), started)
        self._tell(change)
        return registrations is not before

    def look(self, origin: Origin) -> CatalogChange:
        """Enter all tools of an origin, from now on at every reload."""
        started = perf_counter()
        with self._loading:
            return self._enter(with_origin(self._state, origin), started)

    def _enter(self, loaded: State, started: float) -> CatalogChange:
        """Combine what was loaded with the tools that were registered meanwhile."""
        with self._lock:
            now = self._state
            state = loaded._replace(
                registrations=now.registrations, candidates=now.candidates, catalog=now.catalog
            )
            change = self._combine(state, started)
        self._tell(change)
        return change

    def _combine(self, state: State, started: float) -> CatalogChange:
        self._state, change = recombined(state, self._state.diagnostics)
        change = change._replace(duration=perf_counter() - started)
        self._swap(self._state.catalog, self._state.diagnostics, change)
        return change

    @contextmanager
    def watch(self, *, poll: bool, libraries: Iterable[str]) -> Iterator[Watch]:
        """Reload whatever changes until the block ends; of several blocks the last one counts.

        Args:
            poll: look again and again instead of waiting for events; the first block decides.
            libraries: folders and modules outside the tool folders that tools import.
        """
        from sovl_tools.reloading.watcher import Watches  # noqa: PLC0415 - 2 ms, for this alone

        with self._loading, self._lock:
            paths = {*self._state.libraries, *map(os.path.abspath, libraries)}
            self._state = self._state._replace(libraries=look_at_libraries(paths))
            if self._watches is None:
                self._watches = Watches(self)
            watcher = self._watches.begin(poll=poll)
        try:
            yield watcher
        finally:
            self._watches.end(watcher)

    def watched(self) -> tuple[Collection[str], Mapping[str, str]]:
        """Return the paths to watch, and the targets of symbolic links below them."""
        return self._state.watched()

    def changed(self) -> set[str]:
        """Return the folders that look different from when they were loaded, or that are new."""
        return changed(self._state)
