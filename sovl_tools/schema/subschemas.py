"""Every subschema of a schema with its place, where references lead, and one walk for all rules."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, count
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.keywords import IN_LIST, IN_OBJECT, SINGLE

_META_SCHEMA = "https://json-schema.org/draft/2020-12/"
_MOST_STEPS_AT_A_PLACE = 20
_PARTIAL = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contains"}


class SchemaNode(NamedTuple):
    """A subschema.

    Attributes:
        path: from the manifest's root.
        schema: the subschema itself.
        root: the whole schema, in which its references are looked up.
        base: the root's path.
        owner: the schema of which it describes a property; None if it describes none.
        is_partial: whether it is only one of the schemas that a value must fit, as under ``anyOf``.
    """

    path: Path
    schema: dict[str, JSON]
    root: dict[str, JSON]
    base: Path
    owner: dict[str, JSON] | None = None
    is_partial: bool = False

    @property
    def is_property(self) -> bool:
        """Whether it describes a named property."""
        return self.owner is not None

    @property
    def is_required(self) -> bool:
        """Whether that property is required."""
        return self.owner is not None and self.path[-1] in self.owner.get("required", ())


def nodes(root: dict[str, JSON], base: Path) -> Iterator[SchemaNode]:
    """Yield the root and every subschema that is an object, parents first."""
    pending = [SchemaNode(base, root, root, base)]
    for node in pending:  # which grows meanwhile
        yield node
        for keyword, members in nesting(tuple(node.schema)):
            for key, child in members(node.schema[keyword]):
                if isinstance(child, dict):
                    pending.append(child_of(node, keyword, key, child))


Members: TypeAlias = Callable[[Any], Iterable[tuple[str | int | None, JSON]]]
"""From the value of a keyword to what is in it, by name or index; by None if it is one schema."""

_MEMBERS: dict[str, Members] = {
    **dict.fromkeys(IN_OBJECT, dict.items),
    **dict.fromkeys(IN_LIST, enumerate),
    **dict.fromkeys(SINGLE, lambda schema: ((None, schema),)),
}


@lru_cache(maxsize=4096)
def nesting(keys: tuple[str, ...]) -> tuple[tuple[str, Members], ...]:
    """Return those of a schema's keywords that hold subschemas, each with what finds them."""
    return tuple((key, _MEMBERS[key]) for key in keys if key in _MEMBERS)


def with_subschemas(schema: Mapping[str, Any], change: Callable[[Any], JSON]) -> dict[str, Any]:
    """Return a schema in which each subschema right below it is replaced."""
    copy = dict(schema)
    for keyword, _ in nesting(tuple(schema)):
        value = schema[keyword]
        if keyword in SINGLE:
            copy[keyword] = change(value)
        elif keyword in IN_OBJECT and isinstance(value, Mapping):
            copy[keyword] = {name: change(each) for name, each in value.items()}
        elif keyword in IN_LIST and isinstance(value, list | tuple):
            copy[keyword] = [change(each) for each in value]
    return copy


def child_of(
    parent: SchemaNode, keyword: str, key: str | int | None, schema: dict[str, JSON]
) -> SchemaNode:
    """Return the node of a subschema right below another."""
    path, above, root, base, _, is_partial = parent
    place = (*path, keyword) if key is None else (*path, keyword, key)
    owner = above if keyword == "properties" else None
    return SchemaNode(place, schema, root, base, owner, is_partial or keyword in _PARTIAL)


def is_subschema(path: Path) -> bool:
    """Tell whether a path below a schema leads to a subschema, going by the keywords on it."""
    parts = iter(path)
    for part in parts:
        if part in SINGLE:
            continue
        if (part not in IN_OBJECT and part not in IN_LIST) or next(parts, None) is None:
            return False
    return True


class Reference(NamedTuple):
    """Where a reference leads: a subschema, or the reason why it leads nowhere.

    Attributes:
        target: the subschema; None if there is none, or only an engine could follow the reference.
        failure: why it leads nowhere.
        path: from the root to the target.
    """

    target: JSON = None
    failure: str | None = None
    path: Path = ()


def lookup(root: JSON, reference: str) -> Reference:
    """Follow a reference from the root of its schema, without fetching anything."""
    document, _, fragment = reference.partition("#")
    if not document or document == root.get("$id"):
        return _within(root, fragment)
    if document.startswith(_META_SCHEMA):
        return Reference()
    found = _inner(root, document, fragment)
    if found is None:
        identifiers = (value.get("$id") for value, _ in _objects(root))
        # where a part has such a name only an engine can tell what is meant
        if not any(isinstance(each, str) and document in each for each in identifiers):
            return Reference(failure="leads out of the schema, and nothing is fetched")
    return found or Reference()


def follow(schema: JSON, root: JSON) -> JSON:
    """Return what a schema refers to, at last; itself if it refers to nothing.

    It is None if a reference leads nowhere, or where only an engine could follow it.
    """
    steps = 0
    while isinstance(schema, dict) and "$ref" in schema and steps < _MOST_STEPS_AT_A_PLACE:
        if not isinstance(schema["$ref"], str):
            break
        schema = lookup(root, schema["$ref"]).target
        steps += 1
    return schema


def _within(root: JSON, fragment: str) -> Reference:
    if not fragment:
        return Reference(root)
    if not fragment.startswith("/"):
        for value, path in _objects(root):
            if fragment in (value.get("$anchor"), value.get("$dynamicAnchor")):
                return Reference(value, path=path)
        return Reference(failure="names an anchor that is not there")
    target, path = root, path_of(fragment)
    try:
        for place, key in enumerate(path):
            if isinstance(target, list):
                # an index is text in a pointer, and the number of a path
                index = int(key) if key.isdecimal() else len(target)
                path = (*path[:place], index, *path[place + 1 :])
                target = target[index]
            else:
                target = target[key]
    except (LookupError, TypeError, ValueError):  # the last of an index of thousands of digits
        return Reference(failure="leads nowhere")
    return Reference(target, None, path)


def _inner(root: JSON, document: str, fragment: str) -> Reference | None:
    """Follow a reference into a part of a schema that has a name of its own.

    It is None unless that is certain: there is one such part, and nothing in it refers to places
    within itself, which nobody could tell from places in the whole schema once it is moved.
    """
    if ":" not in document:  # what a relative name means depends on where it is
        return None
    # Of two parts of one name nobody knows which is meant.
    found = [node for node in nodes(root, ()) if node.schema.get("$id") == document]
    if len(found) != 1:
        return None
    for each, _ in _objects(found[0].schema):
        references = (each.get("$ref"), each.get("$dynamicRef"))
        if any(isinstance(to, str) and ":" not in to for to in references):
            return None
    inner = _within(found[0].schema, fragment)
    return None if inner.failure else inner._replace(path=(*found[0].path, *inner.path))


def is_static(root: dict[str, JSON], reference: str) -> bool:
    """Tell whether a ``$dynamicRef`` leads where a ``$ref`` would, from wherever it is come to.

    That is certain of a name that one place has. The schema is one of which a validator was made.
    """
    parts = [node.schema for node in nodes(root, ())]
    if reference.startswith("#/"):
        return not any("$id" in each for each in parts[1:])
    anchors = [each.get(keyword) for each in parts for keyword in ("$anchor", "$dynamicAnchor")]
    return reference.startswith("#") and anchors.count(reference[1:]) == 1


def free_name(name: str, taken: Container[str], *, joint: str = "") -> str:
    """Return a definition's name, or the first of ``name2``, ``name3``, … that is not taken."""
    names = chain([name], (f"{name}{joint}{number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def needed_definitions(schema: JSON, definitions: Mapping[str, JSON]) -> list[str]:
    """Return the names of the definitions that a schema refers to, or those that it needs do."""
    found: list[str] = []
    pending = [schema] if definitions else []
    while pending:
        each = pending.pop()
        for node in nodes(each, ()) if isinstance(each, dict) else ():
            name = defined_name(node.schema.get("$ref"))
            if name in definitions and name not in found:
                found.append(name)
                pending.append(definitions[name])
    return found


def defined_name(reference: JSON) -> str:
    """Return the name of the definition that a reference leads to; "" if it leads elsewhere."""
    start = "#/$defs/"
    is_plain = isinstance(reference, str) and reference.startswith(start)
    return reference.removeprefix(start) if is_plain else ""


@lru_cache(maxsize=1024)
def path_of(fragment: str) -> tuple[str, ...]:
    """Return the keys that a JSON Pointer in a reference leads along, numbers as text."""
    if "%" in fragment:
        from urllib.parse import unquote  # noqa: PLC0415 - 4 ms, and hardly ever needed

        fragment = unquote(fragment)
    parts = fragment[1:].split("/")
    if "~" not in fragment:
        return tuple(parts)
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def _objects(document: JSON) -> Iterator[tuple[dict[str, JSON], Path]]:
    """Yield the objects anywhere in a document with their paths, parents first."""
    pending: list[tuple[JSON, Path]] = [(document, ())]
    while pending:
        value, path = pending.pop()
        if isinstance(value, dict):
            yield value, path
            pending.extend((each, (*path, key)) for key, each in reversed(value.items()))
        elif isinstance(value, list):
            members = reversed([*enumerate(value)])
            pending.extend((each, (*path, index)) for index, each in members)


MAX_EXPANSION = 10_000
MAX_STEPS = 200


def expands_too_far(root: dict[str, JSON]) -> bool:
    """Tell whether references lead farther than anyone can check; see ``excess``."""
    return excess(root) is not None


def excess(root: dict[str, JSON]) -> str | None:
    """Return in words to what following every reference leads, if nobody can check that.

    Forty definitions that each refer twice to the one before make a million million. What refers
    back to itself is counted once. What is wrong with a value is told by functions that call one
    another for each reference, so that only so many may follow upon one another.
    """
    # how many subschemas there are below a part, and through how many references they are reached
    known: dict[int, tuple[int, int]] = {}
    targets: dict[str, JSON] = {}
    pending: list[tuple[JSON, list[tuple[JSON, int]]]] = [(root, [])]
    while pending:
        value, below = pending.pop()
        # a list is no subschema
        size, steps = int(isinstance(value, dict)), 0
        if below:
            for part, reference in below:
                more, further = known[id(part)]
                size += more
                steps = max(steps, further + reference)
        elif id(value) not in known:
            below = _below(root, value, targets)
            if below:
                pending.append((value, below))
                pending.extend((part, []) for part, _ in below)
                # What leads back to itself meets this provisional measure and ends there.
                size = 1
        else:
            continue
        # the exact number could have as many digits as there are definitions
        known[id(value)] = (min(size, MAX_EXPANSION + 1), steps)
    size, steps = known[id(root)]
    if size > MAX_EXPANSION:
        return f"multiply to more than {MAX_EXPANSION:,} subschemas"
    return f"follow upon one another more than {MAX_STEPS} times" if steps > MAX_STEPS else None


def _below(root: dict[str, JSON], value: JSON, targets: dict[str, JSON]) -> list[tuple[JSON, int]]:
    """Return what is in a part of a schema and can have parts itself, with 0 references to it.

    What the reference leads to that the part is comes last, with 1. ``targets`` are those that are
    known; it grows.
    """
    if isinstance(value, list):
        return [(part, 0) for part in value if isinstance(part, _NESTING)]
    # what is only defined counts where something refers to it
    found = [
        (part, 0)
        for key, part in value.items()
        if isinstance(part, _NESTING) and key not in _DEFINITIONS
    ]
    reference = value.get("$ref")
    if isinstance(reference, str):
        if reference not in targets:
            targets[reference] = lookup(root, reference).target
        if isinstance(targets[reference], _NESTING):
            found.append((targets[reference], 1))
    return found


_NESTING = (dict, list)
_DEFINITIONS = frozenset({"$defs", "definitions"})
