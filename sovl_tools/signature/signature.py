"""How a function can be called: the value, and its builder from the function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from functools import partial
from types import FunctionType, MethodType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from sovl_tools.annotations.defaults import computed
from sovl_tools.annotations.hints import (
    HIDDEN,
    compile_annotation,
    is_closed,
    is_field,
    layers,
    names_of,
    read_annotations,
    resolved_or_any,
    unpacked_keywords,
)
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.schema.keywords import COMBINING
from sovl_tools.schema.names import argument_names
from sovl_tools.signature.annotation import Annotation, conventional, from_object, from_text

ParameterKind: TypeAlias = Literal[
    "positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"
]
BY_KEYWORD = frozenset({"positional_or_keyword", "keyword_only"})
"""Kinds of parameters whose argument can be passed by name."""


class Missing(Enum):
    """Values that represent "there isn't one" where None is a value."""

    REQUIRED = "the parameter has no default"
    UNKNOWN = "the default is unknown without running the module"


REQUIRED = Missing.REQUIRED
UNKNOWN = Missing.UNKNOWN


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    kind: ParameterKind = "positional_or_keyword"
    default: Any = REQUIRED
    annotation: Annotation = Annotation()


Shape: TypeAlias = Literal["function", "class", "value", "callable"]


class Signature(NamedTuple):
    """How a function can be called, read from the function or from its module's text.

    Attributes:
        parameters: in the order of the definition.
        shape: the object that the name is bound to; ``"value"`` can't be called at all.
        is_certain: False if calls go through a decorator that may supply arguments, or take some
            parameters; the parameters are the wrapped function's.
    """

    parameters: tuple[Parameter, ...] = ()
    shape: Shape = "function"
    is_certain: bool = True

    @property
    def is_function(self) -> bool:
        """Whether it belongs to a function or a callable object, not to a class or a value."""
        return self.shape in {"function", "callable"}

    @property
    def takes_any_keyword(self) -> bool:
        """Whether the function has ``**kwargs``."""
        return any(parameter.kind == "var_keyword" for parameter in self.parameters)

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names of the parameters that receive a ``ToolContext``."""
        return tuple(each.name for each in self.parameters if each.annotation.is_context)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the parameters that can be given by keyword and have no default."""
        return tuple(
            each.name
            for each in self.parameters
            if each.kind in BY_KEYWORD and each.default is REQUIRED
        )


ANYTHING = Signature((Parameter("arguments", "var_keyword"),), "callable")
"""The signature of an unknown callable."""

_KINDS: dict[Any, ParameterKind] = {
    inspect.Parameter.POSITIONAL_ONLY: "positional_only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional_or_keyword",
    inspect.Parameter.VAR_POSITIONAL: "var_positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword_only",
    inspect.Parameter.VAR_KEYWORD: "var_keyword",
}


def from_function(value: Any) -> Signature:
    """Return the signature of a value.

    A decorator with ``**kwargs`` may do anything with them. So the parameters of the function that
    it wraps are only likely ones, and the signature is not certain.
    """
    below = layers(value)
    for depth, function in enumerate(below):
        if type(function) is not FunctionType or hasattr(function, "__signature__"):
            break
        if not _is_open(function):
            inspected = _inspect(partial(inspect.signature, follow_wrapped=False), function)
            return Signature(_parameters(inspected, function), is_certain=depth == 0)
    if isinstance(value, type):
        return Signature(shape="class")
    if not callable(value):
        return Signature(shape="value")
    try:
        inspected = _inspect(inspect.signature, _called(value))
    except (ValueError, TypeError):
        return ANYTHING
    shape: Shape = "function" if isinstance(value, FunctionType) else "callable"
    functions = (each.__func__ if type(each) is MethodType else each for each in below)
    is_certain = not any(type(each) is FunctionType and _is_open(each) for each in functions)
    # text in annotations was written where the innermost function was
    return Signature(_parameters(inspected, below[-1]), shape, is_certain)


def _called(value: Any) -> Any:
    """Return the function that decides how a callable is called, ignoring its ``__wrapped__``."""
    if isinstance(getattr(value, "__signature__", None), inspect.Signature):
        return value
    if isinstance(value, partial):
        return partial(value.func, *value.args, **value.keywords)
    called = type(value).__call__
    return MethodType(called, value) if is_closed(called) else value


def _is_open(function: FunctionType) -> bool:
    """Return whether it is a decorator's wrapper that may do anything with the arguments."""
    is_wrapper = "__wrapped__" in vars(function) and "__signature__" not in vars(function)
    return is_wrapper and bool(function.__code__.co_flags & inspect.CO_VARKEYWORDS)


def _inspect(read: Callable[..., inspect.Signature], function: Any) -> inspect.Signature:
    """Return Python's signature of a callable, as far as its annotations can be read."""
    found: inspect.Signature = read_annotations(read, function, "annotation_format")
    return found


def _parameters(signature: inspect.Signature, function: Any) -> tuple[Parameter, ...]:
    """Return the parameters, with the annotations as they were written."""
    found = [
        _with_field(
            Parameter(
                each.name,
                _KINDS[each.kind],
                REQUIRED if each.default is each.empty else each.default,
                Annotation() if each.annotation is each.empty else _read(each.annotation, function),
            )
        )
        for each in signature.parameters.values()
    ]
    return _with_unpacked(_without_computed(found, function), function)


def fields_of(function: Any) -> dict[str, Any]:
    """Return the parameters whose defaults are pydantic's ``Field(…)`` with its own default.

    Python would pass the field itself where an argument is omitted.
    """
    try:
        parameters = inspect.signature(_called(function)).parameters.values()
    except (ValueError, TypeError):
        return {}
    return {
        each.name: each.default
        for each in parameters
        if is_field(each.default) and not each.default.is_required()
    }


def _with_field(parameter: Parameter) -> Parameter:
    """Return a parameter whose default is pydantic's ``Field(…)`` with the field's meaning."""
    field, annotation = parameter.default, parameter.annotation
    if not is_field(field):
        return parameter
    default = UNKNOWN if field.default_factory is not None else field.default
    if type(default).__name__ == "PydanticUndefinedType" or default is ...:
        default = REQUIRED
    hint = Any if annotation.is_absent else annotation.source
    if isinstance(hint, str) and annotation.value is not HIDDEN:
        hint = annotation.value
    if isinstance(hint, str):
        return parameter._replace(default=default)
    return parameter._replace(default=default, annotation=from_object(Annotated[hint, field]))


def _without_computed(parameters: list[Parameter], function: Any) -> list[Parameter]:
    """Return the parameters with UNKNOWN where a default isn't a constant in the source."""
    defaults = {each.name: each.default for each in parameters if each.default is not REQUIRED}
    unknown = computed(function, defaults) if defaults else ()
    return [each._replace(default=UNKNOWN) if each.name in unknown else each for each in parameters]


def _with_unpacked(parameters: list[Parameter], function: Any) -> tuple[Parameter, ...]:
    """Return the parameters with the keywords that ``**kwargs: Unpack[TypedDict]`` represents."""
    last = parameters[-1] if parameters else None
    if last is None or last.kind != "var_keyword" or last.annotation.is_plain:
        return tuple(parameters)
    hint = resolved_or_any(last.annotation.value or last.annotation.source, names_of(function))
    keywords = unpacked_keywords(hint)
    taken = {each.name for each in parameters}
    found = [
        Parameter(name, "keyword_only", REQUIRED if is_needed else UNKNOWN, from_object(each))
        for name, (each, is_needed) in keywords.items()
        if name not in taken
    ]
    return (*parameters[:-1], *found) if keywords else tuple(parameters)


def _read(annotation: Any, function: Any) -> Annotation:
    """Return an annotation's value; text is evaluated where the function was made."""
    if type(annotation) is not str:
        return from_object(annotation, partial(_look_up, function))
    try:
        value = eval(compile_annotation(annotation), function.__globals__)  # noqa: S307 - code of the function's author
    except (Exception, SystemExit):  # noqa: BLE001 - the annotation can be any expression, or invalid
        return from_text(annotation, partial(_look_up, function))._replace(source=annotation)
    found = from_object(value, partial(_look_up, function))
    if type(value) is str:
        return found._replace(source=annotation)
    return Annotation(annotation, found.optional, found.is_context, value, found.is_plain)


def _look_up(function: Any, name: str) -> Any:
    """Return the value of a name in a function's code; HIDDEN if it is not bound yet."""
    names = names_of(function)
    for scope in (names.local or {}, names.others):
        if name in scope:
            return scope[name]
    unbound = getattr(getattr(function, "__code__", None), "co_freevars", ())
    return HIDDEN if name in unbound else conventional(name)


def signature_for(definition: ToolDefinition) -> Signature:
    """Return the signature of a tool's function, with the types that its definition resolved."""
    signature = from_function(definition.function)
    if not definition.types:
        return signature
    parameters = [
        each._replace(annotation=from_object(definition.types[each.name]))
        if each.name in definition.types
        else each
        for each in signature.parameters
    ]
    return signature._replace(parameters=tuple(parameters))


def call_schema(parameters: dict[str, JSON], signature: Signature) -> dict[str, JSON]:
    """Return the parameters that a call checks: other arguments are rejected as well."""
    if signature.takes_any_keyword or parameters.get("unevaluatedProperties") is False:
        return parameters
    schema = {key: each for key, each in parameters.items() if key != "additionalProperties"}
    names = argument_names(parameters)
    if names.is_open:
        listed = {"propertyNames": {"enum": [*names.places]}}
        schema["allOf"] = [*schema.get("allOf", ()), listed]
    is_combined = not COMBINING.isdisjoint(schema)
    schema["unevaluatedProperties" if is_combined else "additionalProperties"] = False
    return schema
