"""From a finding that names a place to a diagnostic with a line and a column."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from sovl_tools.loading.checks.file import Unreadable
from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.loading.reading import MAX_MANIFEST_BYTES, read_file
from sovl_tools.loading.sources import MAX_MODULE_BYTES
from sovl_tools.model.diagnostic import (
    Diagnostic,
    ManifestPlace,
    Place,
    Position,
    Verdict,
)
from sovl_tools.model.folder import ToolFolder
from sovl_tools.signature.syntax_tree import place_of


class Locator:
    """Finds places in one folder's files; reads those it is not given when it looks for something.

    ``text`` is the manifest's, ``source`` the module's, as they were loaded.
    """

    def __init__(
        self, folder: ToolFolder, text: str | None = None, source: bytes | None = None
    ) -> None:
        self.folder = folder
        self._text = text
        self._source = source

    @cached_property
    def _manifest(self) -> str:
        if self._text is not None:
            return self._text
        data = read_file(self.folder, self.folder.manifest_name, limit=MAX_MANIFEST_BYTES)
        if isinstance(data, Unreadable):
            return ""
        return data.decode(errors="replace").removeprefix("\ufeff")

    @cached_property
    def _places(self) -> Places:
        return Places(self._manifest)

    @cached_property
    def _module(self) -> bytes:
        if self._source is not None:
            return self._source
        data = read_file(self.folder, self.folder.module_name, limit=MAX_MODULE_BYTES)
        return b"" if isinstance(data, Unreadable) else data

    def position(self, place: Place) -> Position:
        """Return the position of a place."""
        if isinstance(place, Position):
            return place
        if isinstance(place, ManifestPlace):
            line, column = line_and_column(self._manifest, self._places.offset(place))
            return Position(self.folder.manifest_name, line, column)
        line, column = place_of(self._module, place)
        return Position(self.folder.module_name, line, column)

    def diagnostics(self, verdicts: Iterable[Verdict]) -> tuple[Diagnostic, ...]:
        """Return the verdicts as diagnostics of this folder's tool, ordered by place."""
        found = [self._diagnostic(verdict) for verdict in verdicts]
        return tuple(sorted(found, key=lambda each: (each.path, each.line, each.column, each.code)))

    def _diagnostic(self, verdict: Verdict) -> Diagnostic:
        rule, finding = verdict.rule, verdict.finding
        at = self.position(finding.place)
        path = f"{self.folder.path}/{at.path}" if at.path else self.folder.path
        return Diagnostic(
            rule.code,
            rule.severity,
            finding.message,
            finding.help,
            self.folder.name,
            path,
            at.line,
            at.column,
        )
