"""ST9xx: what providers' definitions lose, and what providers reject."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from sovl_tools.formats.base import Loss
from sovl_tools.model.diagnostic import Finding, ManifestPlace, Rule, rule


class FormatCase(NamedTuple):
    """Something that a format loses of a tool, and the format's name as the user writes it."""

    target: str
    loss: Loss


def _finding(case: FormatCase) -> Iterator[Finding]:
    loss = case.loss
    of: Literal["key", "value"] = "key" if loss.path and isinstance(loss.path[-1], str) else "value"
    yield Finding(ManifestPlace(loss.path, of), f"{case.target}: {loss.message}", loss.help)


@rule("ST901", "warning")
def dropped_by_format(case: FormatCase) -> Iterator[Finding]:
    """A provider's definition does not say something that the manifest says.

    There's no place for it. A model may choose worse; a call is checked all the same. Providers
    want a plain object for all arguments together, so a schema's words about them in
    alternatives or under conditions is omitted.
    """
    yield from _finding(case)


@rule("ST902", "warning")
def moved_to_description(case: FormatCase) -> Iterator[Finding]:
    """A keyword that a provider does not support is in a description, in words.

    The model reads it and may keep to it, but the provider does not see to that. Arguments are
    checked against the manifest when the tool is called.
    """
    yield from _finding(case)


@rule("ST903", "warning")
def rewritten_for_format(case: FormatCase) -> Iterator[Finding]:
    """A provider's definition says something otherwise, and less exactly.

    An object can't have properties that aren't listed, for example. When the tool is called,
    arguments are checked against the manifest.
    """
    yield from _finding(case)


@rule("ST904", "warning")
def not_strict_in_format(case: FormatCase) -> Iterator[Finding]:
    """A tool can't be strict at a provider: its arguments will not be enforced there.

    A strict schema lists every property and gives every value a type. The definition is exported
    without ``strict``. Change the schema as the message says, or do without.
    """
    yield from _finding(case)


@rule("ST905")
def provider_limit(case: FormatCase) -> Iterator[Finding]:
    """A provider rejects a request with so many, so long or so deep a thing.

    Every provider rejects the whole request because of one tool. Offer fewer tools at a time, or
    make the schema smaller.
    """
    yield from _finding(case)


@rule("ST906")
def refused_property_name(case: FormatCase) -> Iterator[Finding]:
    """A provider rejects the name of a property.

    It would reject the whole request. Names are never changed on the way, because a function is
    called with them. Rename the property.
    """
    yield from _finding(case)


@rule("ST907", "warning")
def doubtful_in_format(case: FormatCase) -> Iterator[Finding]:
    """A provider, or some of its models, may reject something or ignore it.

    Its documentation does not say so for certain. If requests with the tool fail, begin here.
    """
    yield from _finding(case)


@rule("ST908")
def left_out_of_export(case: FormatCase) -> Iterator[Finding]:
    """A tool is omitted of an export because its schema can't be had just now.

    A function in its schema failed or returned an invalid value. It is called again at
    the next export.
    """
    yield from _finding(case)


BY_KIND: dict[str, Rule] = {
    "dropped": dropped_by_format,
    "moved": moved_to_description,
    "rewritten": rewritten_for_format,
    "loose": not_strict_in_format,
    "limit": provider_limit,
    "name": refused_property_name,
    "doubt": doubtful_in_format,
    "left_out": left_out_of_export,
}
"""The rule that tells of each kind of loss."""

RULES = tuple(BY_KIND.values())
