"""From an imported module to its interface."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple

from sovl_tools.loading.annotations import aliased, from_object
from sovl_tools.loading.checks.offer import HANDLERS, PHRASES, REGISTER, takes
from sovl_tools.model.context import ToolContext
from sovl_tools.model.functions import underlying
from sovl_tools.model.interface import (
    REQUIRED,
    Annotation,
    Interface,
    Parameter,
    ParameterKind,
    Signature,
    StepHandler,
)

_UNANNOTATED = Annotation()
_KINDS: dict[Any, ParameterKind] = {
    inspect.Parameter.POSITIONAL_ONLY: "positional_only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional_or_keyword",
    inspect.Parameter.VAR_POSITIONAL: "var_positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword_only",
    inspect.Parameter.VAR_KEYWORD: "var_keyword",
}


class Offer(NamedTuple):
    """What an imported module offers: its interface, and the things themselves.

    Attributes:
        interface: for the checks.
        function: what the tool's name is bound to.
        handlers: the step handlers by action, those of ``register_step_handlers`` included.
    """

    interface: Interface
    function: Any
    handlers: Mapping[str, StepHandler] = MappingProxyType({})


def inspect_module(module: ModuleType, name: str, existing: Mapping[str, StepHandler]) -> Offer:
    """Look at what the module of the tool of that name offers.

    ``existing`` are the step handlers of other tools, which ``register_step_handlers`` sees.

    Raises:
        BaseException: whatever the module's own code raises on being looked at.
    """
    members = vars(module)
    own, register = members.get(HANDLERS), members.get(REGISTER)
    if name in members and own is None and register is None:
        signature = signature_of(members[name])
        return Offer(Interface(signature, phrases=_phrases(members)), members[name])
    claims, removals = _register(register, existing)
    interface = Interface(
        signature=signature_of(members[name]) if name in members else None,
        names=tuple(key for key, value in members.items() if _is_own(value, module)),
        phrases=_phrases(members),
        handlers=_signatures(own) if isinstance(own, Mapping) else own,
        registration=signature_of(register) if register is not None else None,
        claims=_signatures(claims),
        removals=removals,
    )
    handlers = {**(own if isinstance(own, Mapping) else {}), **claims}
    return Offer(interface, members.get(name), handlers)


def _phrases(members: Mapping[str, Any]) -> Any:
    """Return the module's phrases, as a list of their own if they are a list of any kind."""
    phrases = members.get(PHRASES)
    if not isinstance(phrases, list | tuple):
        return phrases
    return [str.__str__(each) if isinstance(each, str) else each for each in phrases]


def _is_own(value: object, module: ModuleType) -> bool:
    return isinstance(value, FunctionType) and value.__module__ == module.__name__


def _signatures(handlers: Mapping[Any, Any]) -> dict[Any, Signature]:
    return {action: signature_of(handler) for action, handler in handlers.items()}


def _register(
    register: object, existing: Mapping[str, StepHandler]
) -> tuple[dict[str, StepHandler], tuple[str, ...]]:
    """Let the module register its handlers in a copy, and return what it added and removed."""
    if not callable(register) or not takes(signature_of(register), 1):
        return {}, ()
    handlers = dict(existing)
    register(handlers)
    claims = {
        action: handler
        for action, handler in handlers.items()
        if action not in existing or existing[action] is not handler
    }
    return claims, tuple(action for action in existing if action not in handlers)


def signature_of(value: Any) -> Signature:
    """Return how a value can be called; of a decorated function what it wraps counts."""
    if type(value) is FunctionType and not vars(value):
        return Signature(tuple(_parameters(value)))
    if isinstance(value, type):
        return Signature(shape="class")
    if not callable(value):
        return Signature(shape="value")
    return _inspected(value)


def _parameters(function: FunctionType) -> list[Parameter]:
    """Return the parameters from the code object, which is many times faster than inspect."""
    code = function.__code__
    said = {name: _said(each, function) for name, each in function.__annotations__.items()}
    positional, names = code.co_argcount, code.co_varnames
    last = positional + code.co_kwonlyargcount
    defaults = _defaults(function) if function.__defaults__ or function.__kwdefaults__ else {}
    found = [
        Parameter(
            name,
            "positional_or_keyword",
            defaults.get(name, REQUIRED),
            said.get(name, _UNANNOTATED),
        )
        for name in names[:positional]
    ]
    for index in range(code.co_posonlyargcount):
        found[index] = found[index]._replace(kind="positional_only")
    if code.co_flags & inspect.CO_VARARGS:
        annotation = said.get(names[last], _UNANNOTATED)
        found.append(Parameter(names[last], "var_positional", REQUIRED, annotation))
        last += 1
    for name in names[positional : positional + code.co_kwonlyargcount]:
        default = defaults.get(name, REQUIRED)
        found.append(Parameter(name, "keyword_only", default, said.get(name, _UNANNOTATED)))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        annotation = said.get(names[last], _UNANNOTATED)
        found.append(Parameter(names[last], "var_keyword", REQUIRED, annotation))
    return found


def _defaults(function: FunctionType) -> dict[str, Any]:
    """Return the defaults by parameter: the last positional ones, and the keyword-only ones."""
    values = function.__defaults__ or ()
    count = function.__code__.co_argcount
    names = function.__code__.co_varnames[count - len(values) : count]
    return {**dict(zip(names, values, strict=True)), **(function.__kwdefaults__ or {})}


def _said(annotation: Any, function: Any) -> Annotation:
    """Return what an annotation says; a name in a text is what the function's module calls so."""
    found = from_object(annotation)
    if type(annotation) is not str or found.types is not None:
        return found
    names = getattr(underlying(function), "__globals__", {})
    return aliased(found, lambda word: names.get(word) is ToolContext)


def _inspected(value: Callable[..., Any]) -> Signature:
    shape = "function" if isinstance(value, FunctionType) else "callable"
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return Signature((Parameter("arguments", "var_keyword"),), "callable")
    parameters = tuple(_parameter(each, value) for each in signature.parameters.values())
    return Signature(parameters, "callable" if shape == "callable" else "function")


def _parameter(parameter: inspect.Parameter, function: Any) -> Parameter:
    missing = parameter.default is inspect.Parameter.empty
    bare = parameter.annotation is inspect.Parameter.empty
    return Parameter(
        parameter.name,
        _KINDS[parameter.kind],
        REQUIRED if missing else parameter.default,
        _UNANNOTATED if bare else _said(parameter.annotation, function),
    )
