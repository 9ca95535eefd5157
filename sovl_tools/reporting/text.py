"""For people: findings with the line of the file that they speak of, safe for a terminal."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias
from unicodedata import category

from sovl_tools.model.diagnostic import FILE_SUFFIXES, Diagnostic
from sovl_tools.model.folder import READ_FLAGS
from sovl_tools.reporting.outcome import Outcome, counted

# control, format, surrogate, line and paragraph separator; they move the cursor or swap the order
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# format characters that Persian, Hindi and emoji are written with, and that do no harm
_JOINERS = "\u200c\u200d"


# GitHub, Azure and TeamCity read commands from logs: ##[name], ##vso[name], ##teamcity[name]
# anywhere in a line, ::name:: at its beginning
_COMMAND = re.compile(r"(?<=#)#(?=\w*\[)|\A\s*:(?=:)")
_COMMAND_IN_JSON = re.compile(r"(?<=#)#(?=\w*\[)")


def plain(text: str) -> str:
    r"""Return the text with control characters and commands of CI services written out.

    Escape sequences, line breaks, direction marks, lone surrogates and ``##[command]`` are from
    files that strangers wrote; ``\x1b`` is shown as those four letters.
    """
    return "".join(_plain_letters(text)) if _may_be_unsafe(text) else text


def plain_lines(text: str) -> str:
    """Return text of several lines, each of which is made plain."""
    return "\n".join(map(plain, text.split("\n")))


def _may_be_unsafe(text: str) -> bool:
    return not (text.isascii() and text.isprintable()) or "##" in text or "::" in text


def _plain_letters(text: str) -> list[str]:
    r"""Return what is shown of each character: itself, or an escape such as ``\x1b``."""
    shown = [
        letter.encode("unicode_escape").decode("ascii") if is_unsafe(letter) else letter
        for letter in text
    ]
    for each in _COMMAND.finditer(text):
        shown[each.end() - 1] = f"\\x{ord(text[each.end() - 1]):x}"
    return shown


def plain_json(text: str) -> str:
    """Return JSON text in which no string has a command of a CI service."""
    return _COMMAND_IN_JSON.sub(r"\\u0023", text)


def cut(text: str, width: int) -> str:
    """Return the text, cut to the width with an ellipsis if it's longer."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def is_unsafe(letter: str) -> bool:
    """Return whether a character could control a terminal instead of being shown."""
    return category(letter) in _UNSAFE and letter not in _JOINERS


Piece: TypeAlias = str | tuple[str, str]
"""Some text; for terminals it can have a style, as in ``("ST201", "bold red")``."""


def unstyled(pieces: Iterable[Piece]) -> str:
    """Return the text of some pieces."""
    return "".join(each if isinstance(each, str) else each[0] for each in pieces)


_TINTS = {"error": "bold red", "warning": "bold yellow"}
EXCERPT_WIDTH = 100
"""The number of characters of a line that an excerpt shows."""
MOST_SHOWN = 1000
"""The number of findings that people see; the others are only counted."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\w+|\S')
_MAX_BYTES = 8 << 20  # larger than any valid manifest

LinesOf: TypeAlias = Callable[[str], Sequence[str]]
"""Returns the lines of a file."""


class Excerpt(NamedTuple):
    """A line of source, and the indent and length of the caret under it, in characters."""

    source: str
    indent: int
    length: int


def read_text(path: str) -> str | None:
    """Return the text of a file with single spaces for tabs; None if it can't be read as text."""
    try:
        # the path in a diagnostic can lead to a pipe, which must not be waited for
        descriptor = os.open(path, READ_FLAGS)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
            return None
        data = os.read(descriptor, status.st_size + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    text = data.decode(errors="replace").removeprefix("\ufeff")
    # a lone carriage return ends no line for editors and parsers
    return text.replace("\t", " ").replace("\r\n", "\n")


def read_lines(path: str) -> Sequence[str]:
    """Return the lines of a file; none if it can't be read as text."""
    text = read_text(path)
    return () if text is None else text.split("\n")


def excerpt(
    diagnostic: Diagnostic, lines_of: LinesOf = read_lines, width: int = EXCERPT_WIDTH
) -> Excerpt | None:
    """Return the line with its caret; None if the place isn't a line of a readable text file.

    Of a line that is longer than ``width`` it's the part around the place.
    """
    # what belongs to no tool, such as a directory, has no line that could be shown
    if diagnostic.tool is None or not diagnostic.path.endswith(FILE_SUFFIXES):
        return None
    lines = lines_of(diagnostic.path)
    if not 1 <= diagnostic.line <= len(lines):
        return None
    line, start = lines[diagnostic.line - 1], diagnostic.column - 1
    found = _TOKEN.match(line, start)
    end = max(found.end() if found else 0, start + 1)
    first = max(0, start - width // 2) if len(line) > width else 0
    last = first + width
    # letter by letter, since an escape is longer than its character
    letters = _plain_letters(line[first:last])
    before = "".join(letters[: start - first])
    marked = "".join(letters[start - first : end - first])
    rest = "".join(letters[end - first :])
    lead, tail = "…" * (first > 0), "…" * (len(line) > last)
    source = f"{lead}{before}{marked}{rest}{tail}"
    return Excerpt(source, len(lead) + len(before), max(1, len(marked)))


def is_within(path: str, roots: Iterable[str]) -> bool:
    """Return whether a file is in one of some real directories, also behind all links."""
    real = os.path.realpath(path)
    return any(real == root or real.startswith(f"{root.rstrip(os.sep)}{os.sep}") for root in roots)


def render(outcome: Outcome) -> str:
    """Return the diagnostics with excerpts and help, and the summary in the last line."""
    return unstyled(outcome_pieces(outcome))


def outcome_pieces(outcome: Outcome, width: int = EXCERPT_WIDTH) -> Iterator[Piece]:
    """Yield what ``render`` returns, with styles; ``width`` is that of an excerpt."""
    roots = outcome.roots

    @lru_cache(maxsize=8)  # several findings in a row are in one file
    def lines_of(path: str) -> Sequence[str]:
        return read_lines(path) if roots is None or is_within(path, roots) else ()

    for each in outcome.report.diagnostics[:MOST_SHOWN]:
        yield from block(each, lines_of, width)
        yield "\n"
    yield from (f"{line}\n\n" for line in _left(outcome))
    report = outcome.report
    severity = "error" if report.errors else "warning" if report.warnings else ""
    yield outcome.summary, _TINTS.get(severity, "green")


def block(
    diagnostic: Diagnostic, lines_of: LinesOf = read_lines, width: int = EXCERPT_WIDTH
) -> Iterator[Piece]:
    """Yield one diagnostic with its excerpt and help, each line with its end."""
    tint = _TINTS[diagnostic.severity]
    yield plain(diagnostic.place), "bold"
    yield from (": ", (diagnostic.code, tint), f" {plain(diagnostic.message)}\n")
    shown = excerpt(diagnostic, lines_of, width)
    if shown is not None:
        number = str(diagnostic.line)
        bar: Piece = ("|", "cyan")
        yield from (" " * len(number), " ", bar, "\n")
        yield from ((number, "cyan"), " ", bar, f" {shown.source}\n")
        yield from (" " * len(number), " ", bar, " " * (shown.indent + 1))
        yield from (("^" * shown.length, tint), "\n")
    if diagnostic.help:
        yield from (("help", "cyan"), f": {plain(diagnostic.help)}\n")


def concise(outcome: Outcome) -> str:
    """Return ``path:line:column: CODE message`` lines and the summary."""
    lines = [plain(str(each)) for each in outcome.report.diagnostics[:MOST_SHOWN]]
    return "\n".join([*lines, *_left(outcome), outcome.summary])


def _left(outcome: Outcome) -> list[str]:
    """Return a line with the number of findings that aren't shown, if there are any."""
    left = len(outcome.report.diagnostics) - MOST_SHOWN
    return [f"and {counted(left, 'more finding')}; --format json has them all"] if left > 0 else []
