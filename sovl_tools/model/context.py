"""What a running tool may ask of those who run it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, TypeAlias

from sovl_tools.model.call import Level, LogMessage, Progress
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.protocols import ToolCaller, ToolLookup

Listener: TypeAlias = Callable[[Progress | LogMessage], object]
"""Told what running calls report, in the thread of the tool; what it returns is ignored."""

_SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
_CONTAINERS = frozenset({list, tuple, set, frozenset})


class State(MutableMapping[str, Any]):
    """Values that a tool keeps from call to call, also when its code is loaded anew.

    Only values of built-in types can be kept, because those of a tool's own classes would be of
    classes that are no longer there after a reload.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        """Keep a value.

        Raises:
            TypeError: the key is no string, or something in the value is of no built-in type.
        """
        if type(key) is not str:
            raise TypeError(f"a key of the state must be a string, not {type(key).__name__}")
        _check(value, f"state[{key!r}]")
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"State({self._values!r})"


def _check(value: Any, place: str, level: int = 0) -> None:
    # Exact types: a subclass would be a class of the tool's own.
    if type(value) in _SCALARS:
        return
    # a list may hold itself
    if level > _MAX_STATE_DEPTH:
        raise TypeError(f"{place} is nested too deep")
    if type(value) is dict:
        for key, item in value.items():
            _check(key, f"a key of {place}", level + 1)
            _check(item, f"{place}[{key!r}]", level + 1)
    elif type(value) in _CONTAINERS:
        for index, item in enumerate(value):
            _check(item, f"{place}[{index}]", level + 1)
    else:
        name = type(value).__name__
        words = "only values of built-in types outlive a reload"
        raise TypeError(f"{place} is of type {name}; {words}")


_MAX_STATE_DEPTH = 32


class ToolContext:
    """Given to a parameter annotated ``ToolContext``; no part of the tool's schema.

    All methods are plain calls, alike in sync and async tools, and may be used from any thread.

    Attributes:
        tool: the tool that runs.
        call_id: names the call in logs, events and ``Tooler.cancel``.
        registry: where the tools are.
        tooler: calls other tools; no tool may call itself in a circle.
        state: values kept from call to call.
    """

    __slots__ = ("_is_cancelled", "_listen", "call_id", "registry", "state", "tool", "tooler")

    def __init__(  # noqa: PLR0913 - only a Tooler and tests make one
        self,
        tool: ToolDefinition,
        registry: ToolLookup,
        tooler: ToolCaller,
        *,
        call_id: str,
        state: State,
        listen: Listener,
        is_cancelled: Callable[[], bool],
    ) -> None:
        self.tool = tool
        self.call_id = call_id
        self.registry = registry
        self.tooler = tooler
        self.state = state
        self._listen = listen
        self._is_cancelled = is_cancelled

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the result any more; a tool that looks can stop early."""
        return self._is_cancelled()

    @property
    def tell(self) -> Listener:
        """What progress and messages are given to."""
        return self._listen

    def report_progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Say how far the call is: ``done`` of ``total``, in a unit of the tool's own."""
        self._listen(Progress(self.tool.name, self.call_id, done, total, message))

    def log(self, level: Level, message: str) -> None:
        """Say something to whoever watches the call; the model does not see it."""
        self._listen(LogMessage(self.tool.name, self.call_id, level, message))
