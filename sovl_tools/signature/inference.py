"""A function's annotations and defaults as the JSON Schema of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sovl_tools.annotations.docstrings import Documentation, documentation_of
from sovl_tools.annotations.hints import (
    HIDDEN,
    description_of,
    has_text,
    marker_of,
    names_of,
    resolved,
    underlying,
    without_none,
)
from sovl_tools.annotations.jsonvalues import InvalidResult, to_json
from sovl_tools.annotations.jsonvalues import is_plain as is_json
from sovl_tools.annotations.kind import EMPTY, InexpressibleError
from sovl_tools.annotations.kinds import SchemaBuilder
from sovl_tools.model.document import JSON, copied
from sovl_tools.model.errors import InferenceError, UnresolvedReferenceError
from sovl_tools.signature.annotation import Annotation, from_object
from sovl_tools.signature.signature import (
    ANYTHING,
    BY_KEYWORD,
    REQUIRED,
    UNKNOWN,
    Parameter,
    ParameterKind,
    Signature,
    from_function,
)

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Inference(NamedTuple):
    """The description of a function's arguments.

    Attributes:
        parameters: the JSON Schema of the arguments, the caller's own; ``{}`` for an argument of
            unknown type.
        types: the resolved annotation of each property, Any where there isn't one.
        warnings: parameters, each with a warning for their author.
        described: the parameters that their annotations describe.
        errors: by parameter, the reason why its annotation can't be used, or not unchanged.
        inexact: by parameter, the JSON of a default that a call would not make of it again; it
            is not in the schema.
    """

    parameters: dict[str, JSON]
    types: Mapping[str, Any] = _NOTHING
    warnings: tuple[tuple[str, str], ...] = ()
    described: frozenset[str] = frozenset()
    errors: Mapping[str, Exception] = _NOTHING
    inexact: Mapping[str, JSON] = _NOTHING

    @property
    def with_all_defaults(self) -> dict[str, JSON]:
        """The schema with the inexact defaults as well."""
        if not self.inexact:
            return self.parameters
        properties = {
            name: {**each, "default": self.inexact[name]} if name in self.inexact else each
            for name, each in self.parameters["properties"].items()
        }
        return {**self.parameters, "properties": properties}


def infer(
    function: Callable[..., Any],
    *,
    is_method: bool = False,
    documentation: Documentation | None = None,
    described: Container[str] = (),
) -> Inference:
    """Return the description of a function's arguments, its docstring included.

    The first parameter of a method that is not bound yet is omitted, and every ``ToolContext``.

    Args:
        function: the function, or any other callable.
        is_method: whether its first parameter receives the instance.
        documentation: its docstring, if that was parsed already.
        described: parameters whose schemas are given elsewhere, so that their types need no JSON.

    Raises:
        InferenceError: a parameter can't be given by keyword, or there's no JSON for its type.
        UnresolvedReferenceError: an annotation uses a name that is not defined, or not yet.
    """
    try:
        signature = from_function(function)
    except Exception as error:
        raise blamed(error, name_of(function)) from error
    signature = signature._replace(
        parameters=parameters_of(function, signature, is_method=is_method)
    )
    texts = (documentation_of(function) if documentation is None else documentation).parameters
    found = implied(signature, function, texts=texts, described=described)
    reasons = refusals(function, signature, found)
    # the function has a default for these, and no model could give another value
    optional = {each.name for each in signature.parameters if _can_be_left_out(each)}
    for name, refusal in reasons.items():
        if name not in optional or isinstance(refusal, UnresolvedReferenceError):
            raise refusal from refusal.__cause__
    if not reasons:
        return found
    kept = tuple(each for each in signature.parameters if each.name not in reasons)
    found = implied(signature._replace(parameters=kept), function, texts=texts, described=described)
    notes = [(name, f"it is omitted: {each.message}") for name, each in reasons.items()]
    return found._replace(warnings=(*found.warnings, *notes))


def _can_be_left_out(parameter: Parameter) -> bool:
    is_given = parameter.kind in BY_KEYWORD and parameter.default is not REQUIRED
    return is_given and marker_of(parameter.default) is None


def name_of(function: Any) -> str:
    """Return the qualified name of a function, or else of its class."""
    name = getattr(underlying(function), "__qualname__", None)
    return name if isinstance(name, str) else type(function).__qualname__


def parameters_of(
    function: Any, signature: Signature, *, is_method: bool = False
) -> tuple[Parameter, ...]:
    """Return a function's parameters; a method's without its instance.

    Raises:
        InferenceError: that is unknown, or the method takes no instance.
    """
    found = signature.parameters
    if signature is ANYTHING or not signature.is_function:
        words = "its parameters are unknown"
        raise InferenceError(name_of(function), None, words, "wrap it in a function")
    if not is_method:
        return found
    if not found or found[0].kind not in {"positional_only", "positional_or_keyword"}:
        words = "it takes no instance"
        raise InferenceError(name_of(function), None, words, "let its first parameter be 'self'")
    return found[1:]


def refusals(function: Any, signature: Signature, found: Inference) -> dict[str, InferenceError]:
    """Return by parameter why a tool can't have it, in their order."""
    reasons: dict[str, Exception] = {}
    for each in signature.parameters:
        if each.kind in _NOT_BY_KEYWORD:
            reason, advice = _NOT_BY_KEYWORD[each.kind]
            reasons[each.name] = InexpressibleError(reason.format(each.name), advice)
        elif each.name == "tool" and _is_of_strands(function):
            reason = "the module has a TOOL_SPEC: this isn't an argument, but the whole call"
            advice = "write a function that takes the arguments of TOOL_SPEC's inputSchema by name"
            reasons[each.name] = InexpressibleError(reason, advice)
        elif marker := marker_of(each.default):
            reason = f"its default is a {marker}, which no one fills in"
            advice = "write Annotated[T, Field(…)] and a plain default"
            reasons[each.name] = InexpressibleError(reason, advice)
        elif each.annotation.is_absent and not _is_expressible(each.default):
            reasons[each.name] = InexpressibleError("its default can't be JSON")
        elif each.name in found.errors:
            error = found.errors[each.name]
            if isinstance(error, InexpressibleError):
                words = f"annotated {each.annotation.text}, but {error.reason}"
                cause, error = error, InexpressibleError(words, error.advice, is_open=error.is_open)
                error.__cause__ = cause
            reasons[each.name] = error
    name = name_of(function) if reasons else ""
    return {parameter: blamed(each, name, parameter) for parameter, each in reasons.items()}


def _is_of_strands(function: Any) -> bool:
    """Return whether a function is made for Strands Agents, by the definition next to it."""
    spec = getattr(function, "__globals__", {}).get("TOOL_SPEC")
    return isinstance(spec, Mapping) and "inputSchema" in spec


def _is_expressible(default: Any) -> bool:
    """Return whether a default can be JSON, or is unknown."""
    if default is None or default is REQUIRED or default is UNKNOWN:
        return True
    try:
        to_json(default)
    except InvalidResult:
        return False
    return True


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


def blamed(error: Exception, function: str, parameter: str | None = None) -> InferenceError:
    """Return the error of a parameter of a function, for the exception of its annotation.

    An annotation can be anything, and so may what its library raises.
    """
    cause: BaseException | None = error
    if isinstance(error, InexpressibleError):
        while isinstance(cause, InexpressibleError):  # to the exception of the author's own code
            cause = cause.__cause__
    elif isinstance(error, RecursionError):
        error = InexpressibleError("it is nested too deep")
    else:
        error = InexpressibleError(f"its annotation can't be read, {type(error).__name__}: {error}")
    kind = UnresolvedReferenceError if error.is_open else InferenceError
    refusal = kind(function, parameter, error.reason, error.advice)
    refusal.__cause__ = cause
    return refusal


def implied(
    signature: Signature,
    function: Any = None,
    *,
    texts: Mapping[str, str] = _NOTHING,
    described: Container[str] = (),
    with_none: bool = False,
) -> Inference:
    """Return the description of a function's arguments, as far as it can be resolved.

    Args:
        signature: how the function can be called, read from it or from its module's text.
        function: resolves the names in text within annotations, if it was imported.
        texts: descriptions by parameter, for parameters that their annotations don't describe.
        described: parameters whose schemas are given elsewhere, so that their types need no JSON.
        with_none: whether fields that are None by default show null.
    """
    builder = SchemaBuilder(with_none=with_none)
    arguments: list[_Argument] = []
    inexact: dict[str, JSON] = {}
    warnings: list[tuple[str, str]] = []
    found = []
    schema: dict[str, JSON] = {"type": "object", "properties": {}, "required": []}
    for each in _arguments(signature, function):
        try:
            own = _property(builder, each, texts.get(each.name), inexact)
        except Exception as error:  # noqa: BLE001 - an annotation runs its author's code
            builder.warnings = []
            if each.name in described and isinstance(error, InexpressibleError):
                each = each._replace(hint=Any, inner=Any)  # noqa: PLW2901 - it is described elsewhere
            else:
                each = each._replace(inner=EMPTY, error=error)  # noqa: PLW2901 - nothing is known of it
            own = _property(builder, each, texts.get(each.name), inexact)
        arguments.append(each)
        if not each.is_rest:
            schema["properties"][each.name] = own
            schema["required"] += [each.name] * each.is_required
        elif each.error is None:  # **kwargs
            schema["additionalProperties"] = own or True
        if "description" in own and description_of(each.inner) is not None:
            found.append(each.name)
        warnings += [(each.name, message) for message in builder.warnings]
        builder.warnings = []
    return Inference(
        builder.with_definitions(schema),
        {each.name: each.hint for each in arguments if not each.is_rest},
        tuple(warnings),
        frozenset(found),
        {each.name: each.error for each in arguments if each.error is not None},
        inexact,
    )


class _Argument(NamedTuple):
    """An argument that a function takes.

    Attributes:
        name: the parameter's.
        default: the parameter's; ``EMPTY`` if it is unknown.
        hint: its type, resolved.
        inner: that type without None; ``EMPTY`` if it is unknown.
        is_bare: whether it has no annotation.
        is_required: whether it has no default, and can't be None.
        is_rest: whether it is for ``**kwargs``.
        error: the reason why the annotation can't be used, or not unchanged.
    """

    name: str
    default: Any
    hint: Any
    inner: Any
    is_bare: bool
    is_required: bool
    is_rest: bool
    error: Exception | None


def _arguments(signature: Signature, function: Any) -> Iterator[_Argument]:
    for name, kind, default, annotation in signature.parameters:
        is_rest = kind == "var_keyword"
        if annotation.is_context or not (is_rest or kind in BY_KEYWORD):
            continue
        is_bare, is_optional, error = annotation.is_absent, False, None
        hint = inner = Any if is_bare else annotation.source
        try:
            if has_text(hint):
                hint, error = _hint(annotation, function)
            inner, is_optional = (hint, False) if is_rest else without_none(hint)
        except Exception as raised:  # noqa: BLE001 - an annotation runs its author's code
            hint, inner, error = Any, EMPTY, raised
        # only now it may turn out that the context is meant
        if annotation.is_context is not None or not from_object(inner).is_context:
            is_required = default is REQUIRED and not (is_optional or is_rest)
            known = EMPTY if default is REQUIRED or default is UNKNOWN else default
            yield _Argument(name, known, hint, inner, is_bare, is_required, is_rest, error)


_NOT_IMPORTED = "its type is only known when its module is imported"


def _hint(annotation: Annotation, function: Any) -> tuple[Any, Exception | None]:
    """Return the type that an annotation names, and why it isn't all of it, if it isn't.

    Text was evaluated before as far as possible, also where some of its names are unknown. Without
    the imported function it's a stranger's text: evaluating it would run it.
    """
    if function is None:
        value = annotation.value
        is_known = value is not HIDDEN and not has_text(value)
        return (value, None) if is_known else (HIDDEN, InexpressibleError(_NOT_IMPORTED, ""))
    names = names_of(function)
    try:
        return resolved(annotation.source, names), None
    except InexpressibleError as error:
        if not isinstance(annotation.source, str):
            raise
        return resolved(annotation.value, names), error


def _property(
    builder: SchemaBuilder, argument: _Argument, text: str | None, inexact: dict[str, JSON]
) -> dict[str, JSON]:
    """Return the schema of an argument; a default that JSON can't represent is omitted."""
    name, default, _, inner, is_bare, _, is_rest, _ = argument
    if inner is EMPTY:
        return {}
    if is_bare and not is_rest:
        builder.warn("it has no annotation, so that any type is admitted")
    schema = builder.build_property(inner, default=default, text=None if is_rest else text)
    if default is not EMPTY and default is not None and "default" not in schema:
        # in JSON a tuple is a list
        written = [*default] if type(default) is tuple else default
        if is_json(written):
            inexact[name] = copied(written)
    return schema
