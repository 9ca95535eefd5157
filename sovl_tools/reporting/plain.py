"""Text that a terminal can be trusted with."""

from __future__ import annotations

from unicodedata import category

_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"


def plain(text: str) -> str:
    r"""Return the text with control characters written out, so that none reaches a terminal.

    Escape sequences, line breaks, direction marks and lone surrogates come from files that
    strangers wrote; ``\x1b`` is shown as those four letters.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written(letter) if is_unsafe(letter) else letter for letter in text)


def is_unsafe(letter: str) -> bool:
    """Tell whether a character could do something to a terminal instead of being shown."""
    return category(letter) in _UNSAFE and letter not in _JOINERS


def _written(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
