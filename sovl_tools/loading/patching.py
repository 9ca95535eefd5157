"""The catalog after a change, made of the one before: the same that ``combine`` would make.

Combining looks at every candidate. That is not needed where what has changed claims nothing that
another candidate claims as well: then no other one can win or lose anything by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.search.words import words

_T = TypeVar("_T")

Claim: TypeAlias = tuple[str, object]
"""What only one tool can have: a kind (``"tool"``, ``"action"``, ``"phrase"``) and a name."""


class Change(NamedTuple):
    """A candidate before and after a change; None where there was none or is none any more."""

    before: Candidate | None
    after: Candidate | None


class Claims:
    """How many candidates claim what, whether they get it or not."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._counts = Counter(claim for each in candidates for claim in _claims(each))

    def follow(self, changes: Sequence[Change]) -> bool:
        """Count the changes in; return whether anything is, or was, claimed by another as well."""
        released = [claim for change in changes for claim in _claims(change.before)]
        was_contested = any(self._counts[claim] > 1 for claim in released)
        for claim in released:
            self._counts[claim] -= 1
            if not self._counts[claim]:
                del self._counts[claim]
        made = [claim for change in changes for claim in _claims(change.after)]
        self._counts.update(made)
        return was_contested or any(self._counts[claim] > 1 for claim in made)


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
    return replaced if new.keys() <= entries.keys() else dict(sorted(replaced.items()))
