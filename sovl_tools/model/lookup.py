"""What the dispatcher asks of a registry, and tools of the dispatcher."""

from __future__ import annotations

from typing import Any, Protocol

from sovl_tools.model.catalog import Catalog
from sovl_tools.model.result import ToolResult


class ToolLookup(Protocol):
    """Anything that has a catalog at each moment; reading it must not lock."""

    @property
    def catalog(self) -> Catalog:
        """The tools as they are now."""
        ...


class ToolCaller(Protocol):
    """Anything that calls tools by name."""

    async def call(self, name: str, arguments: Any = None, **options: Any) -> ToolResult:
        """Call a tool and await its result."""
        ...

    def call_sync(self, name: str, arguments: Any = None, **options: Any) -> ToolResult:
        """Call a tool and wait for its result."""
        ...
