"""Gemini: function declarations with ``parametersJsonSchema``, in the names of the wire.

Gemini ignores the keywords that it does not know, so that the description says them. Whether
schemas are enforced is said of a whole request (``toolConfig``), not of a tool. Source: Google's
API reference (``FunctionDeclaration``, ``FunctionCallingConfig``; generateContent, the keywords
listed at ``responseJsonSchema``), the types of its SDK (``google.genai.types``, among them
``JSONSchema``), and its guide "Structured output".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from sovl_tools.formats.base import ROOT, Format, Loss, Options, Shape, as_list
from sovl_tools.formats.compat import Adaptation, Changed, Compatible
from sovl_tools.formats.meaning import note
from sovl_tools.formats.providers import GEMINI
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, Path, kind
from sovl_tools.schema.keywords import IN_LIST, SINGLE
from sovl_tools.schema.merge import merged

_DOUBTFUL = GEMINI.rules.doubtful
_KEPT = GEMINI.rules.heeded | _DOUBTFUL
# those of the root are seen to later
_KEPT_AT_ROOT = _KEPT | {"$ref", "allOf", "oneOf", "if", "then", "else"}
# what these refer to may take their place
_FOLLOWED = frozenset({"$ref", "allOf"})
_ANNOTATIONS = frozenset({"title", "description", "default"})
_IDLE = frozenset({"deprecated", "readOnly", "writeOnly"})


def convert(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool; it has no description if the manifest's is empty."""
    definition: dict[str, JSON] = {"name": tool.name}
    losses: tuple[Loss, ...] = ()
    if tool.description.strip():
        definition["description"] = tool.description
    else:
        message = "description is empty, which may be refused"
        losses = (Loss("doubt", ("description",), message, "say what the tool does"),)
    found = declared(tool.parameters)
    definition["parametersJsonSchema"] = found.schema
    return Shape(tool, definition, (*losses, *found.losses, *_infinite_recursions(found)))


DECLARATIONS = Format(convert, partial(as_list, most=GEMINI.tools, provider=GEMINI.name))


def declared(parameters: dict[str, JSON]) -> Compatible:
    """Return a copy of a schema of arguments in the keywords that Gemini knows."""
    return _Declaration(parameters, GEMINI.rules).whole()


class _Translation(NamedTuple):
    """How a keyword is said in others.

    Attributes:
        parts: schemas that together say it, each in several ways, the best first.
        notes: what they leave unsaid.
        losses: how they say it less exactly.
    """

    parts: Sequence[Sequence[JSON]]
    notes: Sequence[str] = ()
    losses: Sequence[Loss] = ()


class _Node(NamedTuple):
    """A subschema on its way: its path, and the copy in which every subschema is changed already.

    ``follow`` returns what a reference leads to, changed; None where that is not done yet.
    """

    path: Path
    schema: dict[str, JSON]
    follow: Callable[[str], JSON]


class _Declaration(Adaptation):
    """A copy of a schema of arguments in the keywords that Gemini knows."""

    def adapted(self, schema: dict[str, JSON], made: dict[str, JSON], path: Path) -> Changed | None:
        """Return a subschema in the keywords that Gemini knows, None if it has no others."""
        del schema
        # an enum has to list texts or numbers of the schema's own type
        type_ = made.get("type")
        is_listed = "enum" in made and type_ in _LISTED and {*map(kind, made["enum"])} == {type_}
        stay = _KEPT_AT_ROOT if path == ROOT else _KEPT
        kept, others, doubtful = _sorted_keywords(tuple(made), stay, is_listed)
        losses = []
        for keyword in doubtful:
            if made[keyword]:
                message = f"{keyword} may be ignored"
                losses.append(Loss("doubt", (*path, keyword), message, _ADVICE))
        if not others:
            return Changed(made, losses=losses) if losses else None
        found = {keyword: made[keyword] for keyword in kept}
        node = _Node(path, made, self._follow)
        moved, notes = list[str](), list[str]()
        if not _FOLLOWED.isdisjoint(others):
            self.are_all_needed = False
        for keyword in others:
            translation = _TRANSLATIONS.get(keyword, _annotated)(node, keyword)
            said = None if translation is None else _merged_parts(found, translation.parts)
            if translation is None or said is None:
                moved.append(keyword)
            else:
                found = said
                notes += translation.notes
                losses += translation.losses
        return Changed(found, moved, notes, losses)

    def _follow(self, reference: str) -> JSON:
        name = reference.removeprefix("#/$defs/")
        return self.definition(name) if name in self.definitions.targets else None


class _Sorted(NamedTuple):
    """The keywords of a schema: those that stay, the others, and those that may be ignored."""

    kept: tuple[str, ...]
    others: tuple[str, ...]
    doubtful: tuple[str, ...]


@lru_cache(maxsize=4096)
def _sorted_keywords(
    keywords: tuple[str, ...],
    stay: frozenset[str],
    is_listed: bool,  # noqa: FBT001 - a cache is slow at names
) -> _Sorted:
    """Return what becomes of keywords; ``is_listed`` tells whether their ``enum`` stays."""
    if keywords == ("$ref",):
        stay |= {"$ref"}
    if is_listed:
        stay |= {"enum"}
    if "patternProperties" in keywords:
        # without the patterns it would be about the names that match them, too
        stay -= {"additionalProperties"}
    return _Sorted(
        tuple(each for each in keywords if each in stay),
        tuple(each for each in keywords if each not in stay),
        tuple(each for each in keywords if each in _DOUBTFUL),
    )


def _merged_parts(
    schema: dict[str, JSON], parts: Sequence[Sequence[JSON]]
) -> dict[str, JSON] | None:
    """Return a schema that says what several others say too, or None if none can."""
    for ways in parts:
        every = (merged([schema, each]) for each in ways)
        found = next((each for each in every if each is not None), None)
        if found is None:
            return None
        schema = found
    return schema


def _annotated(node: _Node, keyword: str) -> _Translation | None:
    """Leave out what says nothing, or nothing to a model."""
    if keyword in _IDLE and node.schema[keyword] is False:
        return _Translation(())
    if not keyword.startswith("x-"):
        return None
    return _Translation(
        (), losses=[Loss("dropped", (*node.path, keyword), f"{keyword} is left out")]
    )


def _bounded(node: _Node, keyword: str) -> _Translation:
    """Say an exclusive bound as an inclusive one, which is the same for integers alone."""
    inclusive, nearest = _BOUNDS[keyword]
    bound, types = node.schema[keyword], node.schema.get("type", ())
    if "integer" in types and "number" not in types and math.isfinite(bound):
        return _Translation([[{inclusive: nearest(bound)}]])
    loss = Loss("rewritten", (*node.path, keyword), f"{keyword} is said as {inclusive}")
    return _Translation([[{inclusive: bound}]], [note(keyword, bound)], [loss])


def _chosen(node: _Node, keyword: str) -> _Translation:
    """Say values as texts and numbers to choose from, and as types."""
    given = node.schema[keyword]
    values = given if keyword == "enum" else [given]
    found = _alternatives(values, node.schema.get("type"))
    if found:
        return _Translation([[found[0] if len(found) == 1 else {"anyOf": found}]])
    parts = [[_of_types(values)]] if values and "type" not in node.schema else []
    loss = Loss("moved", (*node.path, keyword), f"{keyword} stands in the description only")
    return _Translation(parts, [note(keyword, given)], [loss])


def _alternatives(values: Sequence[JSON], types: JSON) -> list[JSON]:
    """Return schemas one of which a value fits if it is among the given; none where that fails."""
    kinds = {kind(value) for value in values}
    switches = {value for value in values if isinstance(value, bool)}
    # true alone can't be said: no enum takes it, and the type boolean admits false, too
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


def _either(node: _Node, keyword: str) -> _Translation:
    """Say alternatives as what they are taken for."""
    branches = node.schema[keyword]
    loss = Loss("rewritten", (*node.path, keyword), "oneOf is said as anyOf")
    return _Translation([[{"anyOf": branches}, {"oneOf": branches}]], losses=[loss])


def _ways(node: _Node, branch: dict[str, JSON]) -> list[JSON]:
    """Return how a schema may be said beside others; nothing may stand beside a reference."""
    if "$ref" not in branch:
        return [branch]
    wrapped = {"anyOf": [branch]}
    is_only = len(node.schema.get("allOf", ())) + ("$ref" in node.schema) == 1
    if is_only and _ANNOTATIONS.issuperset(node.schema.keys() - {"$ref", "allOf"}):
        return [wrapped]
    target = node.follow(branch["$ref"])
    return [wrapped] if target is None else [target, wrapped]


_LISTED = ("string", "integer", "number")
_ADVICE = "say it in the description too"
_BOUNDS: dict[str, tuple[str, Callable[[float], int]]] = {
    "exclusiveMinimum": ("minimum", lambda bound: math.floor(bound) + 1),
    "exclusiveMaximum": ("maximum", lambda bound: math.ceil(bound) - 1),
}
_TRANSLATIONS: dict[str, Callable[[_Node, str], _Translation | None]] = {
    "const": _chosen,
    "enum": _chosen,
    "oneOf": _either,
    "allOf": lambda node, _: _Translation([_ways(node, each) for each in node.schema["allOf"]]),
    "$ref": lambda node, _: _Translation([_ways(node, {"$ref": node.schema["$ref"]})]),
    **dict.fromkeys(_BOUNDS, _bounded),
}


def _infinite_recursions(found: Compatible) -> Iterator[Loss]:
    """Yield definitions that contain themselves through nothing that may be left out."""
    if not found.definitions.are_used:
        return
    schemas = {f"#/$defs/{name}": each for name, each in found.schema.get("$defs", {}).items()}
    schemas["#"] = found.schema
    needed = {reference: _required_references(schema) for reference, schema in schemas.items()}
    for reference, first in needed.items():
        reached: set[str] = set()
        pending = [reference] if first else []
        while pending:
            following = needed.get(pending.pop(), set()) - reached
            reached |= following
            pending += following
        if reference in reached:
            source = found.definitions.targets.get(reference.removeprefix("#/$defs/"))
            path = () if source is None else source.path
            name = path[-1] if path else ROOT[0]
            message = f"{name!r} contains itself outside of properties that may be left out"
            advice = "do not require a property on the way"
            yield Loss("limit", (*ROOT, *path), message, advice)


def _required_references(schema: JSON) -> set[str]:
    """Return the references in a schema that don't stand in properties that may be left out."""
    found, pending = set(), [schema]
    for each in pending:  # which grows
        if type(each) is not dict or _LEADING.isdisjoint(each):
            continue
        if "$ref" in each:
            found.add(each["$ref"])
        if "properties" in each and "required" in each:
            properties = each["properties"]
            pending += [properties[name] for name in each["required"] if name in properties]
        for keyword in each.keys() & _NESTING:
            below = each[keyword]
            pending += below if type(below) is list else [below]
    return found


_NESTING = frozenset({*IN_LIST, *SINGLE})
_LEADING = _NESTING | {"$ref", "properties"}
