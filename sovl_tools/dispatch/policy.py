"""The hooks of a policy and a manifest: caches, retries, rate limits and approval."""

from __future__ import annotations

from collections.abc import Generator
from fnmatch import fnmatchcase
from threading import Lock
from typing import Any

from sovl_tools.dispatch.hooks import Hook, hook
from sovl_tools.dispatch.middleware import cache, rate_limit, retry
from sovl_tools.model.call import ToolCall
from sovl_tools.model.client_requests import Approval, ApprovalRequest
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.policy import Approving, Policy, calls_per_second
from sovl_tools.model.result import Failure, ToolResult


class PolicyHooks:
    """Makes the hooks of tools; their caches and limits outlive a reload of the tool."""

    def __init__(self) -> None:
        self._approve = hook(_Approvals())
        self._lock = Lock()
        self._made: dict[tuple[str, str, Any, bool], Hook] = {}

    def of(self, tool: ToolDefinition, policy: Policy) -> tuple[Hook, ...]:
        """Return the hooks of a tool, the outermost first.

        A result from the cache isn't asked about, an answer is valid for all attempts of a call,
        and each attempt waits for its turn.
        """
        made = {}
        for key in ("cache_seconds", "retry", "rate_limit"):
            value = getattr(policy, key)
            if value is not None:
                made[key] = self._hook(tool.name, key, value, is_asked=key in tool.execution)
        if _needs_approval(tool, policy.approval):
            made["approval"] = self._approve
        return tuple(made[key] for key in _ORDER if key in made)

    def _hook(self, tool: str, key: str, value: Any, *, is_asked: bool) -> Hook:
        with self._lock:
            found = self._made.get((tool, key, value, is_asked))
            if found is None:
                found = self._made[tool, key, value, is_asked] = hook(_make(key, value, is_asked))
            return found


_ORDER = ("cache_seconds", "approval", "retry", "rate_limit")


def _make(key: str, value: Any, is_asked: bool) -> Hook:  # noqa: FBT001 - one caller
    """Return a hook of one tool; if its manifest sets it, annotations don't matter."""
    if key == "cache_seconds":
        return cache(value, tools="*" if is_asked else None)
    if key == "retry":
        return retry(value, only_idempotent=not is_asked)
    return rate_limit(*calls_per_second(value))


def _needs_approval(tool: ToolDefinition, approval: Approving | None) -> bool:
    if approval is None:
        return False
    if not isinstance(approval, str):
        return any(fnmatchcase(tool.name, pattern) for pattern in approval)
    is_destructive = bool(tool.annotations.get("destructive"))
    return approval == "always" or (approval == "destructive" and is_destructive)


class _Approvals:
    """Requests the host's approval before a call; one body for sync and async calls.

    An answer is valid for all later calls of the tool if the host says so.
    """

    __name__ = "approval"

    def __init__(self) -> None:
        self._remembered: dict[str, Approval] = {}

    def __call__(self, call: ToolCall, following: Any) -> Generator[Any, Any, ToolResult]:
        answer = self._remembered.get(call.name)
        if answer is None:
            given = yield ApprovalRequest(
                call.name, dict(call.arguments), call.tool.description, call.call_id, call.chain
            )
            answer = _in_full(given)
            if answer.remember:
                self._remembered[call.name] = answer
        if not answer.approved:
            reason = f": {answer.reason}" if answer.reason else ""
            failure = Failure("tool_error", f"the user did not approve of this call{reason}")
            return ToolResult(call.name, None, failure, 0.0)
        result: ToolResult = yield following(call)
        return result


def _in_full(given: Approval | bool | str) -> Approval:  # noqa: FBT001 - an answer
    if isinstance(given, str):
        return Approval(approved=False, reason=given)
    return given if isinstance(given, Approval) else Approval(given)
