"""Searching with the extra ``semantic``, and what is enough for a suggestion with and without."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sovl_tools import Suggestion, ToolDefinition, ToolRegistry
from sovl_tools.search.vectors import SWITCH, vectors
from tests.search.everyday_tools import QUERIES, TOOLS, made
from tests.tables import check_each

OFFLINE = """
import sys

def forbid(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.")):
        raise RuntimeError(event)

sys.addaudithook(forbid)

from tests.search.everyday_tools import TOOLS
from tests.search.test_meaning import registry_of

registry = registry_of(*TOOLS)
print(registry.search("how cold is it outside")[0])
print([each for each in ("wordllama", "huggingface_hub", "httpx") if each in sys.modules])
"""


@pytest.fixture
def meaning(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(SWITCH)
    vectors.cache_clear()
    yield
    vectors.cache_clear()


def anything(**_: Any) -> None:
    """Do nothing."""


def with_slot() -> ToolDefinition:
    phrases = ("tides of {harbor}",)
    tool = made("tides", "Sea levels.", {"harbor": "Where."}, activation_phrases=phrases)
    return replace(tool, function=anything)


def registry_of(*tools: ToolDefinition) -> ToolRegistry:
    registry = ToolRegistry()
    for tool in tools:
        registry.register(replace(tool, function=anything))
    return registry


@pytest.mark.usefixtures("meaning")
@check_each(("query", "name"), QUERIES.items(), ids=[*QUERIES.values()])
def test_the_tool_that_is_asked_for_is_among_the_first(query: str, name: str) -> None:
    registry = registry_of(*TOOLS)
    assert name in [each.tool for each in registry.search(query, limit=3)]


def test_it_opens_no_network_and_imports_no_client() -> None:
    command = [sys.executable, "-c", OFFLINE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={SWITCH: ""})
    assert "evidence" in done.stdout.splitlines()[0]
    assert done.stdout.splitlines()[1] == "[]"


def test_only_the_tools_that_fit_well_are_suggested() -> None:
    registry = registry_of(*TOOLS, made("quiet", "Nothing.", activation_phrases=("hush now",)))
    registry.register(with_slot())
    assert registry.suggest("how do I bake bread with my neighbour's dog on a sunday") == []
    assert registry.suggest("please, hush now!") == [
        Suggestion("quiet", "phrase", ("hush now",), None)
    ]
    [found] = registry.suggest("the tides of Bergen")
    assert (found.tool, found.reason, found.arguments) == ("tides", "phrase", {"harbor": "Bergen"})


def test_a_tool_with_half_of_the_words_is_suggested_however_common_they_are() -> None:
    registry = registry_of(*(made(f"tool_{number}", "Weather.") for number in range(20)))
    found = registry.suggest("weather", limit=3)
    assert [(each.reason, each.said) for each in found] == [("words", ("weather",))] * 3
    assert all(each.evidence is not None and each.evidence < 0.55 for each in found)
    assert registry.suggest("weather on a far planet") == []
    assert registry.search("weather on a far planet")


@check_each(
    ("options", "error"),
    [({"least": "1"}, TypeError), ({"limit": -1}, ValueError), ({"limit": "3"}, TypeError)],
)
def test_options_are_checked(options: dict[str, object], error: type[Exception]) -> None:
    registry = ToolRegistry()
    with pytest.raises(error):
        registry.search("text", **options)  # type: ignore[arg-type]
    with pytest.raises(error):
        registry.suggest("text", **options)  # type: ignore[arg-type]
