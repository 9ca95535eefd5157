"""The schema that the annotations and the defaults of a function imply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sovl_tools.annotations.annotated import property_of
from sovl_tools.annotations.conversion import is_plain
from sovl_tools.annotations.hints import Names, names_of, resolved, without_none
from sovl_tools.annotations.jsonvalues import is_plain as is_json
from sovl_tools.annotations.kind import EMPTY
from sovl_tools.annotations.schemas import SchemaBuilder
from sovl_tools.model.document import JSON, copied
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, UNKNOWN, Parameter, Signature

_BUILT_IN: dict[Any, dict[str, JSON]] = {}
"""Schemas of built-in types, which many functions share; nobody changes them."""


def implied(signature: Signature, function: Any = None) -> dict[str, JSON]:
    """Return the schema of the arguments that a function takes, as far as that can be told.

    ``function`` is where the names in text within its annotations are known, if it was imported.
    What is not known is ``{}``.
    """
    unknown: set[str] = set()
    while True:
        builder = SchemaBuilder()
        properties: dict[str, JSON] = {}
        for parameter in _arguments(signature):
            name = parameter.name
            try:
                properties[name] = {} if name in unknown else _schema(builder, parameter, function)
            except Exception:  # noqa: BLE001 - annotations may be of anything, and so may defaults
                unknown.add(name)
                break  # a type that was begun with would remain among the definitions
        else:
            return builder.with_definitions({"type": "object", "properties": properties})


def _arguments(signature: Signature) -> Iterator[Parameter]:
    for each in signature.parameters:
        if each.kind in BY_KEYWORD and not each.annotation.is_context:
            yield each


def _schema(builder: SchemaBuilder, parameter: Parameter, function: Any) -> dict[str, JSON]:
    said, default = parameter.annotation, parameter.default
    hint: Any = said.value if isinstance(said.source, str) else said.source
    if said.is_absent:
        schema: dict[str, JSON] = {}
    elif is_plain(hint):
        if hint not in _BUILT_IN:
            _BUILT_IN[hint] = _form(builder, hint, EMPTY)
        schema = {**_BUILT_IN[hint]}
    else:
        is_absent = default is REQUIRED or default is UNKNOWN
        names = Names({}) if function is None else names_of(function)
        schema = _form(builder, resolved(hint, names), EMPTY if is_absent else default)
    if default is not None and "default" not in schema:
        written = [*default] if type(default) is tuple else default
        if is_json(written):
            # in place, because a definition that is used once is put there in the end
            schema["default"] = copied(written)
    return schema


def _form(builder: SchemaBuilder, hint: Any, default: Any) -> dict[str, JSON]:
    return property_of(builder, without_none(hint)[0], default=default, text=None)
