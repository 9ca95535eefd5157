"""Diagnostics for code scanning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sovl_tools.linting.rules import RULES
from sovl_tools.reporting.outcome import render
from sovl_tools.reporting.sarif import document
from tests.reporting.findings import ODD, WRONG, diagnostic, outcome


def run_of(*found: Any) -> dict[str, Any]:
    """Return the one run of a document of diagnostics."""
    made = document(outcome(*found, rules=RULES))
    assert made["version"] == "2.1.0"
    (run,) = made["runs"]
    return dict(run)


def test_each_diagnostic_is_a_result_with_its_place() -> None:
    first, second = run_of(WRONG, ODD)["results"]
    assert first == {
        "ruleId": "ST201",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "a comma is missing"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "tools/echo/x.json", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 4, "startColumn": 3},
                }
            }
        ],
    }
    assert (second["level"], second["ruleIndex"]) == ("warning", 1)
    assert second["message"] == {"text": "'timout' is no key\nhelp: did you mean 'timeout'?"}


def test_each_rule_that_found_something_is_explained_once() -> None:
    driver = run_of(ODD, WRONG, WRONG)["tool"]["driver"]
    assert driver["name"] == "sovl-tools"
    assert [each["id"] for each in driver["rules"]] == ["ST201", "ST202"]
    rule = RULES["ST201"]
    explanation = {"text": rule.explanation.replace("``", "`")}
    assert driver["rules"][0] == {
        "id": "ST201",
        "shortDescription": {"text": rule.title.replace("``", "`")},
        "fullDescription": explanation,
        "help": explanation,
        "defaultConfiguration": {"level": rule.severity},
    }


def test_a_rule_that_nobody_explains_has_its_code() -> None:
    (run,) = document(outcome(WRONG))["runs"]
    assert run["tool"]["driver"]["rules"] == [{"id": "ST201"}]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("tools/größe/a b.json", "tools/gr%C3%B6%C3%9Fe/a%20b.json"),
        ("acme.tools:roll", "acme.tools%3Aroll"),
        ("a#b?c%.json", "a%23b%3Fc%25.json"),
    ],
)
def test_a_path_is_a_uri(path: str, uri: str) -> None:
    (result,) = run_of(diagnostic(path=path))["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": uri, "uriBaseId": "%SRCROOT%"}


def test_an_absolute_path_is_one_without_a_base(tmp_path: Path) -> None:
    (result,) = run_of(diagnostic(path=str(tmp_path / "a b.json")))["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": (tmp_path / "a b.json").as_uri()}


def test_a_path_is_relative_to_the_workspace_of_a_workflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    (result,) = run_of(diagnostic(path="tools/a.json"))["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "sub/tools/a.json", "uriBaseId": "%SRCROOT%"}


def test_nothing_found_is_a_run_without_results() -> None:
    run = json.loads(render(outcome(), "sarif"))["runs"][0]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
