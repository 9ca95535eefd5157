"""From candidates to the catalog: a pure function, so that no history can leave traces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sovl_tools.loading.checks.between import Clash, duplicate_tool, same_action, same_phrase
from sovl_tools.loading.location import Locator
from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, Rule, ask
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.interface import StepHandler
from sovl_tools.search.words import words


class _Draft:
    """The catalog while it is being put together."""

    def __init__(self) -> None:
        self.tools: dict[str, Candidate] = {}
        self.actions: dict[str, Candidate] = {}
        self.phrases: dict[tuple[str, ...], tuple[Candidate, str]] = {}
        self.candidates: list[Candidate] = []
        self.between: dict[str, tuple[Diagnostic, ...]] = {}


class Combined(NamedTuple):
    """A catalog, and what is wrong between tools by the locations of the candidates it is told of.

    A candidate that has nothing to do with any other is not among the locations.
    """

    catalog: Catalog
    between: dict[str, tuple[Diagnostic, ...]]


def combine(candidates: Iterable[Candidate]) -> Catalog:
    """Return the catalog of the candidates, which come in the order of their precedence.

    Of several tools of one name the first stays, likewise of several that claim one action. For
    one that can't be had its last good version serves, if that one can.
    """
    return combined(candidates).catalog


def combined(candidates: Iterable[Candidate]) -> Combined:
    """Return what ``combine`` does, and of whom it tells what."""
    draft = _Draft()
    for candidate in candidates:
        is_whole = candidate.status == "loaded"
        admitted = _admitted(draft, candidate) if is_whole else candidate
        if admitted.status != "loaded" and candidate.previous is not None:
            _admit_previous(draft, candidate.previous)
        draft.candidates.append(admitted)
    return Combined(_catalog(draft), draft.between)


def _admitted(draft: _Draft, candidate: Candidate) -> Candidate:
    """Enter a candidate into the draft, or return it rejected with the reasons."""
    clashes = _clashes(draft, candidate)
    found = [each for rule, clash in clashes for each in _located(rule, clash)]
    if found:
        draft.between[candidate.location] = (*draft.between.get(candidate.location, ()), *found)
    errors = tuple(str(each) for each in found if each.severity == "error")
    if errors:
        return candidate._replace(status="rejected", definition=None, reasons=errors)
    if candidate.previous is not None:
        candidate = candidate._replace(previous=None)
    _enter(draft, candidate)
    return candidate


def _admit_previous(draft: _Draft, previous: Candidate) -> None:
    """Enter a last good version, unless it clashes too; its files are gone, so nothing is said."""
    if all(rule.severity == "warning" for rule, _ in _clashes(draft, previous)):
        _enter(draft, previous)


def _enter(draft: _Draft, candidate: Candidate) -> None:
    draft.tools[candidate.name] = candidate
    draft.actions.update(dict.fromkeys(candidate.actions, candidate))
    for phrase in candidate.phrases:
        draft.phrases.setdefault(words(phrase), (candidate, phrase))


def _clashes(draft: _Draft, candidate: Candidate) -> list[tuple[Rule, Clash]]:
    first = draft.tools.get(candidate.name)
    if first is not None:
        return [(duplicate_tool, Clash(candidate, first, candidate.name))]
    clashes = [
        (same_action, Clash(candidate, draft.actions[action], action))
        for action in candidate.actions
        if action in draft.actions
    ]
    for index, phrase in enumerate(candidate.phrases):
        known = draft.phrases.get(words(phrase)) if words(phrase) else None
        if known is not None:
            clashes.append((same_phrase, Clash(candidate, known[0], phrase, index)))
    return clashes


def _located(rule: Rule, clash: Clash) -> tuple[Diagnostic, ...]:
    later = clash.later
    if later.line:
        place = later.name, later.path, later.line, later.column
        return tuple(
            Diagnostic(rule.code, rule.severity, found.message, found.help, *place)
            for found in rule.check(clash)
        )
    folder = ToolFolder(clash.later.name, clash.later.path, clash.later.location)
    return Locator(folder).diagnostics(ask((rule,), clash))


def _catalog(draft: _Draft) -> Catalog:
    tools: dict[str, ToolDefinition] = {}
    handlers: dict[str, StepHandler] = {}
    for name, candidate in draft.tools.items():
        if candidate.definition is not None:
            tools[name] = candidate.definition
            handlers.update(candidate.definition.step_handlers)
    unavailable = {
        candidate.name: candidate.reasons
        for candidate in reversed(draft.candidates)
        if candidate.status != "loaded" and candidate.name not in tools
    }
    return Catalog(
        dict(sorted(tools.items())),
        unavailable,
        dict(sorted(handlers.items())),
        tuple(draft.candidates),
        tuple(found for each in draft.between.values() for found in each),
    )
