"""What the APIs reject in a request: the errors are ours, the rules are theirs.

Where an API's decision is undocumented, the request is rejected: two outputs of one call, and an
item whose reasoning is missing where it wasn't stored (Responses).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON, dotted
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import Validator, explanations
from sovl_tools.testing import request_schemas
from sovl_tools.testing.script import Memory, Request
from sovl_tools.testing.tool_schemas import faults, over_limits

_Objects = list[dict[str, Any]]


class Objection(NamedTuple):
    """Why the API would reject a request, and the status of its answer."""

    message: str
    status: int = 400


@cache
def _validator(name: str) -> Validator:
    return compile_schema(getattr(request_schemas, name))


def _misshapen(request: Request, schema: str) -> Iterator[Objection]:
    """Yield the problems of a body's form, without which the other checks can't begin."""
    for path, words in explanations(_validator(schema).problems(request.body), lambda _path: ()):
        yield Objection(f"{dotted(path)}: {words.replace('a parameter', 'a known key')}")


def _no_key(request: Request, *headers: str) -> Iterator[Objection]:
    given = (request.headers.get(each, "").removeprefix("Bearer").strip() for each in headers)
    if not any(given):
        yield Objection(f"an API key is missing: give it in the header {headers[0]!r}", 401)


def of_chat_completions(request: Request, _memory: Memory) -> Iterator[Objection]:
    """Yield the objections of Chat Completions."""
    wrong = [*_no_key(request, "authorization"), *_misshapen(request, "CHAT")]
    yield from wrong
    if wrong:
        return
    body = request.body
    named = [each["function"] for each in body.get("tools", ()) if each["type"] == "function"]
    yield from _of_openai_tools(named)
    yield from _of_choice(body, named, ("none",))
    if body.get("stream_options") and not body.get("stream"):
        yield Objection("stream_options: they're only allowed with 'stream'")
    # answers can be in any order, but must follow their calls directly
    messages: _Objects = body["messages"]
    starts = [i for i, each in enumerate(messages) if not i or each["role"] != "tool"]
    for start, end in pairwise([*starts, len(messages)]):
        calls = [each["id"] for each in messages[start].get("tool_calls") or ()]
        answers = [each["tool_call_id"] for each in messages[start:end] if "tool_call_id" in each]
        yield from _unpaired(calls, answers, f"messages[{start}]")


def of_responses(request: Request, memory: Memory) -> Iterator[Objection]:
    """Yield the objections of Responses."""
    wrong = [*_no_key(request, "authorization"), *_misshapen(request, "RESPONSES")]
    yield from wrong
    if wrong:
        return
    body = request.body
    named = [each for each in body.get("tools", ()) if each["type"] == "function"]
    yield from _of_openai_tools(named)
    yield from _of_choice(body, named, ("none", "auto"))
    items: _Objects = body["input"] if isinstance(body.get("input"), list) else []
    is_continued = body.get("conversation") or body.get("previous_response_id")
    # what was said before, or elsewhere, isn't known here
    if is_continued or any(each.get("type") == "item_reference" for each in items):
        return
    calls = [each["call_id"] for each in items if each.get("type") == "function_call"]
    outputs = [each["call_id"] for each in items if each.get("type") == "function_call_output"]
    yield from _unpaired(calls, outputs, "input")
    yield from _of_reasoning(items, memory)


def _of_reasoning(items: _Objects, memory: Memory) -> Iterator[Objection]:
    """Yield unknown reasoning, and items of one answer that are sent without the others."""
    known: set[str] = set()
    for item, follower in pairwise([*items, {}]):
        identity = item.get("id", "")
        known.add(identity)
        before = memory.thought_before.get(identity)
        if before is not None and before not in known:
            yield Objection(f"the item {identity!r} lacks the reasoning before it, {before!r}")
        if item.get("type") != "reasoning":
            continue
        if memory.thoughts.get(identity) != (item.get("encrypted_content") or ""):
            words = "isn't stored, and its encrypted content isn't the original one"
            yield Objection(f"the reasoning {identity!r} {words}", 404)
        if follower.get("role") != "assistant" and follower.get("type") not in _OF_MODEL:
            yield Objection(f"the reasoning {identity!r} lacks the item that followed it")


_OF_MODEL = ("function_call", "custom_tool_call", "reasoning")


def _of_openai_tools(functions: _Objects) -> Iterator[Objection]:
    for each in functions:
        schema, is_strict = each.get("parameters"), each.get("strict") is True
        if schema is not None:
            for fault in faults(schema, of_openai=True, strict=is_strict):
                yield Objection(f"invalid schema for function {each['name']!r}: {fault}")
    yield from _repeated(each["name"] for each in functions)


def _repeated(names: Iterable[str]) -> Iterator[Objection]:
    for name, count in Counter(names).items():
        if count > 1:
            yield Objection(f"tools: {count} have the name {name!r}")


def _of_choice(body: dict[str, JSON], tools: _Objects, free: Container[str]) -> Iterator[Objection]:
    """Yield a choice that none of the tools can meet; some choices need no tools at all."""
    choice: Any = body.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if kind is None:
        return
    if not body.get("tools") and kind not in free:
        yield Objection("tool_choice: it's only allowed with tools")
    elif kind in {"function", "tool"}:
        name = choice.get("function", choice).get("name")
        if all(each.get("name") != name for each in tools):
            yield Objection(f"tool_choice: there's no tool {name!r}")


def _unpaired(calls: list[str], outputs: list[str], place: str) -> Iterator[Objection]:
    """Yield calls without an output, and outputs without a call."""
    for identity in Counter(calls) - Counter(outputs):
        yield Objection(f"{place}: there's no output for the call {identity!r}")
    for identity in Counter(outputs) - Counter(calls):
        yield Objection(f"{place}: there's no call for the output {identity!r}")


def of_messages(request: Request, memory: Memory) -> Iterator[Objection]:
    """Yield the objections of Anthropic's Messages."""
    wrong = [*_no_key(request, "x-api-key", "authorization")]
    if "anthropic-version" not in request.headers:
        wrong.append(Objection("the header 'anthropic-version' is missing"))
    wrong += _misshapen(request, "MESSAGES")
    yield from wrong
    if wrong:
        return
    body = request.body
    tools: _Objects = body.get("tools", [])
    yield from _of_anthropic_tools(tools)
    yield from _repeated(each["name"] for each in tools)
    yield from _of_choice(body, tools, ("none",))
    turns = _turns_of(body["messages"])
    if turns[0].role == "assistant":
        yield Objection("messages[0]: the first must have the role 'user'")
    if not all(each["content"] for each in body["messages"][:-1]):
        yield Objection("messages: only the last message of the assistant can be empty")
    for turn, after in pairwise([_Turn(0, "", []), *turns, _Turn(0, "", [])]):
        uses = [each["id"] for each in turn.blocks if each["type"] == "tool_use"]
        # results come first in the turn behind the uses, before any text
        ordered = sorted(after.blocks, key=lambda each: each["type"] != "tool_result")
        results = [each["tool_use_id"] for each in ordered if each["type"] == "tool_result"]
        yield from _unpaired(uses, results, f"messages[{turn.start}]")
        if results and ordered != after.blocks:
            yield Objection(f"messages[{after.start}]: results must be before anything else")
    yield from _of_thinking(turns, body, memory)


def _of_anthropic_tools(tools: _Objects) -> Iterator[Objection]:
    custom = [each for each in tools if each.get("type") in {None, "custom"}]
    for each in custom:
        name, schema, is_strict = each["name"], each["input_schema"], each.get("strict") is True
        wrong = [*faults(schema, of_openai=False, strict=is_strict)]
        yield from (Objection(f"invalid input_schema of {name!r}: {fault}") for fault in wrong)
        examples = each.get("input_examples", ())
        if examples and not wrong and not all(map(compile_schema(schema).is_valid, examples)):
            yield Objection(f"the tool {name!r} has an example that its input_schema rejects")
    strict = [each["input_schema"] for each in custom if each.get("strict") is True]
    yield from map(Objection, over_limits(strict))


class _Turn(NamedTuple):
    """The turn of one side: the index of its first message, whose it is, and all its content."""

    start: int
    role: str
    blocks: _Objects


def _turns_of(messages: _Objects) -> list[_Turn]:
    """Return the turns; the system's belong to the user's before them."""
    turns: list[_Turn] = []
    for index, message in enumerate(messages):
        content, role = message["content"], message["role"].replace("system", "user")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if turns and turns[-1].role == role:
            turns[-1].blocks.extend(blocks)
        else:
            turns.append(_Turn(index, role, [*blocks]))
    return turns


def _of_thinking(turns: list[_Turn], body: dict[str, JSON], memory: Memory) -> Iterator[Objection]:
    """Yield thinking that was changed, and a last tool use whose thinking isn't there.

    Thinking of earlier turns can be omitted, and all of it where the request disables it.
    """
    spoken = [turn for turn in turns if turn.role == "assistant"]
    thoughts = [each for turn in spoken for each in turn.blocks if each["type"] == "thinking"]
    for each in thoughts:
        if memory.thoughts.get(each["signature"]) != each["thinking"]:
            yield Objection("messages: a block of type 'thinking' doesn't fit its signature")
    if not spoken or body.get("thinking", {}).get("type") == "disabled":
        return
    blocks = spoken[-1].blocks
    needed = {memory.thought_before.get(each.get("id", "")) for each in blocks} - {None}
    if needed and blocks[0].get("signature") not in needed:
        words = "must begin with its thinking, as in the original answer"
        yield Objection(f"messages[{spoken[-1].start}]: the last turn of the assistant {words}")
