"""The one object that changes a registry's state, under a lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeAlias

from sovl_tools.authoring.decorator import definitions_in
from sovl_tools.loading.catalog_builder import is_same_tool
from sovl_tools.loading.load import Load
from sovl_tools.loading.origins import Origin
from sovl_tools.loading.sources import Contents
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.context import Watch
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, internal_diagnostic
from sovl_tools.model.errors import DuplicateToolError, ToolLoadError
from sovl_tools.reloading.libraries import scan_libraries
from sovl_tools.reloading.reload_state import State, recombined, reload, with_origin

Swap: TypeAlias = Callable[[Catalog, tuple[Diagnostic, ...], CatalogChange], None]
"""Takes a new catalog, the problems of the sources, and the change."""
Tell: TypeAlias = Callable[[CatalogChange], None]
"""Tells subscribers of a change; called without the lock of the state."""


def is_deferred(candidate: Candidate, code: object) -> bool:
    """Return whether a candidate has a deferred module with some code."""
    tool = candidate.definition
    return tool is not None and tool.deferred is not None and tool.deferred.code == code


class Reloader:
    """Has the state of a registry's sources, replaces it, and hands over each new catalog.

    A module can register tools while it's imported, on the loader's thread. So a load has its own
    lock, and takes the state's lock only at the end.
    """

    def __init__(self, load: Load, swap: Swap, tell: Tell) -> None:
        self._state = State.of(load)
        self._swap = swap
        self._tell = tell
        self._loading = threading.RLock()
        self._lock = threading.RLock()
        self._watcher: Any = None
        self._blocks = 0

    def reload(self) -> CatalogChange:
        """Scan everything; load what changed, failed, or has requirements."""
        return self._reload(perf_counter(), is_patient=False)

    def follow(self, *, since: float) -> CatalogChange:
        """Load what changed, except folders whose files haven't all arrived.

        ``since`` is the time of the first event, by ``perf_counter``.
        """
        return self._reload(since, is_patient=True)

    def _reload(self, started: float, *, is_patient: bool) -> CatalogChange:
        with self._loading:
            try:
                return self._enter(reload(self._state, is_patient=is_patient), started)
            except Exception as error:  # noqa: BLE001 - the barrier: the current tools stay
                found = internal_diagnostic(error, ".")
                change = CatalogChange(diagnostics=(found,), duration=perf_counter() - started)
                self._tell(change)
                return change

    def register(
        self, tool: object, *, override: bool, strict: bool
    ) -> ToolDefinition | list[ToolDefinition]:
        """Register a tool, or all tools of an object, and return the definitions now in force.

        If some tools of an object are invalid, the rest are registered. ``override`` gives the
        new tools precedence over all tools that were registered before.

        Raises:
            TypeError: it isn't a tool, or its parameters can't be expressed.
            ToolLoadError: definitions are unsound.
            DuplicateToolError: another tool with its name is in force, and ``strict`` is set; then
                no tool is registered.
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
        """Remove the first registered tool with a name; return whether there was one."""
        started = perf_counter()
        with self._lock:
            before = self._state.registrations
            registrations = before.unregister(name)
            change = self._combine(self._state._replace(registrations=registrations), started)
        self._tell(change)
        return registrations is not before

    def fail(self, candidate: Candidate, contents: Contents) -> None:
        """Let a rejected candidate replace a tool whose deferred module could not be imported.

        Unless another version of the folder has been loaded meanwhile.
        """
        started, place, code = perf_counter(), candidate.location, contents.digest
        with self._lock:
            state, known = self._state, self._state.folders.get(candidate.location)
            if known is None:
                return
            if is_deferred(known.candidate, code):
                known = known._replace(candidate=candidate)
            elif known.candidate.previous and is_deferred(known.candidate.previous, code):
                known = known._replace(candidate=known.candidate._replace(previous=None))
            else:
                return
            # without its candidate before, which isn't a last good version
            before = {key: each for key, each in state.candidates.items() if key != place}
            folders = {**state.folders, place: known}
            change = self._combine(state._replace(folders=folders, candidates=before), started)
        self._tell(change)

    def look(self, origin: Origin) -> CatalogChange:
        """Add the tools of an origin, now and at every reload."""
        started = perf_counter()
        with self._loading:
            return self._enter(with_origin(self._state, origin), started)

    def _enter(self, loaded: State, started: float) -> CatalogChange:
        """Combine the loaded tools with the tools that were registered meanwhile."""
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
        """Follow changes until the block ends; nested and parallel blocks share one watcher.

        Args:
            poll: scan regularly instead of waiting for events; the first block decides.
            libraries: folders and modules outside the tool folders that tools import.
        """
        from sovl_tools.reloading.watcher import Watcher  # noqa: PLC0415 - 2 ms, only needed here

        with self._loading, self._lock:
            paths = {*self._state.libraries, *map(os.path.abspath, libraries)}
            self._state = self._state._replace(libraries=scan_libraries(paths))
            if not self._blocks:
                self._watcher = Watcher(self, poll=poll)
                self._watcher.start()
            self._blocks += 1
            watcher = self._watcher
        try:
            yield watcher
        finally:
            with self._lock:
                self._blocks -= 1
                is_last = not self._blocks
            if is_last:  # without waiting for a running reload
                watcher.stop()

    def watched(self) -> tuple[Collection[str], Collection[str]]:
        """Return the paths to watch, and the symbolic links below them."""
        return self._state.watched()
