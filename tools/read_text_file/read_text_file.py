"""Reading of text files that lie under one root directory."""

import io

from .._shared.confinement import read_file

_MAXIMUM_BYTES = 10_000_000
_MAXIMUM_CHARACTERS = 100_000
# utf-8-sig reads UTF-8 with or without the byte order mark that some editors write.
_CODECS = {"utf-8": "utf-8-sig"}


def read_text_file(
    path: str, *, start_line: int = 1, end_line: int | None, encoding: str = "utf-8"
) -> dict[str, object]:
    """Return lines of a text file; raise ValueError if it is outside the root or no string."""
    text = _decoded(read_file(path, limit=_MAXIMUM_BYTES), path, encoding)
    lines = list(io.StringIO(text, newline=None))
    wanted = _wanted(lines, start_line, end_line)
    shown = _that_fit(wanted, start_line)
    return {
        "path": path,
        "text": "".join(shown),
        "start_line": start_line,
        "end_line": start_line + len(shown) - 1,
        "total_lines": len(lines),
        "truncated": len(shown) < len(wanted),
    }


def _decoded(content: bytes, path: str, encoding: str) -> str:
    try:
        text = content.decode(_CODECS.get(encoding, encoding))
    except UnicodeError:
        raise ValueError(
            f"{path!r} isn't text in {encoding}: it is binary or in another encoding"
        ) from None
    if "\0" in text:
        raise ValueError(f"{path!r} contains NUL characters: it is binary or in another encoding")
    return text


def _wanted(lines: list[str], start_line: int, end_line: int | None) -> list[str]:
    if start_line < 1:
        raise ValueError("lines are counted from 1")
    if end_line is not None and end_line < start_line:
        raise ValueError(f"end_line {end_line} precedes start_line {start_line}")
    if start_line > max(len(lines), 1):
        raise ValueError(
            f"start_line {start_line} is past the end: the file has {len(lines)} lines"
        )
    return lines[start_line - 1 : end_line]


def _that_fit(lines: list[str], start_line: int) -> list[str]:
    """Return as many whole lines from the first as one answer can hold."""
    room = _MAXIMUM_CHARACTERS
    for index, line in enumerate(lines):
        room -= len(line)
        if room >= 0:
            continue
        if index == 0:
            raise ValueError(
                f"line {start_line} alone has more than {_MAXIMUM_CHARACTERS} characters"
            )
        return lines[:index]
    return lines
