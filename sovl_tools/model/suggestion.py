"""Suggestions in messages, such as "did you mean …?"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches


def nearest(word: object, known: Iterable[str], *, cutoff: float = 0.7) -> str | None:
    """Return the candidate that is most similar to the given word; None if no candidate is similar.

    ``cutoff`` is the least similarity; 1.0 allows only another case.
    """
    if not isinstance(word, str):  # the caller reports its type
        return None
    # ``City`` for ``city`` is the most common slip; a model can send a name of any length
    folded = word.casefold()[:80]
    candidates = {each.casefold(): each for each in known}
    found = get_close_matches(folded, candidates, n=1, cutoff=cutoff)
    return candidates[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the help text for an unknown word; None if no candidate is similar."""
    near = nearest(word, known)
    return question(repr(near)) if near is not None else None


def question(meant: str) -> str:
    """Return the question whether something else is meant."""
    return f"did you mean {meant}?"


def nearest_tool(name: object, tools: Collection[str]) -> str | None:
    """Return the tool that an unknown name means, or is most similar to; None if none is near."""
    return without_namespace(name, tools) or nearest(name, tools)


def without_namespace(name: object, tools: Collection[str]) -> str | None:
    """Return the tool that a name means apart from what models put around names.

    These are namespaces, as in ``functions.weather``, ``mcp__server__weather`` or
    ``tools/weather``, and numbers or marks at the end, as in ``functions.weather:0``.
    """
    if not isinstance(name, str) or len(name) > _LONGEST:
        return None
    plain = _MARKS.sub("", name)
    tails = (plain[each.end() :] for each in _NAMESPACE.finditer(plain))
    return next((each for each in (plain, *tails) if each in tools), None)


_LONGEST = 300  # characters of a name in namespaces
_NAMESPACE = re.compile(r"[.:/]+|__")
_MARKS = re.compile(r":\d+$|<\|.*|\(\)$", re.DOTALL)


def as_hint(near: str | None) -> str:
    """Return the end of a message that suggests a similar word; empty for None."""
    return f"; {question(repr(near))}" if near else ""


def one_of(words: Iterable[str]) -> str:
    """Return ``a, b or c``."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
