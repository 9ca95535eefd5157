"""What a tool asks of whoever calls it from Python, who may answer anything."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from sovl_tools import ToolContext, ToolResult
from sovl_tools.model.client_requests import Answer, Root, Sample
from tests.dispatch.toolbox import Call, each_way, tooler
from tests.tables import check_each


def answered(value: Any) -> Future[Any]:
    future = Future[Any]()
    future.set_result(value)
    return future


def failed(error: BaseException) -> Future[Any]:
    future = Future[Any]()
    future.set_exception(error)
    return future


def given_up() -> Future[Any]:
    future = Future[Any]()
    future.cancel()
    return future


def fail(_: object) -> Any:
    raise StopIteration("no")


ASKS: dict[str, Callable[[ToolContext], Any]] = {
    "on_elicit": lambda context: context.elicit("Which?"),
    "on_sample": lambda context: context.sample("Which?"),
    "on_list_roots": lambda context: context.list_roots(),
}
SYNC_ASKS: dict[str, Callable[[ToolContext], Any]] = {
    "on_elicit": lambda context: context.elicit_sync("Which?"),
    "on_sample": lambda context: context.sample_sync("Which?"),
    "on_list_roots": lambda context: context.list_roots_sync(),
}
ANSWERS = {"on_elicit": "an Answer", "on_sample": "a Sample", "on_list_roots": "a list of Root"}
WRONG = {
    "None": lambda _: None,
    "another answer": lambda _: 5,
    "an error": fail,
}
Words = str | None


def ask_for(call: Call, option: str, answer: Any) -> tuple[Words, Words]:
    """Return what the model reads of a tool that asks, async and sync."""

    async def asking(context: ToolContext) -> str:
        await ASKS[option](context)
        return "answered"

    def waiting(context: ToolContext) -> str:
        SYNC_ASKS[option](context)
        return "answered"

    tools = tooler(asking, waiting)
    results = [call(tools, name, **{option: answer}) for name in ("asking", "waiting")]
    return message_of(results[0]), message_of(results[1])


def message_of(result: ToolResult) -> str | None:
    return result.error and result.error.message


@each_way
@check_each("option", ASKS)
@check_each("answer", [*WRONG.values()], ids=[*WRONG])
def test_what_is_no_answer_is_told_in_one_message(call: Call, option: str, answer: Any) -> None:
    asked, waited = ask_for(call, option, answer)
    assert asked is not None
    assert asked == waited
    assert asked.startswith((f"{option} must ", f"{option} failed: "))
    assert ANSWERS[option] in asked or "failed" in asked


@each_way
def test_an_answer_of_its_kind_is_one(call: Call) -> None:
    for option, answer in {
        "on_elicit": Answer("accept", {}),
        "on_sample": Sample("x", "model", None, []),
        "on_list_roots": [Root("file:///a")],
    }.items():

        async def later(_: object, answer: Any = answer) -> Any:
            return answer

        for ask in (
            later,
            lambda _, answer=answer: answer,
            lambda _, answer=answer: answered(answer),
        ):
            assert ask_for(call, option, ask) == (None, None)


async def test_where_nobody_answers_no_loop_is_spoken_of() -> None:
    def wait(context: ToolContext) -> None:
        context.sample_sync("x")

    tools = tooler(wait)
    words = "no model can be reached; connect a client that supports sampling"
    words += ", or set on_sample in Host"
    assert message_of(tools.call_sync("wait")) == words
    with_client = tools.call_sync("wait", on_sample=lambda _: given_up())
    assert "would stop the event loop" in (message_of(with_client) or "")
