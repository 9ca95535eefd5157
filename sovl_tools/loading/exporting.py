"""Exports of catalogs, with diagnostics at the places of the manifests, and kept as they last."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from sovl_tools.formats.base import Loss, Options
from sovl_tools.formats.export import Export, Target, export_of
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.location import Locator, SourceLocation
from sovl_tools.loading.pipeline import bind
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.rules.formats import BY_KIND, FormatCase, refused_property_name
from sovl_tools.loading.sources import read_manifest
from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, ask
from sovl_tools.model.document import dotted
from sovl_tools.model.folder import ToolFolder


def exported(
    tools: Iterable[ToolDefinition], target: Target, candidates: Sequence[Candidate] = ()
) -> Export:
    """Return tools in a format; diagnostics have the places of the candidates."""
    return export_of(tools, target, partial(_diagnosed, candidates))


def _diagnosed(
    candidates: Sequence[Candidate], target: str, losses: Mapping[str, list[Loss]]
) -> tuple[Diagnostic, ...]:
    """Return the losses, and the schemas that the provider rejects, as ST9xx."""
    known = {each.name: each for each in reversed(candidates) if each.definition is not None}
    nowhere = SourceLocation((candidates and os.path.dirname(candidates[0].path)) or ".")
    return tuple(
        found
        for name, of_tool in losses.items()
        for found in _of_tool(target, of_tool, known.get(name), nowhere)
    )


def _of_tool(
    target: str, losses: Iterable[Loss], candidate: Candidate | None, nowhere: SourceLocation
) -> tuple[Diagnostic, ...]:
    """Return losses of one tool as diagnostics, at their places in its manifest or its code."""
    verdicts = [
        verdict
        for loss in losses
        for verdict in ask((BY_KIND[loss.kind],), FormatCase(target, loss))
    ]
    if candidate is not None and not candidate.line:
        folder = ToolFolder(candidate.name, candidate.path, candidate.location)
        return Locator(folder).diagnostics(verdicts)
    name, where = None, nowhere
    if candidate is not None:
        name = candidate.name
        where = SourceLocation(candidate.path, candidate.line, candidate.column)
    found = []
    for verdict in verdicts:
        diagnostic, place = verdict.at(*where, tool=name), verdict.finding.place
        if isinstance(place, ManifestPlace) and place.path:  # it has no manifest with such a place
            message = f"{diagnostic.message}, at {dotted(place.path)!r}"
            diagnostic = diagnostic._replace(message=message)
        found.append(diagnostic)
    return tuple(found)


def checked(candidates: Iterable[Candidate], targets: Iterable[str]) -> tuple[Diagnostic, ...]:
    """Return the losses of tool folders in formats; only the manifests are read.

    Raises:
        ValueError: a target is unknown.
    """
    known = []
    for each in candidates:
        folder = ToolFolder(each.name, each.path, each.location)
        definition = None
        if each.status == "loaded":
            reading = read_manifest(folder)
            # it can have changed since it was loaded
            if not isinstance(reading, Unreadable) and reading.manifest is not None:
                interface = Interface(function=_absent)
                definition = bind(reading.manifest, interface, source=folder.path)
        known.append(each._replace(definition=definition))
    tools = [each.definition for each in known if each.definition is not None]
    exports = [exported(tools, Target.of(each), known) for each in targets]
    return tuple(found for export in exports for found in export.diagnostics)


def unserved(candidates: Iterable[Candidate]) -> tuple[Diagnostic, ...]:
    """Return why ``serve`` omits tool folders."""
    found = checked(candidates, ("mcp",))
    return tuple(each for each in found if each.code == refused_property_name.code)


def _absent() -> None:
    raise NotImplementedError("the module was not imported")


class Exporter:
    """Makes exports of catalogs, and keeps the last exports of whole catalogs."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, ...], tuple[Catalog, Export]] = {}

    def export(
        self, catalog: Catalog, name: str, tools: Sequence[ToolDefinition] | None, **options: Any
    ) -> Export:
        """Return tools of a catalog in a format, with what Options says; None are all of them.

        Raises:
            ValueError: the format is unknown, or has no strict form although one is wanted.
        """
        target = Target(name, Options(**options))
        if tools is not None:
            return exported(tools, target, catalog.candidates)
        # options can contain lists, which can't be part of a key
        key = name, *map(repr, target.options)
        made_of, export = self._made.get(key, (None, None))
        if export is None or made_of is not catalog or not export.is_lasting:
            export = exported(catalog.tools.values(), target, catalog.candidates)
            if len(self._made) >= _MOST_KEPT:
                self._made.clear()
            self._made[key] = catalog, export
        return export


_MOST_KEPT = 16
