"""The messages of a conversation, as JSON that no provider owns.

    {"role": "user", "content": "Add 5 and 3."}
    {"role": "assistant", "content": "", "calls": [{"id": …, "name": …, "arguments": "{…}"}],
     "provider": "anthropic", "items": […]}
    {"role": "tool", "id": …, "name": …, "content": "8", "is_error": false}

``calls`` are there only if there are any, and each is answered by a message of the role ``tool``
before anyone else speaks. ``items`` are the answer in the words of the provider that gave it, for
provider: signatures of reasoning are in them. The content of a user or a tool is a string or
a list of content blocks of the Model Context Protocol (``{"type": "text", …}``, ``{"type": "image",
…}``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from itertools import takewhile
from secrets import token_hex
from typing import TypeAlias

from sovl_tools.agent.answer import Answer, Call, Message
from sovl_tools.formats.base import estimate
from sovl_tools.formats.messages import CallOutput, as_text, content_of
from sovl_tools.model.caller import check_count
from sovl_tools.model.content import cut_characters
from sovl_tools.model.document import JSON
from sovl_tools.model.result import ToolResult

TrimPolicy: TypeAlias = Callable[[list[Message]], list[Message]]
"""From a conversation to the part of it that is kept."""

LOST = "the result of this call is lost"


def assistant_message(answer: Answer, provider: str) -> Message:
    """Return the message of a model's answer."""
    message: Message = {"role": "assistant", "content": answer.text}
    if answer.calls:
        message["calls"] = [call._asdict() for call in answer.calls]
    if answer.items:
        message |= {"provider": provider, "items": list(answer.items)}
    return message


def tool_message(call: Call, result: ToolResult, most: int | None = None) -> Message:
    """Return the outcome of a call, for the model: strings of more characters are cut."""
    content = content_of(result)
    if most is not None and isinstance(content, str):
        content = cut_characters(content, most)
    elif most is not None:
        content = [_cut_block(block, most) for block in content]
    return _tool_message(call, content, is_error=result.error is not None)


def _cut_block(block: dict[str, JSON], most: int) -> dict[str, JSON]:
    """Return a block with less text, which is in itself or in its resource."""
    if "text" in block:
        return {**block, "text": cut_characters(block["text"], most)}
    return (
        {**block, "resource": _cut_block(block["resource"], most)} if "resource" in block else block
    )


def unpacked(answer: Answer, known: Container[str]) -> Answer:
    """Return an answer with the calls inside ``multi_tool_use.parallel`` instead.

    OpenAI's models make that call from their training, though no tool of the name is among
    the offered ones. The provider's own form of the answer has it as one call, and isn't kept.
    """
    calls: list[Call] = []
    for call in answer.calls:
        is_wrapper = call.name not in known and _PARALLEL.fullmatch(call.name)
        calls += (_inner_calls(call) if is_wrapper else None) or [call]
    is_same = tuple(calls) == answer.calls
    return answer if is_same else answer._replace(calls=tuple(calls), items=())


def _inner_calls(wrapper: Call) -> list[Call]:
    """Return the calls in the arguments of a wrapper; none if anything in them is odd."""
    uses = arguments_of(wrapper.arguments).get("tool_uses")
    calls: list[Call] = []
    for number, use in enumerate(uses if isinstance(uses, list) else ()):
        name = use.get("recipient_name") if isinstance(use, dict) else None
        if not isinstance(name, str):
            return []
        arguments = arguments_text(use.get("parameters"))
        calls.append(Call(f"{wrapper.id}_{number}", name.removeprefix("functions."), arguments))
    return calls


_PARALLEL = re.compile(r"(.*[.:/])?multi_tool_use[._]parallel", re.DOTALL)


def unmade_call(call: Call, reason: str) -> Message:
    """Return that a call was not made, and why."""
    return _tool_message(call, reason, is_error=True)


def _tool_message(call: Call, content: JSON, *, is_error: bool) -> Message:
    known = {"id": call.id, "name": call.name, "content": content, "is_error": is_error}
    return {"role": "tool", **known}


def arguments_piece(piece: JSON) -> str:
    """Return a piece of streamed arguments as text; some servers send JSON values."""
    return piece if isinstance(piece, str) else "" if piece is None else as_text(piece)


def arguments_text(arguments: JSON) -> str:
    """Return the arguments of a call as text; some servers send JSON values, or none."""
    return arguments if arguments and isinstance(arguments, str) else as_text(arguments or {})


def call_ids(given: Iterable[JSON]) -> list[str]:
    """Return an id for each call of an answer, made from the server's ids.

    Some servers send none, a number, or one id for several calls; each result needs its own.
    """
    found: list[str] = []
    for each in given:
        identity = id_text(each)
        is_new = identity and identity not in found
        found.append(identity if is_new else f"call_{token_hex(8)}")
    return found


def id_text(identity: JSON) -> str:
    """Return an id as text; some servers send numbers. "" if it is neither."""
    is_id = isinstance(identity, str | int) and not isinstance(identity, bool)
    return str(identity) if is_id else ""


def text_of(content: JSON) -> str:
    """Return the text of a content."""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block.get("type") == "text")


def output_of(message: Message) -> CallOutput:
    """Return the content of a tool's message, for the provider's own form."""
    is_error = bool(message.get("is_error"))
    return CallOutput(message["name"], message["id"], message["content"], is_error)


def calls_of(message: Message) -> list[Call]:
    """Return the calls of a message."""
    return [Call(each["id"], each["name"], each["arguments"]) for each in message.get("calls", ())]


def with_all_results(messages: Sequence[Message], own: Collection[str] = ()) -> list[Message]:
    """Return a conversation in which every call is answered once, where it was made.

    Answers without a call are omitted; a call without an answer gets one with that message. Ids
    that occur twice are replaced, and so are ids and names that some provider rejects. The messages
    sent in a provider's own words keeps its ids, unless they come twice.

    Args:
        messages: the conversation.
        own: the names of the providers whose items are sent back unchanged.
    """
    conversation: list[Message] = []
    kept = (each for each in messages if items_of(each, own))
    reserved = {call.id for each in kept for call in calls_of(each)}
    taken: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] == "tool":  # taken in with the calls that it answers
            continue
        calls, fitting = calls_of(message), []
        is_own = bool(items_of(message, own))
        for call in calls:
            identity = call.id
            is_fit = is_own or (identity not in reserved and _ID.fullmatch(identity))
            if identity in taken or not is_fit:
                # Counted, not random: so each request repeats the one before, as caches want.
                number = len(taken)
                while f"call_{number}" in taken | reserved:
                    number += 1
                identity = f"call_{number}"
            taken.add(identity)
            fitting.append(call._replace(id=identity, name=fitted_name(call.name)))
        if fitting != calls:
            message = {**message, "calls": [call._asdict() for call in fitting]}  # noqa: PLW2901 - a copy
        conversation.append(message)
        following = takewhile(lambda each: each["role"] == "tool", messages[index + 1 :])
        conversation += _answers(calls, fitting, list(following))
    return conversation


def items_of(message: Message, own: Collection[str]) -> list[JSON]:
    """Return a message in the words of one of those providers, or None."""
    is_own = message.get("provider") in own
    found: list[JSON] = message.get("items") or [] if is_own else []
    return found


def with_calls(
    items: Iterable[JSON], calls: Iterable[Call], is_call: Callable[[JSON], bool], key: str
) -> Iterator[dict[str, JSON]]:
    """Yield items whose calls have the ids, under a key, and the names as they can be sent back."""
    following = iter(calls)
    for item in items:
        call = next(following, None) if is_call(item) else None
        if call is not None:
            yield {**item, key: call.id, "name": call.name}
        else:
            yield {**item, "name": fitted_name(item["name"])} if is_call(item) else item


def fitted_name(name: str) -> str:
    """Return the name of a tool that a model has called as every provider takes it."""
    return _UNFIT.sub("_", name)[:_LONGEST_NAME] or "_"


_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
# The limits of all providers: OpenAI's 40 characters of an id, and Anthropic's character set.
_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_LONGEST_NAME = 64


def _answers(
    calls: Sequence[Call], fitting: Sequence[Call], results: list[Message]
) -> Iterator[Message]:
    """Yield the result of each call, under the id that the call has got."""
    for call, fit in zip(calls, fitting, strict=True):
        found = next((each for each in results if each["id"] == call.id), None)
        if found is None:
            yield unmade_call(fit, LOST)
        else:
            results.remove(found)  # an id can come twice, and each result answers one call
            yield found if fit == call else {**found, "id": fit.id, "name": fit.name}


def answer_open_calls(messages: list[Message], reason: str) -> None:
    """Answer the calls at the end of a conversation that have no answer yet."""
    # The results of one answer's calls come right behind it, so the last other message has them.
    last = next((i for i in reversed(range(len(messages))) if messages[i]["role"] != "tool"), None)
    if last is not None:
        known = {each["id"] for each in messages[last + 1 :]}
        missing = [call for call in calls_of(messages[last]) if call.id not in known]
        messages.extend(unmade_call(call, reason) for call in missing)


def parse_messages(messages: JSON) -> list[Message]:
    """Return a conversation that was read from somewhere.

    Raises:
        ValueError: it isn't one; the message says where it is wrong.
    """
    if not isinstance(messages, list):
        raise ValueError("a conversation must be a list of messages")  # noqa: TRY004 - our callers expect it
    for index, message in enumerate(messages):
        known = message if isinstance(message, dict) else {}
        is_known = known.get("role") in ("user", "assistant", "tool")
        if not is_known or not isinstance(known.get("content"), str | list):
            words = "must have the role user, assistant or tool, and a content"
            raise ValueError(f"message {index} {words}")
    return messages


def arguments_of(text: str) -> dict[str, JSON]:
    """Return the arguments of a call as an object; an empty one if the text isn't an object."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):  # nested deeper than Python's stack
        return {}
    return arguments if isinstance(arguments, dict) else {}


def last_turns(count: int) -> TrimPolicy:
    """Keep the last turns.

    Raises:
        TypeError: the number isn't a whole one.
        ValueError: it is below 0.
    """
    check_count("the number of turns", count, least=0)

    def policy(messages: list[Message]) -> list[Message]:
        turns = _turns(messages)
        # From the front: turns[-0:] would be all of them.
        kept = turns[max(0, len(turns) - count) :]
        return [message for turn in kept for message in turn]

    return policy


def last_tokens(count: int) -> TrimPolicy:
    """Keep as many of the last whole turns as a number of tokens allows, by estimate.

    Raises:
        TypeError: the number isn't a whole one.
        ValueError: it is below 0.
    """
    check_count("the number of tokens", count, least=0)

    def policy(messages: list[Message]) -> list[Message]:
        kept: list[Message] = []
        left = count
        for turn in reversed(_turns(messages)):
            left -= sum(map(estimate, turn))
            if left < 0:
                break
            kept = [*turn, *kept]
        return kept

    return policy


def _turns(messages: list[Message]) -> list[list[Message]]:
    """Return a conversation in pieces; all but the first begin with a user's message."""
    turns: list[list[Message]] = []
    for message in messages:
        if message["role"] == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns
