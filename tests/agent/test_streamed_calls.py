"""Streamed calls of servers that number, name and split them in their own ways."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Agent
from tests.schema.strategies import moderate
from tests.tables import check_each

Events = list[dict[str, Any]]
_NUMBERS = count()
METHODS = {
    "openai": "chat.completions",
    "openai-responses": "responses",
    "anthropic": "messages",
}


class Wanted(NamedTuple):
    """A call that a model asks for."""

    name: str
    arguments: dict[str, Any]


class Style(NamedTuple):
    """How a server tells calls apart.

    Attributes:
        numbers: its own index for each call, 0 for all, or none.
        ids: an id in the first piece, a number in every one, a new one in every one, one for all
            calls, or none.
        names: in the first piece, in every one, or itself in pieces.
        is_object: whether arguments are sent as an object, not as text.
        is_whole: whether the last event of Responses repeats everything.
        has_ends: whether the end of each call is said.
        cuts: where names and arguments are cut.
        order: which call the next piece is from, where the calls may alternate.
        merges: how many pieces are in each chunk.
    """

    numbers: str = "own"
    ids: str = "first"
    names: str = "first"
    is_object: bool = False
    is_whole: bool = False
    has_ends: bool = True
    cuts: tuple[int, ...] = (3,)
    order: tuple[int, ...] = ()
    merges: tuple[int, ...] = (1,)

    def at(self, place: int) -> dict[str, Any]:
        return {"own": {"index": place}, "zero": {"index": 0}, "none": {}}[self.numbers]

    def identity(self, place: int, key: str = "id") -> dict[str, Any]:
        if self.ids == "none":
            return {}
        made = {"same": "call_x", "integer": place, "new": f"call_{next(_NUMBERS)}"}
        return {key: made.get(self.ids, f"call_{place}")}

    def cut(self, text: str) -> list[str]:
        found, start = [], 0
        for number in range(len(text)):
            size = self.cuts[number % len(self.cuts)]
            found.append(text[start : start + size])
            start += size
            if start >= len(text):
                break
        return found

    def arguments(self, call: Wanted) -> list[Any]:
        return [call.arguments] if self.is_object else self.cut(json.dumps(call.arguments))

    def mixed(self, queues: list[Events]) -> Iterator[dict[str, Any]]:
        """Yield the pieces of all calls, which alternate only if they can be told apart."""
        waiting, begun = [[*each] for each in queues], 0
        for number in self.order:
            place = number % min(begun + 1, len(queues))  # each call begins in its turn
            begun += place == begun
            yield from waiting[place][:1]
            del waiting[place][:1]
        for each in waiting:
            yield from each


def chat(calls: list[Wanted], style: Style) -> Events:
    queues: list[Events] = []
    for place, (name, _) in enumerate(calls):
        names = style.cut(name) if style.names == "pieces" else [name]
        functions: Events = [{"name": each} for each in names]
        functions += [{"arguments": each} for each in style.arguments(calls[place])]
        if style.names != "pieces":  # the first arguments come with the name, unless they're alone
            functions[0]["arguments"] = functions.pop(1)["arguments"] if len(functions) == 2 else ""
        pieces = []
        for number, function in enumerate(functions):
            is_named = style.names == "every"
            head = {} if number and style.ids == "first" else style.identity(place)
            made = {"name": name, **function} if is_named else function
            pieces.append({**style.at(place), **head, "function": made})
        queues.append(pieces)
    chunks: Events = []
    pieces = [*style.mixed(queues)]
    while pieces:
        size = style.merges[len(chunks) % len(style.merges)]
        chunks.append({"choices": [{"delta": {"tool_calls": pieces[:size]}}]})
        del pieces[:size]
    ending = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    return [*chunks, {"choices": [ending]}]


def responses(calls: list[Wanted], style: Style) -> Events:
    head = "response.function_call_arguments"
    queues: list[Events] = []
    output = []
    for place, call in enumerate(calls):
        index = {f"output_{key}": each for key, each in style.at(place).items()}
        item: dict[str, Any] = {"type": "function_call", "name": call.name, "arguments": ""}
        item |= style.identity(place, "call_id")
        at = {**index}
        if style.names == "every":  # items have ids of their own
            item["id"] = at["item_id"] = f"fc_{place}"
        pieces = [{"type": "response.output_item.added", **index, "item": item}]
        pieces += [{"type": f"{head}.delta", **at, "delta": each} for each in style.arguments(call)]
        text = json.dumps(call.arguments)
        whole = {**item, "arguments": call.arguments if style.is_object else text}
        if style.has_ends:
            pieces.append({"type": f"{head}.done", **at, "arguments": whole["arguments"]})
            pieces.append({"type": "response.output_item.done", **index, "item": whole})
        queues.append(pieces)
        output.append(whole)
    final = {"status": "completed", "output": output if style.is_whole else []}
    return [*style.mixed(queues), {"type": "response.completed", "response": final}]


def anthropic(calls: list[Wanted], style: Style) -> Events:
    queues: list[Events] = []
    for place, call in enumerate(calls):
        index = style.at(place)
        block = {"type": "tool_use", **style.identity(place), "name": call.name, "input": {}}
        pieces: Events = [{"type": "content_block_start", **index, "content_block": block}]
        for each in style.arguments(call):
            delta = {"type": "input_json_delta", "partial_json": each}
            pieces.append({"type": "content_block_delta", **index, "delta": delta})
        if style.has_ends:
            pieces.append({"type": "content_block_stop", **index})
        queues.append(pieces)
    start = {"type": "message_start", "message": {}}
    ending = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    return [start, *style.mixed(queues), ending, {"type": "message_stop"}]


STREAMS = {"openai": chat, "openai-responses": responses, "anthropic": anthropic}
DONE: dict[str, Events] = {
    "openai": [{"choices": [{"delta": {"content": "Done."}, "finish_reason": "stop"}]}],
    "openai-responses": [
        {
            "type": "response.completed",
            "response": {"status": "completed", "output": [], "output_text": "Done."},
        }
    ],
    "anthropic": [
        {"type": "message_start", "message": {}},
        {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Done."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ],
}


def run(provider: str, *answers: Any) -> tuple[list[Wanted], list[dict[str, Any]]]:
    """Return the calls that an agent makes of streams or plain answers, and its messages."""
    ran: list[Wanted] = []

    def add(a: int = 0, b: str = "") -> None:
        """Add."""
        ran.append(Wanted("add", {"a": a, "b": b}))

    def add_all(a: int = 0, b: str = "") -> None:
        """Add all."""
        ran.append(Wanted("add_all", {"a": a, "b": b}))

    def read_note(name: str = "") -> None:
        """Read a note."""
        ran.append(Wanted("read_note", {"name": name}))

    def delete_note(name: str = "all") -> None:
        """Delete a note."""
        ran.append(Wanted("delete_note", {"name": name}))

    script, asked = [*answers, DONE[provider]], []

    def create(**body: Any) -> Any:
        asked.append(body)
        answer = script.pop(0)
        return answer if isinstance(answer, dict) else iter(answer)

    client: Any = SimpleNamespace(create=create)
    for name in reversed(METHODS[provider].split(".")):
        client = SimpleNamespace(**{name: client})
    tools = [add, add_all, read_note, delete_note]
    agent = Agent(client, "m", provider=provider, tools=tools, parallel_calls=False)
    if isinstance(answers[0], dict):
        script[-1] = PLAIN[provider]
        agent.chat_sync("Go")
    else:
        list(agent.stream("Go"))
    assert agent.messages[-1]["content"] == "Done."
    names = [call["name"] for each in agent.messages for call in each.get("calls", ())]
    assert names == [call.name for call in ran]
    check_ids(provider, agent.messages, asked[-1])
    return ran, agent.messages


def check_ids(provider: str, messages: list[dict[str, Any]], body: dict[str, Any]) -> None:
    """Check that each call has its own id, and a result under that."""
    ids = [call["id"] for each in messages for call in each.get("calls", ())]
    assert [each["id"] for each in messages if each["role"] == "tool"] == ids
    if provider == "anthropic":
        blocks = [block for each in body["messages"] for block in each["content"]]
        sent = [each["id"] for each in blocks if each["type"] == "tool_use"]
        answered = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
    elif provider == "openai":
        sent = [call["id"] for each in body["messages"] for call in each.get("tool_calls", ())]
        answered = [each["tool_call_id"] for each in body["messages"] if each["role"] == "tool"]
    else:
        kinds = "function_call", "function_call_output"
        items = body["input"]
        sent, answered = ([e["call_id"] for e in items if e.get("type") == each] for each in kinds)
    assert sent == answered
    assert len({*sent}) == len(sent) == len(ids)


PLAIN: dict[str, Any] = {
    "openai": {"choices": [{"message": {"content": "Done."}}]},
    "openai-responses": {"output": [], "output_text": "Done."},
    "anthropic": {"content": [{"type": "text", "text": "Done."}]},
}


def plain(provider: str, calls: list[Wanted], style: Style) -> dict[str, Any]:
    """Return an answer that isn't streamed."""
    found: Events = []
    for place, (name, arguments) in enumerate(calls):
        sent = arguments if style.is_object else json.dumps(arguments)
        if provider == "openai":
            function = {"name": name, "arguments": sent}
            found.append({**style.identity(place), "type": "function", "function": function})
        elif provider == "anthropic":
            found.append({"type": "tool_use", **style.identity(place), "name": name, "input": sent})
        else:
            called = {"type": "function_call", **style.identity(place, "call_id")}
            found.append({**called, "name": name, "arguments": sent})
    if provider == "openai":
        return {"choices": [{"message": {"content": None, "tool_calls": found}}]}
    return {"content" if provider == "anthropic" else "output": found}


@st.composite
def styles(draw: st.DrawFn, provider: str) -> Style:
    style = Style(
        draw(st.sampled_from(["own", "zero", "none"])),
        draw(st.sampled_from(["first", "integer", "new", "same", "none"])),
        draw(st.sampled_from(["first", "every", "pieces"])),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
        tuple(draw(st.lists(st.integers(1, 30), min_size=1, max_size=4))),
        tuple(draw(st.lists(st.integers(0, 3), max_size=20))),
        tuple(draw(st.lists(st.integers(1, 20), min_size=1, max_size=4))),
    )
    if style.ids == "new":  # with each name begins another call
        style = style._replace(names="first")
    # where nothing tells the pieces of two calls apart, each call is sent as a whole
    is_apart = style.numbers == "own"
    is_apart |= provider == "openai-responses" and style.names == "every"
    is_apart |= provider == "openai" and style.ids == "integer"
    return style if is_apart else style._replace(order=())


wanted = st.lists(
    st.builds(
        Wanted,
        st.sampled_from(["add", "add_all"]),
        st.fixed_dictionaries({"a": st.integers(-9, 99), "b": st.text('a{}"\\', max_size=4)}),
    ),
    min_size=2,
    max_size=4,
)


@moderate
@given(calls=wanted, data=st.data(), provider=st.sampled_from([*STREAMS]))
def test_calls_are_made_as_the_model_asked_however_they_are_split(
    calls: list[Wanted], data: st.DataObject, provider: str
) -> None:
    style = data.draw(styles(provider))
    assert run(provider, STREAMS[provider](calls, style))[0] == calls


@check_each("provider", STREAMS)
@check_each("ids", ["first", "integer", "same", "none"])
@check_each("is_object", [False, True])
@check_each("is_streaming", [False, True])
def test_each_call_of_a_turn_has_an_id_of_its_own(
    provider: str, ids: str, *, is_object: bool, is_streaming: bool
) -> None:
    style = Style(ids=ids, is_object=is_object)
    calls = [Wanted("add", {"a": number, "b": "x"}) for number in range(4)]
    rounds = [calls[:2], calls[2:]]  # the second round has the ids of the first one
    answers: list[Any] = [plain(provider, each, style) for each in rounds]
    if is_streaming:
        answers = [STREAMS[provider](each, style) for each in rounds]
    assert run(provider, *answers)[0] == calls


READ, DELETE = Wanted("read_note", {"name": "a"}), Wanted("delete_note", {"name": "all"})
DELETE_A = Wanted("delete_note", {"name": "a"})


def delta(*pieces: tuple[Any, Any, str | None, Any], finish: str | None = None) -> dict[str, Any]:
    """Return a chunk with pieces of calls: index, id, name and arguments; None leaves one out."""
    found = []
    for index, identity, name, arguments in pieces:
        given = {"name": name, "arguments": arguments}
        function = {key: each for key, each in given.items() if each is not None}
        members = {"index": index, "id": identity, "function": function}
        found.append({key: each for key, each in members.items() if each is not None})
    return {"choices": [{"delta": {"tool_calls": found}, "finish_reason": finish}]}


A = '{"name":"a"}'


@check_each(
    "pieces, expected",
    [
        ([(0, "c1", "read_note", A), (0, "c2", "delete_note", "")], [READ, DELETE]),
        ([(0, "c1", "read_note", A), (0, "c1", "delete_note", "")], [READ, DELETE]),
        ([(0, None, "read_note", A), (0, None, "delete_note", "")], [READ, DELETE]),
        ([(None, "c1", "read_note", A), (None, "c2", "delete_note", None)], [READ, DELETE]),
        ([(0, "c1", "read_note", A), (0, "", "delete_note", "{}")], [READ, DELETE]),
        ([(0, 0, "read_note", A), (0, 1, "delete_note", "")], [READ, DELETE]),
        ([(0, "c1", "read_note", A), (0, "c2", None, None), (0, None, "delete_note", "")],
         [READ, DELETE]),
        ([(0, "c1", "delete_note", ""), (0, "c2", "delete_note", A)], [DELETE, DELETE_A]),
        # a name in pieces, or repeated, is one call
        ([(0, "c1", "read", ""), (0, None, "_note", ""), (0, None, None, A)], [READ]),
        ([(0, "c1", "read_note", ""), (0, None, "read_note", A)], [READ]),
        ([(0, "c1", "read_note", A), (0, None, "read_note", "")], [READ]),
        ([(0, "c1", "read_note", A), (0, "c1", "read_note", None), (0, "c1", None, "")], [READ]),
        # the name of the next call without arguments is no piece of this one's
        ([(0, "c1", "delete_note", ""), (0, None, "read_note", A)], [DELETE, READ]),
        ([(0, None, "delete_note", {}), (0, None, "read_note", {"name": "a"})], [DELETE, READ]),
        # an empty piece at the end is no call
        ([(0, "c1", "read_note", A), (1, None, None, "")], [READ]),
        ([(0, "c1", "read_note", A), (1, "c2", None, "")], [READ]),
        ([(0, "c1", None, None), (0, None, "read_note", A)], [READ]),
        ([(0, None, "read_note", ""), (0, "c1", None, A)], [READ]),
        # a new id in each piece, as some servers send
        ([(0, "x", "read_note", None), (0, "y", None, A), (0, "z", None, "")], [READ]),
        ([(0, "x", "delete_note", ""), (1, "y", "read_note", ""), (1, "z", None, A)],
         [DELETE, READ]),
        # an empty object in the place of arguments that are still to come
        ([(0, "c1", "read_note", "{}"), (0, None, None, A)], [READ]),
        ([(0, "c1", "read_note", {}), (0, None, None, '{"name":'), (0, None, None, '"a"}')],
         [READ]),
    ],
)  # fmt: skip
@check_each("is_merged", [False, True])
def test_no_call_gets_the_arguments_of_another(
    pieces: list[tuple[Any, Any, str | None, Any]], expected: list[Wanted], *, is_merged: bool
) -> None:
    chunks = [delta(*pieces)] if is_merged else [delta(each) for each in pieces]
    assert run("openai", [*chunks, delta(finish="tool_calls")])[0] == expected


@check_each("provider", ["openai-responses", "anthropic"])
@check_each("numbers", ["zero", "none"])
@check_each("ids", ["first", "same", "none"])
@check_each("expected", [[READ, DELETE], [DELETE, READ]])
def test_no_block_or_item_gets_the_arguments_of_another(
    provider: str, numbers: str, ids: str, expected: list[Wanted]
) -> None:
    style = Style(numbers, ids, has_ends=False)
    calls = [Wanted("delete_note", {}) if each == DELETE else each for each in expected]
    events = STREAMS[provider](calls, style)
    kept = [each for each in events if "{}" not in (each.get("delta"), _partial(each))]
    assert len(kept) == len(events) - 1
    assert run(provider, kept)[0] == expected


def _partial(event: dict[str, Any]) -> Any:
    found = event.get("delta")
    return found.get("partial_json") if isinstance(found, dict) else None
