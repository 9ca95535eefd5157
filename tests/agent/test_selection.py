"""Registries that are too large to be offered as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from sovl_tools import ToolDefinition, ToolNotFoundError, ToolRegistry
from sovl_tools.testing import calls, says
from tests.agent.conversations import Talk, Way, each_api, each_provider, talk
from tests.tables import check_each

NAMES = ("weather", "calendar", "music", "lights", "news", "route", "mail", "alarm")


def _tool(name: str) -> ToolDefinition:
    def run(text: str = "") -> str:
        return f"{name}: {text}"

    parameters = {"type": "object", "properties": {"text": {"type": "string"}}}
    described = f"Ask about the {name} of today."
    return ToolDefinition(name, described, parameters, run, activation_phrases=(f"my {name}",))


def registry_of(*names: str) -> ToolRegistry:
    registry = ToolRegistry()
    for name in names:
        registry.register(_tool(name))
    return registry


def offered(to: Talk, number: int = -1) -> list[str]:
    tools = to.bodies[number].get("tools", [])
    return [each.get("name") or each["function"]["name"] for each in tools]


@check_each(
    ("names", "budget", "expected"),
    [
        (NAMES, {"max_tools": 8}, {*NAMES}),
        (("mail",), {"max_tool_tokens": 900}, {"mail"}),
        (NAMES, {"max_tools": 2, "max_tool_tokens": 9999}, {"search_tools", "news"}),
    ],
)
def test_what_fits_is_offered_as_a_whole(
    names: tuple[str, ...], budget: dict[str, Any], expected: set[str]
) -> None:
    with talk(Way("openai"), [says("Yes.")], tools=registry_of(*names), **budget) as to:
        to.say("My news")
        assert {*offered(to)} == expected


@each_provider
def test_of_too_many_those_are_offered_of_which_the_user_speaks(way: Way) -> None:
    with talk(way, [says("Yes.")] * 3, tools=registry_of(*NAMES), max_tools=3) as to:
        to.say("Turn on my lights")
        assert offered(to) == ["search_tools", "lights"]
        to.say("And my music, my news")
        assert offered(to)[0] == "search_tools"
        assert set(offered(to)[1:]) == {"music", "news"}
        to.say("Hmm")
        assert len(offered(to)) == 3


def test_a_tool_that_has_to_be_called_is_on_offer() -> None:
    script = [
        calls(("mail", {})),
        says("Yes."),
        calls(("search_tools", {"query": "x"})),
        says("No."),
    ]
    with talk(Way("openai"), script, tools=registry_of(*NAMES), max_tools=2) as to:
        to.say("My lights, please", tool_choice="mail")
        assert (offered(to, 0), offered(to, 1)) == (
            ["search_tools", "lights", "mail"],
            ["search_tools", "mail"],
        )
        to.say("Hello", tool_choice="search_tools")
        assert offered(to, 2) == ["search_tools", "mail"]


@check_each(
    ("tools", "choice", "message"),
    [
        (None, "mial", "there's no tool 'mial'; did you mean 'mail'?"),
        (None, "search_tools", "there's no tool 'search_tools'"),
        (["news"], "mail", "there's no tool 'mail' among those of this turn"),
    ],
)
def test_a_choice_has_to_be_among_the_tools(
    tools: list[str] | None, choice: str, message: str
) -> None:
    with talk(Way("openai"), [], tools=registry_of("mail", "news")) as to:
        with pytest.raises(ToolNotFoundError) as caught:
            to.say("Hello", tools=tools, tool_choice=choice)
        assert str(caught.value) == message
        assert to.agent.messages == []


@each_api
def test_a_model_searches_and_calls_what_it_has_found(way: Way) -> None:
    script = [
        calls(("search_tools", {"query": "weather"})),
        calls(("weather", {"text": "rain?"})),
        says("It rains."),
    ]
    with talk(way, script, tools=registry_of(*NAMES), max_tools=3) as to:
        assert to.say("Good day") == "It rains."
        assert offered(to, 0) == ["search_tools"]
        assert offered(to, 1)[:2] == ["search_tools", "weather"]
        found, result = to.results()
        assert "Ask about the weather of today." in found
        assert result == "weather: rain?"


def with_property(tool_name: str, name: str, **more: Any) -> ToolDefinition:
    def run(**arguments: Any) -> str:
        return str(arguments)

    parameters = {"type": "object", "properties": {name: {"type": "string", **more}}}
    is_dynamic = any(map(callable, more.values()))
    return ToolDefinition(tool_name, "List the news.", parameters, run, is_dynamic=is_dynamic)


UNFIT = ("filter[x]", "city name", "größe", "a" * 65)


@check_each("name", UNFIT)
@check_each("options", [{}, {"strict": True}, {"max_tools": 2}, {"max_tool_tokens": 150}])
def test_a_tool_that_would_be_rejected_stops_no_other(name: str, options: dict[str, Any]) -> None:
    tools = [with_property("unfit", name), _tool("mail"), _tool("news")]
    with talk(Way("anthropic"), [says("Yes.")], tools=tools, **options) as to:
        to.say("My mail, unfit news")
        assert "mail" in offered(to)
        assert "unfit" not in offered(to)
    with talk(Way("openai"), [says("Yes.")], tools=tools) as to:
        to.say("My mail")
        assert offered(to) == ["mail", "news", "unfit"]


def test_a_tool_that_is_left_out_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    dynamic = with_property("dynamic", "a[]", description=lambda: "Now.")
    registry = ToolRegistry()
    for each in (with_property("unfit", "filter[x]"), dynamic, _tool("mail")):
        registry.register(each)
    script = [calls(("mail", {})), *[says("Yes.")] * 4]
    with talk(Way("anthropic"), script, tools=registry) as to:
        to.say("My mail")
        registry.register(_tool("news"))
        to.say("Again")
        assert offered(to) == ["mail", "news"]
        to.say("These", tools=["mail", "unfit"])
        assert offered(to) == ["mail"]
        asking = to.agent.as_tool("ask", "Asks.")
        assert to.run(asking.function("Mail?")) == "Yes."
    logged = [each.message for each in caplog.records if each.levelname == "WARNING"]
    reason = "is rejected as the name of a property by anthropic; rename it, so that it matches"
    unfit = r"[a-zA-Z0-9_.-]{1,64}"
    assert sorted(logged) == [
        f"tool dynamic is omitted: 'a[]' {reason} {unfit}",
        f"tool unfit is omitted: 'filter[x]' {reason} {unfit}",
    ]


@each_provider
def test_a_tool_that_would_be_rejected_cannot_be_the_choice(way: Way) -> None:
    tools = [with_property("unfit", "filter[x]"), _tool("mail")]
    with talk(way, [calls(("unfit", {})), says("Yes.")], tools=tools, strictly=False) as to:
        if way.provider != "anthropic":
            assert to.say("My mail", tool_choice="unfit") == "Yes."
            return
        with pytest.raises(ToolNotFoundError, match="'unfit' is not available: its definition"):
            to.say("My mail", tool_choice="unfit")
        assert to.messages == []
