"""One call for a client of the protocol: what the tool reports goes to it, and its result."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import Any, Final

from mcp.server.connection import Connection, allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types import LoggingMessageNotification, LoggingMessageNotificationParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from sovl_tools.formats.messages import content_of
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.content import encodable
from sovl_tools.model.document import JSON
from sovl_tools.model.result import ToolResult
from sovl_tools.serving.advertised import RESULT, Advertised
from sovl_tools.serving.limits import MOST_REPORTS

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The protocol's levels of messages, the least first; tools have four of them."""

LEVEL: Final = "sovl-tools-log-level"
"""Where a connection of the handshake era keeps the level that its client has set."""


def is_modern(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Tell whether a request is of the era without a handshake."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def connection_of(ctx: ServerRequestContext[Any, Any]) -> Connection:
    """Return the connection over which a request came: the SDK's sessions last for a request."""
    return ctx.session._connection  # noqa: SLF001 - there is no other way to it


class Reports:
    """Progress and messages of a call on their way from the tool's thread to the client.

    Progress that the client has not read yet is replaced by what comes after it, since nobody
    wants the former any more.
    """

    def __init__(self, ctx: ServerRequestContext[Any, Any], tool: str) -> None:
        """Make the way of reports of a call of that tool; those that it calls only log."""
        self._ctx = ctx
        self._tool = tool
        self._levels = _levels(ctx)
        self._messages: deque[LogMessage] = deque(maxlen=MOST_REPORTS)
        self._progress: Progress | None = None
        self._furthest = float("-inf")
        self._is_told = False
        self._loop = asyncio.get_running_loop()
        self._sending: asyncio.Task[None] | None = None

    def add(self, report: Progress | LogMessage) -> None:
        """Take a report, in any thread."""
        if isinstance(report, LogMessage):
            if report.level not in self._levels:
                return
            self._messages.append(report)
        elif report.tool == self._tool:
            self._progress = report
        # once, so that a tool that reports all the time does not fill the loop
        if not self._is_told:
            self._is_told = True
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._is_told = False
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        session, request = self._ctx.session, self._ctx.request_id
        while self._messages or self._progress is not None:
            if self._messages:
                message = self._messages.popleft()
                params = LoggingMessageNotificationParams(
                    level=message.level, logger=message.tool, data=encodable(message.message)
                )
                await session.send_notification(LoggingMessageNotification(params=params), request)
            progress, self._progress = self._progress, None
            # the protocol wants it to grow
            if progress is not None and progress.done > self._furthest:
                self._furthest = progress.done
                words = None if progress.message is None else encodable(progress.message)
                await session.report_progress(progress.done, progress.total, words)

    async def finish(self) -> None:
        """Send what is left: after the result nobody may hear of the call any more."""
        if self._sending is not None:
            await self._sending
        await self._send()

    def give_up(self) -> None:
        """Send nothing any more, because the client has cancelled the call."""
        if self._sending is not None:
            self._sending.cancel()


def _levels(ctx: ServerRequestContext[Any, Any]) -> frozenset[str]:
    """Return the levels of messages that a client wants."""
    if is_modern(ctx):
        # a client says so with each request
        return frozenset(allowed_log_levels(ctx.protocol_version, ctx.meta))
    least = connection_of(ctx).state.get(LEVEL, "info")
    return frozenset(LEVELS[LEVELS.index(least) :])


def call_result(result: ToolResult, known: Advertised, *, is_wrapping: bool) -> dict[str, JSON]:
    """Return the protocol's result of a call.

    A failure is a text that the model can act on. A value is structured content where the tool
    says what it returns, or returns an object; beside it is what a model reads: content of
    the tool's own, or the value as a text.
    """
    content = content_of(result)
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    made: dict[str, JSON] = {"content": blocks, "resultType": "complete"}
    if result.error is not None:
        made["isError"] = True
        return made
    if is_wrapping and result.tool in known.wrapped:
        made["structuredContent"] = {RESULT: result.value}
    elif "outputSchema" in known.modern.get(result.tool, ()) or (
        isinstance(result.value, dict) and not result.content
    ):
        made["structuredContent"] = result.value
    return made
