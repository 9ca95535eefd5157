"""Checks requests before the application gets them: hosts, origins, tokens and sizes."""

from __future__ import annotations

import asyncio
import hmac
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, cast

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sovl_tools.serving.limits import MAX_BODY_BYTES, MAX_CONCURRENCY, MAX_CONTAINERS
from sovl_tools.serving.problems import problem
from sovl_tools.serving.traffic import CLIENT, Client, Traffic

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""The paths that need no token: probes don't have one."""

LOCAL_ORIGINS = r"[a-z][a-z0-9+.-]*://(localhost\.?|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?"
"""The origins of this machine's pages, as a regular expression."""

_SINGLE = (b"authorization", b"content-type", b"host", b"origin")
_CLOSE = {"Connection": "close"}


_ALLOWING = "allow it with --allow-{0} or Security({0}s=…)"


@dataclass(frozen=True, kw_only=True)
class Security:
    """The requirements for requests, and the limits of a server.

    A page in a browser must not reach the tools by a name that resolves to this machine (DNS
    rebinding). So without tokens the ``Host`` of a request must be an IP address, ``localhost`` or
    one of ``hosts``; and an ``Origin`` must be the server's own, one of ``origins`` or, for a
    request to this machine, of this machine.

    Attributes:
        tokens: bearer tokens; each request must have one of them, if there are any.
        hosts: the server's host names, such as ``tools.example.com``; other names are then
            rejected, even with a token.
        origins: origins whose pages can call from a browser, such as ``https://chat.example.com``;
            ``*`` for all.
        max_body_bytes: longer requests are rejected.
        max_concurrency: the maximum number of calls at a time; further ones are rejected.

    Raises:
        ValueError: a token can't be sent in a header, an origin isn't one, or a limit is below 1.
    """

    tokens: tuple[str, ...] = field(default=(), repr=False)
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    max_body_bytes: int = MAX_BODY_BYTES
    max_concurrency: int = MAX_CONCURRENCY

    def __post_init__(self) -> None:
        for token in self.tokens:
            # RFC 6750; the message does not repeat it
            if not re.fullmatch(r"[\x21-\x7e]+", token):
                raise ValueError("a token must be of visible ASCII characters, at least one")
        for origin in self.origins:
            if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s]+", origin):
                raise ValueError(f"an origin is like 'https://example.com', not {origin!r}")
        for name in ("max_body_bytes", "max_concurrency"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be more than 0, not {getattr(self, name)!r}")

    def refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that isn't allowed by its head, or None."""
        headers: dict[bytes, str] = {}
        for name, value in scope["headers"]:
            if name in _SINGLE and name in headers:
                return problem(400, f"the header {name.decode()!r} is given more than once")
            headers[name] = value.decode("latin-1")
        host = headers.get(b"host", "")
        if not self.knows_host(host):
            detail = f"the host {host[:80]!r} is not allowed; {_ALLOWING.format('host')}"
            return problem(421, detail)
        origin = headers.get(b"origin")
        if origin is not None and not self.knows_origin(origin, host):
            detail = f"pages of {origin[:80]!r} are not allowed; {_ALLOWING.format('origin')}"
            return problem(403, detail)
        is_preflight = (
            scope["method"] == "OPTIONS"
            and origin is not None
            and b"access-control-request-method" in headers
        )
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        if not (is_preflight or self.is_open(path)):
            refused = self._unauthorized(headers.get(b"authorization"))
            if refused is not None:
                return refused
        length = headers.get(b"content-length", "").strip()
        # an integer of many digits is slow to read
        if length.isdecimal() and int(length[:20]) > self.max_body_bytes:
            return self.too_long()
        return None

    def is_open(self, path: str) -> bool:
        """Return True if requests for a path need no token."""
        return path in OPEN_PATHS

    def too_long(self) -> Response:
        """Return the answer to a request whose body is too long."""
        return problem(413, f"a request can have {self.max_body_bytes:,} bytes", _CLOSE)

    def _unauthorized(self, given: str | None) -> Response | None:
        if not self.tokens:
            return None
        scheme, _, token = (given or "").partition(" ")
        sent = token.strip().encode()
        # compare all, each in constant time, so that timing doesn't reveal a token
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
        """Return True if the server answers requests with this ``Host``."""
        name = _name_of(given)
        # DNS can't rebind an address, and probes use it
        if _is_local(name) or _is_address(name):
            return True
        if self.hosts:
            return name in {each.lower() for each in self.hosts}
        return bool(name) and bool(self.tokens)  # a client with a token knows where to ask

    def knows_origin(self, origin: str, host: str) -> bool:
        """Return True if pages of this origin can call a server at this host."""
        if "*" in self.origins or origin in self.origins:
            return True
        _, _, place = origin.partition("://")
        if not place:
            return False
        is_same = place.lower() == host.lower()
        return is_same or (_is_local(_name_of(place)) and _is_local(_name_of(host)))


def _name_of(host: str) -> str:
    """Return the name or the address of a ``Host``, without the port."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]\s@/]+)(:\d{1,5})?", host.lower())
    return "" if found is None else found[1].strip("[]").removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_local(name: str) -> bool:
    """Return True for a name or an address of this machine."""
    return name == "localhost" or (_is_address(name) and ip_address(name).is_loopback)


class Guard:
    """The outermost middleware: it rejects the requests that ``Security`` doesn't allow.

    It reads the body of a request for the application, notices when the client leaves, and answers
    the requests that a shutdown cuts off.
    """

    def __init__(self, app: ASGIApp, *, security: Security, traffic: Traffic) -> None:
        self._app = app
        self._security = security
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            # there are no web sockets here, and a lifespan asks for nothing
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            body = self._security.refusal(scope) or await self._body(receive)
            if isinstance(body, Response):
                await body(scope, receive, answer.send)
            elif body is not None:
                await self._forward(scope, body, receive, answer)
        except asyncio.CancelledError:
            if not self._traffic.is_ending:
                raise
            cast("asyncio.Task[Any]", asyncio.current_task()).uncancel()
            await answer.cut_off(scope, receive)

    async def _body(self, receive: Receive) -> Message | Response | None:
        """Return the body as one message, a rejection, or None if the client has left."""
        body = bytearray()
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if len(body) > self._security.max_body_bytes:
                return self._security.too_long()
            if not message.get("more_body", False):
                if body.count(b"[") + body.count(b"{") > MAX_CONTAINERS:
                    return problem(413, f"a request can have {MAX_CONTAINERS:,} '[' and '{{'")
                return {"type": "http.request", "body": bytes(body), "more_body": False}
        return None

    async def _forward(
        self, scope: Scope, body: Message, receive: Receive, answer: _Answer
    ) -> None:
        """Let the application answer, and cancel its calls if the client disconnects."""
        client = Client(self._traffic)
        waiting = [body]

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            client.leave()

        async def replay() -> Message:
            if waiting:
                return waiting.pop()
            await client.left.wait()
            return {"type": "http.disconnect"}

        watching = asyncio.create_task(watch())
        self._traffic.clients.add(client)
        try:
            await self._app({**scope, CLIENT: client}, replay, answer.send)
            if self._traffic.is_ending:
                await answer.cut_off(scope, receive)  # a stream of news
        finally:
            self._traffic.clients.discard(client)
            watching.cancel()


class _Answer:
    """The answer to one request, as far as it has been sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_begun = False
        self._is_whole = False

    async def send(self, message: Message) -> None:
        self._is_begun = True
        if message["type"] == "http.response.body":
            self._is_whole = not message.get("more_body", False)
        await self._send(message)

    async def cut_off(self, scope: Scope, receive: Receive) -> None:
        """End an answer that the server no longer waits for."""
        if not self._is_begun:
            ending = problem(503, "the server ended before the answer was there", _CLOSE)
            await ending(scope, receive, self.send)
        elif not self._is_whole:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})
