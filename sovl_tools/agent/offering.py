"""What a model is offered: definitions of tools, and the way back from what it sends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from sovl_tools.agent.answer import Message
from sovl_tools.agent.selection import Budget, Search, selected
from sovl_tools.formats.tokens import estimate
from sovl_tools.loading.exporting import Export, Exporter
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolNotFoundError
from sovl_tools.registry import ToolRegistry


class Offer(NamedTuple):
    """The tools that a model is offered in one request.

    Attributes:
        registry: where they come from.
        export: their definitions, in the provider's format.
        names: of the tools.
    """

    registry: ToolRegistry
    export: Export
    names: tuple[str, ...]

    @property
    def definitions(self) -> list[JSON]:
        """The definitions, which are shared: don't change them."""
        found: list[JSON] = self.export.definitions
        return found

    def instructions(self) -> list[str]:
        """Return what the tools want a system prompt to say."""
        tools = (self.registry.get(name) for name in self.names)
        return [each.instructions for each in tools if each is not None and each.instructions]


class Offering:
    """Makes offers.

    Attributes:
        search: the tool that finds others.
    """

    def __init__(
        self, tools: Callable[[], ToolRegistry], format_name: str, *, strict: bool, budget: Budget
    ) -> None:
        self.search = Search(tools)
        self._tools = tools
        self._format = format_name
        self._strict = strict
        self._budget = budget
        self._exporter = Exporter()

    def offer(
        self, messages: Sequence[Message], wanted: Sequence[str] | None, choice: str | None = None
    ) -> Offer:
        """Return what is offered in a conversation: the tools of those names, or all that fit.

        ``choice`` is a tool that has to be among them.

        Raises:
            ToolNotFoundError: there is no tool of one of the names, or the choice is none of them.
        """
        made = self._offer(messages, wanted)
        if choice is None or choice in made.names:
            return made
        name = made.registry[choice].name
        if wanted is not None:
            raise ToolNotFoundError(name, among=" among those of this turn")
        return self._of(made.registry, (*made.names, name))

    def _offer(self, messages: Sequence[Message], wanted: Sequence[str] | None) -> Offer:
        registry = self._tools()
        if wanted is not None:
            return self._of(registry, tuple(registry[name].name for name in wanted))
        if self._budget.tokens is None and len(registry) > self._budget.tools:
            return self._of(registry, self._selected(registry, messages, lambda _: 0))
        made = self._exporter.export(registry.catalog, self._format, None, strict=self._strict)
        if self._budget.fits(made.definitions):
            return Offer(registry, made, tuple(made.shapes))
        return self._of(registry, self._selected(registry, messages, partial(_cost, made)))

    def _selected(
        self, registry: ToolRegistry, messages: Sequence[Message], cost: Callable[[str], int]
    ) -> tuple[str, ...]:
        found = self.search.found
        return selected(registry, messages, found, cost=cost, budget=self._budget)

    def _of(self, registry: ToolRegistry, names: tuple[str, ...]) -> Offer:
        catalog = self.search.catalog
        tools = [catalog.tools[name] for name in names if name in catalog.tools]
        made = self._exporter.export(catalog, self._format, tools, strict=self._strict)
        return Offer(registry, made, tuple(made.shapes))


def _cost(export: Export, name: str) -> int:
    shape = export.shapes.get(name)
    return 0 if shape is None else estimate(shape.definition)
