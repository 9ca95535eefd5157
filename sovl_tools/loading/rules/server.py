"""ST806 to ST810: the definitions of a server, and their differences from the reviewed ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, ManifestPlace, Place, Position, rule
from sovl_tools.model.document import Path

MAX_TOKENS = 4_000
"""The estimated number of tokens of a definition that a model reads with every request."""


class ListedTool(NamedTuple):
    """A tool in a list.

    Attributes:
        name: its name.
        place: its definition in the file.
        tokens: the estimated length of its definition.
        same: an earlier tool of the list with that name, or with one that looks like it.
    """

    name: str
    place: Path
    tokens: int = 0
    same: str | None = None


@rule("ST810", "warning")
def confusable_name(case: ListedTool) -> Iterator[Finding]:
    """Two tools have names that are easily confused.

    They differ only in case, in ``_``, ``-`` and ``.``, or in characters that look alike, such as
    ``l`` and ``1``. Models mix them up, and a reviewer overlooks the second one. Rename one.
    """
    if case.same is not None and case.same != case.name:
        message = f"the name {case.name!r} is easily confused with {case.same!r}"
        yield Finding(ManifestPlace((*case.place, "name")), message, "rename one of the two")


@rule("ST806")
def repeated_tool(case: ListedTool) -> Iterator[Finding]:
    """A list of definitions has two tools of the same name.

    Clients keep one of the two, and which one differs between clients. Rename or remove one.
    """
    if case.same == case.name:
        message = f"there is already a tool {case.name!r} in this list"
        yield Finding(ManifestPlace((*case.place, "name")), message, "rename or remove one")


@rule("ST807", "warning")
def large_definition(case: ListedTool) -> Iterator[Finding]:
    """A definition takes more than 4,000 tokens.

    It is sent with every request, so it costs tokens and time each time, and other tools get less
    attention. The number is an estimate. Shorten the descriptions, or split the tool.
    """
    if case.tokens > MAX_TOKENS:
        message = f"the definition of {case.name!r} takes about {case.tokens:,} tokens"
        yield Finding(
            ManifestPlace((*case.place, "name")), message, "shorten it, or split the tool"
        )


class Difference(NamedTuple):
    """A difference between a server and its snapshot.

    Attributes:
        subject: the tool, prompt or resource.
        words: the difference.
        place: its definition in the file, if it is there.
    """

    subject: str
    words: str
    place: Path | None = None


def _difference(case: Difference, advice: str) -> Finding:
    place: Place = Position() if case.place is None else ManifestPlace(case.place)
    return Finding(place, f"{case.subject}: {case.words}", advice)


@rule("ST808")
def breaking_change(case: Difference) -> Iterator[Finding]:
    """A server differs from its snapshot in a way that breaks callers.

    A tool is gone, valid arguments can be rejected now, results have new forms, or a
    promise such as ``readOnlyHint`` isn't kept anymore. Adapt the callers, or the server; then run
    ``sovl-tools check --update`` and commit the snapshot.
    """
    yield _difference(case, "review it, then run sovl-tools check --update")


@rule("ST809", "warning")
def other_change(case: Difference) -> Iterator[Finding]:
    """A server differs from its snapshot, and callers still work.

    A tool or an optional argument is new, or descriptions changed. New words can change what a
    model does, so read them; then run ``sovl-tools check --update`` and commit the snapshot. With
    ``--locked`` it is an error.
    """
    yield _difference(case, "review it, then run sovl-tools check --update")


RULES = (repeated_tool, large_definition, confusable_name)
CHANGE_RULES = (breaking_change, other_change)


def skeleton(name: str) -> str:
    """Return a name without the differences that a reader overlooks."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(each for each in folded if each not in "_-. ").translate(_ALIKE)


_ALIKE = str.maketrans("l0аеорсхі", "1oaeopcxi")  # noqa: RUF001 - Cyrillic letters look Latin
