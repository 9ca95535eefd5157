"""OpenAI's Responses.

Source: OpenAI's guide "Function calling", its API reference (responses, streaming events), and the
types of its SDK. A conversation is sent as a whole each time; the items of earlier answers,
reasoning among them, are sent back unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from operator import attrgetter
from typing import Any

from sovl_tools.agent.answer import (
    Answer,
    Call,
    Message,
    Prompt,
    Stop,
    request_body,
    to_dict,
    usage_of,
)
from sovl_tools.agent.errors import NO_ANSWER, reported_error
from sovl_tools.agent.history import (
    arguments_piece,
    arguments_text,
    call_ids,
    calls_of,
    id_text,
    items_of,
    output_of,
    with_all_results,
    with_calls,
)
from sovl_tools.formats.messages import (
    Made,
    openai_responses,
    parts,
    responses_picture,
    responses_text,
)
from sovl_tools.model.document import JSON

NAME = FORMAT = "openai-responses"

_OWN = (NAME,)


STREAM = {"stream": True}

method = attrgetter("responses.create")


def body(prompt: Prompt) -> dict[str, Any]:
    """Return the body of a request to Responses."""
    messages = with_all_results(prompt.messages, _OWN)
    is_stored = prompt.options.get("store") is not False  # which the API does by default
    items = [item for each in messages for item in _items(each, is_stored=is_stored)]
    request: dict[str, Any] = {"input": items}
    if prompt.instructions:
        request["instructions"] = prompt.instructions
    return request_body(request, prompt, lambda name: {"type": "function", "name": name})


def _items(message: Message, *, is_stored: bool) -> Iterator[Made]:
    own = items_of(message, _OWN)
    if message["role"] == "user":
        content = parts(message["content"], responses_text, responses_picture)
        yield {"role": "user", "content": content}
    elif message["role"] == "tool":
        yield openai_responses(output_of(message))
    elif own:
        for item in with_calls(own, calls_of(message), _is_call, "call_id"):
            if is_stored:
                yield item
            elif item["type"] != "reasoning":
                # without the id of an item that the API has stored
                yield {key: each for key, each in item.items() if key != "id"}
            # The item has its reasoning only if encrypted content was requested.
            elif item.get("encrypted_content"):
                yield item
    else:
        if message["content"]:
            yield {"role": "assistant", "content": message["content"]}
        for call in calls_of(message):
            known = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
            yield {"type": "function_call", **known}


def _is_call(item: Made) -> bool:
    return bool(item["type"] == "function_call")


def parse_answer(response: Any) -> Answer:
    """Return an answer of Responses in our words.

    Raises:
        ProviderError: it failed, or there isn't one.
    """
    response = to_dict(response)
    if response.get("status") in {"failed", "cancelled"}:
        raise reported_error(response.get("error") or f"the answer is {response['status']}")
    items, whole_text = response.get("output"), response.get("output_text") or ""
    if items is None and not whole_text:
        raise reported_error(response.get("error") or NO_ANSWER)
    # Some servers send null for an unknown id or status, and no server takes it back.
    items = [{key: part for key, part in each.items() if part is not None} for each in items or ()]
    called = [each for each in items if _is_call(each)]
    for each, identity in zip(called, call_ids(map(_given_id, called)), strict=True):
        each |= {"call_id": identity, "arguments": arguments_text(each.get("arguments"))}
        if "id" in each:
            each["id"] = id_text(each["id"])
    calls = tuple(Call(each["call_id"], each.get("name", ""), each["arguments"]) for each in called)
    said = [part for each in items if each["type"] == "message" for part in each["content"]]
    texts = [part.get("text") or part.get("refusal") or "" for part in said]
    is_refusal = any(part["type"] == "refusal" for part in said)
    stop: Stop = "calls" if calls else "end"
    if is_refusal or (response.get("incomplete_details") or {}).get("reason") == "content_filter":
        stop = "refusal"
    elif response.get("status") == "incomplete":  # calls or not: arguments can be cut off
        stop = "length"
    # output_text is the SDK's own joining; from a compatible server it can be all there is.
    text = "".join(texts) or whole_text
    return Answer(
        text,
        calls,
        stop,
        tuple(items),
        usage_of(response.get("usage"), "input_tokens", "output_tokens"),
    )


def _given_id(called: Made) -> JSON:
    return called.get("call_id") or called.get("id")


_ENDS = {"response.completed", "response.incomplete", "response.failed"}
_DELTAS = {"response.output_text.delta", "response.refusal.delta"}
_ITEMS = {"response.output_item.added", "response.output_item.done"}
_ARGUMENTS = {"response.function_call_arguments.delta", "response.function_call_arguments.done"}


class Draft:
    """An answer that is coming in; the last event has the whole of it, except on some servers."""

    def __init__(self, _offered: Collection[str] = ()) -> None:
        self.text = ""
        self._whole: Any = None
        self._items: list[tuple[JSON, Made]] = []

    def feed(self, chunk: Any) -> str:
        """Take one event in; return the text that it adds."""
        # Only the parts that are needed are read: the last event has the whole answer in it.
        part: Callable[[str], Any] = (
            chunk.get if isinstance(chunk, dict) else lambda name: getattr(chunk, name, None)
        )
        kind = part("type")
        if kind in _ENDS:
            self._whole = part("response")
        elif kind == "error":
            raise reported_error({"message": part("message"), "code": part("code")})
        elif kind in _DELTAS:
            delta: Any = part("delta")
            self.text += delta
            return str(delta)
        elif kind in _ITEMS:
            index, item = part("output_index"), to_dict(part("item"))
            known = None if kind.endswith("added") else self._known(index, item.get("id"))
            if known is None:
                self._items.append((index, item))
            else:
                known |= {key: each for key, each in item.items() if each not in (None, "")}
        elif kind in _ARGUMENTS:
            called = self._known(part("output_index"), part("item_id")) or {}
            before, whole = arguments_piece(called.get("arguments")), part("arguments")
            called["arguments"] = whole or before + arguments_piece(part("delta"))
        return ""

    def _known(self, index: JSON, identity: JSON) -> Made | None:
        """Return the last item of that index and id, as far as it and the event have them."""
        near = [item for number, item in self._items if None in (index, number) or index == number]
        near = [item for item in near if not (identity and item.get("id", identity) != identity)]
        # some servers number every item 0
        near = near or [each for _, each in self._items if identity and each.get("id") == identity]
        return near[-1] if near else None

    def answer(self) -> Answer | None:
        """Return the answer."""
        # a stream can end in order without any of the three ends
        if self._whole is None:
            return None
        whole = to_dict(self._whole)
        if self._items and not whole.get("output") and whole.get("status") != "failed":
            whole |= {"output": [item for _, item in self._items], "output_text": self.text}
        return parse_answer(whole)
