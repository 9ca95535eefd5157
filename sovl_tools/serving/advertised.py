"""What a server tells its clients of the tools: worked out once for each catalog.

The two eras of the Model Context Protocol differ in output schemas. In the handshake era (up to
2025-11-25) one must be of type ``object``, so that any other is wrapped: results of such tools are
``{"result": value}``. Since 2026-07-28 any schema will do.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from sovl_tools.model.catalog import Catalog
from sovl_tools.model.document import JSON
from sovl_tools.registry import ToolRegistry
from sovl_tools.schema.rewrite import hoisted
from sovl_tools.serving.prompts import prompts, resources
from sovl_tools.serving.tool_search import DEFINITIONS, is_too_much

_LOGGER = logging.getLogger("sovl_tools")

RESULT: Final = "result"
"""The property that holds a result that is no object, where the protocol wants objects."""

LIST_FIELDS: Final[dict[str, JSON]] = {
    "ttlMs": 0,
    "cacheScope": "private",
    "resultType": "complete",
}
"""What a list says of itself since 2026-07-28: that it may be another one at any time."""


Kind: TypeAlias = Literal["tools", "prompts", "resources"]
"""What there are lists of."""


class LeftOut(NamedTuple):
    """A tool that clients don't see, and why."""

    tool: str
    reason: str

    def __str__(self) -> str:
        return f"tool {self.tool} is not offered: {self.reason}"


class Advertised(NamedTuple):
    """What clients see of the tools, at one moment.

    Attributes:
        catalog: the tools from which it was made.
        handshake: the definitions for clients up to 2025-11-25, by name.
        modern: the definitions for clients since 2026-07-28, by name.
        wrapped: the names of those whose results are wrapped for the former.
        left_out: what the protocol refuses.
        hidden: the definitions that are found by searching alone, by name.
        is_searching: whether clients see only two tools, which find and call the others.
        prompts: by name.
        resources: by address.
        is_lasting: whether it holds for as long as the catalog does: no function makes a schema.
    """

    catalog: Catalog
    handshake: dict[str, dict[str, JSON]]
    modern: dict[str, dict[str, JSON]]
    wrapped: frozenset[str]
    left_out: tuple[LeftOut, ...]
    hidden: dict[str, dict[str, JSON]]
    is_searching: bool
    prompts: dict[str, dict[str, JSON]]
    resources: dict[str, dict[str, JSON]]
    is_lasting: bool

    def changes(self, before: Advertised) -> frozenset[Kind]:
        """Return which lists are others than they were for clients."""
        kinds: tuple[Kind, ...] = ("tools", "prompts", "resources")
        lists = (self.modern, before.modern), (self.prompts, before.prompts)
        pairs = (*lists, (self.resources, before.resources))
        return frozenset(
            kind for kind, (now, then) in zip(kinds, pairs, strict=True) if now != then
        )


def advertise(
    registry: ToolRegistry, before: Advertised | None = None, *, is_searching: bool | None = None
) -> Advertised:
    """Return what clients see now; log each tool that is left out and was not before.

    Args:
        registry: the tools.
        before: what clients saw before, for what has not changed since.
        is_searching: whether two tools that search and call stand for all; None for where there
            are too many for a model to have them all before it.
    """
    catalog = registry.catalog
    if before is not None and before.catalog is catalog and before.is_lasting:
        return before
    export: Any = registry.export("mcp")
    left_out = [
        LeftOut(name, each.message) for name, each in export.losses if each.kind == "left_out"
    ]
    modern, refused = _accepted(export.definitions, LATEST_MODERN_VERSION)
    left_out += refused
    known = {} if before is None else before.handshake
    made = [_handshake_form(tool, known.get(name)) for name, tool in modern.items()]
    handshake, refused = _accepted(made, LATEST_HANDSHAKE_VERSION)
    left_out += refused
    earlier = () if before is None else before.left_out
    for each in left_out:
        if each not in earlier:
            _LOGGER.warning("%s", each)
    hidden: dict[str, dict[str, JSON]] = {}
    if is_searching is None:
        is_searching = is_too_much(modern.values())
    if is_searching:
        hidden = modern
        modern = handshake = {each["name"]: each for each in DEFINITIONS}
    return Advertised(
        catalog,
        handshake,
        modern,
        frozenset(name for name, tool in modern.items() if _is_wrapped(tool)),
        tuple(left_out),
        hidden,
        is_searching,
        prompts(catalog.tools.values()),
        resources(catalog.tools.values()),
        export.is_lasting,
    )


def _accepted(
    definitions: Iterable[dict[str, JSON]], version: str
) -> tuple[dict[str, dict[str, JSON]], list[LeftOut]]:
    """Return the definitions that a version of the protocol accepts, and what it refuses.

    The whole list is checked at once; one by one only where something in it is wrong.
    """
    tools = list(definitions)
    refused: list[LeftOut] = []
    if _problem(tools, version) is not None:
        reasons = [_problem([each], version) for each in tools]
        refused = [
            LeftOut(each["name"], reason)
            for each, reason in zip(tools, reasons, strict=True)
            if reason is not None
        ]
        tools = [each for each, reason in zip(tools, reasons, strict=True) if reason is None]
    return {each["name"]: each for each in tools}, refused


def _problem(tools: list[dict[str, JSON]], version: str) -> str | None:
    try:
        validate_server_result("tools/list", version, {"tools": tools, **LIST_FIELDS})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        # the first two steps are "tools" and its place in the list
        place = ".".join(map(str, first["loc"][2:]))
        return f"the protocol refuses {place}: {first['msg']}"
    except RecursionError:
        return "its schemas are nested too deep"
    for each in tools:
        reason = find_invalid_x_mcp_header(each["inputSchema"])
        if reason is not None:
            return reason
    return None


def _is_wrapped(tool: dict[str, JSON]) -> bool:
    return "outputSchema" in tool and tool["outputSchema"].get("type") != "object"


def _handshake_form(tool: dict[str, JSON], known: dict[str, JSON] | None) -> dict[str, JSON]:
    if not _is_wrapped(tool):
        return tool
    made = {**tool, "outputSchema": wrapped_schema(tool["outputSchema"])}
    return known if known == made else made


def wrapped_schema(schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return the schema of ``{"result": value}`` for values of a schema.

    Its references lead to definitions at the root, where readers look for them.
    """
    place = f"#/properties/{RESULT}"
    copy = hoisted(schema, lambda name: place if name is None else f"#/$defs/{name}")
    made: dict[str, JSON] = {"type": "object", "properties": {RESULT: copy.schema}}
    made["required"] = [RESULT]
    if copy.definitions:
        made["$defs"] = copy.definitions
    return made


def page(
    tools: dict[str, dict[str, JSON]], cursor: str | None, size: int
) -> tuple[list[dict[str, JSON]], str | None]:
    """Return a page of the definitions after a cursor, and the cursor of those after them.

    A cursor holds the name of the tool before it, so that nothing is skipped or listed twice where
    tools come and go between two pages.

    Raises:
        ValueError: it is no cursor.
    """
    names = sorted(tools)
    if cursor is not None:
        before, mark, last = cursor.partition(_CURSOR)
        if before or not mark:
            raise ValueError(f"{cursor!r:.80} is no cursor of this list")
        names = names[bisect_right(names, last) :]
    following = _CURSOR + names[size - 1] if len(names) > size else None
    return [tools[name] for name in names[:size]], following


_CURSOR = "after:"
