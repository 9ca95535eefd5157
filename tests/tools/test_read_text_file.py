"""Reading of text files. That nothing outside the root is read is tested in test_confinement."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Value = Callable[..., Any]


def test_reads_a_whole_file(value: Value, root: Path) -> None:
    (root / "poem.txt").write_text("rôses\nviolets\n", "utf-8")
    assert value("read_text_file", path="poem.txt") == {
        "path": "poem.txt",
        "text": "rôses\nviolets\n",
        "start_line": 1,
        "end_line": 2,
        "total_lines": 2,
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("lines", "text", "end"),
    [
        ({"start_line": 2}, "b\nc", 3),
        ({"end_line": 2}, "a\nb\n", 2),
        ({"start_line": 2, "end_line": 2}, "b\n", 2),
        ({"start_line": 3, "end_line": 99}, "c", 3),
    ],
)
def test_reads_a_range_of_lines(
    value: Value, root: Path, lines: dict[str, int], text: str, end: int
) -> None:
    (root / "abc").write_text("a\nb\nc", "utf-8")
    answer = value("read_text_file", path="abc", **lines)
    assert (answer["text"], answer["end_line"], answer["truncated"]) == (text, end, False)
