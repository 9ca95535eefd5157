"""Registries that are loaded while a module is imported, which their tools import as well."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from uuid import uuid4

import pytest

from sovl_tools import ToolRegistry
from tests.conftest import Write

LOADS = """
LIMIT = 5

from sovl_tools import ToolRegistry, default_registry, tool


@tool
def own(text: str) -> int:
    \"\"\"Return the limit.\"\"\"
    return LIMIT


registry = {registry}
"""


RETURNS = """

def echo(text: str) -> int:
    return LIMIT
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Write a package whose ``__init__.py`` makes a registry; return its name."""
    name = f"package_{uuid4().hex}"
    monkeypatch.syspath_prepend(tmp_path)

    def make(registry: str) -> str:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(LOADS.format(registry=registry))
        return name

    yield make
    for each in [each for each in sys.modules if each.partition(".")[0] == name]:
        del sys.modules[each]


def test_a_tool_imports_the_package_that_loads_it(
    package: Callable[[str], str], write: Write, tmp_path: Path
) -> None:
    name = package(f"ToolRegistry.from_directory({str(tmp_path / 'tools')!r}, import_timeout=5)")
    write("echo", code=f"from {name} import LIMIT\n{RETURNS}")
    registry = import_module(name).registry
    assert not registry.report.diagnostics
    assert registry["echo"].execute(text="") == 5


def test_a_load_in_a_load_leaves_out_what_is_being_loaded(
    package: Callable[[str], str], write: Write, tmp_path: Path
) -> None:
    name = package(f"ToolRegistry.from_directory({str(tmp_path / 'tools')!r}, import_timeout=5)")
    body = f"def echo(text: str) -> list:\n    return [*{name}.registry.catalog.tools]\n"
    write("echo", code=f"import {name}\n\n\n{body}")
    write("other")
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    assert not registry.report.diagnostics
    assert registry["echo"].execute(text="") == ["other"]
