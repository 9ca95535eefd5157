"""The tools of an MCP server as tools of a registry."""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, NamedTuple

from sovl_tools.formats.foreign import (
    Definition,
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
from sovl_tools.remote.session import McpServer, RemoteError, load_sdk, session_of
from sovl_tools.remote.snapshot import Reviewed, SnapshotError
from sovl_tools.schema.subschemas import nodes

_STEP = 0.2
_QUIET = (0.05, 0.05, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""How long changes are gathered before the server is asked, one time after another, in seconds."""
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
            listed = self._listed()
        except (RemoteError, SnapshotError) as error:
            words = f"the tools of an MCP server can't be had: {error}"
            return OriginLoad.of_failure(unavailable(words, unit))
        if not listed:
            return OriginLoad({unit: ()}, (no_tools_found(Unit("the MCP server", unit, "")),))
        return OriginLoad({unit: tuple(self._candidates(listed, reviewed))})

    def _listed(self) -> list[JSON]:
        load_sdk()
        work = remote_loop().submit(session_of(self.server).list_tools())
        try:
            while True:
                # in short steps: a look that is abandoned ends between two of them
                with suppress(FutureTimeoutError):
                    return work.result(_STEP)
        except CancelledError:
            raise RemoteError("the program ends") from None
        finally:
            work.cancel()

    def _candidates(self, listed: list[JSON], reviewed: Reviewed | None) -> Iterable[Candidate]:
        definitions = read_tools(listed)
        start = f"{self.prefix}_" if self.prefix else ""
        names = fit_names(
            start + (each.name if isinstance(each, ForeignTool) else _name_of(raw))
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

    def _made(self, name: str, found: Definition, objection: str | None) -> Candidate:
        # what messages call a server can be the name of another as well
        number = _NUMBERS.setdefault(self.server, len(_NUMBERS))
        location, path = f"mcp:{number}#{name}", str(self.server)
        if objection is not None:
            words = f"the tool {_shown(name)} isn't as reviewed: {objection}"
            advice = "review it, then run sovl-tools check --update"
            verdict = Verdict(not_as_locked, Finding(Position(), words, advice))
            return rejected(name, location, [verdict.at(path, 1, 1, tool=name)])
        try:
            if not isinstance(found, ForeignTool):
                message = found.message if isinstance(found, Flaw) else "there's no 'inputSchema'"
                case = CodeCase(f"{_shown(name)}: {message}")
                (verdict,) = ask((module.invalid_definition,), case)
                return rejected(name, location, [verdict.at(path, 1, 1, tool=name)])
            function = _Offered(self.server, found).run
            definition = replace(found.definition(name, function), source=path)
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
) -> list[Definition]:
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


def _name_of(raw: JSON) -> str:
    name = raw.get("name") if isinstance(raw, dict) else None
    return name if isinstance(name, str) else "tool"


class _Offered:
    """A tool of a server that can be called."""

    def __init__(self, server: McpServer, tool: ForeignTool) -> None:
        self._server = server
        self._name = tool.name
        hints = tool.annotations
        self._is_repeatable = bool(hints.get("read_only") or hints.get("idempotent"))

    async def run(self, /, _context: ToolContext, **arguments: Any) -> Any:
        """Call the tool on its server."""
        return await self._server.call(
            self._name, arguments, _context, repeatable=self._is_repeatable
        )


_NUMBERS: dict[McpServer, int] = {}
_KNOWN: dict[RemoteTools, dict[str, tuple[str, Candidate]]] = {}
"""What became of the text of a definition, by origin and name."""


def remote_tools(  # noqa: PLR0913 - independent options
    address: str,
    *,
    prefix: str | None,
    headers: Mapping[str, str] | None,
    env: Mapping[str, str | None] | None,
    timeout: float,
    locked: str | None = None,
) -> RemoteTools:
    """Return the tools of a server.

    Raises:
        ValueError: the server, the prefix or the timeout isn't one.
    """
    if prefix is not None and not isinstance(prefix, str):
        raise ValueError(f"a prefix is a string, not {_shown(prefix)}")
    if prefix is not None and (reason := name_problem(prefix)) is not None:
        raise ValueError(f"{_shown(prefix)} isn't a prefix: {reason}")
    values = _texts("headers", headers, (str,))
    variables = _texts("env", env, (str, type(None)))
    server = McpServer(address, env=variables, timeout=timeout, header_values=values, locked=locked)
    return RemoteTools(server, prefix)


def _texts(name: str, given: Any, kinds: tuple[type, ...]) -> tuple[tuple[str, Any], ...]:
    """Return the pairs of a mapping of strings; messages about it contain no values.

    Raises:
        ValueError: it is something else.
    """
    if given is None:
        return ()
    pairs: Any = tuple(given.items()) if isinstance(given, Mapping) else ((None, None),)
    if not all(isinstance(key, str) and isinstance(value, kinds) for key, value in pairs):
        raise ValueError(f"{name} must be a mapping of strings to strings")
    return (*pairs,)


def _shown(value: object) -> str:
    return cut_characters(repr(value), _LONGEST)


def enter(look: Look, origin: RemoteTools) -> CatalogChange:
    """Check a server's tools, now and after each change; ``look`` is a method."""
    change = look(origin)
    listeners = session_of(origin.server).on_change
    refresh = _Refresh(look, origin)
    if not any(isinstance(each, _Refresh) and each.is_same(refresh) for each in listeners):
        listeners.append(refresh)
    return change


class _Refresh:
    """Looks at a server's tools again after changes, for as long as there is a registry.

    One check a time, and after many in a row less often: a server may tell of a change whenever
    it is asked.
    """

    def __init__(self, look: Any, origin: RemoteTools) -> None:
        self.look = weakref.WeakMethod(look)
        self.origin = origin
        self._lock = threading.Lock()
        self._is_due = False
        self._is_looking = False

    def is_same(self, other: _Refresh) -> bool:
        """Return whether another does the same."""
        return (self.origin, self.look()) == (other.origin, other.look())

    def __call__(self) -> None:
        """Begin to look, on a thread: this one carries the answers."""
        with self._lock:
            self._is_due = True
            if self._is_looking:
                return
            self._is_looking = True
        threading.Thread(target=self._run, name="sovl-tools-remote", daemon=True).start()

    def _run(self) -> None:
        for quiet in chain(_QUIET, repeat(_QUIET[-1])):
            time.sleep(quiet)
            with self._lock:
                self._is_looking = self._is_due
                self._is_due = False
            if not self._is_looking:
                return
            look = self.look()
            if look is None:
                listeners = session_of(self.origin.server).on_change
                if self in listeners:
                    listeners.remove(self)
            else:
                look(self.origin)
