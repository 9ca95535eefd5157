"""Which tools a directory of modules holds, and what is told of objects that aren't any."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sovl_tools import ToolRegistry
from tests.loading.plugins import GROUP, HEAD, Site, importable, told

BASE = f"""{HEAD}class Base(AITool):
    description = "Greet."
    parameters_schema = {{"type": "object", "properties": {{}}}}

    def execute(self) -> str:
        return f"hello from {{self.name}}"


class _Hidden(Base):
    name = "hidden"


def failing(error):
    def method(*arguments):
        raise error

    return method


"""


NAMED = """class Named(Base):
    name = ""

    def __init__(self, name: str) -> None:
        self.name = name


"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a directory of modules, which can import what is in ``bases``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugins").mkdir()
    with importable(tmp_path / "site") as site:
        site.write("bases.py", BASE)
        yield tmp_path / "plugins"


def scanned(plugins: Path, source: str) -> list[str]:
    """Return what is told of a module, without the place of the file."""
    Site(plugins).write(
        "things.py", f"{HEAD}from bases import *\nfrom bases import _Hidden\n{source}"
    )
    registry = ToolRegistry()
    registry.load_modules("plugins")
    assert list(registry) == []
    return [line.partition(":")[2] for line in told(registry)]


def test_what_is_imported_or_private_is_left_in_peace(plugins: Path) -> None:
    source = "class _Own(Base): ...\nkind, text, alias = type('Other', (), {}), 'text', _Hidden\n"
    assert scanned(plugins, source) == ["1:1: ST706 there's no tool in the module"]


def test_a_class_that_is_not_finished_is_told_where_it_is_written(plugins: Path) -> None:
    assert scanned(plugins, "class Half(Base): ...\n") == ["6:7: ST702 Half lacks name"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("RuntimeError('no network')", "RuntimeError: no network"),
        ("KeyError()", "KeyError"),
    ],
)
def test_a_class_that_fails_is_told(plugins: Path, error: str, words: str) -> None:
    made = f"class Made(Base):\n    name, __init__ = 'made', failing({error})\n"
    shown = f"class Shown(Base):\n    name = property(failing({error}))\n"
    assert scanned(plugins, f"{made}{shown}") == [
        f"6:7: ST702 Made() failed: {words}",
        f"8:7: ST702 Shown can't be described: {words}",
    ]


@pytest.mark.parametrize(("value", "kind"), [("{}", "dict"), ("'text'", "str"), ("5", "int")])
def test_what_others_have_attached_is_told(plugins: Path, value: str, kind: str) -> None:
    source = f"def foreign(city: str) -> str: ...\nforeign._tool_definition = {value}\n"
    words = f"its _tool_definition is a {kind}, not a ToolDefinition"
    assert scanned(plugins, source) == [f"6:5: ST707 {words}"]


@pytest.mark.parametrize("member", ["__init__", "get_ai_prompt_instructions"])
def test_an_interrupt_of_a_class_is_an_interrupt_of_its_module(plugins: Path, member: str) -> None:
    source = f"class Made(Base):\n    name, {member} = 'made', failing(KeyboardInterrupt())\n"
    (line,) = scanned(plugins, source)
    assert line.endswith(" ST701 the module can't be imported: KeyboardInterrupt")


def test_an_entry_point_may_lead_to_an_instance(plugins: Path) -> None:
    site = Site(plugins.parent / "site")
    site.write(
        "made.py", f"from bases import Base\n{NAMED}one, other = Named('one'), Named('other')\n"
    )
    site.install("made", GROUP, a="made:one", b="made:other")
    registry = ToolRegistry()
    registry.load_entry_points(GROUP)
    assert {each.name: each.execute() for each in registry} == {
        "one": "hello from one",
        "other": "hello from other",
    }
    assert told(registry) == []
