"""Differences of texts."""

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.patience import bounded_work

from .conftest import Call, Module, Refuse

Value = Callable[..., Any]


def test_shows_what_changed(value: Value) -> None:
    answer = value("text_diff", before="a\nb\nc\n", after="a\nB\nc\nd\n")
    assert answer == {
        "identical": False,
        "similarity": 0.5714,
        "lines_added": 2,
        "lines_removed": 1,
        "diff": "--- before\n+++ after\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n",
    }


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\r\nb\u2028c"])
def test_equal_texts_have_no_differences(value: Value, text: str) -> None:
    answer = value("text_diff", before=text, after=text)
    assert (answer["identical"], answer["similarity"], answer["diff"]) == (True, 1, "")


def test_the_context_can_be_chosen(value: Value) -> None:
    before, after = "1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n"
    bare = value("text_diff", before=before, after=after, context_lines=0)["diff"]
    assert bare == "--- before\n+++ after\n@@ -3 +3 @@\n-3\n+x\n"
    assert (
        " 2\n-3\n+x\n 4\n"
        in value("text_diff", before=before, after=after, context_lines=1)["diff"]
    )


def test_lines_that_look_like_a_heading_are_counted(value: Value) -> None:
    answer = value("text_diff", before="-- a\n", after="++ b\n")
    assert (answer["lines_added"], answer["lines_removed"]) == (1, 1)


@pytest.mark.parametrize(("before", "after"), [("x", "x\n"), ("x\r\n", "x\n"), ("", "\n")])
def test_a_change_of_line_ends_is_a_change(value: Value, before: str, after: str) -> None:
    answer = value("text_diff", before=before, after=after)
    assert answer["identical"] is False
    assert answer["diff"] != ""


@pytest.mark.parametrize(
    ("unit", "similarity"), [("characters", 0.8571), ("words", 0.5), ("lines", 0)]
)
def test_similarity_is_measured_by_lines_words_or_characters(
    value: Value, unit: str, similarity: float
) -> None:
    answer = value("text_diff", before="red cat", after="red hat", compare_by=unit)
    assert answer["similarity"] == similarity


def test_texts_with_nothing_in_common_have_no_similarity(value: Value) -> None:
    assert value("text_diff", before="a b", after="c d")["similarity"] == 0
    assert value("text_diff", before="", after="c d")["similarity"] == 0


def test_the_common_length_is_that_of_the_textbook(module: Module) -> None:
    common_length = module("text_diff", "similarity").common_length

    def textbook(old: str, new: str) -> int:
        above = [0] * (len(new) + 1)
        for left in old:
            row = [0]
            for index, right in enumerate(new):
                row.append(above[index] + 1 if left == right else max(above[index + 1], row[-1]))
            above = row
        return above[-1]

    chance = random.Random(7)
    for _ in range(500):
        old, new = ("".join(chance.choices("abc", k=chance.randint(0, 70))) for _ in range(2))
        assert common_length(old, new) == textbook(old, new)


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the command patch")
def test_the_diff_can_be_applied(value: Value, tmp_path: Path) -> None:
    chance = random.Random(11)
    for _ in range(10):
        before, after = (
            "".join(chance.choices(["a\n", "b\n", "c", "\n"], k=chance.randint(1, 12)))
            for _ in range(2)
        )
        if before == after:
            continue
        diff = value("text_diff", before=before, after=after)["diff"]
        (tmp_path / "text").write_text(before, "utf-8")
        (tmp_path / "text.patch").write_text(diff, "utf-8")
        command = ["patch", "--quiet", "--force", "text", "text.patch"]
        subprocess.run(command, cwd=tmp_path, check=True)
        applied = tmp_path / "text"
        assert (applied.read_text("utf-8") if applied.exists() else "") == after


@pytest.mark.parametrize(
    ("before", "unit", "message"),
    [
        ("x\n" * 2001, "lines", "a text has 2001 lines, more than the 2000"),
        ("x " * 20_001, "words", "a text has 20001 words, more than the 20000"),
        ("x" * 20_001, "characters", "a text has 20001 characters, more than the 20000"),
    ],
)
def test_texts_too_long_to_compare_are_refused(
    refuse: Refuse, before: str, unit: str, message: str
) -> None:
    arguments = {"before": before, "after": "y", "compare_by": unit}
    assert message in refuse("text_diff", **arguments)
    arguments = {"before": "y", "after": before, "compare_by": unit}
    assert message in refuse("text_diff", **arguments)


def test_giant_texts_are_refused(call: Call) -> None:
    answer = call("text_diff", before="x" * 200_001, after="")
    assert answer.error is not None
    assert answer.error.kind == "invalid_arguments"


def test_hostile_texts_take_bounded_time(value: Value) -> None:
    many = [f"{number} " for number in range(8_000)]
    left = "".join(f"same {number // 20}\nleft {number}\n" for number in range(400))
    with bounded_work():
        value("text_diff", before="ab" * 5_000, after="ac" * 5_000, compare_by="characters")
        value("text_diff", before="".join(many), after="".join(reversed(many)))
        value("text_diff", before=left, after=left.replace("left", "right"))
