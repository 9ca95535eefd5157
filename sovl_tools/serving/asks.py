"""What running calls ask the clients of the JSON API, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from secrets import token_urlsafe
from typing import Any, NamedTuple

from sovl_tools.model.client_requests import (
    REQUEST_KINDS,
    Answer,
    Approval,
    ApprovalRequest,
    HostRequest,
    Question,
    Root,
    RootsRequest,
    Sample,
    SampleRequest,
)
from sovl_tools.model.document import JSON, dotted
from sovl_tools.model.host import Host
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import describe


class Ask(NamedTuple):
    """A request of a running call to its client.

    Attributes:
        id: names the request in ``/answers/{id}``; it can't be guessed.
        request: what is asked.
    """

    id: str
    request: HostRequest

    def to_json(self) -> dict[str, JSON]:
        """Return the request as clients get it."""
        kind, values = _KINDS[type(self.request)], self.request._asdict()
        if values.get("url"):
            kind = kind._replace(name="open", fields=("message", "url"))
        found = {"id": self.id, "tool": self.request.tool, "kind": kind.name}
        return {**found, **{name: values[name] for name in kind.fields}}


class _Kind(NamedTuple):
    """A kind of request: its name for clients, the fields that they get, and what they answer."""

    name: str
    fields: tuple[str, ...]
    answer: dict[str, JSON]


_TEXT = {"type": "string"}
_ROOT = {"type": "object", "properties": {"uri": _TEXT, "name": _TEXT}, "required": ["uri"]}
_ACTION = {"enum": ["accept", "decline", "cancel"]}
_KINDS: Mapping[type[HostRequest], _Kind] = {
    Question: _Kind(
        "elicit", ("message", "schema"), {"action": _ACTION, "content": {"type": "object"}}
    ),
    ApprovalRequest: _Kind(
        "approve", ("arguments",), {"approved": {"type": "boolean"}, "reason": _TEXT}
    ),
    SampleRequest: _Kind(
        "sample",
        ("messages", "max_tokens", "system_prompt", "temperature", "stop_sequences"),
        {"text": _TEXT, "model": _TEXT, "stop_reason": _TEXT},
    ),
    RootsRequest: _Kind("roots", (), {"roots": {"type": "array", "items": _ROOT}}),
}
"""The first property of each answer is required."""


class Asks:
    """The requests that wait for their answers."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Ask, Future[Any]]] = {}

    def host(self, on_ask: Callable[[Ask], object]) -> Host:
        """Return the host of a call; ``on_ask`` gets its requests, in any thread."""
        ask = partial(self._ask, on_ask)
        return Host(on_elicit=ask, on_sample=ask, on_list_roots=ask, on_approve=ask)

    def _ask(self, on_ask: Callable[[Ask], object], request: HostRequest) -> Future[Any]:
        ask, future = Ask(token_urlsafe(16), request), Future[Any]()
        self._open[ask.id] = ask, future
        # answered, or cancelled with the call
        future.add_done_callback(lambda _: self._open.pop(ask.id, None))
        on_ask(ask)
        return future

    def answer(self, id_: str, given: JSON) -> bool:
        """Answer a request; return False if none of that id waits.

        Raises:
            ValueError: the answer doesn't match the request, which continues waiting.
        """
        ask, future = self._open.get(id_, (None, None))
        if ask is None or future is None:
            return False
        answer = answer_of(ask.request, given)
        if not future.set_running_or_notify_cancel():
            return False
        future.set_result(answer)
        return True


def refusing(on_ask: Callable[[Ask], object]) -> Host:
    """Return the host of a call whose client gets one answer; ``on_ask`` hears what is asked."""

    def refuse(request: HostRequest) -> Any:
        on_ask(Ask("", request))
        kind = REQUEST_KINDS[type(request)]
        raise kind.error(f"{kind.words}: the call was made without a stream")

    return Host(on_elicit=refuse, on_sample=refuse, on_list_roots=refuse, on_approve=refuse)


def _check(schema: JSON, value: JSON) -> None:
    for problem in compile_schema(schema).problems(value)[:1]:
        raise ValueError(f"{dotted(problem.path)} {describe(problem)}".strip())


def answer_of(request: HostRequest, given: Any) -> Answer | Approval | Sample | list[Root]:
    """Return the answer that a client's JSON means.

    Raises:
        ValueError: it means none.
    """
    properties = _KINDS[type(request)].answer
    _check({"type": "object", "properties": properties, "required": [*properties][:1]}, given)
    match request:
        case Question():
            if given["action"] != "accept" or request.url:
                return Answer(given["action"])
            content = given.get("content", {})
            _check(request.schema, content)
            return Answer("accept", content)
        case ApprovalRequest():
            # remembered by no one: a server's other clients have users of their own
            return Approval(given["approved"], given.get("reason", ""))
        case SampleRequest():
            block: dict[str, JSON] = {"type": "text", "text": given["text"]}
            model, stop = given.get("model", ""), given.get("stop_reason")
            return Sample(given["text"], model, stop, [block])
        case _:
            return [Root(each["uri"], each.get("name")) for each in given["roots"]]
