"""A function's properties, defaults, values and descriptions that its manifest omits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from sovl_tools.loading.function_spec import FunctionSpec, unwritable
from sovl_tools.loading.rules.schema import lacks_description
from sovl_tools.model.document import JSON, Path, canonical, copied
from sovl_tools.model.folder import SECTIONS
from sovl_tools.schema.alignment import Pair, Roots, agreed, aligned, matches
from sovl_tools.schema.applicators import combinator_of, exclude_each_other, is_wider, kinds
from sovl_tools.schema.bounds import contrary_bound
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.names import argument_names
from sovl_tools.schema.subschemas import (
    SchemaNode,
    defined_name,
    free_name,
    needed_definitions,
    nodes,
)
from sovl_tools.signature.agreement import PARAMETERS

# compared one by one, or never added; all other keywords are constraints
_STRUCTURE = frozenset(
    {
        "type", "properties", "required", "items", "prefixItems", "additionalProperties", "anyOf",
        "oneOf", "allOf", "not", "$ref", "$defs", "enum", "const", "default", "description",
        "title", "discriminator",
    }
)  # fmt: skip
_WITHOUT_STRUCTURE = frozenset({"type", "default", "description", "title"})
_SAYS_VALUES = frozenset({"enum", "const", "anyOf", "oneOf", "allOf", "not", "if"})
_SAYS_ITEMS = frozenset({"items", "prefixItems", "contains"})
_FIRST = ("type", "title", "description")
_TOP = len((*PARAMETERS, "properties", "name"))


class Omission(NamedTuple):
    """A part of a function's signature that a manifest omits.

    Attributes:
        path: of a member or an item, from the manifest's root; for a required name, the name is
            last.
        value: the member or item.
        after: the members or names that it follows, as far as they exist; None if it is last.
        is_added: False for a required name that the function doesn't require.
    """

    path: Path
    value: JSON
    after: tuple[str, ...] | None = None
    is_added: bool = True


def omissions(document: Mapping[str, JSON], spec: FunctionSpec) -> list[Omission]:
    """Return a function's parts that a manifest omits, as far as the two don't contradict.

    Args:
        document: a manifest whose ``parameters`` are a valid schema.
        spec: the function's schema and descriptions.
    """
    parameters = document["parameters"]
    own = _with_known_definitions(Roots(parameters, spec.parameters))
    spec, roots = replace(spec, parameters=own), Roots(parameters, own)
    pairs = aligned(roots)
    found = [each for pair in agreed(pairs) for each in _of_place(pair, roots)]
    found += _of_members(pairs, parameters)
    found += _of_properties(parameters, spec)
    found += _of_required(parameters, spec)
    names = dict.fromkeys([*parameters.get("properties", ()), *own["properties"]])
    places = {(*PARAMETERS, "properties", name): place for place, name in enumerate(names)}
    found.sort(key=lambda each: places.get(each.path[:_TOP], len(places)))
    found += _of_definitions(found, roots)
    found += _of_fields(document, spec)
    unique: dict[Path, Omission] = {}
    for each in found:
        unique.setdefault(each.path, each)
    return [*unique.values()]


def _of_place(pair: Pair, roots: Roots) -> Iterator[Omission]:
    """Yield the function's structure at one place."""
    found, own, place = pair.schema, pair.own, (*PARAMETERS, *pair.path)
    if own.keys() <= _WITHOUT_STRUCTURE:
        return
    ours, theirs = kinds(found, roots.schema), kinds(own, roots.own)
    if "$ref" in found or ours is None or theirs is None or exclude_each_other(ours, theirs):
        return
    both = {frozenset(each - {"null"}) for each in (ours, theirs)}
    if both == {frozenset({"object"})} and "properties" in own and combinator_of(found) is None:
        yield from _of_object(found, own, place)
    if both == {frozenset({"array"})} and combinator_of(found) is None:
        yield from _of_array(found, own, place)
    yield from _of_values(found, own, place, is_same=ours == theirs)
    keyword = combinator_of(found)
    if keyword is not None and "anyOf" in own:
        met = [{"type": "null"}, *(each for _, each in matches(found, own, roots))]
        yield from _items(place, keyword, found, [each for each in own["anyOf"] if each not in met])
    said = {key: each for key, each in own.items() if key not in _STRUCTURE and key not in found}
    if not said:
        return
    is_combined = not found.keys().isdisjoint({"anyOf", "oneOf", "allOf"})
    is_contrary = any(contrary_bound(found, key, each) for key, each in own.items())
    if not (is_wider(ours, theirs) or is_combined or is_contrary):
        yield from (Omission((*place, key), each) for key, each in said.items())


def _of_object(found: dict[str, JSON], own: dict[str, JSON], place: Path) -> Iterator[Omission]:
    if "properties" not in found:
        yield Omission((*place, "properties"), own["properties"], _FIRST)
    else:
        yield from _properties(place, found["properties"], own["properties"])
    for name in own.get("required", ()):
        if name not in found.get("required", ()):
            yield Omission((*place, "required", name), name)


def _properties(
    place: Path, known: Mapping[str, JSON], own: Mapping[str, JSON]
) -> Iterator[Omission]:
    for index, (name, each) in enumerate(own.items()):
        if name not in known:
            yield Omission((*place, "properties", name), each, tuple(own)[:index])


def _items(
    place: Path, keyword: str, found: dict[str, JSON], new: list[JSON]
) -> Iterator[Omission]:
    for index, each in enumerate(new, len(found[keyword])):
        yield Omission((*place, keyword, index), each)


def _of_array(found: dict[str, JSON], own: dict[str, JSON], place: Path) -> Iterator[Omission]:
    if found.keys().isdisjoint(_SAYS_ITEMS):
        for key in ("prefixItems", "items"):
            if key in own:
                yield Omission((*place, key), own[key], (*_FIRST, "prefixItems"))
    elif "prefixItems" in found:
        new = own.get("prefixItems", [])[len(found["prefixItems"]) :]
        yield from _items(place, "prefixItems", found, new)


def _of_values(
    found: dict[str, JSON], own: dict[str, JSON], place: Path, *, is_same: bool
) -> Iterator[Omission]:
    """Yield the values that the function takes; ``is_same`` is whether the types are the same."""
    if "enum" in own and "enum" in found and "const" not in found:
        known = {*map(canonical, found["enum"])}
        new = [each for each in own["enum"] if canonical(each) not in known]
        yield from _items(place, "enum", found, new)
    elif "enum" in own and is_same and found.keys().isdisjoint(_SAYS_VALUES):
        yield Omission((*place, "enum"), own["enum"], ("type",))


def _of_members(pairs: list[Pair], parameters: dict[str, JSON]) -> Iterator[Omission]:
    """Yield descriptions and defaults of members below the properties."""
    inner = [each for each in pairs if each.is_member and len(PARAMETERS + each.path) > _TOP]
    places = {each.path: each for each in nodes(parameters, PARAMETERS)} if inner else {}
    for pair in inner:
        node, text = places.get((*PARAMETERS, *pair.path)), pair.own.get("description")
        if node is not None:
            yield from _of_member(node, pair.own, text, is_needed=pair.is_needed)


def _of_member(
    node: SchemaNode, own: Mapping[str, JSON], text: str | None, *, is_needed: bool
) -> Iterator[Omission]:
    if text and lacks_description(node):
        yield Omission((*node.path, "description"), text, ("$ref", "type", "title"))
    is_open = "default" in own and "default" not in node.schema
    is_open = is_open and not (is_needed or node.is_required)
    # a default that the manifest doesn't accept isn't an omission, until it accepts more
    if is_open and unwritable(own["default"]) is None and not problems_at(node, own["default"]):
        yield Omission((*node.path, "default"), own["default"])


def _of_properties(parameters: dict[str, JSON], spec: FunctionSpec) -> Iterator[Omission]:
    """Yield descriptions and defaults of the properties, and properties."""
    own, known = spec.parameters["properties"], parameters.get("properties", {})
    owner: dict[str, JSON] = {"properties": known}  # the function decides which are required
    for name, each in known.items():
        if isinstance(each, dict):
            place = (*PARAMETERS, "properties", name)
            node = SchemaNode(place, each, parameters, PARAMETERS, owner)
            text = spec.text_of(name) if lacks_description(node) else None
            yield from _of_member(node, own.get(name, {}), text, is_needed=False)
    # otherwise a decorator may supply properties that the manifest doesn't list
    if spec.signature.is_certain:
        yield from _properties(PARAMETERS, argument_names(parameters).places, spec.properties)


def _of_required(parameters: dict[str, JSON], spec: FunctionSpec) -> Iterator[Omission]:
    if not spec.signature.is_certain:
        return
    required, place = argument_names(parameters).required, (*PARAMETERS, "required")
    properties = {*parameters.get("properties", ()), *spec.names}
    needed_by_function, defaulted = spec.needed, spec.defaulted
    needed = [name for name in spec.arguments if name in needed_by_function]
    for index, name in enumerate(needed):
        known = parameters.get("properties", {}).get(name)
        is_filled = isinstance(known, dict) and "default" in known
        if name in properties and name not in required and not is_filled:
            yield Omission((*place, name), name, tuple(needed[:index]))
    for name in parameters.get("required", ()):
        if name in defaulted:
            yield Omission((*place, name), name, is_added=False)


def _of_definitions(found: list[Omission], roots: Roots) -> Iterator[Omission]:
    """Yield the definitions that the manifest and the omissions need."""
    known: dict[str, JSON] = roots.schema.get("$defs", {})
    others = {key: each for key, each in roots.own.get("$defs", {}).items() if key not in known}
    if others:
        held: list[JSON] = [roots.schema]
        for each in found:
            is_whole = each.path[-1] in {"properties", "prefixItems", "items"}
            is_keyword = is_whole and each.path[-2] != "properties"
            held.append({each.path[-1]: each.value} if is_keyword else each.value)
        whole = {"allOf": [each for each in held if isinstance(each, dict)]}
        for name in sorted({*needed_definitions(whole, {**others, **known})} - known.keys()):
            yield Omission((*PARAMETERS, "$defs", name), others[name])


def _of_fields(document: Mapping[str, JSON], spec: FunctionSpec) -> Iterator[Omission]:
    """Yield the manifest's other keys that ``@tool`` gives."""
    before: tuple[str, ...] = ("$schema", "name", "description", "parameters")
    for key, each in spec.fields.items():
        if key not in document:
            yield Omission((key,), each, before)
        elif key in SECTIONS and isinstance(document[key], dict):
            for name, value in each.items():
                if name not in document[key]:
                    yield Omission((key, name), value)
        before = (*before, key)


def _with_known_definitions(roots: Roots) -> dict[str, JSON]:
    """Return a function's schema with its definitions under the manifest's names.

    That is the name of the definition that the manifest refers to in the same place, or else of
    an equal one, or else a name that isn't used yet.
    """
    parameters, own = roots
    theirs, ours = parameters.get("$defs", {}), own.get("$defs", {})
    if not ours:
        return own
    same = {name for name, each in ours.items() if theirs.get(name) == each}
    names = {name: name for name in same if same.issuperset(needed_definitions(ours[name], ours))}
    # Both sides use a definition in the same place: it is the same thing under two names.
    known = {id(each): name for name, each in ours.items()}
    partners: dict[str, str] = {}
    for pair in agreed(aligned(roots)):
        path, partner = pair.path, known.get(id(pair.own))
        if partner is not None and path[:-1] == ("$defs",):
            admitted = kinds(pair.schema, parameters), kinds(pair.own, own)
            # a definition of the same name wins
            if not exclude_each_other(*admitted) and partners.get(partner) != partner:
                partners[partner] = str(path[-1])
    names |= partners
    taken = {*theirs, *names.values()}
    for name in ours:
        if name not in names:
            names[name] = free_name(name, taken)
            taken.add(names[name])
    found = copied(own)
    for node in nodes(found, ()):
        name = defined_name(node.schema.get("$ref"))
        if name in names:
            node.schema["$ref"] = f"#/$defs/{names[name]}"
    return {**found, "$defs": {names[name]: each for name, each in found["$defs"].items()}}
