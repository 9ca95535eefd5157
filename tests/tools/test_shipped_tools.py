"""What holds for every tool of the repository."""

import ast
import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sovl_tools
from sovl_tools import Diagnostic
from tests.tables import check_each

from .conftest import REPOSITORY, Module

TOOLS = REPOSITORY / "tools"
NAMES = sorted(path.name for path in TOOLS.iterdir() if path.is_dir() and path.name[0] not in "._")
DELIBERATELY_PLAIN = {"example_tool"}
DEPENDENT_ON_THE_NETWORK = {"fetch_url"}


def manifest(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((TOOLS / name / f"{name}.json").read_text("utf-8"))
    return loaded


def phrases(name: str, module: Module) -> list[str]:
    given: list[str] = getattr(module(name), "ACTIVATION_PHRASES", None) or manifest(name).get(
        "activation_phrases", []
    )
    return given


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every property's schema and every array's items, at every level."""
    for part in [*schema.get("properties", {}).values(), schema.get("items")]:
        if isinstance(part, dict):
            yield part
            yield from schemas(part)


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


def test_no_two_tools_share_a_phrase(module: Module) -> None:
    counts = Counter(phrase.casefold() for name in NAMES for phrase in phrases(name, module))
    assert [phrase for phrase, count in counts.items() if count > 1] == []


@check_each("name", sorted(set(NAMES) - DELIBERATELY_PLAIN))
def test_each_says_what_a_catalogue_shows(name: str, module: Module) -> None:
    about = manifest(name)
    assert {"category", "version", "tags", "annotations", "examples"} <= set(about)
    assert len(phrases(name, module)) >= 3
    assert set(about["annotations"]) == {"read_only", "destructive", "idempotent", "open_world"}
    assert 1 <= len(about["examples"]) <= 3


@check_each("name", NAMES)
def test_each_property_at_every_level_has_a_type_and_a_description(name: str) -> None:
    about = manifest(name)
    parts = [*schemas(about["parameters"]), *schemas(about.get("output_schema", {}))]
    assert [part for part in parts if not {"type", "description"} <= set(part)] == []
    assert [part for part in parts if part["type"] == "array" and "items" not in part] == []


@check_each("name", NAMES)
def test_defaults_agree_with_the_function(name: str, registry: sovl_tools.ToolRegistry) -> None:
    parameters = manifest(name)["parameters"]
    in_function = {
        key: parameter.default
        for key, parameter in inspect.signature(registry[name].function).parameters.items()
    }
    assert set(in_function) == set(parameters["properties"])
    for key, schema in parameters["properties"].items():
        if "default" in schema:
            assert in_function[key] == schema["default"]
        elif key in parameters.get("required", []):
            assert in_function[key] is inspect.Parameter.empty
        else:
            assert in_function[key] in (inspect.Parameter.empty, None)


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


@check_each("path", sorted(TOOLS.glob("*/*.py")), ids=lambda path: path.name)
def test_functions_are_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 50
