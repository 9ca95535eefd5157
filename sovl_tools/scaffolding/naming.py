"""What a manifest calls the definitions that a function's schema needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from sovl_tools.model.document import JSON, copied
from sovl_tools.scaffolding.writable import defined_name, needed
from sovl_tools.schema.applicators import kinds
from sovl_tools.schema.subschemas import nodes
from sovl_tools.signature.pairs import BASE, agreed, exclude_each_other, pairs


def renamed(parameters: dict[str, JSON], own: dict[str, JSON]) -> dict[str, JSON]:
    """Return a function's schema with its definitions under the names that a manifest has.

    That is the name of the definition to which the manifest refers in the same place, or else of
    one that says the same, or else one that is free.
    """
    known = own.get("$defs", {})
    if not known:
        return own
    names = _names(parameters, own)
    found = copied(own)
    for node in nodes(found, ()):
        name = defined_name(node.schema.get("$ref"))
        if name in names:
            node.schema["$ref"] = f"#/$defs/{names[name]}"
    return {**found, "$defs": {names[name]: each for name, each in found["$defs"].items()}}


def _names(parameters: dict[str, JSON], own: dict[str, JSON]) -> dict[str, str]:
    theirs, ours = parameters.get("$defs", {}), own["$defs"]
    found = {**_same(theirs, ours), **_partners(parameters, own)}
    taken = {*theirs, *found.values()}
    for name in ours:
        if name not in found:
            found[name] = _free(name, taken)
            taken.add(found[name])
    return found


def _partners(parameters: dict[str, JSON], own: dict[str, JSON]) -> dict[str, str]:
    """Return the names of definitions to which both sides refer in the same places."""
    names = {id(each): name for name, each in own["$defs"].items()}
    found: dict[str, str] = {}
    for pair in agreed(pairs(parameters, own)):
        path, name = pair.path, names.get(id(pair.own))
        if name is not None and path[:-1] == (*BASE, "$defs"):
            admitted = kinds(pair.schema, parameters), kinds(pair.own, own)
            if not exclude_each_other(*admitted) and found.get(name) != name:
                found[name] = str(path[-1])
    return found


def _same(theirs: Mapping[str, JSON], ours: Mapping[str, JSON]) -> dict[str, str]:
    """Return the names of definitions that say the same, and so does what they refer to."""
    found = {name for name, each in ours.items() if theirs.get(name) == each}
    return {name: name for name in found if found.issuperset(needed(ours[name], ours))}


def _free(name: str, taken: Iterable[str]) -> str:
    return next(each for each in _tried(name) if each not in taken)


def _tried(name: str) -> Iterator[str]:
    yield name
    for number in count(2):
        yield f"{name}{number}"
