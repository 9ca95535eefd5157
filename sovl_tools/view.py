"""A live view of a registry: the tools that meet criteria at each moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from sovl_tools.loading.catalog_builder import difference
from sovl_tools.model.caller import check_subscriber
from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.registry import Subscriber, ToolRegistry
from sovl_tools.search.lookup import Criterion, narrowed


class View(ToolRegistry):
    """The tools of another registry that meet criteria at each moment; see ``select``.

    Registrations and loads go into that registry.
    """

    def __init__(self, source: ToolRegistry, criteria: Sequence[Criterion]) -> None:
        super().__init__()
        self._source = source
        self._criteria = criteria
        self._narrowed: tuple[Catalog, Catalog] | None = None

    @property
    def whole(self) -> ToolRegistry:
        """The registry where its tools call each other."""
        return self._source.whole

    @property
    def catalog(self) -> Catalog:
        """The tools that meet the criteria now; the same object until a tool in it changes."""
        source, known = self._source.catalog, self._narrowed
        if known is None or known[0] is not source:
            catalog = narrowed(source, self._criteria)
            if known is not None and _are_same(known[1], catalog):
                catalog = known[1]
            known = self._narrowed = source, catalog
        return known[1]

    def reload(self) -> CatalogChange:
        """Check every source of the registry again, and return the difference in the view."""
        before = self.catalog
        return _own(self._source.reload(), before, self.catalog)

    def subscribe(self, on_change: Subscriber) -> Callable[[], None]:
        """Call a function at every change of the view; return a function that ends this."""
        check_subscriber(on_change)
        known, lock = self.catalog, threading.Lock()

        def follow(change: CatalogChange) -> None:
            nonlocal known
            with lock:
                before, known = known, self.catalog
                own = _own(change, before, known)
            if own:
                on_change(own)

        return self._source.subscribe(follow)

    def _get_reloader(self) -> Any:
        return self._source._get_reloader()  # noqa: SLF001 - of its class


def _own(change: CatalogChange, before: Catalog, after: Catalog) -> CatalogChange:
    """Return a registry's change as a view sees it, by its catalogs before and after."""
    own = difference(before, after)
    others = [each for each in change.diagnostics if each.tool is None]
    found = dict.fromkeys([*others, *own.diagnostics])
    return own._replace(diagnostics=tuple(found), duration=change.duration)


def _are_same(first: Catalog, second: Catalog) -> bool:
    """Return True if two catalogs have the same tools, and the same reasons for others."""
    tools, others = first.tools, second.tools
    said = [(each.unavailable, each.candidates, each.aliases) for each in (first, second)]
    return (
        tools.keys() == others.keys()
        and all(tools[name] is others[name] for name in tools)
        and said[0] == said[1]
    )
