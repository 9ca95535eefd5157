"""What is looked up in a catalog, and how it follows the changes."""

from __future__ import annotations

from typing import Any

from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.search.matches import PhraseMatch, ToolMatch
from sovl_tools.search.phrases import PhraseIndex


class Indexes:
    """The indexes of one catalog, each made when it is asked for the first time.

    Attributes:
        catalog: what they answer for.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._phrases: PhraseIndex | None = None
        self._ranking: Any = None

    def of(self, catalog: Catalog) -> Indexes:
        """Return these indexes if they are the catalog's, else such as have yet to be made."""
        return self if self.catalog is catalog else Indexes(catalog)

    def match(self, text: str) -> list[PhraseMatch]:
        """Return the activation phrases that stand in the text, as ``PhraseIndex`` does."""
        if self._phrases is None:
            self._phrases = PhraseIndex(self.catalog.tools.values())
        return self._phrases.match(text)

    def search(self, query: str, *, limit: int | None) -> list[ToolMatch]:
        """Return the tools that have words of the query, as ``SearchIndex`` does."""
        if self._ranking is None:
            from sovl_tools.search.ranking import SearchIndex  # noqa: PLC0415 - 4 ms for its users

            self._ranking = SearchIndex(self.catalog.tools.values())
        found: list[ToolMatch] = self._ranking.search(query, limit=limit)
        return found

    def changed(self, catalog: Catalog, change: CatalogChange) -> Indexes:
        """Return the indexes of the next catalog, made from these by the difference."""
        names = (*change.added, *change.updated, *change.removed)
        removed = [self.catalog.tools[name] for name in names if name in self.catalog.tools]
        added = [catalog.tools[name] for name in names if name in catalog.tools]
        following = Indexes(catalog)
        if self._phrases is not None:
            following._phrases = self._phrases.changed(removed, added)
        if self._ranking is not None:
            following._ranking = self._ranking.changed(removed, added)
        return following
