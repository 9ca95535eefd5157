"""From a function, or any other callable, to its signature."""

from __future__ import annotations

import inspect
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from sovl_tools.annotations.hints import compile_annotation, read_annotations
from sovl_tools.model.functions import layers
from sovl_tools.signature.signature import (
    ANYTHING,
    HIDDEN,
    REQUIRED,
    Annotation,
    Parameter,
    ParameterKind,
    Shape,
    Signature,
    conventional,
    from_object,
    from_text,
)

_UNANNOTATED = Annotation()
_KINDS: dict[Any, ParameterKind] = {
    inspect.Parameter.POSITIONAL_ONLY: "positional_only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional_or_keyword",
    inspect.Parameter.VAR_POSITIONAL: "var_positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword_only",
    inspect.Parameter.VAR_KEYWORD: "var_keyword",
}


def from_function(value: Any) -> Signature:
    """Return how a value can be called.

    A decorator with ``**kwargs`` may do anything with them. So the parameters of the function that
    it wraps are only likely ones, and the signature is not certain.
    """
    function, is_certain = value, True
    for _ in range(_MOST_LAYERS):
        attributes = function.__dict__ if type(function) is FunctionType else _ODD
        if "__signature__" in attributes:
            break
        if "__wrapped__" not in attributes or not _is_open(function):
            return Signature(_parameters(function), is_certain=is_certain)
        function, is_certain = attributes["__wrapped__"], False
    if isinstance(value, type):
        return Signature(shape="class")
    return _inspect(value) if callable(value) else Signature(shape="value")


_MOST_LAYERS = 64
_ODD = {"__signature__": "of what is no plain function"}


def _is_open(function: FunctionType) -> bool:
    return bool(function.__code__.co_flags & inspect.CO_VARKEYWORDS)


def _parameters(function: FunctionType) -> tuple[Parameter, ...]:
    """Return the parameters from the code object, which is many times faster than inspect."""
    code = function.__code__
    positional, names, flags = code.co_argcount, code.co_varnames, code.co_flags
    try:
        annotations = function.__annotations__
    except NameError:  # since Python 3.14 reading them evaluates them
        annotations = read_annotations(inspect.get_annotations, function, "format")
    said = {name: _read(each, function) for name, each in annotations.items() if name != "return"}
    found: list[Parameter] = []
    defaults = function.__defaults__ or ()
    bare = positional - len(defaults)
    for index, name in enumerate(names[:positional]):
        only = index < code.co_posonlyargcount
        kind: ParameterKind = "positional_only" if only else "positional_or_keyword"
        default = REQUIRED if index < bare else defaults[index - bare]
        found.append(Parameter(name, kind, default, said.get(name, _UNANNOTATED)))
    last = positional + code.co_kwonlyargcount
    if flags & inspect.CO_VARARGS:
        annotation = said.get(names[last], _UNANNOTATED)
        found.append(Parameter(names[last], "var_positional", REQUIRED, annotation))
        last += 1
    named = function.__kwdefaults__ or {}
    for name in names[positional : positional + code.co_kwonlyargcount]:
        annotation = said.get(name, _UNANNOTATED)
        found.append(Parameter(name, "keyword_only", named.get(name, REQUIRED), annotation))
    if flags & inspect.CO_VARKEYWORDS:
        annotation = said.get(names[last], _UNANNOTATED)
        found.append(Parameter(names[last], "var_keyword", REQUIRED, annotation))
    return tuple(found)


def _read(annotation: Any, function: Any) -> Annotation:
    """Return what an annotation says; text is evaluated where the function was made."""
    if type(annotation) is not str:
        return from_object(annotation, partial(_look_up, function))
    try:
        value = eval(compile_annotation(annotation), function.__globals__)  # noqa: S307 - code of the function's author
    except (Exception, SystemExit):  # noqa: BLE001 - the annotation may be any expression, or none
        return from_text(annotation, partial(_look_up, function))._replace(source=annotation)
    found = from_object(value, partial(_look_up, function))
    if type(value) is str:
        return found._replace(source=annotation)
    return Annotation(annotation, found.optional, found.is_context, value)


def _look_up(function: Any, name: str) -> Any:
    """Return the value of a name in a function's code."""
    code, scope = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    if code is not None and name in code.co_freevars:
        try:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return HIDDEN  # it is not bound yet
    return scope[name] if name in scope else conventional(name)


def _inspect(value: Any) -> Signature:
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return ANYTHING
    # text in annotations was written where the innermost function was
    below = layers(value)
    parameters = tuple(
        Parameter(
            each.name,
            _KINDS[each.kind],
            REQUIRED if each.default is each.empty else each.default,
            _UNANNOTATED if each.annotation is each.empty else _read(each.annotation, below[-1]),
        )
        for each in signature.parameters.values()
    )
    shape: Shape = "function" if isinstance(value, FunctionType) else "callable"
    # A layer is a decorator that may do anything with the arguments it is given, unless it says.
    functions = (each.__func__ if type(each) is MethodType else each for each in below)
    is_hidden = any(
        type(each) is FunctionType
        and "__signature__" not in each.__dict__
        and "__wrapped__" in each.__dict__
        and _is_open(each)
        for each in functions
    )
    return Signature(parameters, shape, is_certain=not is_hidden)
