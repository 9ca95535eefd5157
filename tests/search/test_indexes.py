"""The indexes of a registry follow its changes, and each answer is from one catalog."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from sovl_tools import ToolDefinition, ToolMatch, ToolRegistry
from tests.conftest import Write, manifest_of
from tests.search.everyday_tools import made


def names(matches: list[ToolMatch]) -> list[str]:
    return [match.tool for match in matches]


def test_search_follows_the_files(write: Write, tmp_path: Path) -> None:
    write("a", manifest_of("a", description="Tell the weather."))
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    assert names(registry.search("weather")) == ["a"]
    write("a", manifest_of("a", description="Tell the news."))
    write("b", manifest_of("b", description="Tell the weather."))
    registry.reload()
    assert names(registry.search("weather")) == ["b"]
    assert names(registry.search("news")) == ["a"]
    write("b", "broken")
    shutil.rmtree(tmp_path / "tools" / "a")
    registry.reload()
    assert names(registry.search("weather news")) == ["b"]


def test_a_match_tells_in_which_parts_of_a_tool_each_word_is() -> None:
    inner = {"type": "object", "properties": {"deep": {"title": "India", "enum": ["juliet", 1]}}}
    golf = {"type": "array", "items": {"anyOf": [inner, {"description": "Hotel."}]}}
    example = {"description": "Kilo.", "input": {"a": ["lima", {"b": 5}]}, "output": "mike"}
    tool = made(
        "alpha",
        "Foxtrot.",
        {"golf": golf},
        title="Bravo",
        activation_phrases=("charlie",),
        tags=("delta",),
        category="echo",
        examples=(example, {"input": '{"text": "november"}'}),
    )
    registry = ToolRegistry()
    registry.register(replace(tool, function=lambda golf=None: golf))
    query = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november"
    (match,) = registry.search(query)
    assert match.words == {
        "alpha": ("name",),
        "bravo": ("title",),
        "charlie": ("phrases",),
        "delta": ("tags",),
        "echo": ("category",),
        "foxtrot": ("description",),
        **dict.fromkeys(("golf", "hotel", "india"), ("parameters",)),
        "juliet": ("choices",),
        **dict.fromkeys(("kilo", "lima", "november"), ("examples",)),
    }


def test_a_dynamic_choice_is_not_called_by_a_search() -> None:
    def fail() -> list[str]:
        raise AssertionError

    properties = {"color": {"type": "string", "enum": fail, "description": "Which color."}}
    schema = {"type": "object", "properties": properties, "required": ["color"]}
    tool = ToolDefinition("paint", "Paint a wall.", schema, lambda color: color, is_dynamic=True)
    registry = ToolRegistry()
    registry.register(tool)
    (match,) = registry.search("color")
    assert match.words == {"color": ("parameters",)}
