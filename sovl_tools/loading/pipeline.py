"""The pipeline for one folder, told in the order in which the data travels it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sovl_tools.loading import cleanness
from sovl_tools.loading.binding import bind, effective_phrases, has_own_phrases, known_actions
from sovl_tools.loading.checks import agreement, file, module, offer, schema
from sovl_tools.loading.checks import folder as folder_checks
from sovl_tools.loading.checks import manifest as manifest_checks
from sovl_tools.loading.checks.folder import unfit
from sovl_tools.loading.discovery import listed
from sovl_tools.loading.examples import example_verdicts
from sovl_tools.loading.failures import border_verdicts, import_verdicts
from sovl_tools.loading.inspecting import Offer, inspect_module
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.location import Locator
from sovl_tools.loading.modules import Generation, generation_of
from sovl_tools.loading.parsing import parse_module, sibling_imports
from sovl_tools.loading.reading import read_manifest
from sovl_tools.loading.requirements import unmet
from sovl_tools.loading.sources import Snapshot, take_snapshot
from sovl_tools.model.catalog import Candidate, Status
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Verdict, ask, has_errors, internal_verdict
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.interface import StepHandler
from sovl_tools.model.manifest import Manifest
from sovl_tools.model.schemanodes import nodes
from sovl_tools.validation.published import published

_LOGGER = logging.getLogger("sovl_tools")
_SILENT = Interface()
_NO_HANDLERS: Mapping[str, StepHandler] = {}


class Settings(NamedTuple):
    """How folders are loaded.

    Attributes:
        imports: False parses the modules instead of importing them.
        limit: how long importing one module may take, in seconds.
    """

    imports: bool = True
    limit: float = 10.0


class Work(NamedTuple):
    """A folder on its way: what has been made of it, and what the checks have said so far."""

    folder: ToolFolder
    manifest: Manifest
    verdicts: list[Verdict]

    @property
    def is_sound(self) -> bool:
        """Whether nothing so far keeps the tool from being loaded."""
        return not (self.verdicts and has_errors(self.verdicts))


def load_folder(
    folder: ToolFolder,
    settings: Settings,
    existing: Mapping[str, StepHandler] = _NO_HANDLERS,
) -> Candidate:
    """Take one folder through the whole pipeline. Whatever is wrong becomes a diagnostic.

    ``existing`` are the step handlers of the tools loaded before.

    Raises:
        KeyboardInterrupt: the only exception that leaves the import of a tool.
    """
    try:
        return _load_folder(folder, settings, existing)
    except Exception as error:  # noqa: BLE001 - the barrier: no tool takes the others down
        return rejected(folder, [internal_verdict(error)])


def _load_folder(
    folder: ToolFolder, settings: Settings, existing: Mapping[str, StepHandler]
) -> Candidate:
    verdicts = [] if unfit(folder.name) is None else ask((folder_checks.unfit_name,), folder)
    reading = read_manifest(folder)
    if isinstance(reading, file.Unreadable):
        return rejected(folder, [*verdicts, *_unreadable(folder, reading)])
    verdicts += reading.verdicts
    if reading.manifest is None:
        return rejected(folder, verdicts)
    return _load_manifest(Work(folder, reading.manifest, verdicts), settings, existing)


def _load_manifest(
    work: Work, settings: Settings, existing: Mapping[str, StepHandler]
) -> Candidate:
    work, readable = _check_manifest(work)
    if not work.manifest.enabled:
        return _finished(work, "disabled", reasons=('its manifest says "enabled": false',))
    snapshot = take_snapshot(work.folder)
    if isinstance(snapshot, file.Unreadable):
        return rejected(work.folder, [*work.verdicts, *_unreadable(work.folder, snapshot)])
    missing = unmet(work.manifest.document) if work.is_sound else ()
    if settings.imports and work.is_sound and not missing:
        return _import(work, snapshot, existing)
    return _parse(work, snapshot, readable=readable and _is_named(work), missing=missing)


def _unreadable(folder: ToolFolder, failure: file.Unreadable) -> list[Verdict]:
    """Return why a file can't be read: the folder may hold it under another name, or not at all."""
    try:
        found = ask(folder_checks.RULES, listed(folder)) if failure.is_absent else []
    except OSError as error:
        found = ask(file.RULES, file.Unreadable("", f"can't be listed: {error.strerror}"))
    return found or ask(file.RULES, failure)


def _is_named(work: Work) -> bool:
    """Tell whether a function could have the tool's name, so that looking for one makes sense."""
    return (
        work.manifest.document.get("name") == work.folder.name and unfit(work.folder.name) is None
    )


def _check_manifest(work: Work) -> tuple[Work, bool]:
    """Check the manifest and its schemas.

    Returns the work without those keys of the manifest that the meta-schema refuses, so that nobody
    reads them, and whether the parameters can be relied on.
    """
    document = work.manifest.document
    readable = True
    if document.get("name") != work.folder.name or not cleanness.is_plain(document):
        problems = published("tool").problems(document)
        case = manifest_checks.ManifestCase(work.folder, document, problems)
        work.verdicts.extend(ask(manifest_checks.RULES, case))
        readable = _may_be_read(case)
        refused = {problem.path[0] for problem in problems if problem.path}
        kept = {key: value for key, value in document.items() if key not in refused}
        work = work._replace(manifest=work.manifest._replace(document=kept))
        if readable:
            work.verdicts.extend(schema_verdicts(work.manifest))
    if readable and "examples" in document and work.is_sound:
        work.verdicts.extend(example_verdicts(work.manifest))
    return work, readable


def _may_be_read(case: manifest_checks.ManifestCase) -> bool:
    schemas = {"parameters", "output_schema"}
    return "parameters" in case.document and not any(
        problem.path and problem.path[0] in schemas for problem in case.problems
    )


def schema_verdicts(manifest: Manifest) -> list[Verdict]:
    """Return what is wrong with the schemas of a manifest, the meta-schema apart."""
    verdicts: list[Verdict] = []
    for key in ("parameters", "output_schema"):
        root = manifest.document.get(key)
        if root is not None:
            verdicts += _root_verdicts(manifest, key, root)
    return verdicts


def _root_verdicts(manifest: Manifest, key: str, root: dict[str, JSON]) -> list[Verdict]:
    case = schema.UncompiledCase((key,), root)
    found = ask((schema.endless_expansion,), case)
    if found:
        return found  # the other rules would ask the engine, which would never answer
    found = ask(schema.RULES, *nodes(root, (key,)))
    if schema.may_not_compile(manifest.text) and not has_errors(found):
        found += ask((schema.uncompilable,), case)
    return found


def _import(work: Work, snapshot: Snapshot, existing: Mapping[str, StepHandler]) -> Candidate:
    """Run the module and make the tool; without one the module is forgotten again."""
    generation = generation_of(snapshot)
    try:
        candidate = _imported(work, generation, existing)
        if candidate.definition is not None:
            generation.lease(candidate.definition)
        return candidate
    finally:
        generation.release()


def _imported(work: Work, generation: Generation, existing: Mapping[str, StepHandler]) -> Candidate:
    """Run the module and look at it."""
    try:
        imported = generation.run()
        offered = inspect_module(imported, work.folder.name, existing)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        _LOGGER.debug("importing %s failed", work.folder.path, exc_info=True)
        work.verdicts.extend(border_verdicts(error, work.folder))
        return rejected(work.folder, work.verdicts)
    _check_interface(work, offered.interface)
    if not work.is_sound:
        return rejected(work.folder, work.verdicts)
    return _bound(work, offered)


def _bound(work: Work, offered: Offer) -> Candidate:
    definition = bind(
        work.folder,
        work.manifest,
        function=offered.function,
        phrases=effective_phrases(work.manifest, offered.interface.phrases),
        handlers=offered.handlers,
    )
    return _finished(work, "loaded", definition=definition, interface=offered.interface)


def _parse(
    work: Work, snapshot: Snapshot, *, readable: bool, missing: tuple[str, ...]
) -> Candidate:
    """Check the module by its text alone: nothing of the tool runs."""
    source = snapshot.files[work.folder.module_name]
    try:
        interface = parse_module(source, work.folder.name)
        siblings = sibling_imports(source, work.folder)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        work.verdicts.extend(import_verdicts(_placed(error, work.folder), work.folder))
        return rejected(work.folder, work.verdicts)
    for failure in siblings:
        work.verdicts.extend(ask((module.plain_sibling_import,), failure))
    if readable:
        _check_interface(work, interface)
    status: Status = "unavailable" if missing else "loaded"
    return _finished(work, status, interface=interface, reasons=missing)


def _placed(error: BaseException, folder: ToolFolder) -> BaseException:
    """Name the module in a syntax error, as an import would have done."""
    if isinstance(error, SyntaxError):
        error.filename = f"{folder.location}/{folder.module_name}"
    return error


def _check_interface(work: Work, interface: Interface) -> None:
    """Check what the module offers against the manifest."""
    work.verdicts.extend(agreement.disagreements(work.manifest, interface))
    work.verdicts.extend(offer.offer_verdicts(interface, work.manifest.phrases))


def _finished(
    work: Work,
    status: Status,
    *,
    definition: ToolDefinition | None = None,
    interface: Interface = _SILENT,
    reasons: tuple[str, ...] = (),
) -> Candidate:
    if not work.is_sound:
        return rejected(work.folder, work.verdicts)
    folder, verdicts = work.folder, work.verdicts
    return Candidate(
        folder.name,
        folder.path,
        folder.location,
        status,
        definition,
        effective_phrases(work.manifest, interface.phrases),
        has_own_phrases(interface),
        known_actions(interface),
        Locator(folder).diagnostics(verdicts) if verdicts else (),
        reasons,
    )


def rejected(folder: ToolFolder, verdicts: Iterable[Verdict]) -> Candidate:
    """Return the candidate of a folder that can't be loaded."""
    found = Locator(folder).diagnostics(verdicts)
    reasons = tuple(str(each) for each in found if each.severity == "error")
    return Candidate(
        folder.name, folder.path, folder.location, "rejected", diagnostics=found, reasons=reasons
    )
