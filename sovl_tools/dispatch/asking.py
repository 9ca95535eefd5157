"""How a running call sends requests to its host or client."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sovl_tools.dispatch.failure import trace_of
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.client_requests import (
    REQUEST_KINDS,
    ApprovalRequest,
    Ask,
    HostRequest,
    Question,
    RequestKind,
)
from sovl_tools.model.errors import RunCancelledError, ToolError
from sovl_tools.model.redaction import redact
from sovl_tools.threads import start

if TYPE_CHECKING:
    from concurrent.futures import Future

Secrets: TypeAlias = tuple[str, ...]
_LOGGER = logging.getLogger("sovl_tools")


def find_client(
    scope: CallScope, secrets: Secrets, kind: type[HostRequest]
) -> Callable[[HostRequest], Future[Any]]:
    """Return a function that sends requests to the host while a caller waits for the call.

    Raises:
        ToolError: no host or client answers such requests.
    """
    ask = scope.asks.get(kind)
    if ask is None:
        option, error, words, client = REQUEST_KINDS[kind][:4]
        raise error(f"{words}; connect a client that {client}, or set {option} in Host")

    def begin(request: HostRequest) -> Future[Any]:
        asked = kind(*(_redacted(each, secrets) for each in request))
        future = _begin(ask, asked, scope, secrets)
        if isinstance(request, Question | ApprovalRequest):  # a person takes the time that it takes
            scope.count_wait(1)
            future.add_done_callback(lambda _: scope.count_wait(-1))
        scope.on_stop(future.cancel)
        future.add_done_callback(lambda _: scope.forget(future.cancel))
        return future

    return begin


class OnThread(NamedTuple):
    """A function of a host, which can wait for a person and is called on a thread."""

    ask: Ask


def _begin(
    ask: Ask | OnThread, request: HostRequest, scope: CallScope, secrets: Secrets
) -> Future[Any]:
    """Send a request; return the future of its answer."""
    from concurrent.futures import (  # noqa: PLC0415 - 10 ms, for few calls
        CancelledError,
        Future,
        InvalidStateError,
    )

    future: Future[Any] = Future()

    def settle(value: Any, error: BaseException | None) -> None:
        with suppress(InvalidStateError):  # it was cancelled
            if error is None:
                future.set_result(value)
            elif isinstance(error, CancelledError):
                future.cancel()
            else:
                future.set_exception(_passable(error, REQUEST_KINDS[type(request)], secrets))

    def take(found: Any, error: BaseException | None) -> None:
        """Take the function's return value: an answer, or an awaitable or future of one."""
        if hasattr(found, "__await__"):
            from sovl_tools.dispatch.background import submit  # noqa: PLC0415 - asyncio

            found = submit(found, scope.loop)
        if not isinstance(found, Future):
            settle(found, error)
            return
        # a caller that stopped waiting also stops the question
        future.add_done_callback(lambda outer: outer.cancelled() and found.cancel())
        found.add_done_callback(lambda inner: settle(*_outcome(inner)))

    if isinstance(ask, OnThread):
        start(partial(ask.ask, request), take)
    else:
        try:
            found = ask(request)
        except BaseException as error:  # noqa: BLE001 - becomes the answer
            take(None, error)
        else:
            take(found, None)
    return future


def _outcome(future: Future[Any]) -> tuple[Any, BaseException | None]:
    from concurrent.futures import CancelledError  # noqa: PLC0415 - it has made the future

    if future.cancelled():
        return None, CancelledError()
    error = future.exception()
    return (None, error) if error is not None else (future.result(), None)


def _passable(error: BaseException, kind: RequestKind, secrets: Secrets) -> BaseException:
    """Return the tool's exception for an exception of the function that answers."""
    if isinstance(error, ToolError | RunCancelledError | KeyboardInterrupt):
        return error
    # a mistake of whoever wrote the function, who doesn't read what the model gets
    _LOGGER.warning("%s failed\n%s", kind.option, trace_of(error, secrets))
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    found = kind.error(f"{kind.option} failed: {words}")
    found.__cause__ = error
    return found


def _redacted(value: Any, secrets: Secrets) -> Any:
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {key: _redacted(each, secrets) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_redacted(each, secrets) for each in value)
    return value
