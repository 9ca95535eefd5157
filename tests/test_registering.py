"""Registering tools by hand, next to folders and other sources."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import (
    AITool,
    DuplicateToolError,
    ToolLoadError,
    ToolNotFoundError,
    ToolRegistry,
    definition_of,
    tool,
)
from tests.loading.folders import News, answer, answers
from tests.loading.plugins import World, codes, importable, saying


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.chdir(tmp_path)
    with importable(tmp_path / "site") as site:
        yield World(site, tmp_path)


def test_the_first_registration_stays_and_is_returned() -> None:
    registry = ToolRegistry()
    first, second = saying(1), saying(2)
    assert registry.register(first) is definition_of(first)
    assert registry.register(second) is definition_of(first)
    assert answers(registry.catalog) == {"echo": 1}
    (found,) = registry.report.errors
    first_place = registry.catalog.candidates[0]
    assert found.message == (
        f"there is already a tool 'echo' in {first_place.path}:{first_place.line}"
    )
    assert (found.code, found.help) == ("ST801", "rename one of the two")


def test_override_puts_a_tool_in_the_place_of_another_and_unregister_puts_that_back() -> None:
    registry = ToolRegistry()
    first, second = saying(1), saying(2)
    registry.register(first)
    registry.register(second)
    assert registry.register(second, override=True) is definition_of(second)
    assert registry.register(first) is definition_of(second)
    assert len(registry.catalog.candidates) == 2
    registry.unregister("echo")
    assert answer(registry.catalog.tools) == 1
    registry.unregister("echo")
    assert len(registry) == 0


def test_strict_refuses_another_tool_of_the_name_and_enters_nothing() -> None:
    registry = ToolRegistry()
    first, second = saying(1), saying(2)
    for _ in range(2):
        registry.register(first, strict=True)
    with pytest.raises(DuplicateToolError) as caught:
        registry.register(second, strict=True)
    assert (caught.value.name, caught.value.source) == ("echo", definition_of(first).source)
    assert str(caught.value) == f"there is already a tool 'echo' from {definition_of(first).source}"
    assert len(registry.catalog.candidates) == 1
    assert registry.register(second, strict=True, override=True) is definition_of(second)


class Mixed:
    @tool(name="two words")
    def bad(self) -> None:
        """Be unsound."""

    @tool
    def good(self) -> None:
        """Be sound."""

    @tool(tags="io")
    def worse(self) -> None:
        """Be unsound too."""


def test_all_that_is_unsound_is_told_at_once_and_the_rest_is_entered() -> None:
    registry = ToolRegistry()
    with pytest.raises(ToolLoadError) as caught:
        registry.register(Mixed())
    assert codes(caught.value.diagnostics) == ["ST704", "ST704"]
    assert [each.name for each in registry] == ["good"]
    assert registry.report.diagnostics == ()


def test_registering_is_told_to_subscribers_and_to_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = ToolRegistry()
    news = News(registry)
    with caplog.at_level(logging.INFO, "sovl_tools"):
        registry.register(saying(1))
        registry.register(saying(2))
        registry.unregister("echo")
    assert [each[:4] for each in news.so_far()] == [
        (("echo",), (), (), ()),
        ((), (), (), ("echo",)),
        ((), ("echo",), (), ()),
    ]
    assert [(each.levelname, each.message.partition(":")[0]) for each in caplog.records] == [
        ("INFO", "tool echo was added"),
        ("WARNING", "tool echo was rejected"),
        ("INFO", "tool echo was updated"),
    ]


class Greeter(AITool):
    name = "greet"
    description = "Greet."
    category = "words"
    parameters_schema = {"type": "object", "properties": {}}  # noqa: RUF012 - nobody changes it
    speed = "slow"

    def execute(self) -> str:
        return "hello"

    def get_ai_prompt_instructions(self) -> str:
        return "Greet first."


def test_only_what_was_registered_by_hand_can_be_taken_out(world: World) -> None:
    registry = world.registry(("folder", "modules"))
    for name in ("echo", "absent"):
        with pytest.raises(ToolNotFoundError) as caught:
            registry.unregister(name)
        words = f"there's no tool {name!r} among the ones registered in code"
        assert str(caught.value) == words
    assert answer(registry.catalog.tools) == "folder"


def test_tools_of_all_sources_are_listed_filtered_and_exported_alike(world: World) -> None:
    registry = world.registry(("folder",))
    registry.register(Greeter())
    registry.register(saying(1, "aws_get", tags=["io", "net"], metadata={"team": "north"}))
    registry.register(saying(1, "aws_put", tags=["io"], instructions="Put it last."))
    names: Callable[..., list[str]] = lambda *predicates, **criteria: [  # noqa: E731 - short
        each.name for each in registry.filter(*predicates, **criteria)
    ]
    assert [each.name for each in registry] == ["aws_get", "aws_put", "echo", "greet"]
    assert [each["name"] for each in registry.schemas()] == [each.name for each in registry]
    assert names(name_pattern="aws_*") == ["aws_get", "aws_put"]
    assert names(name_pattern=re.compile("[ct]h|_g")) == ["aws_get", "echo"]
    assert names(tags=["net", "io"]) == ["aws_get"]
    assert names(tags=["io"], team="north") == ["aws_get"]
    assert names(category="words", speed="slow") == ["greet"]
    assert names(lambda each: each.tags, lambda each: "p" in each.name) == ["aws_put"]
    assert registry.prompt_instructions() == "Put it last.\n\nGreet first."


WORDS = r"'Say it.\n\nArgs:\n    text: What to say.'"


def cell(answer_of: object, *, line: str = "") -> str:
    """Return the text of a cell of a notebook that defines a tool."""
    return f"{line}\ndef echo(text: str) -> object:\n    {WORDS}\n    return {answer_of!r}\n"


def run_cell(registry: ToolRegistry, text: str, module: str = "notebook") -> Any:
    """Run a cell, register what it defines, and return that."""
    names: dict[str, Any] = {"__name__": module}
    exec(text, names)
    registry.register(names["echo"])
    return names["echo"]


def test_a_function_that_is_defined_again_takes_the_place_of_the_old_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = ToolRegistry()
    run_cell(registry, cell(1))
    place = registry.catalog.candidates[0].location
    news = News(registry)
    with caplog.at_level(logging.INFO, "sovl_tools"):
        for word in (2, 3, 3):
            run_cell(registry, cell(word))
            assert answers(registry.catalog) == {"echo": word}
    assert [each.location for each in registry.catalog.candidates] == [place]
    assert registry.report.diagnostics == ()
    assert [each[:4] for each in news.so_far()] == [((), ("echo",), (), ())] * 3
    assert [each.levelname for each in caplog.records] == ["INFO"] * 3
    registry.unregister("echo")
    assert len(registry) == 0
