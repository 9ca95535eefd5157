"""The pipeline for one folder, in the order in which the data travels it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING
from dataclasses import fields as fields_of
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.annotations.conversion import converter_of
from sovl_tools.annotations.kind import ConversionError
from sovl_tools.loading.import_errors import border_verdicts, import_verdicts
from sovl_tools.loading.interface import Interface, inspect_module, parse_module, sibling_imports
from sovl_tools.loading.location import Locator
from sovl_tools.loading.lock import lock_verdicts
from sovl_tools.loading.modules import Sources, use
from sovl_tools.loading.requirements import unmet, unmet_by_platform
from sovl_tools.loading.rules import agreement, description, drift, module, offer, schema
from sovl_tools.loading.rules import folder as folder_rules
from sovl_tools.loading.rules import manifest as manifest_rules
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.rules.manifest import ManifestCase
from sovl_tools.loading.rules.schema import ExampleCase, invalid_example
from sovl_tools.loading.sources import Contents, Snapshot, listed, read_folder
from sovl_tools.model.catalog import Candidate, Status
from sovl_tools.model.definition import StepHandler, ToolDefinition
from sovl_tools.model.diagnostic import (
    Deferred,
    Diagnostic,
    Severity,
    Verdict,
    ask,
    has_errors,
    internal_diagnostic,
    internal_verdict,
)
from sovl_tools.model.document import JSON, copied
from sovl_tools.model.errors import SchemaError
from sovl_tools.model.folder import KEYS, Manifest, Settings, ToolFolder, name_problem
from sovl_tools.schema.engine import compile_schema, published
from sovl_tools.signature.signature import call_schema

_LOGGER = logging.getLogger("sovl_tools")
_SILENT = Interface()
_NO_HANDLERS: Mapping[str, StepHandler] = {}
SEVERITIES: tuple[Severity, ...] = ("error", "warning")
_SCHEMAS = ("parameters", "output_schema")
_EMPTY: dict[Any, Any] = {dict: MappingProxyType({}), tuple: ()}
# The other fields that a manifest doesn't name are class attributes already.
_DEFAULTS: dict[str, Any] = {
    field.name: _EMPTY[field.default_factory]
    for field in fields_of(ToolDefinition)
    if field.default_factory is not MISSING
}
_NOT_COPIED = {"name", "description", "parameters", "activation_phrases"}
_OPTIONAL = ({field.name for field in fields_of(ToolDefinition)} & KEYS) - _NOT_COPIED

Lint: TypeAlias = Callable[[], list[Verdict]]
"""Asks what is asked only when somebody looks at the report."""


class Work(NamedTuple):
    """A folder whose manifest has been checked.

    Attributes:
        folder: where it is.
        case: the manifest as it was read, and what its meta-schema refuses in it.
        manifest: the same without the refused keys, so that nobody reads them.
        verdicts: what the checks have said so far.
        has_schemas: whether the parameters and the output's schema can be relied on.
        examples: the inputs that are arguments, unless something is wrong already.
    """

    folder: ToolFolder
    case: ManifestCase
    manifest: Manifest
    verdicts: list[Verdict]
    has_schemas: bool
    examples: Sequence[ExampleCase]


def load_folder(
    folder: ToolFolder, settings: Settings, existing: Mapping[str, StepHandler] = _NO_HANDLERS
) -> Candidate:
    """Take one folder through the whole pipeline, as ``load_contents`` does."""
    return load_contents(read_folder(folder, settings), settings, existing)


def load_contents(
    contents: Contents, settings: Settings, existing: Mapping[str, StepHandler] = _NO_HANDLERS
) -> Candidate:
    """Make a tool of what was read of its folder. Whatever is wrong becomes a diagnostic.

    Errors are found now; warnings, and the lines and columns of all, when the report is read.
    ``existing`` are the step handlers of the tools loaded before.

    Raises:
        KeyboardInterrupt: the only exception that leaves the import of a tool.
    """
    folder, reading = contents.folder, contents.manifest
    try:
        is_named = name_problem(folder.name) is None
        verdicts = [] if is_named else ask((folder_rules.invalid_folder_name,), folder)
        if isinstance(reading, Unreadable):
            return rejected(folder, verdicts + _unreadable(folder, reading))
        manifest, found = reading
        verdicts += found
        if manifest is None:
            return rejected(folder, verdicts)
        work = _checked(folder, manifest, verdicts)
        return _load(work, contents.snapshot, settings, existing)
    except Exception as error:  # noqa: BLE001 - the barrier: no tool takes the others down
        return rejected(folder, [internal_verdict(error)])


def _load(
    work: Work,
    snapshot: Snapshot | Unreadable,
    settings: Settings,
    existing: Mapping[str, StepHandler],
) -> Candidate:
    """Take a folder whose manifest has been checked through the rest: import, or parse."""
    folder, document = work.folder, work.manifest.document
    if settings.locked is not None and isinstance(snapshot, Snapshot):
        # of the very bytes that run, not of what is in the files by then
        manifest = work.manifest._replace(document=work.case.document)
        work.verdicts.extend(lock_verdicts(settings.locked, manifest, snapshot))
        snapshot = snapshot._replace(locked=settings.locked.get(folder.name, {}))
    if document.get("enabled", True) is False:
        return _candidate(work, "disabled", reasons=('its manifest says "enabled": false',))
    if isinstance(snapshot, Unreadable):
        work.verdicts.extend(_unreadable(folder, snapshot))
        return _candidate(work, "rejected")
    is_sound = not has_errors(work.verdicts)
    missing: tuple[str, ...] = ()
    if is_sound and ("requires" in document or "execution" in document):
        missing = unmet(document) + unmet_by_platform(document)
    # no module runs that would be rejected anyway: what it does at import can't be undone
    if not (settings.imports and is_sound) or missing:
        return _parse(work, snapshot, missing)
    return _import(work, snapshot, existing)


def _unreadable(folder: ToolFolder, failure: Unreadable) -> list[Verdict]:
    """Return why a file can't be read: the folder may hold it under another name, or not at all."""
    try:
        found = ask(folder_rules.RULES, listed(folder)) if failure.is_absent else []
    except OSError as error:
        found, failure = [], Unreadable("", f"can't be listed: {error.strerror}")
    return found or ask((folder_rules.unreadable_file,), failure)


def _checked(folder: ToolFolder, manifest: Manifest, verdicts: list[Verdict]) -> Work:
    """Check a manifest and its schemas for errors; ``verdicts`` are those of before."""
    document = manifest.document
    # What the meta-schema guarantees, no rule asks again; what it refuses, no rule reads.
    problems = published("tool").problems(document)
    case = ManifestCase(folder, document, problems)
    verdicts += ask(manifest_rules.RULES, case, severity="error")
    refused = {problem.path[0] for problem in problems if problem.path} if problems else set()
    if refused:
        readable = {key: value for key, value in document.items() if key not in refused}
        manifest = manifest._replace(document=readable)
    has_schemas = "parameters" in document and refused.isdisjoint(("parameters", "output_schema"))
    examples: list[ExampleCase] = []
    if has_schemas:
        verdicts += schema_verdicts(document, "error")
        if "examples" in document and not has_errors(verdicts):
            examples = example_inputs(manifest)
            verdicts += example_verdicts(manifest, examples)
    return Work(folder, case, manifest, verdicts, has_schemas, examples)


def schema_verdicts(document: Mapping[str, JSON], severity: Severity) -> list[Verdict]:
    """Return what is wrong with the schemas of a manifest, which the meta-schema accepts."""
    verdicts: list[Verdict] = []
    for key in _SCHEMAS:
        if key in document:
            verdicts += schema.verdicts(document[key], (key,), severity)
    return verdicts


def example_inputs(manifest: Manifest) -> list[ExampleCase]:
    """Return the inputs of the examples that are arguments; nothing is wrong with them yet."""
    found = []
    for index, example in enumerate(manifest.document.get("examples", ())):
        given = example["input"]
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                continue  # text that is no JSON of an object is only shown
        if isinstance(given, dict):
            found.append(ExampleCase(("examples", index, "input"), given))
    return found


def example_verdicts(manifest: Manifest, examples: Sequence[ExampleCase]) -> list[Verdict]:
    """Return which inputs of examples the parameters refuse."""
    found = _refused(examples, manifest.parameters) if examples else []
    return ask((invalid_example,), *found)


def _refused(examples: Iterable[ExampleCase], schema: dict[str, JSON]) -> list[ExampleCase]:
    """Return those of the examples that a schema refuses, with the reasons."""
    try:
        validator = compile_schema(schema)  # which is what costs
    except SchemaError:
        return []
    cases = ((each, validator.problems(each.arguments)) for each in examples)
    return [each._replace(problems=problems) for each, problems in cases if problems]


def call_verdicts(
    manifest: Manifest, examples: Sequence[ExampleCase], interface: Interface
) -> list[Verdict]:
    """Return which inputs of examples a call refuses that the parameters have accepted.

    It refuses arguments that the function doesn't take, or can't convert.
    """
    names = manifest.parameters["properties"].keys()
    signature, function = interface.signature, interface.function
    if signature is None:
        return []
    # of what the parameters accept, a call refuses nothing but names that they don't list
    doubtful = [each for each in examples if not each.arguments.keys() <= names]
    found: list[ExampleCase] = []
    if doubtful and (signature.is_certain or function is not None):
        found = _refused(doubtful, call_schema(manifest.parameters, signature))
    is_plain = all(each.annotation.is_plain for each in signature.parameters)
    convert = None if is_plain or function is None else converter_of(function, names)
    if convert is not None:
        refused = {each.path for each in found}
        for each in (each for each in examples if each.path not in refused):
            try:
                convert(copied(each.arguments))
            except ConversionError as error:
                found.append(each._replace(unconvertible=tuple(error.problems)))
            except Exception:  # noqa: BLE001, S112 - the author's own code: a call will tell
                continue
    return ask((invalid_example,), *found) if found else []


def _import(work: Work, snapshot: Snapshot, existing: Mapping[str, StepHandler]) -> Candidate:
    """Run the module and make the tool; without one the module is forgotten again."""
    folder, manifest, verdicts = snapshot.folder, work.manifest, work.verdicts
    with use(snapshot) as generation:
        try:
            interface = inspect_module(generation.run(), folder.name, existing)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            _LOGGER.debug("importing %s failed", folder.path, exc_info=True)
            verdicts += border_verdicts(error, folder)
            return _candidate(work, "rejected", snapshot=snapshot)
        agreed = _agreement(manifest, interface)
        verdicts += interface_verdicts(manifest, agreed, "error")
        if work.examples and not has_errors(verdicts):
            verdicts += call_verdicts(manifest, work.examples, interface)
        # warnings stop no load, and wait until somebody looks at the report
        lint = partial(interface_verdicts, manifest, agreed, "warning", source=snapshot.main)
        if has_errors(verdicts):
            return _candidate(work, "rejected", snapshot=snapshot, lint=lint)
        definition = bind(manifest, interface, source=folder.path)
        generation.keep_for(definition, Sources(manifest.text, snapshot))
    return _candidate(
        work, "loaded", snapshot=snapshot, lint=lint, definition=definition, interface=interface
    )


def _agreement(manifest: Manifest, interface: Interface) -> agreement.AgreementCase:
    """Return how a manifest and a module agree; in values too, if a call refuses some of them."""
    case = agreement.AgreementCase.between(manifest, interface)
    return case.with_values() if case.converted else case


def interface_verdicts(
    checked: Manifest,
    agreed: agreement.AgreementCase,
    severity: Severity,
    *,
    source: bytes = b"",
) -> list[Verdict]:
    """Return what is wrong with what a module offers, held against a manifest that is sound.

    The module's text, and values that no call refuses, are looked at for warnings alone.
    """
    if severity == "warning" and agreed.implied is None:
        agreed = agreed.with_values()
    found = ask(agreement.RULES, agreed, severity=severity)
    if severity == "warning":
        found += drift.drift_verdicts(checked, agreed)
    case = offer.OfferCase(agreed.interface, checked.phrases, source)
    return found + ask(offer.RULES, case, severity=severity)


def bind(manifest: Manifest, interface: Interface, *, source: str) -> ToolDefinition:
    """Return the tool; everything that it is made of has passed its checks."""
    document = manifest.document
    fields = {
        **_DEFAULTS,
        "name": document["name"],
        "description": document["description"],
        "parameters": document["parameters"],
        "function": interface.function,
        "activation_phrases": _phrases(manifest, interface),
        "step_handlers": interface.step_handlers,
        "source": source,
    }
    for key in document.keys() & _OPTIONAL:
        value = document[key]
        fields[key] = tuple(value) if isinstance(value, list) else value
    # The generated initialiser of a frozen dataclass sets its fields one by one, at three times
    # the cost: a twentieth of the whole load.
    definition = object.__new__(ToolDefinition)
    vars(definition).update(fields)
    return definition


def _phrases(manifest: Manifest, interface: Interface) -> tuple[str, ...]:
    """Return the phrases that count: the module's win over the manifest's."""
    return tuple(interface.phrases) if interface.has_phrases else manifest.phrases


def _parse(work: Work, snapshot: Snapshot, missing: tuple[str, ...]) -> Candidate:
    """Check the module by its text alone: nothing of the tool runs."""
    folder = work.folder
    # without a name that a function could have there is no sense in looking for one
    is_named = work.manifest.document.get("name") == folder.name and not name_problem(folder.name)
    readable = work.has_schemas and is_named
    if has_errors(work.verdicts):
        lint = lambda: _parsed(work, snapshot.main, readable=readable)[1]  # noqa: E731
        return _candidate(work, "rejected", snapshot=snapshot, lint=lint)
    interface, found = _parsed(work, snapshot.main, readable=readable)
    work.verdicts.extend(found)
    status: Status = "unavailable" if missing else "loaded"
    return _candidate(work, status, snapshot=snapshot, interface=interface, reasons=missing)


def _parsed(work: Work, source: bytes, *, readable: bool) -> tuple[Interface, list[Verdict]]:
    """Parse the module, and return what it offers and what is wrong with that; nothing runs."""
    try:
        interface = parse_module(source, work.folder.name)
        siblings = sibling_imports(source, work.folder)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, SyntaxError):  # named as an import would have done
            error.filename = f"{work.folder.location}/{work.folder.module_name}"
        return _SILENT, import_verdicts(error, work.folder)
    found = ask((module.absolute_sibling_import,), *siblings.absolute)
    found += ask((module.import_failed,), *siblings.missing)
    if readable:
        agreed = _agreement(work.manifest, interface)
        for severity in SEVERITIES:
            text = source if severity == "warning" else b""
            found += interface_verdicts(work.manifest, agreed, severity, source=text)
    # with a schema that is refused, no engine may ever answer
    is_sound = readable and not has_errors((*work.verdicts, *found))
    if is_sound and work.examples:
        found += call_verdicts(work.manifest, work.examples, interface)
    return interface, found


def _candidate(  # noqa: PLR0913 - what is known of a candidate
    work: Work,
    status: Status,
    *,
    snapshot: Snapshot | None = None,
    lint: Lint | None = None,
    definition: ToolDefinition | None = None,
    interface: Interface = _SILENT,
    reasons: tuple[str, ...] = (),
) -> Candidate:
    """Return the candidate of a folder; what is wrong is located when somebody looks."""
    folder, verdicts = work.folder, work.verdicts
    source = None if snapshot is None else snapshot.main
    locate = partial(Locator, folder, work.manifest.text, source)
    late = partial(_lint, work, lint)
    if has_errors(verdicts):
        return rejected(folder, verdicts, locator=locate(), lint=late)
    return Candidate(
        folder.name,
        folder.path,
        folder.location,
        status,
        definition,
        _phrases(work.manifest, interface) if definition is None else definition.activation_phrases,
        interface.has_phrases,
        interface.actions,
        Deferred(partial(_diagnostics, locate, verdicts, late)),
        reasons,
        description=work.manifest.document.get("description", ""),
    )


def _lint(work: Work, lint: Lint | None) -> list[Verdict]:
    """Ask what was left for later: warnings, and a rejected tool's module."""
    found = ask(manifest_rules.RULES, work.case, severity="warning")
    found += description.verdicts(work.manifest.document)
    if work.has_schemas:
        found += schema_verdicts(work.case.document, "warning")
    return found if lint is None else found + lint()


def rejected(
    folder: ToolFolder,
    verdicts: Sequence[Verdict],
    *,
    locator: Locator | None = None,
    lint: Lint = list,
) -> Candidate:
    """Return the candidate of a folder that can't be loaded, for the errors among the verdicts."""
    errors = [each for each in verdicts if each.rule.severity == "error"]
    # one for both, because each reads the manifest again to find places in it
    locator = locator or Locator(folder)
    found = Deferred(partial(_diagnostics, lambda: locator, verdicts, lint))
    causes = partial(_diagnostics, lambda: locator, errors, list)
    return Candidate(
        folder.name,
        folder.path,
        folder.location,
        "rejected",
        diagnostics=found,
        reasons=Deferred(lambda: tuple(map(str, causes()))),
    )


def _diagnostics(
    locate: Callable[[], Locator], verdicts: Iterable[Verdict], lint: Lint
) -> tuple[Diagnostic, ...]:
    """Ask what was left for later, and locate everything in the files as they were loaded."""
    locator = locate()
    try:
        return locator.diagnostics([*verdicts, *lint()])
    except Exception as error:  # noqa: BLE001 - the barrier, for what is worked out late
        return (internal_diagnostic(error, locator.folder.path, locator.folder.name),)
