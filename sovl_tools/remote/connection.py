"""A session with a server of the Model Context Protocol: connecting, requests, and changes."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from pydantic import TypeAdapter, ValidationError

from sovl_tools.model.content import cut_characters
from sovl_tools.model.context import ToolContext
from sovl_tools.model.document import JSON, canonical
from sovl_tools.remote.session import McpServer, RemoteError, variable
from sovl_tools.remote.snapshot import LISTS, Offer, Reviewed, SnapshotError, name_of
from sovl_tools.remote.transport import TERMINATED, open_client

MAX_TOOLS: Final = 20_000
_TEMPLATES = "resourceTemplates"
_METHODS = {_TEMPLATES: "resources/templates"}
"""The names in methods, where they aren't those of the lists."""
_RESULT = TypeAdapter(dict[str, Any])
_URL = re.compile(r"(https?://)(?:[^\s/@]*@)?([^\s/?#]+)[^\s;,]*")
_LONGEST_REASON = 500
_LONGEST_CALL = 600.0
"""How long a call can take, in seconds, if no Tooler ends it before."""
_PATIENCE = 3
"""How many limits a list can take: to connect, to ask, and to ask again after the server died."""
_PARTING = 6.0
"""How long the SDK can take to end a server, in seconds: it asks, terminates, kills."""

Send = Callable[[Client], Awaitable[dict[str, Any]]]


class McpSession:
    """The session with one server; its methods run on the loop of connections.

    Attributes:
        on_change: is called when the server says that its tools have changed, and where a call has
            found another server instead of one that has died.
    """

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.on_change: list[Callable[[], object]] = []
        self._lock = asyncio.Lock()
        self._client: Client | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._connections = 0
        self._changes = 0
        self._listed: tuple[int, list[JSON]] | None = None

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        context: ToolContext | None,
        *,
        is_repeatable: bool,
    ) -> dict[str, Any]:
        """Call a tool; return the server's answer.

        Raises:
            RemoteError: there isn't one, or the tool isn't as reviewed.
        """
        if self.server.locked is not None:
            await self._check_reviewed(tool, self.server.locked)
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))

        async def report(done: float, total: float | None, message: str | None) -> None:
            if context is not None:
                context.report_progress(done, total, message)

        async def send(client: Client) -> dict[str, Any]:
            session: Any = client.session
            request = types.CallToolRequest(params=params)
            found = await session.send_request(request, _RESULT, progress_callback=report)
            return dict(found)

        before = self._connections
        try:
            answer = await self._request(send, _LONGEST_CALL, is_repeatable=is_repeatable)
        finally:
            # not for a list: a server that dies of lists must not be asked again
            if before and self._connections != before:
                self._changed()
        if answer.get("resultType", "complete") != "complete":
            raise RemoteError(f"{self.server} asks for input, which its tools can't be given here")
        return answer

    async def _check_reviewed(self, tool: str, path: str) -> None:
        """Compare a tool, as the server last listed it, with a snapshot.

        Raises:
            RemoteError: they differ, or one of the two can't be had.
        """
        try:
            reviewed = Reviewed.of(path)
        except SnapshotError as error:
            raise RemoteError(str(error)) from error
        await self._connected()
        if self._listed is None or self._listed[0] != self._changes:
            changes = self._changes  # a list can be older than a change meanwhile
            self._listed = changes, await self.list_tools()
        named = [each for each in self._listed[1] if name_of(each) == tool]
        objection = reviewed.objection(named[0]) if named else "its server doesn't list it anymore"
        if objection is not None:
            raise RemoteError(f"the tool {tool!r:.80} isn't as reviewed: {objection}")

    async def offer(self) -> Offer:
        """Return everything that the server lists.

        Raises:
            RemoteError: a list is missing, endless or different each time.
        """
        client = await self._connected()
        found: dict[str, list[JSON]] = {}
        for kind in LISTS:
            of = "resources" if kind == _TEMPLATES else kind
            try:
                is_offered = getattr(client.server_capabilities, of) is not None
                found[kind] = await self._list(kind) if is_offered else []
            except RemoteError as error:
                # servers without templates needn't know the method
                if kind != _TEMPLATES or error.code != types.METHOD_NOT_FOUND:
                    raise
                found[kind] = []
        again = await self._list("tools") if found["tools"] else []
        if sorted(map(canonical, again)) != sorted(map(canonical, found["tools"])):
            raise RemoteError(f"{self.server} lists different tools each time")
        info = client.server_info
        about = {"name": info.name, "version": info.version} if info is not None else {}
        return Offer(about, str(client.protocol_version), found)

    async def list_tools(self) -> list[JSON]:
        """Return all definitions, as they were sent: one that is wrong spoils no other.

        Raises:
            RemoteError: there's no list.
        """
        return await self._list("tools")

    async def _list(self, kind: str) -> list[JSON]:
        """Return all pages of a list, such as ``tools``."""
        limit = _PATIENCE * self.server.timeout
        found: list[JSON] = []
        cursors: list[JSON] = [None]
        try:
            async with asyncio.timeout(limit):
                while True:
                    page = await self._page(kind, cursors[-1])
                    items, cursor = page.get(kind), page.get("nextCursor")
                    if not isinstance(items, list):
                        raise RemoteError(f"{self.server} sends no list of {kind}")
                    found += items
                    if len(found) > MAX_TOOLS:
                        raise RemoteError(f"{self.server} has more than {MAX_TOOLS:,} {kind}")
                    if cursor is None:
                        return found
                    if cursor in cursors:
                        raise RemoteError(f"{self.server} sends pages of {kind} that do not end")
                    cursors.append(cursor)
        except TimeoutError:
            raise RemoteError(f"{self.server} did not send all its {kind} in {limit:g} s") from None

    async def _page(self, kind: str, cursor: str | None) -> dict[str, Any]:
        async def send(client: Client) -> dict[str, Any]:
            session: Any = client.session
            data: dict[str, Any] = {"method": f"{_METHODS.get(kind, kind)}/list"}
            data |= {"params": {"cursor": cursor}} if cursor is not None else {}
            options: dict[str, Any] = {}
            session._stamp(data, options)  # noqa: SLF001 - the dispatcher's own needs it
            dispatcher = session._dispatcher  # noqa: SLF001 - list_tools rejects all for one tool
            found: dict[str, Any] = await dispatcher.send_raw_request(
                data["method"], data.get("params"), options
            )
            return found

        return await self._request(send, self.server.timeout, is_repeatable=True)

    async def _request(self, send: Send, limit: float, *, is_repeatable: bool) -> dict[str, Any]:
        """Send a request; again, once each, if the connection was lost or headers have changed."""
        may_list = may_reconnect = True
        while True:
            client = await self._connected()
            try:
                # the SDK's own limit begins when the server has taken the request
                async with asyncio.timeout(limit):
                    return await send(client)
            except TimeoutError:
                raise RemoteError(f"{self.server} did not answer in {limit:g} s") from None
            except ValidationError as error:
                words = f"{self.server} answers with what isn't a result of the protocol"
                raise RemoteError(f"{words}: {self._reason(error)}") from error
            except MCPError as error:
                if error.code == types.HEADER_MISMATCH and may_list:
                    # the SDK learns from the list which arguments the server wants in headers
                    may_list = False
                    with suppress(ValidationError, MCPError):
                        await client.session.list_tools()
                    continue
                is_over = error.message == TERMINATED
                if error.code != types.CONNECTION_CLOSED and not is_over:
                    words = f"{self.server}: {self._reason(error)}"
                    raise RemoteError(words, error.code) from error
                async with self._lock:
                    if self._client is client:
                        await self.close()
                # a session that the server has forgotten was rejected before anything was done
                if may_reconnect and (is_repeatable or is_over):
                    may_reconnect = False
                    continue
                words = "doesn't know a session that it has just opened"
                if not is_over:
                    words = "ended the connection during the call"
                    words += "" if is_repeatable else ", which can have been carried out"
                raise RemoteError(f"{self.server} {words}") from error

    async def _connected(self) -> Client:
        """Return a client that is connected, after connecting if need be."""
        async with self._lock:
            if self._client is None or _is_closed(self._client):
                await self.close()
                self._changes += 1
                self._client = await self._connect()
                self._connections += 1
            return self._client

    async def _connect(self) -> Client:
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        # the SDK's scopes must be left by the task that has entered them
        self._keeper = asyncio.create_task(self._keep(ready))
        try:
            async with asyncio.timeout(self.server.timeout):
                return await asyncio.shield(ready)
        except BaseException as error:
            self._keeper.cancel()
            if isinstance(error, RemoteError | asyncio.CancelledError):
                raise
            words = f"can't be reached: {self._reason(error)}"
            if isinstance(error, TimeoutError):
                words = f"did not answer in {self.server.timeout:g} s"
            raise RemoteError(f"{self.server} {words}") from error

    async def _keep(self, ready: asyncio.Future[Client]) -> None:
        """Hold a connection until the task is cancelled."""
        try:
            async with self._opened() as client:
                ready.set_result(client)
                await self._listen(client)
        except Exception as error:  # noqa: BLE001 - the waiting caller gets it
            if not ready.done():
                ready.set_exception(error)

    async def _listen(self, client: Client) -> None:
        """Hear of changes since 2026-07-28, where a client must ask for them."""
        # older servers tell without being asked; others may not tell at all
        with suppress(ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            while True:
                async with client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self._changed()
                await asyncio.sleep(1)  # it may end a stream at any time
        await asyncio.Event().wait()

    def _opened(self) -> AbstractAsyncContextManager[Client]:
        server = self.server
        env = {key: variable(key) if text is None else text for key, text in server.env}
        headers = {name: variable(key) for name, key in server.headers}
        headers |= dict(server.header_values)
        for name, text in headers.items():
            # the client would say so by showing the value, which can be secret
            if not (text.isascii() and text.isprintable()):
                words = "may only have printable characters of ASCII; is a line break at its end?"
                raise RemoteError(f"{server}: the value of the header {name!r} {words}")
        kind: dict[str, Any] = {"headers": headers} if server.is_url else {"env": env}
        return open_client(server.filled_address(), self._changed, **kind)

    def _changed(self) -> None:
        self._changes += 1
        for each in [*self.on_change]:
            each()

    async def close(self) -> None:
        """End the connection, and the server's process with it."""
        keeper, self._keeper, self._client = self._keeper, None, None
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait([keeper], timeout=_PARTING)

    def _reason(self, error: BaseException) -> str:
        """Return why something failed, in one line, without the address."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        text = " ".join(str(error)[: 4 * _LONGEST_REASON].split()) or type(error).__name__
        address, name = self.server.address, str(self.server)
        for each in [address] if self.server.is_url else [address, shlex.split(address)[0]]:
            text = text.replace(each, name)
        # a path can be secret
        return cut_characters(_URL.sub(r"\1\2", text), _LONGEST_REASON)


def _is_closed(client: Client) -> bool:
    """Return whether a connection has ended, so that a call can be sent on another."""
    session: Any = client.session
    dispatcher = session._dispatcher  # noqa: SLF001 - the SDK raises the same error
    return bool(dispatcher._closed)  # noqa: SLF001 - before and after it sends a request
