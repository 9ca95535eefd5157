"""The calls of other packages, of the same functions with the same JSON text, where installed.

Of each package the least call that checks its arguments is measured, and the one that its own
server, client or agent makes. Those take a dictionary where the package does not parse JSON.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeAlias

from contest import Group, Line

Names: TypeAlias = dict[str, Any]

FUNCTION = "function(**json.loads(text))"
COROUTINE = "await coroutine(**json.loads(text))"
MESSAGE = '{"type": "tool_call", "id": "1", "name": "", "args": json.loads(text)}'

OURS = (
    Line("sovl-tools, sync", FUNCTION, "tooler.call_sync(function_name, text)"),
    Line("sovl-tools, async", COROUTINE, "await tooler.call(coroutine_name, text)"),
    Line("sovl-tools, thread", FUNCTION, "await tooler.call(function_name, text)"),
)
FASTMCP = (
    Line("FastMCP run, async", COROUTINE, "await fastmcp_tool.run(json.loads(text))"),
    Line(
        "FastMCP server, async",
        COROUTINE,
        "await fastmcp_server.call_tool(coroutine_name, json.loads(text))",
    ),
    Line(
        "FastMCP client, async",
        COROUTINE,
        "await fastmcp_client.call_tool(coroutine_name, json.loads(text))",
    ),
    Line(
        "FastMCP server, thread",
        FUNCTION,
        "await fastmcp_server.call_tool(function_name, json.loads(text))",
    ),
)
LANGCHAIN = (
    Line("LangChain invoke, sync", FUNCTION, "langchain_sync.invoke(json.loads(text))"),
    Line("LangChain message, sync", FUNCTION, f"langchain_sync.invoke({MESSAGE})"),
    Line("LangChain ainvoke, async", COROUTINE, "await langchain_async.ainvoke(json.loads(text))"),
    Line("LangChain message, async", COROUTINE, f"await langchain_async.ainvoke({MESSAGE})"),
    Line("LangChain ainvoke, thread", FUNCTION, "await langchain_sync.ainvoke(json.loads(text))"),
)
PYDANTIC_AI = (
    Line(
        "pydantic-ai toolset, async",
        COROUTINE,
        "await pydantic_ai_toolset.call_tool(coroutine_name, "
        "pydantic_ai_tool.args_validator.validate_json(text), pydantic_ai_context, "
        "pydantic_ai_tool)",
    ),
    Line(
        "pydantic-ai agent, async",
        COROUTINE,
        "await pydantic_ai_manager.handle_call(ToolCallPart(coroutine_name, text))",
    ),
    Line(
        "pydantic-ai agent, thread",
        FUNCTION,
        "await pydantic_ai_manager.handle_call(ToolCallPart(function_name, text))",
    ),
)


async def fastmcp(names: Names, stack: AsyncExitStack) -> Names:
    """Return a server with the functions, and a client that is connected to it in memory."""
    module = import_module("fastmcp")
    server = module.FastMCP("bench")
    server.tool(names["function"])
    server.tool(names["coroutine"])
    return {
        "fastmcp_server": server,
        "fastmcp_tool": await server.get_tool(names["coroutine_name"]),
        "fastmcp_client": await stack.enter_async_context(module.Client(server)),
    }


async def langchain(names: Names, _stack: AsyncExitStack) -> Names:
    """Return the functions as LangChain's tools."""
    tool = import_module("langchain_core.tools").StructuredTool
    return {
        "langchain_sync": tool.from_function(names["function"]),
        "langchain_async": tool.from_function(coroutine=names["coroutine"]),
    }


async def pydantic_ai(names: Names, _stack: AsyncExitStack) -> Names:
    """Return the functions as a toolset, and what an agent calls them with in a step of a run."""
    module = import_module("pydantic_ai")
    model = import_module("pydantic_ai.models.test").TestModel()
    usage = import_module("pydantic_ai.usage").RunUsage()
    toolset = module.FunctionToolset([names["function"], names["coroutine"]])
    context = module.RunContext(deps=None, model=model, usage=usage)
    idle = import_module("pydantic_ai.tool_manager").ToolManager(toolset)
    manager = await idle.for_run_step(context)
    return {
        "pydantic_ai_toolset": toolset,
        "pydantic_ai_manager": manager,
        "pydantic_ai_context": context,
        "pydantic_ai_tool": manager.tools[names["coroutine_name"]],
        "ToolCallPart": import_module("pydantic_ai.messages").ToolCallPart,
    }


Enter: TypeAlias = Callable[[Names, AsyncExitStack], Awaitable[Names]]


class Peer(NamedTuple):
    """A package that calls tools; ``enter`` returns what its lines speak of."""

    module: str
    enter: Enter
    lines: tuple[Line, ...]


PEERS = {
    "fastmcp": Peer("fastmcp", fastmcp, FASTMCP),
    "langchain-core": Peer("langchain_core", langchain, LANGCHAIN),
    "pydantic-ai-slim": Peer("pydantic_ai", pydantic_ai, PYDANTIC_AI),
}
"""By the names of their distributions."""

CLOCKS = {"sync": process_time, "async": process_time, "thread": perf_counter}


def is_installed(module: str) -> bool:
    """Tell whether a module can be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def installed_peers() -> list[Peer]:
    """Print which packages are installed, in which version, and return them."""
    found = []
    for distribution, peer in PEERS.items():
        is_there = is_installed(peer.module)
        print(f"{distribution} {version(distribution) if is_there else 'not installed'}")
        if is_there:
            found.append(peer)
    return found


async def peer_groups(
    kind: str, names: Names, peers: Iterable[Peer], stack: AsyncExitStack
) -> list[Group]:
    """Return what is measured of other packages and of ours beside them.

    What has to be closed when that is done is left to the stack.
    """
    lines, names = [*OURS], {**names}
    for peer in peers:
        names |= await peer.enter(names, stack)
        lines += peer.lines
    return [Group(kind, _those(lines, how), names, clock=clock) for how, clock in CLOCKS.items()]


def _those(lines: Iterable[Line], how: str) -> tuple[Line, ...]:
    return tuple(line for line in lines if line.label.endswith(f", {how}"))
