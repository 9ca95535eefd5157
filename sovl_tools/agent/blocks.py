"""Content blocks of the Model Context Protocol, as providers take them."""

from __future__ import annotations

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

    What the provider can't be shown becomes a text that says what it was.
    """
    if isinstance(content, str):
        return content
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
    return block.get("type") == "image" and block.get("mimeType") in PICTURES
