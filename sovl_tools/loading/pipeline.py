"""The pipeline for one folder, told in the order in which the data travels it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from sovl_tools.loading.binding import bind, effective_phrases, has_own_phrases, known_actions
from sovl_tools.loading.deferred import Deferred
from sovl_tools.loading.discovery import listed
from sovl_tools.loading.import_errors import border_verdicts, import_verdicts
from sovl_tools.loading.interface import Interface, inspect_module, parse_module, sibling_imports
from sovl_tools.loading.location import Locator
from sovl_tools.loading.modules import generation_of
from sovl_tools.loading.reading import read_manifest
from sovl_tools.loading.requirements import unmet
from sovl_tools.loading.rules import folder as folder_rules
from sovl_tools.loading.rules import manifest as manifest_rules
from sovl_tools.loading.rules import module
from sovl_tools.loading.rules.folder import Unreadable, unfit
from sovl_tools.loading.rules.manifest import ManifestCase
from sovl_tools.loading.sources import Snapshot, take_snapshot
from sovl_tools.loading.verdicts import (
    SEVERITIES,
    example_verdicts,
    interface_verdicts,
    schema_verdicts,
)
from sovl_tools.model.catalog import Candidate, Status
from sovl_tools.model.definition import StepHandler, ToolDefinition
from sovl_tools.model.diagnostic import (
    Diagnostic,
    Verdict,
    ask,
    has_errors,
    internal_diagnostic,
    internal_verdict,
)
from sovl_tools.model.folder import IMPORT_TIMEOUT, Manifest, ToolFolder
from sovl_tools.schema.engine import published

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
    limit: float = IMPORT_TIMEOUT
    compiles: bool = False


class Work(NamedTuple):
    """A folder whose manifest has been checked.

    Attributes:
        folder: where it is.
        case: the manifest as it was read, and what its meta-schema refuses in it.
        manifest: the same without the refused keys, so that nobody reads them.
        verdicts: what the checks have said so far.
        has_schemas: whether the parameters and the output's schema can be relied on.
    """

    folder: ToolFolder
    case: ManifestCase
    manifest: Manifest
    verdicts: list[Verdict]
    has_schemas: bool


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
        verdicts = [] if unfit(folder.name) is None else ask((folder_rules.unfit_name,), folder)
        reading = read_manifest(folder)
        if isinstance(reading, Unreadable):
            manifest, found = None, _unreadable(folder, reading)
        else:
            manifest, found = reading
        verdicts += found
        if manifest is None:
            return rejected(folder, verdicts)
        work = _checked(folder, manifest, verdicts, settings)
        document = work.manifest.document
        if document.get("enabled", True) is False:
            return _finished(work, "disabled", reasons=('its manifest says "enabled": false',))
        snapshot = take_snapshot(folder)
        if isinstance(snapshot, Unreadable):
            verdicts += _unreadable(folder, snapshot)
            return _finished(work, "rejected")
        is_sound = not has_errors(verdicts)
        missing = unmet(document) if is_sound and "requires" in document else ()
        if settings.imports and is_sound and not missing:
            return _import(work, snapshot, existing)
        return _parse(work, snapshot.main, missing)
    except Exception as error:  # noqa: BLE001 - the barrier: no tool takes the others down
        return rejected(folder, [internal_verdict(error)])


def _unreadable(folder: ToolFolder, failure: Unreadable) -> list[Verdict]:
    """Return why a file can't be read: the folder may hold it under another name, or not at all."""
    try:
        found = ask(folder_rules.RULES, listed(folder)) if failure.is_absent else []
    except OSError as error:
        found = ask(
            (folder_rules.unreadable,),
            Unreadable("", f"can't be listed: {error.strerror}"),
        )
    return found or ask((folder_rules.unreadable,), failure)


def _checked(
    folder: ToolFolder, manifest: Manifest, verdicts: list[Verdict], settings: Settings
) -> Work:
    """Check a manifest and its schemas for errors; ``verdicts`` are those of before."""
    document = manifest.document
    problems = published("tool").problems(document)
    case = ManifestCase(folder, document, problems)
    verdicts += manifest_rules.RULES.verdicts(case, "error")
    refused = {problem.path[0] for problem in problems if problem.path} if problems else set()
    if refused:
        kept = {key: value for key, value in document.items() if key not in refused}
        manifest = manifest._replace(document=kept)
    has_schemas = "parameters" in document and refused.isdisjoint(("parameters", "output_schema"))
    work = Work(folder, case, manifest, verdicts, has_schemas)
    if has_schemas:
        verdicts += schema_verdicts(document, "error", compiles=settings.compiles)
        if "examples" in document and not has_errors(verdicts):
            verdicts += example_verdicts(manifest)
    return work


def _import(work: Work, snapshot: Snapshot, existing: Mapping[str, StepHandler]) -> Candidate:
    """Run the module and make the tool; without one the module is forgotten again."""
    folder, manifest, verdicts = snapshot.folder, work.manifest, work.verdicts
    source = snapshot.main
    generation = generation_of(snapshot)
    try:
        try:
            interface = inspect_module(generation.run(), folder.name, existing)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            _LOGGER.debug("importing %s failed", folder.path, exc_info=True)
            verdicts += border_verdicts(error, folder)
            return _finished(work, "rejected", source=source)
        verdicts += interface_verdicts(manifest, interface, "error")
        lint = partial(interface_verdicts, manifest, interface, "warning")
        if has_errors(verdicts):
            return _finished(work, "rejected", source=source, lint=lint)
        definition = bind(manifest, interface, source=folder.path)
        generation.lease(definition)
    finally:
        generation.release()
    return _finished(
        work, "loaded", source=source, lint=lint, definition=definition, interface=interface
    )


def _parse(work: Work, source: bytes, missing: tuple[str, ...]) -> Candidate:
    """Check the module by its text alone: nothing of the tool runs."""
    folder = work.folder
    # without a name that a function could have there is no sense in looking for one
    is_named = work.manifest.document.get("name") == folder.name and unfit(folder.name) is None
    readable = work.has_schemas and is_named
    if has_errors(work.verdicts):
        lint = lambda: _parsed(work, source, readable=readable)[1]  # noqa: E731
        return _finished(work, "rejected", source=source, lint=lint)
    interface, found = _parsed(work, source, readable=readable)
    work.verdicts.extend(found)
    status: Status = "unavailable" if missing else "loaded"
    return _finished(work, status, source=source, interface=interface, reasons=missing)


def _parsed(work: Work, source: bytes, *, readable: bool) -> tuple[Interface, list[Verdict]]:
    """Parse the module, and return what it offers and what is wrong with that; nothing runs."""
    try:
        interface = parse_module(source, work.folder.name)
        siblings = sibling_imports(source, work.folder)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, SyntaxError):  # named as an import would have done
            error.filename = f"{work.folder.location}/{work.folder.module_name}"
        return _SILENT, import_verdicts(error, work.folder)
    found = [v for each in siblings for v in ask((module.plain_sibling_import,), each)]
    for severity in SEVERITIES if readable else ():
        found += interface_verdicts(work.manifest, interface, severity)
    return interface, found


def _finished(  # noqa: PLR0913 - what is known of a candidate
    work: Work,
    status: Status,
    *,
    source: bytes | None = None,
    lint: Lint | None = None,
    definition: ToolDefinition | None = None,
    interface: Interface = _SILENT,
    reasons: tuple[str, ...] = (),
) -> Candidate:
    """Return the candidate of a folder; what is wrong is located when somebody looks."""
    folder, verdicts = work.folder, work.verdicts
    text = work.manifest.text
    late = partial(_lint, work, lint)
    if has_errors(verdicts):
        return rejected(folder, verdicts, text=text, source=source, lint=late)
    if definition is None:
        phrases = effective_phrases(work.manifest, interface)
    else:
        phrases = definition.activation_phrases
    has_actions = interface.handlers is not None or interface.claims
    return Candidate(
        folder.name,
        folder.path,
        folder.location,
        status,
        definition,
        phrases,
        has_own_phrases(interface),
        known_actions(interface) if has_actions else (),
        Deferred(lambda: _diagnostics(Locator(folder, text, source), verdicts, late)),
        reasons,
    )


def _lint(work: Work, lint: Lint | None) -> list[Verdict]:
    """Ask what was left for later: warnings, and a rejected tool's module."""
    found = manifest_rules.RULES.verdicts(work.case, "warning")
    if work.has_schemas:
        found += schema_verdicts(work.case.document, "warning")
    return found if lint is None else found + lint()


def rejected(
    folder: ToolFolder,
    verdicts: Sequence[Verdict],
    *,
    text: str | None = None,
    source: bytes | None = None,
    lint: Lint = list,
) -> Candidate:
    """Return the candidate of a folder that can't be loaded, for the errors among the verdicts."""
    errors = [each for each in verdicts if each.rule.severity == "error"]
    locator = Locator(folder, text, source)
    found = Deferred(partial(_diagnostics, locator, verdicts, lint))
    causes = partial(_diagnostics, locator, errors, list)
    return Candidate(
        folder.name,
        folder.path,
        folder.location,
        "rejected",
        diagnostics=found,
        reasons=Deferred(lambda: tuple(map(str, causes()))),
    )


def _diagnostics(
    locator: Locator, verdicts: Iterable[Verdict], lint: Lint
) -> tuple[Diagnostic, ...]:
    """Ask what was left for later, and locate everything in the files as they were loaded."""
    try:
        return locator.diagnostics([*verdicts, *lint()])
    except Exception as error:  # noqa: BLE001 - the barrier, for what is worked out late
        return (internal_diagnostic(error, locator.folder.path, locator.folder.name),)
