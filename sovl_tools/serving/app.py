"""The ASGI application: the JSON API with its document, health, and mounted applications."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from hashlib import sha256
from importlib import resources
from typing import NamedTuple, cast

from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sovl_tools.dispatch.async_runner import await_thread, serving
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.formats.openapi import PROBLEM_TYPE
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.definition import manifest_values
from sovl_tools.model.document import JSON, parse_json
from sovl_tools.model.errors import ToolNotFoundError
from sovl_tools.model.result import Failure, FailureKind
from sovl_tools.model.suggestion import as_hint, nearest
from sovl_tools.registry import ToolRegistry
from sovl_tools.search.phrases import MOST_FOUND
from sovl_tools.serving.advertised import page
from sovl_tools.serving.asks import Ask, Asks, refusing
from sovl_tools.serving.event_stream import Calling, stream_call
from sovl_tools.serving.mcp_http import McpEndpoint
from sovl_tools.serving.problems import (
    CLIENT_LEFT,
    encoded,
    failed,
    problem,
    without_directories,
)
from sovl_tools.serving.security import LOCAL_ORIGINS, Guard, Security
from sovl_tools.serving.traffic import CLIENT, BusyError, Traffic


def make_app(  # noqa: PLR0913 - independent options
    registry: ToolRegistry,
    tooler: Tooler,
    *,
    mcp: McpEndpoint | None = None,
    security: Security | None = None,
    routes: Iterable[BaseRoute] = (),
    asks: Asks | None = None,
) -> Starlette:
    """Return the application that serves the tools of a registry.

    It can be mounted in another application under any path, which need not run its lifespan.

    Args:
        registry: the tools.
        tooler: makes the calls.
        mcp: answers at ``/mcp``, behind the same checks.
        security: who can call, and the limits; by default ``Security()``.
        routes: what else there is, behind the same checks.
        asks: the open questions of calls, answered at ``/answers``, if others share it.
    """
    checks = security or Security()
    traffic = Traffic(checks.max_concurrency)
    endpoints = [] if mcp is None else [Route("/mcp", mcp)]
    cross_origin = Middleware(
        CORSMiddleware,
        allow_origins=checks.origins,
        allow_origin_regex=LOCAL_ORIGINS,  # for another host the guard has rejected them
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["ETag", "Mcp-Session-Id", "WWW-Authenticate"],
    )
    middleware = [Middleware(Guard, security=checks, traffic=traffic), cross_origin]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        # it would cut off calls at the first signal, since the SDK answers each with a stream
        AppStatus.enable_automatic_graceful_drain = False
        traffic.is_ending = False  # of a server that has ended before
        async with nullcontext() if mcp is None else mcp.run(traffic):
            yield

    app = Starlette(
        routes=[
            *Api(registry, tooler, is_guarded=bool(checks.tokens), asks=asks).routes(),
            Route("/healthz", _healthy),
            Route("/readyz", _ready),
            *endpoints,
            *routes,
        ],
        middleware=middleware,
        exception_handlers={HTTPException: _refused, BusyError: _busy, Exception: _broken},
        lifespan=lifespan,
    )
    app.state.traffic = traffic
    # a redirect would lead to the host that the request names
    app.router.redirect_slashes = False
    return app


async def _healthy(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _ready(request: Request) -> Response:
    if request.app.state.traffic.is_ending:
        return problem(503, "the server ends")
    return JSONResponse({"status": "ready"})


async def _refused(_: Request, reason: Exception) -> Response:
    """Answer a request that isn't as this API wants it."""
    error = cast("HTTPException", reason)
    return problem(error.status_code, error.detail, error.headers)


async def _busy(_: Request, reason: Exception) -> Response:
    return problem(503, str(reason), {"Retry-After": "1"})


async def _broken(_: Request, __: Exception) -> Response:
    return problem(500, "the server made a mistake; its log says more")


PUBLIC = (
    "name", "title", "description", "parameters", "output_schema", "annotations", "category",
    "version", "tags", "activation_phrases", "examples", "instructions", "deprecated",
    "replaced_by", "removed_in",
)  # fmt: skip
"""The tool for clients: its author's words, and no path of this machine."""

MOST_LISTED = 1_000


class Listing(NamedTuple):
    """The tools of one catalog as clients see them.

    Attributes:
        catalog: where they are from.
        tools: what clients see of each, by name and in that order.
        document: the OpenAPI document of the calls.
    """

    catalog: Catalog
    tools: dict[str, dict[str, JSON]]
    document: dict[str, JSON]


class Api:
    """Answers requests from a registry and a Tooler.

    Args:
        registry: the tools, which may change at any time.
        tooler: makes the calls.
        is_guarded: whether requests need a bearer token, which the OpenAPI document says.
        asks: the open questions of calls; None for this API's own.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        tooler: Tooler,
        *,
        is_guarded: bool = False,
        asks: Asks | None = None,
    ) -> None:
        self._registry = registry
        self._tooler = tooler if registry.whole is registry else tooler.through(registry)
        self._is_guarded = is_guarded
        self._listing: Listing | None = None
        self._asks = Asks() if asks is None else asks

    def routes(self) -> list[Route]:
        """Return the handlers by path."""
        return [
            Route("/tools", self._list),
            Route("/tools/{name}", self._tool, methods=["GET", "POST"]),
            Route("/tools/{name}/stream", self._stream, methods=["POST"]),
            Route("/answers/{id}", self._answer, methods=["POST"]),
            Route("/search", self._search),
            Route("/openapi.json", self._describe),
        ]

    async def _list(self, request: Request) -> Response:
        """Answer with the tools, all or a page of them, by name."""
        _check_query(request, "tag", "category", "limit", "cursor")
        asked, limit = request.query_params, _limit(request)
        tags, category = set(asked.getlist("tag")), asked.get("category")
        listing = await self._tools()
        found = {
            name: each
            for name, each in listing.tools.items()
            if tags <= {*each.get("tags", ())} and category in (None, each.get("category"))
        }
        try:
            tools, following = page(found, asked.get("cursor"), limit or len(found))
        except ValueError as error:
            raise HTTPException(400, str(error)) from error
        return _tagged(request, {"tools": tools, "next_cursor": following})

    async def _tool(self, request: Request) -> Response:
        """Answer with a tool, or with the result of a call."""
        name = request.path_params["name"]
        if request.method == "POST":
            return await self._call(request, name)
        _check_query(request)
        listing = await self._tools()
        name = listing.catalog.named(name)
        if name in listing.tools:
            return _tagged(request, listing.tools[name])
        try:
            words = f"the schema of {self._registry[name].name} can't be made now"
            return failed(Failure("unavailable", words))
        except ToolNotFoundError as error:
            kind: FailureKind = "unknown_tool" if error.reason is None else "unavailable"
            return failed(without_directories(Failure(kind, str(error)), self._registry))

    async def _call(self, request: Request, name: str) -> Response:
        arguments = await _arguments(request)
        asks: list[Ask] = []
        with request.scope[CLIENT].call() as call, serving():
            result = await self._tooler.call(name, arguments, host=refusing(asks.append))
        if call.cancelled_caught:
            return Response(status_code=CLIENT_LEFT)
        if result.error is None:
            return JSONResponse(result.value)
        if asks:
            words = f"{name} asks something; call /tools/{name}/stream and answer there"
            members: JSON = {"type": f"{PROBLEM_TYPE}needs_answer", "ask": asks[0].to_json()}
            return problem(409, f"{words}: {result.error.message}", **members)
        return failed(without_directories(result.error, self._registry))

    async def _stream(self, request: Request) -> Response:
        """Answer with the reports, items and result of a call as events.

        A call that is rejected before it runs is answered without a stream.
        """
        arguments = await _arguments(request)
        calling = Calling(self._tooler, self._registry, self._asks)
        name = request.path_params["name"]
        return await stream_call(calling, name, arguments, client=request.scope[CLIENT])

    async def _answer(self, request: Request) -> Response:
        """Take the answer to a question in a call's stream."""
        try:
            given = parse_json(await _arguments(request))
            if self._asks.answer(request.path_params["id"], given):
                return Response(status_code=204)
        except ValueError as error:
            raise HTTPException(422, str(error)) from error
        raise HTTPException(404, "no call waits for this answer")

    async def _search(self, request: Request) -> Response:
        _check_query(request, "q", "limit", "least")
        query, limit = request.query_params.get("q"), _limit(request) or MOST_FOUND
        least = request.query_params.get("least")
        if least is not None and not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", least):
            words = f"must be a number from 0, not {least[:80]!r}"
            raise HTTPException(400, f"the query parameter 'least' {words}")
        if query is None:
            raise HTTPException(400, "the query parameter 'q' is required: words to search for")
        enough = None if least is None else float(least)
        found = self._registry.search(query, limit=limit, least=enough)
        return JSONResponse({"matches": [each._asdict() for each in found]})

    async def _describe(self, request: Request) -> Response:
        """Answer with the OpenAPI document of these routes."""
        listing = await self._tools()
        root = request.scope.get("root_path", "")
        document = describe(listing.document, root, is_guarded=self._is_guarded)
        return _tagged(request, document)

    async def _tools(self) -> Listing:
        """Return the current tools; they are listed again only after a change."""
        known = self._listing
        if known is not None and known.catalog is self._registry.catalog:
            return known
        # on a thread: a thousand tools take a while, and parts of schemas can be functions
        listing, is_lasting = await await_thread(partial(_listed, self._registry))
        self._listing = listing if is_lasting else None
        return listing


def _listed(registry: ToolRegistry) -> tuple[Listing, bool]:
    """Return the listing of the current tools, and whether it stays valid until they change."""
    catalog = registry.catalog
    export = registry.export("openapi")
    # resolved: what functions make of a schema is in it
    tools = {name: manifest_values(shape.tool, PUBLIC) for name, shape in export.shapes.items()}
    return Listing(catalog, tools, export.definitions), export.is_lasting


def _tagged(request: Request, value: JSON) -> Response:
    """Return a response that a client may cache, or 304 if the client has it.

    Its ETag is the same in every process that serves the same tools.
    """
    body = encoded(value)
    tag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


_JSON_TYPE = re.compile(
    r'\s*application/([\w.+-]+\+)?json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?', re.IGNORECASE
)


async def _arguments(request: Request) -> bytes:
    """Return the unchanged bytes of the arguments, which the Tooler reads.

    Another type is rejected: a foreign page can send it without a preflight request.
    """
    _check_query(request)
    body = await request.body()
    given = request.headers.get("content-type")
    if body and (given is None or _JSON_TYPE.fullmatch(given) is None):
        found = "and there's no Content-Type" if given is None else f"not {given[:80]!r}"
        words = f"the arguments must be sent as application/json, {found}"
        raise HTTPException(415, words, {"Accept-Post": "application/json"})
    return body


def _check_query(request: Request, *known: str) -> None:
    for name in request.query_params:
        if name not in known:
            hint = as_hint(nearest(name, known))
            raise HTTPException(400, f"there's no query parameter {name[:80]!r}{hint}")


def _limit(request: Request) -> int | None:
    """Return the query parameter ``limit``."""
    text = request.query_params.get("limit")
    if text is None:
        return None
    if not re.fullmatch("[1-9][0-9]{0,2}|1000", text):
        words = f"must be a whole number from 1 to {MOST_LISTED:,}, not {text[:80]!r}"
        raise HTTPException(400, f"the query parameter 'limit' {words}")
    return int(text)


def describe(calls: dict[str, JSON], root: str, *, is_guarded: bool) -> dict[str, JSON]:
    """Return the OpenAPI document of the server: its own routes, and a call of each tool.

    Args:
        calls: the document of the tools only, in the format ``openapi``.
        root: the path at which the server is mounted; mostly ``""``.
        is_guarded: whether requests need a bearer token.
    """
    own = json.loads(resources.files(__package__).joinpath("openapi.json").read_bytes())
    components = calls["components"]
    schemas = {**components["schemas"], **own["components"]["schemas"]}
    document = {
        **calls,
        "servers": [{"url": root or "/"}],
        "tags": own["tags"],
        "paths": {**own["paths"], **calls["paths"]},
        "components": {**components, "schemas": schemas},
    }
    if is_guarded:
        bearer = {"type": "http", "scheme": "bearer"}
        document["components"]["securitySchemes"] = {"bearer": bearer}
        document["security"] = [{"bearer": []}]
    return document
