"""The blocks of a page are really run, and a wrong one is really noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import Document, matches
from tests.docs.document_player import played


@pytest.fixture(autouse=True)
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page(*lines: str) -> Document:
    return Document("page.md", "\n".join(lines))


def test_a_command_that_prints_something_else_is_corrected() -> None:
    document = page("before", "```console", "$ echo two; echo three >&2", "one", "```", "after")
    truth = page(
        "before", "```console", "$ echo two; echo three >&2", "two", "three", "```", "after"
    )
    assert played(document) == truth


def test_output_that_no_block_mentions_is_refused() -> None:
    with pytest.raises(ValueError, match=r"page\.md:1: no output block"):
        played(page("```python", "print(1)", "```"))


def test_a_part_of_a_manifest_is_checked_against_the_schema() -> None:
    assert played(page("```json", '{"tags": ["a"]}', "```"))
    with pytest.raises(ValueError, match="tags"):
        played(page("```json", '{"tags": "a"}', "```"))


def test_a_block_that_is_not_run_needs_a_reason() -> None:
    block = ["```bash", "rm -r /", "```"]
    assert played(page("<!-- not run: it harms -->", *block))
    for lines in (block, ["<!-- not run: -->", *block]):
        with pytest.raises(ValueError, match="this bash block is not run"):
            played(page(*lines))


def test_dots_on_a_line_of_their_own_match_any_lines_and_times_do_not_count() -> None:
    assert matches("first\n…\nlast\n", "first\n2\n3\nlast\n")
    assert matches("first\n…\nlast\n", "first\nlast\n")
    assert matches("1 tool checked in 0.10 s: fine\n", "1 tool checked in 12.34 s: fine\n")
    assert not matches("first\n…\nlast\n", "first\n2\n")
    assert not matches("call … fails\n", "call it fails\n")
