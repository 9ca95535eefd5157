"""How ``validate`` writes what it found: formats, files, statistics, workflows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run, Write, manifest_of
from tests.tables import check_each

UNDESCRIBED = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture(autouse=True)
def flawed(write: Write) -> None:
    """A tool with a warning, and one with an error."""
    write("bare", manifest_of("bare", parameters=UNDESCRIBED))
    write("empty", code="")


def test_one_run_writes_several_formats(run: Run, tmp_path: Path) -> None:
    formats = ["--format", "concise", "--format", "json=a.json", "--format", "junit=b.xml"]
    done = run("validate", *formats)
    assert done.out.count("ST") == 2
    assert json.loads((tmp_path / "a.json").read_text())["summary"]["errors"] == 1
    assert (tmp_path / "b.xml").read_text().endswith("</testsuites>\n")


def test_with_files_alone_the_summary_is_shown(run: Run, tmp_path: Path) -> None:
    done = run("validate", "--format", "jsonl=found.jsonl")
    assert (done.code, done.out) == (1, "")
    assert "1 error, 1 warning" in done.err
    lines = (tmp_path / "found.jsonl").read_text().splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["ST306", "ST401"]
    assert "checked" not in run("-q", "validate", "--format", "jsonl=found.jsonl").err


def test_the_configuration_names_formats(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sovl-tools.toml").write_text("format = ['concise', 'sarif=out.sarif']\n")
    assert run("validate").out.startswith("tools/bare/bare.json:")
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"
    (tmp_path / "sovl-tools.toml").write_text("format = 'jsn'\n")
    done = run("validate")
    assert (done.code, "format: there's no format 'jsn'; did you mean 'json'?" in done.err) == (
        2,
        True,
    )


@check_each(
    ("arguments", "words"),
    [
        (["--format", "xml"], "there's no format 'xml'"),
        (["--format", "json="], "'json=' names no file"),
        (["--format", "json", "--format", "text"], "json and text can't both be written"),
        (["--format", "json=a", "--format", "sarif=a"], "can't both be written into 'a'"),
        (["--format", "json=/absent/x"], "'/absent/x': No such file or directory"),
    ],
)
def test_an_output_that_can_not_be_is_one_line(run: Run, arguments: list[str], words: str) -> None:
    done = run("validate", *arguments)
    assert done.code in {1, 2}
    assert words in done.err.splitlines()[-1]
    assert done.out == ""


def test_quiet_and_verbose_stand_behind_the_command_as_well(run: Run, tmp_path: Path) -> None:
    assert "did not load" in run("list").err
    assert run("list", "-q").err == run("-q", "list").err == run("-q", "list", "-q").err == ""
    assert run("validate", "-v").code == run("-v", "validate").code == 1


def test_a_workflow_has_annotations_and_a_summary_beside_the_text(run: Run, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    settings = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    done = run("validate", **settings)
    assert "\nhelp: " in done.out
    annotations = [line for line in done.err.splitlines() if line.startswith("::")]
    assert [line.split()[0] for line in annotations] == ["::error", "::warning", "::notice"]
    table = [line for line in summary.read_text().splitlines() if line.startswith("| tools")]
    assert [line.split(" | ")[1] for line in table] == ["ST401", "ST306"]
    asked = run("validate", "--format", "github", **settings)
    assert asked.out.count("::error") == 1
    assert "::" not in asked.err


def test_many_findings_are_counted_and_not_shown(run: Run, write: Write) -> None:
    names = [f"p{index}" for index in range(99)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    for number in range(11):
        code = f"def many{number}({', '.join(f'{name}=None' for name in names)}): ...\n"
        write(f"many{number}", manifest_of(f"many{number}", parameters=schema), code)
    done = run("validate", "--no-import", "--format", "concise")
    left = done.out.splitlines()[-2]
    assert left.startswith("and 91 more findings; --format json has them all")
    assert (
        len(json.loads(run("validate", "--no-import", "--format", "json").out)["diagnostics"])
        == 1091
    )
