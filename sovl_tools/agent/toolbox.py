"""The tools of an agent: its own methods, then whatever it was given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from sovl_tools.authoring.offering import methods_of
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.model.protocols import Watch
from sovl_tools.registry import Subscriber, ToolRegistry, tools_directory


class Toolbox(ToolRegistry):
    """A registry before another one: what is registered here wins over the tools of that one."""

    def __init__(self, others: ToolRegistry) -> None:
        self._others = others
        self._joined: tuple[Catalog, Catalog, Catalog] | None = None
        super().__init__()

    @property
    def catalog(self) -> Catalog:
        """The tools of both, as they are now."""
        own = vars(self).get("catalog") or super().catalog
        others, cached = self._others.catalog, self._joined
        if cached is None or cached[0] is not own or cached[1] is not others:
            made = combine([*own.candidates, *others.candidates]) if own.tools else others
            cached = self._joined = own, others, made
        return cached[2]

    def reload(self) -> CatalogChange:
        """Look at the sources of the other registry again; what is registered here stays."""
        return self._others.reload()

    def watch(self, **options: Any) -> AbstractContextManager[Watch]:
        """Reload the other registry in the background whenever something changes."""
        return self._others.watch(**options)

    def subscribe(self, on_change: Subscriber) -> Callable[[], None]:
        """Have a function told of every change of either."""
        ends = super().subscribe(on_change), self._others.subscribe(on_change)

        def unsubscribe() -> None:
            for end in ends:
                end()

        return unsubscribe


def gathered(tools: Any) -> Any:
    """Return tools as they were given, those of a directory as the registry of it.

    Raises:
        TypeError: they are neither a registry nor a path nor a list.
        ValueError: there is no directory of that path.
    """
    if isinstance(tools, str | os.PathLike):
        return tools_directory(tools)
    if tools is None or isinstance(tools, ToolRegistry):
        return tools
    if isinstance(tools, Iterable) and not callable(tools):
        return tuple(tools)
    words = "a ToolRegistry, a list of functions or the path of a tools directory"
    raise TypeError(f"tools must be {words}, not {tools!r:.80}")


def equipped(agent: object, tools: Any) -> ToolRegistry:
    """Return the registry of an agent's ``@tool`` methods and of gathered tools.

    Raises:
        TypeError: there is something among the tools of which no tool can be made.
        ToolLoadError: the definition of a method or a function is unsound.
    """
    methods = methods_of(agent)
    is_registry = isinstance(tools, ToolRegistry)
    if is_registry and not methods:
        found: ToolRegistry = tools
        return found
    made = Toolbox(tools) if is_registry else ToolRegistry()
    for each in (*methods, *(() if is_registry else tools or ())):
        made.register(each)
    return made
