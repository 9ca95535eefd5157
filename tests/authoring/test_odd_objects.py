"""Whatever someone registers: it is rejected or entered, and the tools that were there continue."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from typing import Any

import pytest

from sovl_tools import AITool, ToolDefinition, Tooler, ToolNotFoundError, ToolRegistry, tool
from tests.odd_objects import odd_objects

WRAPPINGS: tuple[Callable[[Any], Any], ...] = (
    lambda odd: odd,
    lambda odd: {"text": odd},
    lambda odd: [odd],
    lambda odd: {"type": "object", "properties": {"text": {"description": odd}}},
)
FIELDS = sorted({each.name for each in fields(ToolDefinition)} - {"title", "version", "source"})
OPTIONS = ("params", "param_descriptions", "required", "tags", "activation_phrases")
MEMBERS = (
    *("name", "description", "parameters_schema", "category", "tags", "execute"),
    *("get_ai_prompt_instructions", "language", "__doc__"),
)


def offer(text: str = "") -> str:
    """Offer something."""
    return text


def again(text: str) -> str:
    """Say it again."""
    return text


def decorated(key: str, odd: Any) -> object:
    def offer(text: str = "") -> str:
        """Offer something."""
        return text

    return tool(**{key: odd})(offer)


def defined(key: str, odd: Any) -> object:
    known: dict[str, Any] = {"name": "offer", "description": "Offer.", "function": offer}
    known["parameters"] = {"type": "object", "properties": {"text": {"type": "string"}}}
    return ToolDefinition(**{**known, key: odd})


def subclassed(key: str, odd: Any) -> object:
    known: dict[str, Any] = {"name": "offer", "description": "Offer.", "execute": offer}
    known["parameters_schema"] = {"type": "object", "properties": {}}
    return type("Offer", (AITool,), {**known, key: odd})


def check_healthy(registry: ToolRegistry) -> None:
    assert Tooler(registry).call_sync("healthy", {"text": "well"}).value == "well"
    assert "healthy" in {each.tool for each in registry.search("healthy")}
    assert "healthy" in {each.tool for each in registry.match("are you healthy")}
    assert "healthy" in {each.name for each in registry.filter(tags="well")}
    assert not registry.filter(language="none")
    assert "healthy" in {each.name for each in registry.list_tools()}
    assert "healthy" in {each["name"] for each in registry.schemas()}
    assert registry.definitions("anthropic")
    assert isinstance(registry.prompt_instructions(), str)
    assert all(str(each) for each in registry.report.diagnostics)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "key"),
    [
        *((decorated, key) for key in OPTIONS),
        *((defined, key) for key in FIELDS),
        *((subclassed, key) for key in MEMBERS),
    ],
)
def test_an_odd_part_of_a_tool_hurts_no_other(make: Callable[[str, Any], object], key: str) -> None:
    registry = ToolRegistry()

    @registry.tool(tags=["well"], activation_phrases=["healthy"])
    def healthy(text: str) -> str:
        """Say it."""
        return text

    # each part has each odd object in one run or another
    for name, odd in random.sample([*odd_objects()], 20):
        for wrap in WRAPPINGS:
            # what an object of theirs raises is theirs to hear
            with suppress(Exception):
                registry.register(make(key, wrap(odd)))
        assert Tooler(registry).call_sync("healthy", {"text": name}).value == name
        assert registry.register(again) is registry["again"], name
        assert registry.search("healthy"), name
        assert registry.filter(tags="well"), name
        with suppress(ToolNotFoundError):
            while True:
                registry.unregister("offer")
    check_healthy(registry)
    registry.reload()
    check_healthy(registry)


def test_what_is_no_tool_is_refused() -> None:
    registry = ToolRegistry()
    for _, odd in odd_objects():
        with suppress(Exception):
            registry.register(odd)
        assert [*registry] == []
