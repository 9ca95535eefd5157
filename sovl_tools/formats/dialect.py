"""What a provider's strict schemas may say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from sovl_tools.formats.compat import has_lookaround
from sovl_tools.model.document import JSON, Path

COMMON_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
"""Formats of text that both OpenAI and Anthropic know."""


class UnfitError(Exception):
    """A schema that can't be said strictly.

    Attributes:
        path: the place in the manifest.
        message: why, in words that begin with what stands there.
        help: what the author may do.
    """

    def __init__(self, path: Path, message: str, help: str | None = None) -> None:  # noqa: A002 - as everywhere
        super().__init__(path, message, help)
        self.path = path
        self.message = message
        self.help = help


class Dialect(NamedTuple):
    """The part of JSON Schema that a provider enforces.

    Attributes:
        keeps: keywords that may stand as they are, if ``admits`` agrees.
        admits: tells it of a keyword and its value.
        is_recursive: whether definitions may refer to themselves.
        wraps_references: whether a reference that is described becomes an ``anyOf`` of one, which
            may be described; else what it leads to takes its place.
        tells_by_first: whether objects that are alternatives are told apart by their first names.
        minds_case: whether texts to choose from come back in the case in which they were given.
    """

    keeps: frozenset[str]
    admits: Callable[[str, JSON], bool]
    is_recursive: bool = True
    wraps_references: bool = True
    tells_by_first: bool = False
    minds_case: bool = True


_ELABORATE = re.compile(r"\\[1-9]|\\k<|\(\?P=|[*+?}]\?")


def is_elaborate(pattern: str) -> bool:
    """Tell whether a regular expression looks around, refers back or is lazy, or seems to."""
    return has_lookaround(pattern) or _ELABORATE.search(pattern) is not None
