"""Tools in code, which other processes find by their names."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sovl_tools import ToolContext, ToolDefinition, tool
from tests.dispatch.toolbox import TEXT


@tool
def whereabouts(text: str) -> list[str | int]:
    """Say where this runs."""
    return [text, os.getpid()]


@tool
async def later(text: str) -> str:
    """Say it in async code."""
    return text


@tool(name="twice", postprocess=lambda value: value * 2)
def once(text: str) -> str:
    """Say it again."""
    return text


@tool
def chatter(text: str, context: ToolContext) -> list[str]:
    """Report what the context has."""
    context.report_progress(1, 2, text)
    context.log("info", text)
    return [context.call_id, context.tool.name, str(context.cancelled)]


@tool
def asker(text: str, context: ToolContext) -> str:
    """Ask the user."""
    return context.elicit_sync(text).action


@tool
def count(number: int) -> Iterator[int]:
    """Count up."""
    yield from range(number)


def bare(text: str) -> str:
    """Say it without a decorator."""
    return text


BARE = ToolDefinition("bare", "Say it.", TEXT, bare)
OTHERWISE = ToolDefinition("otherwise", "Say it.", TEXT, bare, postprocess=str.upper)


class Speaker:
    """Has a method that is a tool."""

    @tool
    def speak(self, text: str) -> str:
        """Say it."""
        return text


def within() -> ToolDefinition:
    """Return a tool that no other process finds."""

    def local(text: str) -> str:
        return text

    return ToolDefinition("local", "Say it.", TEXT, local)


def hungry(number: int) -> int:
    """Take so many bytes."""
    return len(bytearray(number))


@tool
def variables() -> list[str]:
    """Name the environment's variables."""
    return sorted(os.environ)
