"""Bringing a folder's manifest into line with its function."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from types import FunctionType
from typing import NamedTuple

from sovl_tools.loading.function_spec import FunctionSpec, function_spec, unwritable
from sovl_tools.loading.import_errors import import_verdicts, own_place
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.location import Locator
from sovl_tools.loading.modules import use
from sovl_tools.loading.pipeline import check_manifest, load_folder
from sovl_tools.loading.requirements import unmet
from sovl_tools.loading.rules import agreement
from sovl_tools.loading.rules.agreement_case import AgreementCase
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.rules.module import ImportFailure, import_stalled
from sovl_tools.loading.rules.schema import default_on_required, invalid_default
from sovl_tools.loading.sources import (
    MAX_MANIFEST_BYTES,
    Snapshot,
    read_file,
    read_manifest,
    take_snapshot,
)
from sovl_tools.model.diagnostic import (
    Diagnostic,
    ModulePlace,
    Verdict,
    ask,
    internal_diagnostic,
)
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import InferenceError, TimeLimitError
from sovl_tools.model.folder import IMPORT_TIMEOUT, Manifest, Settings, ToolFolder, name_problem
from sovl_tools.scaffolding.files import EDITOR_SCHEMA, FileEdit
from sovl_tools.scaffolding.jsonedit import MARK, edit_json, render_json
from sovl_tools.scaffolding.new_tool import HEAD, manifest_of
from sovl_tools.scaffolding.patch import insert, patch_manifest, rewordings
from sovl_tools.schema.engine import published
from sovl_tools.schema.subschemas import excess, nodes
from sovl_tools.signature.agreement import PARAMETERS
from sovl_tools.signature.returned import has_fields, returned
from sovl_tools.signature.signature import from_function
from sovl_tools.threads import Stalled, run_within

# a default that fails these rules is never written
_OF_DEFAULTS = (invalid_default, default_on_required)


class _Ways(NamedTuple):
    prune: bool
    descriptions: bool
    output_schema: bool
    head: bool


class Sync(NamedTuple):
    """A folder's manifest before and after.

    Attributes:
        folder: the folder.
        before: the manifest's text; None if the folder has no manifest.
        after: the text in line with the function; None if that is unknown.
        verdicts: problems that a new text doesn't solve.
        refusals: diagnostics that explain why the folder can't be synced.
        notes: omissions that aren't problems.
        reworded: the properties that the docstring describes in other words, and None for the tool.
        adds_options: whether optional properties are added: the author can have hidden them from
            models.
        offers_output: whether the function says the members of its result, and the manifest has no
            ``output_schema``.
    """

    folder: ToolFolder
    before: str | None = None
    after: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    refusals: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    reworded: tuple[str | None, ...] = ()
    adds_options: bool = False
    offers_output: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether the new text differs."""
        return self.after is not None and self.after != self.before

    def save(self) -> None:
        """Write the manifest; its byte order mark stays, if there is one.

        Raises:
            OSError: it can't be written, or it has changed since it was read.
        """
        data = read_file(self.folder, self.folder.manifest_name, limit=MAX_MANIFEST_BYTES)
        mark = MARK if isinstance(data, bytes) and data.startswith(MARK.encode()) else ""
        before = None if self.before is None else f"{mark}{self.before}".encode()
        path = os.path.join(self.folder.location, self.folder.manifest_name)
        FileEdit(path, before, f"{mark}{self.after}".encode()).write()

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the problems, with places in the current files."""
        return self.refusals or Locator(self.folder).diagnostics(self.verdicts)


def plan_sync(  # noqa: PLR0913 - as many as the command has
    folder: ToolFolder,
    *,
    manifest: Manifest | None = None,
    prune: bool = False,
    descriptions: bool = False,
    output_schema: bool = False,
    limit: float = IMPORT_TIMEOUT,
) -> Sync:
    """Compare a folder's manifest with its function, and return the new text; writes no file.

    Args:
        folder: the folder; its module is imported.
        manifest: to start from; the folder's by default.
        prune: remove properties that the function doesn't take.
        descriptions: take the docstring's words instead of the manifest's.
        output_schema: add the schema of the result, which the return annotation says.
        limit: the time limit of the import, in seconds.

    Raises:
        KeyboardInterrupt: the only exception that leaves the import of a tool.
    """
    try:
        schema = os.path.join(os.path.dirname(folder.location), EDITOR_SCHEMA)
        head = manifest is None and os.path.isfile(schema)
        ways = _Ways(prune, descriptions, output_schema, head)
        return _plan(folder, manifest, ways, limit=limit)
    except Exception as error:  # noqa: BLE001 - the barrier: the other tools are synced
        return Sync(folder, refusals=(internal_diagnostic(error, folder.path, folder.name),))


def _plan(folder: ToolFolder, manifest: Manifest | None, ways: _Ways, *, limit: float) -> Sync:
    is_absent = False
    if manifest is None:
        reading = read_manifest(folder)
        is_absent = isinstance(reading, Unreadable) and reading.is_absent
        manifest = None if isinstance(reading, Unreadable) else reading.manifest
    is_workable = is_absent if manifest is None else _is_workable(manifest)
    if not is_workable or name_problem(folder.name) is not None:
        return _refused(folder)
    if manifest is not None and not manifest.enabled:
        return Sync(folder, notes=('skipped: its manifest says "enabled": false',))
    snapshot = take_snapshot(folder)
    if isinstance(snapshot, Unreadable):
        return _refused(folder)
    found = _import_function(snapshot, limit=limit)
    if found.spec is not None:
        return _patch(folder, manifest, found, found.spec, ways)
    wrong = check_manifest(folder, manifest).verdicts if manifest else ()
    missing = unmet(manifest.document) if manifest else ()
    # missing requirements explain why the import failed
    if found.verdicts and missing:
        return Sync(folder, verdicts=wrong, notes=(f"skipped: {', '.join(missing)}",))
    # the tool's name isn't bound to a function, or the function's signature is unknown
    case = AgreementCase(folder.name, {}, found.interface)
    verdicts = found.verdicts or ask((agreement.missing_function, agreement.not_a_function), case)
    notes = (f"skipped: {found.reason}",) if found.reason else ()
    return Sync(folder, verdicts=(*wrong, *verdicts), notes=notes)


def _is_workable(manifest: Manifest) -> bool:
    """Return whether ``parameters`` is a valid schema but for keys that can be added."""
    problems = [
        each
        for each in published("tool").problems(manifest.document)
        if each.path[:1] in {("parameters",), ("requires",)}
    ]
    are_added = all((each.keyword, len(each.path)) == ("required", 1) for each in problems)
    return are_added and excess(manifest.document.get("parameters", {})) is None


def _refused(folder: ToolFolder) -> Sync:
    """Return the errors of a folder that can't be synced, without importing it."""
    found = load_folder(folder, Settings(imports=False)).diagnostics
    return Sync(folder, refusals=tuple(each for each in found if each.severity == "error"))


class _ImportedFunction(NamedTuple):
    """The function of a module.

    Attributes:
        interface: the function's signature, and the names of the other functions.
        spec: the manifest's content according to the function; None if it is unknown.
        returned: the schema of its result; None if it is unknown.
        reason: why it is unknown although there is a function.
        verdicts: why the import failed; empty if it succeeded.
    """

    interface: Interface = Interface()
    spec: FunctionSpec | None = None
    returned: dict[str, JSON] | None = None
    reason: str = ""
    verdicts: tuple[Verdict, ...] = ()


def _import_function(snapshot: Snapshot, *, limit: float) -> _ImportedFunction:
    """Import a folder's module within a time limit, and read the tool's function."""
    # on a separate thread, which can be abandoned
    outcome = run_within(limit, lambda: _run(snapshot))
    if isinstance(outcome, Stalled):
        place = own_place(outcome.frame, snapshot.folder)
        failure = ImportFailure(place, "", str(TimeLimitError(limit)))
        return _ImportedFunction(verdicts=tuple(ask((import_stalled,), failure)))
    return outcome


def _run(snapshot: Snapshot) -> _ImportedFunction:
    """Import the module and read its function; runs on another thread, so never interrupted."""
    name = snapshot.folder.name
    try:
        with use(snapshot) as generation:
            members = vars(generation.run())
            functions = [key for key, value in members.items() if isinstance(value, FunctionType)]
            signature = from_function(members[name]) if name in members else None
            interface = Interface(signature, names=tuple(functions), function=members.get(name))
            if signature is None or not signature.is_function:
                return _ImportedFunction(interface)
            try:
                spec = function_spec(members[name], signature)
                return _ImportedFunction(interface, spec, returned(members[name]))
            except InferenceError as error:
                return _ImportedFunction(interface, reason=str(error))
    except BaseException as error:  # noqa: BLE001 - the border where a module's failures stop
        return _ImportedFunction(verdicts=tuple(import_verdicts(error, snapshot.folder)))


def _patch(
    folder: ToolFolder,
    manifest: Manifest | None,
    imported: _ImportedFunction,
    spec: FunctionSpec,
    ways: _Ways,
) -> Sync:
    interface, returns = imported.interface, imported.returned
    reworded: Collection[str | None] = ()
    if manifest is None:
        document = {**HEAD, **manifest_of(folder.name, spec)}
    else:
        document = patch_manifest(
            manifest.document,
            spec,
            name=folder.name,
            prune=ways.prune,
            descriptions=ways.descriptions,
        )
        reworded = rewordings(document, spec)
        if ways.head and "$schema" not in document:
            document = {**HEAD, **document}
    is_offered = "output_schema" not in document and unwritable(returns) is None
    if returns is not None and is_offered and ways.output_schema:
        document = insert(document, "output_schema", _output(returns, spec), after=_BEFORE_OUTPUT)
    if manifest is None:
        before, after = None, f"{render_json(document)}\n"
    else:
        before, after = manifest.text, edit_json(manifest.text, document)
    # reported places are places in the new text
    new = Manifest(document, after)
    verdicts = [*check_manifest(folder, new).verdicts]
    for verdict in agreement.disagreements(new, interface):
        # warnings are reported as contradictions, below
        if verdict.rule.severity == "error":
            advice = _advice(verdict, spec)
            verdicts.append(verdict._replace(finding=verdict.finding._replace(help=advice)))
    verdicts += agreement.contradictions(new, interface)
    verdicts += ask(_OF_DEFAULTS, *nodes(new.parameters, PARAMETERS))
    known = manifest.document.get("parameters", {}).get("properties", {}) if manifest else {}
    added = document["parameters"]["properties"].keys() - known
    notes = [*_omitted(document, spec, is_new=manifest is None), *spec.undescribed(added)]
    adds_options = not spec.needed.issuperset(added)
    return Sync(
        folder,
        before,
        after,
        tuple(verdicts),
        notes=tuple(notes),
        reworded=tuple(reworded),
        adds_options=adds_options,
        offers_output=is_offered and not ways.output_schema and has_fields(returns or {}),
    )


def _omitted(document: Mapping[str, JSON], spec: FunctionSpec, *, is_new: bool) -> list[str]:
    """Return what a manifest omits of its function, each with the reason."""
    listed = document["parameters"]["properties"]
    notes = [
        f"{name!r} is omitted: {error.message}"
        for name, error in spec.omissible.items()
        if name not in listed
    ]
    if not is_new and not spec.signature.is_certain:
        absent = [name for name in spec.names if name not in listed]
        notes += [f"{name!r} is omitted: a decorator may supply it" for name in absent]
    return [*notes, *spec.notes, *(error.message for error in spec.losses)]


_BEFORE_OUTPUT = ("$schema", "name", "title", "description", "parameters")


def _output(returns: dict[str, JSON], spec: FunctionSpec) -> dict[str, JSON]:
    """Return the schema of a result with the docstring's words for it, as ``@tool`` does."""
    text = spec.document().returns
    return {**returns, "description": text} if text and unwritable(text) is None else returns


def _advice(verdict: Verdict, spec: FunctionSpec) -> str | None:
    place = verdict.finding.place
    error = spec.errors.get(place.parameter or "") if isinstance(place, ModulePlace) else None
    if verdict.rule is agreement.parameter_not_required and error is not None:
        return f"add a property manually, because no schema can be made of it: {error.message}"
    return verdict.finding.help
