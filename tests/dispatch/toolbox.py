"""A registry that holds what a test puts into it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from sovl_tools import ToolDefinition, Tooler, ToolResult
from sovl_tools.model.catalog import Catalog
from tests.conftest import REPOSITORY
from tests.patience import PATIENCE


@dataclass
class Shelf:
    """The least that a dispatcher asks of a registry."""

    catalog: Catalog


def tool(
    function: Callable[..., Any],
    parameters: dict[str, Any] | None = None,
    *,
    name: str | None = None,
    **execution: Any,
) -> ToolDefinition:
    """Return a tool; its parameters are an object without properties unless they are given."""
    schema = {"type": "object", "properties": {}} if parameters is None else parameters
    return ToolDefinition(name or function.__name__, "", schema, function, execution=execution)


TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
"""The parameters of a tool that takes a string."""


def catalog_of(
    *tools: ToolDefinition, unavailable: Mapping[str, tuple[str, ...]] | None = None
) -> Catalog:
    return Catalog({each.name: each for each in tools}, unavailable or {})


def tooler(*tools: ToolDefinition | Callable[..., Any], **options: Any) -> Tooler:
    """Return a dispatcher of the tools; bare functions take no arguments."""
    made = [each if isinstance(each, ToolDefinition) else tool(each) for each in tools]
    return Tooler(Shelf(catalog_of(*made)), **options)


def properties(**schemas: Any) -> dict[str, Any]:
    """Return the parameters of those properties, none of them required."""
    return {"type": "object", "properties": schemas}


def call_sync(tooler: Tooler, *arguments: Any, **options: Any) -> ToolResult:
    return tooler.call_sync(*arguments, **options)


def call_async(tooler: Tooler, *arguments: Any, **options: Any) -> ToolResult:
    return asyncio.run(tooler.call(*arguments, **options))


Call: TypeAlias = Callable[..., ToolResult]
each_way = pytest.mark.parametrize("call", [call_sync, call_async])
"""Call tools from sync code and from async code."""


def run_script(source: str) -> str:
    """Run Python that might hang in its own process; return what it printed."""
    command = [sys.executable, "-c", source]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=2 * PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
