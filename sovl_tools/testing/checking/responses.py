"""What Responses refuses, and what of its answers later requests may refer to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.testing.checking import openai_tools, requests
from sovl_tools.testing.checking.openai_shapes import RESPONSES
from sovl_tools.testing.checking.openai_tools import Function, misnamed, too_long
from sovl_tools.testing.checking.wording import of_openai
from sovl_tools.testing.memory import Memory
from sovl_tools.testing.record import Objection, Request
from sovl_tools.testing.responses import items
from sovl_tools.testing.turn import Turn

MAX_ID = 64
_PREFIXES = {"reasoning": "rs", "function_call": "fc", "message": "msg"}
_Items = list[dict[str, Any]]


def objections(request: Request, memory: Memory) -> Iterator[Objection]:
    """Yield what is refused in a request; the rules need a body of the right shape."""
    wrong = [*requests.of_openai(request)]
    if not wrong:
        wrong += _missing(request.body)
        wrong += of_openai(RESPONSES, request.body)
    yield from wrong
    if not wrong:
        yield from _of_tools(request.body)
        yield from _of_history(request.body, memory)


def _missing(body: dict[str, JSON]) -> Iterator[Objection]:
    instead = {"model": ("prompt",), "input": ("prompt", "previous_response_id", "conversation")}
    for key, others in instead.items():
        if body.get(key) is None and all(body.get(other) is None for other in others):
            yield Objection(
                f"Missing required parameter: '{key}'.", key, "missing_required_parameter"
            )


def _of_tools(body: dict[str, JSON]) -> Iterator[Objection]:
    tools = body.get("tools", ())
    functions = [
        Function(tool, f"tools[{index}]")
        for index, tool in enumerate(tools)
        if tool["type"] == "function"
    ]
    yield from openai_tools.objections(body, functions)
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice["type"] == "function":
        if choice["name"] not in [function.definition["name"] for function in functions]:
            yield Objection(
                f"Tool choice 'function' named '{choice['name']}' not found in 'tools' parameter.",
                "tool_choice",
            )
    elif choice == "required" and not tools:
        yield Objection(
            "Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice"
        )


def given(body: dict[str, JSON]) -> _Items:
    """Return the items of a request; a text is what the user says."""
    told = body.get("input") or []
    return [{"role": "user", "content": told}] if isinstance(told, str) else told


def _of_history(body: dict[str, JSON], memory: Memory) -> Iterator[Objection]:
    """Yield what does not fit together; what a ``conversation`` holds is not known here."""
    if body.get("conversation") is not None:
        return
    previous = body.get("previous_response_id")
    if previous is not None and previous not in memory.responses:
        yield Objection(
            f"Previous response with id '{previous}' not found.",
            "previous_response_id",
            "previous_response_not_found",
        )
        return
    before = memory.responses.get(previous or "", [])
    now, unknown = _resolved(given(body), memory)
    yield from unknown
    for index, item in enumerate(now):
        yield from _of_item(item, f"input[{index}]", memory)
    yield from _repeated(now)
    yield from _of_pairs([*before, *now])
    yield from _of_reasoning(before, now, memory)


def _resolved(told: _Items, memory: Memory) -> tuple[_Items, list[Objection]]:
    """Return the items with what they refer to in place of references, and those to nothing."""
    found: _Items = []
    unknown: list[Objection] = []
    for item in told:
        if item.get("type") != "item_reference":
            found.append(item)
        elif item["id"] in memory.stored:
            found.append(memory.items[item["id"]])
        else:
            unknown.append(_not_found(item["id"]))
    return found, unknown


def _not_found(identity: str) -> Objection:
    return Objection(
        f"Item with id '{identity}' not found. Items are not persisted when `store` is set to"
        " false. Try again with `store` set to true, or remove this item from your input.",
        "input",
        status=404,
    )


def _of_item(item: dict[str, Any], place: str, memory: Memory) -> Iterator[Objection]:
    kind = item.get("type", "message")
    prefix = _PREFIXES.get(kind)
    if prefix and not item.get("id", prefix).startswith(prefix):
        yield Objection(
            f"Invalid '{place}.id': '{item['id']}'. Expected an ID that begins with '{prefix}'.",
            f"{place}.id",
            "invalid_value",
        )
    if kind in ("function_call", "function_call_output"):
        yield from too_long(item["call_id"], f"{place}.call_id", MAX_ID)
    if kind == "function_call":
        yield from misnamed(item["name"], f"{place}.name")
    if kind == "reasoning":
        yield from _of_thought(item, memory)


def _of_thought(item: dict[str, Any], memory: Memory) -> Iterator[Objection]:
    """Yield that the API knows a reasoning item neither by its id nor by what it sealed in it."""
    original = memory.items.get(item["id"], {})
    sealed = item.get("encrypted_content")
    if sealed is None:
        if item["id"] not in memory.stored:
            yield _not_found(item["id"])
    elif sealed != original.get("encrypted_content"):
        yield Objection(
            f"The encrypted content for item {item['id']} could not be verified. Reason: Encrypted"
            " content could not be decrypted or parsed.",
            code="invalid_encrypted_content",
        )


def _repeated(told: _Items) -> Iterator[Objection]:
    ids = [item["id"] for item in told if item.get("id")]
    for identity in sorted({each for each in ids if ids.count(each) > 1}):
        yield Objection(
            f"Duplicate item found with id {identity}. Remove duplicate items from your input and"
            " try again.",
            "input",
        )


def _of_pairs(told: _Items) -> Iterator[Objection]:
    """Yield the calls without an output, and the outputs without a call before them."""
    waiting: list[str] = []
    for item in told:
        if item.get("type") == "function_call":
            waiting.append(item["call_id"])
        elif item.get("type") != "function_call_output":
            continue
        elif item["call_id"] in waiting:
            waiting.remove(item["call_id"])
        else:
            yield Objection(
                f"No tool call found for function call output with call_id {item['call_id']}.",
                "input",
            )
    for identity in waiting:
        yield Objection(f"No tool output found for function call {identity}.", "input")


def _of_reasoning(before: _Items, now: _Items, memory: Memory) -> Iterator[Objection]:
    """Yield items that came after reasoning and are sent without it, and the other way round."""
    known = {item.get("id") for item in before}
    for index, item in enumerate(now):
        known.add(item.get("id"))
        needed = memory.reasons.get(item.get("id", ""))
        if needed is not None and needed not in known:
            kind = item["type"]
            yield Objection(
                f"Item '{item['id']}' of type '{kind}' was provided without its required"
                f" 'reasoning' item: '{needed}'.",
                "input",
            )
        follower = now[index + 1] if index + 1 < len(now) else {}
        if item.get("type") == "reasoning" and not _is_of_model(follower):
            yield Objection(
                f"Item '{item['id']}' of type 'reasoning' was provided without its required"
                " following item.",
                "input",
            )


def _is_of_model(item: dict[str, Any]) -> bool:
    is_said = item.get("role") == "assistant"
    return is_said or item.get("type") in ("function_call", "custom_tool_call", "reasoning")


def remember(turn: Turn, memory: Memory) -> None:
    """Keep the items of an answer, stored unless the request says otherwise."""
    made = items(turn)
    thoughts = [item["id"] for item in made if item["type"] == "reasoning"]
    for item in made:
        memory.items[item["id"]] = item
        if thoughts and item["type"] != "reasoning":
            memory.reasons[item["id"]] = thoughts[0]
    if turn.request.get("store") is False:
        return
    memory.stored.update(item["id"] for item in made)
    before = memory.responses.get(turn.request.get("previous_response_id") or "", [])
    memory.responses[f"resp_{turn.number}"] = [*before, *given(turn.request), *made]
