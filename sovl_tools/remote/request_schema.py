"""The schema of an operation's arguments, as it can be sent to a model and checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sovl_tools.model.document import JSON, dotted
from sovl_tools.schema.comparison import contained
from sovl_tools.schema.engine import meta_schema
from sovl_tools.schema.requests import Requests, properties_of
from sovl_tools.schema.subschemas import free_name, nodes, with_subschemas
from sovl_tools.schema.upgrade import upgrade

_FIT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The names of properties that every provider accepts."""
_WORDS = {"<": "_lt", ">": "_gt", "=": "_eq", "[": "_", "]": "", "!": "_not"}
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 60


class RequestSchema(NamedTuple):
    """The schema of an operation's arguments.

    Attributes:
        schema: in draft 2020-12.
        names: new names of properties, by their names in the document.
        inner: the document's names of properties below the arguments, by the new names.
        notes: differences from the document, for users.
    """

    schema: dict[str, JSON]
    names: Mapping[str, str]
    inner: Mapping[str, str]
    notes: tuple[str, ...]


def request_schema(
    schema: dict[str, JSON], document: dict[str, JSON], requests: Requests
) -> RequestSchema:
    """Return a schema of a document as it applies to requests.

    ``oneOf`` becomes ``anyOf`` where each value of one alternative is valid for a second one as
    well. Properties whose names providers reject are renamed.
    """
    made = upgrade(schema, document, requests=requests)
    notes = []
    every = [*nodes(made, ())]
    deciding = [each for each in every if "oneOf" in each.schema]
    is_valid = bool(deciding) and meta_schema().is_valid(made)
    for node in deciding if is_valid else ():
        if contained(node) is not None:
            _loosen(node.schema)
            place = dotted(tuple(each for each in node.path if each != "properties"))
            notes.append(f"{place!r} takes values that match several schemas of 'oneOf'")
    names = _names(name for node in every for name in properties_of(node.schema))
    if names:
        made = _renamed(made, names)
        notes += [f"the property {old!r} is called {new!r} here" for old, new in names.items()]
    below = {n for node in every if node.path for n in properties_of(node.schema) if n in names}
    inner = {new: old for old, new in names.items() if old in below}
    return RequestSchema(made, names, inner, tuple(notes))


def _loosen(schema: dict[str, JSON]) -> None:
    alternatives = {"anyOf": schema.pop("oneOf")}
    if "anyOf" in schema:
        schema["allOf"] = [*schema.get("allOf", ()), alternatives]
    else:
        schema |= alternatives


def _names(every: Iterable[str]) -> dict[str, str]:
    """Return a new name for each name that providers reject."""
    known = dict.fromkeys(every)
    found: dict[str, str] = {}
    for name in known:
        if _FIT.fullmatch(name) is None:
            said = "".join(_WORDS.get(each, each) for each in name)
            plain = re.sub("_+", "_", _UNFIT.sub("_", said)).strip("_.-")[:_LONGEST]
            found[name] = free_name(plain or "property", {*known, *found.values()}, joint="_")
    return found


def _renamed(schema: JSON, names: Mapping[str, str]) -> JSON:
    """Return a schema with other names of properties, which have the old ones as titles."""
    if not isinstance(schema, dict):
        return schema
    made = with_subschemas(schema, lambda each: _renamed(each, names))
    for keyword in ("properties", "dependentSchemas", "dependentRequired"):
        if isinstance(made.get(keyword), dict):
            made[keyword] = {names.get(name, name): each for name, each in made[keyword].items()}
    for name in [each for each in names if each in properties_of(schema)]:
        each = made["properties"][names[name]]
        if isinstance(each, dict):
            made["properties"][names[name]] = {"title": name, **each}
    if isinstance(made.get("required"), list):
        made["required"] = [
            names.get(each, each) if isinstance(each, str) else each for each in made["required"]
        ]
    return made
