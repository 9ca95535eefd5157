"""A server of the Model Context Protocol for tests: ``python mcp_server.py FILE [http]``.

FILE holds JSON with what it offers: ``tools``, a list of definitions that replaces its own. It is
checked again for each list; the tool ``change`` tells clients that it is another.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ToolsListChanged,
)

TEXT = {"type": "string", "description": "Some text."}
PNG = "iVBORw0KGgoAAAAA"


def tool(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": TEXT}}
    return {"name": name, "description": f"Do {name}.", "inputSchema": schema, **more}


OWN = [
    tool("echo", title="Echo", annotations={"readOnlyHint": True},
         icons=[{"src": "https://example.com/a.png"}],
         outputSchema={"type": "object", "properties": {"said": TEXT, "pid": {"type": "integer"}}}),
    tool("many-kinds"), tool("fail"), tool("hang"), tool("die"), tool("change"),
    tool("progress"), tool("env"), tool("rubbish"), tool("ask"),
]  # fmt: skip


def offered() -> list[Any]:
    listed: list[Any] | None = json.loads(Path(sys.argv[1]).read_text()).get("tools")
    return OWN if listed is None else listed


async def list_tools(_: Any, params: Any) -> Any:
    tools = offered()
    first = int(params.cursor) if params is not None and params.cursor else 0
    following = {"nextCursor": str(first + 4)} if len(tools) > first + 4 else {}
    return {
        "tools": tools[first : first + 4], "resultType": "complete", "ttlMs": 0,
        "cacheScope": "private", **following,
    }  # fmt: skip


def text_result(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "resultType": "complete", **more}


async def call_tool(context: Any, params: Any) -> Any:
    text = (params.arguments or {}).get("text", "")
    if params.name not in CALLS:
        return text_result(f"called {params.name}")
    return await CALLS[params.name](context, text)


async def echo(_: Any, text: str) -> Any:
    said = {"said": text, "pid": os.getpid()}
    return text_result(json.dumps(said), structuredContent=said)


async def many_kinds(_: Any, text: str) -> Any:
    return {"resultType": "complete", "content": [
        {"type": "text", "text": "look"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"type": "audio", "data": PNG, "mimeType": "audio/x-odd"},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "a"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": PNG}},
        {"type": "resource_link", "uri": "file:///c", "name": "c"},
    ]}  # fmt: skip


async def fail(_: Any, text: str) -> Any:
    return text_result("it does not work", isError=True)


async def hang(_: Any, text: str) -> Any:
    await anyio.sleep_forever()


async def die(_: Any, text: str) -> Any:
    if text:
        with open(text, "a") as file:  # noqa: ASYNC230 - the process ends here
            file.write("called\n")
    os._exit(3)


async def change(context: Any, text: str) -> Any:
    await BUS.publish(ToolsListChanged())
    if context.protocol_version < "2026":
        await context.session.send_tool_list_changed()
    return text_result("changed")


async def progress(context: Any, text: str) -> Any:
    await context.session.report_progress(1, 2, "half")
    return text_result("done")


async def variable(_: Any, text: str) -> Any:
    return text_result(os.environ.get(text, "nothing"))


async def ask(_: Any, text: str) -> Any:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    params = {"mode": "form", "message": "Which?", "requestedSchema": schema}
    requests = {"which": {"method": "elicitation/create", "params": params}}
    return {"resultType": "input_required", "inputRequests": requests, "requestState": "x"}


async def rubbish(_: Any, text: str) -> Any:
    os.write(1, b"this is no JSON\n")
    return text_result("after rubbish")


CALLS: Mapping[str, Callable[[Any, str], Awaitable[Any]]] = {
    "echo": echo, "many-kinds": many_kinds, "fail": fail, "hang": hang, "die": die,
    "change": change, "progress": progress, "env": variable, "rubbish": rubbish, "ask": ask,
}  # fmt: skip
BUS = InMemorySubscriptionBus()
SERVER: Server[Any] = Server(
    "tests",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=ListenHandler(BUS),
)


async def over_stdio() -> None:
    async with stdio_server() as (read, write):
        await SERVER.run(read, write, SERVER.create_initialization_options())


if __name__ == "__main__":
    if "http" in sys.argv:
        import uvicorn

        app = SERVER.streamable_http_app(stateless_http="stateless" in sys.argv)
        uvicorn.run(app, port=int(sys.argv[-1]), log_level="error")
    else:
        anyio.run(over_stdio)
