"""The catalog after a change, made of the one before: the same that ``combine`` would make.

Combining looks at every candidate. That is not needed where what has changed claims nothing that
another candidate claims as well: then no other one can win or lose anything by it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.search.words import words

_T = TypeVar("_T")

Claim: TypeAlias = tuple[str, object]
"""What only one tool can have: a kind (``"tool"``, ``"action"``, ``"phrase"``) and a name."""


class Change(NamedTuple):
    """A candidate before and after a change; None where there was none or is none any more."""

    before: Candidate | None
    after: Candidate | None


class Claims:
    """Which candidates claim what, whether they get it or not."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._holders: dict[Claim, dict[str, None]] = {}
        self._held: dict[str, set[Claim]] = {}
        for each in candidates:
            self.enter(each)

    def enter(self, candidate: Candidate) -> None:
        """Note what a candidate claims, in the place of what stood at its location before."""
        claims = _claims(candidate)
        if self._held.get(candidate.location) == claims:
            return
        self._leave(candidate.location)
        self._held[candidate.location] = claims
        for claim in claims:
            self._holders.setdefault(claim, {})[candidate.location] = None

    def _leave(self, location: str) -> None:
        for claim in self._held.pop(location, ()):
            holders = self._holders[claim]
            del holders[location]
            if not holders:
                del self._holders[claim]

    def follow(self, changes: Sequence[Change]) -> bool:
        """Count the changes in; return whether anything is, or was, claimed by another as well."""
        was_contested = any(self._is_contested(each.before) for each in changes)
        for change in changes:
            if change.before is not None:
                self._leave(change.before.location)
        for change in changes:
            if change.after is not None:
                self.enter(change.after)
        return was_contested or any(self._is_contested(each.after) for each in changes)

    def _is_contested(self, candidate: Candidate | None) -> bool:
        return any(len(self._holders.get(claim, ())) > 1 for claim in _claims(candidate))

    def rivals(self, name: str) -> Iterable[str]:
        """Return the locations of all tools of that name, the first that came first."""
        return self._holders.get(("tool", name), ())

    def concerned(self, changes: Sequence[Change]) -> set[str]:
        """Return the locations of all that may win or lose something by the changes.

        Whoever claims something with one of them is concerned too, and so on.
        """
        claims = {claim for change in changes for each in change for claim in _claims(each)}
        found: set[str] = set()
        while claims:
            others = {place for claim in claims for place in self._holders.get(claim, ())} - found
            found |= others
            claims = {claim for place in others for claim in self._held[place]}
        return found


def _claims(candidate: Candidate | None) -> set[Claim]:
    """Return what a candidate claims, its last good version included."""
    if candidate is None:
        return set()
    claims: set[Claim] = {("tool", candidate.name)}
    for version in _versions(candidate):
        claims.update(("action", action) for action in version.actions)
        claims.update(("phrase", form) for phrase in version.phrases if (form := words(phrase)))
    return claims


def _versions(candidate: Candidate) -> Iterator[Candidate]:
    """Yield the versions that could serve, the best first."""
    if candidate.status == "loaded":
        yield candidate
    if candidate.previous is not None:
        yield candidate.previous


def patched(
    catalog: Catalog, changes: Sequence[Change], candidates: tuple[Candidate, ...]
) -> Catalog:
    """Return what ``combine(candidates)`` returns, if the changes touch no claim of another.

    ``catalog`` is that of the candidates before the changes.
    """
    before = [each.before for each in changes if each.before is not None]
    after = [each.after for each in changes if each.after is not None]
    names = [each.name for each in before]
    tools = {each.name: tool for each in after for tool in _serving(each)}
    missing = {each.name: each.reasons for each in after if each.name not in tools}
    old_actions = [
        action for each in before for tool in _serving(each) for action in tool.step_handlers
    ]
    handlers = {
        action: handler for tool in tools.values() for action, handler in tool.step_handlers.items()
    }
    return Catalog(
        _replaced(catalog.tools, names, tools),
        _replaced(catalog.unavailable, names, missing),
        _replaced(catalog.step_handlers, old_actions, handlers),
        candidates,
        catalog.diagnostics,
    )


def joined(
    catalog: Catalog,
    part: Catalog,
    *,
    names: Collection[str],
    candidates: tuple[Candidate, ...],
    diagnostics: tuple[Diagnostic, ...],
) -> Catalog:
    """Return a catalog with what ``part`` says of all tools of the names; others are as before."""
    known = [catalog.tools[name] for name in names if name in catalog.tools]
    actions = [action for tool in known for action in tool.step_handlers]
    return Catalog(
        _replaced(catalog.tools, names, part.tools),
        _replaced(catalog.unavailable, names, part.unavailable),
        _replaced(catalog.step_handlers, actions, part.step_handlers),
        candidates,
        diagnostics,
    )


def _serving(candidate: Candidate) -> list[ToolDefinition]:
    """Return the definition that serves, in a list; an empty one if there is none."""
    definitions = [version.definition for version in _versions(candidate)]
    return [each for each in definitions[:1] if each is not None]


def _replaced(
    entries: Mapping[str, _T], old: Iterable[str], new: Mapping[str, _T]
) -> Mapping[str, _T]:
    """Return the entries with the new ones for the old, ordered by name."""
    if not new and not any(name in entries for name in old):
        return entries
    replaced = dict(entries)
    for name in old:
        if name not in new:
            replaced.pop(name, None)
    replaced.update(new)
    order = sorted(replaced)
    return replaced if order == [*replaced] else {name: replaced[name] for name in order}
