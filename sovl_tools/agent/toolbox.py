"""The tools of an agent, the part of them that a model is offered, and approval of calls.

Tools are methods, the given tools, and other agents.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from sovl_tools.agent.answer import Message
from sovl_tools.agent.history import calls_of, text_of
from sovl_tools.authoring.decorator import tool_methods
from sovl_tools.formats.base import estimate
from sovl_tools.formats.export import Export
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.exporting import Exporter
from sovl_tools.model.call import ToolCall
from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.model.client_requests import Approval, ApprovalRequest, SampleRequest
from sovl_tools.model.context import Watch
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ApprovalError, ToolNotFoundError
from sovl_tools.model.host import Host
from sovl_tools.registry import Subscriber, ToolRegistry, tools_directory


class Toolbox(ToolRegistry):
    """A registry before another: its own tools win over the other's."""

    def __init__(self, others: ToolRegistry) -> None:
        self._others = others
        self._joined: tuple[Catalog, Catalog, Catalog] | None = None
        super().__init__()

    @property
    def catalog(self) -> Catalog:
        """The current tools of both."""
        own, others, cached = super().catalog, self._others.catalog, self._joined
        if cached is None or cached[0] is not own or cached[1] is not others:
            joined = combine([*own.candidates, *others.candidates]) if own.tools else others
            cached = self._joined = own, others, joined
        return cached[2]

    def own(self, name: str) -> ToolDefinition | None:
        """Return the tool of that name that was registered here."""
        return super().catalog.tools.get(name)

    def reload(self) -> CatalogChange:
        """Check the sources of the other registry again; this one's own tools stay."""
        return self._others.reload()

    def watch(self, **options: Any) -> AbstractContextManager[Watch]:
        """Reload the other registry in the background whenever something changes."""
        return self._others.watch(**options)

    def subscribe(self, on_change: Subscriber) -> Callable[[], None]:
        """Call a function at every change of either."""
        ends = ExitStack()
        ends.callback(super().subscribe(on_change))
        ends.callback(self._others.subscribe(on_change))
        return ends.close


def agent_registry(agent: object, tools: Any) -> ToolRegistry:
    """Return the registry of an agent's ``@tool`` methods and of the tools that it was given.

    Raises:
        TypeError: the tools are neither a registry nor a path nor a list, or there is something
            among them that can't become a tool.
        ValueError: there's no directory of that path.
        ToolLoadError: the definition of a method or a function is unsound.
    """
    if isinstance(tools, str | os.PathLike):
        tools = tools_directory(tools)
    is_registry = isinstance(tools, ToolRegistry)
    # A class can be iterable, as an Enum is, and isn't a list of tools.
    if not (tools is None or is_registry or (isinstance(tools, Iterable) and not callable(tools))):
        words = "a ToolRegistry, a list of functions or the path of a tools directory"
        raise TypeError(f"tools must be {words}, not {tools!r:.80}")
    # The registry that someone gave is used unchanged, so that its changes are seen.
    methods = tool_methods(agent)
    if is_registry and not methods:
        found: ToolRegistry = tools
        return found
    if not is_registry:
        registry = ToolRegistry()
        for each in (*methods, *(tools or ())):
            registry.register(each)
        return registry
    toolbox = Toolbox(tools.whole)
    for each in methods:
        toolbox.register(each)
    if tools.whole is tools:
        return toolbox
    return toolbox.select(lambda tool: tool in (toolbox.own(tool.name), tools.get(tool.name)))


_LOGGER = logging.getLogger("sovl_tools")

Approve = Callable[[ToolCall], Any]
"""Returns whether a call can be made: True, or False, or a string with the reason why not."""


def agent_host(
    host: Host,
    approve: Approve | None,
    sample: Callable[[SampleRequest], Any],
    tools: Callable[[], ToolRegistry],
) -> Host:
    """Return a host that calls ``approve``, and lets the agent's own model answer samples."""
    on_approve = host.on_approve
    if approve is not None:
        on_approve = partial(_ask_approval, approve, tools)
    return replace(host, on_approve=on_approve or _refuse, on_sample=host.on_sample or sample)


def _refuse(request: ApprovalRequest) -> Approval:
    words = "and this agent can't ask: give it a function as Agent(approve=…)"
    raise ApprovalError(f"{request.tool} needs approval before it is called, {words}")


def _ask_approval(
    approve: Approve, tools: Callable[[], ToolRegistry], request: ApprovalRequest
) -> Any:
    """Return the answer of a function that takes a call, or an awaitable of it."""
    tool = tools().whole[request.tool]
    return approve(ToolCall(tool, request.arguments, request.call_id, request.chain))


MOST_WAITING_AGENTS = 5
"""The maximum number of agents that wait for each other in a row."""


WAITING_AGENTS: ContextVar[tuple[str, ...]] = ContextVar("WAITING_AGENTS", default=())
"""The names of the agents that wait for the one that runs here, the outermost first."""


class Offer(NamedTuple):
    """The tools that a model is offered in one request.

    Attributes:
        registry: where they are from.
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
        """Return the tools' texts for a system prompt."""
        tools = (self.registry.get(name) for name in self.names)
        found = (each.current_instructions() for each in tools if each is not None)
        return [text for text in found if text]


def _current(registry: ToolRegistry, names: Iterable[str]) -> tuple[str, ...]:
    """Return the tools of some names, without those whose replacement is among them.

    The history may have names of tools that are gone, or that a model has made up, and aliases.
    """
    catalog = registry.catalog
    found = dict.fromkeys(name for each in names if (name := catalog.named(each)) in catalog.tools)
    return tuple(
        name
        for name in found
        if not any(each in found for each in catalog.replacements(catalog.tools[name]))
    )


class Offering:
    """Makes offers, without the tools that would make the provider reject the whole request.

    Attributes:
        search: the tool that finds others.
        warned: the names and reasons that were logged for omitted tools, each once.
    """

    def __init__(
        self, tools: Callable[[], ToolRegistry], format_name: str, *, strict: bool, budget: Budget
    ) -> None:
        self.search = Search(tools)
        self.warned: set[tuple[str, str]] = set()
        self._tools = tools
        self._format = format_name
        self._strict = strict
        self._budget = budget
        self._exporter = Exporter()

    def offer(
        self, messages: Sequence[Message], wanted: Sequence[str] | None, choice: str | None = None
    ) -> Offer:
        """Return the tools to offer in a conversation: the named ones, or all that match.

        ``choice`` is a tool that must be among them.

        Raises:
            ToolNotFoundError: a name is unknown, or the choice isn't one of
                them.
        """
        offer = self._offer(messages, wanted)
        if choice is None or choice in offer.names:
            return offer
        name = offer.registry[choice].name  # raises if the tool doesn't exist
        if wanted is not None:
            raise ToolNotFoundError(name, among=" among those of this turn")
        offer = self._of(offer.registry, (*offer.names, name))
        if name not in offer.names:
            reason = f"its definition can't be sent as {self._format}"
            raise ToolNotFoundError(name, reason=reason)
        return offer

    def _offer(self, messages: Sequence[Message], wanted: Sequence[str] | None) -> Offer:
        registry = self._tools()
        if wanted is not None:
            return self._of(registry, _current(registry, (registry[name].name for name in wanted)))
        # Without a budget of tokens their number is known without an export.
        if self._budget.tokens is None and len(registry) > self._budget.tools:
            return self._selected(registry, messages, lambda _: 0)
        every = registry.catalog.tools
        current = _current(registry, every)
        tools = None if len(current) == len(every) else [every[name] for name in current]
        export = self._export(registry.catalog, tools)
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

        The search's latest results are first, then the called tools, then the tools whose
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
        for name in _current(registry, likely):
            if name == SEARCH or len(chosen) >= self._budget.tools:
                continue
            if left is not None:
                if cost(name) > left:  # a smaller one can still fit
                    continue
                left -= cost(name)
            chosen.append(name)
        return self._of(registry, tuple(chosen))

    def _of(self, registry: ToolRegistry, names: tuple[str, ...]) -> Offer:
        catalog = self.search.catalog
        tools = [catalog.tools[name] for name in names if name in catalog.tools]
        export = self._export(catalog, tools)
        return Offer(registry, export, tuple(export.shapes))

    def _export(self, catalog: Catalog, tools: Sequence[ToolDefinition] | None) -> Export:
        """Return tools, or all of a catalog, without the rejected ones."""
        export = self._exporter.export(catalog, self._format, tools, strict=self._strict)
        rejected = export.rejected
        for name, reason in rejected.items() - self.warned:
            _LOGGER.warning("tool %s is omitted: %s", name, reason)
        self.warned |= rejected.items()
        if not rejected:
            return export
        every = catalog.tools.values() if tools is None else tools
        left = [each for each in every if each.name not in rejected]
        return self._exporter.export(catalog, self._format, left, strict=self._strict)


SEARCH = "search_tools"
"""The name of the tool by which a model finds tools that it wasn't offered."""

_SPOKEN = 3  # the user's latest messages that are searched for
_FOUND = 8  # tools are taken of each search


class Budget(NamedTuple):
    """The maximum size of an offer.

    Attributes:
        tools: the maximum number of tools.
        tokens: the maximum number of tokens of their definitions, by estimate; None for no maximum.
    """

    tools: int
    tokens: int | None = None

    def fits(self, definitions: Sequence[JSON]) -> bool:
        """Return whether definitions are within the budget."""
        if len(definitions) > self.tools:
            return False
        return self.tokens is None or sum(map(estimate, definitions)) <= self.tokens


class Search:
    """The tools of a registry, and the tool that finds them.

    Attributes:
        found: the names of tools that were found so far, the last ones first.
    """

    def __init__(self, tools: Callable[[], ToolRegistry]) -> None:
        self.found: tuple[str, ...] = ()
        self._tools = tools
        self._known: tuple[Catalog, Catalog] | None = None
        self._is_whole = False
        self._definition = ToolDefinition(
            SEARCH,
            "Find further tools by what they do. Those that are found can be called from then on.",
            {
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "The purpose of the tool, in a few words.",
                    }
                },
                "required": ["query"],
                "additionalProperties": False,
            },
            self.search_tools,
            source=__name__,
        )

    def search_tools(self, query: str) -> list[dict[str, str]]:
        """Return names and descriptions of the tools that match a query, and remember them."""
        registry = self._tools()
        names = dict.fromkeys(
            [each.tool for each in registry.match(query)]
            + [each.tool for each in registry.search(query, limit=_FOUND)]
        )
        self.found = tuple(dict.fromkeys((*names, *self.found)))
        return [{"name": name, "description": registry[name].description} for name in names]

    @property
    def whole(self) -> Search:
        """The tools that can call each other: beyond a view, too."""
        made = copy(self)
        made._is_whole = True  # noqa: SLF001 - of its class
        return made

    @property
    def catalog(self) -> Catalog:
        """The current tools, and the search, unless they have a tool of its name."""
        registry, cached = self._tools(), self._known
        catalog = registry.whole.catalog if self._is_whole else registry.catalog
        if cached is None or cached[0] is not catalog:
            tools = {SEARCH: self._definition, **catalog.tools}
            cached = self._known = catalog, replace(catalog, tools=tools)
        return cached[1]
