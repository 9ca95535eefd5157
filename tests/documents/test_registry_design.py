"""The design of a registry: tools that are classes, from plugins, with filters and reload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sovl_tools import AITool, Tooler, ToolRegistry
from tests.documents.conftest import Install


class ReadFile(AITool):
    """Reads what was written."""

    name = "read_file"
    description = "Read a text file."
    category = "File System"
    tags = ("file_io", "read", "text")
    parameters_schema = {  # noqa: RUF012 - as authors write it
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Where it is."}},
        "required": ["path"],
    }

    def __init__(self) -> None:
        self.files = {"notes.txt": "buy milk"}

    async def execute(self, path: str) -> str:
        return self.files[path]

    def get_ai_prompt_instructions(self) -> str:
        return "Read a file before you speak of it."


class RunPython(AITool):
    """Says of itself what only a running object can say."""

    category = "Code Execution"
    supports_streaming = True

    @property
    def name(self) -> str:
        return "run_python"

    @property
    def description(self) -> str:
        return "Run a line of Python."

    @property
    def parameters_schema(self) -> dict[str, Any]:
        return {"properties": {"line": {"type": "string"}}, "required": ["line"]}

    @property
    def tags(self) -> list[str]:
        return ["python", "scripting", "text"]

    def execute(self, line: str) -> str:
        return f"ran {line}"

    def get_openrouter_tool_definition(self) -> dict[str, Any]:
        definition = super().get_openrouter_tool_definition()
        definition["function"]["strict"] = True
        return definition


class ListBucket(AITool):
    name = "aws_s3_list"
    description = "List what is in a bucket."
    tags = ("file_io",)
    parameters_schema: dict[str, Any] = {}  # noqa: RUF012 - as authors write it

    def execute(self) -> list[str]:
        return ["a.txt"]

    def get_ai_prompt_instructions(self) -> str:
        return "Buckets are slow."


@pytest.fixture
def registry() -> ToolRegistry:
    registry = ToolRegistry()
    for kind in (RunPython, ReadFile, ListBucket):
        registry.register(kind())
    return registry


def names(tools: Any) -> list[str]:
    return [each.name for each in tools]


async def test_a_class_is_executed_with_checked_arguments(registry: ToolRegistry) -> None:
    tooler = Tooler(registry)
    assert (await tooler.call("read_file", '{"path": "notes.txt"}')).value == "buy milk"
    assert (await tooler.call("run_python", {"line": "1 + 1"})).value == "ran 1 + 1"
    error = (await tooler.call("read_file", {"file": "notes.txt"})).error
    assert error is not None
    assert error.kind == "invalid_arguments"


def test_instructions_are_joined_without_the_tools_that_have_none(registry: ToolRegistry) -> None:
    assert registry.prompt_instructions() == (
        "Buckets are slow.\n\nRead a file before you speak of it."
    )


PLUGIN = """
from sovl_tools import AITool

class {kind}(AITool):
    name = "{name}"
    description = "{description}"
    parameters_schema = {{}}

    def execute(self):
        return "{description}"
"""


def plugin(name: str, description: str) -> str:
    return PLUGIN.format(kind=name.title().replace("_", ""), name=name, description=description)


def test_entry_points_come_first_and_one_that_fails_stops_none(install: Install) -> None:
    entries = {
        "broken": "acme_broken:Broken",
        "clock": "acme_clock:Clock",
        "exits": "acme_exits",
        "gone": "acme_clock:Gone",
    }
    files = {
        "acme_clock.py": plugin("clock", "from the distribution"),
        "acme_broken.py": "raise OSError('no clock here')\n",
        "acme_exits.py": "raise SystemExit(3)\n",
    }
    site = install(files, entries)
    (site / "plugins").mkdir()
    (site / "plugins" / "clock.py").write_text(plugin("clock", "from the directory"))
    (site / "plugins" / "dice.py").write_text(plugin("dice", "four"))
    registry = ToolRegistry()
    registry.load_modules(site / "plugins")
    registry.load_entry_points()
    assert names(registry) == ["clock", "dice"]
    assert registry["clock"].execute() == "from the distribution"
    errors = registry.report.errors
    assert sorted(each.code for each in errors) == ["ST701", "ST701", "ST701", "ST801"]
    for entry in ("broken", "exits", "gone"):
        assert any(f"entry point {entry!r}" in each.message for each in errors)


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    place = tmp_path / "plugins"
    place.mkdir()
    (place / "clock.py").write_text(plugin("clock", "noon"))
    return place


def test_a_reload_walks_every_source_again(plugins: Path, install: Install) -> None:
    registry = ToolRegistry()
    registry.load_modules(plugins)
    registry.load_entry_points()
    registry.register(ReadFile())
    (plugins / "clock.py").write_text(plugin("clock", "midnight"))
    (plugins / "dice.py").write_text(plugin("dice", "four"))
    install({"acme_coin.py": plugin("coin", "heads")}, {"coin": "acme_coin:Coin"})
    change = registry.reload()
    assert (change.added, change.updated, change.removed) == (("coin", "dice"), ("clock",), ())
    assert registry["clock"].execute() == "midnight"
    (plugins / "dice.py").unlink()
    assert registry.reload().removed == ("dice",)
    assert names(registry) == ["clock", "coin", "read_file"]
