"""What the adapters make of answers that the scripted server does not give: those of compatible
servers, and odd ones of the providers themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from sovl_tools import ToolRegistry
from sovl_tools.agent.answer import Answer, Prompt, Usage, check_answer
from sovl_tools.agent.errors import ProviderError
from sovl_tools.agent.history import assistant_message
from sovl_tools.agent.providers import anthropic, chat_completions, responses
from tests.tables import check_each


def prompt(*messages: Any, options: dict[str, Any] | None = None) -> Prompt:
    return Prompt("m", (), list(messages), [], "auto", options or {}, ToolRegistry(), ())


def chat(message: dict[str, Any], reason: str | None = "stop", **more: Any) -> Answer:
    return chat_completions.parse_answer(
        {"choices": [{"message": message, "finish_reason": reason}], **more}
    )


def chat_streamed(*deltas: dict[str, Any], reason: str | None = "stop") -> Answer:
    draft = chat_completions.Draft()
    for delta in deltas:
        draft.feed({"choices": [{"delta": delta}]})
    draft.feed({"choices": [{"delta": {}, "finish_reason": reason}]})
    draft.feed({"choices": None, "usage": None})
    return check_answer(draft.answer())


def called(identity: str | None, arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "type": "function",
        "function": {"name": "add", "arguments": arguments},
        **more,
    }


def test_calls_without_ids_or_with_the_same_get_their_own() -> None:
    answer = chat(
        {
            "content": None,
            "tool_calls": [called(None), called("a"), called("a"), {"type": "custom"}],
        }
    )
    ids = [call.id for call in answer.calls]
    assert len(set(ids)) == 3
    assert all(ids)
    assert ids[1] == "a"
    assert answer.stop == "calls"


def test_arguments_may_come_as_an_object_or_not_at_all() -> None:
    answer = chat({"tool_calls": [called("a", {"a": 1}), called("b", None)]})
    assert [call.arguments for call in answer.calls] == ['{"a": 1}', "{}"]


def test_content_may_come_in_parts() -> None:
    parts = [
        {"type": "text", "text": "Good "},
        {"type": "thinking"},
        {"type": "text", "text": "day"},
    ]
    assert chat({"content": parts}).text == "Good day"
    assert chat_streamed({"content": parts}).text == "Good day"


def test_an_error_in_place_of_an_answer_is_one() -> None:
    with pytest.raises(ProviderError, match="no credits"):
        chat_completions.parse_answer({"error": {"message": "no credits", "code": 402}})
    with pytest.raises(ProviderError, match="there's no answer in the response"):
        chat_completions.parse_answer({"choices": []})
    with pytest.raises(ProviderError, match="no credits"):
        chat_completions.Draft().feed({"error": {"message": "no credits"}, "choices": []})


DETAILS = [{"type": "reasoning.encrypted", "data": "x"}]
EXTRA = {"google": {"thought_signature": "y"}}


@check_each("provider", ["openai", "openrouter"])
@check_each("answered", [chat, chat_streamed], ids=["plain", "streaming"])
def test_what_a_compatible_server_needs_back_is_sent_back(provider: str, answered: Any) -> None:
    answer = answered(
        {
            "content": "So",
            "reasoning_details": DETAILS,
            "reasoning_content": "Hm",
            "tool_calls": [called("a", '{"a', extra_content=EXTRA), called("b")],
        }
    )
    message = assistant_message(answer, provider)
    sent = chat_completions.body(prompt(message))["messages"][0]
    assert sent["content"] == "So"
    assert (sent["reasoning_details"], sent["reasoning_content"]) == (DETAILS, "Hm")
    first, second = sent["tool_calls"]
    assert (first["id"], first["extra_content"]) == ("a", EXTRA)
    assert first["function"] == {"name": "add", "arguments": "{}"}
    assert "extra_content" not in second
    elsewhere = chat_completions.body(prompt(assistant_message(answer, "other")))["messages"][0]
    assert "reasoning" not in str(elsewhere)


def _responses(*items: dict[str, Any], **options: Any) -> list[Any]:
    message = assistant_message(Answer("", (), "end", items), "openai-responses")
    sent: list[Any] = responses.body(prompt(message, options=options))["input"]
    return sent


def test_items_that_are_not_stored_are_sent_without_the_ids_to_look_them_up_by() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    sealed = {**thought, "id": "rs_2", "encrypted_content": "x"}
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "a",
        "name": "add.it",
        "arguments": "",
    }
    named = {**call, "name": "add_it"}
    assert _responses(thought, sealed, call) == [thought, sealed, named]
    del named["id"]
    assert _responses(thought, sealed, call, store=False) == [sealed, named]


def test_options_that_a_client_does_not_know_go_into_the_body() -> None:
    options = {"top_k": 5, "max_tokens": 9, "timeout": 3, "extra_body": {"seed": 1}}
    body = anthropic.body(prompt(options=options))
    assert body["extra_body"] == {"top_k": 5, "seed": 1}
    assert (body["max_tokens"], body["timeout"]) == (9, 3)
    assert "extra_body" not in anthropic.body(prompt())


def _message(*blocks: dict[str, Any], **ending: Any) -> Answer:
    return anthropic.parse_answer({"content": list(blocks), **ending})


def _streamed_message(events: Iterable[dict[str, Any]]) -> Answer:
    draft = anthropic.Draft()
    for event in events:
        draft.feed(event)
    return check_answer(draft.answer())


def _delta(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, **more}}


def test_citations_and_unknown_deltas_of_a_stream_are_taken_in() -> None:
    cited = {"type": "char_location", "cited_text": "a"}
    block = {"type": "text", "text": "", "citations": None}
    usage = {"output_tokens": 3, "input_tokens": None}
    answer = _streamed_message(
        [
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            _delta("odd_delta"),
            _delta("text_delta", text="a"),
            _delta("citations_delta", citation=cited),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
            {"type": "message_stop"},
        ]
    )
    known = {"type": "text", "text": "a", "citations": [cited]}
    assert answer == Answer("a", (), "end", (known,), Usage(0, 3, 0, 1))
