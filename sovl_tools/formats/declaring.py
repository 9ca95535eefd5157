"""From a parameter schema to the keywords that Gemini's function declarations know.

Others are ignored there, so that they are told in the description. Source: Google's API reference
(generateContent, the keywords listed at ``responseJsonSchema``), the model of a JSON Schema in its
SDK (``google.genai.types.JSONSchema``), and its guide "Structured output".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sovl_tools.formats.easing import OPENAI, misnamed
from sovl_tools.formats.hoisting import Hoisted
from sovl_tools.formats.notes import note
from sovl_tools.formats.reworking import Changed, Node, reworked
from sovl_tools.formats.rooting import ROOT, rooted
from sovl_tools.formats.shape import Loss
from sovl_tools.model.document import JSON, kind
from sovl_tools.schema.merge import merged

SCALAR = frozenset(
    {
        "type", "title", "description", "default", "format", "minItems", "maxItems", "minimum",
        "maximum",
    }
)  # fmt: skip
"""Keywords that Gemini heeds, beside those that hold subschemas, references and ``enum``."""

_KEPT = SCALAR | {
    "items", "prefixItems", "anyOf", "properties", "additionalProperties", "required",
    "minLength", "maxLength", "pattern", "uniqueItems", "minProperties", "maxProperties",
}  # fmt: skip
_DOUBTFUL = frozenset(
    {"minLength", "maxLength", "pattern", "uniqueItems", "minProperties", "maxProperties"}
)
_OF_THE_ROOT = frozenset({"$ref", "allOf", "oneOf", "if", "then", "else"})
_ANNOTATIONS = frozenset({"title", "description", "default"})
_IDLE = frozenset({"deprecated", "readOnly", "writeOnly"})
_RULES = OPENAI._replace(names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"))


class Declared(NamedTuple):
    """A schema as Gemini knows it, where its definitions stood, and what it does not say."""

    schema: dict[str, JSON]
    losses: tuple[Loss, ...]
    source: Hoisted


def declared(parameters: dict[str, JSON]) -> Declared:
    """Return a copy of a schema of arguments in the keywords that Gemini knows."""
    source, losses = reworked(parameters, _change)
    schema, others = rooted(source, _RULES.root)
    names = misnamed(parameters, schema, rules=_RULES)
    return Declared(schema, (*losses, *others, *names), source)


class _Saying(NamedTuple):
    """How a keyword is said in others.

    Attributes:
        parts: schemas that together say it, each in several ways, the best first.
        notes: what they leave unsaid.
        losses: how they say it less exactly.
    """

    parts: Sequence[Sequence[JSON]]
    notes: Sequence[str] = ()
    losses: Sequence[Loss] = ()


def _change(node: Node) -> Changed:
    """Return a subschema in the keywords that Gemini knows."""
    if node.schema.keys() == {"$ref"}:
        return Changed(node.schema)
    kept = _kept(node)
    schema = {key: each for key, each in node.schema.items() if key in kept}
    moved, notes, losses = list[str](), list[str](), [*_doubts(node)]
    for keyword in [each for each in node.schema if each not in kept]:
        saying = _SAYINGS.get(keyword, _annotated)(node, keyword)
        found = None if saying is None else _joined(schema, saying.parts)
        if saying is None or found is None:
            moved.append(keyword)
        else:
            schema = found
            notes += saying.notes
            losses += saying.losses
    return Changed(schema, moved, notes, losses)


def _kept(node: Node) -> frozenset[str]:
    """Return the keywords that stay as they are; those of the root are seen to later."""
    kept = _KEPT | _OF_THE_ROOT if node.path == ROOT else _KEPT
    return kept - {"additionalProperties"} if "patternProperties" in node.schema else kept


def _doubts(node: Node) -> Iterator[Loss]:
    for keyword, value in node.schema.items():
        if keyword in _DOUBTFUL and value:
            yield Loss("doubt", (*node.path, keyword), f"{keyword} may be ignored", _SAY_IT)


def _joined(schema: dict[str, JSON], parts: Sequence[Sequence[JSON]]) -> dict[str, JSON] | None:
    """Return a schema that says what several others say too, or None if none can."""
    for ways in parts:
        every = (merged([schema, each]) for each in ways)
        found = next((each for each in every if each is not None), None)
        if found is None:
            return None
        schema = found
    return schema


def _annotated(node: Node, keyword: str) -> _Saying | None:
    """Leave out what says nothing, or nothing to a model."""
    if keyword in _IDLE and node.schema[keyword] is False:
        return _Saying(())
    if not keyword.startswith("x-"):
        return None
    return _Saying((), losses=[Loss("dropped", (*node.path, keyword), f"{keyword} is left out")])


def _bounded(node: Node, keyword: str) -> _Saying:
    """Say an exclusive bound as an inclusive one, which is the same for integers alone."""
    inclusive, nearest = _BOUNDS[keyword]
    bound, types = node.schema[keyword], node.schema.get("type", ())
    if "integer" in types and "number" not in types and math.isfinite(bound):
        return _Saying([[{inclusive: nearest(bound)}]])
    loss = Loss("rewritten", (*node.path, keyword), f"{keyword} is said as {inclusive}")
    return _Saying([[{inclusive: bound}]], [note(keyword, bound)], [loss])


def _chosen(node: Node, keyword: str) -> _Saying:
    """Say values as texts and numbers to choose from, and as types."""
    given = node.schema[keyword]
    values = given if keyword == "enum" else [given]
    found = _alternatives(values, node.schema.get("type"))
    if found:
        return _Saying([[found[0] if len(found) == 1 else {"anyOf": found}]])
    parts = [[_of_types(values)]] if values and "type" not in node.schema else []
    loss = Loss("moved", (*node.path, keyword), f"{keyword} stands in the description only")
    return _Saying(parts, [note(keyword, given)], [loss])


def _alternatives(values: Sequence[JSON], types: JSON) -> list[JSON]:
    """Return schemas one of which a value fits if it is among the given; none where that fails."""
    kinds = {kind(value) for value in values}
    switches = {value for value in values if isinstance(value, bool)}
    if len(switches) == 1 or not kinds.isdisjoint({"array", "object"}):
        return []
    plain = [value for value in values if type(value) in (str, int, float)]
    found: list[JSON] = [{**_of_types(plain), "enum": plain}] if plain else []
    if switches:
        found.append({"type": "boolean"})
    if "null" in kinds and (types is None or "null" in types):
        found.append({"type": "null"})
    return found


def _of_types(values: Sequence[JSON]) -> dict[str, JSON]:
    types = list(dict.fromkeys(map(kind, values)))
    return {"type": types[0] if len(types) == 1 else types}


def _either(node: Node, keyword: str) -> _Saying:
    """Say alternatives as what they are taken for."""
    branches = node.schema[keyword]
    loss = Loss("rewritten", (*node.path, keyword), "oneOf is said as anyOf")
    return _Saying([[{"anyOf": branches}, {"oneOf": branches}]], losses=[loss])


def _all(node: Node, keyword: str) -> _Saying:
    return _Saying([_ways(node, branch) for branch in node.schema[keyword]])


def _referred(node: Node, keyword: str) -> _Saying:
    return _Saying([_ways(node, {keyword: node.schema[keyword]})])


def _ways(node: Node, branch: dict[str, JSON]) -> list[JSON]:
    """Return how a schema may be said beside others; nothing may stand beside a reference."""
    if "$ref" not in branch:
        return [branch]
    wrapped = {"anyOf": [branch]}
    is_only = len(node.schema.get("allOf", ())) + ("$ref" in node.schema) == 1
    if is_only and _ANNOTATIONS.issuperset(node.schema.keys() - {"$ref", "allOf"}):
        return [wrapped]
    target = node.follow(branch["$ref"])
    return [wrapped] if target is None else [target, wrapped]


_SAY_IT = "say it in the description too"
_BOUNDS: dict[str, tuple[str, Callable[[float], int]]] = {
    "exclusiveMinimum": ("minimum", lambda bound: math.floor(bound) + 1),
    "exclusiveMaximum": ("maximum", lambda bound: math.ceil(bound) - 1),
}
_SAYINGS: dict[str, Callable[[Node, str], _Saying | None]] = {
    "const": _chosen,
    "enum": _chosen,
    "oneOf": _either,
    "allOf": _all,
    "$ref": _referred,
    **dict.fromkeys(_BOUNDS, _bounded),
}
