"""Lets an agent's own model answer the tools' requests for samples."""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import isawaitable
from typing import Any

from sovl_tools.agent.answer import Prompt, check_answer
from sovl_tools.agent.errors import reading_answer
from sovl_tools.agent.history import text_of
from sovl_tools.agent.providers.choice import ProviderChoice
from sovl_tools.model.client_requests import Sample, SampleRequest
from sovl_tools.model.errors import SamplingError

# the APIs' names of a request's settings; Responses has no stop sequences
_MAX_TOKENS = {
    "openai-responses": "max_output_tokens",
    "openai": "max_completion_tokens",
    "openrouter": "max_tokens",
    "anthropic": "max_tokens",
}
_STOP = {"openai": "stop", "openrouter": "stop", "anthropic": "stop_sequences"}


def ask_model(who: ProviderChoice, agent: Any, request: SampleRequest) -> Any:
    """Return the model's answer to a tool's request, or an awaitable of it.

    Raises:
        SamplingError: there's no model.
    """
    if who.name not in _MAX_TOKENS:
        raise SamplingError("no model can be reached: the stand-in isn't one")
    options: dict[str, Any] = {_MAX_TOKENS[who.name]: request.max_tokens}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.stop_sequences and who.name in _STOP:
        options[_STOP[who.name]] = [*request.stop_sequences]
    messages = [
        {"role": each["role"], "content": _content(each["content"])} for each in request.messages
    ]
    system = (request.system_prompt,) if request.system_prompt else ()
    prompt = Prompt(agent.model, system, messages, [], "none", options, agent.tools, ())
    response = who.adapter.method(agent.client)(**who.adapter.body(prompt))
    return _later(who, agent, response) if isawaitable(response) else _sample(who, agent, response)


async def _later(who: ProviderChoice, agent: Any, response: Awaitable[Any]) -> Sample:
    return _sample(who, agent, await response)


def _sample(who: ProviderChoice, agent: Any, response: Any) -> Sample:
    with reading_answer():
        answer = check_answer(who.adapter.parse_answer(response))
    return Sample(answer.text, agent.model, answer.stop, [{"type": "text", "text": answer.text}])


def _content(content: Any) -> Any:
    """Return the content of a message: a string, or blocks if there is more than text."""
    blocks = content if isinstance(content, list) else [content]
    return text_of(blocks) if all(each["type"] == "text" for each in blocks) else blocks
