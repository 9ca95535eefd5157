"""Who may ask the server for something, and how much of it at a time."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address
from time import perf_counter, time
from typing import Any, cast

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sovl_tools.model.document import JSON
from sovl_tools.serving.limits import MAX_BODY_BYTES, MAX_CONCURRENCY
from sovl_tools.serving.problems import CLIENT_LEFT, problem

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""What is answered without a token: probes have none, and learn nothing else."""

MCP_PATH = "/mcp"
MAX_LISTENERS = 1_000
"""How many clients may wait for news on a stream of their own; calls are counted apart."""

_SINGLE = (b"authorization", b"content-type", b"host", b"origin")
_BODILESS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})

Log = Callable[[dict[str, JSON]], object]
"""Called with each request when its answer has ended: a line of an access log."""


@dataclass(frozen=True, kw_only=True)
class Security:
    """What a request must have, and what a server bears.

    Whatever is served, a page in a browser must not reach it by a name that leads here (DNS
    rebinding). So without tokens the ``Host`` of a request must be an IP address, ``localhost`` or
    one of ``hosts``; and an ``Origin`` must be the server's own, one of ``origins`` or, for a
    request to this machine, of this machine.

    Attributes:
        tokens: bearer tokens, one of which each request must have; without any nobody needs one.
        hosts: names under which the server is known, such as ``tools.example.com``; with them
            other names are refused, whether there are tokens or not.
        origins: pages that may call from a browser, such as ``https://chat.example.com``; ``*``
            for all.
        max_body_bytes: longer requests are refused before they are read.
        max_concurrency: how many requests are under way at a time; more are asked to come again.
        max_connections: how many connections there may be, and no more than half of the files that
            the process may open; for another one that is closed which has been idle the longest.
        head_timeout: how long a client may take to say what it wants, in seconds.
        body_timeout: how long it may take to send the body.
        write_timeout: how long it may read nothing of what is there for it.

    Raises:
        ValueError: a token can't be sent in a header, an origin is none, or a limit is below 1.
    """

    tokens: tuple[str, ...] = field(default=(), repr=False)
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    max_body_bytes: int = MAX_BODY_BYTES
    max_concurrency: int = MAX_CONCURRENCY
    max_connections: int = 2_000
    head_timeout: float = 10.0
    body_timeout: float = 30.0
    write_timeout: float = 60.0

    def __post_init__(self) -> None:
        for token in self.tokens:
            # RFC 6750; the message does not repeat it
            if not re.fullmatch(r"[\x21-\x7e]+", token):
                raise ValueError("a token must be of visible ASCII characters, at least one")
        for origin in self.origins:
            if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s]+", origin):
                raise ValueError(f"an origin is like 'https://example.com', not {origin!r}")
        for limit in fields(self):
            value = getattr(self, limit.name)
            # a comparison that is never true of what is no number
            if limit.name not in {"tokens", "hosts", "origins"} and not value > 0:
                raise ValueError(f"{limit.name} must be more than 0, not {value!r}")

    def refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that nobody may make, judged by its head; else None."""
        headers: dict[bytes, str] = {}
        for name, value in scope["headers"]:
            if name in _SINGLE and name in headers:
                return problem(400, f"the header {name.decode()!r} is given more than once")
            headers[name] = value.decode("latin-1")
        host = headers.get(b"host", "")
        if not self.knows_host(host):
            detail = f"no host {host[:80]!r} is served here; the server can be told to allow it"
            return problem(421, detail)
        origin = headers.get(b"origin")
        if origin is not None and not self.knows_origin(origin, host):
            detail = f"no page of {origin[:80]!r} may call; the server can be told to allow it"
            return problem(403, detail)
        is_preflight = (
            scope["method"] == "OPTIONS"
            and origin is not None
            and b"access-control-request-method" in headers
        )
        if is_preflight or path_of(scope) in OPEN_PATHS:
            return None
        return self._unauthorized(headers.get(b"authorization"))

    def _unauthorized(self, given: str | None) -> Response | None:
        if not self.tokens:
            return None
        scheme, _, token = (given or "").partition(" ")
        sent = token.strip().encode()
        # all are compared, each in constant time, so that nothing tells which is nearly right
        matches = [hmac.compare_digest(sent, each.encode()) for each in self.tokens]
        if scheme.lower() == "bearer" and any(matches):
            return None
        challenge = 'Bearer realm="tools"'
        if given is None:
            detail = "a bearer token is needed, in the header Authorization"
            return problem(401, detail, {"WWW-Authenticate": challenge})
        challenge += ', error="invalid_token"'
        return problem(401, "the token is not valid", {"WWW-Authenticate": challenge})

    def knows_host(self, given: str) -> bool:
        """Tell whether the server answers under the ``Host`` of a request."""
        name = _name_of(given)
        # no name can be made to lead to an address; probes ask by it
        if _is_local(name) or _is_address(name):
            return True
        if self.hosts:
            return name in {each.lower() for each in self.hosts}
        return bool(name) and bool(self.tokens)  # a client with a token knows where to ask

    def knows_origin(self, origin: str, host: str) -> bool:
        """Tell whether pages of an origin may call under a host that is known."""
        if "*" in self.origins or origin in self.origins:
            return True
        _, _, place = origin.partition("://")
        if not place:
            return False
        is_same = place.lower() == host.lower()
        return is_same or (_is_local(_name_of(place)) and _is_local(_name_of(host)))


@lru_cache(256)
def _name_of(host: str) -> str:
    """Return the name or the address of a ``Host``, without the port."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]\s@/]+)(:\d{1,5})?", host.lower())
    return "" if found is None else found[1].strip("[]").removesuffix(".")


@lru_cache(256)
def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@lru_cache(256)
def _is_local(name: str) -> bool:
    """Tell whether a name or an address is this machine's own."""
    return name == "localhost" or (_is_address(name) and ip_address(name).is_loopback)


def path_of(scope: Scope) -> str:
    """Return the path of a request below the one under which the application is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "")) or "/"


class Traffic:
    """The requests that are under way.

    Attributes:
        calls: the tasks of those that are answered, but for those that only wait for news.
        listeners: the tasks of the others.
        unread: how many bytes there are of bodies that are not complete.
        is_ending: whether the server takes no more.
    """

    def __init__(self) -> None:
        self.calls: set[asyncio.Task[Any]] = set()
        self.listeners: set[asyncio.Task[Any]] = set()
        self.unread = 0
        self.is_ending = False

    def end(self) -> None:
        """Take no more requests, and end those that would never end by themselves."""
        self.is_ending = True
        for task in self.listeners:
            task.cancel()


class Guard:
    """Refuses requests that nobody may make or that are too much, before anything reads them.

    It reads the body of a request for the application, within the limits; is notified when requests
    end; and answers those that a shutdown cuts off.
    """

    def __init__(
        self, app: ASGIApp, *, security: Security, traffic: Traffic, log: Log | None
    ) -> None:
        self._app = app
        self._security = security
        self._traffic = traffic
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            # there are no web sockets here, and a lifespan asks for nothing
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            await self._answer(scope, receive, answer)
        except asyncio.CancelledError:
            if not self._traffic.is_ending:
                raise
            cast("asyncio.Task[Any]", asyncio.current_task()).uncancel()
            await answer.cut_off(scope, receive)
        except Exception:
            answer.status = answer.status or 500  # which is sent further out
            raise
        finally:
            if self._log is not None:
                self._log(answer.record(scope))

    async def _answer(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        # a stream of news, which ends only with the client
        is_listening = path_of(scope) == MCP_PATH and (
            scope["method"] == "GET" or _header(scope, b"mcp-method") == b"subscriptions/listen"
        )
        under_way = self._traffic.listeners if is_listening else self._traffic.calls
        body = (
            self._security.refusal(scope)
            or self._refused_length(scope)
            or self._busy(scope, under_way)
            # before it has a place among the others, so that a slow client takes none
            or await self._body(scope, receive)
        )
        if isinstance(body, list):
            body = self._busy(scope, under_way) or body
        if body is None:
            answer.status = CLIENT_LEFT
        elif isinstance(body, Response):
            await body(scope, receive, answer.send)
        else:
            task = cast("asyncio.Task[Any]", asyncio.current_task())
            under_way.add(task)
            try:
                await self._app(scope, _replayed(body, receive), answer.send)
            finally:
                under_way.discard(task)

    def _busy(self, scope: Scope, under_way: Collection[object]) -> Response | None:
        """Return the answer to a request for which there is no place now."""
        is_listening = under_way is self._traffic.listeners
        most = MAX_LISTENERS if is_listening else self._security.max_concurrency
        if path_of(scope) in OPEN_PATHS or not (self._traffic.is_ending or len(under_way) >= most):
            return None
        ends = self._traffic.is_ending
        detail = "the server ends" if ends else f"{most} requests are under way"
        return problem(503, f"{detail}; try again later", {"Retry-After": "1"})

    def _refused_length(self, scope: Scope) -> Response | None:
        """Return the answer to a request that says itself that it is too long."""
        length = _header(scope, b"content-length")
        digits = length.strip()
        if digits and _header(scope, b"transfer-encoding"):
            # where two servers read it differently, one hides a request from the other
            words = "a request has 'content-length' or 'transfer-encoding', not both"
            return problem(400, words, _CLOSE)
        if digits and not digits.isdigit():
            return problem(400, "the header 'content-length' is no number", _CLOSE)
        most = self._security.max_body_bytes
        # compared by digits first: an integer of many is slow to read
        if len(digits) > len(str(most)) or int(digits or 0) > most:
            return self._too_long()
        return None

    def _too_long(self) -> Response:
        most = self._security.max_body_bytes
        return problem(413, f"a request may have {most:,} bytes", _CLOSE)

    async def _body(self, scope: Scope, receive: Receive) -> list[Message] | Response | None:
        """Return the body as one message or none, a refusal, or None if the client has left."""
        if scope["method"] in _BODILESS and not (
            _header(scope, b"content-length").strip(b"0") or _header(scope, b"transfer-encoding")
        ):
            return []
        parts: list[bytes] = []
        size, most, traffic = 0, self._security.max_body_bytes, self._traffic
        try:
            async with asyncio.timeout(self._security.body_timeout):
                while (message := await receive())["type"] == "http.request":
                    part = message.get("body", b"")
                    size += len(part)
                    traffic.unread += len(part)
                    if size > most:
                        return self._too_long()
                    if traffic.unread > most * self._security.max_concurrency:
                        words = "too much is sent at a time; try again later"
                        return problem(503, words, {"Retry-After": "1", **_CLOSE})
                    parts.append(part)
                    if not message.get("more_body", False):
                        whole = {"body": b"".join(parts), "more_body": False}
                        return [{"type": "http.request", **whole}]
        except TimeoutError:
            return problem(408, "the request did not come in time", _CLOSE)
        finally:
            traffic.unread -= size
        return None


_CLOSE = {"Connection": "close"}


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _replayed(messages: Iterable[Message], receive: Receive) -> Receive:
    """Return a ``receive`` that gives what was read already, and then what comes."""
    waiting = iter(messages)

    async def replay() -> Message:
        message = next(waiting, None)
        return await receive() if message is None else message

    return replay


class _Answer:
    """The answer to one request, as far as it has been sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = time()
        self._clock = perf_counter()
        self.status: int | None = None
        self.size = 0
        self.is_whole = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.size += len(message.get("body", b""))
            self.is_whole = not message.get("more_body", False)
        await self._send(message)

    async def cut_off(self, scope: Scope, receive: Receive) -> None:
        """End an answer that the server does not wait for any more."""
        if self.status is None:
            ending = problem(503, "the server ended before the answer was there", _CLOSE)
            await ending(scope, receive, self.send)
        elif not self.is_whole:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    def record(self, scope: Scope) -> dict[str, JSON]:
        """Return what the access log says; neither queries nor headers, which may be secret."""
        moment = datetime.fromtimestamp(self._started, UTC)
        client = scope.get("client")
        path = scope.get("raw_path") or scope["path"].encode()
        return {
            "time": moment.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "client": client[0] if client else None,
            "method": scope["method"],
            "path": path.decode("ascii", "backslashreplace"),
            "status": self.status,
            "bytes": self.size,
            "duration": round(perf_counter() - self._clock, 6),
        }
