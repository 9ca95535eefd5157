"""What a checked call costs, as a ratio to the least that does the same, in the same run.

The floor of a call is ``f(**json.loads(text))``; that of a call on a thread is an executor's or
asyncio's own. First come the everyday configurations of a plain tool, which have targets: bare,
with a limit, an observer, a bound on results, a hook, refused, on a thread. Then the same for other
shapes of tools and for combinations, and the calls of fastmcp, langchain-core and pydantic-ai-slim
where they are installed.

CPU time counts. All are measured in alternation, and the least of all rounds counts.

    python scripts/bench/dispatch.py [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import date
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from contest import Group, Line, hold
from dispatch_peers import COROUTINE, FUNCTION, installed_peers, is_installed, peer_groups

from sovl_tools import ToolCall, ToolContext, Tooler, ToolRegistry, ToolResult, tool
from sovl_tools.dispatch.telemetry import JsonLines


class Colour(Enum):
    """One of two."""

    RED = "red"
    BLUE = "blue"


class Shape(NamedTuple):
    """A tool of a shape: what it takes, what it returns, and the text that a model sends."""

    takes: str
    returns: str
    text: str
    output_schema: dict[str, Any] | None = None


SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
NUMBERS = '{"a": 5, "b": 3}'
SHAPES = {
    "plain": Shape("a: int, b: int", '{"sum": a + b}', NUMBERS),
    "several": Shape(
        "query: str, limit: int = 10, tags: list[str] | None = None, "
        "options: dict[str, str | bool] | None = None, "
        "mode: Literal['exact', 'fuzzy'] = 'exact', page: int = 1",
        "[query, limit, tags, options, mode, page]",
        '{"query": "cats and dogs", "limit": 5, "options": {"language": "en", "safe": true}, '
        '"tags": ["red", "green"]}',
    ),
    "context": Shape("a: int, b: int, info: ToolContext = None", '{"sum": a + b}', NUMBERS),
    "converted": Shape(
        "day: date, colour: Colour, count: int = 1",
        "[str(day), count]",
        '{"day": "2026-01-31", "colour": "red"}',
    ),
    "checked": Shape("a: int, b: int", '{"sum": a + b}', NUMBERS, SUM),
}
ROWS = [{"id": index, "name": f"name {index}", "share": index / 7} for index in range(1_800)]
SIZES = {
    "one": Shape("a: int", "a", '{"a": 1}'),
    "eight": Shape(
        ", ".join(f"a{index}: int" for index in range(8)),
        "a7",
        json.dumps({f"a{index}": index for index in range(8)}),
    ),
    "thirty": Shape(
        ", ".join(f"a{index}: int" for index in range(30)),
        "a7",
        json.dumps({f"a{index}": index for index in range(30)}),
    ),
    "text": Shape("text: str", "len(text)", json.dumps({"text": "x" * 100_000})),
    "umlauts": Shape(
        "text: str", "len(text)", json.dumps({"text": "ü" * 50_000}, ensure_ascii=False)
    ),
    "rows": Shape("rows: list[dict[str, Any]]", "len(rows)", json.dumps({"rows": ROWS})),
    "whole": Shape(
        "numbers: list[int]", "len(numbers)", json.dumps({"numbers": [*range(9_000), 3.0]})
    ),
}
"""Arguments and results of some size, each 100 KB or so, and numbers of arguments."""
REFUSED = '{"a": "five", "b": 3}'

SUSPENDING = "await suspending(**json.loads(text))"
POOL = "pool.submit(function, **json.loads(text)).result(30)"
TO_THREAD = "await asyncio.to_thread(function, **json.loads(text))"


WRITTEN = "json.dumps(function(**json.loads(text)))"


def both(label: str, tooler: str, sync: float = 0, asynchronous: float = 0) -> tuple[Line, Line]:
    """Return the lines of a sync and an async tool that a Tooler calls, and their targets."""
    call_sync = f"{tooler}.call_sync(function_name, text)"
    call = f"await {tooler}.call(coroutine_name, text)"
    return (
        Line(f"sync, {label}", FUNCTION, call_sync, sync),
        Line(f"async, {label}", COROUTINE, call, asynchronous),
    )


EVERYDAY = (
    *both("bare", "tooler", 2.0, 2.2),
    Line("async, Tooler's limit", COROUTINE, "await limited.call(coroutine_name, text)", 2.2),
    Line(
        "async, call's limit",
        COROUTINE,
        "await tooler.call(coroutine_name, text, timeout=30)",
        2.2,
    ),
    *both("observer", "observed", 4, 4),
    *both("bound on results", "bounded", 4, 4),
    *both("generator hook", "hooked", 7, 7),
    Line("sync, refused", FUNCTION, "tooler.call_sync(function_name, refused)", 20),
    Line("async, refused", COROUTINE, "await tooler.call(coroutine_name, refused)", 20),
)
COMBINED = (
    *both("observer and bound", "watched"),
    *both("observer, bound and hook", "full"),
    *both("JsonLines", "logged"),
)
GIVEN = (
    Line("sync, a dictionary", FUNCTION, "tooler.call_sync(function_name, json.loads(text))"),
    Line("sync, call_id", FUNCTION, "tooler.call_sync(function_name, text, call_id='one')"),
)
RETURNED = (Line("sync, bare", WRITTEN, "json.dumps(tooler.call_sync(function_name, text).value)"),)
HOOKED = (*both("observer", "observed"), *both("generator hook", "hooked"))
SUSPENDED = (
    Line("suspends", SUSPENDING, "await tooler.call(suspending_name, text)"),
    Line("suspends, Tooler's limit", SUSPENDING, "await limited.call(suspending_name, text)"),
    Line(
        "suspends, asyncio.wait_for",
        SUSPENDING,
        "await asyncio.wait_for(suspending(**json.loads(text)), 30)",
    ),
)
THREADS = (
    Line("sync, limit", POOL, "limited.call_sync(function_name, text)", 1.5),
    Line("awaited sync tool", TO_THREAD, "await tooler.call(function_name, text)", 1.5),
    Line("awaited sync tool, limit", TO_THREAD, "await limited.call(function_name, text)", 1.5),
)
TRACED = both("OpenTelemetry", "traced")


def passing(call: ToolCall, following: Any) -> Generator[Any, ToolResult, ToolResult]:
    """Do nothing around a call: the least that a hook may be."""
    return (yield following(call))


def ignoring(event: object) -> None:
    """Do nothing with a call: the least that an observer may be."""


def toolers(registry: ToolRegistry, log: Path) -> dict[str, Tooler]:
    """Return the dispatchers of the statements."""
    found = {
        "tooler": Tooler(registry),
        "limited": Tooler(registry, timeout=30),
        "observed": Tooler(registry, observers=[ignoring]),
        "bounded": Tooler(registry, max_result_bytes=100_000),
        "hooked": Tooler(registry, hooks=[passing]),
        "watched": Tooler(registry, observers=[ignoring], max_result_bytes=100_000),
        "full": Tooler(registry, observers=[ignoring], max_result_bytes=100_000, hooks=[passing]),
        "logged": Tooler(registry, observers=[JsonLines(log)]),
    }
    return found | {"traced": traced(registry)} if is_installed("opentelemetry.sdk") else found


def traced(registry: ToolRegistry) -> Tooler:
    """Return a dispatcher whose spans and metrics stay in memory."""
    from opentelemetry.sdk import metrics, trace  # noqa: PLC0415 - it may not be installed
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import (  # noqa: PLC0415
        InMemorySpanExporter,
    )

    from sovl_tools.dispatch.opentelemetry import OpenTelemetry  # noqa: PLC0415

    tracer, meter = trace.TracerProvider(), metrics.MeterProvider([InMemoryMetricReader()])
    tracer.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    return Tooler(registry, observers=[OpenTelemetry(tracer_provider=tracer, meter_provider=meter)])


def names_of(shape: Shape, log: Path, pool: ThreadPoolExecutor) -> dict[str, Any]:
    """Return what the statements speak of: tools of that shape, sync, async and suspending."""
    body = f'({shape.takes}):\n    """Do it."""\n    '
    code = (
        f"def function{body}return {shape.returns}\n"
        f"async def coroutine{body}return {shape.returns}\n"
        f"async def suspending{body}await asyncio.sleep(0)\n    return {shape.returns}\n"
    )
    types = {
        "Any": Any,
        "ROWS": ROWS,
        "ToolContext": ToolContext,
        "Literal": Literal,
        "date": date,
        "Colour": Colour,
    }
    names: dict[str, Any] = {"asyncio": asyncio, **types}
    exec(code, names)
    registry = ToolRegistry()
    for name in ("function", "coroutine", "suspending"):
        registry.register(tool(name=name, output_schema=shape.output_schema)(names[name]))
        names[f"{name}_name"] = name
    texts = {"text": shape.text, "refused": REFUSED, "json": json, "partial": partial}
    return {**names, **texts, **toolers(registry, log), "registry": registry, "pool": pool}


async def measure(root: Path, rounds: int) -> None:
    """Measure our calls, and then the others', whose packages fill the memory."""
    with ThreadPoolExecutor(2) as pool:
        names = {
            kind: names_of(shape, root / f"{kind}.jsonl", pool) for kind, shape in SHAPES.items()
        }
        groups = [Group("plain", lines, names["plain"]) for lines in (EVERYDAY, THREADS)]
        for kind in SHAPES:
            more = (*COMBINED, *TRACED) if "traced" in names[kind] else COMBINED
            bare = () if kind == "plain" else (*both("bare", "tooler"), *HOOKED)
            groups += [Group(kind, (*bare, *more), names[kind])]
        groups += [Group("plain", (*GIVEN, *SUSPENDED), names["plain"])]
        sizes = {
            kind: names_of(shape, root / f"{kind}.jsonl", pool) for kind, shape in SIZES.items()
        }
        groups += [Group(kind, both("bare", "tooler"), names) for kind, names in sizes.items()]
        returned = Shape("count: int", "ROWS", '{"count": 1}')
        groups += [Group("returned", RETURNED, names_of(returned, root / "returned.jsonl", pool))]
        await hold(groups, rounds)
        for shape in names.values():
            check_calls(shape)
        peers = installed_peers()
        async with AsyncExitStack() as stack:
            kinds = ("plain", "several")
            them = [await peer_groups(kind, names[kind], peers, stack) for kind in kinds]
            await hold([group for groups in them for group in groups], rounds)


def check_calls(spoken: dict[str, Any]) -> None:
    """Make sure that no call failed but those that are to be refused."""
    found = [each for each in spoken.values() if isinstance(each, Tooler)]
    failures = [each.errors for one in found for each in one.statistics().values()]
    assert all(each.keys() <= {"invalid_arguments"} for each in failures), failures


def main() -> None:
    """Measure in a folder that is not kept."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"a checked call, least of {rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), rounds))


if __name__ == "__main__":
    main()
