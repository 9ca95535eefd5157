"""What serving costs: the server's CPU time for a call, and from its start to the first list.

The same functions are served by `sovl-tools serve`, by FastMCP's server, and by the official SDK's
low-level server with nothing around it, all in processes of their own, in turn. The client here
writes and reads JSON and does nothing else; what it costs is not counted. FastMCP is left out where
it is not installed: pip install fastmcp. Also printed are the longest silence of /healthz while
each of ten large bodies is rejected, and the memory that takes.

    python scripts/bench/serving.py [--calls 2000] [--tools 1000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import rejected_bodies
from measuring import ENVIRONMENT, cpu_of, show
from shapes import HEAVY_TOOLS, SECONDS, heavy_of, make_folders

VERSION, MODERN = "2025-11-25", "2026-07-28"
BUDGET = 0.6
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_ARGUMENTS = {"city": "Oslo", "days": 3, "units": "metric", "tags": ["a", "b"]}

FUNCTION = '''\
from typing import Literal


def {name}(
    city: str,
    days: int = 3,
    units: Literal["metric", "imperial"] = "metric",
    tags: list[str] | None = None,
) -> dict:
    """Tell the weather of a city.

    Args:
        city: The city.
        days: How many days.
        units: The units.
        tags: What to look at.
    """
    return {{"city": city, "days": days, "units": units, "tags": tags or []}}
'''

IMPORT = """\
import os, sys
from importlib.util import module_from_spec, spec_from_file_location

root, transport, port = sys.argv[1:]


def function_of(name):
    spec = spec_from_file_location(name, os.path.join(root, name, name + ".py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return getattr(module, name)
"""

FASTMCP = f"""{IMPORT}
from fastmcp import FastMCP

server = FastMCP("bench")
for name in sorted(os.listdir(root)):
    server.tool(function_of(name))
if transport == "stdio":
    server.run(show_banner=False, log_level="ERROR")
else:
    server.run("http", host="127.0.0.1", port=int(port), show_banner=False, log_level="ERROR")
"""

SDK = f"""{IMPORT}
import asyncio, json
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, PaginatedRequestParams

tools, functions = [], {{}}
for name in sorted(os.listdir(root)):
    with open(os.path.join(root, name, name + ".json"), encoding="utf-8") as file:
        manifest = json.load(file)
    parameters, description = manifest["parameters"], manifest["description"]
    tools.append({{"name": name, "description": description, "inputSchema": parameters}})
    functions[name] = function_of(name)


async def list_tools(ctx, params):
    return {{"tools": tools}}


async def call_tool(ctx, params):
    value = functions[params.name](**params.arguments)
    text = json.dumps(value)
    content = [{{"type": "text", "text": text}}]
    return {{"content": content, "structuredContent": value, "resultType": "complete"}}


server = Server("bench")
server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
server.add_request_handler("tools/call", CallToolRequestParams, call_tool)


async def over_stdio():
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if transport == "stdio":
    asyncio.run(over_stdio())
else:
    import uvicorn
    uvicorn.run(server.streamable_http_app(), port=int(port), log_level="error", access_log=False)
"""


class Client(Protocol):
    """Sends a request and returns what the server answers."""

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]: ...

    def notify(self, method: str) -> None: ...


class StdioClient:
    """Speaks with a process over its standard input and output."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out, self._id = process.stdin, process.stdout, 0

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while line := self._out.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._id:
                return answer
        raise SystemExit("the server has ended")

    def notify(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def _send(self, message: dict[str, Any]) -> None:
        self._in.write(json.dumps(message).encode() + b"\n")
        self._in.flush()


class HttpClient:
    """Speaks with a server over one connection that is kept."""

    def __init__(self, port: int, *, is_modern: bool = False) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.is_modern = is_modern
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._id = 0

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        if self.is_modern:
            params = {**params, "_meta": META}
            self._headers |= {"mcp-protocol-version": MODERN, "mcp-method": method}
            self._headers["mcp-name"] = params.get("name", "")
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        kind, body = self._post(message)
        events = [body]
        if kind.startswith("text/event-stream"):
            events = re.findall(rb"^data: ?(.+?)\r?$", body, re.MULTILINE)
        for each in events:
            answer: dict[str, Any] = json.loads(each)
            if answer.get("id") == self._id:
                return answer
        raise SystemExit(f"no answer to {method}: {body[:200]!r}")

    def notify(self, method: str) -> None:
        self._post({"jsonrpc": "2.0", "method": method})

    def _post(self, message: dict[str, Any]) -> tuple[str, bytes]:
        self._connection.request("POST", "/mcp", json.dumps(message), self._headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status >= 300:
            raise SystemExit(f"HTTP {response.status}: {body[:200]!r}")
        session = response.getheader("mcp-session-id")
        if session:
            self._headers |= {"mcp-session-id": session, "mcp-protocol-version": VERSION}
        return response.getheader("content-type") or "", body


def greet(client: Client) -> None:
    """Open a session."""
    hello = {
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    client.request("initialize", hello)
    client.notify("notifications/initialized")


def listed(client: Client) -> int:
    """Return how many tools there are, of all pages."""
    params: dict[str, Any] = {}
    count = 0
    while True:
        result = client.request("tools/list", params)["result"]
        count += len(result["tools"])
        if not result.get("nextCursor"):
            return count
        params = {"cursor": result["nextCursor"]}


@contextmanager
def served(
    command: Sequence[str], port: int | None, *, is_modern: bool = False
) -> Iterator[tuple[int, Client]]:
    """Start a server; return its process and a client that has greeted it."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=quiet,
        env={**ENVIRONMENT, "FASTMCP_CHECK_FOR_UPDATES": "off"},
    )
    try:
        client: Client = StdioClient(process)
        if port is not None:
            connected(process, port)
            client = HttpClient(port, is_modern=is_modern)
        if not is_modern:
            greet(client)
        yield process.pid, client
    finally:
        process.kill()
        process.wait()
        for each in (process.stdin, process.stdout):
            assert each is not None
            each.close()


def connected(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a server listens."""
    for _ in range(6000):
        if process.poll() is not None:
            raise SystemExit(f"{process.args!r} has ended")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.01)
        else:
            return
    raise SystemExit(f"{process.args!r} does not listen")


def call_cost(command: Sequence[str], port: int | None, calls: int, *, is_modern: bool) -> float:
    """Return the server's CPU time for a call, in microseconds."""
    params = {"name": "weather0", "arguments": _ARGUMENTS}
    with served(command, port, is_modern=is_modern) as (pid, client):
        for _ in range(100):
            answer = client.request("tools/call", params)
            assert "Oslo" in str(answer.get("result")), answer
        before = cpu_of(pid)
        for _ in range(calls):
            client.request("tools/call", params)
        return (cpu_of(pid) - before) / calls * 1e6


def start_cost(command: Sequence[str], count: int) -> tuple[float, float]:
    """Return the CPU time and the time from a server's start to its first list, in seconds."""
    started = time.perf_counter()
    with served(command, None) as (pid, client):
        assert listed(client) == count
        return cpu_of(pid), time.perf_counter() - started


def write_tools(root: Path, count: int) -> None:
    """Write so many folders, each a tool with four parameters."""
    texts = {
        "city": {"type": "string", "description": "The city."},
        "days": {"type": "integer", "description": "How many days.", "default": 3},
        "units": {
            "enum": ["metric", "imperial"],
            "type": "string",
            "description": "The units.",
            "default": "metric",
        },
        "tags": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What to look at.",
        },
    }
    for index in range(count):
        name = f"weather{index}"
        folder = root / name
        folder.mkdir(parents=True)
        manifest = {
            "name": name,
            "description": "Tell the weather of a city.",
            "parameters": {"type": "object", "properties": texts, "required": ["city"]},
        }
        (folder / f"{name}.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        (folder / f"{name}.py").write_text(FUNCTION.format(name=name), encoding="utf-8")


def commands(scripts: Path, tools: Path, port: int | None) -> dict[str, list[str]]:
    """Return what starts each server."""
    place = ["stdio", "0"] if port is None else ["http", str(port)]
    transport = [] if port is None else ["--transport", "http", "--port", str(port)]
    # the others list all tools, however many there are
    options = ["--no-search-tools", "--tools", str(tools), *transport]
    ours = ["-m", "sovl_tools", "-q", "serve", *options]
    found = {"sovl-tools": [sys.executable, *ours]}
    for name, text in (("fastmcp", FASTMCP), ("sdk", SDK)):
        if name == "sdk" or find_spec("fastmcp"):
            script = scripts / f"{name}_server.py"
            script.write_text(text, encoding="utf-8")
            found[name] = [sys.executable, str(script), str(tools), *place]
    return found


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def compare(title: str, costs: dict[str, float]) -> None:
    """Print our cost as a multiple of each other server's."""
    ours = costs.pop("sovl-tools")
    for name, cost in costs.items():
        budget = BUDGET if name == "fastmcp" else None
        show(title, ours / cost, name, budget, f"{ours:.0f} against {cost:.0f}")


def start(scripts: Path, many: Path, count: int, rounds: int) -> None:
    """Measure from the start of each server to its list; of ours also with heavy modules."""
    some, light, heavy = (scripts / each for each in ("some", "light", "heavy"))
    write_tools(some, HEAVY_TOOLS)
    for root, number in ((some, HEAVY_TOOLS), (many, count)):
        cpu, wall = dict[str, float](), dict[str, float]()
        # the first round writes the bytecode
        for _ in range(rounds + 1):
            for name, command in commands(scripts, root, None).items():
                used, took = (each * 1000 for each in start_cost(command, number))
                cpu[name] = min(used, cpu.get(name, used))
                wall[name] = min(took, wall.get(name, took))
        compare(f"ms of CPU to the list of {number} tools", cpu)
        compare(f"ms to the list of {number} tools", wall)
    make_folders(light, heavy_of(0), HEAVY_TOOLS)
    make_folders(heavy, heavy_of(SECONDS), HEAVY_TOOLS)
    ours = {each: commands(scripts, each, None)["sovl-tools"] for each in (light, heavy)}
    rows = [
        [start_cost(command, HEAVY_TOOLS)[1] for command in ours.values()]
        for _ in range(rounds + 1)
    ]
    least_light, least_heavy = (min(column) for column in zip(*rows, strict=True))
    title = f"list of {HEAVY_TOOLS} tools that import for {SECONDS} s each"
    show(title, least_heavy / least_light, "light tools", 1.1, f"{least_heavy:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--tools", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["stdio", "http", "modern", "start", "rejected"])
    options = parser.parse_args()
    if find_spec("fastmcp") is None:
        print("fastmcp is not installed; only the SDK's own server is compared")
    with tempfile.TemporaryDirectory() as directory:
        scripts = Path(directory)
        few, many = scripts / "few", scripts / "many"
        write_tools(few, 10)
        write_tools(many, options.tools)
        for kind in ("stdio", "http", "modern"):
            if options.only in (None, kind):
                least: dict[str, float] = {}
                for _ in range(options.rounds):
                    port = None if kind == "stdio" else free_port()
                    for name, command in commands(scripts, few, port).items():
                        is_modern = kind == "modern"
                        cost = call_cost(command, port, options.calls, is_modern=is_modern)
                        least[name] = min(cost, least.get(name, cost))
                title = f"HTTP, {MODERN}" if kind == "modern" else kind
                compare(f"us of CPU a call over {title}", least)
        if options.only in (None, "rejected"):
            rejected_bodies.measure(scripts / "worst", free_port())
        if options.only in (None, "start"):
            start(scripts, many, options.tools, options.rounds)


if __name__ == "__main__":
    main()
