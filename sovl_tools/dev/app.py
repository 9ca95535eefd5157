"""The server of the page: its files and its requests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from functools import partial
from importlib import resources
from time import time
from typing import Any, Final
from weakref import WeakValueDictionary

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sovl_tools import __version__
from sovl_tools.configuration import Configuration
from sovl_tools.dev.calls import Run, call_events, run_events
from sovl_tools.dev.edits import add_example, fix
from sovl_tools.dev.history import KIND, LONGEST, EventLog, History, milliseconds
from sovl_tools.dev.tools import TARGETS, DevError, Row, Tools, as_target, listed
from sovl_tools.dispatch.async_runner import await_thread, serving
from sovl_tools.dispatch.telemetry import as_json
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.linting.examples import differences
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.document import JSON, parse_json
from sovl_tools.model.folder import Settings
from sovl_tools.model.policy import Policy
from sovl_tools.procedures.errors import ProcedureError
from sovl_tools.procedures.outline import boxes, mermaid
from sovl_tools.procedures.parse.library import read_found_procedure
from sovl_tools.registry import ToolRegistry
from sovl_tools.serving.app import make_app
from sovl_tools.serving.asks import Asks
from sovl_tools.serving.event_stream import PING_EVENT, Calling, Event, EventStream
from sovl_tools.serving.limits import PING
from sovl_tools.serving.mcp_http import McpEndpoint
from sovl_tools.serving.problems import encoded
from sovl_tools.serving.security import Security
from sovl_tools.serving.traffic import CLIENT

_CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; media-src data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html"
)
_HEADERS: Final = (
    (b"content-security-policy", _CSP.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-cache"),
)


class DevSecurity(Security):
    """The requirements for requests: a local host name, and a token except for the page's files."""

    def __init__(self, token: str) -> None:
        # a name that resolves to this machine isn't enough, even with the token
        super().__init__(tokens=(token,), hosts=("localhost",))

    def is_open(self, path: str) -> bool:
        """Return True for the page and its files, which contain no data."""
        return super().is_open(path) or path == "/" or path.startswith("/static/")


class _Outermost:
    """The outermost middleware: notes the kind of client, and adds headers for browsers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        KIND.set("page" if path.startswith("/dev/") else "mcp" if path == "/mcp" else "http")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        await self._app(scope, receive, send_with_headers)


_ACTIONS: Final = {"next": Run.next, "resume": Run.resume, "stop": Run.stop}


class DevApi:
    """Answers the requests of the page.

    Args:
        registry: the tools.
        settings: the configuration.
        policy: the settings of calls.
    """

    def __init__(self, registry: ToolRegistry, settings: Configuration, policy: Policy) -> None:
        self.events = EventLog()
        self.history = History(registry, self.events)
        self.tools = Tools(registry, settings)
        self.tooler = Tooler(registry.whole, policy=policy, observers=[self.history])
        self.calling = Calling(self.tooler.through(registry), registry, Asks())
        # a view's tools can be called; its procedures call tools of the whole registry
        self._inner = self.calling._replace(tooler=self.tooler, registry=registry.whole)
        self._root = os.path.basename(os.path.dirname(settings.file or "") or os.getcwd())
        self._loading = Settings(limit=settings.import_timeout)
        self._runs: WeakValueDictionary[str, Run] = WeakValueDictionary()
        self._generation = 0
        self._last_change: dict[str, JSON] | None = None
        registry.subscribe(self._changed)

    def _changed(self, change: CatalogChange) -> None:
        """Send a change to the page; called in the thread that made it."""
        self._generation += 1
        found, news = self.tools.change(change)
        self._last_change = {"time": time(), "ms": milliseconds(change.duration), **news}
        found |= {"generation": self._generation, "last_change": self._last_change}
        self.events.add("change", found)

    def app(self, token: str) -> Starlette:
        """Return the application: the page, its requests, the JSON API and MCP."""
        tooler, registry, asks = self.calling
        security, routes = DevSecurity(token), self.routes()
        server = registry.mcp_server(tooler).server
        mcp = McpEndpoint(server, max_request_body_size=security.max_body_bytes)
        app = make_app(registry, tooler, mcp=mcp, security=security, routes=routes, asks=asks)
        app.add_middleware(_Outermost)
        app.add_exception_handler(DevError, _refused)
        return app

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the page, its files and its requests."""
        place = str(resources.files("sovl_tools.serving") / "page")
        return [
            Route("/", lambda _: FileResponse(f"{place}/index.html")),
            Mount("/static", StaticFiles(directory=place, check_dir=False)),
            Route("/dev/state", self.state),
            Route("/dev/events", self.stream),
            Route("/dev/history", self.past),
            Route("/dev/find", self.find),
            Route("/dev/tools/{name}", self.tool),
            Route("/dev/tools/{name}/call", self.call, methods=["POST"]),
            Route("/dev/tools/{name}/examples", self.example, methods=["POST"]),
            Route("/dev/tools/{name}/fix", self.fix, methods=["POST"]),
            Route("/dev/tools/{name}/as", self.targets),
            Route("/dev/tools/{name}/as/{target}", self.targets),
            Route("/dev/procedures/{name}", self.procedure),
            Route("/dev/procedures/{name}/run", self.run, methods=["POST"]),
            Route("/dev/runs/{id}/{action}", self.step, methods=["POST"]),
        ]

    async def state(self, _: Request) -> Response:
        """Answer with a row for each tool."""
        event = self.events.last  # read before the rows, so that no change between is missed
        rows = await await_thread(self.tools.rows)
        return _Json(
            {
                "version": __version__,
                "root": self._root,
                "generation": self._generation,
                "session": self.events.session,
                **listed(rows.values()),
                "views": await await_thread(self.tools.views),
                "targets": list(TARGETS),
                "last_change": self._last_change,
                "event": event,
            }
        )

    async def stream(self, request: Request) -> Response:
        """Answer with events, first those after the last event that the page has."""
        known = request.headers.get("last-event-id") or self.events.last
        return EventStream(PING_EVENT, self._happening(known))

    async def _happening(self, known: str) -> AsyncGenerator[Event]:
        with self.events.listening() as news:
            while True:
                news.clear()
                found = self.events.since(known)
                if found is None:  # it missed something
                    found = [Event("reset", {}, self.events.last)]
                for each in found:
                    known = each.id
                    yield each
                with suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), PING)
                    continue
                yield PING_EVENT

    async def past(self, _: Request) -> Response:
        """Answer with the last calls."""
        return _Json({"calls": self.history.rows})

    async def find(self, request: Request) -> Response:
        """Answer with the activation phrases in a text, and with the matching tools."""
        text = request.query_params.get("q", "")
        registry = self.calling.registry
        phrases = [{**each._asdict(), "share": each.score} for each in registry.match(text)]
        found = [each._asdict() for each in registry.search(text)]
        for each in found:
            each["words"] = [{"word": word, "fields": f} for word, f in each["words"].items()]
        return _Json({"phrases": phrases, "search": found})

    async def _row(self, request: Request) -> Row:
        name = request.path_params["name"]
        row = (await await_thread(self.tools.rows)).get(name)
        if row is None:
            raise DevError(404, "unknown_tool", f"there is no tool {name[:80]!r}")
        return row

    async def tool(self, request: Request) -> Response:
        """Answer with a tool: its schema, files and findings."""
        row = await self._row(request)
        return _Json(await await_thread(partial(self.tools.detail, row)))

    async def call(self, request: Request) -> Response:
        """Make a call, and answer with its reports and its result as events."""
        given, row = await body_of(request), await self._row(request)
        client = request.scope[CLIENT]
        events = call_events(self.calling, row, given.get("arguments"), client=client)
        with serving():
            return EventStream(await anext(events), events)

    async def example(self, request: Request) -> Response:
        """Save a call as an example in the tool's manifest."""
        given, row = await body_of(request), await self._row(request)
        arguments, version = given.get("arguments") or {}, str(given.get("version"))
        named = {"description": given["name"]} if given.get("name") else {}
        output = {} if given.get("keep") else await self._output(row, arguments)
        example = {**named, "input": arguments, **output}
        save = partial(add_example, row, version, example)
        return _Json(await await_thread(save))

    async def _output(self, row: Row, arguments: JSON) -> dict[str, JSON]:
        """Repeat a call and return its ``output``; {} if the output can't be kept.

        Raises:
            DevError: the call fails, or returns a different result.
        """
        name, tool = row.candidate.name, row.made_of[1]
        before = self.history.result(name, arguments, str(row.values["version"]))
        values: list[JSON] = []
        with suppress(ValueError):  # it was too long to be kept
            values += [parse_json(before)] if before else []
        if tool is not None and tool.annotations.get("destructive"):
            return {"output": values[0]} if values else {}  # not called again
        while len(values) <= 1:
            result = await self.tooler.call(name, arguments)
            if result.error is not None:
                type_, words = "differs" if values else "failed", result.error.message
                raise DevError(409, type_, f"the call fails: {words}", first=before, second=words)
            if result.content or len(as_json(result.value)) > LONGEST:
                return {}
            values.append(result.value)
        first, second = values
        if differences(first, second, "exact"):
            words = "the tool returns a different result each time"
            raise DevError(409, "differs", words, first=first, second=second)
        return {"output": second}

    async def fix(self, request: Request) -> Response:
        """Fix a finding as ``validate --fix`` does."""
        given, row = await body_of(request), await self._row(request)
        code, line = str(given.get("code")), int(given.get("line") or 0)
        changed = await await_thread(partial(fix, self.tools, row, code, line, self._loading))
        return _Json({"changed": changed})

    async def procedure(self, request: Request) -> Response:
        """Answer with a procedure: its inputs, steps, file and findings."""
        row = await self._row(request)
        found = await await_thread(partial(self.tools.detail, row))
        found |= {"inputs": found["schema"], "steps": [], "mermaid": ""}
        with suppress(ProcedureError, OSError):
            procedure = read_found_procedure(row.candidate.location).sound()
            found |= {"steps": boxes(procedure), "mermaid": mermaid(procedure)}
        return _Json(found)

    async def run(self, request: Request) -> Response:
        """Run a procedure, and answer with its steps and its result as events."""
        given, row = await body_of(request), await self._row(request)
        path = row.candidate.location
        try:
            procedure = read_found_procedure(path).sound()
        except (ProcedureError, OSError) as error:
            raise DevError(409, "unavailable", str(error)) from error
        run = Run(procedure, is_stepping=bool(given.get("stepping")))
        inputs = given.get("inputs") or {}
        events = run_events(self._inner, run, path, inputs, client=request.scope[CLIENT])
        self._runs[run.id] = run
        return EventStream(await anext(events), events)

    async def step(self, request: Request) -> Response:
        """Let a run take one step, continue without stops, or end."""
        run = self._runs.get(request.path_params["id"])
        action = _ACTIONS.get(request.path_params["action"])
        if run is None or action is None:
            raise DevError(404, "unknown_run", "this run has ended, or never started")
        if action(run) is False:
            raise DevError(409, "not_waiting", "no step of this run is waiting")
        return Response(status_code=204)

    async def targets(self, request: Request) -> Response:
        """Answer with a tool's definition and its losses for one provider, or for each."""
        tool, target = (await self._row(request)).made_of[1], request.path_params.get("target")
        if tool is None:
            raise DevError(
                409, "unavailable", "the tool isn't loaded, so it has no definition for providers"
            )
        make = partial(as_target, self.calling.registry.catalog, tool)
        if target is not None:
            return _Json(await await_thread(partial(make, target)))
        every = await await_thread(lambda: [*map(make, TARGETS)])
        return _Json([{k: v for k, v in e.items() if k != "definition"} for e in every])


async def body_of(request: Request) -> Mapping[str, JSON]:
    """Return the JSON object of a request.

    Raises:
        DevError: it isn't one.
    """
    given = None
    with suppress(ValueError):
        given = parse_json(await request.body())
    if not isinstance(given, dict):
        raise DevError(400, "bad_request", "the body must be a JSON object")
    return given


class _Json(JSONResponse):
    def render(self, content: JSON) -> bytes:
        return encoded(content)


async def _refused(_: Request, reason: Any) -> Response:
    return _Json({"error": reason.error}, reason.status)
