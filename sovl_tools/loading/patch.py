"""A manifest patched to fit its function; what it says otherwise stays.

``sync`` writes it, and the rule for what a manifest leaves out compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from sovl_tools.loading.function_spec import (
    FunctionSpec,
    unwritable,
)
from sovl_tools.loading.rules.schema import describes, lacks_description
from sovl_tools.model.document import JSON, canonical, copied
from sovl_tools.model.folder import SECTIONS
from sovl_tools.schema.alignment import Pair, Roots, aligned, matches
from sovl_tools.schema.applicators import combinator_of, exclude_each_other, is_wider, kinds
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


def patch_manifest(
    document: Mapping[str, JSON], spec: FunctionSpec, *, name: str, prune: bool = False
) -> dict[str, JSON]:
    """Return a manifest brought into line with its folder and its function.

    What it says otherwise stays.

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
    found, own = pair.schema, pair.own
    ours, theirs = kinds(found, roots.schema), kinds(own, roots.own)
    # What contradicts the function is reported, not patched; see sync.
    if "$ref" in found or ours is None or theirs is None or exclude_each_other(ours, theirs):
        return found
    both = {frozenset(each - {"null"}) for each in (ours, theirs)}
    if both == {_OBJECT}:
        found = _with_properties(found, own, prune=prune)
    if both == {_ARRAY}:
        found = _with_items(found, own)
    found = _with_values(found, own, is_same=ours == theirs, prune=prune)
    found = _with_alternatives(found, own, roots)
    return found if is_wider(ours, theirs) else _with_constraints(found, own)


_OBJECT, _ARRAY = frozenset({"object"}), frozenset({"array"})


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


def _with_properties(
    found: dict[str, JSON], own: dict[str, JSON], *, prune: bool
) -> dict[str, JSON]:
    if "properties" not in own or combinator_of(found) is not None:
        return found
    known = found.get("properties", {})
    # Without ``prune`` nothing that somebody wrote is taken out.
    if prune and own.get("additionalProperties") is False:
        known = {key: each for key, each in known.items() if key in own["properties"]}
    gone = found.get("properties", {}).keys() - known.keys()
    required = [name for name in found.get("required", ()) if name not in gone]
    required += [name for name in own.get("required", ()) if name not in required]
    properties = _add_missing(known, own["properties"])
    found = insert(found, "properties", properties, after=("type", "title", "description"))
    if required or "required" in found:
        found = insert(found, "required", required, after=("properties",))
    return found


def _with_items(found: dict[str, JSON], own: dict[str, JSON]) -> dict[str, JSON]:
    if found.keys().isdisjoint({"items", "prefixItems", "contains"}):
        said: dict[str, JSON] = {key: own[key] for key in ("prefixItems", "items") if key in own}
        found = _add_missing(found, said, after=("type", "title", "description"))
    known = found.get("prefixItems", [])
    if known:
        return {**found, "prefixItems": [*known, *own.get("prefixItems", ())[len(known) :]]}
    return found


def _with_values(
    found: dict[str, JSON], own: dict[str, JSON], *, is_same: bool, prune: bool
) -> dict[str, JSON]:
    """Add the values that the function takes; ``is_same`` tells whether the types are the same."""
    if "enum" not in own or "const" in found:
        return found
    if "enum" not in found:
        is_open = is_same and found.keys().isdisjoint(_SAYS_VALUES)
        return insert(found, "enum", own["enum"], after=("type",)) if is_open else found
    taken = {*map(canonical, [*own["enum"], None])}
    kept = [each for each in found["enum"] if not prune or canonical(each) in taken]
    known = {*map(canonical, found["enum"])}
    return {**found, "enum": kept + [each for each in own["enum"] if canonical(each) not in known]}


def _with_alternatives(
    found: dict[str, JSON], own: dict[str, JSON], roots: Roots
) -> dict[str, JSON]:
    key = combinator_of(found)
    if key is None or "anyOf" not in own:
        return found
    met = [{"type": "null"}, *(each for _, each in matches(found, own, roots))]
    new = [each for each in own["anyOf"] if each not in met]
    return {**found, key: [*found[key], *new]}


def _with_constraints(found: dict[str, JSON], own: dict[str, JSON]) -> dict[str, JSON]:
    said = {key: each for key, each in own.items() if key not in _STRUCTURE}
    is_combined = not found.keys().isdisjoint({"anyOf", "oneOf", "allOf"})
    if is_combined or any(contrary_bound(found, key, each) for key, each in said.items()):
        return found
    return _add_missing(found, said, after=found)


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
