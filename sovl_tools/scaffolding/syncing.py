"""From a tool folder to the manifest that its function asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sovl_tools.loading.checks import agreement
from sovl_tools.loading.checks.file import Unreadable
from sovl_tools.loading.checks.folder import unfit
from sovl_tools.loading.checks.manifest import ManifestCase
from sovl_tools.loading.checks.schema import default_on_required, unfit_default
from sovl_tools.loading.examples import example_verdicts
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.location import Locator
from sovl_tools.loading.pipeline import Settings, load_folder
from sovl_tools.loading.reading import MAX_MANIFEST_BYTES, read_file, read_manifest
from sovl_tools.loading.requirements import unmet
from sovl_tools.loading.sources import take_snapshot
from sovl_tools.loading.verdicts import manifest_verdicts, schema_verdicts
from sovl_tools.model.diagnostic import (
    Diagnostic,
    ModulePlace,
    RuleTable,
    Verdict,
    ask,
    has_errors,
    internal_diagnostic,
)
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import Manifest, ToolFolder
from sovl_tools.scaffolding.account import Account
from sovl_tools.scaffolding.drift import mended
from sovl_tools.scaffolding.jsonedit import edited
from sovl_tools.scaffolding.jsonlayout import rendered
from sovl_tools.scaffolding.looking import look
from sovl_tools.scaffolding.manifest import manifest_of
from sovl_tools.scaffolding.saving import replace_files
from sovl_tools.schema.engine import published
from sovl_tools.schema.subschemas import expands_too_far
from sovl_tools.schema.visitor import visit
from sovl_tools.signature.pairs import BASE

_MARK = "\ufeff".encode()


class Sync(NamedTuple):
    """What becomes of one folder.

    Attributes:
        folder: the folder.
        before: the manifest's text; None if there is none.
        after: the text in line with the function; None if it can't be told.
        verdicts: what is wrong and can't be mended here.
        refusals: diagnostics of what keeps the folder from being looked at.
        notes: what is not wrong, but left out.
    """

    folder: ToolFolder
    before: str | None = None
    after: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    refusals: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether the manifest has to be written."""
        return self.after is not None and self.after != self.before

    def save(self) -> None:
        """Write the manifest; what begins with a byte order mark still does.

        Raises:
            OSError: it can't be written; then it is as it was.
        """
        data = read_file(self.folder, self.folder.manifest_name, limit=MAX_MANIFEST_BYTES)
        mark = _MARK if isinstance(data, bytes) and data.startswith(_MARK) else b""
        text = (self.after or "").encode()
        replace_files(self.folder.location, {self.folder.manifest_name: mark + text})

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return what is wrong, placed in the files as they are now."""
        return self.refusals or Locator(self.folder).diagnostics(self.verdicts)


def sync_of(folder: ToolFolder, *, prune: bool = False, limit: float = 10.0) -> Sync:
    """Return what a folder's manifest ought to be, going by its function; nothing is written.

    Args:
        folder: the folder; its module is imported.
        prune: takes out properties that the function does not take.
        limit: how long importing the module may take, in seconds.

    Raises:
        KeyboardInterrupt: the only exception that leaves the import of a tool.
    """
    try:
        return _sync_of(folder, prune=prune, limit=limit)
    except Exception as error:  # noqa: BLE001 - the barrier: the other tools are synced
        return Sync(folder, refusals=(internal_diagnostic(error, folder.path, folder.name),))


def _sync_of(folder: ToolFolder, *, prune: bool, limit: float) -> Sync:
    reading = read_manifest(folder)
    is_absent = isinstance(reading, Unreadable) and reading.is_absent
    manifest = None if isinstance(reading, Unreadable) else reading.manifest
    is_workable = is_absent if manifest is None else _is_workable(manifest.document)
    if not is_workable or unfit(folder.name) is not None:
        return _refused(folder)
    if manifest is not None and not manifest.enabled:
        return Sync(folder, notes=('left alone: its manifest says "enabled": false',))
    return _looked(folder, manifest, prune=prune, limit=limit)


def _refused(folder: ToolFolder) -> Sync:
    """Tell what the checks say of a folder that can't be looked at, without importing it."""
    found = load_folder(folder, Settings(imports=False)).diagnostics
    return Sync(folder, refusals=tuple(each for each in found if each.severity == "error"))


def _is_workable(document: Mapping[str, JSON]) -> bool:
    """Tell whether ``parameters`` are a schema, or are not there, or lack what can be added."""
    problems = [each for each in published("tool").problems(document) if each.path]
    wrong = [
        each
        for each in problems
        if each.path[0] == "parameters" and (each.keyword, len(each.path)) != ("required", 1)
    ]
    return not wrong and not expands_too_far(document.get("parameters", {}))


def _looked(folder: ToolFolder, manifest: Manifest | None, *, prune: bool, limit: float) -> Sync:
    snapshot = take_snapshot(folder)
    if isinstance(snapshot, Unreadable):
        return _refused(folder)
    found = look(snapshot, limit=limit)
    missing = unmet(manifest.document) if manifest else ()
    wrong = _unsound(folder, manifest) if manifest else ()
    if found.verdicts and missing:
        return Sync(folder, verdicts=wrong, notes=(f"left alone: {', '.join(missing)}",))
    if found.account is None:
        notes = (f"left alone: {found.reason}",) if found.reason else ()
        verdicts = found.verdicts or _unusable(folder, found.interface)
        return Sync(folder, verdicts=(*wrong, *verdicts), notes=notes)
    return _mended(folder, manifest, account=found.account, interface=found.interface, prune=prune)


def _unusable(folder: ToolFolder, interface: Interface) -> tuple[Verdict, ...]:
    """Return why what the module has under the tool's name is no function."""
    case = agreement.AgreementCase(folder.name, {}, interface)
    return tuple(ask((agreement.no_function, agreement.not_a_function), case))


def _mended(
    folder: ToolFolder,
    manifest: Manifest | None,
    *,
    account: Account,
    interface: Interface,
    prune: bool,
) -> Sync:
    if manifest is None:
        document = manifest_of(folder.name, account)
        before, after = None, f"{rendered(document)}\n"
    else:
        document = mended(manifest.document, account, name=folder.name, prune=prune)
        before, after = manifest.text, edited(manifest.text, document)
    new = Manifest(document, after)
    verdicts = (*_unsound(folder, new), *_left(new, account, interface))
    return Sync(folder, before, after, verdicts, notes=tuple(_notes(document, account)))


def _unsound(folder: ToolFolder, manifest: Manifest) -> tuple[Verdict, ...]:
    """Return why a manifest would be rejected whatever its function is like."""
    problems = published("tool").problems(manifest.document)
    found = manifest_verdicts(ManifestCase(folder, manifest.document, problems), "error")
    if not any(each.path[:1] in _SCHEMAS for each in problems):
        found += schema_verdicts(manifest.document, "error")
    if not has_errors(found):
        found += example_verdicts(manifest)
    return tuple(found)


_SCHEMAS = (("parameters",), ("output_schema",))


def _left(manifest: Manifest, account: Account, interface: Interface) -> Iterator[Verdict]:
    """Yield what is still wrong between a mended manifest and its function."""
    for verdict in agreement.disagreements(manifest, interface):
        if verdict.rule.severity == "error":
            yield verdict._replace(finding=verdict.finding._replace(help=_advice(verdict, account)))
    yield from agreement.contradictions(manifest, interface)
    yield from visit(manifest.parameters, BASE, _OF_DEFAULTS).verdicts()


_OF_DEFAULTS = RuleTable(unfit_default, default_on_required)
"""Rules on defaults that are never used, so that the function's own is, or none."""


def _advice(verdict: Verdict, account: Account) -> str | None:
    if verdict.rule in {agreement.required_not_taken, agreement.optional_not_taken}:
        return "add the parameter, or remove the property: sovl-tools sync --prune"
    place = verdict.finding.place
    error = account.errors.get(place.parameter or "") if isinstance(place, ModulePlace) else None
    if verdict.rule is agreement.parameter_not_sent and error is not None:
        return f"add a property by hand, because no schema can be made of it: {error.message}"
    return verdict.finding.help


def _notes(document: Mapping[str, JSON], account: Account) -> Iterator[str]:
    """Yield what is not in the manifest, and why; a call can do without it."""
    for name, error in account.errors.items():
        if name not in document["parameters"]["properties"] and account.has_default(name):
            yield f"{name!r} is left out: {error.message}"
    yield from account.notes
    yield from (error.message for error in account.losses)
