"""Content blocks of the Model Context Protocol, as providers take them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TypeAlias

from sovl_tools.model.document import JSON

Made: TypeAlias = dict[str, JSON]

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types that every provider looks at."""


def parts(
    content: JSON, text: Callable[[str], Made], picture: Callable[[Made], Made] | None
) -> JSON:
    """Return a content with its blocks in a provider's form; a text stays as it is.

    What the provider can't be shown becomes a text that says what it was. No blocks are a text
    without a letter.
    """
    if isinstance(content, str) or not content:
        return content or ""
    return [
        picture(block) if picture is not None and _is_picture(block) else text(described(block))
        for block in content
    ]


def as_one_text(content: JSON) -> str:
    """Return a content as a text, for whoever takes no blocks."""
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
    """Return a picture as a URL that holds it (RFC 2397)."""
    return f"data:{block['mimeType']};base64,{block['data']}"


def _is_picture(block: Made) -> bool:
    is_shown = block.get("type") == "image" and block.get("mimeType") in PICTURES
    return is_shown and isinstance(block.get("data"), str)


def sendable(value: JSON) -> JSON:
    """Return a value as it can be sent, which is itself unless there is something odd in it.

    Numbers that are none become null, and halves of characters that were cut apart, as a model
    leaves them at the end of an answer that is too long, question marks.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return _cleaned(value)
    return value


def _cleaned(value: JSON) -> JSON:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def arguments_of(text: str) -> Made:
    """Return the arguments of a call as an object; an empty one if the text holds none."""
    try:
        made = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return made if isinstance(made, dict) else {}
