"""One call for a client of the protocol: what the tool reports, what it asks, and its result.

In the handshake era a question is a request that the server sends, and the call continues with the
answer. Since 2026-07-28 a server sends no requests: the call ends with a result that lists the
input it needs, and the client calls again with the input. The tool then runs from its beginning and
gets the answers that are there by now, so it must be idempotent.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import uuid4

import mcp_types as types
from mcp.server.connection import Connection, allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from sovl_tools.formats.messages import content_of
from sovl_tools.model.call import LogMessage
from sovl_tools.model.client_requests import (
    REQUEST_KINDS,
    Answer,
    Approval,
    ApprovalRequest,
    ClientRequest,
    HostRequest,
    Question,
    Root,
    RootsRequest,
    Sample,
    SampleRequest,
)
from sovl_tools.model.content import encodable
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ApprovalError, ElicitationError, SchemaError
from sovl_tools.model.result import ToolResult
from sovl_tools.registry import ToolRegistry
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import describe
from sovl_tools.serving.advertised import RESULT, Advertised, is_wrapped
from sovl_tools.serving.reports import Report, Reports

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The protocol's levels of messages, the least first; tools have four of them."""

LEVEL: Final = "sovl-tools-log-level"
"""Where a connection of the handshake era keeps the level that its client has set."""


Context: TypeAlias = ServerRequestContext[Any, Any]
"""What the SDK knows of a request."""


def is_modern(ctx: Context) -> bool:
    """Return whether a request is of the era without a handshake."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def connection_of(ctx: Context) -> Connection:
    """Return the connection over which a request came: the SDK's sessions last for a request."""
    return ctx.session._connection  # noqa: SLF001 - there is no other way to it


@asynccontextmanager
async def reporting(ctx: Context, tool: str) -> AsyncIterator[Callable[[Report], None]]:
    """Send the client what a call of a tool reports; all of it is sent when the block ends.

    Of the tools that it calls, only messages are sent.
    """
    levels, reports = _levels(ctx), Reports[Report]()

    def add(report: Report) -> None:
        if isinstance(report, LogMessage):
            is_wanted = report.level in levels
        else:
            is_wanted = report.tool == tool
        if is_wanted:
            reports.add(report)

    sending = asyncio.create_task(_send(ctx, reports))
    try:
        yield add
        reports.end()
        await sending
    finally:
        sending.cancel()


async def _send(ctx: Context, reports: Reports[Report]) -> None:
    furthest = float("-inf")
    async for report in reports.follow():
        if isinstance(report, LogMessage):
            params = types.LoggingMessageNotificationParams(
                level=report.level, logger=report.tool, data=encodable(report.message)
            )
            message = types.LoggingMessageNotification(params=params)
            await ctx.session.send_notification(message, ctx.request_id)
        elif report is not None and report.done > furthest:  # the protocol wants it to grow
            furthest = report.done
            words = None if report.message is None else encodable(report.message)
            await ctx.session.report_progress(report.done, report.total, words)


def _levels(ctx: Context) -> frozenset[str]:
    """Return the levels of messages that a client wants."""
    if is_modern(ctx):
        # a client says so with each request
        return frozenset(allowed_log_levels(ctx.protocol_version, ctx.meta))
    least = connection_of(ctx).state.get(LEVEL, "info")
    return frozenset(LEVELS[LEVELS.index(least) :])


def call_result(result: ToolResult, known: Advertised, *, is_wrapping: bool) -> dict[str, JSON]:
    """Return the protocol's result of a call.

    A failure is a string that the model can act on. A value is structured content where the tool
    says what it returns, or returns an object; next to it is what a model reads: content of
    the tool's own, or the value as a string.
    """
    content = content_of(result)
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    made: dict[str, JSON] = {"content": blocks, "resultType": "complete"}
    if result.error is not None:
        made["isError"] = True
        return made
    if is_wrapping and is_wrapped(known.modern.get(result.tool, {})):
        made["structuredContent"] = {RESULT: result.value}
    elif "outputSchema" in known.modern.get(result.tool, ()) or (
        isinstance(result.value, dict) and not result.content
    ):
        made["structuredContent"] = result.value
    return made


class Kind(NamedTuple):
    """One kind of request to a client, as the protocol has it.

    Attributes:
        request: the SDK's class of the request.
        results: the SDK's classes of the answer; in the handshake era there is only the first, and
            the last one takes the others, too.
        capability: what a client declares that can be asked.
        lacking: the error message for a client that does not.
    """

    request: type[BaseModel]
    results: tuple[type[BaseModel], ...]
    capability: dict[str, JSON]
    lacking: str


KINDS: Mapping[type[ClientRequest], Kind] = {
    Question: Kind(
        types.ElicitRequest,
        (types.ElicitResult,),
        {"elicitation": {"form": {}}},
        "the client can't show questions",
    ),
    SampleRequest: Kind(
        types.CreateMessageRequest,
        (types.CreateMessageResult, types.CreateMessageResultWithTools),
        {"sampling": {}},
        "the client does not answer samples",
    ),
    RootsRequest: Kind(
        types.ListRootsRequest,
        (types.ListRootsResult,),
        {"roots": {}},
        "the client does not list its directories",
    ),
}
"""The kinds of requests, but for ``PAGE``, by the tool's request."""

PAGE = KINDS[Question]._replace(
    capability={"elicitation": {"url": {}}},
    lacking="the client can't show questions to open a page",
)
"""Elicitation of mode ``url``: the user is asked to open a page."""


class InputRequests:
    """Asks a client for what one call wants to know."""

    def __init__(
        self,
        ctx: Context,
        params: types.CallToolRequestParams,
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
        given = params.input_responses or {}
        # the answers so far by the digests of their requests, and the requests that were sent last
        self._answers, sent = _state(params)
        self._answers |= {sent[key]: _form(each) for key, each in given.items() if key in sent}
        self._given = {key: each for key, each in given.items() if key not in sent}
        self._counts = Counter[str]()
        self._sent: dict[str, str] = {}
        self._pending: dict[str, dict[str, JSON]] = {}
        self._missing: Kind | None = None
        self._is_ended = False
        self._task = asyncio.current_task()
        self._cancelling = 0 if self._task is None else self._task.cancelling()

    def ask(self, request: HostRequest) -> Future[Any]:
        """Begin to ask; can be called in any thread."""
        if isinstance(request, ApprovalRequest):
            return asyncio.run_coroutine_threadsafe(self._approve(request), self._loop)
        return asyncio.run_coroutine_threadsafe(self._ask(request), self._loop)

    async def _approve(self, request: ApprovalRequest) -> Approval:
        arguments = json.dumps(request.arguments, ensure_ascii=False)
        message = f"May {request.tool} be called with {arguments}?"
        question = Question(request.tool, message, {"type": "object"}, request.key)
        try:
            # the tool hasn't run yet, so that it doesn't run twice if the client calls again
            answer = await self._ask(question, is_first=request.tool == self._tool)
        except ElicitationError as error:
            raise ApprovalError(f"{request.tool} needs approval: {error}") from error
        return Approval(answer.ok)

    async def _ask(self, request: ClientRequest, *, is_first: bool = False) -> Any:
        error, is_later = REQUEST_KINDS[type(request)].error, is_modern(self._ctx)
        kind = PAGE if isinstance(request, Question) and request.url else KINDS[type(request)]
        session = self._ctx.session
        if not _declares(session.client_capabilities, kind.capability):
            self._missing = kind
            raise error(kind.lacking)
        try:
            params = _params(request)
            if kind is PAGE and not is_later:
                params["elicitationId"] = uuid4().hex  # which 2025-11-25 alone wants
            method: str = kind.request.model_fields["method"].default
            message = kind.request.model_validate({"method": method, "params": params})
        except ValidationError as problem:
            raise error(f"the client can't take this request: {_words(problem)}") from problem
        obstacle = None if is_first and is_later else self._obstacle(request)
        if obstacle is not None:
            raise error(obstacle)
        try:
            if is_later:
                asked = {"method": method, "params": params}
                return _answer(request, await self._replayed(request, kind, asked))
            metadata = ServerMessageMetadata(related_request_id=self._ctx.request_id)
            result = await session.send_request(
                message,  # type: ignore[arg-type]  # one of the SDK's requests
                kind.results[0],
                metadata=metadata,
            )
        except MCPError as problem:
            raise error(f"the client did not answer: {problem}") from problem
        except ValidationError as problem:
            raise error(f"the client did not answer: {_words(problem)}") from problem
        return _answer(request, result)

    def _obstacle(self, request: ClientRequest) -> str | None:
        """Return why a client that could answer can't be asked during this call."""
        if not is_modern(self._ctx):
            words = "the connection carries no questions to the client"
            words += ": it is without sessions, or answers with JSON alone"
            return None if self._ctx.session.can_send_request else words
        for name in {self._tool, request.tool}:
            tool = self._registry.get(name)
            annotations = {} if tool is None else tool.annotations
            if not (annotations.get("idempotent") or annotations.get("read_only")):
                words = f"the client would have to call again with the answer, and {name} may not"
                return f'{words} run twice: say "idempotent": true in its annotations if it may'
        return None

    async def _replayed(self, request: ClientRequest, kind: Kind, asked: dict[str, JSON]) -> Any:
        """Return the answer that came with the call, or end the call to have the client asked.

        Raises:
            ValidationError: the answer isn't one.
        """
        text = json.dumps([type(request).__name__, *request], sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        self._counts[digest] += 1
        place = f"{digest}.{self._counts[digest]}"  # a tool may ask the same again
        given = self._given.get(request.key)
        if isinstance(given, kind.results):  # the client knows the request by its key
            self._answers.setdefault(place, _form(given))
        if place in self._answers:
            return kind.results[-1].model_validate(self._answers[place], by_name=False)
        if not self._is_ended:
            if not self._pending:
                # what a tool asks at the same time comes in the same turn of the loop
                self._loop.call_soon(self._end)
            is_free = request.key and request.key not in self._pending
            key = request.key if is_free else str(self._counts.total())
            self._pending[key], self._sent[key] = asked, place
        # until the call has ended
        await asyncio.Event().wait()
        raise AssertionError

    def _end(self) -> None:
        self._is_ended = True
        if self._task is not None:
            self._task.cancel()

    def input_required(self) -> dict[str, JSON] | None:
        """Return the result that asks for input, or None if something else ended the call.

        Call it where the cancellation of the task is caught.
        """
        if not self._is_ended or self._task is None or self._task.uncancel() > self._cancelling:
            return None
        return {
            "resultType": "input_required",
            "inputRequests": self._pending,
            "requestState": json.dumps([self._answers, self._sent]),
        }

    def check(self, result: ToolResult) -> None:
        """Raise the protocol's error if a call failed for want of a capability, since 2026-07-28.

        Raises:
            MCPError: the client lacks a capability that the tool needs.
        """
        if result.error is None or self._missing is None or not is_modern(self._ctx):
            return
        if result.error.message == self._missing.lacking:
            data = {"requiredCapabilities": self._missing.capability}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, result.error.message, data)


_CONSENT: dict[str, JSON] = {
    "type": "object",
    "properties": {"agree": {"type": "boolean", "title": "Agree", "default": True}},
}
"""The form of a question that asks for consent alone."""


def _words(error: ValidationError) -> str:
    """Return the first problem in words, without pydantic's URL and without the value."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(each) for each in problem["loc"])
    words = f"{problem['msg'][:1].lower()}{problem['msg'][1:]}"
    return f"{place}: {words}" if place else words


def _state(params: types.CallToolRequestParams) -> tuple[dict[str, JSON], dict[str, str]]:
    """Parse the requestState of a call.

    The state isn't signed: a client may answer whatever it likes anyway.

    Raises:
        MCPError: the state is not one that this server made.
    """
    if params.request_state is None:
        return {}, {}
    try:
        answers, sent = json.loads(params.request_state)
        return {**answers}, {str(key): str(place) for key, place in {**sent}.items()}
    except (ValueError, TypeError, RecursionError) as error:
        raise MCPError(types.INVALID_PARAMS, "requestState isn't one of this server's") from error


def _form(answer: BaseModel) -> dict[str, JSON]:
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)


def _declares(known: types.ClientCapabilities | None, capability: dict[str, JSON]) -> bool:
    """Return whether a client has declared a capability."""
    declared = known.model_dump(by_alias=True, exclude_none=True) if known else {}
    # a client that declares elicitation without saying which kind supports forms
    if declared.get("elicitation") == {}:
        declared["elicitation"] = {"form": {}}
    ((name, parts),) = capability.items()
    return name in declared and parts.keys() <= declared[name].keys()


def _params(request: ClientRequest) -> dict[str, JSON]:
    """Return the parameters of a request to the client."""
    if isinstance(request, Question):
        if request.url:
            return {"mode": "url", "message": request.message, "url": request.url}
        # some clients can't show a form without fields
        schema = request.schema if request.schema.get("properties") else _CONSENT
        return {"mode": "form", "message": request.message, "requestedSchema": schema}
    if isinstance(request, RootsRequest):
        return {}
    params = {
        "messages": request.messages,
        "maxTokens": request.max_tokens,
        "systemPrompt": request.system_prompt,
        "temperature": request.temperature,
        "stopSequences": [*request.stop_sequences] or None,
    }
    return {name: value for name, value in params.items() if value is not None}


def _answer(request: ClientRequest, result: Any) -> Answer | Sample | list[Root]:
    """Return what the tool gets for the client's result.

    Raises:
        ElicitationError: the content does not match the schema of the question.
    """
    if isinstance(request, RootsRequest):
        return [Root(str(each.uri), each.name) for each in result.roots]
    if isinstance(request, SampleRequest):
        blocks = result.content if isinstance(result.content, list) else [result.content]
        parts = [_form(each) for each in blocks]
        text = "".join(each["text"] for each in parts if each["type"] == "text")
        return Sample(text, result.model, result.stop_reason, parts)
    if request.url or result.action != "accept":
        return Answer(result.action)
    content: dict[str, JSON] = {**(result.content or {})}
    if not request.schema.get("properties") and content.pop("agree", True) is False:
        return Answer("decline")
    try:
        problems = compile_schema(request.schema).problems(content)
    except SchemaError as error:
        raise ElicitationError(f"the schema of the question can't be used: {error}") from error
    if problems:
        raise ElicitationError(f"the answer does not match the question: {describe(problems[0])}")
    return Answer("accept", content)
