"""From a function to the JSON Schema of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, NamedTuple

from sovl_tools.annotations.annotated import property_of
from sovl_tools.annotations.docstrings import Documentation, documentation_of
from sovl_tools.annotations.hints import (
    names_of,
    resolved,
    underlying,
    without_none,
)
from sovl_tools.annotations.kind import EMPTY, InexpressibleError
from sovl_tools.annotations.pydantic_models import is_field
from sovl_tools.annotations.schemas import SchemaBuilder, blaming
from sovl_tools.model.document import JSON
from sovl_tools.signature.signature import (
    ANYTHING,
    REQUIRED,
    Parameter,
    ParameterKind,
    Signature,
    from_function,
    from_object,
)


class Inference(NamedTuple):
    """What a function's signature says about its arguments.

    Attributes:
        parameters: the JSON Schema of the arguments, the caller's own.
        types: the resolved annotation of each property, Any where there is none.
        warnings: parameters, and what their author should know about them.
    """

    parameters: dict[str, JSON]
    types: Mapping[str, Any]
    warnings: tuple[tuple[str, str], ...] = ()


def infer(
    function: Callable[..., Any],
    *,
    is_method: bool = False,
    documentation: Documentation | None = None,
    described: Container[str] = (),
) -> Inference:
    """Return the schema of a function's arguments, by its annotations and its docstring.

    The first parameter of a method that is not bound yet is left out, and every ``ToolContext``.

    Args:
        function: the function, or any other callable.
        is_method: whether its first parameter receives the instance.
        documentation: its docstring, if that was parsed already.
        described: parameters whose schemas are given elsewhere, so that their types need no JSON.

    Raises:
        InferenceError: a parameter can't be given by keyword, or there is no JSON for its type.
        UnresolvedReferenceError: an annotation uses a name that is not defined, or not yet.
    """
    name = name_of(function)
    with blaming(name):
        parameters = parameters_of(from_function(function), is_method=is_method)
        names = names_of(function)
    texts = (documentation_of(function) if documentation is None else documentation).parameters
    builder, arguments = SchemaBuilder(), []
    for taken in parameters:
        with blaming(name, taken.name):
            reason = unfit(taken)
            if reason is not None:
                raise reason
            if taken.annotation.is_context:  # which need not be imported to be meant
                continue
            hint: Any = Any
            if not taken.annotation.is_absent:
                try:
                    hint = resolved(taken.annotation.source, names)
                except InexpressibleError as error:
                    raise name_annotation(taken, error) from error
            if not from_object(hint).is_context:
                text, is_described = texts.get(taken.name), taken.name in described
                arguments.append(
                    _describe_argument(builder, taken, hint, text, is_described=is_described)
                )
    given = [each for each in arguments if not each.is_rest]
    schema: dict[str, JSON] = {
        "type": "object",
        "properties": {each.name: each.schema for each in given},
        "required": [each.name for each in given if each.is_required],
    }
    for each in arguments[len(given) :]:  # **kwargs, of which there is one at most, come last
        schema["additionalProperties"] = each.schema or True
    return Inference(
        builder.with_definitions(schema),
        {each.name: each.hint for each in given},
        tuple((each.name, message) for each in arguments for message in each.warnings),
    )


def name_of(function: Any) -> str:
    """Return the qualified name of a function, or else of its class."""
    name = getattr(underlying(function), "__qualname__", None)
    return name if isinstance(name, str) else type(function).__qualname__


def parameters_of(signature: Signature, *, is_method: bool) -> tuple[Parameter, ...]:
    """Return what a function takes; of a method, without its instance.

    Raises:
        InexpressibleError: that can't be told, or the method takes no instance.
    """
    if signature is ANYTHING or signature.shape in {"class", "value"}:
        raise InexpressibleError("it can't be told what it takes", "wrap it in a function")
    found = signature.parameters
    if not is_method:
        return found
    if not found or found[0].kind not in {"positional_only", "positional_or_keyword"}:
        raise InexpressibleError("it takes no instance", "let its first parameter be 'self'")
    return found[1:]


class _Argument(NamedTuple):
    """One parameter as it is described; ``is_rest`` marks ``**kwargs``."""

    name: str
    hint: Any
    schema: dict[str, JSON]
    is_required: bool
    is_rest: bool
    warnings: tuple[str, ...]


_NOT_BY_KEYWORD: dict[ParameterKind, tuple[str, str]] = {
    "var_positional": (
        "'*{}' never receives anything",
        "remove it, or make it a parameter of type list",
    ),
    "positional_only": (
        "positional-only",
        "remove the '/': arguments are passed by keyword",
    ),
}


def unfit(taken: Parameter) -> InexpressibleError | None:
    """Return why no argument can be given for a parameter, however it is annotated."""
    if taken.kind in _NOT_BY_KEYWORD:
        reason, advice = _NOT_BY_KEYWORD[taken.kind]
        return InexpressibleError(reason.format(taken.name), advice)
    if is_field(taken.default):
        reason = "its default is a Field of pydantic, which the function would receive"
        return InexpressibleError(reason, "write Annotated[T, Field(…)] and a default of type T")
    return None


def name_annotation(taken: Parameter, error: InexpressibleError) -> InexpressibleError:
    """Return an error of an annotation with the annotation."""
    reason = f"annotated {taken.annotation.text}, but {error.reason}"
    found = InexpressibleError(reason, error.advice, is_open=error.is_open)
    found.__cause__ = error
    return found


def _describe_argument(
    builder: SchemaBuilder, taken: Parameter, hint: Any, text: str | None, *, is_described: bool
) -> _Argument:
    builder.warnings = []  # one builder for all, since they share definitions
    is_rest = taken.kind == "var_keyword"
    default = EMPTY if taken.default is REQUIRED else taken.default
    if taken.annotation.is_absent and not is_rest:
        builder.warn("it has no annotation, so that any type is admitted")
    inner, is_optional, text = (hint, False, None) if is_rest else (*without_none(hint), text)
    try:
        schema = property_of(builder, inner, default=default, text=text)
    except InexpressibleError as error:
        if not is_described:
            raise name_annotation(taken, error) from error
        # Its schema is given elsewhere, so its type need not be expressible.
        hint, schema = Any, property_of(builder, Any, default=default, text=text)
    is_required = default is EMPTY and not is_optional and not is_rest
    return _Argument(taken.name, hint, schema, is_required, is_rest, tuple(builder.warnings))
