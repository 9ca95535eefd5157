"""Looking tools up in a catalog: by criteria, by phrases, by words."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, TypeAlias

from sovl_tools.model.catalog import Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.search.phrases import PhraseIndex, PhraseMatch, ToolMatch
from sovl_tools.search.ranking import Entry, SearchIndex

_ABSENT = object()
_LOGGER = logging.getLogger("sovl_tools")


Criterion: TypeAlias = Callable[[ToolDefinition], object] | Mapping[str, Any]
"""A function that returns true for a tool, or attributes and their required values."""


def meets(tool: ToolDefinition, criteria: Iterable[Criterion]) -> bool:
    """Return True if a tool meets all criteria."""
    return all(
        all(_has(tool, key, wanted) for key, wanted in each.items())
        if isinstance(each, Mapping)
        else each(tool)
        for each in criteria
    )


def expression_in(pattern: str) -> re.Pattern[str] | None:
    """Return the regular expression that a shell pattern surely is; None for any other text."""
    if not any(sign in pattern for sign in ("\\", "^", "$", ".*", ".+")):
        return None
    with suppress(re.error):
        return re.compile(pattern)
    return None


def _has(tool: ToolDefinition, key: str, wanted: Any) -> bool:
    """Return True if a tool has an attribute of that value.

    A list means all its members; any other value can be one member of an attribute that is a list.

    A name that isn't an attribute is looked up in ``metadata``, and then at the object that the
    tool belongs to.
    """
    if key == "name_pattern":
        if isinstance(wanted, str):
            return fnmatchcase(tool.name, wanted)
        return wanted is None or wanted.search(tool.name) is not None
    try:
        actual = getattr(tool, key, _ABSENT)
        if actual is _ABSENT:
            actual = tool.metadata.get(key, _ABSENT)
        is_sized = isinstance(actual, (*_SEVERAL, dict, str))
        # an object can have what its definition leaves empty
        if actual is _ABSENT or actual is None or (is_sized and not actual):
            actual = getattr(tool.instance, key, actual)
        # ``tags=["a", "b"]`` asks for both, ``tags="a"`` for one
        if isinstance(actual, _SEVERAL):
            several = wanted if isinstance(wanted, _SEVERAL) else [wanted]
            return all(each in actual for each in several)
        return bool(actual == wanted)
    except Exception:  # properties and comparisons of the tool's own class may do anything
        _LOGGER.warning("%s of tool %s can't be read", key, tool.name, exc_info=True)
        return False


_SEVERAL = (list, tuple, set, frozenset)


class Indexes:
    """The indexes of one catalog, each made at its first use.

    Attributes:
        catalog: the catalog of the indexes.
        entries: the search entries of its tools, or of the catalog before.
    """

    def __init__(self, catalog: Catalog, before: Indexes | None = None) -> None:
        self.catalog = catalog
        self.entries: Mapping[ToolDefinition, Entry] = {} if before is None else before.entries

    @cached_property
    def _phrases(self) -> PhraseIndex:
        return PhraseIndex(self.catalog.tools.values())

    @cached_property
    def _ranking(self) -> SearchIndex:
        index = SearchIndex(self.catalog.tools.values(), self.entries)
        self.entries = index.entries
        return index

    def match(self, text: str) -> list[PhraseMatch]:
        """Return the activation phrases that are in the text, as ``PhraseIndex`` does."""
        return self._phrases.match(text)

    def search(self, query: str, *, limit: int | None) -> list[ToolMatch]:
        """Return the tools that have words of the query, as ``SearchIndex`` does."""
        return self._ranking.search(query, limit=limit)
