"""The package as a whole: its shape, what importing it costs, and what is shipped."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

import sovl_tools
from tests.conftest import REPOSITORY
from tests.wheels import install_from_source

pytestmark = pytest.mark.unmeasured

PACKAGE = REPOSITORY / "sovl_tools"
MODULES = sorted(PACKAGE.rglob("*.py"))
FORBIDDEN_AT_IMPORT = {
    "asyncio", "click", "jsonschema", "jsonschema_rs", "watchdog", "yaml", "jinja2", "pydantic",
    "docstring_parser", "dataclasses", "json", "inspect", "logging",
}  # fmt: skip


def lengths(path: Path) -> Iterator[int]:
    """Yield the length of each function's body without its docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            yield (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_modules_are_read_in_a_sitting() -> None:
    found = sorted(len(path.read_text().splitlines()) for path in MODULES)
    assert found[-1] <= 600
    assert found[int(len(found) * 0.98)] <= 500


def test_no_function_is_longer_than_60_lines_and_nine_in_ten_are_under_30() -> None:
    found = sorted(length for path in MODULES for length in lengths(path))
    assert found[-1] <= 60
    assert found[int(len(found) * 0.9)] < 30


def modules_after(statement: str) -> set[str]:
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{REPOSITORY}:{Path(pytest.__file__).parent.parent}"},
    )
    return set(done.stdout.split())


def test_no_import_is_part_of_a_cycle() -> None:
    """Imports within functions count as well; the layers alone allow cycles inside of a package."""
    graph = grimp.build_graph("sovl_tools", cache_dir=None)
    imports = {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError


def test_importing_the_package_imports_next_to_nothing() -> None:
    loaded = modules_after("import sovl_tools")
    assert loaded & FORBIDDEN_AT_IMPORT == set()
    assert {name for name in loaded if name.startswith("sovl_tools.")} == set()


def test_importing_the_registry_and_the_tooler_imports_no_engine() -> None:
    loaded = modules_after("from sovl_tools import ToolRegistry, Tooler")
    assert loaded & {"click", "jsonschema", "jsonschema_rs", "watchdog", "yaml", "jinja2"} == set()


def test_a_star_gives_the_public_names() -> None:
    given: dict[str, object] = {}
    exec("from sovl_tools import *", given)  # the one place where it can be tried
    given.pop("__builtins__")
    assert given.keys() == {*sovl_tools.__all__}
    assert given.keys() >= {"tool", "hook", "AITool", "Agent", "Tooler", "ToolRegistry"}
    assert given["Tooler"] is sovl_tools.Tooler


def test_every_public_name_resolves_and_is_listed_and_typed() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    typed = {
        alias.asname
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == set(sovl_tools._PUBLIC)  # type: ignore[attr-defined]  # not in the stub
    for name in typed:
        assert name in dir(sovl_tools)
        assert getattr(sovl_tools, str(name)) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        sovl_tools.nothing  # type: ignore[attr-defined]  # noqa: B018 - that is the test
    submodules = {path.stem for path in PACKAGE.iterdir()}
    assert typed & submodules == set()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel and unpack it, as an installer would."""
    place = tmp_path_factory.mktemp("wheel")
    install_from_source(REPOSITORY, place, place / "site")
    return place / "site"


def test_a_wheel_carries_the_schemas_the_types_and_nothing_else(installed: Path) -> None:
    assert (installed / "sovl_tools" / "py.typed").is_file()
    assert (installed / "sovl_tools" / "__init__.pyi").is_file()
    assert {path.name for path in installed.iterdir() if "dist-info" not in path.name} == {
        "sovl_tools"
    }
    schemas = installed / "sovl_tools" / "schemas"
    for path in (REPOSITORY / "schemas").iterdir():
        assert (schemas / path.name).read_bytes() == path.read_bytes()
