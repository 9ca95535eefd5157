"""What lies within a manifest's properties, brought into line with the function."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from sovl_tools.loading.checks.schema import no_description
from sovl_tools.model.document import JSON
from sovl_tools.model.schemanodes import SchemaNode
from sovl_tools.scaffolding.alternatives import (
    Matcher,
    alternatives_of,
    exclude_each_other,
    is_wider,
    kinds,
    values_of,
)
from sovl_tools.scaffolding.pairing import Pair, agreed, pairs
from sovl_tools.scaffolding.placing import overwrite, placed, with_new
from sovl_tools.schema import fit

_STRUCTURE = frozenset(
    {
        "type", "properties", "required", "items", "prefixItems", "additionalProperties", "anyOf",
        "oneOf", "allOf", "not", "$ref", "$defs", "enum", "const", "default", "description",
        "title", "discriminator",
    }
)  # fmt: skip
_SAYS_VALUES = frozenset({"enum", "const", "anyOf", "oneOf", "allOf", "not", "if"})

_SAYS_ITEMS = frozenset({"items", "prefixItems", "contains"})


def mend_inside(parameters: dict[str, JSON], own: dict[str, JSON], *, prune: bool) -> None:
    """Add to the properties of a manifest's schema what the function says within them.

    Args:
        parameters: the schema, which is changed; what it says stays.
        own: what the function says, with its definitions under the manifest's names.
        prune: takes out properties and values that the function does not take.
    """
    for pair in agreed(pairs(parameters, own)):
        overwrite(pair.node.schema, _mended(_Case(pair, own, prune)))
    for pair in pairs(parameters, own):
        if pair.is_inner and pair.node.is_property and not pair.is_part:
            overwrite(pair.node.schema, annotated(pair.node, pair.own))


def annotated(
    node: SchemaNode, own: Mapping[str, JSON], text: str | None = None
) -> dict[str, JSON]:
    """Return the schema of a property, with a description and a default if it lacks them."""
    found = node.schema
    text = own.get("description") or text
    if text and any(no_description.check(node)):
        found = placed(found, "description", text, after=("$ref", "type", "title"))
    is_open = "default" in own and "default" not in found and not node.is_required
    if is_open and not fit.problems(node, own["default"]):
        found = placed(found, "default", own["default"], after=found)
    return found


class _Case(NamedTuple):
    """A pair to mend; ``root`` is the function's whole schema."""

    pair: Pair
    root: dict[str, JSON]
    prune: bool

    @property
    def own(self) -> dict[str, JSON]:
        """What the function says."""
        return self.pair.own

    def are(self, kind: str, found: dict[str, JSON]) -> bool:
        """Tell whether both sides speak of values of one JSON type, beside null."""
        both = (kinds(found, self.pair.node.root), kinds(self.own, self.root))
        return all(each is not None and each - {"null"} == {kind} for each in both)


def _mended(case: _Case) -> dict[str, JSON]:
    found, own = case.pair.node.schema, case.own
    both = kinds(found, case.pair.node.root), kinds(own, case.root)
    if "$ref" in found or None in both or exclude_each_other(*both):
        return found
    for part in _PARTS:
        found = part(case, found)
    return found


def _with_properties(case: _Case, found: dict[str, JSON]) -> dict[str, JSON]:
    own = case.own
    is_plain = "anyOf" not in found and "oneOf" not in found
    if "properties" not in own or not (is_plain and case.are("object", found)):
        return found
    superfluous = set(unknown_properties(found, own)) if case.prune else set()
    known = {
        key: each for key, each in found.get("properties", {}).items() if key not in superfluous
    }
    properties = with_new(known, own["properties"])
    required = [name for name in found.get("required", ()) if name not in superfluous]
    required += [name for name in own.get("required", ()) if name not in required]
    found = placed(found, "properties", properties, after=("type", "title", "description"))
    if required or "required" in found:
        found = placed(found, "required", required, after=("properties",))
    return found


def unknown_properties(schema: Mapping[str, JSON], own: Mapping[str, JSON]) -> list[str]:
    """Return the properties that a function does not take where it takes no further ones."""
    if "properties" not in own or own.get("additionalProperties") is not False:
        return []
    return [name for name in schema.get("properties", ()) if name not in own["properties"]]


def _with_items(case: _Case, found: dict[str, JSON]) -> dict[str, JSON]:
    own = case.own
    if not case.are("array", found):
        return found
    if found.keys().isdisjoint(_SAYS_ITEMS):
        said: dict[str, JSON] = {key: own[key] for key in ("prefixItems", "items") if key in own}
        found = with_new(found, said, after=("type", "title", "description"))
    places, known = own.get("prefixItems", []), found.get("prefixItems", [])
    if "prefixItems" in found and len(places) > len(known):
        found = {**found, "prefixItems": [*known, *places[len(known) :]]}
    return found


def _with_values(case: _Case, found: dict[str, JSON]) -> dict[str, JSON]:
    own = case.own
    if "enum" not in own or "const" in found:
        return found
    if "enum" not in found:
        is_same = kinds(found, case.pair.node.root) == kinds(own, case.root)
        is_open = is_same and found.keys().isdisjoint(_SAYS_VALUES)
        return placed(found, "enum", own["enum"], after=("type",)) if is_open else found
    unknown = {canonical(each) for each in unknown_values(found["enum"], own)}
    kept = [each for each in found["enum"] if not (case.prune and canonical(each) in unknown)]
    known = {*map(canonical, found["enum"])}
    return {**found, "enum": kept + [each for each in own["enum"] if canonical(each) not in known]}


def unknown_values(values: list[JSON], own: Mapping[str, JSON]) -> list[JSON]:
    """Return those of a manifest's values that are not among the function's, null apart."""
    listed = values_of(own)
    known = None if listed is None else {canonical(each) for each in [*listed, None]}
    return [] if known is None else [each for each in values if canonical(each) not in known]


def canonical(value: JSON) -> str:
    """Return a text that is the same for equal values only: 1 is not true."""
    return json.dumps(value, sort_keys=True)


def _with_alternatives(case: _Case, found: dict[str, JSON]) -> dict[str, JSON]:
    key = next((key for key in ("anyOf", "oneOf") if key in found), None)
    if key is None or "anyOf" not in case.own:
        return found
    matches = Matcher(case.pair.node.root, case.root).matches(found, case.own)
    met = [{"type": "null"}, *(each.own for each in matches)]
    new = [each for each in case.own["anyOf"] if each not in met]
    return {**found, key: [*alternatives_of(found), *new]}


def _with_constraints(case: _Case, found: dict[str, JSON]) -> dict[str, JSON]:
    own = {key: each for key, each in case.own.items() if key not in _STRUCTURE}
    ours, theirs = kinds(found, case.pair.node.root), kinds(case.own, case.root)
    if is_wider(ours, theirs) or not found.keys().isdisjoint({"anyOf", "oneOf", "allOf"}):
        return found
    return found if any(contradictions(found, own)) else with_new(found, own, after=found)


_BOUNDS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)


def contradictions(
    schema: Mapping[str, JSON], own: Mapping[str, JSON]
) -> Iterator[tuple[str, str]]:
    """Yield keywords of a schema and of another one that no value can satisfy together."""
    for lower, upper in _BOUNDS:
        if _exceeds(schema.get(lower), own.get(upper)):
            yield lower, upper
        if _exceeds(own.get(lower), schema.get(upper)):
            yield upper, lower


def _exceeds(lower: JSON, upper: JSON) -> bool:
    return lower is not None and upper is not None and bool(lower > upper)


_PARTS: tuple[Callable[[_Case, dict[str, JSON]], dict[str, JSON]], ...] = (
    _with_properties,
    _with_items,
    _with_values,
    _with_alternatives,
    _with_constraints,
)
