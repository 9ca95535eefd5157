"""Three small hooks that most agents want: retries, a cache, a rate limit.

Each is a function that returns a hook: ``Tooler(registry, hooks=[retry(), cache(60)])``. They are
generators, so that they serve sync and async calls alike and never block an event loop.
"""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable
from random import random
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple, TypeAlias
from weakref import ReferenceType, ref

from sovl_tools.dispatch.hooks import Hook, Pause, patterns_of
from sovl_tools.model.call import ToolCall
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import copied
from sovl_tools.model.result import FailureKind, ToolResult

Steps: TypeAlias = Generator[Any, Any, ToolResult]
Next: TypeAlias = Callable[[ToolCall], Any]
_RETRIED: tuple[FailureKind, ...] = ("tool_error", "timeout")


def retry(  # noqa: PLR0913 - independent options
    attempts: int = 3,
    *,
    delay: float = 0.2,
    longest_delay: float = 10.0,
    kinds: Iterable[FailureKind] | FailureKind = _RETRIED,
    tools: Iterable[str] | None = None,
    only_idempotent: bool = True,
) -> Hook:
    """Return a hook that repeats failed calls of idempotent tools.

    A tool is idempotent if its ``annotations`` say ``idempotent`` or ``read_only``. The delay, in
    seconds, doubles from attempt to attempt up to the longest, and a random part of up to a half is
    subtracted, so that many callers don't retry at once.

    Args:
        attempts: the maximum number of attempts, the first included.
        delay: before the second attempt, in seconds.
        longest_delay: between two attempts, in seconds.
        kinds: the kinds of failure after which another attempt makes sense.
        tools: shell patterns of tool names; None for every tool.
        only_idempotent: False to repeat calls of other tools, too, which may then do twice what
            they do.
    """
    repeated = frozenset((kinds,) if isinstance(kinds, str) else kinds)

    def retrying(call: ToolCall, following: Next) -> Steps:
        result: ToolResult = yield following(call)
        pause = min(delay, longest_delay)
        is_idempotent = any(call.tool.annotations.get(key) for key in ("idempotent", "read_only"))
        for _ in range(attempts - 1 if is_idempotent or not only_idempotent else 0):
            if result.error is None or result.error.kind not in repeated:
                break
            yield Pause(pause * (1 - random() / 2))  # noqa: S311 - no secret
            pause = min(2 * pause, longest_delay)
            result = yield following(call)
        return result

    return Hook(retrying, patterns_of(tools))


class _Entry(NamedTuple):
    """A result, the time until which it is valid, by ``monotonic``, and the tool of that time."""

    result: ToolResult
    until: float
    tool: ReferenceType[ToolDefinition]


def cache(seconds: float, *, max_entries: int = 1024, tools: Iterable[str] | None = None) -> Hook:
    """Return a hook that answers equal calls of read-only tools with the same result for a while.

    Only tools whose ``annotations`` say ``read_only``, unless ``tools`` names those meant. Calls
    are equal if their arguments are equal as JSON. Failures are not kept, and a tool that was
    loaded again starts afresh. The oldest entries go first.

    Args:
        seconds: the time a result stays valid.
        max_entries: the maximum number of results in the cache.
        tools: shell patterns of the names of tools whose results can be kept.
    """
    entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
    lock, patterns = Lock(), patterns_of(tools)

    def caching(call: ToolCall, following: Next) -> Steps:
        if patterns is None and not call.tool.annotations.get("read_only", False):
            result: ToolResult = yield following(call)
            return result
        key = call.name, json.dumps(dict(call.arguments), sort_keys=True)
        with lock:
            entry = entries.get(key)
        if entry is not None and entry.until > monotonic() and entry.tool() is call.tool:
            return _own(entry.result)
        result = yield following(call)
        if result.ok:
            with lock:
                entries[key] = _Entry(_own(result), monotonic() + seconds, ref(call.tool))
                entries.move_to_end(key)
                while len(entries) > max_entries:
                    entries.popitem(last=False)
        return result

    return Hook(caching, patterns)


def _own(result: ToolResult) -> ToolResult:
    """Return the result with its own value, which no one else changes."""
    return result._replace(value=copied(result.value))


def rate_limit(calls: int, seconds: float, *, tools: Iterable[str] | None = None) -> Hook:
    """Return a hook that makes calls wait: at most ``calls`` begin in any ``seconds``.

    The hook's tools share the limit; give a tool its own hook to limit it separately. A
    call waits before its time limit begins.

    Args:
        calls: the number of calls that can begin within the time.
        seconds: the length of that time.
        tools: shell patterns of tool names; None for every tool.
    """
    turns: deque[float] = deque(maxlen=calls)
    lock = Lock()

    def limiting(call: ToolCall, following: Next) -> Steps:
        with lock:
            now = monotonic()
            turn = now if len(turns) < calls else max(now, turns[0] + seconds)
            turns.append(turn)
        if turn > now:
            yield Pause(turn - now)
        result: ToolResult = yield following(call)
        return result

    return Hook(limiting, patterns_of(tools))
