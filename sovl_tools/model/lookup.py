"""What the dispatcher asks of a registry, and others of the dispatcher."""

from __future__ import annotations

from typing import Protocol

from sovl_tools.model.catalog import Catalog


class ToolLookup(Protocol):
    """Anything that has a catalog at each moment; reading it must not lock."""

    @property
    def catalog(self) -> Catalog:
        """The tools as they are now."""
        ...
