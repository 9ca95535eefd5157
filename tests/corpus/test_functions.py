"""Functions of many styles become tools in every way, with the same arguments and results."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sovl_tools import Tooler, ToolRegistry, tool
from tests.conftest import Run
from tests.corpus import functions
from tests.tables import check_each


class Expected(NamedTuple):
    """What is expected of a function.

    Attributes:
        name: the function's.
        properties: the type of each argument; ``?`` marks one that can be omitted.
        given: the arguments of a call.
        value: the result.
    """

    name: str
    properties: dict[str, str]
    given: dict[str, Any]
    value: Any


POINT = [{"x": 1}, {"x": 1.5, "y": 2}]
SOUND = [
    Expected(
        "search_docs",
        {"query": "string", "limit": "integer?"},
        {"query": "ab", "limit": 2},
        ["ab", "ab"],
    ),
    Expected("search_web", {"query": "string", "pages": "integer?"}, {"query": "a"}, ["a", "a"]),
    Expected(
        "ship",
        {"address": "object", "express": "boolean?"},
        {"address": {"street": "A", "number": 3}},
        "A 3 False",
    ),
    Expected("move", {"points": "array"}, {"points": POINT}, 4.5),
    Expected(
        "remind",
        {"at": "string", "text": "string", "repeat": "number|string?"},
        {"at": "2026-11-28T09:00:00Z", "text": "a"},
        "2026 a None",
    ),
    Expected(
        "read_file", {"path": "string", "lines": "integer?"}, {"path": "a/b.txt"}, "b.txt None"
    ),
    Expected(
        "untyped",
        {"query": "any", "limit": "any?", "strict": "any?"},
        {"query": "a"},
        ["a", 5, True],
    ),
    Expected("notify", {"text": "string"}, {"text": "a"}, "a"),
    Expected("search_with_key", {"query": "string", "key": "string?"}, {"query": "a"}, "a False"),
    Expected("logged", {"text": "string"}, {"text": "a"}, "a"),
    Expected("fetch", {"url": "string", "timeout": "number?"}, {"url": "a"}, "a 10.0"),
    Expected("decorated", {"text": "string", "loud": "boolean?"}, {"text": "a", "loud": True}, "A"),
    Expected("add_two", {"first": "integer", "second": "integer?"}, {"first": 1}, 3),
    Expected("crawl", {"url": "string", "options": "object?"}, {"url": "a"}, "a 2 []"),
    Expected("mapped", {"limit": "integer?"}, {"limit": 5}, 5),
]
"""Functions that are tools as they are."""
REJECTED = [
    ("looks_up", "'key'"),
    ("positional", "'text'"),
    ("called_back", "'callback'"),
]
"""Functions that can't be tools, and the parameter that is to blame."""


def summary(parameters: dict[str, Any]) -> dict[str, str]:
    """Return the type of each argument, with ``?`` for one that can be omitted."""
    required = parameters.get("required", ())
    return {
        name: type_of(schema) + ("" if name in required else "?")
        for name, schema in parameters["properties"].items()
    }


def type_of(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(schema["enum"])
    branches = schema.get("anyOf", [schema])
    types = [each.get("type", "any") for each in branches]
    found = "|".join("|".join(each) if isinstance(each, list) else each for each in types)
    return "any" if found == "string|number|boolean|array|object|null" else found


def decorated(name: str) -> Any:
    return tool(name=name)(getattr(functions, name))


def registered(name: str) -> Any:
    function = getattr(functions, name)
    return function if getattr(function, "__name__", None) == name else decorated(name)


@check_each("expected", SOUND, ids=lambda each: each.name)
@check_each("made", [registered, decorated])
def test_a_function_is_a_tool(made: Callable[[str], Any], expected: Expected) -> None:
    registry = ToolRegistry()
    registry.register(made(expected.name))
    (definition,) = registry
    assert summary(definition.parameters) == expected.properties
    result = Tooler(registry).call_sync(expected.name, expected.given)
    assert (result.error, result.value) == (None, expected.value)


@check_each(("name", "parameter"), REJECTED)
@check_each("made", [registered, decorated])
def test_a_function_is_no_tool(made: Callable[[str], Any], name: str, parameter: str) -> None:
    with pytest.raises(Exception, match=parameter):
        ToolRegistry().register(made(name))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with the functions in a module and no tool yet."""
    shutil.copy(Path(functions.__file__), tmp_path / "functions.py")
    (tmp_path / "pyproject.toml").write_text("[tool.sovl-tools]\npaths = ['tools']\n")
    return tmp_path


def check_folders(project: Path, run: Run) -> None:
    """Hold the tools in folders against what is expected of their functions."""
    done = run("validate", "--format", "json")
    report = json.loads(done.out)
    errors = [each for each in report["diagnostics"] if each["severity"] == "error"]
    assert errors == []
    for each in SOUND:
        manifest = json.loads((project / f"tools/{each.name}/{each.name}.json").read_text())
        assert (each.name, summary(manifest["parameters"])) == (each.name, each.properties)
    registry = ToolRegistry.from_directory(project / "tools")
    with Tooler(registry) as tooler:
        for each in SOUND:
            result = tooler.call_sync(each.name, each.given)
            assert (each.name, result.error, result.value) == (each.name, None, each.value)


def test_new_makes_a_folder_of_each(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in SOUND:
        done = run("new", each.name, "--from", f"functions:{each.name}")
        assert (each.name, done.code, done.err[-200:] if done.code else "") == (each.name, 0, "")
    for name, parameter in REJECTED:
        done = run("new", name, "--from", f"functions:{name}")
        assert (done.code, parameter in done.err) == (2, True), done.err
    monkeypatch.syspath_prepend(project)
    check_folders(project, run)
