"""Modules that plainly keep what their manifest promises, told in a few microseconds.

Most modules bind the tool's name to a plain function that takes just what the manifest lists, and
say nothing of phrases and step handlers. For them no signature needs to be made and no rule to be
asked. What is not plain is not wrong but looked at closely; a property test holds that no rule
finds anything in what is plain.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any

from sovl_tools.loading.annotations import from_object, types_of
from sovl_tools.loading.checks.offer import HANDLERS, PHRASES, REGISTER
from sovl_tools.model.document import JSON
from sovl_tools.model.manifest import Manifest
from sovl_tools.search.words import words

_STARS = CO_VARARGS | CO_VARKEYWORDS
_OFFERS = frozenset({PHRASES, HANDLERS, REGISTER})


def is_in_accord(members: Mapping[str, Any], manifest: Manifest) -> bool:
    """Tell whether surely no ST4xx and no ST6xx finds anything in a module's namespace.

    The manifest has passed its checks.
    """
    function = members.get(manifest.name)
    return (
        type(function) is FunctionType
        and not function.__dict__
        and members.keys().isdisjoint(_OFFERS)
        and _takes(function, manifest.parameters)
        and _are_plain(manifest.phrases)
    )


def _takes(function: FunctionType, parameters: Mapping[str, JSON]) -> bool:
    """Tell whether the function takes each property, and has defaults for the optional ones."""
    code = function.__code__
    positional = code.co_argcount
    names = code.co_varnames[: positional + code.co_kwonlyargcount]
    properties, required = parameters["properties"], parameters.get("required", ())
    if code.co_posonlyargcount or code.co_flags & _STARS or "additionalProperties" in parameters:
        return False
    optional = {
        *names[positional - len(function.__defaults__ or ()) : positional],
        *(function.__kwdefaults__ or ()),
    }
    if len(names) != len(properties) or len(optional) + len(required) != len(names):
        return False
    annotations = function.__annotations__
    for name in names:
        schema = properties.get(name)
        if type(schema) is not dict or (name in optional and "default" in schema):
            return False
        if name in annotations and not _agrees(annotations[name], schema):
            return False
    return optional.isdisjoint(required)


def _agrees(annotation: object, schema: dict[str, JSON]) -> bool:
    types, declared = types_of(annotation), schema.get("type")
    if types is None:
        return not from_object(annotation).is_context
    return type(declared) is str and declared in types


def _are_plain(phrases: tuple[str, ...]) -> bool:
    forms = {words(phrase) for phrase in phrases}
    return len(forms) == len(phrases) and () not in forms
