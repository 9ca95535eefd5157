"""What a function says of its arguments by annotations and defaults: their JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sovl_tools.annotations.annotated import description_of, property_of
from sovl_tools.annotations.hints import Names, names_of, resolved, without_none
from sovl_tools.annotations.jsonvalues import is_plain as is_json
from sovl_tools.annotations.kind import EMPTY, InexpressibleError
from sovl_tools.annotations.schemas import SchemaBuilder
from sovl_tools.model.document import JSON, copied
from sovl_tools.signature.signature import (
    BY_KEYWORD,
    REQUIRED,
    UNKNOWN,
    Annotation,
    Signature,
    from_object,
)


class Implied(NamedTuple):
    """What a function says of its arguments.

    Attributes:
        schema: of the arguments; ``{}`` of one of which nothing is known.
        errors: by parameter, why its annotation can't be used, or not as it is written.
        described: the parameters that their annotations describe.
        inexact: the parameters with a default that a call would not make of its JSON again.
    """

    schema: dict[str, JSON]
    errors: Mapping[str, Exception] = MappingProxyType({})
    described: frozenset[str] = frozenset()
    inexact: frozenset[str] = frozenset()


def implied(signature: Signature, function: Any = None) -> Implied:
    """Return what a function says of its arguments, as far as it is known.

    ``function`` is where the names in text within its annotations are known, if it was imported.
    """
    arguments = [*_arguments(signature, function)]
    # anew for each annotation that turns out to be unusable, without it
    while True:
        builder, found = SchemaBuilder(), dict[str, _Property]()
        for index, each in enumerate(arguments):
            try:
                found[each.name] = _property(builder, each)
            except Exception as error:  # noqa: BLE001 - annotations may be of anything, and so may defaults
                arguments[index] = each._replace(hint=EMPTY, error=error)
                break  # a type that was begun with it would remain among the definitions
        else:
            return _implied(arguments, found, builder)


def _implied(
    arguments: list[_Argument], found: dict[str, _Property], builder: SchemaBuilder
) -> Implied:
    schema: dict[str, JSON] = {
        "type": "object",
        "properties": {
            each.name: found[each.name].schema for each in arguments if not each.is_rest
        },
        "required": [each.name for each in arguments if each.is_required],
    }
    for each in arguments:  # **kwargs, of which there is one at most
        if each.is_rest and each.error is None:
            schema["additionalProperties"] = found[each.name].schema or True
    return Implied(
        builder.with_definitions(schema),
        {each.name: each.error for each in arguments if each.error is not None},
        frozenset(name for name, each in found.items() if each.is_described),
        frozenset(name for name, each in found.items() if each.is_inexact),
    )


class _Argument(NamedTuple):
    """An argument that a function takes.

    Attributes:
        name: the parameter's.
        hint: its type, resolved and without None; ``EMPTY`` if it can't be told.
        default: the parameter's.
        is_required: whether it has no default, and may not be None.
        is_rest: whether it stands for ``**kwargs``.
        error: why the annotation can't be used, or not as it is written.
    """

    name: str
    hint: Any
    default: Any
    is_required: bool
    is_rest: bool
    error: Exception | None


def _arguments(signature: Signature, function: Any) -> Iterator[_Argument]:
    names: Names | None = None
    for name, kind, default, annotation in signature.parameters:
        is_rest = kind == "var_keyword"
        if annotation.is_context or not (is_rest or kind in BY_KEYWORD):
            continue
        hint, is_optional, error = Any if annotation.is_absent else annotation.source, False, None
        try:
            if type(hint) is not type and hint is not Any:
                if names is None:
                    names = Names({}) if function is None else names_of(function)
                hint, error = _hint(annotation, names)
            if not is_rest:
                hint, is_optional = without_none(hint)
        except Exception as raised:  # noqa: BLE001 - an annotation runs whatever its author wrote
            hint, error = EMPTY, raised
        # only now it may turn out that the context is meant
        if annotation.is_context is not None or not from_object(hint).is_context:
            is_required = default is REQUIRED and not (is_optional or is_rest)
            yield _Argument(name, hint, default, is_required, is_rest, error)


def _hint(annotation: Annotation, names: Names) -> tuple[Any, Exception | None]:
    """Return the type that an annotation names, and why it is not all that is written.

    Text was evaluated before as far as it can be, also where some of its names are unknown.
    """
    is_text = isinstance(annotation.source, str)
    try:
        return resolved(annotation.source, names), None
    except InexpressibleError as error:
        if not is_text:
            raise
        return resolved(annotation.value, names), error


class _Property(NamedTuple):
    """The schema of an argument; see ``Implied`` for the others."""

    schema: dict[str, JSON]
    is_described: bool = False
    is_inexact: bool = False


def _property(builder: SchemaBuilder, argument: _Argument) -> _Property:
    hint, default = argument.hint, argument.default
    if hint is EMPTY:
        return _Property({})
    has_default = default is not REQUIRED and default is not UNKNOWN and default is not None
    known = default if has_default else EMPTY
    schema = property_of(builder, hint, default=known, text=None)
    is_described = "description" in schema and description_of(hint) is not None
    if has_default and "default" not in schema:
        # in JSON a tuple is a list
        written = [*default] if type(default) is tuple else default
        if is_json(written):
            # in place, because a definition that is used once is put there in the end
            schema["default"] = copied(written)
            return _Property(schema, is_described, is_inexact=True)
    return _Property(schema, is_described)
