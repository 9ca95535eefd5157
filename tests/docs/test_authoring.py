"""The guides about tools in code say all of it: types, arguments of the decorator, codes, names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import sovl_tools
from sovl_tools import Tooler, ToolRegistry
from sovl_tools.annotations.scalars import _NAMED
from sovl_tools.authoring.decorator import SETTABLE, Options
from tests.conftest import REPOSITORY
from tests.docs.blocks import Document
from tests.tables import check_each

AUTHORING = REPOSITORY / "docs" / "how-to" / "code.md"
MODULE = REPOSITORY / "docs" / "reference" / "module.md"
MIGRATION = REPOSITORY / "docs" / "how-to" / "migrate.md"
EXAMPLES = REPOSITORY / "docs" / "examples"


def section(page: Path, title: str) -> str:
    _, _, rest = page.read_text(encoding="utf-8").partition(f"\n## {title}\n\n")
    return rest.partition("\n## ")[0]


def cells(text: str) -> list[list[str]]:
    """Return the rows of a table, without its head, as their cells."""
    rows = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    return [re.split(r" \| ", row) for row in rows if "---" not in row][1:]


def code_in(cell: str) -> list[str]:
    return [each.replace("\\|", "|") for each in re.findall(r"`([^`]+)`", cell)]


class Row(NamedTuple):
    """A row of the table of types; the expressions are Python, the others JSON."""

    annotation: str
    schema: str
    sent: str
    received: str


def rows() -> list[Row]:
    table = cells(section(MODULE, "Types"))
    return [
        Row(annotation, *(code_in(cell)[0] for cell in others))
        for first, *others in table
        for annotation in code_in(first)
    ]


def names_of_the_page() -> dict[str, Any]:
    """Return what the Python block above the table defines."""
    start = section(MODULE, "Types").partition("```python\n")[2]
    module = ModuleType("document")
    code = compile(start.partition("```")[0], "authoring.md", "exec", dont_inherit=True)
    exec(code, vars(module))
    return vars(module)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return names_of_the_page()


@check_each("row", rows(), ids=[row.annotation for row in rows()])
def test_a_row_of_the_table_of_types_holds(row: Row, names: dict[str, Any]) -> None:
    received = []

    def echo(value: Any) -> None:
        """Keep it."""
        received.append(value)

    echo.__annotations__["value"] = eval(row.annotation, names)
    registry = ToolRegistry()
    registry.register(echo)
    assert registry["echo"].parameters["properties"]["value"] == json.loads(row.schema)
    assert Tooler(registry).call_sync("echo", {"value": json.loads(row.sent)}).ok
    expected = eval(row.received, names)
    assert received == [expected]
    assert type(received[0]) is type(expected)


def test_the_table_names_every_class_of_the_standard_library_that_is_known() -> None:
    text = section(MODULE, "Types")
    classes = {name.partition(".")[2] for name in _NAMED}
    known = {name for name in classes if not name.endswith(("PosixPath", "WindowsPath"))}
    assert {name for name in known if not re.search(rf"\b{name}\b", text)} == set()


def test_the_guide_names_every_argument_of_the_decorator() -> None:
    table = cells(section(AUTHORING, "Arguments of the decorator"))
    told = {name for row in table for name in code_in(row[0])}
    assert told == {*Options._fields[:-1], *SETTABLE}


def test_the_guide_shows_the_examples_as_they_ship() -> None:
    shown = Document.read(AUTHORING).files
    shipped = sorted(EXAMPLES.glob("*.py"))
    assert len(shipped) == 3
    pages = [file for file in shipped if f"plugins/{file.name}" in shown]
    assert [file.stem for file in pages] == ["dates", "glossary"]
    for file in pages:
        assert shown[f"plugins/{file.name}"] == file.read_text(encoding="utf-8")
    registry = ToolRegistry()
    registry.load_modules(EXAMPLES)
    assert registry.report.diagnostics == ()


HOLDERS: dict[str, Any] = {
    "registry": ToolRegistry,
    "ToolRegistry": ToolRegistry,
    "agent": sovl_tools.Agent,
    "": sovl_tools,
}


def test_every_name_that_the_migration_leads_to_exists() -> None:
    rows = cells(section(MIGRATION, "An agent with tool methods"))
    targets = [code for row in rows for code in code_in(row[1]) if "super()" not in code]
    calls = [re.match(r"(?:(\w+)\.)?(\w+)\(", code) for code in targets]
    found = [(call[1] or "", call[2]) for call in calls if call]
    assert found
    assert [each for each in found if not hasattr(HOLDERS[each[0]], each[1])] == []
