"""What holds for every tool of the repository."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import sovl_tools
from sovl_tools import Diagnostic

from .conftest import REPOSITORY

TOOLS = REPOSITORY / "tools"
NAMES = sorted(path.name for path in TOOLS.iterdir() if path.is_dir() and path.name[0] not in "._")
DELIBERATELY_PLAIN = {"example_tool"}
DEPENDENT_ON_THE_NETWORK = {"fetch_url"}


def manifest(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((TOOLS / name / f"{name}.json").read_text("utf-8"))
    return loaded


def examples() -> list[Any]:
    return [
        pytest.param(name, example, id=f"{name}-{number}")
        for name in NAMES
        for number, example in enumerate(manifest(name).get("examples", []))
        if name not in DEPENDENT_ON_THE_NETWORK
    ]


def test_all_load_without_a_finding(registry: sovl_tools.ToolRegistry) -> None:
    findings: list[Diagnostic] = list(registry.report.diagnostics)
    assert findings == []
    assert sorted(tool.name for tool in registry) == NAMES


@pytest.mark.parametrize(("name", "example"), examples())
def test_examples_show_what_really_happens(
    name: str,
    example: dict[str, Any],
    value: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = TOOLS / name / "examples"  # as sovl-tools test runs them
    monkeypatch.setenv("SOVL_TOOLS_ROOT", str(data if data.is_dir() else TOOLS))
    given = example["input"]
    arguments = json.loads(given) if isinstance(given, str) else given
    result = value(name, **arguments)
    if example.get("output_is") == "description":
        assert isinstance(example["output"], str)
    elif name in DELIBERATELY_PLAIN:
        assert example["output"].items() <= result.items()
    else:
        assert example["output"] == result
