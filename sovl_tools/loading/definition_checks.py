"""From an object in Python to candidates: functions, methods, classes, definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from sovl_tools.authoring.aitool import AITool
from sovl_tools.authoring.defining import is_method
from sovl_tools.loading.checks import code
from sovl_tools.loading.checks.code import CodeCase
from sovl_tools.loading.checks.folder import unfit
from sovl_tools.loading.checks.manifest import value_words, without_repeats
from sovl_tools.loading.taking import disagreements
from sovl_tools.loading.verdicts import schema_verdicts
from sovl_tools.loading.whereabouts import whereabouts_of
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, ModulePlace, Rule, Verdict
from sovl_tools.model.document import JSON, dotted
from sovl_tools.model.errors import InferenceError
from sovl_tools.model.folder import KEYS
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.schema.engine import published


def checked(definition: ToolDefinition, location: str) -> Candidate:
    """Return the candidate of a definition, checked as a manifest would be.

    ``location`` is what tells the candidate from all others.
    """
    try:
        found = [*_diagnostics(definition)]
    except InferenceError as error:
        found = [not_inferable(definition.function, error, definition.name)]
    errors = tuple(str(each) for each in found if each.severity == "error")
    place = whereabouts_of(_subject(definition))
    if errors:
        return rejected(definition.name, location, found)
    return Candidate(
        definition.name,
        place.path,
        location,
        "loaded",
        definition,
        definition.activation_phrases,
        has_own_phrases=True,
        actions=tuple(definition.step_handlers),
        diagnostics=tuple(found),
        line=place.line,
        column=place.column,
    )


def rejected(name: str, location: str, found: list[Diagnostic]) -> Candidate:
    """Return the candidate of something that can't be a tool."""
    reasons = tuple(str(each) for each in found if each.severity == "error")
    first = found[0]
    return Candidate(
        name,
        first.path,
        location,
        "rejected",
        diagnostics=tuple(found),
        reasons=reasons,
        line=first.line,
        column=first.column,
    )


def not_inferable(function: Any, error: InferenceError, name: str) -> Diagnostic:
    """Return the diagnostic of a function whose parameters can't be expressed."""
    message = error.message if error.parameter is None else f"{error.parameter!r}: {error.message}"
    return diagnosed(
        code.not_inferable, CodeCase(message, error.help), function, name, error.parameter
    )


def diagnosed(
    rule: Rule, case: CodeCase, value: Any, name: str | None, parameter: str | None = None
) -> Diagnostic:
    """Return what a rule says of a case, at the place of a function or a class."""
    (finding,) = rule.check(case)
    place = whereabouts_of(value, parameter)
    return Diagnostic(rule.code, rule.severity, finding.message, finding.help, name, *place)


def _diagnostics(definition: ToolDefinition) -> Iterator[Diagnostic]:
    problems = [*_problems(definition)]
    for message, advice in problems:
        case = CodeCase(message, advice)
        yield diagnosed(code.invalid_definition, case, _subject(definition), definition.name)
    if is_method(definition.function):
        yield not_inferable(definition.function, _without_object(definition), definition.name)
    elif not problems:
        yield from map(partial(_disagreement, definition), disagreements(definition))
    for parameter, message in definition.remarks:
        words = (
            f"{definition.name!r} {message}" if parameter is None else f"{parameter!r}: {message}"
        )
        yield diagnosed(
            code.weak_description, CodeCase(words), definition.function, definition.name, parameter
        )


def _subject(definition: ToolDefinition) -> Any:
    """Return what an author has written to make the tool."""
    instance = definition.instance
    function: Any = definition.function
    is_whole = isinstance(instance, AITool) or not callable(function)
    return type(instance) if is_whole else function


def _disagreement(definition: ToolDefinition, verdict: Verdict) -> Diagnostic:
    """Return what a rule for folders says of a definition, which has a schema but no manifest."""
    rule, finding = verdict
    function: Any = definition.function
    parameter = finding.place.parameter if isinstance(finding.place, ModulePlace) else None
    message, advice = (
        text and text.replace("the manifest", "the schema")
        for text in (finding.message, finding.help)
    )
    place = whereabouts_of(function if callable(function) else _subject(definition), parameter)
    return Diagnostic(rule.code, rule.severity, str(message), advice, definition.name, *place)


def _without_object(definition: ToolDefinition) -> InferenceError:
    owner = definition.function.__qualname__.rpartition(".")[0]
    words = "nothing supplies the object that the method belongs to"
    return InferenceError(owner, "self", words, f"register an instance of {owner}")


def _problems(definition: ToolDefinition) -> Iterator[tuple[str, str | None]]:
    """Yield what a manifest of the same content would be told, with its place in the words."""
    try:
        document = _document(definition)
    except (TypeError, ValueError) as error:
        yield f"the definition is no JSON: {error}", None
        return
    reason = unfit(str(definition.name))
    if reason is not None:
        yield f"{definition.name!r} can't name a tool: {reason}", "choose another one"
    every = without_repeats(published("tool").problems(document))
    problems = [each for each in every if reason is None or each.path != ("name",)]
    for problem in problems:
        message, advice = value_words(problem)
        key = dotted(problem.path)
        yield message if key in message else f"{key!r}: {message}", advice
    if not problems:
        yield from _schema_problems(document)


def _schema_problems(document: dict[str, JSON]) -> Iterator[tuple[str, str | None]]:
    for _, finding in schema_verdicts(document, "error"):
        path = dotted(finding.place.path) if isinstance(finding.place, ManifestPlace) else ""
        yield f"{path!r}: {finding.message}", finding.help


def _document(definition: ToolDefinition) -> dict[str, JSON]:
    fields: Mapping[str, Any] = {
        key: getattr(definition, key) for key in sorted(KEYS) if hasattr(definition, key)
    }
    given = {key: value for key, value in fields.items() if value not in (None, (), {})}
    given["parameters"] = without_functions(definition.parameters)
    given.setdefault("description", definition.description)
    plain: dict[str, JSON] = json.loads(json.dumps(given, default=_as_json, allow_nan=False))
    return plain


def _as_json(value: Any) -> JSON:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r:.60} is of type {type(value).__name__}")
