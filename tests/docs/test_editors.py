"""The guide for editors: its settings work on what the commands print."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.conftest import REPOSITORY, Run, Write, manifest_of

PAGE = REPOSITORY / "docs" / "how-to" / "editors.md"


def settings(title: str) -> Any:
    text = PAGE.read_text(encoding="utf-8")
    (block,) = re.findall(rf'```json title="{re.escape(title)}"\n(.*?)```', text, re.DOTALL)
    return json.loads(block)


def test_the_problem_matcher_reads_each_finding(run: Run, write: Write) -> None:
    write("echo", manifest_of("echo", timout=3), "def echo(txt: str) -> str:\n    return txt\n")
    write("other", "{", "def other(): ...\n")
    (task,) = settings(".vscode/tasks.json")["tasks"]
    command, *arguments = task["command"].split()
    assert command == "sovl-tools"
    pattern = task["problemMatcher"]["pattern"]
    *lines, _ = run(*arguments).out.splitlines()
    found = [re.search(pattern["regexp"], line) for line in lines]
    assert len(found) > 2
    for each in found:
        assert each is not None
        assert each[pattern["file"]].startswith("tools/")
        assert int(each[pattern["line"]]) > 0
        assert re.fullmatch(r"ST\d{3}", each[pattern["code"]])
        assert each[pattern["message"]]


def test_the_schema_that_editors_are_told_of_is_written(run: Run) -> None:
    assert run("new", "echo").code == 0
    (mapping,) = settings(".vscode/settings.json")["json.schemas"]
    assert mapping["url"] == "./tools/tool.schema.json"
    listed = json.loads(run("schema", "tool").out)
    assert listed["type"] == "object"
