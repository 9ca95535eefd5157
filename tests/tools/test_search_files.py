"""Search in files. That nothing outside the root is searched is tested in test_confinement."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Module

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


def paths(answer: Any) -> list[str]:
    return [match["path"] for match in answer["matches"]]


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


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.py", ["a.py"]),
        ("[!a].txt", ["b.txt"]),
        ("*.md", ["docs/guide.md", "docs/deep/er/notes.md"]),
        ("docs/*", ["docs/guide.md"]),
        ("docs/**", ["docs/guide.md", "docs/deep/er/notes.md"]),
        ("docs/**/notes.md", ["docs/deep/er/notes.md"]),
        ("*.PY", []),
    ],
)
@pytest.mark.usefixtures("tree")
def test_a_glob_selects_files(value: Value, glob: str, expected: list[str]) -> None:
    answer = value("search_files", query="o", glob=glob, ignore_case=True)
    assert list(dict.fromkeys(paths(answer))) == expected


@pytest.mark.usefixtures("tree")
def test_hidden_names_are_searched_only_on_request(value: Value) -> None:
    answer = value("search_files", query="hello", include_hidden=True)
    assert {".hidden/x.txt", "docs/.secret"} < set(paths(answer))
    assert paths(value("search_files", query="hello", path=".hidden")) == [".hidden/x.txt"]


def test_links_are_not_followed(value: Value, tree: Path) -> None:
    (tree / "docs/up").symlink_to("..")
    (tree / "copy.txt").symlink_to("b.txt")
    (tree / "out").symlink_to("/etc")
    answer = value("search_files", query="hello")
    assert set(paths(answer)) == {"b.txt", "docs/deep/er/notes.md"}
    assert answer["files_skipped"] == 0


def test_binary_giant_and_odd_files_are_skipped(value: Value, root: Path) -> None:
    (root / "binary").write_bytes(b"hello\xff")
    (root / "nul").write_bytes(b"hello\0")
    (root / "giant").write_bytes(b"hello\n" * 400_000)
    os.mkfifo(root / "pipe")
    (root / "good").write_bytes(b"\xef\xbb\xbfhello")
    answer = value("search_files", query="hello")
    assert places(answer) == [("good", 1, 1)]
    assert (answer["files_searched"], answer["files_skipped"]) == (1, 3)


@pytest.mark.parametrize(
    ("name", "limit"), [("_SECONDS", 0.0), ("_SECONDS", -1.0), ("_MAXIMUM_FILES", 2)]
)
@pytest.mark.usefixtures("tree")
def test_a_search_that_must_end_early_says_so(
    value: Value, module: Module, monkeypatch: pytest.MonkeyPatch, name: str, limit: float
) -> None:
    monkeypatch.setattr(module("search_files"), name, limit)
    assert value("search_files", query="hello")["complete"] is False
