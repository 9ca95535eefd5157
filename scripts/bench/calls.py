"""What a checked call costs, as a multiple of the least that does the same, in the same run.

The floor of a call is ``f(**json.loads(text))``. The calls of fastmcp, pydantic-ai-slim and
langchain-core are measured where they are installed. CPU time counts.

    python scripts/bench/calls.py [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from measuring import in_turn, show

from sovl_tools import ToolCall, Tooler, ToolRegistry, ToolResult, tool


class Colour(Enum):
    """One of two."""

    RED = "red"
    BLUE = "blue"


class Shape(NamedTuple):
    """A tool: its parameters, its result, and the text that a model sends."""

    takes: str
    returns: str
    text: str


SHAPES = {
    "plain": Shape("a: int, b: int", '{"sum": a + b}', '{"a": 5, "b": 3}'),
    "several": Shape(
        "query: str, limit: int = 10, tags: list[str] | None = None, "
        "options: dict[str, str | bool] | None = None, page: int = 1",
        "[query, limit, tags, options]",
        '{"query": "cats", "limit": 5, "options": {"safe": true}, "tags": ["red", "green"]}',
    ),
    "converted": Shape(
        "day: date, colour: Colour, count: int = 1",
        "[str(day), count]",
        '{"day": "2026-01-31", "colour": "red"}',
    ),
    "30 arguments": Shape(
        ", ".join(f"a{index}: int" for index in range(30)),
        "a7",
        json.dumps({f"a{index}": index for index in range(30)}),
    ),
    "100 KB of rows": Shape(
        "rows: list[dict]",
        "len(rows)",
        json.dumps({"rows": [{"id": n, "name": f"name {n}", "share": n / 7} for n in range(1800)]}),
    ),
}
SYNC, ASYNC = "function(**json.loads(text))", "await coroutine(**json.loads(text))"
CHECKED, AWAITED = "tooler.call_sync('function', text)", "await tooler.call('coroutine', text)"


class Row(NamedTuple):
    """A statement, the floor that it is compared with, and the greatest ratio."""

    label: str
    statement: str
    floor: str
    budget: float | None = None


BARE = (Row("sync", CHECKED, SYNC, 4), Row("async", AWAITED, ASYNC, 5))
CONFIGURED = (
    Row("async, Tooler's limit", "await limited.call('coroutine', text)", "await child(text)", 1.6),
    Row(
        "async, call's limit",
        "await tooler.call('coroutine', text, timeout=30)",
        "await child(text)",
        1.6,
    ),
    Row(
        "sync, limit",
        "limited.call_sync('function', text)",
        "pool.submit(function, **json.loads(text)).result(30)",
        2,
    ),
    Row(
        "sync tool, awaited",
        "await tooler.call('function', text)",
        "await asyncio.to_thread(function, **json.loads(text))",
    ),
    Row("sync, hook", "hooked.call_sync('function', text)", CHECKED, 3),
    Row("async, hook", "await hooked.call('coroutine', text)", AWAITED, 3),
    Row("sync, observer", "observed.call_sync('function', text)", CHECKED, 3),
    Row("async, observer", "await observed.call('coroutine', text)", AWAITED, 3),
    Row("sync, bound on results", "bounded.call_sync('function', text)", CHECKED, 3),
    Row("sync, rejected", "tooler.call_sync('function', rejected)", SYNC),
)
PEERS = {
    "fastmcp": (
        Row("async, of FastMCP's tool.run", AWAITED, "await fastmcp_tool.run(json.loads(text))", 1),
        Row(
            "async, of FastMCP's server",
            AWAITED,
            "await fastmcp.call_tool('coroutine', json.loads(text))",
            1,
        ),
    ),
    "pydantic_ai": (
        Row(
            "async, of pydantic-ai's tool manager",
            AWAITED,
            "await pydantic_ai.handle_call(ToolCallPart('coroutine', text))",
            1,
        ),
    ),
    "langchain_core": (
        Row("sync, of LangChain's invoke", CHECKED, "langchain.invoke(json.loads(text))", 1),
        Row(
            "async, of LangChain's ainvoke",
            AWAITED,
            "await langchain_async.ainvoke(json.loads(text))",
            1,
        ),
    ),
}


async def peer_names(names: dict[str, Any]) -> dict[str, Any]:
    """Return what the peers' statements name, of those that are installed."""
    found: dict[str, Any] = {}
    if find_spec("fastmcp"):
        server = import_module("fastmcp").FastMCP("bench")
        server.tool(names["coroutine"])
        found |= {"fastmcp": server, "fastmcp_tool": await server.get_tool("coroutine")}
    if find_spec("pydantic_ai"):
        module = import_module("pydantic_ai")
        model = import_module("pydantic_ai.models.test").TestModel()
        usage = import_module("pydantic_ai.usage").RunUsage()
        toolset = module.FunctionToolset([names["coroutine"]])
        context = module.RunContext(deps=None, model=model, usage=usage)
        manager = import_module("pydantic_ai.tool_manager").ToolManager(toolset)
        found["pydantic_ai"] = await manager.for_run_step(context)
        found["ToolCallPart"] = import_module("pydantic_ai.messages").ToolCallPart
    if find_spec("langchain_core"):
        structured = import_module("langchain_core.tools").StructuredTool
        found["langchain"] = structured.from_function(names["function"])
        found["langchain_async"] = structured.from_function(coroutine=names["coroutine"])
    return found


def passing(call: ToolCall, following: Any) -> Generator[Any, ToolResult, ToolResult]:
    """Do nothing around a call: the least that a hook can do."""
    return (yield following(call))


def names_of(shape: Shape, pool: ThreadPoolExecutor) -> dict[str, Any]:
    """Return what the statements name: a sync and an async tool, and dispatchers."""
    body = f'({shape.takes}) -> object:\n    """Do it."""\n    return {shape.returns}\n'
    names: dict[str, Any] = {"date": date, "Colour": Colour, "json": json, "asyncio": asyncio}
    exec(f"def function{body}async def coroutine{body}", names)
    registry = ToolRegistry()
    for name in ("function", "coroutine"):
        registry.register(tool(names[name]))

    async def child(text: str) -> Any:
        task = asyncio.ensure_future(names["coroutine"](**json.loads(text)))
        await asyncio.wait([task], timeout=30)
        return task.result()

    return names | {
        "text": shape.text,
        "rejected": shape.text.replace("5", '"five"'),
        "pool": pool,
        "child": child,
        "tooler": Tooler(registry),
        "limited": Tooler(registry, timeout=30),
        "hooked": Tooler(registry, hooks=[passing]),
        "observed": Tooler(registry, observers=[lambda _: None]),
        "bounded": Tooler(registry, max_result_bytes=100_000),
    }


async def measure(
    kind: str, rows: tuple[Row, ...], names: dict[str, Any], rounds: int, floor: str = "the floor"
) -> None:
    """Print a line for each row."""
    statements = {each: each for row in rows for each in (row.statement, row.floor)}
    least = await in_turn(statements, names, rounds=rounds)
    for row in rows:
        took = least[row.statement]
        ratio, note = took / least[row.floor], f"{took * 1e6:.1f} us"
        show(f"{kind}: {row.label}", ratio, floor, row.budget, note)


async def main(rounds: int) -> None:
    """Measure the everyday configurations of a plain tool, the other shapes, and the peers."""
    with ThreadPoolExecutor(2) as pool:
        for kind, shape in SHAPES.items():
            names = names_of(shape, pool)
            rows = (*BARE, *CONFIGURED) if kind == "plain" else BARE
            await measure(kind, rows, names, rounds)
        names = names_of(SHAPES["plain"], pool)
        names |= await peer_names(names)
        for package, compared in PEERS.items():
            if find_spec(package):
                await measure("plain", compared, names, rounds, package)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
