"""Patterns of paths, as in a ``.gitignore`` (https://git-scm.com/docs/gitignore)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self


class PathPattern(NamedTuple):
    """One pattern.

    Attributes:
        folder: the absolute path of the folder below which it matches.
        pattern: matches relative paths with slashes.
        is_negated: whether matching paths are included again.
        is_for_folders: whether it only matches folders.
    """

    folder: str
    pattern: re.Pattern[str]
    is_negated: bool
    is_for_folders: bool

    @classmethod
    def of(cls, text: str, folder: str) -> Self | None:
        """Return the pattern of a line, relative to a folder; None if the line isn't a pattern.

        A pattern that begins with ``../`` is relative to the parent folder.
        """
        line = text.rstrip()
        plain = line.removeprefix("!")
        # Git's [[:alpha:]] would mean something else to Python
        if not plain or line.startswith("#") or "[:" in plain:
            return None
        body = plain.rstrip("/")
        is_anchored = "/" in body
        while body.startswith(("./", "../")):
            if body.startswith("../"):
                folder = os.path.dirname(folder)
            body = body.partition("/")[2]
        # a pattern with a slash is relative to this folder; others match at any depth
        prefix = "" if is_anchored else "(?:.*/)?"
        pattern = prefix + "".join(map(_translated, _PARTS.findall(body.lstrip("/"))))
        try:
            found = re.compile(pattern)
        except re.error:  # such as [z-a]
            return None
        return cls(folder, found, line.startswith("!"), plain.endswith("/"))


def patterns_of(texts: Iterable[str], folder: str) -> tuple[PathPattern, ...]:
    """Return the patterns of lines, relative to a folder."""
    every = (PathPattern.of(text, folder) for text in texts)
    return tuple(each for each in every if each is not None)


def is_matched(location: str, patterns: Sequence[PathPattern], *, is_folder: bool) -> bool:
    """Return whether a path is matched: the last matching pattern decides, as in Git."""
    for each in reversed(patterns):
        inside = location.removeprefix(each.folder.rstrip(os.sep))
        if len(inside) == len(location) or inside[:1] != os.sep:
            continue
        path = inside[1:].replace(os.sep, "/")
        if (is_folder or not each.is_for_folders) and each.pattern.fullmatch(path):
            return not each.is_negated
    return False


def is_excluded(location: str, patterns: Sequence[PathPattern]) -> bool:
    """Return whether a path or one of its parents is matched."""
    if not patterns:
        return False
    above = [location]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    return is_matched(location, patterns, is_folder=os.path.isdir(location)) or any(
        is_matched(each, patterns, is_folder=True) for each in above[1:]
    )


_PARTS = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[[!^]?(?:\][^\]/]*|[^\]/]+)\]|\\?.")
_WILDCARDS = {"**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}


def _translated(part: str) -> str:
    # several asterisks without a slash mean the same as one
    part = part if part.strip("*") else "*"
    if part in _WILDCARDS:
        return _WILDCARDS[part]
    if part.startswith("[") and part.endswith("]"):
        # these are special in a class of re, but not in a shell pattern
        inner = re.sub(r"([\\\[\]&~|]|(?<=-)-)", r"\\\1", part[1:-1])
        # a negated class doesn't match a slash
        return f"[^/{inner[1:]}]" if inner.startswith(("!", "^")) else f"[{inner}]"
    return re.escape(part.removeprefix("\\") or part)
