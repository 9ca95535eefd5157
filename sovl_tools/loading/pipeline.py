"""The pipeline for one folder, in the order of the data flow."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sovl_tools.annotations.conversion import converter_of
from sovl_tools.annotations.kind import ConversionError
from sovl_tools.loading.import_errors import import_verdicts
from sovl_tools.loading.interface import (
    Interface,
    inspect_module,
    missing_library,
    parse_module,
    sibling_imports,
)
from sovl_tools.loading.leaks import ImportState
from sovl_tools.loading.location import Locator
from sovl_tools.loading.lock import lock_verdicts
from sovl_tools.loading.modules import Sources, remember, use
from sovl_tools.loading.requirements import unmet, unmet_by_platform
from sovl_tools.loading.rules import agreement, description, drift, module, offer, schema
from sovl_tools.loading.rules import folder as folder_rules
from sovl_tools.loading.rules import manifest as manifest_rules
from sovl_tools.loading.rules.agreement_case import AgreementCase
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.rules.manifest import ManifestCase
from sovl_tools.loading.rules.schema import ExampleCase, invalid_example
from sovl_tools.loading.sources import (
    Contents,
    Snapshot,
    listed,
    read_folder,
)
from sovl_tools.model.catalog import Candidate, Status
from sovl_tools.model.definition import (
    Deferred,
    DeferredHandler,
    StepHandler,
    ToolDefinition,
    deprecation,
)
from sovl_tools.model.diagnostic import (
    Diagnostic,
    Verdict,
    ask,
    has_errors,
    internal_diagnostic,
    internal_verdict,
)
from sovl_tools.model.document import copied
from sovl_tools.model.folder import FIELDS, Manifest, Settings, ToolFolder, name_problem
from sovl_tools.model.redaction import redact, variables_of
from sovl_tools.schema.engine import compile_schema, published
from sovl_tools.schema.names import argument_names
from sovl_tools.schema.problem import Validator
from sovl_tools.signature.signature import call_schema

_LOGGER = logging.getLogger("sovl_tools")
_SILENT = Interface()
_NO_HANDLERS: Mapping[str, StepHandler] = {}


@dataclass(frozen=True, eq=False)
class CheckedFolder:
    """A folder whose manifest has been checked.

    Attributes:
        folder: where it is.
        case: the manifest, and the problems that its meta-schema finds.
        manifest: the same without the rejected keys, so that no rule reads them.
        verdicts: the findings so far.
        has_schemas: whether the parameters and the output's schema can be relied on.
        source: the module's text, if it was read.
        agreed: the comparison of manifest and module, once that was checked for errors.
    """

    folder: ToolFolder
    case: ManifestCase
    manifest: Manifest
    verdicts: tuple[Verdict, ...]
    has_schemas: bool
    source: bytes | None = None
    agreed: AgreementCase | None = None

    @property
    def has_errors(self) -> bool:
        """Whether the tool can't be loaded."""
        return has_errors(self.verdicts)

    def with_more(self, verdicts: Iterable[Verdict]) -> CheckedFolder:
        """Return the folder with more verdicts."""
        return replace(self, verdicts=(*self.verdicts, *verdicts))

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The load's findings, and all warnings; they are found when this is first read."""
        locator = Locator(self.folder, self.manifest.text, self.source)
        try:
            return locator.diagnostics([*self.verdicts, *warnings_of(self)])
        except Exception as error:  # noqa: BLE001 - the barrier: the other tools are reported
            return (internal_diagnostic(error, self.folder.path, self.folder.name),)


def load_folder(
    folder: ToolFolder, settings: Settings, existing: Mapping[str, StepHandler] = _NO_HANDLERS
) -> Candidate:
    """Take one folder through the whole pipeline, as ``load_contents`` does."""
    return load_contents(read_folder(folder, settings), settings, existing)


def load_contents(
    contents: Contents, settings: Settings, existing: Mapping[str, StepHandler] = _NO_HANDLERS
) -> Candidate:
    """Make a tool of the contents of its folder. All problems become diagnostics.

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
            return rejected(folder, [*verdicts, *_unreadable(folder, reading)])
        verdicts += reading.verdicts
        if reading.manifest is None:
            return rejected(folder, verdicts)
        checked = check_manifest(folder, reading.manifest, verdicts)
        return _load(checked, contents, settings, existing)
    except Exception as error:  # noqa: BLE001 - the barrier: a failing tool doesn't affect others
        return rejected(folder, [internal_verdict(error)])


def _load(
    checked: CheckedFolder,
    contents: Contents,
    settings: Settings,
    existing: Mapping[str, StepHandler],
) -> Candidate:
    """Take a folder whose manifest has been checked through the rest: import, or parse."""
    folder, document, snapshot = checked.folder, checked.manifest.document, contents.snapshot
    if settings.locked is not None and isinstance(snapshot, Snapshot):
        # of the very bytes that run, not of the current files
        manifest = checked.manifest._replace(document=checked.case.document)
        checked = checked.with_more(lock_verdicts(settings.locked, manifest, snapshot))
        snapshot = snapshot._replace(locked=settings.locked.get(folder.name, {}))
    if document.get("enabled", True) is False:
        return _candidate(checked, "disabled", reasons=('its manifest says "enabled": false',))
    if isinstance(snapshot, Unreadable):
        return _candidate(checked.with_more(_unreadable(folder, snapshot)), "rejected")
    checked = replace(checked, source=snapshot.main)
    # no module runs that would be rejected anyway: its effects at import can't be undone
    if checked.has_errors:
        return _candidate(_parsed(checked)[0], "rejected")
    missing = unmet(document) + unmet_by_platform(document)
    if missing or not settings.imports:
        return _parse(checked, missing)
    import_later = settings.defer and settings.defer(contents, settings)
    if import_later is not None:
        deferred = _defer(checked, snapshot, import_later, contents.digest)
        if deferred is not None:
            return deferred
    return _import(checked, snapshot, existing)


def _unreadable(folder: ToolFolder, failure: Unreadable) -> list[Verdict]:
    """Return why a file can't be read: perhaps it has another name, or is missing."""
    try:
        found = ask(folder_rules.RULES, listed(folder)) if failure.is_absent else []
    except OSError as error:
        found, failure = [], Unreadable("", f"can't be listed: {error.strerror}")
    return found or ask((folder_rules.unreadable_file,), failure)


def check_manifest(
    folder: ToolFolder, manifest: Manifest, verdicts: Sequence[Verdict] = ()
) -> CheckedFolder:
    """Check a manifest and its schemas for errors; ``verdicts`` are the findings so far."""
    document, verdicts = manifest.document, [*verdicts]
    # no rule checks again the meta-schema's part, or reads a key that it rejects
    problems = published("tool").problems(document)
    case = ManifestCase(folder, document, problems)
    verdicts += ask(manifest_rules.RULES, case, severity="error")
    refused = {problem.path[0] for problem in problems if problem.path} if problems else set()
    if refused:
        readable = {key: value for key, value in document.items() if key not in refused}
        manifest = manifest._replace(document=readable)
    has_schemas = "parameters" in document and refused.isdisjoint(("parameters", "output_schema"))
    if has_schemas:
        found = schema.errors_of(document)
        verdicts += found.verdicts
        if "examples" in document and not has_errors(verdicts):
            refusals = _refused(example_inputs(manifest), found.validators["parameters"])
            verdicts += ask((invalid_example,), *refusals)
    return CheckedFolder(folder, case, manifest, tuple(verdicts), has_schemas)


def example_inputs(manifest: Manifest) -> list[ExampleCase]:
    """Return the inputs of the examples that are arguments."""
    found = []
    for index, example in enumerate(manifest.document.get("examples", ())):
        given = example["input"]
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                continue  # text that isn't a JSON object is only shown
        if isinstance(given, dict):
            found.append(ExampleCase(("examples", index, "input"), given))
    return found


def _refused(examples: Iterable[ExampleCase], validator: Validator) -> list[ExampleCase]:
    """Return the examples that a schema rejects, with the reasons."""
    cases = ((each, validator.problems(each.arguments)) for each in examples)
    return [each._replace(problems=problems) for each, problems in cases if problems]


def call_verdicts(manifest: Manifest, interface: Interface) -> list[Verdict]:
    """Return the findings about inputs of examples that a call rejects although the schema doesn't.

    It rejects arguments that the function doesn't take, or can't convert.
    """
    names = argument_names(manifest.parameters).places.keys()
    signature, function = interface.signature, interface.function
    if signature is None:
        return []
    examples = example_inputs(manifest)
    # a call rejects only names that the parameters don't list
    doubtful = [each for each in examples if not each.arguments.keys() <= names]
    found: list[ExampleCase] = []
    if doubtful and (signature.is_certain or function is not None):
        validator = compile_schema(call_schema(manifest.parameters, signature))
        found = _refused(doubtful, validator)
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


def _import(
    checked: CheckedFolder, snapshot: Snapshot, existing: Mapping[str, StepHandler]
) -> Candidate:
    """Run the module and make the tool; without one the module is forgotten again."""
    folder, manifest = checked.folder, checked.manifest
    with use(snapshot) as generation:
        before = ImportState.now()
        try:
            interface = inspect_module(generation.run(), folder.name, existing)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - logged without secrets, and reported
            _log(error, checked)
            return _candidate(checked.with_more(import_verdicts(error, folder)), "rejected")
        finally:
            leaked = before.clean(folder, snapshot.main)
        if any(each in snapshot.main for each in (b"sys.path", b"addsitedir")):
            leaked += sibling_imports(snapshot.main, folder).absolute
        by_file = {each.sibling: each for each in reversed(leaked)}  # one failure for each
        checked = checked.with_more(
            ask((module.absolute_sibling_import,), *reversed(by_file.values()))
        )
        checked = _compared(checked, interface)
        if checked.has_errors:
            return _candidate(checked, "rejected")
        definition = bind(manifest, interface, source=folder.path)
        generation.keep_for(definition, Sources(manifest.text, snapshot))
    return _candidate(checked, "loaded", interface=interface, definition=definition)


def _log(error: BaseException, checked: CheckedFolder) -> None:
    """Log the traceback of an import."""
    if not _LOGGER.isEnabledFor(logging.DEBUG):
        return
    trace = "".join(traceback.format_exception(error))
    secrets = variables_of(checked.manifest.document.get("requires"))
    _LOGGER.debug("importing %s failed\n%s", checked.folder.path, redact(trace, secrets))


def _parse(checked: CheckedFolder, missing: tuple[str, ...]) -> Candidate:
    """Check the module's text without running it."""
    checked, interface = _parsed(checked)
    status: Status = "unavailable" if missing else "loaded"
    return _candidate(checked, status, interface=interface, reasons=missing)


def _defer(
    checked: CheckedFolder,
    snapshot: Snapshot,
    import_later: Callable[[], ToolDefinition],
    code: str,
) -> Candidate | None:
    """Make the tool of its module's text; None if that doesn't tell all, or has errors."""
    manifest = checked.manifest
    checked, interface = _parsed(checked)
    if checked.has_errors or interface.undecided or interface.signature is None:
        return None
    if missing_library(checked.source or b""):
        return None  # importing it now fails, and says how
    takes_any = interface.signature.takes_any_keyword
    deferred = Deferred(import_later, code, takes_any_keyword=takes_any)
    handlers: dict[str, StepHandler] = {
        action: DeferredHandler(deferred, action) for action in interface.actions
    }
    interface = interface._replace(function=deferred, step_handlers=handlers)
    definition = bind(manifest, interface, source=checked.folder.path)
    remember(definition, Sources(manifest.text, snapshot))
    return _candidate(checked, "loaded", interface=interface, definition=definition)


def _parsed(checked: CheckedFolder) -> tuple[CheckedFolder, Interface]:
    """Find the errors in a module's text; return its interface, too."""
    folder, source = checked.folder, checked.source or b""
    try:
        interface = parse_module(source, folder.name)
        siblings = sibling_imports(source, folder)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, SyntaxError):  # named as an import would have done
            error.filename = f"{folder.location}/{folder.module_name}"
        return checked.with_more(import_verdicts(error, folder)), _SILENT
    found = ask((module.absolute_sibling_import,), *siblings.absolute)
    found += ask((module.import_failed,), *siblings.missing)
    checked = checked.with_more(found)
    # without a name that a function could have, the module isn't searched for one
    is_named = checked.manifest.document.get("name") == folder.name and not name_problem(
        folder.name
    )
    if checked.has_schemas and is_named:
        checked = _compared(checked, interface)
    return checked, interface


def _compared(checked: CheckedFolder, interface: Interface) -> CheckedFolder:
    """Find errors between a manifest and its module, and keep the comparison for warnings."""
    agreed = AgreementCase.between(checked.manifest, interface)
    if agreed.converted:  # calls reject some values
        agreed = agreed.with_values()
    found = ask(agreement.RULES, agreed, severity="error")
    case = offer.OfferCase(interface, checked.manifest.phrases)
    found += ask(offer.RULES, case, severity="error")
    # with a schema that is rejected, no engine may ever answer
    if not (checked.has_errors or has_errors(found)):
        found += call_verdicts(checked.manifest, interface)
    return replace(checked, agreed=agreed, verdicts=(*checked.verdicts, *found))


def warnings_of(checked: CheckedFolder) -> list[Verdict]:
    """Find what stops no load."""
    found = ask(manifest_rules.RULES, checked.case, severity="warning")
    found += description.verdicts(checked.manifest.document)
    if checked.has_schemas:
        found += schema.warnings_of(checked.case.document)
        examples = [] if deprecation(checked.case.document) else example_inputs(checked.manifest)
        cases = [(each, checked.manifest.parameters) for each in examples]
        found += ask((schema.deprecated_argument,), *cases)
    if checked.agreed is not None:
        agreed = (
            checked.agreed if checked.agreed.implied is not None else checked.agreed.with_values()
        )
        found += ask(agreement.RULES, agreed, severity="warning")
        found += drift.drift_verdicts(checked.manifest, agreed)
        manifest = checked.manifest
        case = offer.OfferCase(
            agreed.interface, manifest.phrases, checked.source or b"", manifest.parameters
        )
        found += ask(offer.RULES, case, severity="warning")
    return found


def bind(manifest: Manifest, interface: Interface, *, source: str) -> ToolDefinition:
    """Return the tool; everything that it is made of has passed its checks."""
    document = manifest.document
    given: dict[str, Any] = {
        key: tuple(document[key]) if isinstance(document[key], list) else document[key]
        for key in FIELDS
        if key in document
    }
    given["activation_phrases"] = _phrases(manifest, interface)
    return ToolDefinition(
        document["name"],
        document["description"],
        document["parameters"],
        interface.function,
        step_handlers=interface.step_handlers,
        source=source,
        **given,
    )


def _phrases(manifest: Manifest, interface: Interface) -> tuple[str, ...]:
    """Return the phrases that count: the module's win over the manifest's."""
    return tuple(interface.phrases) if interface.has_phrases else manifest.phrases


def _candidate(
    checked: CheckedFolder,
    status: Status,
    *,
    interface: Interface = _SILENT,
    definition: ToolDefinition | None = None,
    reasons: tuple[str, ...] = (),
) -> Candidate:
    """Return the candidate of a folder: a rejected one if there are errors."""
    folder = checked.folder
    aliases = tuple(checked.manifest.document.get("aliases", ()))
    errors = [each for each in checked.verdicts if each.rule.severity == "error"]
    if errors:
        located = Locator(folder, checked.manifest.text, checked.source).diagnostics(errors)
        reasons = tuple(map(str, located))
        place = folder.path, folder.location
        return Candidate(
            folder.name, *place, "rejected", reasons=reasons, lint=checked, aliases=aliases
        )
    return Candidate(
        folder.name,
        folder.path,
        folder.location,
        status,
        definition,
        phrases=_phrases(checked.manifest, interface),
        has_own_phrases=interface.has_phrases,
        actions=interface.actions,
        reasons=reasons,
        description=checked.manifest.document.get("description", ""),
        lint=checked,
        aliases=aliases,
        replaced_by=checked.manifest.document.get("replaced_by"),
    )


def rejected(folder: ToolFolder, verdicts: Sequence[Verdict]) -> Candidate:
    """Return the candidate of a folder that could not be read, or failed."""
    found = Locator(folder).diagnostics(verdicts)
    reasons = tuple(str(each) for each in found if each.severity == "error")
    place = folder.path, folder.location
    return Candidate(folder.name, *place, "rejected", found=found, reasons=reasons)
