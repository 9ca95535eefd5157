"""What tools ask and tell while an agent calls them, and who answers."""

from __future__ import annotations

from typing import Any

from sovl_tools import Answer, Host, LogMessage, Policy, Progress, ToolContext, ToolError, tool
from sovl_tools.agent.events import ToolFinished
from sovl_tools.model.client_requests import Question
from sovl_tools.testing import calls, says
from tests.agent.conversations import Way, each_api, each_streaming, talk


@tool
async def refund(context: ToolContext, order: int) -> str:
    """Refund an order."""
    schema = {"type": "object", "properties": {"reason": {"type": "string"}}}
    answer = await context.elicit(f"Why is {order} refunded?", schema)
    return str(answer.content)


@each_api
def test_a_tool_asks_the_user_through_the_agents_host(way: Way) -> None:
    def answer(question: Question) -> Answer:
        return Answer("accept", {"reason": question.message})

    script = [calls(("refund", {"order": 3})), says("Done.")]
    with talk(way, script, tools=[refund], host=Host(on_elicit=answer)) as to:
        to.say("Refund 3")
        assert to.results() == ["{'reason': 'Why is 3 refunded?'}"]
    script = [calls(("refund", {"order": 3})), says("Done.")]
    with talk(way, script, tools=[refund]) as to:
        to.say("Refund 3")
        assert "set on_elicit in Host" in to.results()[0]


@each_api
def test_the_agents_own_model_answers_what_a_tool_asks_of_a_model(way: Way) -> None:
    @tool
    async def summarize(context: ToolContext, text: str) -> str:
        """Summarize a string."""
        sample = await context.sample(
            text, max_tokens=77, system_prompt="Be short.", temperature=0.5, stop_sequences=["\n"]
        )
        return sample.text

    script = [calls(("summarize", {"text": "a b c"})), says("abc"), says("Done.")]
    with talk(way, script, tools=[summarize]) as to:
        assert to.say("Summarize it") == "Done."
        assert to.results() == ["abc"]
        body = to.bodies[1]
    assert "tools" not in body
    assert "Be short." in str(body)
    assert "a b c" in str(body)
    limits = ("max_tokens", "max_output_tokens", "max_completion_tokens")
    assert 77 in [body.get(key) for key in limits]


@each_api
def test_a_model_that_does_not_answer_is_the_tools_failure(way: Way) -> None:
    @tool
    def summarize(context: ToolContext) -> str:
        """Summarize."""
        return context.sample_sync("x").text

    script = [calls(("summarize", {})), says(""), says("Done.")]
    with talk(way, script, tools=[summarize]) as to:
        assert to.say("Summarize it") == "Done."


@each_streaming
def test_what_tools_tell_comes_between_the_start_and_the_end_of_the_call(way: Way) -> None:
    @tool
    def export(context: ToolContext) -> str:
        """Export."""
        context.report_progress(1, 2)
        context.log("info", "half")
        return "done"

    heard: list[Any] = []
    script = [calls(("export", {}), ("export", {})), says("Done.")]
    with talk(way, script, tools=[export], host=Host(on_event=heard.append)) as to:
        events = to.events("Export twice")
    told = [each for each in events if isinstance(each, Progress | LogMessage)]
    assert [type(each).__name__ for each in told].count("Progress") == 2
    assert sorted(heard, key=str) == sorted(told, key=str)
    ends = {each.call.id: events.index(each) for each in events if isinstance(each, ToolFinished)}
    assert {each.call_id for each in told} == set(ends)
    assert all(events.index(each) < ends[each.call_id] for each in told)


@each_api
def test_an_agent_takes_the_settings_of_a_policy(way: Way) -> None:
    failures = [ToolError("not yet"), ToolError("not yet")]

    @tool(annotations={"idempotent": True})
    def count(to: int) -> int:
        """Count."""
        if failures:
            raise failures.pop()
        return to

    script = [calls(("count", {"to": "3"})), says("Done.")]
    policy = Policy(retry=3, coerce="lenient")
    with talk(way, script, tools=[count], policy=policy) as to:
        to.say("Count")
        assert to.results() == ["3"]
