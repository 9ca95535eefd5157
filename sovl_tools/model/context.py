"""``ToolContext`` for running tools, and protocols for objects of higher layers."""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

from sovl_tools.model.call import LEVELS, Level, LogMessage, Progress
from sovl_tools.model.caller import check_given, check_number, check_text
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.client_requests import (
    REQUEST_KINDS,
    Answer,
    Ask,
    ClientRequest,
    HostRequest,
    Question,
    Root,
    RootsRequest,
    Sample,
    answer_of,
    awaited_answer,
    check_sendable,
    sample_request,
)
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.result import ToolResult


class ToolLookup(Protocol):
    """Anything that has a catalog at each moment; reading it must not lock."""

    @property
    def catalog(self) -> Catalog:
        """The current tools."""
        ...


class ToolCaller(Protocol):
    """Anything that calls tools by name."""

    async def call(self, name: str, arguments: Any = None, **options: Any) -> ToolResult:
        """Call a tool and await its result."""
        ...

    def call_sync(self, name: str, arguments: Any = None, **options: Any) -> ToolResult:
        """Call a tool and wait for its result."""
        ...


class Watch(Protocol):
    """A watch that is on.

    Attributes:
        notice: why it polls instead of waiting for events; None if it doesn't.
    """

    notice: str | None


Listener: TypeAlias = Callable[[Progress | LogMessage], object]
"""Called with what running calls report, in the tool's thread; its result is ignored."""

_SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
_CONTAINERS = frozenset({list, tuple, set, frozenset})


class State(UserDict[str, Any]):
    """Values that a tool keeps from call to call, and across reloads of its code.

    Only values of built-in types can be kept: after a reload, instances of a tool's own classes
    would belong to classes that no longer exist.
    """

    def __setitem__(self, key: str, value: Any) -> None:
        """Keep a value.

        Raises:
            TypeError: the key isn't a string, or the value has a type that isn't built in.
        """
        if type(key) is not str:
            raise TypeError(f"a key of the state must be a string, not {type(key).__name__}")
        _check(value, f"state[{key!r}]")
        super().__setitem__(key, value)


def _check(value: Any, place: str, level: int = 0) -> None:
    # Exact types: a subclass would be a class of the tool's own.
    if type(value) in _SCALARS:
        return
    # a list can contain itself
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
    """Passed to a parameter annotated ``ToolContext``, which is not part of the tool's schema.

    ``elicit``, ``elicit_url``, ``sample`` and ``list_roots`` are awaited, and each has a sync form
    for sync tools. All other methods are plain calls in any tool, from any thread.

    Attributes:
        tool: the tool that runs.
        call_id: identifies the call in logs, events and ``Tooler.cancel``.
        registry: the tools.
        tooler: calls other tools; a tool must not call itself, directly or through others.
        state: values kept from call to call.
    """

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
        find: Callable[[type[HostRequest]], Ask],
    ) -> None:
        self.tool = tool
        self.call_id = call_id
        self.registry = registry
        self.tooler = tooler
        self.state = state
        self._listen = listen
        self._is_cancelled = is_cancelled
        self._find = find

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled or has timed out; a tool that checks it can stop early."""
        return self._is_cancelled()

    @property
    def tell(self) -> Listener:
        """The function that gets progress and log messages."""
        return self._listen

    def report_progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report the progress of the call: ``done`` of ``total``, in any unit.

        Raises:
            TypeError: an argument isn't a number.
            ValueError: an argument isn't finite.
        """
        check_number("done", done)
        check_given(check_number, total=total)
        words = message if message is None else str(message)
        self._listen(Progress(self.tool.name, self.call_id, done, total, words))

    def log(self, level: Level, message: str) -> None:
        """Send a log message to the call's listeners; the model doesn't see it.

        A level such as ``"critical"`` counts as the nearest of these four, an unknown one as info.
        """
        known = level if level in LEVELS else _SIMILAR.get(str(level), "info")
        self._listen(LogMessage(self.tool.name, self.call_id, known, str(message)))

    async def elicit(
        self, message: str, schema: dict[str, JSON] | None = None, *, key: str = ""
    ) -> Answer:
        """Send the user a question, and await the answer.

        Args:
            message: the question.
            schema: the JSON Schema of the answer, an object whose properties are strings, numbers,
                booleans or enums; None for a plain request for consent.
            key: identifies the question to clients since 2026-07-28; without it they see a number.

        Raises:
            ElicitationError: there's no user to answer, or the answer doesn't match the schema. The
                model reads the message unless the tool catches the error.
            ValueError: the schema's type isn't ``object``.
        """
        answer: Answer = await self._await(self._question(message, schema, key))
        return answer

    def elicit_sync(
        self, message: str, schema: dict[str, JSON] | None = None, *, key: str = ""
    ) -> Answer:
        """Send the user a question in a sync tool, and wait for the answer; see ``elicit``."""
        answer: Answer = self._wait_for("elicit", self._question(message, schema, key))
        return answer

    async def elicit_url(self, message: str, url: str, *, key: str = "") -> Answer:
        """Request that the user opens a page, such as a login; the client can't see the input.

        The answer has no content. It says that the user agreed, not that the user is done.

        Args:
            message: the reason, which the user reads.
            url: the http or https address of the page.
            key: as for ``elicit``.

        Raises:
            ElicitationError: there's no user to answer.
            ValueError: the URL's scheme isn't http or https.
        """
        answer: Answer = await self._await(self._page(message, url, key))
        return answer

    def elicit_url_sync(self, message: str, url: str, *, key: str = "") -> Answer:
        """Request that the user opens a page in a sync tool, and wait; see ``elicit_url``."""
        answer: Answer = self._wait_for("elicit_url", self._page(message, url, key))
        return answer

    def _page(self, message: str, url: str, key: str) -> Question:
        check_text("message", message)
        if not re.fullmatch(r"https?://[^\s/]\S*", str(url)):
            raise ValueError(f"a page has an address of http or https, unlike {url!r:.80}")
        return Question(self.tool.name, message, {}, str(key), url)

    def _question(self, message: str, schema: dict[str, JSON] | None, key: str) -> Question:
        check_text("message", message)
        wanted: Any = {"type": "object", "properties": {}} if schema is None else schema
        if not isinstance(wanted, dict) or wanted.get("type") != "object":
            raise ValueError(
                f"the schema of an answer must be of type 'object', not {wanted!r:.80}"
            )
        return Question(self.tool.name, message, wanted, str(key))

    async def sample(
        self, prompt: str | Sequence[Mapping[str, JSON]], *, max_tokens: int = 1000, **options: Any
    ) -> Sample:
        """Send a prompt to the client's model, and await its answer.

        Args:
            prompt: a string, or messages with ``role`` (``"user"`` or ``"assistant"``) and
                ``content``: a string, a content block of MCP, or a list of blocks.
            max_tokens: the maximum length of the answer.
            options: ``system_prompt``, which the client can ignore; ``temperature``;
                ``stop_sequences``, strings that end the answer; ``key``, as for ``elicit``.

        Raises:
            SamplingError: there's no model to answer, or it doesn't. The calling model reads the
                message unless the tool catches the error.
            ValueError: the prompt is neither a string nor a list of messages, or a number is out of
                range.
            TypeError: an option is unknown, or its value has the wrong type.
        """
        request = sample_request(self.tool.name, prompt, max_tokens=max_tokens, **options)
        sample: Sample = await self._await(request)
        return sample

    def sample_sync(
        self, prompt: str | Sequence[Mapping[str, JSON]], *, max_tokens: int = 1000, **options: Any
    ) -> Sample:
        """Send a prompt to the client's model in a sync tool, and wait; see ``sample``."""
        request = sample_request(self.tool.name, prompt, max_tokens=max_tokens, **options)
        sample: Sample = self._wait_for("sample", request)
        return sample

    async def list_roots(self, *, key: str = "") -> list[Root]:
        """Return the directories and files that the client works with.

        Raises:
            RootsError: the client doesn't answer.
        """
        roots: list[Root] = await self._await(RootsRequest(self.tool.name, str(key)))
        return roots

    def list_roots_sync(self, *, key: str = "") -> list[Root]:
        """Return the directories and files of the client in a sync tool; see ``list_roots``."""
        roots: list[Root] = self._wait_for("list_roots", RootsRequest(self.tool.name, str(key)))
        return roots

    def _wait_for(self, method: str, request: ClientRequest) -> Any:
        check_sendable(request)
        ask = self._find(type(request))
        # no import cost: a client that can answer uses asyncio
        from asyncio import get_running_loop  # noqa: PLC0415

        with suppress(RuntimeError):
            get_running_loop()
            words = f"{method}_sync would stop the event loop that brings the answer"
            error = REQUEST_KINDS[type(request)].error
            raise error(f"{words}: await context.{method} in an async tool")
        return answer_of(request, ask(request))

    async def _await(self, request: ClientRequest) -> Any:
        check_sendable(request)
        future = self._find(type(request))(request)
        return await awaited_answer(request, future)


_SIMILAR: dict[str, Level] = {
    "warn": "warning", "exception": "error", "critical": "error", "fatal": "error",
}  # fmt: skip
