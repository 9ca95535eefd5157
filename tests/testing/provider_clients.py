"""One way to ask with each of the providers' own clients; the agent's adapters read the answers."""

from __future__ import annotations

from typing import Any

import anthropic
import openai

from sovl_tools.agent.answer import Answer, check_answer
from sovl_tools.agent.providers import anthropic as messages
from sovl_tools.agent.providers import chat_completions, responses
from sovl_tools.testing import ScriptedServer
from tests.agent import conversations
from tests.agent.conversations import PROVIDERS as PROVIDERS  # noqa: PLC0414 - for the tests here

ADAPTERS: dict[str, Any] = {
    "openai": chat_completions, "openai-responses": responses, "anthropic": messages,
}  # fmt: skip


def client_of(provider: str, server: ScriptedServer, retries: int = 0) -> Any:
    return conversations.client_of(provider, server, is_async=False, retries=retries)


def async_client_of(provider: str, server: ScriptedServer) -> Any:
    return conversations.client_of(provider, server, is_async=True)


def errors_of(provider: str) -> Any:
    return anthropic if provider == "anthropic" else openai


def create(provider: str, client: Any, **more: Any) -> Any:
    """Ask; a coroutine if the client is an async one."""
    told = more.pop("messages", [{"role": "user", "content": "Hello"}])
    if provider == "openai":
        return client.chat.completions.create(model="m", messages=told, **more)
    if provider == "openai-responses":
        return client.responses.create(model="m", input=told, **more)
    return client.messages.create(model="m", max_tokens=99, messages=told, **more)


def ask(provider: str, server: ScriptedServer, *, stream: bool = False, **more: Any) -> Answer:
    adapter = ADAPTERS[provider]
    with client_of(provider, server) as client:
        if not stream:
            return check_answer(adapter.parse_answer(create(provider, client, **more)))
        draft = adapter.Draft()
        with create(provider, client, **adapter.STREAM, **more) as events:
            for event in events:
                draft.feed(event)
        return check_answer(draft.answer())


async def ask_async(provider: str, server: ScriptedServer, *, stream: bool = False) -> None:
    async with async_client_of(provider, server) as client:
        answer = await create(provider, client, **(ADAPTERS[provider].STREAM if stream else {}))
        if stream:
            async with answer:
                [event async for event in answer]
