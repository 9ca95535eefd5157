"""Text that a terminal can be trusted with."""

from __future__ import annotations

from unicodedata import category

# control, format, surrogate, line and paragraph separator; they move the cursor or swap the order
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# format characters that Persian, Hindi and emoji are written with, and that do no harm
_JOINERS = "\u200c\u200d"


def plain(text: str) -> str:
    r"""Return the text with control characters written out, so that none reaches a terminal.

    Escape sequences, line breaks, direction marks and lone surrogates come from files that
    strangers wrote; ``\x1b`` is shown as those four letters.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter.encode("unicode_escape").decode("ascii") if is_unsafe(letter) else letter
        for letter in text
    )


def cut(text: str, width: int) -> str:
    """Return the text, or of a longer one the beginning with an ellipsis, of so many characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def is_unsafe(letter: str) -> bool:
    """Tell whether a character could do something to a terminal instead of being shown."""
    return category(letter) in _UNSAFE and letter not in _JOINERS
