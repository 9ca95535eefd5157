"""What a checked call costs: its time as a ratio to ``f(**json.loads(text))`` in the same run.

Plain tools take two integers, rich ones six arguments with a nested object, an array, an enum
and an optional one. Sync tools are called inline, async ones awaited; then both with a context,
a hook or an observer, and async ones with a time limit: ``adds`` is the cost beyond the same call
without that. The hop to a thread stands beside asyncio's, and the calls of fastmcp,
langchain-core and pydantic-ai-slim beside ours where they are installed.

CPU time counts, and wall time where threads are waited for. All are measured in alternation, and
the least of all rounds counts.

    python scripts/bench/dispatch.py [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from contest import CALLS, Group, Line, hold
from dispatch_peers import COROUTINE, FUNCTION, installed_peers, is_installed, peer_groups
from folders import make_folders

from sovl_tools import ToolCall, Tooler, ToolRegistry, ToolResult
from sovl_tools.running.statistics import FULL, CallLog
from sovl_tools.running.telemetry import JsonLines

RATIO = {"plain": 1.5, "rich": 1.6}
LIMIT = {"plain": 2.0, "rich": 2.0}
STATISTICS = 1.5

TEXTS = {
    "plain": '{"a": 5, "b": 3}',
    "rich": (
        '{"query": "cats and dogs", "limit": 5, "options": {"language": "en", "safe": true}, '
        '"tags": ["red", "green"], "mode": "exact"}'
    ),
}

IMPORTS = ('."""\n', '."""\n\nimport asyncio\n\nfrom sovl_tools import ToolContext\n')
ASYNC = ("def NAME", "async def NAME")
PAUSE = ("    return {", "    await asyncio.sleep(0)\n    return {")
CONTEXT = ("def NAME(", "def NAME(context: ToolContext, ")
VARIANTS = {
    "function": (IMPORTS,),
    "coroutine": (IMPORTS, ASYNC),
    "suspending": (IMPORTS, ASYNC, PAUSE),
    "informed": (IMPORTS, CONTEXT),
    "awaiting": (IMPORTS, CONTEXT, ASYNC),
}
"""What the tools' functions are called in the statements, and what is replaced in their code."""

SUSPENDING = "await suspending(**json.loads(text))"
TOOLER_LIMITED = "await limited.call({}_name, text)"
CALL_LIMITED = "await tooler.call({}_name, text, timeout=30)"
WAITED = "await asyncio.wait_for(suspending(**json.loads(text)), 30)"


def both(
    label: str, tooler: str, function: str = "function", coroutine: str = "coroutine"
) -> tuple[Line, Line]:
    """Return the lines of a sync and an async tool with something more than plain calls have."""
    sync = f"{tooler}.call_sync({function}_name, text)"
    awaited = f"await {tooler}.call({coroutine}_name, text)"
    return (
        Line(f"sync, {label}", FUNCTION, sync, "sync"),
        Line(f"async, {label}", COROUTINE, awaited, "async"),
    )


CALLED = (
    Line("sync", FUNCTION, "tooler.call_sync(function_name, text)", "", RATIO),
    Line("async", COROUTINE, "await tooler.call(coroutine_name, text)", "", RATIO),
)
LIMITED = (
    Line("async, Tooler's limit", COROUTINE, TOOLER_LIMITED.format("coroutine"), "async", LIMIT),
    Line("async, call's limit", COROUTINE, CALL_LIMITED.format("coroutine"), "async", LIMIT),
)
SUSPENDED = (
    Line("suspends", SUSPENDING, "await tooler.call(suspending_name, text)"),
    Line("suspends, Tooler's limit", SUSPENDING, TOOLER_LIMITED.format("suspending"), "suspends"),
    Line("suspends, call's limit", SUSPENDING, CALL_LIMITED.format("suspending"), "suspends"),
    Line("suspends, asyncio.wait_for", SUSPENDING, WAITED),
)
MORE = (
    *both("ToolContext", "tooler", "informed", "awaiting"),
    *both("generator hook", "hooked"),
    *both("JsonLines", "logged"),
)
TRACED = both("OpenTelemetry", "traced")
THREAD = (
    Line("thread", FUNCTION, "await tooler.call(function_name, text)"),
    Line("thread, call's limit", FUNCTION, CALL_LIMITED.format("function")),
    Line("asyncio.to_thread", FUNCTION, "await asyncio.to_thread(function, **json.loads(text))"),
    Line(
        "loop.run_in_executor",
        FUNCTION,
        "await loop.run_in_executor(None, partial(function, **json.loads(text)))",
    ),
)
COUNTING = Line(
    "statistics",
    "durations[index]",
    "log.append(durations[index]); len(log.durations) >= FULL and log.fold()",
    "loop",
    {"each": STATISTICS},
)
"""What each call does for the statistics."""
LOOP = Line("loop", COUNTING.floor, COUNTING.floor)


def make_variants(root: Path, kind: str) -> dict[str, Any]:
    """Write the tools and return their registry, their functions and their names."""
    make_folders(root, kind, len(VARIANTS))
    names: dict[str, Any] = {}
    modules = sorted(root.glob("*/*.py"))
    for module, (variant, edits) in zip(modules, VARIANTS.items(), strict=True):
        code = module.read_text()
        for edit in edits:
            old, new = (text.replace("NAME", module.stem) for text in edit)
            code = code.replace(old, new, 1)
        module.write_text(code)
        names[f"{variant}_name"] = module.stem
    registry = ToolRegistry.from_directory(root)
    functions = {variant: registry[names[f"{variant}_name"]].function for variant in VARIANTS}
    return {"registry": registry, **names, **functions}


def passing(call: ToolCall, following: Any) -> Generator[Any, ToolResult, ToolResult]:
    """Do nothing around a call: the least that a hook may be."""
    return (yield following(call))


def toolers(registry: ToolRegistry, log: Path) -> dict[str, Tooler]:
    """Return the dispatchers of the statements."""
    found = {
        "tooler": Tooler(registry),
        "limited": Tooler(registry, timeout=30),
        "hooked": Tooler(registry, hooks=[passing]),
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

    from sovl_tools.running.opentelemetry import OpenTelemetry  # noqa: PLC0415

    tracer, meter = trace.TracerProvider(), metrics.MeterProvider([InMemoryMetricReader()])
    tracer.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    return Tooler(registry, observers=[OpenTelemetry(tracer_provider=tracer, meter_provider=meter)])


def statement_names(root: Path, kind: str) -> dict[str, Any]:
    """Return what the statements speak of."""
    variants = make_variants(root / "tools", kind)
    modules = {"asyncio": asyncio, "json": json, "partial": partial}
    loop = asyncio.get_running_loop()
    return {
        **variants,
        **toolers(variants["registry"], root / "calls.jsonl"),
        **modules,
        "loop": loop,
        "text": TEXTS[kind],
    }


def own_groups(kind: str, names: dict[str, Any]) -> list[Group]:
    """Return what is measured of one kind of tool."""
    more = (*MORE, *TRACED) if "traced" in names else MORE
    return [
        Group(kind, (*CALLED, *LIMITED), names),
        Group(kind, SUSPENDED, names),
        Group(kind, more, names, CALLED),
        Group(kind, THREAD, names, clock=perf_counter),
    ]


async def measure(root: Path, rounds: int) -> None:
    """Measure our calls, and then the others', whose packages fill the memory."""
    names = {kind: statement_names(root / kind, kind) for kind in TEXTS}
    log = {"log": CallLog(), "FULL": FULL, "durations": [n * 1e-6 for n in range(CALLS)]}
    groups = [group for kind in TEXTS for group in own_groups(kind, names[kind])]
    await hold([*groups, Group("each", (COUNTING,), log, (LOOP,))], rounds)
    peers = installed_peers()
    async with AsyncExitStack() as stack:
        them = [await peer_groups(kind, names[kind], peers, stack) for kind in TEXTS]
        await hold([group for groups in them for group in groups], rounds)
    check_calls(names.values())


def check_calls(spoken: Iterable[dict[str, Any]]) -> None:
    """Make sure that no call failed, which would have been cheap."""
    found = [value for names in spoken for value in names.values() if isinstance(value, Tooler)]
    failures = [each.errors for one in found for each in one.statistics().values() if each.errors]
    assert not failures, failures


def main() -> None:
    """Measure in a folder that is not kept."""
    assert CALLS == FULL, "each batch is to fold the statistics once"
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"a checked call, least of {rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), rounds))


if __name__ == "__main__":
    main()
