from __future__ import annotations

from sovl_tools import ToolContext


def echo(context: ToolContext, /, text: str) -> str:
    return text
