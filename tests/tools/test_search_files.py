"""Search in files. That nothing outside the root is searched is tested in test_confinement."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Value = Callable[..., Any]


@pytest.fixture
def tree(root: Path) -> Path:
    """A small project."""
    for path, text in {
        "a.py": "import os\nprint('Hello')\n",
        "b.txt": "hello hello\r\nworld\rhello",
        "docs/guide.md": "# Hello\n",
        "docs/deep/er/notes.md": "say hello",
        ".hidden/x.txt": "hello",
        "docs/.secret": "hello",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def places(answer: Any) -> list[tuple[str, int, int]]:
    return [(match["path"], match["line"], match["column"]) for match in answer["matches"]]


@pytest.mark.usefixtures("tree")
def test_finds_a_text_in_all_files_in_a_fixed_order(value: Value) -> None:
    answer = value("search_files", query="hello")
    assert places(answer) == [("b.txt", 1, 1), ("b.txt", 3, 1), ("docs/deep/er/notes.md", 1, 5)]
    assert answer["matches"][0]["text"] == "hello hello"
    assert (answer["files_searched"], answer["files_skipped"]) == (4, 0)
    assert answer["complete"] is True


@pytest.mark.usefixtures("tree")
def test_finds_a_regular_expression(value: Value) -> None:
    answer = value("search_files", query=r"^\w+\s\w+$", regex=True)
    assert places(answer) == [
        ("a.py", 1, 1),
        ("b.txt", 1, 1),
        ("docs/deep/er/notes.md", 1, 1),
    ]
    answer = value("search_files", query=r"H\w+", regex=True, ignore_case=True, glob="*.md")
    assert places(answer) == [("docs/guide.md", 1, 3), ("docs/deep/er/notes.md", 1, 5)]
