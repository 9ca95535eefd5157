"""What packages ask of objects that another package makes."""

from __future__ import annotations

from typing import Any, Protocol

from sovl_tools.model.catalog import Catalog
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
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


class Export(Protocol):
    """Tools in a provider's format. ``definitions`` are shared by all who ask: don't change them.

    Attributes:
        format: the name of the format.
        definitions: a list of dictionaries, as the provider's SDK takes them; for ``openapi`` one
            document, for ``prompt`` a text.
        diagnostics: with places, as ST9xx.
    """

    format: str
    definitions: Any

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return what is lost and what the provider refuses."""
        ...

    def restore(self, name: str, arguments: JSON) -> JSON:
        """Return the arguments that a model sent as the tool's manifest wants them.

        A null that stands for a property left out is taken out. What needs nothing is returned as
        it is, and so is what is no JSON object: the call that follows says what is wrong with it.

        Args:
            name: the tool's name.
            arguments: what the model sent, an object or its JSON text.
        """
        ...


class Watch(Protocol):
    """A watch that is on.

    Attributes:
        notice: why it looks again and again where it should wait for events; None if it does not.
    """

    notice: str | None
