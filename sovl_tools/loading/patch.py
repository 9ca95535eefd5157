"""A manifest patched to fit its function; what it says otherwise stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sovl_tools.loading.function_spec import (
    FunctionSpec,
    unwritable,
)
from sovl_tools.loading.rules.schema import describes, lacks_description
from sovl_tools.model.document import JSON, Path, canonical, copied
from sovl_tools.model.folder import SECTIONS
from sovl_tools.schema.alignment import Pair, Roots, aligned, matches
from sovl_tools.schema.applicators import (
    Kinds,
    alternatives_of,
    exclude_each_other,
    is_wider,
    kinds,
)
from sovl_tools.schema.comparison import contrary_bound
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.keywords import ANNOTATIONS
from sovl_tools.schema.subschemas import (
    SchemaNode,
    defined_name,
    free_name,
    needed_definitions,
    nodes,
)
from sovl_tools.signature.agreement import PARAMETERS

# patched one by one, or not at all; all other keywords are constraints
_STRUCTURE = frozenset(
    {
        "type", "properties", "required", "items", "prefixItems", "additionalProperties", "anyOf",
        "oneOf", "allOf", "not", "$ref", "$defs", "enum", "const", "default", "description",
        "title", "discriminator",
    }
)  # fmt: skip

_SAYS_VALUES = frozenset({"enum", "const", "anyOf", "oneOf", "allOf", "not", "if"})
_SAYS_ITEMS = frozenset({"items", "prefixItems", "contains"})


class Change(NamedTuple):
    """What a function says and a manifest doesn't: how the manifest would change.

    Attributes:
        path: of a member or an item, from the root of the patched manifest; of what is required,
            the name comes last.
        is_added: whether it is added, or else taken out.
        value: what is added or taken out.
    """

    path: Path
    is_added: bool
    value: JSON


def changes(document: Mapping[str, JSON], spec: FunctionSpec) -> list[Change]:
    """Return how a sound manifest would change, to be in line with its function."""
    patched = patch_manifest(document, spec, name=document["name"])
    return [] if patched is document else [*_changes((), document, patched)]


def _changes(path: Path, before: JSON, after: JSON) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in after.items():
            if key in before:
                if before[key] is not value:  # most of a patched manifest is the manifest's own
                    yield from _changes((*path, key), before[key], value)
            elif key == "required":
                yield from _changes((*path, key), [], value)
            else:
                yield Change((*path, key), is_added=True, value=value)
    elif before == after:
        return
    elif isinstance(before, list) and isinstance(after, list):
        yield from _changed_items(path, before, after)
    else:
        yield Change(path, is_added=True, value=after)


def _changed_items(path: Path, before: list[JSON], after: list[JSON]) -> Iterator[Change]:
    if path[-1] == "required":
        for each in [*after, *before]:
            if each not in before or each not in after:
                yield Change((*path, each), is_added=each in after, value=each)
        return
    for index, each in enumerate(after):
        if index < len(before):
            yield from _changes((*path, index), before[index], each)
        else:
            yield Change((*path, index), is_added=True, value=each)


def patch_manifest(
    document: Mapping[str, JSON], spec: FunctionSpec, *, name: str, prune: bool = False
) -> dict[str, JSON]:
    """Return a manifest brought into line with its folder and its function.

    What it says otherwise stays, and so do the objects in which it says that; itself if nothing
    changes.

    Args:
        document: a manifest whose ``parameters``, if it has any, are a valid schema.
        spec: what the function says.
        name: the folder's name.
        prune: takes out properties and values that the function does not take.
    """
    found = insert(document, "name", name, after=("$schema",))
    own = found.get("description", "")
    # A description of another type is a finding, and not ours to replace.
    if isinstance(own, str) and not own.strip() and spec.documentation.description:
        text = spec.documentation.description
        found = insert(found, "description", text, after=("$schema", "name", "title"))
    parameters = _parameters(found.get("parameters", {}), spec, prune=prune)
    found = insert(found, "parameters", parameters, after=("name", "title", "description"))
    if not spec.fields:
        return found
    whole = _add_missing(found, spec.fields, after=("$schema", "name", "description", "parameters"))
    for key in SECTIONS.keys() & spec.fields.keys():
        if isinstance(whole[key], dict):
            whole[key] = _add_missing(whole[key], spec.fields[key], after=whole[key])
    return whole


def _parameters(parameters: dict[str, JSON], spec: FunctionSpec, *, prune: bool) -> dict[str, JSON]:
    if not parameters:
        return {**spec.parameters, "properties": spec.properties}
    own = _rename_definitions(Roots(parameters, spec.parameters))
    spec = replace(spec, parameters=own)
    found = _patch_below(Roots(parameters, own), prune=prune)
    if "type" not in found:
        found = insert(found, "type", "object", after=("$schema",))
    properties = _properties(found, spec, prune=prune)
    # else a decorator may supply what the manifest doesn't list
    if spec.signature.is_certain and not properties.keys() >= {*spec.names}:
        properties = _add_missing(properties, spec.properties)
    if properties != found.get("properties"):
        found = insert(found, "properties", properties, after=("type",))
    required = _required(found, spec, prune=prune)
    if required != found.get("required", []):
        found = insert(found, "required", required, after=("type", "properties"))
    if "$defs" not in own and "$defs" not in found:
        return found
    known = found.get("$defs", {})
    others = {key: each for key, each in own.get("$defs", {}).items() if key not in known}
    new = sorted({*needed_definitions(found, {**others, **known})} - known.keys()) if others else ()
    if not new:
        return found
    return insert(found, "$defs", {**known, **{name: others[name] for name in new}}, after=found)


def _properties(parameters: dict[str, JSON], spec: FunctionSpec, *, prune: bool) -> dict[str, JSON]:
    """Return the properties with what they lack in descriptions and defaults."""
    own = spec.parameters["properties"]
    known: dict[str, JSON] = parameters.get("properties", {})
    owner: dict[str, JSON] = {"properties": known}  # what is required, the function says
    found = {}
    for name, each in known.items():
        if prune and not spec.takes(name):
            continue
        found[name] = each
        said = own.get(name, {})
        if not isinstance(each, dict):
            continue
        has_text = not describes(each) and spec.text_of(name)
        if has_text or ("default" in said and "default" not in each):
            node = SchemaNode(
                (*PARAMETERS, "properties", name), each, parameters, PARAMETERS, owner
            )
            found[name] = _with_annotations(node, said, partial(spec.text_of, name))
    return found


def _required(parameters: dict[str, JSON], spec: FunctionSpec, *, prune: bool) -> list[str]:
    properties = parameters["properties"]
    if not spec.signature.is_certain:
        found = parameters.get("required", [])
        return [name for name in found if not (prune and name not in properties)]
    defaulted, needed_by_function = spec.defaulted, spec.needed
    found = [
        name
        for name in parameters.get("required", ())
        if name not in defaulted and not (prune and name not in properties)
    ]
    needed = [name for name in spec.arguments if name in needed_by_function]
    if {*found}.issuperset(needed):
        return found
    # New names stand in the order of the signature, behind the one before them there.
    position = 0
    for name in needed:
        if name in found:
            position = found.index(name) + 1
        elif name in properties:
            found.insert(position, name)
            position += 1
    return found


def _rename_definitions(roots: Roots) -> dict[str, JSON]:
    """Return a function's schema with its definitions under the names that a manifest has.

    That is the name of the definition to which the manifest refers in the same place, or else of
    one that says the same, or else one that is free.
    """
    parameters, own = roots
    theirs, ours = parameters.get("$defs", {}), own.get("$defs", {})
    if not ours:
        return own
    same = {name for name, each in ours.items() if theirs.get(name) == each}
    names = {name: name for name in same if same.issuperset(needed_definitions(ours[name], ours))}
    # What both sides use in one place is one thing, whatever they call it.
    known = {id(each): name for name, each in ours.items()}
    partners: dict[str, str] = {}
    for pair in _agreed(aligned(roots)):
        path, partner = pair.path, known.get(id(pair.own))
        if partner is not None and path[:-1] == ("$defs",):
            admitted = kinds(pair.schema, parameters), kinds(pair.own, own)
            # one of the same name is not given up for another
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


def _agreed(pairs: list[Pair]) -> list[Pair]:
    """Return the pairs of those subschemas in whose place the function says one thing only.

    A definition that other places share can't be changed for one of them alone.
    """
    said: dict[int, list[dict[str, JSON]]] = {}
    for pair in pairs:
        if "anyOf" not in pair.own:
            others = said.setdefault(id(pair.schema), [])
            plain = {key: each for key, each in pair.own.items() if key not in ANNOTATIONS}
            if plain not in others:
                others.append(plain)
    return [pair for pair in pairs if len(said.get(id(pair.schema), ())) < _SEVERAL]


_SEVERAL = 2


def _patch_below(roots: Roots, *, prune: bool) -> dict[str, JSON]:
    """Return a manifest's schema with what the function says within its properties.

    Args:
        roots: the schema, and what the function says, with its definitions under the manifest's
            names.
        prune: takes out properties and values that the function does not take.
    """
    found = copied(roots.schema)
    roots = Roots(found, roots.own)
    for pair in _agreed(aligned(roots)):
        overwrite(pair.schema, _patched(pair, roots, prune=prune))
    # Descriptions and defaults come last, into the subschemas that are new by now, too.
    places = {id(each.schema): each for each in nodes(found, PARAMETERS)}
    for pair in filter(_is_annotated, aligned(roots)):
        if (node := places.get(id(pair.schema))) is not None:
            text_of = partial(pair.own.get, "description")
            overwrite(pair.schema, _with_annotations(node, pair.own, text_of))
    return roots.schema


def _patched(pair: Pair, roots: Roots, *, prune: bool) -> dict[str, JSON]:
    """Return the manifest's side of a pair when it is patched."""
    found: dict[str, JSON] = pair.schema
    ours, theirs = kinds(found, roots.schema), kinds(pair.own, roots.own)
    # What contradicts the function is reported, not patched; see sync.
    is_known = "$ref" not in found and ours is not None and theirs is not None
    if is_known and not exclude_each_other(ours, theirs):
        case = _PatchCase(pair.own, roots, prune, ours, theirs)
        for part in _PARTS:
            found = part(case, found)
    return found


def _is_annotated(pair: Pair) -> bool:
    """Tell whether the function says something of a member that its schema may lack."""
    is_inner = len(pair.path) > len(("properties", "name"))
    return (
        is_inner and pair.is_member and not pair.own.keys().isdisjoint({"description", "default"})
    )


def _with_annotations(
    node: SchemaNode, own: Mapping[str, JSON], text_of: Callable[[], str | None]
) -> dict[str, JSON]:
    """Return the schema of a property, with a description and a default if it lacks them."""
    found = node.schema
    text = text_of() if lacks_description(node) else None
    if text:
        found = insert(found, "description", text, after=("$ref", "type", "title"))
    is_open = "default" in own and "default" not in found and not node.is_required
    # what no manifest can hold, no engine could check
    is_open = is_open and unwritable(own["default"]) is None
    if is_open and not problems_at(node, own["default"]):
        found = insert(found, "default", own["default"], after=found)
    return found


class _PatchCase(NamedTuple):
    """What a function says of a place, the whole schemas, and the JSON types that both admit."""

    own: dict[str, JSON]
    roots: Roots
    prune: bool
    kinds: Kinds
    own_kinds: Kinds

    def are(self, kind: str) -> bool:
        """Tell whether both sides speak of values of one JSON type, beside null."""
        both = (self.kinds, self.own_kinds)
        return all(each is not None and each - {"null"} == {kind} for each in both)


def _with_properties(case: _PatchCase, found: dict[str, JSON]) -> dict[str, JSON]:
    own = case.own
    is_plain = "anyOf" not in found and "oneOf" not in found
    if "properties" not in own or not (is_plain and case.are("object")):
        return found
    # Without ``prune`` nothing that somebody wrote is taken out.
    is_closed = case.prune and own.get("additionalProperties") is False
    superfluous = found.get("properties", {}).keys() - own["properties"] if is_closed else set()
    known = {
        key: each for key, each in found.get("properties", {}).items() if key not in superfluous
    }
    properties = _add_missing(known, own["properties"])
    required = [name for name in found.get("required", ()) if name not in superfluous]
    required += [name for name in own.get("required", ()) if name not in required]
    found = insert(found, "properties", properties, after=("type", "title", "description"))
    if required or "required" in found:
        found = insert(found, "required", required, after=("properties",))
    return found


def _with_items(case: _PatchCase, found: dict[str, JSON]) -> dict[str, JSON]:
    own = case.own
    if not case.are("array"):
        return found
    if found.keys().isdisjoint(_SAYS_ITEMS):
        said: dict[str, JSON] = {key: own[key] for key in ("prefixItems", "items") if key in own}
        found = _add_missing(found, said, after=("type", "title", "description"))
    places, known = own.get("prefixItems", []), found.get("prefixItems", [])
    if "prefixItems" in found and len(places) > len(known):
        found = {**found, "prefixItems": [*known, *places[len(known) :]]}
    return found


def _with_values(case: _PatchCase, found: dict[str, JSON]) -> dict[str, JSON]:
    own = case.own
    if "enum" not in own or "const" in found:
        return found
    if "enum" not in found:
        is_same = case.kinds == case.own_kinds
        is_open = is_same and found.keys().isdisjoint(_SAYS_VALUES)
        return insert(found, "enum", own["enum"], after=("type",)) if is_open else found
    taken = {*map(canonical, [*own["enum"], None])}
    kept = [each for each in found["enum"] if not case.prune or canonical(each) in taken]
    known = {*map(canonical, found["enum"])}
    return {**found, "enum": kept + [each for each in own["enum"] if canonical(each) not in known]}


def _with_alternatives(case: _PatchCase, found: dict[str, JSON]) -> dict[str, JSON]:
    key = next((key for key in ("anyOf", "oneOf") if key in found), None)
    if key is None or "anyOf" not in case.own:
        return found
    met = [{"type": "null"}, *(own for _, own in matches(found, case.own, case.roots))]
    new = [each for each in case.own["anyOf"] if each not in met]
    return {**found, key: [*alternatives_of(found), *new]}


def _with_constraints(case: _PatchCase, found: dict[str, JSON]) -> dict[str, JSON]:
    own = {key: each for key, each in case.own.items() if key not in _STRUCTURE}
    if is_wider(case.kinds, case.own_kinds) or not found.keys().isdisjoint(
        {"anyOf", "oneOf", "allOf"}
    ):
        return found
    is_contrary = any(contrary_bound(found, key, each) for key, each in own.items())
    return found if is_contrary else _add_missing(found, own, after=found)


_PARTS: tuple[Callable[[_PatchCase, dict[str, JSON]], dict[str, JSON]], ...] = (
    _with_properties,
    _with_items,
    _with_values,
    _with_alternatives,
    _with_constraints,
)


def insert(
    document: Mapping[str, JSON], key: str, value: JSON, *, after: Iterable[str]
) -> dict[str, JSON]:
    """Return an object with a member: where it is, or else after those that are there."""
    if key in document:
        if document[key] is value and isinstance(document, dict):
            return document
        return {**document, key: value}
    return _add_missing(document, {key: value}, after=after)


def _add_missing(
    document: Mapping[str, JSON], members: Mapping[str, JSON], *, after: Iterable[str] = ()
) -> dict[str, JSON]:
    """Return an object with those members that it lacks, in their order; what is there stays."""
    places = {key: place for place, key in enumerate(document)}
    latest = max((places[each] for each in after if each in places), default=-1)
    # where a list would be searched for each of thousands of parameters
    added: dict[int, list[str]] = {}
    for key in members:
        if key in places:
            latest = max(latest, places[key])
        else:
            added.setdefault(latest, []).append(key)
    keys = [*added.get(-1, ())]
    for key, place in places.items():
        keys += [key, *added.get(place, ())]
    return {key: document[key] if key in places else members[key] for key in keys}


def overwrite(document: dict[str, JSON], found: Mapping[str, JSON]) -> None:
    """Let an object hold other members: the very object, to which its parents lead."""
    members = dict(found)
    document.clear()
    document.update(members)
