from __future__ import annotations

from pathlib import Path

import pytest

from sovl_tools.reporting.text import Excerpt, excerpt
from tests.reporting.findings import diagnostic

WIDTH = 100


def shown(path: Path, line: int, column: int) -> Excerpt | None:
    return excerpt(diagnostic(path=str(path), line=line, column=column))


def marked(found: Excerpt) -> str:
    return found.source[found.indent : found.indent + found.length]


@pytest.mark.parametrize(
    ("text", "column", "source", "mark"),
    [
        ('  "timout": 5,', 3, '  "timout": 5,', '"timout"'),
        (r'"a \" b": 1', 1, r'"a \" b": 1', r'"a \" b"'),
        ("def echo(text):", 5, "def echo(text):", "echo"),
        ("日本 = '🚀'", 6, "日本 = '🚀'", "'🚀'"),
        ("a", 99, "a", ""),
        ("", 1, "", ""),
        ("x = '\x1b[31m'", 5, r"x = '\x1b[31m'", r"'\x1b[31m'"),
        ('"\u202eevil": 1', 1, r'"\u202eevil": 1', r'"\u202eevil"'),
        ('\x1b"a"', 2, r'\x1b"a"', '"a"'),
    ],
)
def test_the_caret_stands_under_the_word(
    tmp_path: Path, text: str, column: int, source: str, mark: str
) -> None:
    file = tmp_path / "echo.json"
    file.write_text(text, encoding="utf-8")
    found = shown(file, 1, column)
    assert found is not None
    assert (found.source, marked(found)) == (source, mark)
    assert found.length >= 1


@pytest.mark.parametrize("column", [1, 61, 151, 251])
def test_of_a_long_line_the_part_around_the_place_is_shown(tmp_path: Path, column: int) -> None:
    file = tmp_path / "echo.json"
    text = "".join(f"{number:04} " for number in range(1, 60))
    file.write_text(text)
    found = shown(file, 1, column)
    assert found is not None
    assert len(found.source) <= WIDTH + 2
    assert marked(found) == text[column - 1 : column + 3]
    assert (found.source[0] == "…") == (column > WIDTH // 2 + 1)
    assert found.source[-1] == "…" or column > 200
