"""From objects in Python to candidates: functions, methods, classes, definitions."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from types import ModuleType
from typing import Any

from sovl_tools.authoring.aitool import AITool, definition_of_instance
from sovl_tools.authoring.decorator import ATTRIBUTE, define, definition_of, is_method
from sovl_tools.loading.import_errors import error_text
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.location import location_of
from sovl_tools.loading.rules import agreement, description, module, schema
from sovl_tools.loading.rules.agreement_case import AgreementCase
from sovl_tools.loading.rules.manifest import value_words, without_repeats
from sovl_tools.loading.rules.module import CodeCase
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import (
    Diagnostic,
    ManifestPlace,
    ModulePlace,
    Rule,
    Verdict,
    ask,
    internal_diagnostic,
)
from sovl_tools.model.document import JSON, MAX_DEPTH, depth, dotted, json_text, value_at
from sovl_tools.model.errors import InferenceError
from sovl_tools.model.folder import KEYS, name_problem
from sovl_tools.model.redaction import variables_of, without_values
from sovl_tools.schema.dynamic import is_dynamic, without_functions
from sovl_tools.schema.engine import published
from sovl_tools.signature.agreement import differences
from sovl_tools.signature.signature import signature_for


def checked(definition: ToolDefinition, location: str) -> Candidate:
    """Return the candidate of a definition, checked as a manifest would be.

    ``location`` identifies the candidate.
    """
    try:
        document = _document(definition)
        found = [*_errors(definition, document)]
    except InferenceError as error:
        found = [not_inferable(definition.function, error, definition.name)]
        return rejected(definition.name, location, _without_secrets(found, definition))
    if found or isinstance(document, str):
        found = _without_secrets([*found, *_weaknesses(definition)], definition)
        return rejected(definition.name, location, found)
    place = location_of(_subject(definition))
    return Candidate(
        definition.name,
        place.path,
        location,
        "loaded",
        definition,
        definition.activation_phrases,
        has_own_phrases=True,
        actions=tuple(definition.step_handlers),
        lint=_Lint(definition, document),
        line=place.line,
        column=place.column,
        description=definition.description,
        aliases=definition.aliases,
        replaced_by=definition.replaced_by,
    )


def _without_secrets(found: Iterable[Diagnostic], definition: ToolDefinition) -> list[Diagnostic]:
    secrets = variables_of(definition.requires)
    return [without_values(each, secrets) for each in found]


def rejected(name: str, location: str, found: list[Diagnostic]) -> Candidate:
    """Return the candidate of something that can't be a tool."""
    reasons = tuple(str(each) for each in found if each.severity == "error")
    first = found[0]
    return Candidate(
        name,
        first.path,
        location,
        "rejected",
        found=tuple(found),
        reasons=reasons,
        line=first.line,
        column=first.column,
    )


def not_inferable(function: Any, error: InferenceError, name: str) -> Diagnostic:
    """Return the diagnostic of a function whose parameters can't be expressed."""
    message = error.message if error.parameter is None else f"{error.parameter!r}: {error.message}"
    return diagnosed(
        module.inexpressible_parameters,
        CodeCase(message, error.help),
        function,
        name,
        error.parameter,
    )


def diagnosed(
    rule: Rule, case: CodeCase, value: Any, name: str | None, parameter: str | None = None
) -> Diagnostic:
    """Return a rule's finding about a case, at the place of a function or a class."""
    (verdict,) = ask((rule,), case)
    return verdict.at(*location_of(value, parameter), tool=name)


def _errors(definition: ToolDefinition, document: dict[str, JSON] | str) -> Iterator[Diagnostic]:
    problems = [*_problems(definition, document)]
    for message, advice in problems:
        case = CodeCase(message, advice)
        yield diagnosed(module.invalid_definition, case, _subject(definition), definition.name)
    function: Any = definition.function
    if is_method(function):
        owner = function.__qualname__.rpartition(".")[0]
        words = "the method's object is missing"
        error = InferenceError(owner, "self", words, f"register an instance of {owner}")
        yield not_inferable(function, error, definition.name)
    if problems or isinstance(document, str):
        return
    broken = schema.errors_of(document).verdicts
    yield from (_placed(verdict, definition) for verdict in broken)
    # a definition with problems isn't compared with its function
    for verdict in [] if broken or is_method(function) else disagreements(definition):
        # the rules for folders speak of a manifest; this is a schema
        _, (place, message, advice, _) = verdict
        parameter = place.parameter if isinstance(place, ModulePlace) else None
        where = location_of(function if callable(function) else _subject(definition), parameter)
        found = verdict.at(*where, tool=definition.name)
        yield found._replace(
            message=message.replace("the manifest", "the schema"),
            help=advice
            and advice.replace("the manifest", "the schema").removesuffix(f": {agreement.PRUNING}"),
        )


@dataclass(frozen=True)
class _Lint:
    """A definition and its manifest; the warnings are found when they are read."""

    definition: ToolDefinition
    document: dict[str, JSON]

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All warnings."""
        try:
            found = _warnings(self.definition, self.document)
            return tuple(_without_secrets(found, self.definition))
        except Exception as error:  # noqa: BLE001 - the barrier: the other tools are reported
            return (internal_diagnostic(error, self.definition.source, self.definition.name),)


def _weaknesses(definition: ToolDefinition) -> Iterator[Diagnostic]:
    for parameter, message in definition.remarks:
        words = (
            f"{definition.name!r} {message}" if parameter is None else f"{parameter!r}: {message}"
        )
        yield diagnosed(
            module.weak_description,
            CodeCase(words),
            definition.function,
            definition.name,
            parameter,
        )


def _warnings(definition: ToolDefinition, document: dict[str, JSON]) -> Iterator[Diagnostic]:
    yield from _weaknesses(definition)
    for verdict in [*description.verdicts(document), *_schema_warnings(definition, document)]:
        yield _placed(verdict, definition)


def _placed(verdict: Verdict, definition: ToolDefinition) -> Diagnostic:
    """Return a manifest's finding at the parameter or the function that it is about."""
    place = verdict.finding.place
    path = place.path if isinstance(place, ManifestPlace) else ()
    parameter = str(path[2]) if path[:2] == ("parameters", "properties") and path[2:] else None
    return verdict.at(*location_of(_subject(definition), parameter), tool=definition.name)


def _schema_warnings(definition: ToolDefinition, document: dict[str, JSON]) -> Iterator[Verdict]:
    """Yield the warnings about schemas that no remark repeats."""
    remarked = {("parameters", "properties", name) for name, _ in definition.remarks}
    for each in schema.warnings_of(document):
        place = each.finding.place
        path = place.path if isinstance(place, ManifestPlace) else ()
        # what a function says of a property isn't known
        is_unknown = definition.is_dynamic and path[2:] and not value_at(document, path[:3])
        is_repeated = each.rule is schema.missing_type and path in remarked
        if not is_unknown and not is_repeated:
            yield each


def _subject(definition: ToolDefinition) -> Any:
    """Return the function or class that an author wrote to make the tool."""
    instance = definition.instance
    function: Any = definition.function
    is_whole = isinstance(instance, AITool) or not callable(function)
    return type(instance) if is_whole else function


def _document(definition: ToolDefinition) -> dict[str, JSON] | str:
    """Return a manifest of the same content, or why there can't be one."""
    values: Mapping[str, Any] = {
        key: getattr(definition, key) for key in sorted(KEYS) if hasattr(definition, key)
    }
    try:
        # a manifest omits default values
        given = {key: value for key, value in values.items() if value != _DEFAULTS.get(key)}
        if definition.is_dynamic:
            given["parameters"] = without_functions(definition.parameters)
        elif is_dynamic(definition.parameters):
            return "functions are in the parameters, but 'is_dynamic' is false"
        given.setdefault("description", definition.description)
        document: dict[str, JSON] = json.loads(json_text(given, _as_json))
    except RecursionError:
        return f"the definition is nested more than {MAX_DEPTH} levels deep"
    except (TypeError, ValueError) as error:
        return f"the definition isn't JSON: {error}"
    return document


def _problems(
    definition: ToolDefinition, document: dict[str, JSON] | str
) -> Iterator[tuple[str, str | None]]:
    """Yield the findings of a manifest of the same content, with the place in their words."""
    if isinstance(document, str):
        yield document, None
        return
    if depth(document) > MAX_DEPTH:
        yield f"the definition is nested more than {MAX_DEPTH} levels deep", None
        return
    handlers: Any = definition.step_handlers
    is_sound = isinstance(handlers, Mapping) and all(map(callable, handlers.values()))
    if not is_sound or not all(isinstance(each, str) for each in handlers):
        yield "'step_handlers' must be a dictionary of functions by action", None
    reason = name_problem(str(definition.name))
    if reason is not None:
        yield f"{definition.name!r} can't name a tool: {reason}", "choose another"
    every = without_repeats(published("tool").problems(document))
    problems = [each for each in every if reason is None or each.path != ("name",)]
    for problem in problems:
        message, advice = value_words(problem)
        key = dotted(problem.path)
        yield message if key in message else f"{key!r}: {message}", advice


_DEFAULTS = {
    each.name: each.default if each.default_factory is MISSING else each.default_factory()
    for each in fields(ToolDefinition)
}


def _as_json(value: Any) -> JSON:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r:.60} is of type {type(value).__name__}")


_INSTANCE = "_tool_instance"


def disagreements(definition: ToolDefinition) -> list[Verdict]:
    """Return the reasons why calls of a tool would fail, by the rules for folders.

    Its parameters are a schema. With ``preprocess``, or functions for the properties, the
    arguments are unknown; then it only must have a function.
    """
    signature = signature_for(definition)
    parameters: dict[str, Any] = {"properties": {}, **definition.parameters}
    case = AgreementCase(definition.name, parameters, Interface(signature))
    if not signature.is_function:
        return ask((agreement.not_a_function,), case)
    written = map(callable, (parameters.get("properties"), parameters.get("required")))
    is_certain = definition.preprocess is None and not any(written)
    if not is_certain:
        return []
    case = case._replace(differences=tuple(differences(signature, parameters)))
    return ask(agreement.RULES, case, severity="error")


def candidates_of(values: Iterable[Any], path: str) -> Iterator[Candidate | Diagnostic]:
    """Yield the candidates of the values that are tools, which were found at a path.

    An object that a module has only imported counts as well; a caller with several modules
    tells by the location that it is the same.
    """
    for value in values:
        try:
            candidate = candidate_of(value)
        except Exception as error:  # noqa: BLE001 - the barrier: a failing tool doesn't affect others
            yield internal_diagnostic(error, path, str(getattr(value, "__name__", None)))
        else:
            if candidate is not None:
                yield candidate


def members(module: ModuleType) -> list[Any]:
    """Return the tools in a module, each once; instead of a class its instances, if it has any.

    They are in the order of binding, so that the first of several tools of one name wins.
    """
    found: dict[int, Any] = {}
    for value in [*vars(module).values()]:
        kind = value if isinstance(value, type) else type(value)
        is_function = inspect.isfunction(value) and hasattr(value, ATTRIBUTE)
        if is_function or issubclass(kind, AITool):
            found[id(value)] = value
    instantiated = {id(type(value)) for value in found.values()}
    tools = []
    for value in found.values():
        # a class can be there only for inheritance: ``from sovl_tools import AITool``
        is_base = isinstance(value, type) and (
            value.__name__.startswith("_")
            or (inspect.isabstract(value) and value.__module__ != module.__name__)
        )
        if id(value) not in instantiated and not is_base:
            tools.append(value)
    return tools


def candidate_of(value: Any) -> Candidate | None:
    """Return the candidate of a function, a subclass of ``AITool`` or an instance of one.

    Return None for anything else.
    """
    if isinstance(value, type):
        return _of_class(value, identity(value)) if issubclass(value, AITool) else None
    if isinstance(value, AITool):
        candidate = _of_instance(value, place := identity(value))
        return candidate._replace(location=f"{place}:{candidate.name}")
    return _of_function(value, identity(value)) if inspect.isroutine(value) else None


def identity(value: Any) -> str:
    """Return an identifier of an object, which stays the same over a reload."""
    owner = value if hasattr(value, "__qualname__") else type(value)
    return f"{owner.__module__}.{owner.__qualname__}"


def _of_function(function: Any, place: str) -> Candidate:
    attached = getattr(function, ATTRIBUTE, None)
    name = str(getattr(attached, "name", function.__name__))
    if name != function.__name__:
        place = f"{place}:{name}"  # a factory makes several functions of one name
    if attached is not None and not isinstance(attached, ToolDefinition):
        words = f"its {ATTRIBUTE} is a {type(attached).__name__}, not a ToolDefinition"
        case = CodeCase(words, "decorate it with sovl_tools.tool")
        return rejected(name, place, [diagnosed(module.foreign_definition, case, function, name)])
    try:
        definition = define(function) if attached is None else definition_of(function)
    except InferenceError as error:
        return rejected(name, place, [not_inferable(function, error, name)])
    return checked(definition, place)


def _of_class(kind: type[AITool], place: str) -> Candidate:
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    if missing:
        words = f"{kind.__name__} lacks {', '.join(missing)}"
        case = CodeCase(words, "define them, or begin the name of a mere base class with '_'")
        return _unusable(kind, case, place)
    try:
        # each check its module finds the same instance
        instance = vars(kind).get(_INSTANCE)
        if not isinstance(instance, kind):
            instance = kind()
            setattr(kind, _INSTANCE, instance)
    except Exception as error:  # noqa: BLE001 - the constructor is the author's code
        case = CodeCase(
            f"{kind.__name__}() failed: {error_text(error)}", "register an instance in code"
        )
        return _unusable(kind, case, place)
    return _of_instance(instance, place)


def _of_instance(instance: AITool, place: str) -> Candidate:
    try:
        definition = definition_of_instance(instance)
    except Exception as error:  # noqa: BLE001 - its properties are the author's code
        case = CodeCase(f"{type(instance).__name__} can't be described: {error_text(error)}")
        return _unusable(type(instance), case, place)
    return checked(definition, place)


def _unusable(kind: type, case: CodeCase, place: str) -> Candidate:
    found = diagnosed(module.invalid_tool_class, case, kind, kind.__name__)
    return rejected(kind.__name__, place, [found])
