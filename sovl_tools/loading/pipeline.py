"""The pipeline for one folder, told in the order in which the data travels it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from sovl_tools.loading.binding import bind, effective_phrases, has_own_phrases, known_actions
from sovl_tools.loading.checks import file, module
from sovl_tools.loading.checks import folder as folder_checks
from sovl_tools.loading.checks.folder import unfit
from sovl_tools.loading.checks.manifest import ManifestCase
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
from sovl_tools.loading.verdicts import (
    SEVERITIES,
    case_verdicts,
    interface_cases,
    manifest_verdicts,
    schema_verdicts,
)
from sovl_tools.model.catalog import Candidate, Status
from sovl_tools.model.deferred import Deferred
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import (
    Diagnostic,
    Verdict,
    ask,
    has_errors,
    internal_diagnostic,
    internal_verdict,
)
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.interface import StepHandler
from sovl_tools.model.manifest import Manifest
from sovl_tools.schema.published import published

_LOGGER = logging.getLogger("sovl_tools")
_SILENT = Interface()
_NO_HANDLERS: Mapping[str, StepHandler] = {}

Lint: TypeAlias = Callable[[], list[Verdict]]
"""Asks what is asked only when somebody looks at the report."""


class Settings(NamedTuple):
    """How folders are loaded.

    Attributes:
        imports: False parses the modules instead of importing them.
        limit: how long importing one module may take, in seconds.
        compiles: True makes a validator of every schema, which otherwise the first call does.
    """

    imports: bool = True
    limit: float = 10.0
    compiles: bool = False


class Work(NamedTuple):
    """A folder on its way.

    Attributes:
        folder: where it is.
        manifest: what its manifest says; without the keys that the meta-schema refuses, once it
            has been checked.
        verdicts: what the checks have said so far.
        lint: what they have still to be asked when somebody looks at the report.
        source: the module's text, once it has been read.
    """

    folder: ToolFolder
    manifest: Manifest
    verdicts: list[Verdict]
    lint: list[Lint]
    source: bytes | None = None

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

    Errors are found now; warnings, and the lines and columns of all, when somebody looks at them.
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
    return _load_manifest(Work(folder, reading.manifest, verdicts, []), settings, existing)


def _load_manifest(
    work: Work, settings: Settings, existing: Mapping[str, StepHandler]
) -> Candidate:
    folder = work.folder
    work, readable = _check_manifest(work, settings)
    if not work.manifest.enabled:
        return _finished(work, "disabled", reasons=('its manifest says "enabled": false',))
    snapshot = take_snapshot(folder)
    if isinstance(snapshot, file.Unreadable):
        work.verdicts.extend(_unreadable(folder, snapshot))
        return _finished(work, "rejected")
    work = work._replace(source=snapshot.files[folder.module_name])
    missing = unmet(work.manifest.document) if work.is_sound else ()
    if settings.imports and work.is_sound and not missing:
        return _import(work, snapshot, existing)
    readable = readable and _is_named(work)
    if work.is_sound:
        return _parse(work, readable=readable, missing=missing)
    work.lint.append(lambda: _parsed_verdicts(work, readable=readable)[1])
    return _finished(work, "rejected")


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


def _check_manifest(work: Work, settings: Settings) -> tuple[Work, bool]:
    """Check the manifest and its schemas.

    Returns the work without those keys of the manifest that the meta-schema refuses, so that nobody
    reads them, and whether the parameters can be relied on.
    """
    folder, manifest, verdicts, lint, _ = work
    document = manifest.document
    problems = published("tool").problems(document)
    case = ManifestCase(folder, document, problems)
    verdicts += manifest_verdicts(case, "error")
    lint.append(partial(manifest_verdicts, case, "warning"))
    refused = {problem.path[0] for problem in problems if problem.path}
    if refused:
        kept = {key: value for key, value in document.items() if key not in refused}
        work = work._replace(manifest=manifest._replace(document=kept))
    if "parameters" not in document or not refused.isdisjoint({"parameters", "output_schema"}):
        return work, False
    verdicts += schema_verdicts(document, "error", compiles=settings.compiles)
    lint.append(partial(schema_verdicts, document, "warning"))
    if "examples" in document and work.is_sound:
        verdicts += example_verdicts(manifest)
    return work, True


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
        return _finished(work, "rejected")
    _check_interface(work, offered.interface)
    if not work.is_sound:
        return _finished(work, "rejected")
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


def _parse(work: Work, *, readable: bool, missing: tuple[str, ...]) -> Candidate:
    """Check the module by its text alone: nothing of the tool runs."""
    interface, verdicts = _parsed_verdicts(work, readable=readable)
    work.verdicts.extend(verdicts)
    status: Status = "unavailable" if missing else "loaded"
    return _finished(work, status, interface=interface, reasons=missing)


def _parsed_verdicts(work: Work, *, readable: bool) -> tuple[Interface, list[Verdict]]:
    """Parse the module, and return what it offers and what is wrong with that."""
    source = work.source or b""
    try:
        interface = parse_module(source, work.folder.name)
        siblings = sibling_imports(source, work.folder)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _SILENT, import_verdicts(_placed(error, work.folder), work.folder)
    found = [v for each in siblings for v in ask((module.plain_sibling_import,), each)]
    for severity in SEVERITIES if readable else ():
        found += case_verdicts(interface_cases(work.manifest, interface), severity)
    return interface, found


def _placed(error: BaseException, folder: ToolFolder) -> BaseException:
    """Name the module in a syntax error, as an import would have done."""
    if isinstance(error, SyntaxError):
        error.filename = f"{folder.location}/{folder.module_name}"
    return error


def _check_interface(work: Work, interface: Interface) -> None:
    """Check what the module offers against the manifest."""
    cases = interface_cases(work.manifest, interface)
    if any(each.occasions for _, each in cases):
        work.verdicts.extend(case_verdicts(cases, "error"))
    work.lint.append(partial(case_verdicts, cases, "warning"))


def _finished(
    work: Work,
    status: Status,
    *,
    definition: ToolDefinition | None = None,
    interface: Interface = _SILENT,
    reasons: tuple[str, ...] = (),
) -> Candidate:
    """Return the candidate of a folder; what is wrong is located when somebody looks."""
    folder, manifest, verdicts, lint, source = work
    if not work.is_sound:
        return rejected(folder, verdicts, lint, text=manifest.text, source=source)
    return Candidate(
        folder.name,
        folder.path,
        folder.location,
        status,
        definition,
        effective_phrases(manifest, interface.phrases),
        has_own_phrases(interface),
        known_actions(interface),
        Deferred(partial(_diagnostics, folder, verdicts, lint, manifest.text, source)),
        reasons,
    )


def rejected(
    folder: ToolFolder,
    verdicts: Sequence[Verdict],
    lint: Iterable[Lint] = (),
    *,
    text: str | None = None,
    source: bytes | None = None,
) -> Candidate:
    """Return the candidate of a folder that can't be loaded, for the errors among the verdicts."""
    errors = [each for each in verdicts if each.rule.severity == "error"]
    found = Deferred(partial(_diagnostics, folder, verdicts, lint, text, source))
    causes = partial(_diagnostics, folder, errors, (), text, source)
    return Candidate(
        folder.name,
        folder.path,
        folder.location,
        "rejected",
        diagnostics=found,
        reasons=Deferred(lambda: tuple(map(str, causes()))),
    )


def _diagnostics(
    folder: ToolFolder,
    verdicts: Iterable[Verdict],
    lint: Iterable[Lint],
    text: str | None,
    source: bytes | None,
) -> tuple[Diagnostic, ...]:
    """Ask what was left for later, and locate everything in the files as they were loaded."""
    try:
        found = [*verdicts, *(verdict for each in lint for verdict in each())]
        return Locator(folder, text, source).diagnostics(found)
    except Exception as error:  # noqa: BLE001 - the barrier, for what is worked out late
        return (internal_diagnostic(error, folder.path, folder.name),)
