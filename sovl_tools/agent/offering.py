"""Which tools a model is offered, also when there are more than it should look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from sovl_tools.agent.answer import Message
from sovl_tools.agent.messages import calls_of, text_of
from sovl_tools.formats.tokens import estimate
from sovl_tools.loading.exporting import Export, Exporter
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.definition import ToolDefinition
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
        offer = self._offer(messages, wanted)
        if choice is None or choice in offer.names:
            return offer
        name = offer.registry[choice].name  # raises if there is no such tool at all
        if wanted is not None:
            raise ToolNotFoundError(name, among=" among those of this turn")
        return self._of(offer.registry, (*offer.names, name))

    def _offer(self, messages: Sequence[Message], wanted: Sequence[str] | None) -> Offer:
        registry = self._tools()
        if wanted is not None:
            return self._of(registry, tuple(registry[name].name for name in wanted))
        # Without a budget of tokens nothing has to be exported to know that there are too many.
        if self._budget.tokens is None and len(registry) > self._budget.tools:
            return self._selected(registry, messages, lambda _: 0)
        export = self._exporter.export(registry.catalog, self._format, None, strict=self._strict)
        if self._budget.fits(export.definitions):
            return Offer(registry, export, tuple(export.shapes))
        shapes = export.shapes
        return self._selected(
            registry,
            messages,
            lambda name: estimate(shapes[name].definition) if name in shapes else 0,
        )

    def _selected(
        self, registry: ToolRegistry, messages: Sequence[Message], cost: Callable[[str], int]
    ) -> Offer:
        """Offer the tools that a conversation seems to be about, and the search.

        Those that the search found last come first, then those that were called, then those whose
        phrases or words the user says. ``cost`` returns the tokens of a tool's definition.
        """
        likely = dict.fromkeys(self.search.found)
        for message in reversed(messages):
            likely |= dict.fromkeys(call.name for call in calls_of(message))
        said = [text_of(each["content"]) for each in messages if each["role"] == "user"]
        for text in reversed(said[-_SPOKEN:]):
            likely |= dict.fromkeys(each.tool for each in registry.match(text))
            likely |= dict.fromkeys(each.tool for each in registry.search(text, limit=_FOUND))
        chosen, left = [SEARCH], self._budget.tokens
        for name in likely:
            # The history may name tools that are gone, or that a model has made up.
            if name not in registry or name == SEARCH or len(chosen) >= self._budget.tools:
                continue
            if left is not None:
                if cost(name) > left:  # a smaller one may still fit
                    continue
                left -= cost(name)
            chosen.append(name)
        return self._of(registry, tuple(chosen))

    def _of(self, registry: ToolRegistry, names: tuple[str, ...]) -> Offer:
        catalog = self.search.catalog
        tools = [catalog.tools[name] for name in names if name in catalog.tools]
        export = self._exporter.export(catalog, self._format, tools, strict=self._strict)
        return Offer(registry, export, tuple(export.shapes))


SEARCH = "search_tools"
"""The name of the tool by which a model finds those that it was not offered."""

_SPOKEN = 3  # of the user's messages are searched for what they are about
_FOUND = 8  # tools are taken of each search


class Budget(NamedTuple):
    """How many tools a model is offered at the most.

    Attributes:
        tools: how many.
        tokens: how many tokens their definitions may take, by estimate; None for any number.
    """

    tools: int
    tokens: int | None = None

    def fits(self, definitions: Sequence[JSON]) -> bool:
        """Tell whether definitions are within the budget."""
        if len(definitions) > self.tools:
            return False
        return self.tokens is None or sum(map(estimate, definitions)) <= self.tokens


class Search:
    """The tools of a registry, and the one that finds them.

    Attributes:
        found: the names of tools that were found so far, the last ones first.
    """

    def __init__(self, tools: Callable[[], ToolRegistry]) -> None:
        self.found: tuple[str, ...] = ()
        self._tools = tools
        self._known: tuple[Catalog, Catalog] | None = None
        self._definition = ToolDefinition(
            SEARCH,
            "Find further tools by what they do. Those that are found can be called from then on.",
            {
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What a tool is needed for, in a few words.",
                    }
                },
                "required": ["query"],
                "additionalProperties": False,
            },
            self.search_tools,
            source=__name__,
        )

    def search_tools(self, query: str) -> list[dict[str, str]]:
        """Return names and descriptions of the tools that fit a query, and remember them."""
        registry = self._tools()
        names = dict.fromkeys(
            [each.tool for each in registry.match(query)]
            + [each.tool for each in registry.search(query, limit=_FOUND)]
        )
        self.found = tuple(dict.fromkeys((*names, *self.found)))
        return [{"name": name, "description": registry[name].description} for name in names]

    @property
    def catalog(self) -> Catalog:
        """The tools as they are now, and the search, unless they have one of its name."""
        catalog, cached = self._tools().catalog, self._known
        if cached is None or cached[0] is not catalog:
            tools = {SEARCH: self._definition, **catalog.tools}
            cached = self._known = catalog, replace(catalog, tools=tools)
        return cached[1]
