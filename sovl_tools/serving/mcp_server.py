"""A server of the Model Context Protocol over a registry: the SDK's own, with our tools.

It speaks both eras of the protocol: the handshake versions up to 2025-11-25, in which a client has
a session, and 2026-07-28, in which each request is independent.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette

from sovl_tools import __version__
from sovl_tools.dispatch.async_runner import serving
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ResolutionError
from sovl_tools.model.suggestion import as_hint, nearest
from sovl_tools.registry import ToolRegistry
from sovl_tools.serving.advertised import (
    LIST_FIELDS,
    SEARCH,
    TEMPLATES,
    Advertised,
    Kind,
    advertise,
    called,
    found_tools,
    page,
    prompt_text,
    resource_text,
    updated_resources,
)
from sovl_tools.serving.mcp_calls import (
    LEVEL,
    Context,
    InputRequests,
    call_result,
    connection_of,
    is_modern,
    reporting,
)
from sovl_tools.serving.problems import without_directories
from sovl_tools.serving.security import Security
from sovl_tools.serving.traffic import CLIENT, BusyError, Client, Traffic

UPDATED = "notifications/resources/updated"
WATCHED = "sovl-tools-watched"
"""The key under which a connection of the handshake era keeps the URIs its client subscribed to."""

MOST_WATCHED = 1000
"""How many resources a client may subscribe to."""
BUSY = -32010
"""The error code, of those that are a server's own, for a call beyond ``max_concurrency``."""

MAX_LOCAL_CALLS = 1000
"""How many calls can be running over pipes."""

PAGE_SIZE = 1000
"""How many tools a page of the list has; it is large because many clients read one page only."""


class _Server(Server[Any]):
    """The SDK's server, which declares that its lists may change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **options: Any
    ) -> InitializationOptions:
        """Return what a client gets when it connects."""
        changes = notification_options or NotificationOptions(
            tools_changed=True, prompts_changed=True, resources_changed=True
        )
        return super().create_initialization_options(changes, *args, **options)


class McpServer:
    """Offers the tools of a registry to clients, and tells them when what is offered changes.

    Attributes:
        registry: where the tools are.
        tooler: what calls them.
        server: the SDK's server, for its transports: ``run``, ``streamable_http_app``.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        tooler: Tooler | None = None,
        *,
        name: str = "sovl-tools",
        page_size: int = PAGE_SIZE,
        search_tools: bool | None = None,
    ) -> None:
        """Make a server.

        Args:
            registry: where the tools are; if it watches, clients hear of each change.
            tooler: what calls them, with its time limits; None for one without any.
            name: what the server calls itself.
            page_size: how many tools a page of the list has.
            search_tools: whether two tools, ``search_tools`` and ``call_tool``, represent all
                others; None for where there are more than ``MOST_TOOLS``, or their definitions
                take more than ``MOST_TOKENS``.
        """
        self.registry = registry
        self.tooler = Tooler(registry) if tooler is None else tooler.through(registry)
        self._page_size = page_size
        self._is_searching = search_tools
        self._advertised = advertise(registry, is_searching=search_tools)
        self._bus = InMemorySubscriptionBus()
        self._connections: set[Connection] = set()
        self._telling: set[asyncio.Task[None]] = set()
        self._local_client = Client(Traffic(MAX_LOCAL_CALLS))
        self._transports = 0
        self._lock = threading.Lock()
        self.server: Server[Any] = _Server(
            name,
            version=__version__,
            instructions=registry.prompt_instructions() or None,
            lifespan=self._lifespan,
            on_subscriptions_listen=ListenHandler(self._bus),
            get_tool_input_schema=self._input_schema,
        )
        # not by the constructor, which asks for the SDK's models; a dictionary spares making them
        lists = {
            method: (types.PaginatedRequestParams, partial(self._list, kind, items))
            for method, (kind, items) in LISTS.items()
        }
        requests: dict[str, tuple[Any, Any]] = {
            **lists,
            "tools/list": (types.PaginatedRequestParams, self._list_tools),
            "tools/call": (types.CallToolRequestParams, self._call_tool),
            "prompts/get": (types.GetPromptRequestParams, self._get_prompt),
            "resources/read": (types.ReadResourceRequestParams, self._read),
            "resources/subscribe": (types.SubscribeRequestParams, self._subscribe),
            "resources/unsubscribe": (types.UnsubscribeRequestParams, self._unsubscribe_from),
            "logging/setLevel": (types.SetLevelRequestParams, self._set_level),
        }
        for method, (params, handler) in requests.items():
            self.server.add_request_handler(method, params, handler)
        self.server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._connected
        )

    @property
    def advertised(self) -> Advertised:
        """What clients see now; functions in schemas are called to work it out."""
        self._advertised = advertise(
            self.registry, self._advertised, is_searching=self._is_searching
        )
        return self._advertised

    @property
    def _known(self) -> Advertised:
        """What clients have seen of the current tools; functions in schemas are not called."""
        known = self._advertised
        return known if known.catalog is self.registry.catalog else self.advertised

    def app(
        self,
        *,
        security: Security | None = None,
        stateless: bool = False,
        json_response: bool = False,
    ) -> Starlette:
        """Return an application that serves the protocol at ``/mcp`` and a JSON API next to it.

        It can be mounted in another application, such as one of Starlette or FastAPI.

        Args:
            security: who can call and how much; without it, what ``Security()`` says.
            stateless: whether each request is independent, so that any of several processes
                may answer it. Clients up to 2025-11-25 then hear of no changes and can't be asked
                anything.
            json_response: whether answers are JSON and never streams, which costs progress, log
                messages and questions.
        """
        # a server over pipes needs neither
        from sovl_tools.serving.app import make_app  # noqa: PLC0415
        from sovl_tools.serving.mcp_http import McpEndpoint  # noqa: PLC0415

        checks = security or Security()
        endpoint = McpEndpoint(
            self.server,
            stateless=stateless,
            json_response=json_response,
            max_request_body_size=checks.max_body_bytes,
        )
        return make_app(self.registry, self.tooler, mcp=endpoint, security=checks)

    def _input_schema(self, name: str) -> dict[str, JSON] | None:
        known = self._known
        name = known.catalog.named(name)
        tool = known.modern.get(name) or known.hidden.get(name)
        return None if tool is None else tool["inputSchema"]

    async def _list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams
    ) -> dict[str, JSON]:
        known = self._known
        if not known.is_lasting:  # the functions of authors can take long
            known = await asyncio.to_thread(lambda: self.advertised)
        return self._page("tools", known.modern if is_modern(ctx) else known.handshake, params)

    async def _list(
        self, kind: str, items: Items, _: Context, params: types.PaginatedRequestParams
    ) -> dict[str, JSON]:
        return self._page(kind, items(self._known), params)

    def _page(
        self, kind: str, items: dict[str, dict[str, JSON]], params: types.PaginatedRequestParams
    ) -> dict[str, JSON]:
        try:
            found, following = page(items, params.cursor, self._page_size)
        except ValueError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        result: dict[str, JSON] = {kind: found, **LIST_FIELDS}
        if following is not None:
            result["nextCursor"] = following
        return result

    async def _get_prompt(
        self, _: Context, params: types.GetPromptRequestParams
    ) -> dict[str, JSON]:
        tool = self.registry.get(params.name)
        if tool is None or not tool.activation_phrases:
            hint = as_hint(nearest(params.name, self._known.prompts))
            raise MCPError(types.INVALID_PARAMS, f"there's no prompt {params.name[:80]!r}{hint}")
        text = prompt_text(tool, params.arguments or {})
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": tool.description, "messages": [message], "resultType": "complete"}

    async def _read(self, _: Context, params: types.ReadResourceRequestParams) -> dict[str, JSON]:
        resource = self._known.resources.get(params.uri)
        try:
            text = await asyncio.to_thread(resource_text, self.registry, params.uri)
        except ResolutionError as error:
            raise MCPError(types.INVALID_PARAMS, str(error), {"uri": params.uri}) from error
        if resource is None or text is None:
            words = f"there's no resource {params.uri[:200]!r}"
            raise MCPError(types.INVALID_PARAMS, words, {"uri": params.uri})
        content = {"uri": params.uri, "mimeType": resource["mimeType"], "text": text}
        return {"contents": [content], **LIST_FIELDS}

    async def _subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> dict[str, JSON]:
        """Subscribe a client of the handshake era to changes of the text at a URI.

        The resource need not exist yet: its folder can be added later.
        """
        watched: set[str] = connection_of(ctx).state.setdefault(WATCHED, set())
        if params.uri not in watched and len(watched) >= MOST_WATCHED:
            raise MCPError(
                types.INVALID_PARAMS, f"a client may subscribe to {MOST_WATCHED:,} resources"
            )
        watched.add(params.uri)
        return {}

    async def _unsubscribe_from(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> dict[str, JSON]:
        connection_of(ctx).state.get(WATCHED, set()).discard(params.uri)
        return {}

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> dict[str, JSON]:
        try:
            with self._client(ctx).call():
                return await self._call(ctx, params)
        except BusyError as error:
            raise MCPError(BUSY, str(error)) from error
        raise MCPError(types.CONNECTION_CLOSED, "the client has left")

    async def _call(self, ctx: Context, params: types.CallToolRequestParams) -> dict[str, JSON]:
        name, arguments = params.name, params.arguments
        known = self._known
        if known.is_searching and name in known.modern:
            if name == SEARCH:
                found = found_tools(self.registry, known.hidden, arguments or {})
                return call_result(found, known, is_wrapping=False)
            name, arguments = called(arguments or {})
        inputs = InputRequests(ctx, params, name, self.registry.whole)
        try:
            async with reporting(ctx, name) as report:
                with serving():
                    result = await self.tooler.call(
                        name,
                        arguments,
                        on_event=report,
                        on_elicit=inputs.ask,
                        on_sample=inputs.ask,
                        on_list_roots=inputs.ask,
                        on_approve=inputs.ask,
                    )
        except asyncio.CancelledError:
            required = inputs.input_required()
            if required is None:
                raise
            return required
        inputs.check(result)
        if (error := result.error) is not None:
            # called by way of call_tool, it is a wrong argument, which a model can correct
            if error.kind == "unknown_tool" and name == params.name:
                raise MCPError(types.INVALID_PARAMS, error.message)
            result = result._replace(error=without_directories(error, self.registry))
        return call_result(result, known, is_wrapping=not is_modern(ctx))

    def _client(self, ctx: Context) -> Client:
        """Return the client of a request over HTTP; all others are one, which never leaves."""
        scope = {} if ctx.request is None else ctx.request.scope
        found: Client = scope.get(CLIENT, self._local_client)
        return found

    async def _set_level(
        self, ctx: Context, params: types.SetLevelRequestParams
    ) -> dict[str, JSON]:
        connection_of(ctx).state[LEVEL] = params.level
        return {}

    async def _connected(self, ctx: Context, _: types.NotificationParams) -> None:
        """Remember the connection of a client of the handshake era until it ends."""
        connection = connection_of(ctx)
        self._connections.add(connection)
        connection.exit_stack.callback(self._connections.discard, connection)

    @asynccontextmanager
    async def _lifespan(self, _: Server[Any]) -> AsyncIterator[None]:
        """Subscribe to the registry's changes for as long as any transport runs."""
        if not self._transports:
            changed = partial(self._changed, asyncio.get_running_loop())
            self._told = self.advertised
            self._unsubscribe = self.registry.subscribe(changed)
        self._transports += 1
        try:
            yield
        finally:
            self._transports -= 1
            if not self._transports:
                self._unsubscribe()
                for task in self._telling:
                    task.cancel()

    def _changed(self, loop: asyncio.AbstractEventLoop, change: CatalogChange) -> None:
        """Notify clients, if what they have seen differs now.

        This runs in the thread that reloads, so that working it out doesn't block the event loop.
        """
        with self._lock:
            before, self._told = self._told, self.advertised
            kinds = self._told.changes(before)
            updated = [*updated_resources(change, before.catalog, self._told.catalog)]
        self.server.instructions = self.registry.prompt_instructions() or None
        if kinds or updated:
            with suppress(RuntimeError):  # the loop is closed, and every connection with it
                loop.call_soon_threadsafe(self._tell, kinds, updated)

    def _tell(self, kinds: frozenset[Kind], updated: Sequence[str]) -> None:
        """Notify every client of changed lists and resources; a slow one holds up no other."""
        for kind in kinds:
            self._begin(self._bus.publish(EVENTS[kind]()))
        for uri in updated:
            self._begin(self._bus.publish(ResourceUpdated(uri)))
        for connection in self._connections:
            for kind in kinds:
                self._begin(connection.notify(f"notifications/{kind}/list_changed", None))
            for uri in connection.state.get(WATCHED, set()).intersection(updated):
                self._begin(connection.notify(UPDATED, {"uri": uri}))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._telling.add(task)  # the loop holds tasks weakly
        task.add_done_callback(self._telling.discard)


Items = Callable[[Advertised], dict[str, dict[str, JSON]]]

LISTS: dict[str, tuple[str, Items]] = {
    "prompts/list": ("prompts", lambda known: known.prompts),
    "resources/list": ("resources", lambda known: known.resources),
    "resources/templates/list": (
        "resourceTemplates",
        lambda _: {each["name"]: each for each in TEMPLATES},
    ),
}
"""The lists other than that of the tools: the key of the result and its items, by request."""

EVENTS: dict[Kind, Callable[[], ServerEvent]] = {
    "tools": ToolsListChanged,
    "prompts": PromptsListChanged,
    "resources": ResourcesListChanged,
}
"""The event that subscribers get since 2026-07-28, by the kind of the list that has changed."""
