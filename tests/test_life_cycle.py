"""Tools that are renamed, deprecated and removed, while callers still use their former names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sovl_tools import ToolDefinition, Tooler, ToolRegistry
from sovl_tools.loading.lock import lock_of
from sovl_tools.loading.sources import collect
from sovl_tools.model.call import CallEvent
from sovl_tools.testing import calls, says
from tests.agent.conversations import Way, talk
from tests.conftest import Write, manifest_of
from tests.tables import check_each

HELLO = {"text": "hello"}


def test_a_name_leads_to_the_right_tool_or_to_the_reason(write: Write, tmp_path: Path) -> None:
    write("a", manifest_of("a", aliases=["old", "b"]))
    write("b", code="def b(text: str) -> str:\n    return text.upper()\n")
    write("c", manifest_of("c", aliases=["old", "gone"], enabled=False))
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    tooler = Tooler(registry)
    results = {name: tooler.call_sync(name, HELLO) for name in ("a", "old", "b", "c", "gone", "d")}
    assert {name: each.tool for name, each in results.items()} == {
        "a": "a", "old": "a", "b": "b", "c": "c", "gone": "c", "d": "d",
    }  # fmt: skip
    assert [results[name].value for name in ("old", "b")] == ["hello", "HELLO"]
    kinds = [each.error and each.error.kind for each in results.values()]
    assert kinds[3:] == ["unavailable", "unavailable", "unknown_tool"]
    assert [each["name"] for each in registry.definitions("json-schema")] == ["a", "b"]
    assert {each.tool for each in registry.search("say something")} == {"a", "b"}
    assert sorted(lock_of(collect([tmp_path / "tools"]).folders).lock) == ["a", "b", "c"]


@pytest.fixture
def registry(write: Write, tmp_path: Path) -> ToolRegistry:
    """Return the registry of a tool ``say`` that was called ``tell``."""
    write("say", manifest_of("say", aliases=["tell", "tell-it"]))
    return ToolRegistry.from_directory(tmp_path / "tools")


async def test_every_way_to_call_takes_an_alias(registry: ToolRegistry) -> None:
    events: list[CallEvent] = []
    seen: list[str] = []

    def look(call: Any, following: Any) -> Any:
        seen.append(call.name)
        return following(call)

    with Tooler(registry, hooks=[look], observers=[events.append]) as tooler:
        results = [
            tooler.call_sync("tell", HELLO),
            await tooler.call("tell-it", HELLO),
            *await tooler.call_many([("tell", HELLO)]),
            *(each.result for each in tooler.map("tell", [HELLO])),
            tooler.through(registry.select(name="say")).call_sync("tell", HELLO),
        ]
        assert list(tooler.stream("tell", HELLO)) == ["hello"]
    assert [(each.tool, each.value) for each in results] == [("say", "hello")] * 5
    assert [(each.tool, each.alias) for each in events if each.alias != "tell"] == [
        ("say", "tell-it")
    ]
    assert seen == ["say"] * 6
    assert tooler.statistics().keys() == {"say"}


def test_a_model_may_call_by_an_alias_but_is_not_told_of_it(registry: ToolRegistry) -> None:
    script = [calls(("tell", HELLO)), says("Done.")]
    with talk(Way("openai"), script, tools=registry) as to:
        assert to.say("Hello", tools=["tell"], tool_choice="tell") == "Done."
        assert to.results() == ["hello"]
    body = to.bodies[0]
    assert [each["function"]["name"] for each in body["tools"]] == ["say"]
    assert body["tool_choice"]["function"]["name"] == "say"


def test_a_model_is_not_offered_what_is_replaced_by_another_offer() -> None:
    def named(name: str, **keys: Any) -> ToolDefinition:
        schema = {"type": "object", "properties": {}}
        return ToolDefinition(name, f"Tell the {name}.", schema, lambda: name, **keys)

    registry = ToolRegistry()
    for each in (
        named("oldest", replaced_by="older"),
        named("older", replaced_by="new"),
        named("new", aliases=("newest",)),
        named("one", replaced_by="two"),
        named("two", replaced_by="one"),
        named("gone", replaced_by="nothing"),
    ):
        registry.register(each)
    with talk(Way("openai"), [says("Yes.")] * 3, tools=registry) as to:
        to.say("Hello")
        to.say("Hello", tools=["oldest", "older"])
        to.say("Hello", tool_choice="older")
    offers = [[each["function"]["name"] for each in body["tools"]] for body in to.bodies]
    assert offers == [
        ["gone", "new", "one", "two"],
        ["older"],
        ["gone", "new", "one", "two", "older"],
    ]


PLACE: dict[str, Any] = {
    "city": {"type": "string", "x-replaced-by": "place"},
    "days": {"type": "integer", "deprecated": True, "x-replaced-by": "hours"},
    "place": {"type": "string"},
    "hours": {"type": "integer"},
}


@check_each(
    ("arguments", "expected"),
    [
        ({"city": "Bergen"}, {"place": "Bergen"}),
        ({"city": "Bergen", "days": "3"}, {"place": "Bergen", "hours": 3}),
        ({"city": "Bergen", "place": "Oslo"}, {"city": "Bergen", "place": "Oslo"}),
        ({"city": 1.5}, None),
    ],
)
def test_lenient_arguments_have_the_new_names_of_parameters(
    arguments: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    def weather(**given: Any) -> Any:
        return given

    schema = {"type": "object", "properties": PLACE, "additionalProperties": False}
    registry = ToolRegistry()
    registry.register(ToolDefinition("weather", "Tell it.", schema, weather))
    tooler = Tooler(registry, coerce="lenient")
    result = tooler.call_sync("weather", arguments)
    assert result.value == expected
    assert bool(result.repairs) == (expected not in (None, arguments))
    strict = tooler.call_sync("weather", {"city": "Bergen"}, coerce="strict")
    assert (strict.value, strict.repairs) == ({"city": "Bergen"}, ())
