"""Asking somebody before a tool does what can't be undone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from inspect import isawaitable
from typing import Any

from sovl_tools.dispatch.event_loop import in_thread
from sovl_tools.dispatch.failure import message_of, redacted, trace_of
from sovl_tools.dispatch.hooks import Hook
from sovl_tools.model.call import ToolCall
from sovl_tools.model.errors import ToolError
from sovl_tools.model.result import Failure, ToolResult

_LOGGER = logging.getLogger("sovl_tools")

Approve = Callable[[ToolCall], Any]
"""Returns whether a call may be made: True, or False, or a text with the reason why not."""


def approving(approve: Approve) -> Hook:
    """Return a hook that asks before a tool runs that is marked as destructive.

    A sync function is called on a thread, so that it may wait for somebody.
    """

    async def approval(call: ToolCall, following: Any) -> ToolResult:
        if call.tool.annotations.get("destructive"):
            refusal = await _refusal(approve, call)
            if refusal is not None:
                return ToolResult(call.name, None, Failure("tool_error", refusal), 0.0)
        result: ToolResult = await following(call)
        return result

    return Hook(approval)


async def _refusal(approve: Approve, call: ToolCall) -> str | None:
    """Return what the model reads if a call may not be made, or nobody could be asked."""
    try:
        verdict = await in_thread(partial(approve, call))
        verdict = await verdict if isawaitable(verdict) else verdict
    except ToolError as error:
        verdict = str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the model reads of it
        secrets = call.tool.requires.get("env", ())
        _LOGGER.warning("approve failed at tool %s\n%s", call.name, trace_of(error, secrets))
        reason = redacted(message_of(error), secrets)
        return f"this call was not made, because asking for approval failed: {reason}"
    if verdict is True:
        return None
    reason = f": {verdict}" if isinstance(verdict, str) and verdict else ""
    return f"the user did not approve of this call{reason}"
