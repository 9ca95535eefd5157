"""From modules to the tools in them: decorated functions and subclasses of ``AITool``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from sovl_tools.authoring.aitool import AITool, definition_of_instance
from sovl_tools.authoring.decorator import ATTRIBUTE, define, definition_of
from sovl_tools.loading.checks import code
from sovl_tools.loading.checks.code import CodeCase
from sovl_tools.loading.definition_checks import checked, diagnosed, not_inferable, rejected
from sovl_tools.loading.failures import told
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, internal_diagnostic
from sovl_tools.model.errors import InferenceError


def candidates_of(values: Iterable[Any], path: str) -> Iterator[Candidate | Diagnostic]:
    """Yield the candidates of the values that are tools, which were found at a path.

    An object that a module has only imported counts as well; whoever looks at several modules
    tells by the location that it is the same.
    """
    for value in values:
        try:
            candidate = candidate_of(value)
        except Exception as error:  # noqa: BLE001 - the barrier: no tool takes the others down
            yield internal_diagnostic(error, path, str(getattr(value, "__name__", None)))
        else:
            if candidate is not None:
                yield candidate


def members(module: ModuleType) -> list[Any]:
    """Return the tools that stand in a module, each once; of a class its instances, if any do.

    They come in the order in which the module binds them, so that of one name the first stays.
    """
    found = {id(value): value for value in [*vars(module).values()] if _is_tool(value)}
    made = {id(type(value)) for value in found.values()}
    return [each for each in found.values() if id(each) not in made and not _is_base(each, module)]


def _is_tool(value: Any) -> bool:
    if isinstance(value, type):
        return issubclass(value, AITool)
    return isinstance(value, AITool) or (inspect.isfunction(value) and hasattr(value, ATTRIBUTE))


def _is_base(value: Any, module: ModuleType) -> bool:
    """Tell whether something is a class that is only there for others to inherit from."""
    if not isinstance(value, type):
        return False
    is_elsewhere = value.__module__ != module.__name__
    return value.__name__.startswith("_") or (inspect.isabstract(value) and is_elsewhere)


def candidate_of(value: Any) -> Candidate | None:
    """Return the candidate of a function, a subclass of ``AITool`` or an instance of one.

    Of anything else it is None.
    """
    place = identity(value)
    if isinstance(value, type):
        return _of_class(value, place) if issubclass(value, AITool) else None
    if isinstance(value, AITool):
        candidate = _of_instance(value, place)
        return candidate._replace(location=f"{place}:{candidate.name}")
    return _of_function(value, place) if inspect.isroutine(value) else None


def identity(value: Any) -> str:
    """Return what tells one object from all others, in a form that lasts over a reload."""
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
        return rejected(name, place, [diagnosed(code.foreign_definition, case, function, name)])
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
        instance = _instance(kind)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the constructor is the author's code
        case = CodeCase(f"{kind.__name__}() failed: {told(error)}", "register an instance by hand")
        return _unusable(kind, case, place)
    return _of_instance(instance, place)


def _instance(kind: type[AITool]) -> AITool:
    """Return the one instance of a class that every look at its module finds again."""
    made = vars(kind).get(_INSTANCE)
    if not isinstance(made, kind):
        made = kind()
        setattr(kind, _INSTANCE, made)
    return made


_INSTANCE = "_tool_instance"


def _of_instance(instance: AITool, place: str) -> Candidate:
    try:
        definition = definition_of_instance(instance)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - its properties are the author's code
        case = CodeCase(f"{type(instance).__name__} can't be described: {told(error)}")
        return _unusable(type(instance), case, place)
    return checked(definition, place)


def _unusable(kind: type, case: CodeCase, place: str) -> Candidate:
    found = diagnosed(code.unusable_class, case, kind, kind.__name__)
    return rejected(kind.__name__, place, [found])
