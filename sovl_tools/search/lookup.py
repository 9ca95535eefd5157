"""Looking tools up in a catalog: by criteria, by phrases, by words."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any, TypeAlias

from sovl_tools.model.caller import check_count, check_function, check_given, check_text, check_type
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.search.phrases import MOST_FOUND, PhraseIndex, PhraseMatch, Suggestion, ToolMatch
from sovl_tools.search.ranking import SearchIndex
from sovl_tools.search.vectors import vectors

_ABSENT = object()
_LOGGER = logging.getLogger("sovl_tools")


Criterion: TypeAlias = Callable[[ToolDefinition], object] | Mapping[str, Any]
"""A function that returns true for a tool, or attributes and their required values."""
NamePattern: TypeAlias = str | re.Pattern[str]
"""A shell pattern of names, or an expression that is searched for in them."""


def meets(tool: ToolDefinition, criteria: Iterable[Criterion]) -> bool:
    """Return True if a tool meets all criteria."""
    return all(
        all(_has(tool, key, wanted) for key, wanted in each.items())
        if isinstance(each, Mapping)
        else each(tool)
        for each in criteria
    )


def checked_criteria(
    predicates: Sequence[Criterion],
    name_pattern: NamePattern | Sequence[NamePattern] | None,
    criteria: Mapping[str, Any],
) -> tuple[Criterion, ...]:
    """Return the criteria of ``filter``, with regular expressions compiled.

    Raises:
        TypeError: a predicate can't be called, or a pattern isn't one.
    """
    named = {**criteria, "name_pattern": name_pattern}
    return tuple(_checked_criterion(each) for each in (*predicates, named))


def _checked_criterion(criterion: Criterion) -> Criterion:
    if not isinstance(criterion, Mapping):
        check_function("a predicate", criterion)
        return criterion
    patterns = criterion.get("name_pattern")
    if patterns is None:
        return criterion
    patterns = patterns if isinstance(patterns, list | tuple) else [patterns]
    for pattern in patterns:
        check_type("name_pattern", pattern, str | re.Pattern, "a string or a compiled expression")
    return {**criterion, "name_pattern": patterns}


def narrowed(catalog: Catalog, criteria: Iterable[Criterion]) -> Catalog:
    """Return a catalog with the tools that meet all criteria, and what belongs to them.

    Tools that can't be called have only a name: criteria for other attributes exclude
    them.
    """
    asked = tuple(criteria)
    tools = {name: tool for name, tool in catalog.tools.items() if _surely_meets(tool, asked)}
    unavailable = {
        name: reasons
        for name, reasons in catalog.unavailable.items()
        if all(isinstance(each, Mapping) and _is_named(name, each) for each in asked)
    }
    names = tools.keys() | unavailable.keys()
    actions = {action for tool in tools.values() for action in tool.step_handlers}
    return Catalog(
        tools,
        unavailable,
        {action: each for action, each in catalog.step_handlers.items() if action in actions},
        tuple(each for each in catalog.candidates if each.name in names),
        tuple(each for each in catalog.diagnostics if each.tool in names),
        {alias: name for alias, name in catalog.aliases.items() if name in names},
    )


def _surely_meets(tool: ToolDefinition, criteria: Sequence[Criterion]) -> bool:
    try:
        return meets(tool, criteria)
    except Exception:  # no caller is there to hear of a tool that came later
        _LOGGER.warning("tool %s is omitted: a criterion failed", tool.name, exc_info=True)
        return False


def _is_named(name: str, criteria: Mapping[str, Any]) -> bool:
    """Return True if the criteria are about names only, and a name meets them."""
    if not criteria.keys() <= {"name", "name_pattern"}:
        return False
    return criteria.get("name", name) == name and _fits(name, criteria.get("name_pattern"))


def _fits(name: str, pattern: Any) -> bool:
    """Return True if a name matches a shell pattern, an expression, or any in a list."""
    if pattern is None:
        return True
    if isinstance(pattern, str):
        return fnmatchcase(name, pattern)
    if isinstance(pattern, _SEVERAL):
        return any(_fits(name, each) for each in pattern)
    return pattern.search(name) is not None


def _has(tool: ToolDefinition, key: str, wanted: Any) -> bool:
    """Return True if a tool has an attribute of that value.

    A list or a mapping means all its members; any other value can be one member of an attribute
    that is a list.

    A name that isn't an attribute is looked up in ``metadata``, and then at the object that the
    tool belongs to.
    """
    if key == "name_pattern":
        return _fits(tool.name, wanted)
    actual = getattr(tool, key, _ABSENT)
    if actual is _ABSENT:
        actual = tool.metadata.get(key, _ABSENT)
    # an object can have what its definition leaves empty
    if actual is _ABSENT or actual is None or actual in ((), [], {}, ""):
        actual = getattr(tool.instance, key, actual)
    # ``tags=["a", "b"]`` requires both, ``tags="a"`` one
    if isinstance(actual, _SEVERAL):
        several = wanted if isinstance(wanted, _SEVERAL) else [wanted]
        return all(each in actual for each in several)
    if isinstance(actual, Mapping) and isinstance(wanted, Mapping):
        return all(actual.get(each, _ABSENT) == value for each, value in wanted.items())
    return bool(actual == wanted)


_SEVERAL = (list, tuple, set, frozenset)


class Indexes:
    """The indexes of one catalog, each made at its first use.

    Attributes:
        catalog: the catalog of the indexes.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    @cached_property
    def phrases(self) -> PhraseIndex:
        """The activation phrases."""
        return PhraseIndex(self.catalog.tools.values())

    @cached_property
    def ranking(self) -> SearchIndex:
        """The words and the vectors."""
        return SearchIndex(self.catalog.tools.values(), vectors())


class Searchable:
    """Finds tools for strings in a catalog that changes."""

    _indexes: Indexes | None = None

    @property
    def catalog(self) -> Catalog:
        """The current tools."""
        raise NotImplementedError

    def match(self, text: str) -> list[PhraseMatch]:
        """Return the activation phrases that are in the text, the longest first.

        Words are compared whole, without case and punctuation. A slot such as ``{city}`` takes the
        parameter's value from the text.
        """
        check_text("text", text)
        return self._indexed().phrases.match(text)

    def search(
        self, query: str, *, limit: int | None = MOST_FOUND, least: float | None = None
    ) -> list[ToolMatch]:
        """Return the tools for a query, the best first, then by name.

        Case, accents and English endings of words do not count. With the extra ``semantic``, tools
        that mean something similar are found as well.

        Args:
            query: a few words, or whole sentences.
            limit: the maximum number of tools; None for all.
            least: omit tools with less evidence, unless they have half of the query.

        Raises:
            ValueError: the limit is below 0.
        """
        check_text("query", query)
        check_given(partial(check_count, least=0), limit=limit)
        check_given(_check_evidence, least=least)
        return self._indexed().ranking.search(query, limit=limit, least=least)

    def suggest(
        self, text: str, *, limit: int | None = MOST_FOUND, least: float | None = None
    ) -> list[Suggestion]:
        """Return the tools that match a string well, each with the reason: often none.

        Tools whose activation phrases are in the string come first, then the results of a search
        with enough evidence.

        Args:
            text: a message of a user.
            limit: the maximum number of tools; None for all.
            least: the evidence that is enough; by default 0.55, and 1.1 with the extra
                ``semantic``. A tool that has half of the text's words needs none.

        Raises:
            ValueError: the limit is below 0.
        """
        check_text("text", text)
        check_given(partial(check_count, least=0), limit=limit)
        check_given(_check_evidence, least=least)
        indexed = self._indexed()
        found: dict[str, Suggestion] = {}
        for phrase in indexed.phrases.match(text):
            said = (text[phrase.start : phrase.end],)
            made = Suggestion(phrase.tool, "phrase", said, None, phrase.arguments)
            found.setdefault(phrase.tool, made)
        least = indexed.ranking.enough if least is None else least
        for tool, _, said_words, evidence in indexed.ranking.search(text, limit=None, least=least):
            reason = "words" if said_words else "meaning"
            found.setdefault(tool, Suggestion(tool, reason, tuple(said_words), evidence))
        late = indexed.ranking.deprecated
        return sorted(found.values(), key=lambda each: each.tool in late)[:limit]

    def _indexed(self) -> Indexes:
        catalog, known = self.catalog, self._indexes
        if known is None or known.catalog is not catalog:
            known = self._indexes = Indexes(catalog)
        return known


def _check_evidence(name: str, least: object) -> None:
    check_type(name, least, int | float, "a number")
