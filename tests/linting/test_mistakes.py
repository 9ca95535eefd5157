"""A repository with more than thirty different mistakes: each format tells of each, instead.

``tests/mistakes`` is the repository, and its ``expected.txt`` what must be told. After a change
that is meant, ``scripts/test tests/linting/test_mistakes.py --bless`` writes that file again.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from sovl_tools.reporting.outcome import FORMATS
from tests.conftest import REPOSITORY, Run
from tests.reporting.jenkins import jenkins

MISTAKES = REPOSITORY / "tests" / "mistakes"
EXPECTED = MISTAKES / "expected.txt"


class Annotation(NamedTuple):
    """A finding as a format tells it; what the format does not say is None."""

    path: str
    line: int | None
    column: int | None
    code: str


def in_text(out: str) -> Iterator[Annotation]:
    for line in out.splitlines():
        if found := re.match(r"(tools/[^:]+):(?:(\d+):(\d+):)? (ST\d+) ", line):
            path, row, column, code = found.groups()
            yield Annotation(path, int(row or 1), int(column or 1), code)


def in_json(out: str) -> Iterator[Annotation]:
    for each in json.loads(out)["diagnostics"]:
        yield Annotation(each["path"], each["line"], each["column"], each["code"])


def in_jsonl(out: str) -> Iterator[Annotation]:
    yield from in_json(f'{{"diagnostics": [{",".join(out.splitlines())}]}}')


def in_github(out: str) -> Iterator[Annotation]:
    for line in out.splitlines():
        head, _, message = line.removeprefix("::").partition("::")
        kind, _, properties = head.partition(" ")
        if kind in {"error", "warning"}:
            pairs = (each.partition("=") for each in properties.split(","))
            fields = {key: unescaped(value) for key, _, value in pairs}
            assert unescaped(message)
            row, column = int(fields.get("line", 1)), int(fields.get("col", 1))
            yield Annotation(fields["file"], row, column, fields["title"])


def unescaped(text: str) -> str:
    for escape, letter in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(escape, letter)
    return text


def in_gitlab(out: str) -> Iterator[Annotation]:
    for each in json.loads(out):
        location = each["location"]
        yield Annotation(location["path"], location["lines"]["begin"], None, each["check_name"])


def in_sarif(out: str) -> Iterator[Annotation]:
    (run,) = json.loads(out)["runs"]
    for each in run["results"]:
        place = each["locations"][0]["physicalLocation"]
        region = place["region"]
        path = place["artifactLocation"]["uri"]
        yield Annotation(path, region["startLine"], region["startColumn"], each["ruleId"])


def in_junit(out: str) -> Iterator[Annotation]:
    jenkins().validate(out)
    for case in ET.fromstring(out)[0]:
        for each in case:
            yield from in_text(each.text or "")


PARSERS: dict[str, tuple[Callable[[str], Iterator[Annotation]], bool]] = {
    "text": (in_text, True),
    "concise": (in_text, True),
    "json": (in_json, True),
    "jsonl": (in_jsonl, True),
    "github": (in_github, True),
    "gitlab": (in_gitlab, False),
    "sarif": (in_sarif, True),
    "junit": (in_junit, True),
}
"""What reads each format, and whether it tells columns."""


@pytest.mark.unmeasured
def test_every_format_tells_of_every_mistake_in_its_place(
    run: Run, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert set(PARSERS) == set(FORMATS)
    shutil.copytree(MISTAKES, tmp_path, dirs_exist_ok=True)
    files = {name: tmp_path / f"found.{name}" for name in FORMATS if name != "concise"}
    formats = [f"--format={name}={file}" for name, file in files.items()]
    done = run("validate", "--format", "concise", *formats)
    assert done.code == 1
    told = sorted(in_text(done.out))
    if request.config.getoption("--bless"):
        lines = [f"{each.path}:{each.line}:{each.column} {each.code}\n" for each in told]
        EXPECTED.write_text("".join(lines), encoding="utf-8")
    expected = [
        Annotation(path, int(line), int(column), code)
        for path, line, column, code in re.findall(
            r"(.+):(\d+):(\d+) (ST\d+)\n", EXPECTED.read_text(encoding="utf-8")
        )
    ]
    assert told == expected
    assert len({each.path.split("/")[1] for each in expected}) >= 30
    for name, file in files.items():
        parse, has_columns = PARSERS[name]
        found = sorted(parse(file.read_text(encoding="utf-8")), key=str)
        wanted = [each if has_columns else each._replace(column=None) for each in expected]
        assert found == sorted(wanted, key=str), name
