"""Tools for the page: their states, findings, files, and definitions for providers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import starmap
from typing import NamedTuple

from sovl_tools.configuration import Configuration
from sovl_tools.dev.history import version_of
from sovl_tools.dispatch.telemetry import as_json
from sovl_tools.formats.base import FORMATS, STRICT, estimate
from sovl_tools.formats.export import Target
from sovl_tools.linting.fixes import DRIFT, Fix, fixes_in
from sovl_tools.linting.rules import RULES
from sovl_tools.linting.selection import selection_of
from sovl_tools.linting.suppressions import suppress_findings, suppressions_of
from sovl_tools.loading.exporting import exported
from sovl_tools.loading.modules import import_seconds
from sovl_tools.loading.rules.formats import RULES as OF_FORMATS
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange, LoadReport
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON, pointer
from sovl_tools.model.documentation import rule_page
from sovl_tools.model.errors import ResolutionError, SovlToolsError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.procedures.parse.files import SUFFIXES
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.changes import news
from sovl_tools.reporting.text import excerpt, read_text
from sovl_tools.schema.dynamic import without_functions

TARGETS = tuple(
    each for name in FORMATS for each in (name, *([f"{name}-strict"] if name in STRICT else []))
)
"""The formats of providers, with their strict forms."""

_UNASKED = [each.code for each in OF_FORMATS]
_LANGUAGES = {**dict.fromkeys(SUFFIXES, "yaml"), ".json": "json", ".py": "python"}


class DevError(SovlToolsError):
    """A request that fails; ``type`` names the reason, ``members`` are further details.

    Attributes:
        status: the HTTP status.
        error: the content of the answer.
    """

    def __init__(self, status: int, type_: str, message: str, **members: JSON) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"type": type_, "message": message, **members}


class Row(NamedTuple):
    """A tool in the list, and the values that its row was made from.

    Attributes:
        made_of: the candidate, the served definition, and the findings between tools.
        found: the findings, without suppressed ones.
        values: the row.
    """

    made_of: tuple[Candidate, ToolDefinition | None, tuple[Diagnostic, ...]]
    found: tuple[Diagnostic, ...]
    values: dict[str, JSON]

    @property
    def candidate(self) -> Candidate:
        """The candidate of the tool's folder or file."""
        return self.made_of[0]


def folder_of(candidate: Candidate) -> ToolFolder | None:
    """Return the folder of a tool; None for a tool in code or a procedure."""
    if candidate.line or not os.path.isdir(candidate.location):
        return None
    return ToolFolder(candidate.name, candidate.path, candidate.location)


def is_procedure(candidate: Candidate) -> bool:
    """Return whether a candidate is the file of a procedure."""
    return candidate.location.endswith(SUFFIXES)


class Tools:
    """The tools and procedures of a registry, for the page. Thread-safe.

    Args:
        registry: the tools, which may change at any time.
        settings: the selection of findings, and the views.
    """

    def __init__(self, registry: ToolRegistry, settings: Configuration) -> None:
        self.registry = registry
        self._selection = selection_of(settings)
        self._views = settings.views
        self._rows: Mapping[str, Row] = {}
        # the rows at the last change; requests update the others in between
        self._told = self.rows()

    def rows(self) -> Mapping[str, Row]:
        """Return all rows by name; unchanged rows stay the same objects."""
        catalog, known = self.registry.catalog, self._rows
        between: dict[str, list[Diagnostic]] = {}
        for found in catalog.diagnostics:
            between.setdefault(found.tool or "", []).append(found)
        rows: dict[str, Row] = {}
        for each in catalog.candidates:
            # if several have the name, show the served one
            if each.name in rows and each.status != "loaded":
                continue
            served = catalog.tools.get(each.name)
            made_of = each, served, tuple(between.get(each.name, ()))
            before = known.get(each.name)
            is_same = before is not None and before.made_of == made_of
            rows[each.name] = before if before and is_same else self._row(*made_of)
        self._rows = dict(sorted(rows.items()))
        return self._rows

    def _row(
        self, candidate: Candidate, served: ToolDefinition | None, between: tuple[Diagnostic, ...]
    ) -> Row:
        report = LoadReport((candidate,), (*candidate.diagnostics, *between))
        folder = folder_of(candidate)
        asked = suppressions_of(folder) if folder is not None else ()
        procedures = [candidate.path] if is_procedure(candidate) else []
        shown, _ = suppress_findings(report, asked, procedures, unasked=_UNASKED)
        found = self._selection.of(shown).diagnostics
        errors = sum(each.severity == "error" for each in found)
        values = {
            "name": candidate.name,
            "title": served.title if served else None,
            "description": served.description if served else candidate.description,
            "category": served.category if served else None,
            "tags": [*served.tags] if served else [],
            "state": _state(candidate, served, has_warnings=len(found) > errors),
            "errors": errors,
            "warnings": len(found) - errors,
            "version": version_of(served) if served else "",
            "procedure": is_procedure(candidate),
        }
        return Row((candidate, served, between), found, values)

    def views(self) -> list[JSON]:
        """Return the configured views with the names of their tools."""
        return [
            {"name": name, "tools": [each.name for each in self.registry.filter(criteria)]}
            for name, criteria in self._views.items()
        ]

    def detail(self, row: Row) -> dict[str, JSON]:
        """Return the details of a tool."""
        candidate, served, _ = row.made_of
        reason = "; ".join(candidate.reasons) or None
        schema: JSON = {"type": "object", "properties": {}}
        if served is not None:
            try:
                schema = served.resolve().parameters
            except ResolutionError as error:
                schema, reason = without_functions(served.parameters), str(error)
        return {
            **row.values,
            "path": candidate.path,
            "import_seconds": import_seconds(candidate.location),
            "reason": reason,
            "schema": schema,
            "output_schema": served.output_schema if served else None,
            "annotations": dict(served.annotations) if served else {},
            "examples": [*starmap(_example, enumerate(served.examples if served else ()))],
            "files": [*_files(candidate)],
            "findings": self._findings(row),
        }

    def fixes(self, row: Row) -> dict[Diagnostic, Fix]:
        """Return the safe fixes of a tool's findings."""
        folder = folder_of(row.candidate)
        found = {} if folder is None else fixes_in(folder, row.found)
        return {each: fix for each, fix in found.items() if fix.applicability == "safe"}

    def _findings(self, row: Row) -> list[JSON]:
        fixes = self.fixes(row)
        is_folder = folder_of(row.candidate) is not None
        found = []
        for each in row.found:
            mark = excerpt(each, width=1_000_000)
            column = each.column + (mark.length if mark else 1)
            is_fixable = each in fixes or (is_folder and each.code in DRIFT)
            about = {"name": RULES[each.code].name, "explanation": RULES[each.code].explanation}
            end = {"end_line": each.line, "end_column": column}
            found.append(
                {
                    **each._asdict(),
                    **about,
                    **end,
                    "fixable": is_fixable,
                    "url": rule_page(each.code),
                }
            )
        return found

    def change(self, change: CatalogChange) -> tuple[dict[str, JSON], dict[str, JSON]]:
        """Return the rows that differ after a change of the registry, and a summary of it."""
        before, self._told = self._told, self.rows()
        rows = self._told
        others = [row for name, row in rows.items() if row is not before.get(name)]
        removed = [name for name in before if name not in rows]
        return {**listed(others), "removed": removed}, _news(change, rows)


def listed(rows: Iterable[Row]) -> dict[str, JSON]:
    """Return the values of rows, the tools and procedures separately."""
    found: dict[str, JSON] = {"tools": [], "procedures": []}
    for each in rows:
        found["procedures" if each.values["procedure"] else "tools"].append(each.values)
    return found


def _state(candidate: Candidate, served: ToolDefinition | None, *, has_warnings: bool) -> str:
    if candidate.status == "loaded":
        return "warnings" if has_warnings else "loaded"
    if candidate.previous is not None and candidate.previous.definition is served:
        return "last_good"
    return "unavailable" if candidate.status == "waiting" else candidate.status


def _news(change: CatalogChange, rows: Mapping[str, Row]) -> dict[str, JSON]:
    """Return a summary of a change, and its level."""
    served = {name for name, row in rows.items() if row.values["state"] == "last_good"}
    words = [f"{word} {names}" for word, names in news(change, served)]
    touched = [rows[each].values for each in (*change.added, *change.updated) if each in rows]
    warns = bool(change.removed) or any(each["warnings"] for each in touched)
    level = "error" if change.rejected else "warning" if warns else "ok"
    return {"text": "; ".join(words), "level": level}


def _example(number: int, document: JSON) -> dict[str, JSON]:
    keys = {"name": "description", "arguments": "input", "result": "output"}
    return {"index": number, **{key: document.get(name) for key, name in keys.items()}}


def _files(candidate: Candidate) -> Iterator[dict[str, JSON]]:
    """Yield the manifest and the modules of a tool's folder, or the tool's only file."""
    folder = folder_of(candidate)
    if folder is None:
        places = {candidate.path: candidate.path}
    else:
        names = (folder.manifest_name, folder.module_name)
        others = [each for each in sorted(os.listdir(folder.location)) if each.endswith(".py")]
        every = dict.fromkeys((*names, *others))
        places = {f"{folder.path}/{each}": f"{folder.location}/{each}" for each in every}
    for path, location in places.items():
        language = _LANGUAGES.get(os.path.splitext(path)[1])
        text = read_text(location) if language else None
        if text is not None:
            yield {"path": path, "language": language, "text": text}


def as_target(catalog: Catalog, tool: ToolDefinition, target: str) -> dict[str, JSON]:
    """Return a tool's definition for a provider, its size and its losses."""
    try:
        made = exported([tool], Target.of(target), catalog.candidates)
    except ValueError as error:
        raise DevError(404, "unknown_target", str(error)) from error
    losses = [{**loss._asdict(), "path": pointer(loss.path)} for _, loss in made.losses]
    shape = made.shapes.get(tool.name)
    definition = None if shape is None else shape.definition
    reasons = "; ".join(each["message"] for each in losses) if shape is None else None
    text = definition if isinstance(definition, str) else as_json(definition)
    return {
        "target": target,
        "definition": definition,
        "bytes": len(text.encode("utf-8", "replace")),
        "tokens": estimate(definition),
        "losses": losses,
        "rejected": made.rejected.get(tool.name, reasons),
    }
