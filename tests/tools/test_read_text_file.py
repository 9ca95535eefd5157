"""Reading of text files. That nothing outside the root is read is tested in test_confinement."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Refuse

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


def test_all_line_breaks_are_line_feeds_in_the_answer(value: Value, root: Path) -> None:
    (root / "mixed").write_bytes(b"dos\r\nmac\runix\n")
    answer = value("read_text_file", path="mixed")
    assert (answer["text"], answer["total_lines"]) == ("dos\nmac\nunix\n", 3)


def test_an_empty_file_has_no_lines(value: Value, root: Path) -> None:
    (root / "empty").touch()
    answer = value("read_text_file", path="empty")
    assert (answer["text"], answer["end_line"], answer["total_lines"]) == ("", 0, 0)


@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        ("utf-8", b"\xef\xbb\xbfna\xc3\xafve"),
        ("utf-8", b"na\xc3\xafve"),
        ("utf-16", "naïve".encode("utf-16")),
        ("latin-1", b"na\xefve"),
        ("cp1252", b"na\xefve"),
    ],
)
def test_reads_several_encodings(value: Value, root: Path, encoding: str, content: bytes) -> None:
    (root / "text").write_bytes(content)
    assert value("read_text_file", path="text", encoding=encoding)["text"] == "naïve"


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe\x00", "isn't text in utf-8"), (b"a\0b", "contains NUL characters")],
)
def test_what_is_no_text_is_refused(
    refuse: Refuse, root: Path, content: bytes, message: str
) -> None:
    (root / "binary").write_bytes(content)
    assert message in refuse("read_text_file", path="binary")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ({"start_line": 4}, "start_line 4 is past the end: the file has 3 lines"),
        ({"start_line": 3, "end_line": 2}, "end_line 2 precedes start_line 3"),
    ],
)
def test_a_range_that_holds_no_lines_is_refused(
    refuse: Refuse, root: Path, lines: dict[str, int], message: str
) -> None:
    (root / "abc").write_text("a\nb\nc\n", "utf-8")
    assert refuse("read_text_file", path="abc", **lines) == message


def test_a_long_answer_ends_with_a_whole_line_and_says_so(value: Value, root: Path) -> None:
    (root / "long").write_text("x" * 999 + "\n" + ("y" * 999 + "\n") * 150, "utf-8")
    first = value("read_text_file", path="long")
    assert (first["end_line"], first["total_lines"], first["truncated"]) == (100, 151, True)
    rest = value("read_text_file", path="long", start_line=first["end_line"] + 1)
    assert (rest["end_line"], rest["truncated"]) == (151, False)
    assert len(first["text"]) + len(rest["text"]) == 151_000


def test_a_single_line_that_is_too_long_is_refused(refuse: Refuse, root: Path) -> None:
    (root / "line").write_text("short\n" + "x" * 100_001, "utf-8")
    message = refuse("read_text_file", path="line", start_line=2)
    assert message == "line 2 alone has more than 100000 characters"


def test_a_giant_file_is_refused(refuse: Refuse, root: Path) -> None:
    with (root / "giant").open("wb") as file:
        file.truncate(50_000_000_000)
    message = refuse("read_text_file", path="giant")
    assert message == "'giant' is larger than the 10000000 bytes that can be read"
