"""What may be in an expression, checked before anything parses it.

Only numbers, known names, operators, parentheses and commas pass, so no string, attribute, keyword
or assignment ever reaches the parser.
"""

import difflib
import re

from .functions import CONSTANTS, FUNCTIONS

_MAXIMUM_LENGTH = 1000
_TYPOGRAPHIC = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})  # noqa: RUF001
_TOKEN = re.compile(
    r"""\s+
    | (?:0[xX][0-9a-fA-F_]+ | 0[bB][01_]+ | 0[oO][0-7_]+
        | (?:[0-9][0-9_]*(?:\.[0-9_]*)? | \.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)(?![\w.])
    | (?P<name>[^\W\d]\w*)
    | \*\* | // | << | >> | [-+*/%()&|~,]""",
    re.VERBOSE,
)
_ADVICE = {
    "^": ": write ** for a power, xor(a, b) for the exclusive or",
    "!": ": write factorial(n)",
    "√": ": write sqrt(x)",
    "=": ": only the expression itself, without an equals sign",
}


def normalize(expression: str) -> str:
    """Return the expression with plain operators and single spaces; raise ValueError for others."""
    if len(expression) > _MAXIMUM_LENGTH:
        raise ValueError(f"the expression is longer than {_MAXIMUM_LENGTH} characters")
    text = " ".join(expression.translate(_TYPOGRAPHIC).split())
    if not text:
        raise ValueError("the expression is empty")
    _check_tokens(text)
    return text


def _check_tokens(text: str) -> None:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise ValueError(_unreadable(text, position))
        if found["name"]:
            _check_name(found["name"])
        position = found.end()


def _unreadable(text: str, position: int) -> str:
    rest = text[position:]
    return f"cannot read {rest[:20]!r} at character {position + 1}{_ADVICE.get(rest[0], '')}"


def _check_name(name: str) -> None:
    known = [*FUNCTIONS, *CONSTANTS]
    if name in known:
        return
    close = difflib.get_close_matches(name[:40], known, n=3)
    advice = (
        f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(sorted(known))}"
    )
    raise ValueError(f"{name[:40]!r} isn't a known name: {advice}")
