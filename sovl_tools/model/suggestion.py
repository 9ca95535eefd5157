"""Words of messages: did you mean …, and one of several."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: object, known: Iterable[str], *, cutoff: float = 0.7) -> str | None:
    """Return the known word that is most like the given one, or None if none is near.

    ``cutoff`` says how near, up to 1.0 for words of which only the case differs.
    """
    if not isinstance(word, str):  # a caller's mistake, which is reported where it was made
        return None
    # ``City`` for ``city`` is the slip that is made most, and a model may send a name of any length
    folded = word.casefold()[:80]
    candidates = {each.casefold(): each for each in known}
    # those whose length alone says that they are not near are most, and comparing is quadratic
    lengths = {each: (len(each), len(folded)) for each in candidates}
    near = [each for each, both in lengths.items() if 2 * min(both) >= cutoff * sum(both)]
    if not near:
        return None
    from difflib import get_close_matches  # noqa: PLC0415 - 4 ms, needed only in bad cases

    found = get_close_matches(folded, near, n=1, cutoff=cutoff)
    return candidates[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the help text for a word that is not known, or None if no known word is near."""
    near = nearest(word, known)
    return question(repr(near)) if near is not None else None


def question(meant: str) -> str:
    """Return the question whether something else is meant, as it is written there."""
    return f"did you mean {meant}?"


def as_hint(near: str | None) -> str:
    """Return the end of a message that asks for a near word; nothing if none is near."""
    return f"; {question(repr(near))}" if near else ""


def one_of(words: Iterable[str]) -> str:
    """Return ``a, b or c``."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
