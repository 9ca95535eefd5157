"""ST8xx: what two tools claim at the same time. Apart from ``offer``, which reads modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Finding, ManifestPlace, ModulePlace, Place, Rule, rule
from sovl_tools.model.folder import HANDLERS, PHRASES, REGISTER
from sovl_tools.model.suggestion import did_you_mean


class Holder(NamedTuple):
    """The tool that has something already: its name and its place; ``line`` is 0 for a folder."""

    name: str
    path: str
    line: int


class Clash(NamedTuple):
    """A candidate that claims what another has; ``number`` is its place in a list."""

    rule: Rule
    later: Candidate
    first: Holder
    claim: str
    number: int = 0


@rule("ST801")
def duplicate_tool(case: Clash) -> Iterator[Finding]:
    """Two tools have the same name, or one has the other's as an alias.

    Only one of them keeps the name: first tools that were registered in code, then folders, then
    packages, then directories of modules. Otherwise the first one wins, in the order of the paths,
    and alphabetically in each. Rename one of the two, or remove one path.

    A name wins over an alias: the tool that has the alias is loaded, but can't be called by it.
    """
    where = case.first.path + f":{case.first.line}" * bool(case.first.line)
    message = f"there is already a tool {case.claim!r} in {where}"
    if case.later.name == case.claim:
        yield Finding(ManifestPlace(("name",)), message, "rename one of the two")
        return
    if case.first.name != case.claim:
        message = f"{case.claim!r} is already an alias of {case.first.name!r} in {where}"
    yield Finding(ManifestPlace(("aliases", case.number)), message, "remove the alias")


@rule("ST802")
def shared_action(case: Clash) -> Iterator[Finding]:
    """Two tools have a step handler for the same action.

    A procedure's step could mean either. The first tool keeps the action, and the second isn't
    loaded. Rename one of the two actions.
    """
    message = f"the action {case.claim!r} belongs to {case.first.name!r} already"
    yield Finding(
        ModulePlace(HANDLERS, item=case.claim, otherwise=REGISTER), message, "rename the action"
    )


@rule("ST803", "warning")
def shared_phrase(case: Clash) -> Iterator[Finding]:
    """Two tools have the same activation phrase.

    A string with the phrase suggests both tools. Case, punctuation and spacing are ignored. Make
    the phrases more precise.
    """
    message = f"the phrase {case.claim!r:.80} is one of {case.first.name!r} too"
    place: Place = ManifestPlace(("activation_phrases", case.number))
    if case.later.has_own_phrases:
        place = ModulePlace(PHRASES, item=case.number)
    yield Finding(place, message, "make one of the two more precise")


@rule("ST804", "warning")
def shared_description(case: str) -> Iterator[Finding]:
    """Two tools have the same description.

    A model chooses tools by their descriptions, so it must guess. Usually one of them was copied.
    Case and spacing are ignored, and so are strings of less than four words. Write how the two
    differ.
    """
    message = f"the description is that of {case!r} too"
    yield Finding(ManifestPlace(("description",)), message, "say how the two differ")


class Replacement(NamedTuple):
    """The tools that ``replaced_by`` leads to, from a tool on, and the names of all."""

    chain: tuple[str, ...]
    known: tuple[str, ...]


@rule("ST805", "warning")
def unknown_replacement(case: Replacement) -> Iterator[Finding]:
    """``replaced_by`` names no tool, or leads back to its own.

    Callers are sent to a tool that doesn't exist, or two tools refer to each other.
    Correct the name, or remove the key.
    """
    place, (first, second, *_) = ManifestPlace(("replaced_by",)), case.chain
    if len({*case.chain}) < len(case.chain):
        message = f"{first!r} is replaced in a circle: {' → '.join(case.chain)}"
        yield Finding(place, message, "remove the key from the tool to use")
    else:
        yield Finding(place, f"there's no tool {second!r}", did_you_mean(second, case.known))
