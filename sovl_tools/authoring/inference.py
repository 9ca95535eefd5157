"""From a function to the JSON Schema of its arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Annotated, Any, NamedTuple, get_origin

from sovl_tools.annotations.annotated import EMPTY, property_of
from sovl_tools.annotations.docstrings import Documentation, documentation_of
from sovl_tools.annotations.hints import Names, members_of, names_of, resolved, without_none
from sovl_tools.annotations.kind import InexpressibleError
from sovl_tools.annotations.pydantic_models import is_field
from sovl_tools.annotations.schemas import SchemaBuilder, blaming
from sovl_tools.authoring.taken import Taken, outline_of
from sovl_tools.model.context import ToolContext
from sovl_tools.model.document import JSON
from sovl_tools.model.functions import underlying
from sovl_tools.model.interface import Annotation

MISSING = EMPTY
"""In the place of a return annotation that is not there, or that can't be resolved."""


class Inference(NamedTuple):
    """What a function's signature says about its arguments.

    Attributes:
        parameters: the JSON Schema of the arguments, the caller's own.
        types: the resolved annotation of each property, Any where there is none.
        warnings: parameters, and what their author should know about them.
        returns: the resolved annotation of what comes back, or MISSING.
    """

    parameters: dict[str, JSON]
    types: Mapping[str, Any]
    warnings: tuple[tuple[str, str], ...] = ()
    returns: Any = MISSING


def infer(
    function: Callable[..., Any],
    *,
    is_method: bool = False,
    documentation: Documentation | None = None,
    described: Container[str] = (),
) -> Inference:
    """Return the schema of a function's arguments, by its annotations and its docstring.

    Of a method that is not bound yet the first parameter is left out, and a ``ToolContext``
    always. ``documentation`` stands for the function's docstring if that was read already. What
    parameters in ``described`` are is said elsewhere: if there is no JSON for their types, any
    value is admitted.

    Raises:
        InferenceError: a parameter can't be given by keyword, or there is no JSON for its type.
        UnresolvedReferenceError: an annotation uses a name that is not defined, or not yet.
    """
    name = _qualified(function)
    with blaming(name):
        outline = outline_of(function, is_method=is_method)
        names = names_of(function)
    texts = (documentation_of(function) if documentation is None else documentation).parameters
    builder, arguments = SchemaBuilder(), []
    for taken in outline.taken:
        with blaming(name, taken.name):
            _check(taken)
            hint = _hint(taken, names)
            if not _is_context(hint):
                text, is_described = texts.get(taken.name), taken.name in described
                arguments.append(_argument(builder, taken, hint, text, is_described=is_described))
    return Inference(
        builder.with_definitions(_object(arguments)),
        {each.name: each.hint for each in arguments if not each.is_rest},
        tuple((each.name, message) for each in arguments for message in each.warnings),
        _returned(outline.returns, names),
    )


def _qualified(function: Any) -> str:
    name = getattr(underlying(function), "__qualname__", None)
    return name if isinstance(name, str) else type(function).__qualname__


class _Argument(NamedTuple):
    """One parameter as it is described; ``is_rest`` marks ``**kwargs``."""

    name: str
    hint: Any
    schema: dict[str, JSON]
    is_required: bool
    is_rest: bool
    warnings: tuple[str, ...]


_UNFIT = {
    inspect.Parameter.VAR_POSITIONAL: (
        "'*{}' never receives anything",
        "remove it, or make it a parameter of type list",
    ),
    inspect.Parameter.POSITIONAL_ONLY: (
        "positional-only",
        "remove the '/': arguments are passed by keyword",
    ),
}


def _check(taken: Taken) -> None:
    """Raise an InexpressibleError for a parameter that can't be passed by keyword."""
    if taken.kind in _UNFIT:
        reason, advice = _UNFIT[taken.kind]
        raise InexpressibleError(reason.format(taken.name), advice)
    if is_field(taken.default):
        reason = "its default is a Field of pydantic, which the function would receive"
        raise InexpressibleError(reason, "write Annotated[T, Field(…)] and a default of type T")


_CONTEXT = re.compile(r"\bToolContext\b")


def _hint(taken: Taken, names: Names) -> Any:
    """Return the resolved annotation; a ``ToolContext`` need not be imported to be meant."""
    if taken.annotation is EMPTY:
        return Any
    try:
        return resolved(taken.annotation, names)
    except InexpressibleError as error:
        if _CONTEXT.search(Annotation(taken.annotation).text):
            return ToolContext
        raise _annotated(taken, error) from error


def _annotated(taken: Taken, error: InexpressibleError) -> InexpressibleError:
    text = Annotation(taken.annotation).text
    reason = f"annotated {text}, but {error.reason}"
    return InexpressibleError(reason, error.advice, is_open=error.is_open)


def _is_context(hint: Any) -> bool:
    if type(hint) is type:
        return hint is ToolContext
    if get_origin(hint) is Annotated:
        return _is_context(hint.__origin__)
    return any(each is ToolContext for each in members_of(hint))


def _argument(
    builder: SchemaBuilder, taken: Taken, hint: Any, text: str | None, *, is_described: bool
) -> _Argument:
    builder.warnings = []
    is_rest = taken.kind is inspect.Parameter.VAR_KEYWORD
    if taken.annotation is EMPTY and not is_rest:
        builder.warn("it has no annotation, so that any type is admitted")
    inner, is_optional, text = (hint, False, None) if is_rest else (*without_none(hint), text)
    try:
        schema = property_of(builder, inner, default=taken.default, text=text)
    except InexpressibleError as error:
        if not is_described:
            raise _annotated(taken, error) from error
        hint, schema = Any, property_of(builder, Any, default=taken.default, text=text)
    is_required = taken.default is EMPTY and not is_optional and not is_rest
    return _Argument(taken.name, hint, schema, is_required, is_rest, tuple(builder.warnings))


def _object(arguments: Iterable[_Argument]) -> dict[str, JSON]:
    """Return the schema of an object of the arguments."""
    given = [each for each in arguments if not each.is_rest]
    schema: dict[str, JSON] = {
        "type": "object",
        "properties": {each.name: each.schema for each in given},
        "required": [each.name for each in given if each.is_required],
    }
    for each in arguments:
        if each.is_rest:
            schema["additionalProperties"] = each.schema or True
    return schema


def _returned(annotation: Any, names: Names) -> Any:
    try:
        return resolved(annotation, names)
    except InexpressibleError:
        return MISSING
