"""Asking somebody before a tool does what can't be undone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import isawaitable
from typing import Any

from sovl_tools.model.call import ToolCall
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.running.event_loop import in_thread
from sovl_tools.running.hooks import Hook

Approve = Callable[[ToolCall], Any]
"""Returns whether a call may be made: True, or False, or a text with the reason why not."""


def approving(approve: Approve) -> Hook:
    """Return a hook that asks before a tool runs that is marked as destructive.

    A sync function is called on a thread, so that it may wait for somebody.
    """

    async def hook(call: ToolCall, following: Any) -> ToolResult:
        if call.tool.annotations.get("destructive"):
            verdict = await in_thread(partial(approve, call))
            verdict = await verdict if isawaitable(verdict) else verdict
            if verdict is not True:
                return ToolResult(call.name, None, Failure("tool_error", _refusal(verdict)), 0.0)
        result: ToolResult = await following(call)
        return result

    return Hook(hook)


def _refusal(verdict: Any) -> str:
    reason = f": {verdict}" if isinstance(verdict, str) and verdict else ""
    return f"the user did not approve of this call{reason}"
