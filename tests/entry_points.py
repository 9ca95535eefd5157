"""Every way in which people and programs call tools, behind one function each.

Each takes calls, makes them in the current directory's project as that way does, answers what is
asked, and returns what came of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import httpx
import mcp_types as types
import openai
from mcp import StdioServerParameters, stdio_client
from mcp.client._memory import InMemoryTransport
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from sovl_tools import Agent, Answer, Host, Tooler, open_registry
from sovl_tools.configuration import project_configuration
from sovl_tools.testing import ScriptedServer, calls, says
from tests.cli.sessions import session
from tests.conftest import clean_environment
from tests.patience import PATIENCE
from tests.serving.apps import app_of
from tests.serving.servers import running

Call: TypeAlias = tuple[str, dict[str, Any]]

REASON = {"reason": "broken"}
"""The answer to everything that a tool asks."""


class Found(NamedTuple):
    """What came of a call.

    Attributes:
        text: the result, or the error.
        told: what was heard of it meanwhile.
    """

    text: str
    told: str = ""


Way: TypeAlias = Callable[[Sequence[Call]], list[Found]]


def _host(told: list[Any]) -> Host:
    answer = Answer("accept", REASON)
    return Host(on_event=told.append, on_elicit=lambda _: answer, on_approve=lambda _: True)


def by_tooler(wanted: Sequence[Call]) -> list[Found]:
    told: list[Any] = []
    tooler = Tooler(open_registry(), policy=project_configuration().policy, host=_host(told))
    found = []
    with tooler:
        for name, arguments in wanted:
            told.clear()
            result = tooler.call_sync(name, arguments)
            found.append(Found(str(result.error or json.dumps(result.value)), str(told)))
    return found


def by_agent(wanted: Sequence[Call]) -> list[Found]:
    told: list[Any] = []
    script = [each for call in wanted for each in (calls(call), says("Done."))]
    found = []
    with (
        ScriptedServer(script) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="any") as client,
    ):
        policy, registry = project_configuration().policy, open_registry()
        agent = Agent(client, model="any", tools=registry, host=_host(told), policy=policy)
        for _ in wanted:
            told.clear()
            agent.chat_sync("Help.")
            result = [each for each in agent.messages if each["role"] == "tool"][-1]
            found.append(Found(str(result["content"]), str(told)))
    return found


async def _by_client(transport: Any, wanted: Sequence[Call]) -> list[Found]:
    told: list[str] = []

    async def elicit(_: Any, params: Any) -> Any:
        is_approval = "agree" in params.requested_schema["properties"]
        content: Any = {"agree": True} if is_approval else REASON
        return types.ElicitResult(action="accept", content=content)

    async def hear(*event: Any) -> None:
        told.append(str(event))

    async def log(params: Any) -> None:
        told.append(str(params.data))

    options: Any = {"mode": "legacy", "elicitation_callback": elicit, "logging_callback": log}
    heard: Any = hear
    found = []
    async with Client(transport, **options) as client:
        for name, arguments in wanted:
            told.clear()
            result = await client.call_tool(name, arguments, progress_callback=heard)
            texts = [getattr(each, "text", each) for each in result.content]
            found.append(Found(str(texts), str(told)))
    return found


def by_mcp(wanted: Sequence[Call]) -> list[Found]:
    async def main() -> list[Found]:
        registry = open_registry()
        with Tooler(registry, policy=project_configuration().policy) as tooler:
            server = registry.mcp_server(tooler)
            return await _by_client(InMemoryTransport(server.server), wanted)

    return asyncio.run(main())


def by_stdio(wanted: Sequence[Call]) -> list[Found]:
    command = ["-P", "-m", "sovl_tools", "serve", "--no-watch"]
    server = StdioServerParameters(
        command=sys.executable, args=command, env=clean_environment(), cwd=Path.cwd()
    )

    with open(os.devnull, "w", encoding="utf-8") as errors:
        return asyncio.run(_by_client(stdio_client(server, errors), wanted))


def by_http(wanted: Sequence[Call]) -> list[Found]:
    registry = open_registry()
    with (
        Tooler(registry, policy=project_configuration().policy) as tooler,
        running(registry.mcp_server(tooler).app()) as url,
    ):
        return asyncio.run(_by_client(streamable_http_client(f"{url}/mcp"), wanted))


def by_json_api(wanted: Sequence[Call]) -> list[Found]:
    registry = open_registry()
    found = []
    with Tooler(registry, policy=project_configuration().policy) as tooler:
        app = app_of(registry, tooler)
        with running(app) as url, httpx.Client(base_url=url, timeout=PATIENCE) as client:
            for name, arguments in wanted:
                lines = _streamed(client, name, arguments)
                found.append(Found(lines[-1], str(lines)))
    return found


def _streamed(client: httpx.Client, name: str, arguments: dict[str, Any]) -> list[str]:
    lines = []
    with client.stream("POST", f"/tools/{name}/stream", json=arguments) as response:
        for line in filter(None, response.iter_lines()):
            lines.append(line)
            if line.startswith("data: ") and '"kind"' in line:
                ask = json.loads(line.removeprefix("data: "))
                answer = {"action": "accept", "content": REASON}
                given = {"approved": True} if ask["kind"] == "approve" else answer
                client.post(f"/answers/{ask['id']}", json=given)
    return lines


def at_a_terminal(*command: str, prompts: Sequence[tuple[str, str]] = ()) -> Found:
    """Run a command on a terminal, and type each text at its prompt."""
    with session(Path.cwd(), *command, NO_COLOR="1") as talk:
        for prompt, text in prompts:
            talk.await_text(prompt)
            talk.type(text)
        talk.await_end()
        return Found(talk.shown, talk.shown)


def run_pytest(*arguments: str) -> None:
    """Run pytest in the current directory, in its own process."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**clean_environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
