"""Every candidate of a registry, and the catalog that is made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sovl_tools.loading.combining import combine
from sovl_tools.loading.patching import Change, Claims, patched
from sovl_tools.loading.succeeding import successor
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.definition import ToolDefinition
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

    def swap(self, changes: Sequence[Change], order: Collection[str] | None) -> CatalogChange:
        """Make the catalog anew, or patch it where the changes concern nobody else.

        ``order`` names all folders that there are; None says that they are the same as before.
        """
        before = self.catalog
        seen = self._swapped(changes, order)
        return _summary(before, self.catalog, seen)

    def _swapped(self, changes: Sequence[Change], order: Collection[str] | None) -> list[Change]:
        """Swap the catalog and return what has changed among the candidates that it shows."""
        bare = [Change(each.before, _without_previous(each.after)) for each in changes]
        is_contested = self._claims.follow(bare)
        for change in changes if is_contested else bare:
            if change.after is not None:
                self._candidates[change.after.location] = change.after
        self._candidates = _arranged(self._candidates, order)
        if is_contested:
            return self._combined()
        for change in bare:
            if change.after is not None:
                self.shown[change.after.location] = change.after
        self.shown = _arranged(self.shown, order)
        if bare:
            self.catalog = patched(self.catalog, bare, tuple(self.shown.values()))
        return bare

    def _combined(self) -> list[Change]:
        before, tools = self.shown, self.catalog.tools
        self.catalog = combine(self._candidates.values())
        self.shown = dict(zip(self._candidates, self.catalog.candidates, strict=True))
        for location, shown in self.shown.items():
            if shown.status == "loaded":
                self._candidates[location] = shown
        self._claims = Claims(self._candidates.values())
        moved = _moved(tools, self.catalog.tools)
        every = {**before, **self.shown}
        return [
            Change(before.get(location), self.shown.get(location))
            for location, each in every.items()
            if each.name in moved or before.get(location) != self.shown.get(location)
        ]


def _moved(before: Mapping[str, ToolDefinition], after: Mapping[str, ToolDefinition]) -> set[str]:
    """Return the names that lead elsewhere than before."""
    return {name for name in {**before, **after} if before.get(name) is not after.get(name)}


def _without_previous(candidate: Candidate | None) -> Candidate | None:
    """Return a candidate without its last good version, if it is good itself."""
    if candidate is None or candidate.previous is None or candidate.status != "loaded":
        return candidate
    return candidate._replace(previous=None)


def _arranged(
    candidates: dict[str, Candidate], order: Iterable[str] | None
) -> dict[str, Candidate]:
    """Return the candidates in that order, those alone that stand in it."""
    if order is None:
        return candidates
    return {location: candidates[location] for location in order if location in candidates}


def _summary(before: Catalog, after: Catalog, changes: Sequence[Change]) -> CatalogChange:
    """Return in names what has changed from one catalog to the next."""
    names = {each.name for change in changes for each in change if each is not None}
    present = [new for old, new in changes if new is not None and new != old]
    served = names & after.tools.keys()
    known = served & before.tools.keys()
    sound = {each.name for each in present if each.status == "loaded"}
    other = {name for name in known if after.tools[name] is not before.tools[name]}
    between = [each for each in after.diagnostics if each.tool in names]
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
