"""A manifest patched to fit its function; what it says otherwise stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sovl_tools.loading.function_spec import FunctionSpec
from sovl_tools.loading.omissions import Omission, omissions
from sovl_tools.loading.rules.description import is_placeholder
from sovl_tools.model.document import JSON, canonical, copied
from sovl_tools.schema.alignment import Roots, agreed, aligned
from sovl_tools.schema.applicators import combinator_of, exclude_each_other, kinds

_MOST_ROUNDS = 9
"""An addition can make a default valid that the manifest rejected; every round adds something."""


def patch_manifest(
    document: Mapping[str, JSON],
    spec: FunctionSpec,
    *,
    name: str,
    prune: bool = False,
    descriptions: bool = False,
) -> dict[str, JSON]:
    """Return a manifest brought into line with its folder and its function.

    What it says otherwise stays.

    Args:
        document: a manifest whose ``parameters``, if it has any, are a valid schema.
        spec: what the function says.
        name: the folder's name.
        prune: removes properties and values that the function doesn't take.
        descriptions: takes the docstring's words instead of others.
    """
    found = insert(document, "name", name, after=("$schema",))
    own = found.get("description", "")
    # A description of another type is a finding, and not ours to replace.
    if isinstance(own, str) and not own.strip() and spec.documentation.description:
        text = spec.documentation.description
        found = insert(found, "description", text, after=("$schema", "name", "title"))
    parameters = found.get("parameters") or {**spec.parameters, "properties": spec.properties}
    if "type" not in parameters:
        parameters = insert(parameters, "type", "object", after=("$schema",))
    if "properties" not in parameters:
        parameters = insert(parameters, "properties", {}, after=("type",))
    if prune:
        parameters = _pruned(parameters, spec)
    found, parameters = _reworded(found, parameters, spec, every=descriptions)
    found = insert(found, "parameters", parameters, after=("name", "title", "description"))
    for _ in range(_MOST_ROUNDS):
        missing = omissions(found, spec)
        if not missing:
            break
        found = _with(found, missing)
    return found


def rewordings(document: Mapping[str, JSON], spec: FunctionSpec) -> dict[str | None, str]:
    """Return the docstring's words for what a manifest describes in others, by property.

    Those for the tool itself are under None. Descriptions over several lines are compared without
    their line breaks.
    """
    properties = document.get("parameters", {}).get("properties", {})
    texts = {name: (each, spec.text_of(name)) for name, each in properties.items()}
    every: dict[str | None, tuple[JSON, str | None]] = {
        None: (document, spec.documentation.description),
        **texts,
    }
    found = {}
    for name, (schema, text) in every.items():
        own = schema.get("description") if isinstance(schema, dict) else None
        if text and isinstance(own, str) and own.split() != text.split() and own.strip():
            found[name] = text
    return found


def _reworded(
    document: dict[str, JSON], parameters: dict[str, JSON], spec: FunctionSpec, *, every: bool
) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Return a manifest and its parameters with the docstring's words instead of placeholders.

    ``every`` takes them instead of all other words.
    """
    found, schema = dict(document), copied(parameters)
    for name, text in rewordings({**document, "parameters": parameters}, spec).items():
        owner = found if name is None else schema["properties"][name]
        if every or is_placeholder(owner["description"], name or str(document["name"])):
            owner["description"] = text
    return found, schema


def _with(document: dict[str, JSON], missing: Iterable[Omission]) -> dict[str, JSON]:
    """Return a document with what it omits."""
    found: dict[str, JSON] = copied(document)
    for each in missing:
        *above, last = each.path
        owner = _owner(found, above)
        if isinstance(owner, dict):
            after = owner if each.after is None else each.after
            overwrite(owner, insert(owner, str(last), copied(each.value), after=after))
        elif not each.is_added:
            owner.remove(each.value)
        elif isinstance(last, int) or each.after is None:
            owner.append(copied(each.value))
        else:
            before = [owner.index(name) for name in each.after if name in owner]
            owner.insert(max(before, default=-1) + 1, each.value)
    return found


def _owner(document: JSON, path: Iterable[str | int]) -> JSON:
    """Return the object or list at a path; it is created if only the last key is missing."""
    for key in path:
        if isinstance(document, dict) and key not in document:
            new: JSON = [] if key == "required" else {}
            after = ("type", "properties") if key == "required" else document
            overwrite(document, insert(document, str(key), new, after=after))
        document = document[key]
    return document


def _pruned(parameters: dict[str, JSON], spec: FunctionSpec) -> dict[str, JSON]:
    """Return a schema without the properties and values that the function doesn't take."""
    found: dict[str, JSON] = copied(parameters)
    roots = Roots(found, spec.parameters)
    for pair in agreed(aligned(roots)):
        schema, own = pair.schema, pair.own
        types = kinds(schema, found), kinds(own, roots.own)
        if "$ref" in schema or None in types or exclude_each_other(*types):
            continue
        is_closed = own.get("additionalProperties") is False and "properties" in own
        if is_closed and combinator_of(schema) is None:
            _remove(schema, {*schema.get("properties", ())} - own["properties"].keys())
        if "enum" in own and "enum" in schema and "const" not in schema:
            taken = {*map(canonical, [*own["enum"], None])}
            schema["enum"] = [each for each in schema["enum"] if canonical(each) in taken]
    _remove(found, {name for name in found["properties"] if not spec.takes(name)})
    required = found.get("required", [])
    if required:
        found["required"] = [name for name in required if name in found["properties"]]
    return found


def _remove(schema: dict[str, JSON], names: set[str]) -> None:
    """Remove properties from an object's schema."""
    for name in names:
        del schema["properties"][name]
    if names and "required" in schema:
        schema["required"] = [name for name in schema["required"] if name not in names]


def insert(
    document: Mapping[str, JSON], key: str, value: JSON, *, after: Iterable[str]
) -> dict[str, JSON]:
    """Return an object with a member: where it is, or else after those that are there."""
    if key in document:
        return {**document, key: value}
    places = {each: place for place, each in enumerate(document, 1)}
    items = list(document.items())
    items.insert(max((places.get(each, 0) for each in after), default=0), (key, value))
    return dict(items)


def overwrite(document: dict[str, JSON], found: Mapping[str, JSON]) -> None:
    """Let an object hold other members: the very object, to which its parents lead."""
    members = dict(found)
    document.clear()
    document.update(members)
