"""The procedures that ship with the documentation do what they say, with the tools that ship."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sovl_tools import ProcedureManager, ToolRegistry
from sovl_tools.procedures.errors import StepError
from sovl_tools.procedures.parse.files import files
from tests.conftest import REPOSITORY

DIRECTORY = REPOSITORY / "docs" / "examples" / "procedures"


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> ProcedureManager:
    monkeypatch.chdir(REPOSITORY)
    return ProcedureManager(ToolRegistry.from_directory("tools"))


@pytest.mark.parametrize(
    "path", [Path(path) for path in files(DIRECTORY)], ids=lambda path: path.stem
)
def test_an_example_has_no_fault_and_is_called_as_its_file(
    path: Path, manager: ProcedureManager
) -> None:
    assert manager.check(path) == ()
    assert manager.add(path).name == path.stem


def reading_list(manager: ProcedureManager, **inputs: Any) -> Any:
    return manager.run_sync(DIRECTORY / "reading_list.yaml", inputs)


def test_the_reading_list_has_the_documents_the_longest_first(manager: ProcedureManager) -> None:
    result = reading_list(manager, folder="docs/how-to", glob="*.md")
    documents = result["documents"]
    assert {each["path"] for each in documents} == {
        str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "docs/how-to").rglob("*.md")
    }
    minutes = [each["minutes"] for each in documents]
    assert minutes == sorted(minutes, reverse=True)
    assert result["minutes"] == pytest.approx(sum(minutes), abs=0.1)
    named = {each["path"]: (each["title"], each["anchor"]) for each in documents}
    assert named["docs/how-to/reload.md"] == ("Reload while you edit", "reload-while-you-edit")


def test_the_reading_list_asserts_that_there_is_enough(manager: ProcedureManager) -> None:
    with pytest.raises(StepError, match="docs has 0 documents, not 2") as caught:
        reading_list(manager, folder="docs", glob="*.nothing", at_least=2)
    assert caught.value.key == "steps.2"


def test_the_planet_report_has_sizes_and_a_picture(manager: ProcedureManager) -> None:
    result: Any = manager.run_sync(DIRECTORY / "planet_report.yaml", {"moons": 50})
    assert result["planets"] == [
        {"name": "Saturn", "miles": 74898},
        {"name": "Jupiter", "miles": 88846},
    ]
    assert result["summary"] == "2 planets; Saturn has most moons"
    texts = [each.text for each in ET.fromstring(result["chart"]).iter() if each.text]
    assert {"Saturn", "Jupiter"} <= set(texts)


def test_the_planet_report_returns_early_without_planets(manager: ProcedureManager) -> None:
    result = manager.run_sync(DIRECTORY / "planet_report.yaml", {"moons": 5000})
    assert result == {"planets": [], "chart": None, "summary": "no planet has 5000 moons"}
