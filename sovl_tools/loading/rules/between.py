"""ST8xx: what two tools claim at the same time. Apart from ``offer``, which reads modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Finding, ManifestPlace, ModulePlace, Place, Rule, rule
from sovl_tools.model.folder import HANDLERS, PHRASES, REGISTER


class Holder(NamedTuple):
    """The tool that has something already: its name and its place; ``line`` is 0 for a folder."""

    name: str
    path: str
    line: int


class Clash(NamedTuple):
    """A candidate that claims what another has; ``number`` is a phrase's place in its list."""

    rule: Rule
    later: Candidate
    first: Holder
    claim: str
    number: int = 0


@rule("ST801")
def duplicate_tool(case: Clash) -> Iterator[Finding]:
    """Two tools have the same name.

    A name leads to one tool. One that was registered by hand stays before one in a folder, that
    before one in a package, and that before one in a directory of modules; otherwise the one that
    was found first: paths in the order in which they were given, names in alphabetical order
    within one. Rename one of the two, or leave one path out.
    """
    line = f":{case.first.line}" * bool(case.first.line)
    message = f"there is already a tool {case.claim!r} in {case.first.path}{line}"
    yield Finding(ManifestPlace(("name",)), message, "rename one of the two")


@rule("ST802")
def shared_action(case: Clash) -> Iterator[Finding]:
    """Two tools bring a step handler for the same action.

    A procedure's step could mean either. The tool that was loaded first keeps the action, the
    other is not loaded. Rename one of the two actions.
    """
    message = f"the action {case.claim!r} belongs to {case.first.name!r} already"
    yield Finding(
        ModulePlace(HANDLERS, item=case.claim, otherwise=REGISTER), message, "rename the action"
    )


@rule("ST803", "warning")
def shared_phrase(case: Clash) -> Iterator[Finding]:
    """Two tools have the same activation phrase.

    A text with the phrase suggests both, so that the phrase decides nothing. Case, punctuation
    and spacing do not count. Make the phrases more precise.
    """
    message = f"the phrase {case.claim!r:.80} is one of {case.first.name!r} too"
    place: Place = ManifestPlace(("activation_phrases", case.number))
    if case.later.has_own_phrases:
        place = ModulePlace(PHRASES, item=case.number)
    yield Finding(place, message, "make one of the two more precise")


@rule("ST804", "warning")
def shared_description(case: str) -> Iterator[Finding]:
    """Two tools have the same description.

    A model chooses by it, and here it can only guess. Mostly one of them was copied. Case and
    spacing do not count, and a text of less than four words is taken for a stopgap. Say in each
    what the other one doesn't do.
    """
    message = f"the description is that of {case!r} too"
    yield Finding(ManifestPlace(("description",)), message, "say how the two differ")
