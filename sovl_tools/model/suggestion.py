"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like the given one, or None if none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - 4 ms, needed only in bad cases

    candidates = {each.casefold(): each for each in known}
    found = get_close_matches(word.casefold()[:80], candidates, n=1, cutoff=0.7)
    return candidates[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the help text for a word that is not known, or None if no known word is near."""
    near = nearest(word, known)
    return f"did you mean {near!r}?" if near is not None else None
