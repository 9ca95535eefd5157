"""Calls as models write them who know other tools and other servers, and answers that failed."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from sovl_tools import Agent, ToolRegistry
from sovl_tools.agent.errors import EmptyAnswerError, ProviderError
from sovl_tools.testing import calls, says
from tests.agent.conversations import Way, each_provider, talk
from tests.tables import check_each

NAMESPACES = (
    "functions.weather", "functions:weather", "functions/weather", "tools.weather",
    "default_api.weather", "mcp__server__weather", "functions.weather:0", "weather:12", "weather()",
    "weather<|channel|>commentary", "home.functions.weather", "server__tools.weather",
)  # fmt: skip


def weather(city: str = "here") -> str:
    """Return the weather."""
    return f"sunny in {city}"


def now() -> str:
    """Return the time."""
    return "noon"


def delete(name: str) -> str:
    """Delete a file."""
    return f"deleted {name}"


@check_each("name", NAMESPACES)
@check_each("named", [None, ["weather"]])
def test_a_name_in_a_namespace_is_taken_in_lenient_mode(name: str, named: list[str] | None) -> None:
    script = [calls((name, {"city": "Oslo"})), says("Fine.")]
    with talk(Way("openai"), script, tools=[weather], coerce="lenient") as to:
        assert to.say("The weather?", tools=named) == "Fine."
        assert to.results() == ["sunny in Oslo"]


def uses(*inner: tuple[Any, Any]) -> dict[str, Any]:
    return {"tool_uses": [{"recipient_name": name, "parameters": given} for name, given in inner]}


TWO = uses(("functions.weather", {"city": "Oslo"}), ("functions.now", {}))


@check_each(
    "name",
    ["multi_tool_use.parallel", "multi_tool_use_parallel", "functions.multi_tool_use.parallel"],
)
@check_each(
    ("arguments", "results"),
    [
        (TWO, ["sunny in Oslo", "noon"]),
        (uses(("weather", {}), ("weather", {"city": "Rome"})), ["sunny in here", "sunny in Rome"]),
        (uses(("functions.weather", '{"city": "Oslo"}'), ("now", None)), ["sunny in Oslo", "noon"]),
        (uses(("functions.gone", {}), ("now", {})), ["there's no tool 'gone'", "noon"]),
        (uses(*[("now", {})] * 5), ["noon"] * 5),
    ],
)
@check_each("is_streaming", [False, True])
def test_each_call_in_a_wrapper_is_made(
    name: str, arguments: Any, results: list[str], *, is_streaming: bool
) -> None:
    way = Way("openai", is_streaming=is_streaming)
    with talk(way, [calls((name, arguments)), says("Fine.")], tools=[weather, now]) as to:
        assert to.say("Both?") == "Fine."
        assert to.results() == results


def test_a_wrapper_gets_round_neither_approval_nor_the_tools_of_a_turn() -> None:
    registry = ToolRegistry()
    registry.tool(annotations={"destructive": True})(delete)
    registry.register(now)
    inner = uses(("functions.delete", {"name": "a"}), ("functions.now", {}))
    script = [calls(("multi_tool_use.parallel", inner)), says("Fine.")]
    with talk(Way("openai"), script * 2, tools=registry, approve=lambda _: "not that") as to:
        to.say("Both?")
        assert to.results()[0] == "the user did not approve of this call: not that"
        to.say("Both?", tools=["now"])
        assert to.results()[2:] == ["there's no tool 'delete' in this turn; there is now", "noon"]


@each_provider
@pytest.mark.parametrize("text", ["null", " null ", "", "{}"])
def test_a_tool_without_parameters_takes_null(way: Way, text: str) -> None:
    with talk(way, [calls(("now", text)), says("Fine.")], tools=[now]) as to:
        assert to.say("Now?") == "Fine."
        assert to.results() == ["noon"]


def test_an_object_that_is_encoded_twice_is_advised_against() -> None:
    twice = json.dumps(json.dumps({"city": "Oslo"}))
    script = [calls(("weather", twice)), says("Fine.")]
    with talk(Way("openai"), script, tools=[weather]) as to:
        to.say("The weather?")
        assert to.results()[0].endswith("; give the object itself, not JSON text of it")
    with talk(Way("openai"), script, tools=[weather], coerce="lenient") as to:
        to.say("The weather?")
        assert to.results() == ["sunny in Oslo"]


MESSAGE = {"role": "assistant", "content": ""}


@check_each(
    ("choice", "kind", "words"),
    [
        ({"finish_reason": "error"}, ProviderError,
         "the provider ended the answer with finish_reason 'error'"),
        ({"finish_reason": "error", "message": {**MESSAGE, "content": "So"}}, ProviderError,
         "the provider ended the answer with finish_reason 'error'"),
        ({"finish_reason": "error", "error": {"code": 502, "message": "upstream is gone"}},
         ProviderError, "upstream is gone"),
        ({"finish_reason": "error", "error": "upstream is gone"}, ProviderError,
         "upstream is gone"),
        ({"finish_reason": "insufficient_system_resource", "message": MESSAGE}, ProviderError,
         "the provider ended the answer with finish_reason 'insufficient_system_resource'"),
        ({"finish_reason": "abort", "message": MESSAGE}, ProviderError,
         "the provider ended the answer with finish_reason 'abort'"),
        ({"finish_reason": "malformed_function_call", "message": MESSAGE}, ProviderError,
         "the provider ended the answer with finish_reason 'malformed_function_call'"),
        ({"finish_reason": "stop", "message": MESSAGE}, EmptyAnswerError,
         "the model's answer is empty"),
        ({"finish_reason": "tool_calls", "message": MESSAGE}, EmptyAnswerError,
         "the model's answer is empty"),
        ({"finish_reason": None, "message": MESSAGE}, EmptyAnswerError,
         "the model's answer is empty"),
    ],
)  # fmt: skip
def test_an_answer_that_failed_says_so(choice: Any, kind: type[Exception], words: str) -> None:
    streamed = {**choice, "delta": choice.get("message") or {}}
    for is_streaming in (False, True):
        if is_streaming and choice["finish_reason"] is None:
            continue
        answer: Any = iter([{"choices": [streamed]}]) if is_streaming else {"choices": [choice]}
        create = SimpleNamespace(create=lambda answer=answer, **_: answer)
        client = SimpleNamespace(chat=SimpleNamespace(completions=create))
        agent = Agent(client, "m", provider="openai")
        with pytest.raises(kind) as caught:
            list(agent.stream("Hello")) if is_streaming else agent.chat_sync("Hello")
        assert str(caught.value) == words
