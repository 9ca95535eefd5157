"""Results of calls as messages for a model, in each provider's form.

Source: OpenAI's API reference (tool messages of chat completions, ``function_call_output`` of
responses), Anthropic's page "Handle tool calls" (``tool_result``), Google's reference of
``FunctionResponse``, and the types of their SDKs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from sovl_tools.model.content import encodable
from sovl_tools.model.document import JSON
from sovl_tools.model.result import ToolResult
from sovl_tools.model.suggestion import did_you_mean

Made: TypeAlias = dict[str, JSON]

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types that every provider checks; Gemini does not take GIF from a tool."""

NOTHING = "(nothing)"
"""The text where Anthropic rejects an empty one."""


class CallOutput(NamedTuple):
    """A call's result as the model reads it.

    Attributes:
        tool: the tool's name.
        call_id: the provider's id of the call; optional for Gemini.
        content: a string or content blocks of the Model Context Protocol.
        is_error: whether the text is an error message.
        value: the result as JSON, where it is neither content nor an error.
    """

    tool: str
    call_id: str
    content: JSON
    is_error: bool = False
    value: JSON = None


def to_message(result: ToolResult, provider: str, call_id: str | None) -> Made:
    """Return a result as the message of a provider's API; see ``ToolResult.to_message``.

    Raises:
        ValueError: the format has no messages.
        TypeError: the provider needs the call's id.
    """
    if provider not in MESSAGES:
        hint = did_you_mean(provider, MESSAGES) or f"there are {', '.join(MESSAGES)}"
        raise ValueError(f"there's no message format {provider!r}; {hint}")
    if call_id is None and provider != "gemini":
        raise TypeError(f"a message for {provider} needs call_id, the id of the model's call")
    is_error = result.error is not None
    made = CallOutput(result.tool, call_id or "", content_of(result), is_error, result.value)
    return MESSAGES[provider](made)


def content_of(result: ToolResult) -> JSON:
    """Return a result's content for the model: a string, or content blocks."""
    if result.error is not None:
        return encodable(result.error.message)
    if result.content:
        return [each.to_json() for each in result.content]
    return result.value if isinstance(result.value, str) else as_text(result.value)


def openai(output: CallOutput) -> Made:
    """Return a message of Chat Completions, which takes no pictures from a tool."""
    text = as_one_text(output.content)
    return {"role": "tool", "tool_call_id": output.call_id, "content": text}


def openai_responses(output: CallOutput) -> Made:
    """Return an item of Responses' input."""
    said = parts(output.content, responses_text, responses_picture)
    return {"type": "function_call_output", "call_id": output.call_id, "output": said}


def responses_text(text: str) -> Made:
    """Return a part of Responses' input that is a string."""
    return {"type": "input_text", "text": text}


def responses_picture(block: Made) -> Made:
    """Return a part of Responses' input that is a picture."""
    return {"type": "input_image", "image_url": data_url(block), "detail": "auto"}


def anthropic(output: CallOutput) -> Made:
    """Return a message of Messages; an error is a string, and never empty."""
    block: Made = {"type": "tool_result", "tool_use_id": output.call_id}
    if output.is_error:
        block |= {"content": as_one_text(output.content) or NOTHING, "is_error": True}
    elif isinstance(output.content, str):
        block["content"] = output.content
    else:
        made = parts(output.content, anthropic_text, anthropic_picture) or []
        block["content"] = [each for each in made if says_something(each)]
    return {"role": "user", "content": [block]}


def anthropic_text(text: str) -> Made:
    """Return a block of Messages that is a string."""
    return {"type": "text", "text": text}


def anthropic_picture(block: Made) -> Made:
    """Return a block of Messages that is a picture."""
    source = {"type": "base64", "media_type": block["mimeType"], "data": block["data"]}
    return {"type": "image", "source": source}


def says_something(block: Made) -> bool:
    """Return whether a block isn't an empty text, which Messages rejects."""
    return block["type"] != "text" or bool(block["text"].strip())


def gemini(output: CallOutput) -> Made:
    """Return a content of Gemini in the names of the wire, which its SDK reads as well."""
    response: Made = {"name": output.tool, "response": {"output": output.value}}
    if output.call_id:
        response["id"] = output.call_id
    if output.is_error:
        response["response"] = {"error": as_one_text(output.content)}
    elif not isinstance(output.content, str):
        pictures = [each for each in output.content if is_picture(each)]
        # of these it does not take GIF from a tool
        shown = [each for each in pictures if each["mimeType"] != "image/gif"]
        texts = [described(each) for each in output.content if each not in shown]
        response["response"] = {"output": "\n".join(texts)}
        if shown:
            blobs = [{"mimeType": each["mimeType"], "data": each["data"]} for each in shown]
            response["parts"] = [{"inlineData": each} for each in blobs]
    return {"role": "user", "parts": [{"functionResponse": response}]}


MESSAGES: dict[str, Callable[[CallOutput], Made]] = {
    "openai": openai,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "openrouter": openai,
}
"""What makes the message of each format."""


def parts(content: JSON, text: Callable[[str], Made], picture: Callable[[Made], Made]) -> JSON:
    """Return a content with its blocks in a provider's form; a string stays unchanged.

    Content that the provider can't show becomes a string that describes it. Without blocks it is a
    string without a letter.
    """
    if isinstance(content, str) or not content:
        return content or ""
    return [picture(block) if is_picture(block) else text(described(block)) for block in content]


def as_text(value: JSON) -> str:
    """Return JSON as text for a model."""
    return json.dumps(value, ensure_ascii=False)


def as_one_text(content: JSON) -> str:
    """Return a content as a string, for a provider that takes no blocks."""
    return content if isinstance(content, str) else "\n".join(map(described, content))


def described(block: Made) -> str:
    """Return a block as text."""
    if block.get("type") == "text":
        return str(block.get("text", ""))
    resource = block.get("resource")
    if isinstance(resource, dict):
        return str(resource.get("text", f"[{resource.get('uri', 'a resource')}, not shown]"))
    return f"[{block.get('mimeType', block.get('type', 'something'))}, not shown]"


def data_url(block: Made) -> str:
    """Return a picture as a data URL (RFC 2397)."""
    return f"data:{block['mimeType']};base64,{block['data']}"


def is_picture(block: Made) -> bool:
    """Return whether a block is a picture that every provider checks."""
    is_shown = block.get("type") == "image" and block.get("mimeType") in PICTURES
    return is_shown and isinstance(block.get("data"), str)
