"""Turn candidates into the catalog: a pure function, independent of earlier loads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MethodType
from typing import Any

from sovl_tools.loading.location import Locator
from sovl_tools.loading.rules.between import (
    Clash,
    Holder,
    Replacement,
    duplicate_tool,
    shared_action,
    shared_description,
    shared_phrase,
    unknown_replacement,
)
from sovl_tools.loading.rules.server import ListedTool, confusable_name, skeleton
from sovl_tools.loading.sources import collect
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange, LoadReport
from sovl_tools.model.definition import StepHandler, ToolDefinition
from sovl_tools.model.diagnostic import MAX_FINDINGS, Diagnostic, Rule, Verdict, ask, in_order
from sovl_tools.model.folder import ToolFolder
from sovl_tools.search.words import words

_FEWEST_WORDS = 4


class _Claims:
    """Who has which name, action and phrase, while candidates are entered one after the other."""

    def __init__(self) -> None:
        self.tools: dict[str, Candidate] = {}
        self._actions: dict[str, Candidate] = {}
        self._phrases: dict[tuple[str, ...], Candidate] = {}

    def clashes(self, candidate: Candidate) -> list[Clash]:
        """Return the clashes of a candidate with earlier ones; its name first."""
        first = self.tools.get(candidate.name)
        if first is not None:
            return [_clash(duplicate_tool, candidate, first, candidate.name)]
        clashes = []
        for action in candidate.actions:
            known = self._actions.get(action)
            if known is not None:
                clashes.append(_clash(shared_action, candidate, known, action))
        for number, phrase in enumerate(candidate.phrases):
            known = self._phrases.get(words(phrase))
            if known is not None:
                clashes.append(_clash(shared_phrase, candidate, known, phrase, number))
        return clashes

    def enter(self, candidate: Candidate) -> None:
        """Let a candidate have its name, and the actions and phrases that are free."""
        self.tools[candidate.name] = candidate
        for action in candidate.actions:
            self._actions[action] = candidate
        for phrase in candidate.phrases:
            form = words(phrase)
            # a phrase without words matches no string
            if form:
                self._phrases.setdefault(form, candidate)


def combine(candidates: Iterable[Candidate]) -> Catalog:
    """Return the catalog of the candidates, which come in the order of their precedence.

    Of several tools of one name the first wins, likewise of several that claim one action. For one
    that can't be loaded its last good version serves, unless that clashes with another tool.
    """
    claims, shown, found = _Claims(), list[Candidate](), list[Diagnostic]()
    for candidate in candidates:
        after = candidate
        if candidate.status == "loaded":
            clashes = _diagnostics(claims.clashes(candidate))
            found += clashes
            errors = tuple(str(each) for each in clashes if each.severity == "error")
            if errors:
                after = candidate._replace(status="rejected", definition=None, reasons=errors)
            elif candidate.previous is not None:
                after = candidate._replace(previous=None)
        # the first one wins; later ones clash with it
        if after.status == "loaded":
            claims.enter(after)
        elif after.previous is not None and not any(
            each.rule.severity == "error" for each in claims.clashes(after.previous)
        ):
            claims.enter(after.previous)  # without diagnostics: its files are gone
        shown.append(after)
    winners = [each.definition for _, each in sorted(claims.tools.items())]
    tools = {each.name: each for each in winners if each is not None}
    aliases, clashes = _aliases(claims.tools, shown)
    handlers: dict[str, StepHandler] = {}
    for definition in tools.values():
        handlers.update(definition.step_handlers)
    unavailable = {
        each.name: each.reasons
        for each in reversed(shown)
        if each.status != "loaded" and each.name not in tools
    }
    actions = dict(sorted(handlers.items()))
    return Catalog(tools, unavailable, actions, tuple(shown), (*found, *clashes), aliases)


def _aliases(
    tools: Mapping[str, Candidate], shown: Sequence[Candidate]
) -> tuple[dict[str, str], list[Diagnostic]]:
    """Return the name that each alias stands for, and the clashes.

    Names win over aliases, also those of tools that can't be called. Of several tools with an alias
    the first wins; tools that can be called come before the others.
    """
    named = {**{each.name: each for each in reversed(shown)}, **tools}
    present, owners, clashes = set(map(id, shown)), dict[str, Candidate](), list[Clash]()
    for each in (*tools.values(), *(other for other in shown if other.name not in tools)):
        for number, alias in enumerate(each.aliases):
            first = named.get(alias) or owners.setdefault(alias, each)
            is_taken = first is not each and alias != each.name
            # the files of a last good version are gone
            if is_taken and each.name in tools and id(each) in present:
                clashes.append(_clash(duplicate_tool, each, first, alias, number))
    return {alias: each.name for alias, each in sorted(owners.items())}, _diagnostics(clashes)


def _diagnostics(clashes: Iterable[Clash]) -> list[Diagnostic]:
    return [found for each in clashes for found in _located(each.later, ask((each.rule,), each))]


def _located(candidate: Candidate, verdicts: Sequence[Verdict]) -> Sequence[Diagnostic]:
    """Return verdicts about a candidate with their places in its code or its folder."""
    place = candidate.path, candidate.line, candidate.column
    if candidate.line:  # it is in code
        return [each.at(*place, tool=candidate.name) for each in verdicts]
    folder = ToolFolder(candidate.name, candidate.path, candidate.location)
    return Locator(folder).diagnostics(verdicts)


def _clash(rule: Rule, later: Candidate, first: Candidate, claim: str, number: int = 0) -> Clash:
    return Clash(rule, later, Holder(first.name, first.path, first.line), claim, number)


def equal_descriptions(candidates: Iterable[Candidate]) -> list[Diagnostic]:
    """Return the findings about tools that have the description of an earlier one."""

    def described(each: Candidate) -> str:
        words = each.description.casefold().split()
        return " ".join(words) if len(words) >= _FEWEST_WORDS else each.name

    return _alike(candidates, described, lambda _, first: ask((shared_description,), first))


def confusable_names(candidates: Iterable[Candidate]) -> list[Diagnostic]:
    """Return the findings about tools whose names look like that of an earlier one."""
    return _alike(
        candidates,
        lambda each: skeleton(each.name),
        lambda name, first: ask((confusable_name,), ListedTool(name, (), same=first)),
    )


def _alike(
    candidates: Iterable[Candidate],
    key: Callable[[Candidate], str],
    found: Callable[[str, str], list[Verdict]],
) -> list[Diagnostic]:
    """Return the findings about loaded tools with the key of an earlier one, a hundred at most."""
    known: dict[str, str] = {}
    diagnostics: list[Diagnostic] = []
    for each in candidates:
        first = known.setdefault(key(each), each.name) if each.status == "loaded" else each.name
        if first != each.name and len(diagnostics) < MAX_FINDINGS:
            diagnostics += _located(each, found(each.name, first))
    return diagnostics


def unknown_replacements(catalog: Catalog) -> list[Diagnostic]:
    """Return the findings about ``replaced_by`` that names no tool, or leads in a circle.

    Folders next to a tool's own count, although they may not have been loaded.
    """
    found: list[Diagnostic] = []
    tools = {each.name: each for each in reversed(catalog.candidates)}
    for each in catalog.candidates:
        chain, last = [each.name], each
        while last.replaced_by and len(set(chain)) == len(chain):
            chain.append(catalog.named(last.replaced_by))
            last = tools.get(chain[-1]) or _NO_TOOL
        is_circle = len(set(chain)) < len(chain)
        is_unknown = each.replaced_by is not None and chain[1] not in tools
        if is_unknown and not each.line:
            beside = collect([os.path.dirname(each.location)], names=chain[1:])
            is_unknown = not beside.folders
        if is_circle or is_unknown:
            case = Replacement(tuple(chain), tuple(tools))
            found += _located(each, ask((unknown_replacement,), case))
    return found


_NO_TOOL = Candidate("", "", "", "rejected")


def difference(before: Catalog, after: Catalog) -> CatalogChange:
    """Return the difference between two catalogs, in names."""
    old = {each.location: each for each in before.candidates}
    new = [each for each in after.candidates if old.get(each.location) is not each]
    # an equal candidate has not changed
    present = [each for each in new if old.get(each.location) != each]
    sound = {each.name for each in present if each.status == "loaded"}
    known = before.tools.keys() & after.tools.keys()
    other = {name for name in known if before.tools[name] is not after.tools[name]}
    places = {each.path for each in present}
    former = set(before.diagnostics)
    # a clash is in a file of code, or in a file of a folder, perhaps of one that hasn't changed
    between = [
        each
        for each in after.diagnostics
        if each not in former or not places.isdisjoint((each.path, os.path.dirname(each.path)))
    ]
    return CatalogChange(
        added=_sorted(after.tools.keys() - known),
        updated=_sorted(other | (sound & known)),
        removed=_sorted(before.tools.keys() - known),
        rejected=_sorted(each.name for each in present if each.status == "rejected"),
        diagnostics=in_order([*between, *_found(present)]),
        waiting=_sorted(each.name for each in present if each.status == "waiting"),
    )


def report_of(catalog: Catalog, diagnostics: Iterable[Diagnostic]) -> LoadReport:
    """Return the report of a load: of the paths, of each folder, and between tools."""
    between = (*diagnostics, *catalog.diagnostics)
    return LoadReport(catalog.candidates, in_order([*between, *_found(catalog.candidates)]))


def errors_in(catalog: Catalog, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the errors that the report of a load would have; only broken tools have some."""
    broken = (each for each in catalog.candidates if each.status == "rejected")
    found = (*diagnostics, *catalog.diagnostics, *_found(broken))
    return in_order(each for each in found if each.severity == "error")


def _found(candidates: Iterable[Candidate]) -> Iterator[Diagnostic]:
    return chain.from_iterable(each.diagnostics for each in candidates)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def are_distinct(first: Candidate, second: Candidate) -> bool:
    """Return True if two candidates certainly are two objects."""
    functions = [each.definition.function for each in (first, second) if each.definition]
    return len(functions) > 1 and function_ids(functions[0]) != function_ids(functions[1])


def is_same_tool(first: ToolDefinition, second: ToolDefinition) -> bool:
    """Return True if two definitions are equal, and of the same function."""
    return function_ids(first.function) == function_ids(second.function) and content_of(
        first
    ) == content_of(second)


def content_of(definition: ToolDefinition | None) -> tuple[Any, ...]:
    """Return a definition's content for comparison; 1, 1.0 and true differ."""
    if definition is None:
        return ()
    # reading the function would import a deferred module
    hidden = ("function", "step_handlers", "_deferred")
    fields = {key: each for key, each in vars(definition).items() if key not in hidden}
    handlers = definition.step_handlers
    if definition.deferred is not None:
        return repr(fields), sorted(handlers), definition.deferred.code
    code = definition.function, *(handlers[action] for action in sorted(handlers))
    return repr(fields), sorted(handlers), [function_ids(each) for each in code]


def function_ids(function: Any) -> tuple[int, ...]:
    """Return the identity of a function; a bound method is a new object each time."""
    if isinstance(function, MethodType):
        return id(function.__func__), id(function.__self__)
    return (id(function),)
