"""Every candidate of a registry, and the catalog that is made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from sovl_tools.loading.combining import combined
from sovl_tools.loading.patching import Change, Claims, joined, patched
from sovl_tools.loading.succeeding import successor
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.diagnostic import Diagnostic


class Roster:
    """The candidates in the order of their precedence, by the places of their folders.

    Attributes:
        catalog: the tools as they are now.
        shown: the candidates with the statuses that the catalog gave them.
    """

    def __init__(self, candidates: Sequence[Candidate], catalog: Catalog) -> None:
        self.catalog = catalog
        self._candidates = {each.location: each for each in candidates}
        self.shown = dict(zip(self._candidates, catalog.candidates, strict=True))
        self._claims = Claims(candidates)
        self._between: dict[str, tuple[Diagnostic, ...]] | None = None

    def __contains__(self, location: str) -> bool:
        return location in self._candidates

    def is_new(self, location: str) -> bool:
        """Tell whether nothing but waiting has been done about the folder so far."""
        known = self._candidates.get(location)
        return known is None or known.status == "waiting"

    def entered(self, new: Candidate) -> Iterable[Change]:
        """Yield how a candidate changes what is known of its folder; nothing if it does not."""
        old = self._candidates.get(new.location)
        if old is new:
            return
        if old is not None:
            new = successor(old, new, is_served=self.shown[new.location].status == "loaded")
        if new is not old:
            yield Change(old, new)

    def left(self, location: str) -> Iterable[Change]:
        """Yield what it changes that the folder is gone."""
        if location in self._candidates:
            yield Change(self._candidates[location], None)

    def swap(
        self,
        changes: Sequence[Change],
        order: Collection[str] | None,
        indexes: Mapping[str, int] = MappingProxyType({}),
    ) -> CatalogChange:
        """Make those parts of the catalog anew that the changes concern.

        Args:
            changes: what ``entered`` and ``left`` have said.
            order: the locations of all that there is; None says that nothing comes in another
                order than before, and that nothing is new but what has an index.
            indexes: at which places, from 0, new locations stand, in the order in which they come.
        """
        before = self.catalog
        seen = self._swapped(changes, _Arrangement(order, indexes))
        return _summary(before, self.catalog, seen, self._told(seen))

    def _swapped(self, changes: Sequence[Change], arrangement: _Arrangement) -> list[Change]:
        """Swap the catalog and return what has changed among the candidates that it shows."""
        bare = [Change(each.before, _without_previous(each.after)) for each in changes]
        is_contested = self._claims.follow(bare)
        self._candidates = arrangement.of(self._candidates, changes if is_contested else bare)
        if is_contested:
            return self._combined(changes, arrangement)
        self.shown = arrangement.of(self.shown, bare)
        if bare:
            self.catalog = patched(self.catalog, bare, tuple(self.shown.values()))
        return bare

    def _combined(self, changes: Sequence[Change], arrangement: _Arrangement) -> list[Change]:
        """Combine those anew that the changes concern: at the first time all that there are."""
        self._claims.follow([Change(None, each.after) for each in changes])
        winner = self._winner(changes)
        concerned = self._concerned(changes, winner)
        old = {place: self.shown.get(place) for place in concerned}
        gone = (each.location for each, _ in changes if each is not None)
        old.update((place, self.shown[place]) for place in gone)
        part, between = combined(each for place, each in self._candidates.items() if place in old)
        new = {each.location: each for each in _kept(part.candidates, old)}
        self._note(new, between, known=winner)
        every = [Change(old[place], new.get(place)) for place in old]
        self.shown = arrangement.of(self.shown, every)
        return self._joined(every, part)

    def _winner(self, changes: Sequence[Change]) -> str | None:
        """Return the tool that keeps its name from the only change, a tool that comes after it."""
        if self._between is None or len(changes) > 1 or changes[0].before is not None:
            return None
        new = changes[0].after
        if new is None or new.status != "loaded":
            return None
        rivals = (each for each in self._claims.rivals(new.name) if each in self.shown)
        winner = next((each for each in rivals if self.shown[each].status == "loaded"), None)
        order = list(self._candidates)
        is_first = winner is not None and order.index(winner) < order.index(new.location)
        return winner if is_first else None

    def _concerned(self, changes: Sequence[Change], winner: str | None) -> set[str]:
        if self._between is None:
            return set(self._candidates)
        if winner is not None:
            return {winner, *(each.after.location for each in changes if each.after is not None)}
        return self._claims.concerned(changes)

    def _note(
        self,
        new: Mapping[str, Candidate],
        between: Mapping[str, tuple[Diagnostic, ...]],
        *,
        known: str | None,
    ) -> None:
        """Note what became of candidates; of the known one more may be told than stands here."""
        told = self._between or {}
        kept = {
            place: each
            for place, each in told.items()
            if place in self._candidates and (place not in new or place == known)
        }
        self._between = {**between, **kept}
        for place, each in new.items():
            if each.status == "loaded":
                self._candidates[place] = each
                self._claims.enter(each)

    def _joined(self, changes: Sequence[Change], part: Catalog) -> list[Change]:
        """Swap the catalog and return those changes that really are some."""
        tools, between = self.catalog.tools, self._between or {}
        names = {each.name for change in changes for each in change if each is not None}
        told = [found for place in self.shown if place in between for found in between[place]]
        self.catalog = joined(
            self.catalog,
            part,
            names=names,
            candidates=tuple(self.shown.values()),
            diagnostics=tuple(told),
        )
        moved = {name for name in names if tools.get(name) is not self.catalog.tools.get(name)}
        return [
            change
            for change in changes
            if change.before is not change.after
            or any(each is not None and each.name in moved for each in change)
        ]

    def _told(self, changes: Sequence[Change]) -> list[Diagnostic]:
        """Return what is wrong between those that have changed and others."""
        between = self._between or {}
        places = (new.location for _, new in changes if new is not None)
        return [found for place in places for found in between.get(place, ())]


class _Arrangement(NamedTuple):
    """Where candidates stand after a change; see ``Roster.swap``."""

    order: Collection[str] | None
    indexes: Mapping[str, int]

    def of(
        self, candidates: dict[str, Candidate], changes: Iterable[Change]
    ) -> dict[str, Candidate]:
        """Return the candidates after the changes; those before are not needed any more."""
        new: dict[str, Candidate] = {}
        for before, after in changes:
            if after is None:
                candidates.pop(getattr(before, "location", ""), None)
            elif after.location in self.indexes and after.location not in candidates:
                new[after.location] = after
            else:
                candidates[after.location] = after
        for place, index in self.indexes.items() if new else ():
            if place in new:
                _insert(candidates, new[place], index)
        if self.order is None:
            return candidates
        return {place: candidates[place] for place in self.order if place in candidates}


def _insert(candidates: dict[str, Candidate], new: Candidate, index: int) -> None:
    """Enter a candidate at a place; only those that come after it are moved."""
    after = [*islice(reversed(candidates), max(0, len(candidates) - index))]
    moved = {place: candidates.pop(place) for place in reversed(after)}
    candidates[new.location] = new
    candidates.update(moved)


def _kept(
    candidates: Iterable[Candidate], old: Mapping[str, Candidate | None]
) -> Iterator[Candidate]:
    """Yield candidates, for those that are as they were the old ones."""
    for each in candidates:
        known = old[each.location]
        yield each if known is None or known != each else known


def _without_previous(candidate: Candidate | None) -> Candidate | None:
    """Return a candidate without its last good version, if it is good itself."""
    if candidate is None or candidate.previous is None or candidate.status != "loaded":
        return candidate
    return candidate._replace(previous=None)


def _summary(
    before: Catalog, after: Catalog, changes: Sequence[Change], between: Iterable[Diagnostic]
) -> CatalogChange:
    """Return in names what has changed from one catalog to the next."""
    names = {each.name for change in changes for each in change if each is not None}
    present = [new for old, new in changes if new is not None and new != old]
    served = names & after.tools.keys()
    known = served & before.tools.keys()
    sound = {each.name for each in present if each.status == "loaded"}
    other = {name for name in known if after.tools[name] is not before.tools[name]}
    found = [each for candidate in present for each in candidate.diagnostics]
    return CatalogChange(
        added=_sorted(served - known),
        updated=_sorted(other | (sound & known)),
        removed=_sorted((names & before.tools.keys()) - served),
        rejected=_sorted(each.name for each in present if each.status == "rejected"),
        diagnostics=tuple(sorted([*found, *between], key=_place)),
        waiting=_sorted(each.name for each in present if each.status == "waiting"),
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _place(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
    return diagnostic.path, diagnostic.line, diagnostic.column, diagnostic.code
