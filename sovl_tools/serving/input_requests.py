"""Elicitation, sampling and roots: what a running tool asks of its client, in both eras.

In the handshake era the server sends the client a request, and the call continues with the answer.
Since 2026-07-28 a server sends no requests: the call ends with a result that lists the input it
needs, and the client calls again with the input. The tool then runs from its beginning and gets
the answers that are there by now, so it has to be idempotent.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple
from uuid import uuid4

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitResult,
    ListRootsRequest,
    ListRootsResult,
)
from pydantic import BaseModel, ValidationError

from sovl_tools.model.client_requests import (
    REQUEST_KINDS,
    Answer,
    ClientRequest,
    Question,
    Root,
    RootsRequest,
    Sample,
    SampleRequest,
)
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ElicitationError, SchemaError
from sovl_tools.model.result import ToolResult
from sovl_tools.registry import ToolRegistry
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import describe
from sovl_tools.serving.mcp_calls import is_modern


class Kind(NamedTuple):
    """One kind of request, as the protocol has it.

    Attributes:
        request: the SDK's class of the request.
        result: the SDK's class of the answer in the handshake era.
        results: the SDK's classes of the answer that comes with the next call, since 2026-07-28.
        params: returns the parameters of the request.
        answer: returns what the tool gets for the client's answer; raises a ToolError if the
            answer is not valid.
        is_known: tells whether a client has the capability.
        capability: the capability, as a client declares it.
        lacking: the error message for a client that lacks the capability.
        failure: the beginning of the error message for a client that fails at the request.
    """

    request: type[BaseModel]
    result: type[BaseModel]
    results: tuple[type[BaseModel], ...]
    params: Callable[[Any], dict[str, JSON]]
    answer: Callable[[Any, Any], Any]
    is_known: Callable[[ClientCapabilities], bool]
    capability: dict[str, JSON]
    lacking: str
    failure: str


class Answered(NamedTuple):
    """A request that the tool has made, as the client carries it from call to call.

    Attributes:
        digest: of the request; if the tool makes another one in its place, that is asked anew.
        answer: as the client sent it; None while there is none.
        key: the key under which the client sends the answer.
    """

    digest: str
    answer: dict[str, JSON] | None
    key: str


class InputRequests:
    """Asks a client for what one call wants to know."""

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: CallToolRequestParams,
        tool: str,
        registry: ToolRegistry,
    ) -> None:
        """Prepare the requests of one call of a tool.

        Raises:
            MCPError: the client sends a requestState that is not this server's.
        """
        self._ctx = ctx
        self._tool = tool
        self._registry = registry
        self._loop = asyncio.get_running_loop()
        self._given = params.input_responses or {}
        self._answered = _answered(params)
        self._count = 0
        self._pending: dict[str, dict[str, JSON]] = {}
        self._missing: tuple[str, Kind] | None = None
        self._is_ended = False
        self._task = asyncio.current_task()
        self._cancelling = 0 if self._task is None else self._task.cancelling()

    def ask(self, request: ClientRequest) -> Future[Any]:
        """Begin to ask; may be called in any thread."""
        return asyncio.run_coroutine_threadsafe(self._ask(request), self._loop)

    async def _ask(self, request: ClientRequest) -> Any:
        kind, error = _kind_of(request), REQUEST_KINDS[type(request)].error
        known = self._ctx.session.client_capabilities
        if known is None or not kind.is_known(known):
            self._missing = kind.lacking, kind
            raise error(kind.lacking)
        try:
            params = kind.params(request)
            if kind is PAGE and not is_modern(self._ctx):
                params["elicitationId"] = uuid4().hex  # which 2025-11-25 alone wants
            message = kind.request.model_validate({"method": _method(kind), "params": params})
        except ValidationError as problem:
            raise error(f"the client can't be asked this: {_words(problem)}") from problem
        if is_modern(self._ctx):
            return kind.answer(request, await self._replayed(request, params))
        if not self._ctx.session.can_send_request:
            words = "the connection carries no questions to the client"
            raise error(f"{words}: it is without sessions, or answers with JSON alone")
        metadata = ServerMessageMetadata(related_request_id=self._ctx.request_id)
        try:
            result = await self._ctx.session.send_request(
                message,  # type: ignore[arg-type]  # one of the SDK's requests
                kind.result,
                metadata=metadata,
            )
        except MCPError as problem:
            raise error(f"{kind.failure}: {problem}") from problem
        except ValidationError as problem:
            raise error(f"{kind.failure}: {_words(problem)}") from problem
        return kind.answer(request, result)

    async def _replayed(self, request: ClientRequest, params: dict[str, JSON]) -> Any:
        """Return the answer that came with the call, or end the call to have the client asked."""
        kind, error = _kind_of(request), REQUEST_KINDS[type(request)].error
        for name in {self._tool, request.tool}:
            self._refuse_unless_repeatable(name, request)
        text = json.dumps([type(request).__name__, *request], sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        number = self._count
        self._count += 1
        key = ""
        if number < len(self._answered):
            before = self._answered[number]
            if before.digest == digest and before.answer is not None:
                try:
                    return _parsed(kind, before.answer)
                except ValidationError as problem:
                    raise error(f"{kind.failure}: {_words(problem)}") from problem
            if before.digest == digest:
                key = before.key  # asked before beside others, and not answered
            else:
                # the tool took another way than in the last call: later answers are void as well
                del self._answered[number:]
        given = self._given.get(request.key) if request.key else None
        if isinstance(given, kind.results):  # the client knows the request by its key
            self._note(number, Answered(digest, _form(given), request.key))
            return given
        if not self._is_ended and self._task is not None:
            if not key:
                taken = {each.key for each in self._answered}
                key = request.key if request.key not in {"", *taken} else str(number + 1)
            if not self._pending:
                # what a tool asks at the same time comes in the same turn of the loop
                self._loop.call_soon(self._end)
            self._pending[key] = {"method": _method(kind), "params": params}
            self._note(number, Answered(digest, None, key))
        # until the call has ended
        await asyncio.Event().wait()
        raise AssertionError

    def _note(self, number: int, answered: Answered) -> None:
        self._answered[number : number + 1] = [answered]

    def _end(self) -> None:
        self._is_ended = True
        if self._task is not None:
            self._task.cancel()

    def _refuse_unless_repeatable(self, name: str, request: ClientRequest) -> None:
        tool = self._registry.get(name)
        annotations = {} if tool is None else tool.annotations
        if not (annotations.get("idempotent") or annotations.get("read_only")):
            words = f"the client would have to call again with the answer, and {name} may not run"
            advice = 'say "idempotent": true in its annotations if it may'
            raise REQUEST_KINDS[type(request)].error(f"{words} twice: {advice}")

    def input_required(self) -> dict[str, JSON] | None:
        """Return the result that asks for input, or None if something else ended the call.

        Call it where the cancellation of the task is caught.
        """
        if not self._is_ended or self._task is None:
            return None
        if self._task.uncancel() > self._cancelling:
            return None  # somebody else has cancelled it as well
        return {
            "resultType": "input_required",
            "inputRequests": self._pending,
            "requestState": json.dumps(self._answered),
        }

    def check(self, result: ToolResult) -> None:
        """Raise the protocol's error if a call failed for want of a capability, since 2026-07-28.

        Raises:
            MCPError: the client lacks a capability that the tool needs.
        """
        if result.error is None or self._missing is None or not is_modern(self._ctx):
            return
        words, kind = self._missing
        if result.error.message == words:
            data = {"requiredCapabilities": kind.capability}
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, words, data)


def _method(kind: Kind) -> str:
    method: str = kind.request.model_fields["method"].default
    return method


def _parsed(kind: Kind, form: dict[str, JSON]) -> Any:
    """Parse an answer into the first of the SDK's classes that it fits.

    Raises:
        ValidationError: it fits none of them.
    """
    *others, last = kind.results
    for each in others:
        try:
            return each.model_validate(form, by_name=False)
        except ValidationError:
            continue
    return last.model_validate(form, by_name=False)


def _words(error: ValidationError) -> str:
    """Return the first problem in words, without pydantic's URL and without the value."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(each) for each in problem["loc"])
    words = f"{problem['msg'][:1].lower()}{problem['msg'][1:]}"
    return f"{place}: {words}" if place else words


def _answered(params: CallToolRequestParams) -> list[Answered]:
    """Parse the requestState of a call, and fill in the answers that came with it.

    The state isn't signed: a client may answer whatever it likes anyway.

    Raises:
        MCPError: the state is not one that this server made.
    """
    if params.request_state is None:
        return []
    foreign = MCPError(INVALID_PARAMS, "requestState is none of this server's")
    try:
        state = [
            Answered(str(digest), answer, str(key))
            for digest, answer, key in json.loads(params.request_state)
        ]
    except (ValueError, TypeError, RecursionError) as error:
        raise foreign from error
    if not all(each.answer is None or isinstance(each.answer, dict) for each in state):
        raise foreign
    given = params.input_responses or {}
    return [
        each._replace(answer=_form(given[each.key]))
        if each.answer is None and each.key in given
        else each
        for each in state
    ]


def _form(answer: BaseModel) -> dict[str, JSON]:
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)


def _question(question: Question) -> dict[str, JSON]:
    params = {"mode": "form", "message": question.message}
    return {**params, "requestedSchema": question.schema}


def _page(question: Question) -> dict[str, JSON]:
    return {"mode": "url", "message": question.message, "url": question.url}


def _knows_pages(known: ClientCapabilities) -> bool:
    return known.elicitation is not None and known.elicitation.url is not None


def _knows_forms(known: ClientCapabilities) -> bool:
    forms = known.elicitation
    # a client that declares elicitation without saying which kind supports forms
    return forms is not None and (forms.form is not None or forms.url is None)


def _answer(question: Question, result: ElicitResult) -> Answer:
    """Return the user's answer, checked against the schema of the question.

    Raises:
        ElicitationError: the content does not fit the schema.
    """
    if result.action != "accept":
        return Answer(result.action)
    content: dict[str, JSON] = {**(result.content or {})}
    try:
        problems = compile_schema(question.schema).problems(content)
    except SchemaError as error:
        raise ElicitationError(f"the schema of the question can't be used: {error}") from error
    if problems:
        raise ElicitationError(f"the answer does not fit the question: {describe(problems[0])}")
    return Answer("accept", content)


def _prompt(request: SampleRequest) -> dict[str, JSON]:
    params = {
        "messages": request.messages,
        "maxTokens": request.max_tokens,
        "systemPrompt": request.system_prompt,
        "temperature": request.temperature,
        "stopSequences": [*request.stop_sequences] or None,
    }
    return {name: value for name, value in params.items() if value is not None}


def _sample(_: SampleRequest, result: CreateMessageResult | CreateMessageResultWithTools) -> Sample:
    blocks = result.content if isinstance(result.content, list) else [result.content]
    content = [_form(each) for each in blocks]
    text = "".join(each["text"] for each in content if each["type"] == "text")
    return Sample(text, result.model, result.stop_reason, content)


def _roots(_: RootsRequest, result: ListRootsResult) -> list[Root]:
    return [Root(str(each.uri), each.name) for each in result.roots]


KINDS: Mapping[type[ClientRequest], Kind] = {
    Question: Kind(
        ElicitRequest,
        ElicitResult,
        (ElicitResult,),
        _question,
        _answer,
        _knows_forms,
        {"elicitation": {"form": {}}},
        "the client can't ask its user",
        "the client did not ask its user",
    ),
    SampleRequest: Kind(
        CreateMessageRequest,
        CreateMessageResult,
        (CreateMessageResult, CreateMessageResultWithTools),
        _prompt,
        _sample,
        lambda known: known.sampling is not None,
        {"sampling": {}},
        "the client does not let tools ask its model",
        "the client did not ask its model",
    ),
    RootsRequest: Kind(
        ListRootsRequest,
        ListRootsResult,
        (ListRootsResult,),
        lambda _: {},
        _roots,
        lambda known: known.roots is not None,
        {"roots": {}},
        "the client does not say in which directories it works",
        "the client did not say in which directories it works",
    ),
}
"""The kinds of requests, but for ``PAGE``, by the tool's request."""

PAGE = Kind(
    ElicitRequest,
    ElicitResult,
    (ElicitResult,),
    _page,
    lambda _, result: Answer(result.action),
    _knows_pages,
    {"elicitation": {"url": {}}},
    "the client can't ask its user to open a page",
    "the client did not ask its user",
)
"""Elicitation of mode ``url``: the user is asked to open a page."""


def _kind_of(request: ClientRequest) -> Kind:
    return PAGE if isinstance(request, Question) and request.url else KINDS[type(request)]
