"""What lies within a manifest's properties, brought into line with the function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sovl_tools.loading.checks.schema import no_description
from sovl_tools.model.document import JSON
from sovl_tools.scaffolding.placing import overwrite, placed, with_new
from sovl_tools.schema import fit
from sovl_tools.schema.applicators import alternatives_of, kinds
from sovl_tools.schema.subschemas import SchemaNode, nodes
from sovl_tools.signature.agreement import (
    canonical,
    contrary_bounds,
    unknown_properties,
    unknown_values,
)
from sovl_tools.signature.pairs import (
    BASE,
    Matcher,
    Pair,
    agreed,
    exclude_each_other,
    is_wider,
    pairs,
)

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
        overwrite(pair.schema, _mended(_Case(pair, Matcher(parameters, own), prune)))
    places = {id(each.schema): each for each in nodes(parameters, BASE)}
    for pair in pairs(parameters, own):
        node = places.get(id(pair.schema))
        if node is not None and pair.is_inner and pair.is_property and not pair.is_part:
            overwrite(pair.schema, annotated(node, pair.own))


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
    """A pair to mend, and the whole schemas that it is of."""

    pair: Pair
    matcher: Matcher
    prune: bool

    @property
    def own(self) -> dict[str, JSON]:
        """What the function says."""
        return self.pair.own

    def are(self, kind: str, found: dict[str, JSON]) -> bool:
        """Tell whether both sides speak of values of one JSON type, beside null."""
        both = (kinds(found, self.matcher.parameters), kinds(self.own, self.matcher.own))
        return all(each is not None and each - {"null"} == {kind} for each in both)


def _mended(case: _Case) -> dict[str, JSON]:
    found, own = case.pair.schema, case.own
    both = kinds(found, case.matcher.parameters), kinds(own, case.matcher.own)
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
        is_same = kinds(found, case.matcher.parameters) == kinds(own, case.matcher.own)
        is_open = is_same and found.keys().isdisjoint(_SAYS_VALUES)
        return placed(found, "enum", own["enum"], after=("type",)) if is_open else found
    unknown = {canonical(each) for each in unknown_values(found["enum"], own)}
    kept = [each for each in found["enum"] if not (case.prune and canonical(each) in unknown)]
    known = {*map(canonical, found["enum"])}
    return {**found, "enum": kept + [each for each in own["enum"] if canonical(each) not in known]}


def _with_alternatives(case: _Case, found: dict[str, JSON]) -> dict[str, JSON]:
    key = next((key for key in ("anyOf", "oneOf") if key in found), None)
    if key is None or "anyOf" not in case.own:
        return found
    matches = case.matcher.matches(found, case.own)
    met = [{"type": "null"}, *(each.own for each in matches)]
    new = [each for each in case.own["anyOf"] if each not in met]
    return {**found, key: [*alternatives_of(found), *new]}


def _with_constraints(case: _Case, found: dict[str, JSON]) -> dict[str, JSON]:
    own = {key: each for key, each in case.own.items() if key not in _STRUCTURE}
    ours, theirs = kinds(found, case.matcher.parameters), kinds(case.own, case.matcher.own)
    if is_wider(ours, theirs) or not found.keys().isdisjoint({"anyOf", "oneOf", "allOf"}):
        return found
    return found if any(contrary_bounds(found, own)) else with_new(found, own, after=found)


_PARTS: tuple[Callable[[_Case, dict[str, JSON]], dict[str, JSON]], ...] = (
    _with_properties,
    _with_items,
    _with_values,
    _with_alternatives,
    _with_constraints,
)
