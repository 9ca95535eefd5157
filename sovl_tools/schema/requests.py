"""OpenAPI's schemas, as they apply to a client's requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import lookup

_BRANCHES = ("allOf", "anyOf", "oneOf")
_MOST_PARTS = 100
_COMPONENTS = "#/components/schemas/"


class Requests:
    """The schemas of one document as they apply to requests."""

    def __init__(self, root: dict[str, JSON]) -> None:
        self._root = root
        # with the schemas themselves, so that no other object gets the identity of one
        self._known: dict[int, tuple[dict[str, JSON], dict[str, JSON]]] = {}

    def schema(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        """Return a subschema for requests; its own subschemas are unchanged, except alternatives.

        - Properties that only occur in responses (``readOnly``) are omitted, also behind ``$ref``.
        - A ``discriminator`` becomes a value of the named property in each alternative.
        - Names that are required, but listed nowhere, become properties with any value.

        Args:
            schema: in any dialect, and not necessarily valid.
        """
        if id(schema) not in self._known:
            made = _discriminated(schema, self._root)
            read_only = {
                name
                for part in together(made, self._root)
                for name, each in properties_of(part).items()
                if self._is_read_only(each)
            }
            made = _with_required(_without(made, read_only) if read_only else made, self._root)
            self._known[id(schema)] = schema, made
        return self._known[id(schema)][1]

    def _is_read_only(self, schema: JSON) -> bool:
        return any(each.get("readOnly") is True for each in together(schema, self._root))


def together(schema: JSON, root: JSON) -> Iterator[dict[str, JSON]]:
    """Yield a schema, its reference's target and the members of its ``allOf``, up to a bound."""
    pending, known = [schema], set[int]()
    for each in pending:  # which grows meanwhile
        if len(known) == _MOST_PARTS:
            return
        if not isinstance(each, dict) or id(each) in known:
            continue
        known.add(id(each))
        yield each
        if isinstance(each.get("$ref"), str):
            pending.append(lookup(root, each["$ref"]).target)
        every = each.get("allOf")
        pending += every if isinstance(every, list) else []


def properties_of(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the properties that a schema itself lists; empty if that isn't an object."""
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _without(schema: dict[str, JSON], names: set[str]) -> dict[str, JSON]:
    """Return a schema without properties, which its alternatives don't require either."""
    made = dict(schema)
    if isinstance(made.get("properties"), dict):
        made["properties"] = {k: each for k, each in made["properties"].items() if k not in names}
    if isinstance(made.get("required"), list):
        made["required"] = [
            each for each in made["required"] if not (isinstance(each, str) and each in names)
        ]
    for keyword in _BRANCHES:
        if isinstance(made.get(keyword), list):
            made[keyword] = [
                _without(each, names) if isinstance(each, dict) else each for each in made[keyword]
            ]
    return made


def _with_required(schema: dict[str, JSON], root: JSON) -> dict[str, JSON]:
    """Return a schema whose required names are all among its properties."""
    listed, required = schema.get("properties"), schema.get("required")
    if not isinstance(listed, dict) or not isinstance(required, list):
        return schema
    absent = [each for each in required if isinstance(each, str) and each not in listed]
    if not absent:
        return schema
    elsewhere = {name for each in together(schema, root) for name in properties_of(each)}
    made = {**schema, "properties": {**listed, **{n: {} for n in absent if n not in elsewhere}}}
    beside = [each for each in absent if each in elsewhere]
    if beside and isinstance(schema.get("allOf", []), list):
        made["required"] = [each for each in required if each not in beside]
        made["allOf"] = [*schema.get("allOf", ()), {"required": beside}]
    return made


def _discriminated(schema: dict[str, JSON], root: JSON) -> dict[str, JSON]:
    """Return a schema in which a property's value selects the alternative."""
    found = schema.get("discriminator")
    name = found.get("propertyName") if isinstance(found, dict) else None
    mapping = found.get("mapping") if isinstance(found, dict) else None
    keyword = next((each for each in ("oneOf", "anyOf") if isinstance(schema.get(each), list)), "")
    if not isinstance(name, str) or not keyword:
        return schema
    pairs = mapping.items() if isinstance(mapping, dict) else ()
    return {
        **schema,
        keyword: [
            _decided(each, name, _values(each["$ref"], pairs), root)
            if isinstance(each, dict) and isinstance(each.get("$ref"), str)
            else each
            for each in schema[keyword]
        ],
    }


def _values(reference: str, mapping: Iterable[tuple[str, JSON]]) -> list[str]:
    """Return the values that represent a schema: the mapping's, or else its name."""
    said = [value for value, target in mapping if target in (reference, *_names(reference))]
    return said or [*_names(reference)]


def _names(reference: str) -> tuple[str, ...]:
    name = reference.removeprefix(_COMPONENTS)
    return () if name == reference else (name.replace("~1", "/").replace("~0", "~"),)


def _decided(branch: dict[str, JSON], name: str, values: list[str], root: JSON) -> JSON:
    """Return an alternative for these values of a property, unless it lists its values itself."""
    parts = [*together(branch, root)]
    own = [properties_of(each)[name] for each in parts if name in properties_of(each)]
    every = [each for schema in own for each in together(schema, root)]
    for each in every:
        listed = [each["const"]] if "const" in each else each.get("enum")
        # a base of all alternatives may list the values of all
        if isinstance(listed, list) and not {*values} < {v for v in listed if isinstance(v, str)}:
            return branch
    # an undeclared property can be impossible, or be what alternatives below decide on
    is_open = not any(each.get("additionalProperties") is False for each in parts)
    is_single = not any(key in each for each in parts for key in ("oneOf", "anyOf"))
    if not values or not (own or (is_open and is_single)):
        return branch
    said = {"const": values[0]} if len(values) == 1 else {"enum": values}
    required = branch.get("required")
    return {
        **branch,
        "properties": {**properties_of(branch), name: {"type": "string", **said}},
        "required": [*(required if isinstance(required, list) else ()), name],
    }
