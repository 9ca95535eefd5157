"""The tools of an MCP server as tools of a registry."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakMethod

from sovl_tools.dispatch.async_runner import await_thread
from sovl_tools.formats.foreign import (
    Flaw,
    ForeignTool,
    ProviderTool,
    Selection,
    read_definition,
)
from sovl_tools.loading.definitions import checked, rejected
from sovl_tools.loading.import_errors import Unit, no_tools_found, unavailable
from sovl_tools.loading.origins import PACKAGES, Origin, OriginLoad
from sovl_tools.loading.rules import module
from sovl_tools.loading.rules.folder import not_as_locked
from sovl_tools.loading.rules.module import CodeCase
from sovl_tools.loading.rules.schema import missing_description
from sovl_tools.model.catalog import Candidate, CatalogChange
from sovl_tools.model.content import cut_characters
from sovl_tools.model.context import ToolContext
from sovl_tools.model.diagnostic import (
    Diagnostic,
    Finding,
    Position,
    Verdict,
    ask,
    internal_diagnostic,
)
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import fit_names, name_problem
from sovl_tools.remote.loop import remote_loop
from sovl_tools.remote.session import McpServer, RemoteError, session_of
from sovl_tools.remote.snapshot import Reviewed, SnapshotError, name_of
from sovl_tools.schema.subschemas import nodes

_QUIET, _MOST_QUIET = 0.05, 5.0
"""How long changes are gathered before the server is asked, at first and at most, in seconds."""
_LONGEST = 60

Look = Callable[[Origin], CatalogChange]


class RemoteTools(NamedTuple):
    """A server of the Model Context Protocol (an origin of tools).

    Attributes:
        server: whose tools they are.
        prefix: what their names begin with, if anything.
    """

    server: McpServer
    prefix: str | None = None

    @property
    def level(self) -> int:
        """That of packages."""
        return PACKAGES

    @property
    def directory(self) -> None:
        """None: no file tells of a change."""
        return

    def look(self) -> OriginLoad:
        """Ask for the list; a tool of which all is as before stays the tool that it is."""
        unit = str(self.server)
        try:
            locked = self.server.locked
            reviewed = Reviewed.of(locked) if locked is not None else None
            listed = remote_loop().submit(session_of(self.server).list_tools()).result()
        except (RemoteError, SnapshotError, CancelledError) as error:
            words = f"the tools of an MCP server can't be had: {error}"
            return OriginLoad.of_failure(unavailable(words, unit))
        if not listed:
            return OriginLoad({unit: ()}, (no_tools_found(Unit("the MCP server", unit, "")),))
        return OriginLoad({unit: tuple(self._candidates(listed, reviewed))})

    def _candidates(self, listed: list[JSON], reviewed: Reviewed | None) -> Iterable[Candidate]:
        definitions = read_tools(listed)
        start = f"{self.prefix}_" if self.prefix else ""
        names = fit_names(
            start + (each.name if isinstance(each, ForeignTool) else name_of(raw) or "tool")
            for each, raw in zip(definitions, listed, strict=True)
        )
        before, now = _KNOWN.get(self, {}), dict[str, tuple[str, Candidate]]()
        for name, each, raw in zip(names, definitions, listed, strict=True):
            objection = reviewed.objection(raw) if reviewed is not None else None
            text, known = f"{objection}{json.dumps(raw, sort_keys=True)}", before.get(name)
            # The same candidate as before, or each look would seem a change of the tool.
            if known is None or known[0] != text:
                known = text, self._made(name, each, objection)
            now[name] = known
        # without those that are gone: a server can have others each time
        _KNOWN[self] = now
        return [candidate for _, candidate in now.values()]

    def _made(self, name: str, found: ForeignTool | Flaw, objection: str | None) -> Candidate:
        # what messages call a server can be the name of another as well
        location, path = f"mcp:{hash(self.server)}#{name}", str(self.server)
        if objection is not None:
            words = f"the tool {_shown(name)} isn't as reviewed: {objection}"
            advice = "review it, then run sovl-tools check --update"
            verdict = Verdict(not_as_locked, Finding(Position(), words, advice))
            return rejected(name, location, [verdict.at(path, 1, 1, tool=name)])
        try:
            if isinstance(found, Flaw):
                case = CodeCase(f"{_shown(name)}: {found.message}")
                (verdict,) = ask((module.invalid_definition,), case)
                return rejected(name, location, [verdict.at(path, 1, 1, tool=name)])
            definition = replace(found.definition(name, _caller(self.server, found)), source=path)
            candidate = checked(definition, location)
            diagnostics = [_placed(each, path, name) for each in candidate.diagnostics]
            if candidate.status == "rejected":
                return rejected(name, location, diagnostics)
            parameters = nodes(found.parameters, ("parameters",))
            undescribed = ask((missing_description,), *parameters)
            diagnostics += [each.at(path, 1, 1, tool=name) for each in undescribed]
            return candidate._replace(
                path=path, line=1, column=1, found=tuple(diagnostics), lint=None
            )
        except Exception as error:  # noqa: BLE001 - the barrier: no tool takes the others down
            return rejected(name, location, [internal_diagnostic(error, str(self.server), name)])


def _placed(found: Diagnostic, path: str, name: str) -> Diagnostic:
    """Return a finding about a tool of a server, which has no file."""
    start = (
        f"{_shown(name)}: " if found.severity == "error" and repr(name) not in found.message else ""
    )
    return found._replace(path=path, line=1, column=1, message=start + found.message)


def read_tools(
    listed: Iterable[JSON],
    selection: Selection = Selection(),  # noqa: B008 - immutable
) -> list[ForeignTool | Flaw]:
    """Return what a server's list defines; one that has no schema is a flaw."""
    found = [
        read_definition(each, ("tools", index))
        for index, each in enumerate(listed)
        if selection.wants_definition(each)
    ]
    return [
        Flaw(each.place, "there's no 'inputSchema'") if isinstance(each, ProviderTool) else each
        for each in found
    ]


def _caller(server: McpServer, tool: ForeignTool) -> Callable[..., Any]:
    """Return the function that calls a tool of a server."""
    hints = tool.annotations
    is_repeatable = bool(hints.get("read_only") or hints.get("idempotent"))

    async def run(*, _context: ToolContext, **arguments: Any) -> Any:
        return await server.call(tool.name, arguments, _context, repeatable=is_repeatable)

    return run


_KNOWN: dict[RemoteTools, dict[str, tuple[str, Candidate]]] = {}
"""What became of the text of a definition, by origin and name."""


def remote_tools(
    address: str,
    *,
    prefix: str | None,
    headers: Mapping[str, str] | None,
    env: Mapping[str, str | None] | None,
    **options: Any,
) -> RemoteTools:
    """Return the tools of a server; ``options`` are further ones of ``McpServer``.

    Raises:
        ValueError: the server, the prefix or the timeout isn't one.
    """
    if prefix is not None and (reason := name_problem(prefix)) is not None:
        raise ValueError(f"{_shown(prefix)} isn't a prefix: {reason}")
    server = McpServer(
        address,
        env=tuple((env or {}).items()),
        header_values=tuple((headers or {}).items()),
        **options,
    )
    return RemoteTools(server, prefix)


def _shown(value: object) -> str:
    return cut_characters(repr(value), _LONGEST)


def enter(look: Look, origin: RemoteTools) -> CatalogChange:
    """Check a server's tools, now and after each change; ``look`` is a method."""
    change = look(origin)
    with suppress(RemoteError):  # without the SDK there are neither tools nor changes
        listeners = session_of(origin.server).on_change
        refresh = _Refresh(WeakMethod(look), origin, listeners)
        if refresh not in listeners:
            listeners.append(refresh)
    return change


@dataclass
class _Refresh:
    """Looks at a server's tools again after changes, for as long as there is a registry.

    One check a time, and after many in a row less often: a server may tell of a change whenever
    it is asked.
    """

    look: WeakMethod[Any]
    origin: RemoteTools
    _listeners: list[Callable[[], object]] = field(compare=False)
    _is_due: bool = field(default=False, compare=False)
    _looking: asyncio.Task[None] | None = field(default=None, compare=False)

    def __call__(self) -> None:
        """Begin to look; called on the loop of connections."""
        self._is_due = True
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        quiet = _QUIET
        await asyncio.sleep(quiet)
        while self._is_due:
            self._is_due = False
            look = self.look()
            if look is None:
                self._listeners.remove(self)
                return
            # this thread carries the answers
            await await_thread(partial(look, self.origin))
            del look
            quiet = min(2 * quiet, _MOST_QUIET)
            await asyncio.sleep(quiet)
        self._looking = None
