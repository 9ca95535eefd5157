"""``sovl-tools export``, ``export --tokens`` and ``validate --target``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run, Write, manifest_of

MANIFEST = manifest_of("echo")
MANIFEST["parameters"]["properties"]["text"]["minLength"] = 2


@pytest.fixture(autouse=True)
def _tools(write: Write) -> None:
    write("echo", MANIFEST)
    write("other")


def test_definitions_are_printed_as_json(run: Run) -> None:
    done = run("export", "--format", "anthropic")
    assert [each["name"] for each in json.loads(done.out)] == ["echo", "other"]
    assert (done.code, done.err) == (0, "")


def test_what_is_lost_is_told_on_the_error_output(run: Run) -> None:
    done = run("export", "--format", "openai", "--strict", "--tool", "echo")
    (definition,) = json.loads(done.out)
    assert definition["function"]["strict"] is True
    (line,) = done.err.splitlines()
    assert line.startswith("tools/echo/echo.json:")
    assert line.endswith("ST902 openai-strict: minLength is in the description only")
    assert done.code == 0
    assert run("-q", "export", "--format", "openai", "--strict").err == ""


def test_tools_are_chosen_by_name_in_that_order(run: Run) -> None:
    done = run("export", "--tool", "other", "--tool", "echo", "--tool", "other")
    assert [each["name"] for each in json.loads(done.out)] == ["other", "echo"]
    done = run("export", "--tool", "ecko")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'echo'?" in done.err


@pytest.mark.parametrize(("name", "start"), [("openapi", '{\n  "openapi": "3.1'), ("prompt", "")])
def test_a_document_and_a_text_are_written_into_a_file(
    run: Run, tmp_path: Path, name: str, start: str
) -> None:
    printed = run("export", "--format", name).out
    for _ in range(2):
        done = run("export", "--format", name, "-o", "out.txt")
        assert (done.code, done.out) == (0, "")
    text = (tmp_path / "out.txt").read_text()
    assert text == printed
    assert text.startswith(start)
    assert "echo" in text


@pytest.mark.parametrize("imports", [[], ["--no-import"]])
def test_targets_are_a_part_of_validate(run: Run, imports: list[str]) -> None:
    done = run("validate", *imports, "--target", "openai-strict, gemini", "--format", "concise")
    *found, last = done.out.splitlines()
    assert [line.partition(": ")[2] for line in found] == [
        "ST902 openai-strict: minLength is in the description only",
    ]
    assert "1 warning" in last
    assert done.code == 0
    assert run("validate", "--target", "openai-strict", "--warnings-as-errors").code == 1
    assert "no problems" in run("validate", "--target", "openai,mcp").out


def test_tokens_are_estimated_for_each_tool_in_the_usual_formats(run: Run) -> None:
    done = run("export", "--tokens")
    head, echo, other, total = (line.split() for line in done.out.splitlines())
    assert head == ["TOOL", "OPENAI", "OPENAI-STRICT", "ANTHROPIC", "GEMINI", "MCP", "PROMPT"]
    assert (echo[0], other[0], total[0]) == ("echo", "other", "all")
    for one, two, both in zip(echo[1:], other[1:], total[1:], strict=True):
        assert int(one) + int(two) == int(both) > 20
    assert "estimated" in done.err
    assert run("-q", "export", "--tokens").err == ""


def test_tokens_of_one_tool_in_one_format(run: Run, tmp_path: Path) -> None:
    run("export", "--tokens", "--tool", "echo", "--format", "openai", "--strict", "-o", "tokens")
    head, echo, total = (line.split() for line in (tmp_path / "tokens").read_text().splitlines())
    assert head == ["TOOL", "OPENAI-STRICT"]
    assert echo[1:] == total[1:]
    assert run("export", "--tokens", "--tool", "nothing").code == 2


@pytest.mark.parametrize("format_", ["mcp", "prompt"])
def test_strict_is_for_formats_that_have_it(format_: str, run: Run) -> None:
    words = f"there's no strict {format_}; there is of anthropic, openai, openai-responses"
    done = run("export", "--format", format_, "--strict")
    assert (done.code, done.out, words in done.err) == (2, "", True)
    done = run("validate", "--target", f"{format_}-strict")
    assert (done.code, words in done.err) == (2, True)
