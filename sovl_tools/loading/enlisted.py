"""Tools that are in no tools directory, in the order of their precedence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.loading.directories import Directories
from sovl_tools.loading.enlisting import enlisted, rejected
from sovl_tools.loading.origins import Origin, Sight, distinct
from sovl_tools.loading.rewritten import is_rewritten, text_of
from sovl_tools.loading.scanning import identity
from sovl_tools.loading.succeeding import is_same_tool, ran
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, internal_diagnostic


class News(NamedTuple):
    """What came and went among the tools that were registered by hand.

    Attributes:
        candidates: those that are new, or stand in the place of others.
        indexes: at which places the new ones stand, from 0, in the order in which they come.
        gone: the locations of those that are not there any more.
    """

    candidates: list[Candidate]
    indexes: dict[str, int]
    gone: list[str]


class Enlisted:
    """What was registered by hand, and the origins that somebody has named.

    Attributes:
        directories: of the origins that have any.
    """

    def __init__(self) -> None:
        self.directories = Directories()
        self._explicit: dict[str, Candidate] = {}
        self._places: dict[_Key, list[str]] = {}
        self._sights: dict[tuple[type, Origin], Sight] = {}
        self._seen: set[tuple[int, ...]] = set()
        self._numbers = count(1)
        self._news = News([], {}, [])
        self._is_covered = False

    def register(self, definition: ToolDefinition, *, is_first: bool) -> Candidate:
        """Enter a definition after all others that were registered, or before them.

        What was registered before is entered once: its candidate is returned as it is, unless it
        has to be the first. Other words for the same function are another tool of its name. A
        function that was defined again, as by a cell of a notebook, takes the place of the old one.
        """
        known = self._places.get(_same(definition), [])
        for each in () if is_first else known:
            if is_same_tool(_defined(self._explicit[each]), definition):
                return self._explicit[each]
        others = [*known, *self._older(definition)] if is_first else self._older(definition)[:1]
        place = f"registered {next(self._numbers)}: {identity(definition.function)}"
        if others and not is_first:
            place = others[0]
        candidate = enlisted(definition, place)
        if candidate.status == "loaded":
            self._enter(candidate, others, is_first=is_first)
        return candidate

    def _older(self, definition: ToolDefinition) -> list[str]:
        """Return where versions stand that the function of a definition is the new text of."""
        text, function = _text(definition), definition.function
        places = self._places.get(text, []) if text is not None else []
        return [
            each
            for each in places
            if is_rewritten(_defined(self._explicit[each]).function, function)
        ]

    def _enter(self, candidate: Candidate, others: Sequence[str], *, is_first: bool) -> None:
        """Enter a candidate in the place of others, at which of them it may stand itself."""
        place = candidate.location
        for each in others:
            if each != place:
                self._leave(each)
        if place in self._explicit:
            self._unmark(_same(_defined(self._explicit[place])), place)
            self._mark(_same(_defined(candidate)), place, is_first=False)
        else:
            self._news.indexes[place] = 0 if is_first else len(self._explicit)
            for key in _keys(_defined(candidate)):
                self._mark(key, place, is_first=is_first)
        if is_first:
            self._explicit = {place: candidate, **self._explicit}
        else:
            self._explicit[place] = candidate
        self._cover(candidate)
        self._news.candidates.append(candidate)

    def _leave(self, place: str) -> None:
        candidate = self._explicit.pop(place)
        for key in _keys(_defined(candidate)):
            self._unmark(key, place)
        self._cover(candidate)
        self._news.gone.append(place)

    def _mark(self, key: _Key, place: str, *, is_first: bool) -> None:
        places = self._places.setdefault(key, [])
        places.insert(0 if is_first else len(places), place)

    def _unmark(self, key: _Key, place: str) -> None:
        self._places[key].remove(place)
        if not self._places[key]:
            del self._places[key]

    def _cover(self, candidate: Candidate) -> None:
        """Note whether a function comes or goes that was seen elsewhere too."""
        self._is_covered = self._is_covered or ran(_defined(candidate).function) in self._seen

    def unregister(self, name: str) -> list[str]:
        """Take out what was registered by a name first; return its location, if there is one."""
        places = self._places.get((name,), [])[:1]
        for place in places:
            self._leave(place)
        return places

    def news(self) -> News | None:
        """Return what was registered and taken out since somebody asked.

        It is None if that is not all: what origins have may have changed, or may count now where
        it did not before.
        """
        news, is_covered = self._news, self._is_covered
        self._news, self._is_covered = News([], {}, []), False
        return None if is_covered else news

    def look(self, origins: Iterable[Origin]) -> None:
        """Look at origins, again or for the first time."""
        named = [*origins]
        for origin in named:
            self._is_covered = True
            if origin.directory is not None:
                self.directories.look(origin.directory)
            try:
                sight = origin.look()
            except Exception as error:  # noqa: BLE001 - the barrier: the others are looked at
                sight = Sight.of_problem(internal_diagnostic(error, str(origin)))
            key = type(origin), origin  # two of them are tuples of one name
            self._sights[key] = _whole(sight, self._sights.get(key, Sight()))
        if named:
            self._see()

    def _see(self) -> None:
        """Note which functions origins have, so that those who come or go need not look."""
        every = (each.definition for sight in self._sights.values() for each in sight.candidates)
        self._seen = {ran(each.function) for each in every if each is not None}

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The origins in the order in which they were named."""
        return tuple(origin for _, origin in self._sights)

    def concerned(self, touched: Iterable[str]) -> list[Origin]:
        """Return the origins to which something at one of the paths may matter."""
        found = self.directories.concerned(touched)
        return [origin for origin in self.origins if origin.directory in found]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the origins themselves."""
        return tuple(found for sight in self._sights.values() for found in sight.diagnostics)

    def before_folders(self) -> dict[str, Candidate]:
        """Return the candidates that win over folders, by their locations."""
        return self._explicit

    def after_folders(self) -> dict[str, Candidate]:
        """Return the candidates that folders win over; an object seen twice counts once."""
        if not self._sights:
            return {}
        explicit = (each.definition for each in self._explicit.values())
        known = {ran(each.function) for each in explicit if each is not None}
        sights = sorted(self._sights.items(), key=lambda entry: entry[0][1].level)
        return distinct(
            each
            for _, sight in sights
            for each in sight.candidates
            if each.definition is None or ran(each.definition.function) not in known
        )


_Key: TypeAlias = tuple[Any, ...]
"""What somebody is found by: a name, or a name and what tells one function from another."""


def _keys(definition: ToolDefinition) -> Iterator[_Key]:
    yield (definition.name,)
    yield _same(definition)
    text = _text(definition)
    if text is not None:
        yield text


def _same(definition: ToolDefinition) -> _Key:
    return definition.name, *ran(definition.function)


def _text(definition: ToolDefinition) -> _Key | None:
    text = text_of(definition.function)
    return None if text is None else (definition.name, *text)


def _defined(candidate: Candidate) -> Any:
    """Return the definition of a candidate that was entered; none comes in without one."""
    return candidate.definition


def _whole(sight: Sight, before: Sight) -> Sight:
    """Return what was seen, and what was lost from sight, so that its last good version serves."""
    lost = {
        key: tuple(
            rejected(each.name, each.location, [found])._replace(diagnostics=())
            for each in before.units.get(key, ())
        )
        for key, found in sight.lost.items()
    }
    return sight._replace(units={**sight.units, **lost})
