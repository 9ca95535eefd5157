"""What a server of the Model Context Protocol answered, as a tool returns it."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from sovl_tools.model.content import Audio, Content, EmbeddedResource, Image, Text
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolError


def value_of(answer: Mapping[str, Any]) -> Any:
    """Return the value of an answer to ``tools/call``, with its content in the types of here.

    Structured content is the value; pictures, sounds and resources stand beside it. One text alone
    is a string.

    Raises:
        ToolError: the tool says that it failed, or the answer is none.
    """
    blocks = answer.get("content", [])
    if not isinstance(blocks, list) or not all(isinstance(each, dict) for each in blocks):
        raise ToolError("the server's answer has no list of content")
    content = [_content(each) for each in blocks]
    texts = [each.text for each in content if isinstance(each, Text)]
    if answer.get("isError") is True:
        structured = answer.get("structuredContent")
        message = "\n".join(texts) or (json.dumps(structured) if structured else "")
        raise ToolError(message or "the tool failed, and the server does not say why")
    others = [each for each in content if not isinstance(each, Text)]
    if "structuredContent" in answer and answer["structuredContent"] is not None:
        structured = answer["structuredContent"]
        return [structured, *others] if others else structured
    if not others and len(texts) <= 1:
        return texts[0] if texts else None
    return content


def _content(block: Mapping[str, JSON]) -> Content:
    try:
        match block.get("type"):
            case "text":
                return Text(block["text"])
            case "image":
                return Image(b64decode(block["data"]), block["mimeType"])
            case "audio":
                return Audio(b64decode(block["data"]), block["mimeType"])
            case "resource":
                found = block["resource"]
                text = found.get("text")
                content = b64decode(found["blob"]) if text is None else text
                return EmbeddedResource(found["uri"], content, found.get("mimeType"))
            case _:
                # a link to a resource, or what later versions bring
                return Text(json.dumps(dict(block), ensure_ascii=False))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        words = f"the server's answer has content that can't be read: {error}"
        raise ToolError(words) from error
