"""Servers of the Model Context Protocol, and the one session that is kept with each.

A session lives on the loop of connections, so that sync and async tools of any thread share it. It
begins with the first call, begins again after the server has died, and ends with the program.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import re
import shlex
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sovl_tools.model.call import SERVER_TIMEOUT
from sovl_tools.model.content import cut_characters
from sovl_tools.model.context import ToolContext
from sovl_tools.model.document import JSON, canonical
from sovl_tools.model.errors import SovlToolsError, ToolError
from sovl_tools.remote.answer import value_of
from sovl_tools.remote.loop import RemoteLoop, remote_loop, run_remotely
from sovl_tools.remote.snapshot import LISTS, Offer, Reviewed, SnapshotError

MAX_TOOLS = 20_000
_TEMPLATES = "resourceTemplates"
_PATHS = {_TEMPLATES: "resources/templates"}
"""The names in methods, where they aren't those of the lists."""
_UNKNOWN_METHOD = -32601
_CLOSED, _TERMINATED, _HEADER_MISMATCH = -32000, "Session terminated", -32020
_URL = re.compile(r"(https?://)(?:[^\s/@]*@)?([^\s/?#]+)[^\s;,]*")
_LONGEST = 60
_LONGEST_REASON = 500
_LONGEST_CALL = 600.0
"""How long a call can take, in seconds, if no Tooler ends it before."""
_PATIENCE = 3
"""How many limits a list can take: to connect, to ask, and to ask again after the server died."""


class RemoteError(SovlToolsError):
    """A server that can't be reached, or does not answer as the protocol says.

    Attributes:
        code: of the error that the server sent, if it sent one.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class McpServer:
    """A server of the Model Context Protocol; equal values share one session.

    Attributes:
        address: a command with its arguments, as in a shell, or a URL.
        headers: headers of HTTP, each with the environment variable that holds its value.
        env: variables for the server's process; one without a value is passed on. A few, such as
            ``PATH`` and ``HOME``, are passed on anyway.
        timeout: how long it must answer when it is connected to or lists its tools, in seconds.
        header_values: further headers, with their values.
        placeholders: environment variables whose values take the places of ``${NAME}`` in the
            address.
        locked: the snapshot of the reviewed tools; tools that differ from it aren't called.

    Raises:
        ValueError: the address isn't one, or what is said next to it is for servers of the other
            kind.
    """

    address: str
    headers: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str | None], ...] = ()
    timeout: float = SERVER_TIMEOUT
    header_values: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    placeholders: tuple[str, ...] = ()
    locked: str | None = None

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise ValueError(f"timeout must be more than 0 s, not {self.timeout!r}")
        if not self.is_url:
            if self.headers or self.header_values:
                raise ValueError("headers are for a server at a URL; a command takes variables")
            _check_command(self.address)
            return
        try:
            host = urlsplit(self.address).hostname
        except ValueError:
            host = None
        if host is None:
            raise ValueError("the URL of a server must name a host")
        if self.env:
            raise ValueError("variables are for a server that is started; a URL takes headers")

    @property
    def is_url(self) -> bool:
        """Whether it is reached over HTTP."""
        return self.address[:8].lower().startswith(("http://", "https://"))

    @property
    def credentials(self) -> list[str]:
        """The names of the variables that its lists can depend on."""
        return sorted({name for _, name in self.headers} | {name for name, _ in self.env})

    @property
    def variables(self) -> list[str]:
        """The environment variables that must be set."""
        passed = [key for key, text in self.env if text is None]
        return [*self.placeholders, *(each for _, each in self.headers), *passed]

    def __str__(self) -> str:
        """Return the name of the program or of the host: the rest of the address can be secret."""
        if self.is_url:
            return urlsplit(self.address).netloc.rpartition("@")[2]
        return cut_characters(os.path.basename(shlex.split(self.address)[0]), _LONGEST)

    def __repr__(self) -> str:
        return f"<McpServer {self}>"

    def filled_address(self) -> str:
        """Return the address with the values of its variables.

        Raises:
            RemoteError: a variable isn't set.
        """
        words = [self.address] if self.is_url else shlex.split(self.address)
        for name in self.placeholders:
            value = _variable(name)
            words = [each.replace(f"${{{name}}}", value) for each in words]
        return words[0] if self.is_url else shlex.join(words)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        context: ToolContext | None = None,
        *,
        repeatable: bool = False,
    ) -> Any:
        """Call a tool of the server; what it returns keeps its types.

        Args:
            tool: its name there.
            arguments: as the server's schema wants them.
            context: gets the progress.
            repeatable: whether the call can be made again if the connection breaks meanwhile.

        Raises:
            ToolError: the tool says that it failed, the server is not to be had, or the tool
                isn't as reviewed.
        """
        session = session_of(self)
        try:
            answer = await run_remotely(
                session.call(tool, arguments, context, is_repeatable=repeatable)
            )
        except RemoteError as error:
            raise ToolError(str(error)) from None
        return value_of(answer)

    async def list_tools(self) -> list[JSON]:
        """Return the definitions of its tools as the server sends them, of all pages.

        Raises:
            RemoteError: it can't be reached, or sends no list.
        """
        return await run_remotely(session_of(self).list_tools())

    async def offer(self) -> Offer:
        """Return everything that it lists.

        Raises:
            RemoteError: it can't be reached, or a list is missing, endless or different each time.
        """
        return await run_remotely(session_of(self).offer())


def _check_command(address: str) -> None:
    try:
        words = shlex.split(address)
    except ValueError as error:
        raise ValueError(f"this isn't a command: {error}") from error
    if not words or not words[0]:
        raise ValueError("name the command that starts the server, or its URL")
    if found := re.match(r"\w+=", words[0]):
        raise ValueError(f"{found[0]!r} begins no command: variables for the server go into 'env'")
    if "://" in words[0]:
        raise ValueError(f"{words[0]!r:.100} is neither a command nor an http or https URL")


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
        self._client: Any = None
        self._keeper: asyncio.Task[None] | None = None
        self._given_up: set[asyncio.Task[None]] = set()
        self._end = asyncio.Event()
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
        load_sdk()
        if self.server.locked is not None:
            await self._check_reviewed(tool, self.server.locked)
        from mcp_types import CallToolRequest, CallToolRequestParams  # noqa: PLC0415 - an extra
        from pydantic import TypeAdapter  # noqa: PLC0415 - comes with it

        adapter = TypeAdapter(dict[str, Any])
        params = CallToolRequestParams(name=tool, arguments=dict(arguments))
        request = CallToolRequest(params=params)

        async def report(done: float, total: float | None, message: str | None) -> None:
            if context is not None:
                context.report_progress(done, total, message)

        async def send(client: Any) -> dict[str, Any]:
            found: dict[str, Any] = await client.session.send_request(
                request, adapter, progress_callback=report
            )
            return found

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

    async def list_tools(self) -> list[JSON]:
        """Return all definitions, as they were sent: one that is wrong spoils no other.

        Raises:
            RemoteError: there's no list.
        """
        return await self._list("tools")

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
        listed = self._listed[1]
        named = [each for each in listed if isinstance(each, dict) and each.get("name") == tool]
        objection = reviewed.objection(named[0]) if named else "its server doesn't list it anymore"
        if objection is not None:
            raise RemoteError(f"the tool {tool!r:.80} isn't as reviewed: {objection}")

    async def offer(self) -> Offer:
        """Return everything that the server lists.

        Raises:
            RemoteError: a list is missing, endless or different each time.
        """
        load_sdk()
        client = await self._connected()
        capabilities = client.server_capabilities
        found: dict[str, list[JSON]] = {
            kind: await self._list(kind) if getattr(capabilities, kind, None) is not None else []
            for kind in LISTS
            if kind != _TEMPLATES
        }
        found[_TEMPLATES] = await self._templates() if capabilities.resources is not None else []
        again = await self._list("tools") if found["tools"] else []
        if sorted(map(canonical, again)) != sorted(map(canonical, found["tools"])):
            raise RemoteError(f"{self.server} lists different tools each time")
        info = client.server_info
        return Offer(
            {"name": info.name, "version": info.version} if info is not None else {},
            str(client.protocol_version),
            found,
        )

    async def _templates(self) -> list[JSON]:
        """Return the templates of resources; servers without any needn't know the method."""
        try:
            return await self._list(_TEMPLATES)
        except RemoteError as error:
            if error.code == _UNKNOWN_METHOD:
                return []
            raise

    async def _list(self, kind: str) -> list[JSON]:
        """Return all pages of a list, such as ``tools``."""
        load_sdk()
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
        async def send(client: Any) -> dict[str, Any]:
            session = client.session
            data: dict[str, Any] = {"method": f"{_PATHS.get(kind, kind)}/list"}
            data |= {"params": {"cursor": cursor}} if cursor is not None else {}
            options: dict[str, Any] = {}
            session._stamp(data, options)  # noqa: SLF001 - the dispatcher's own needs it
            dispatcher = session._dispatcher  # noqa: SLF001 - list_tools rejects all for one tool
            found: dict[str, Any] = await dispatcher.send_raw_request(
                data["method"], data.get("params"), options
            )
            return found

        return await self._request(send, self.server.timeout, is_repeatable=True)

    async def _request(
        self,
        send: Callable[[Any], Awaitable[dict[str, Any]]],
        limit: float,
        *,
        is_repeatable: bool,
    ) -> dict[str, Any]:
        """Send a request; again, once each, if the connection was lost or headers have changed."""
        from mcp import MCPError  # noqa: PLC0415 - heavy, and an extra
        from pydantic import ValidationError  # noqa: PLC0415 - comes with it

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
                if error.code == _HEADER_MISMATCH and may_list:
                    # the SDK learns from the list which arguments the server wants in headers
                    may_list = False
                    with suppress(ValidationError, MCPError):
                        await client.session.list_tools()
                    continue
                is_over = error.message == _TERMINATED
                if error.code != _CLOSED and not is_over:
                    words = f"{self.server}: {self._reason(error)}"
                    raise RemoteError(words, error.code) from error
                async with self._lock:
                    if self._client is client:
                        await self._stop()
                # a session that the server has forgotten was rejected before anything was done
                if may_reconnect and (is_repeatable or is_over):
                    may_reconnect = False
                    continue
                if is_over:
                    words = f"{self.server} doesn't know a session that it has just opened"
                    raise RemoteError(words) from error
                words = f"{self.server} ended the connection during the call"
                more = "" if is_repeatable else ", which can have been carried out"
                raise RemoteError(f"{words}{more}") from error

    async def _connected(self) -> Any:
        """Return a client that is connected, after connecting if need be."""
        async with self._lock:
            if self._client is None or _is_closed(self._client):
                await self._stop()
                self._changes += 1
                await self._connect()
                self._connections += 1
            return self._client

    async def _connect(self) -> None:
        self._end = asyncio.Event()
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # the SDK's scopes must be left by the task that has entered them
        keeper = asyncio.create_task(self._keep(ready, self._end))
        try:
            async with asyncio.timeout(self.server.timeout):
                self._client = await asyncio.shield(ready)
            self._keeper = keeper
        except BaseException as error:
            # not awaited: a server that does not answer can take as long to end
            self._given_up.add(keeper)
            keeper.add_done_callback(self._given_up.discard)
            keeper.cancel()
            if isinstance(error, RemoteError | asyncio.CancelledError):
                raise
            words = f"can't be reached: {self._reason(error)}"
            if isinstance(error, TimeoutError):
                words = f"did not answer in {self.server.timeout:g} s"
            raise RemoteError(f"{self.server} {words}") from error

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

    async def _keep(self, ready: asyncio.Future[Any], end: asyncio.Event) -> None:
        """Hold a connection until it shall end, or ends by itself."""
        try:
            async with self._client_of_sdk() as client:
                ready.set_result(client)
                listening = asyncio.create_task(self._listen(client))
                try:
                    await end.wait()
                finally:
                    listening.cancel()
        except Exception as error:  # noqa: BLE001 - the waiting caller gets it
            if not ready.done():
                ready.set_exception(error)

    async def _listen(self, client: Any) -> None:
        """Hear of changes since 2026-07-28, where a client must ask for them."""
        from mcp import MCPError  # noqa: PLC0415 - heavy, and an extra
        from mcp.client.subscriptions import (  # noqa: PLC0415 - likewise
            ListenNotSupportedError,
            SubscriptionLost,
        )

        try:
            while True:
                async with client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self._changed()
                await asyncio.sleep(1)  # it may end a stream at any time
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            return  # older servers tell without being asked; others may not tell at all

    def _client_of_sdk(self) -> AbstractAsyncContextManager[Any]:
        from sovl_tools.remote.transport import open_client  # noqa: PLC0415 - of an extra

        server = self.server
        env = {key: _variable(key) if text is None else text for key, text in server.env}
        headers = {name: _variable(key) for name, key in server.headers}
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

    async def _stop(self) -> None:
        """End the connection, and the server's process with it."""
        keeper, self._keeper, self._client = self._keeper, None, None
        self._end.set()
        if keeper is None:
            return
        done, _ = await asyncio.wait([keeper], timeout=_PARTING)
        if not done:
            keeper.cancel()
            await asyncio.wait([keeper], timeout=_PARTING)

    async def close(self) -> None:
        """End the session, as the program ends."""
        await self._stop()


def _is_closed(client: Any) -> bool:
    """Return whether a connection has ended, so that a call can be sent on another."""
    dispatcher = client.session._dispatcher  # noqa: SLF001 - the SDK raises the same error
    return bool(dispatcher._closed)  # noqa: SLF001 - before and after it sends a request


_PARTING = 6.0
"""How long the SDK can take to end a server, in seconds: it asks, terminates, kills."""
_SESSIONS: dict[tuple[RemoteLoop, McpServer], McpSession] = {}


def session_of(server: McpServer) -> McpSession:
    """Return the session with a server; nothing is connected before it is needed."""
    loop = remote_loop()
    found = _SESSIONS.get((loop, server))
    if found is None:
        # two threads can come at once: the first one's session stays
        found = _SESSIONS.setdefault((loop, server), McpSession(server))
        loop.closing(found, found.close)
    return found


def load_sdk() -> None:
    """Import the SDK, which takes a while that no server is to blame for.

    Raises:
        RemoteError: it is not installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise RemoteError("MCP servers need the extra: pip install 'sovl-tools[mcp]'")
    importlib.import_module("sovl_tools.remote.transport")


def _variable(name: str) -> str:
    text = os.environ.get(name)
    if not text:
        raise RemoteError(f"the environment variable {name} is not set")
    return text
