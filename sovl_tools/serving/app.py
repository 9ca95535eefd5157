"""The ASGI application: the JSON API, health, and whatever else is mounted beside them."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.suggestion import as_hint, nearest
from sovl_tools.registry import ToolRegistry
from sovl_tools.serving.api import Api
from sovl_tools.serving.problems import JSONAnswer, problem
from sovl_tools.serving.security import MCP_PATH, Guard, Log, Security, Traffic


class McpApp(Protocol):
    """What speaks the Model Context Protocol; ``serving.mcp_http`` has it, and needs the SDK."""

    def run(self) -> AbstractAsyncContextManager[None]:
        """Answer requests for as long as a block."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        ...


def make_app(
    registry: ToolRegistry,
    tooler: Tooler,
    *,
    mcp: McpApp | None = None,
    security: Security | None = None,
    log: Log | None = None,
) -> Starlette:
    """Return the application that serves the tools of a registry.

    It may be mounted in another application under any path, which need not run its lifespan.

    Args:
        registry: the tools.
        tooler: makes the calls.
        mcp: answers at ``/mcp``, behind the same checks.
        security: who may call and how much; without it, what ``Security()`` says.
        log: called with each request when its answer has ended.
    """
    checks, traffic = security or Security(), Traffic()
    routes = [*Api(registry, tooler, is_guarded=bool(checks.tokens)).routes()]
    routes += [Route("/healthz", _healthy), Route("/readyz", _ready)]
    if mcp is not None:
        routes.append(Route(MCP_PATH, mcp))

    middleware = [Middleware(Guard, security=checks, traffic=traffic, log=log)]
    if checks.origins:
        exposed = ["ETag", "Mcp-Session-Id", "WWW-Authenticate"]
        methods = ["GET", "POST", "DELETE"]
        middleware += [
            Middleware(
                CORSMiddleware,
                allow_origins=checks.origins,
                allow_methods=methods,
                allow_headers=["*"],
                expose_headers=exposed,
            )
        ]
    app = Starlette(
        routes=routes,
        middleware=middleware,
        exception_handlers={HTTPException: _refused, Exception: _broken},
        lifespan=None if mcp is None else lambda _: mcp.run(),
    )
    app.state.security, app.state.traffic = checks, traffic
    # a redirect would lead to the host that the request names
    app.router.redirect_slashes = False
    return app


async def _healthy(_: Request) -> Response:
    return JSONAnswer({"status": "ok"})


async def _ready(request: Request) -> Response:
    if request.app.state.traffic.is_ending:
        return problem(503, "the server ends")
    return JSONAnswer({"status": "ready"})


async def _refused(request: Request, reason: Exception) -> Response:
    """Answer a request of a path or a method that is not there."""
    error, path = cast("HTTPException", reason), request.url.path
    if error.status_code == _NOT_FOUND:
        paths = [each.path for each in cast("list[Route]", request.app.routes)]
        known = [each for each in paths if "{" not in each]
        return problem(
            _NOT_FOUND, f"there is nothing at {path[:80]!r}{as_hint(nearest(path, known))}"
        )
    headers = {**(error.headers or {})}
    detail = error.detail
    if "Allow" in headers:
        headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
        detail = f"{request.method[:20]} is no method of {path[:80]!r}, but {headers['Allow']}"
    return problem(error.status_code, detail, headers)


async def _broken(_: Request, __: Exception) -> Response:
    return problem(500, "the server made a mistake; its log says more")


_NOT_FOUND = 404
