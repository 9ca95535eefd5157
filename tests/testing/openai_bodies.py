"""Bodies of requests to OpenAI, and how they are rejected."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from sovl_tools.testing import ScriptedServer
from tests.testing.provider_clients import client_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
USER = {"role": "user", "content": "Hello"}


def chat_tool(name: str = "add", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMA, **more}}


def tool(name: str = "add", **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": SCHEMA, "strict": True, **more}


def refused_chat(body: dict[str, Any]) -> openai.BadRequestError:
    with (
        ScriptedServer([], strict=False) as server,
        client_of("openai", server) as client,
        pytest.raises(openai.BadRequestError) as caught,
    ):
        client.chat.completions.create(model="m", messages=[USER], extra_body=body)
    assert server.requests[0].errors
    return caught.value


def refused_response(body: dict[str, Any]) -> openai.BadRequestError:
    with (
        ScriptedServer([], strict=False) as server,
        client_of("openai-responses", server) as client,
        pytest.raises(openai.BadRequestError) as caught,
    ):
        client.responses.create(model="m", input="Hello", extra_body=body)
    assert server.requests[0].errors
    return caught.value
