"""Agents that ask other agents."""

from __future__ import annotations

import os
from typing import Any

import pytest

from sovl_tools import Agent, ToolRegistry, definition_of, tool
from sovl_tools.testing import Request, ScriptedServer, calls, refuses, says
from tests.agent.conversations import Way, client_of, each_api, talk
from tests.dispatch.toolbox import tooler
from tests.process import tools_in_code

INNER = "You are the inner one."


class Inner(Agent):
    """Counts what is asked of it."""

    asked: list[str]

    def _finalize_response(self, text: str) -> str:
        self.asked.append(text)
        return text

    @tool
    def double(self, number: int) -> int:
        """Double a number."""
        return 2 * number


def system_of(request: Request) -> str:
    body = request.body
    first = (body.get("messages") or [{}])[0]
    return str(body.get("instructions") or body.get("system") or first.get("content"))


def both(outer: list[Any], inner: list[Any]) -> Any:
    """Return a script in which each of two agents has its own replies."""

    def reply(request: Request) -> Any:
        return (inner if INNER in system_of(request) else outer).pop(0)

    return reply


def has_results(request: Request) -> bool:
    names = ("tool_call_id", "function_call_output", "tool_result")
    return any(name in str(request.body) for name in names)


@each_api
def test_an_agent_is_a_tool_that_begins_anew_each_time(way: Way) -> None:
    questions = ("Double 4", "Double 5")
    outer = [calls(*(("expert", {"message": each}) for each in questions)), says("8 and 10.")]

    def reply(request: Request) -> Any:
        if INNER not in system_of(request):
            return outer.pop(0)
        return says("Done.") if has_results(request) else calls(("double", {"number": 4}))

    with talk(way, reply) as to:
        emitted: list[Any] = []
        expert = Inner(
            to.agent.client, model="m", provider=way.provider, system=INNER, emit=emitted.append
        )
        expert.asked = []
        to.agent.tools.register(expert.as_tool("expert", "Doubles numbers."))
        assert to.say("Double 4 and 5") == "8 and 10."
        assert to.results() == ["Done.", "Done."]
        assert expert.asked == ["Done.", "Done."]
        assert (expert.messages, emitted) == ([], [])
        asked = [str(each.body) for each in to.server.requests if INNER in system_of(each)]
        assert sorted(sum(each in body for each in questions) for body in asked) == [1] * 4


@each_api
def test_an_agent_without_an_answer_is_a_tool_that_failed(way: Way) -> None:
    outer, inner = [calls(("expert", {"message": "Evil"})), says("It would not.")], [refuses("No.")]
    with talk(way, both(outer, inner)) as to:
        expert = Agent(to.agent.client, model="m", provider=way.provider, system=INNER)
        to.agent.tools.register(expert.as_tool("expert", "Knows."))
        assert to.say("Be evil") == "It would not."
        assert to.results() == ["expert has no answer: No."]


def _deeper(request: Request) -> Any:
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return says(str(last["content"]))
    return calls((request.body["tools"][0]["function"]["name"], {"message": "Deeper"}))


def test_no_more_than_five_agents_ask_one_another_in_a_row() -> None:
    with ScriptedServer(_deeper) as server:
        client = client_of("openai", server, is_async=False)
        tools = ToolRegistry()
        for number in range(8):
            agent = Agent(client, model="m", tools=tools)
            tools = ToolRegistry()
            tools.register(agent.as_tool(f"agent_{number}", "The next one."))
        reply = Agent(client, model="m", tools=tools).chat_sync("Go")
        client.close()
    assert reply.startswith("more than 5 agents can't ask each other in a row: Agent → agent_7")
    assert reply.count("→") == 6


@pytest.mark.slow
def test_questions_share_the_worker_processes_of_the_agent_that_is_asked() -> None:
    whereabouts = definition_of(tools_in_code.whereabouts)
    expert = Agent(provider="local", mode="process", tools=[whereabouts])
    calling = tooler(expert.as_tool("expert", "Knows."))
    answers = {calling.call_sync("expert", {"message": "whereabouts text=a"}).value for _ in "12"}
    assert len(answers) == 1
    assert str(os.getpid()) not in answers.pop()
