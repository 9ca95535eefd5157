"""The answer of a server to a call, as a value in our types."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from sovl_tools.model.content import (
    Audio,
    Content,
    EmbeddedResource,
    Image,
    Structured,
    Text,
)
from sovl_tools.model.document import JSON, canonical
from sovl_tools.model.errors import ToolError


def value_of(answer: Mapping[str, Any]) -> Any:
    """Return the value of an answer to ``tools/call``, which the SDK has checked, in our types.

    Structured content is the value. A model also reads pictures, sounds, resources, and text that
    doesn't repeat it. A single text is a string.

    Raises:
        ToolError: the tool says that it failed, or has content that can't be decoded.
    """
    content = [_content(each) for each in answer.get("content", [])]
    texts = [each.text for each in content if isinstance(each, Text)]
    structured = answer.get("structuredContent")
    if answer.get("isError") is True:
        message = "\n".join(texts) or (json.dumps(structured) if structured else "")
        raise ToolError(message or "the tool failed, and the server gives no reason")
    if structured is not None:
        others = [
            each for each in content if not (isinstance(each, Text) and _repeats(each, structured))
        ]
        said = Text(json.dumps(structured, ensure_ascii=False))
        return Structured(structured, (said, *others)) if others else structured
    if len(texts) == len(content) <= 1:
        return texts[0] if texts else None
    return content


def _repeats(text: Text, structured: JSON) -> bool:
    """Return True for text that repeats structured content, as servers send it to old clients."""
    members = [*structured.values()] if isinstance(structured, dict) else []
    members += [
        each for items in [structured, *members] if isinstance(items, list) for each in items
    ]
    try:
        said = canonical(json.loads(text.text))
    except (ValueError, RecursionError):
        said = canonical(text.text)
    known = (structured, *members)
    return not text.text.strip() or any(said == canonical(each) for each in known)


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
    except ValueError as error:
        words = f"the server's answer has content that can't be read: {error}"
        raise ToolError(words) from error
