"""The ASGI application: the JSON API, health, and whatever else is mounted beside them."""

from __future__ import annotations

from typing import cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.suggestion import as_hint, nearest
from sovl_tools.registry import ToolRegistry
from sovl_tools.serving.api import Api
from sovl_tools.serving.problems import JSONAnswer, problem


def make_app(registry: ToolRegistry, tooler: Tooler) -> Starlette:
    """Return the application that serves the tools of a registry.

    It needs no lifespan and may be mounted in another application under any path.
    """
    routes = [
        *Api(registry, tooler).routes(),
        Route("/healthz", _healthy),
        Route("/readyz", _ready),
    ]

    async def refused(request: Request, error: Exception) -> Response:
        return _refused(request, cast("HTTPException", error), [each.path for each in routes])

    app = Starlette(routes=routes, exception_handlers={HTTPException: refused, Exception: _broken})
    # a redirect would lead to the host that the request names
    app.router.redirect_slashes = False
    return app


async def _healthy(_: Request) -> Response:
    return JSONAnswer({"status": "ok"})


async def _ready(_: Request) -> Response:
    return JSONAnswer({"status": "ready"})


def _refused(request: Request, error: HTTPException, paths: list[str]) -> Response:
    """Answer a request of a path or a method that is not there."""
    path = request.url.path
    if error.status_code == _NOT_FOUND:
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
