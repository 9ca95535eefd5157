"""What a provider refuses even in a schema that it does not enforce.

One refused keyword makes a whole request fail. All else may stand: it guides the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.formats.dialect import has_lookaround
from sovl_tools.formats.plainness import COMMON, Plainness, plain
from sovl_tools.formats.reworking import Changed, Node, reworked
from sovl_tools.formats.rooting import ROOT, rooted
from sovl_tools.formats.shape import Loss
from sovl_tools.model.document import JSON, Path, pointer
from sovl_tools.model.schemanodes import nodes

_ANY_NAME = re.compile(".*", re.DOTALL)


class Rules(NamedTuple):
    """What a provider refuses with an error.

    Attributes:
        root: keywords that can't stand beside the properties of the root.
        needs_members: whether arrays have to say what their items are, and objects what their
            properties are.
        takes_lookaround: whether regular expressions may look ahead and behind.
        names: what the names of properties have to match.
        is_sure: whether other names of arguments are refused for certain.
    """

    root: frozenset[str]
    needs_members: bool = True
    takes_lookaround: bool = False
    names: re.Pattern[str] = _ANY_NAME
    is_sure: bool = False


_NAMES_OF_ANTHROPIC = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_ALTERNATIVES = frozenset({"oneOf", "anyOf", "allOf", "not", "enum", "const"})
_CONDITION = ("if", "then", "else")

OPENAI = Rules(_ALTERNATIVES.union(_CONDITION))
ANTHROPIC = Rules(
    _ALTERNATIVES,
    needs_members=False,
    takes_lookaround=True,
    names=_NAMES_OF_ANTHROPIC,
    is_sure=True,
)
OPENROUTER = OPENAI._replace(names=_NAMES_OF_ANTHROPIC)

_PLAIN = Plainness(
    COMMON,
    lambda keyword, value: keyword == "pattern" and not has_lookaround(value),
)
_BY_PATTERN = ("patternProperties", "additionalProperties", "unevaluatedProperties")
_CONTAINS = ("contains", "minContains", "maxContains")


def eased(parameters: dict[str, JSON], rules: Rules) -> tuple[dict[str, JSON], tuple[Loss, ...]]:
    """Return a copy of a schema of arguments that a provider takes, and what that loses."""
    simple = plain(parameters, _PLAIN)
    if simple is not None:
        return simple, ()
    easing = _Easing(rules, _is_weakened(parameters, rules))
    source, losses = reworked(parameters, easing.change)
    schema, others = rooted(source, rules.root)
    return schema, (*losses, *others, *misnamed(parameters, schema, rules=rules))


class _Easing(NamedTuple):
    """The changes that some rules call for.

    Attributes:
        rules: the rules.
        weakens: whether anything goes from the schema, so that more values fit it than before.
    """

    rules: Rules
    weakens: bool

    def change(self, node: Node) -> Changed:
        """Return a subschema as the rules allow it."""
        moved = [*_refused(node.written, self.rules)]
        schema, losses = self._inclusive(node) if self.weakens else (node.schema, ())
        if self.weakens:
            moved += _inverse(node.written, self.rules)
        if self.rules.needs_members:
            schema = _with_members(schema)
        return Changed(schema, moved, losses=losses)

    def _inclusive(self, node: Node) -> tuple[dict[str, JSON], tuple[Loss, ...]]:
        """Return alternatives of which more than one may fit, if they admit more than before.

        Those of the root are told in words later.
        """
        branches = node.written.get("oneOf", ()) if node.path != ROOT else ()
        if not any(_is_touched(each, self.rules) for each in branches):
            return node.schema, ()
        made = {key: each for key, each in node.schema.items() if key != "oneOf"}
        if "anyOf" in made:
            made["allOf"] = [*made.get("allOf", ()), {"anyOf": node.schema["oneOf"]}]
        else:
            made["anyOf"] = node.schema["oneOf"]
        return made, (Loss("rewritten", (*node.path, "oneOf"), "oneOf is said as anyOf"),)


def _refused(schema: dict[str, JSON], rules: Rules) -> Iterator[str]:
    """Yield keywords that have to go from a schema."""
    if not rules.takes_lookaround:
        if has_lookaround(schema.get("pattern", "")):
            yield "pattern"
        if any(map(has_lookaround, schema.get("patternProperties", ()))):
            yield from (each for each in _BY_PATTERN if each in schema)
    if rules.needs_members and _has(schema, "array") and "items" not in schema:
        yield from schema.keys() & {"unevaluatedItems"}


def _inverse(schema: dict[str, JSON], rules: Rules) -> Iterator[str]:
    """Yield keywords that would admit less, because schemas in them admit more."""
    if _is_touched(schema.get("not"), rules):
        yield "not"
    if _is_touched(schema.get("if"), rules):
        yield from (each for each in _CONDITION if each in schema)
    if "maxContains" in schema and _is_touched(schema.get("contains"), rules):
        yield from (each for each in _CONTAINS if each in schema)


def _is_weakened(schema: JSON, rules: Rules) -> bool:
    """Tell whether something has to go from a schema or from one in it."""
    return any(
        next(_refused(node.schema, rules), None) or _leads_elsewhere(node.schema)
        for node in nodes(schema, ROOT)
    )


def _leads_elsewhere(schema: dict[str, JSON]) -> bool:
    return "$dynamicRef" in schema or not schema.get("$ref", "#").startswith("#")


def _is_touched(schema: JSON, rules: Rules) -> bool:
    """Tell whether a schema may lose something, also by what it refers to."""
    if not isinstance(schema, dict):
        return False
    refers = any("$ref" in node.schema for node in nodes(schema, ROOT))
    return refers or _is_weakened(schema, rules)


def _has(schema: dict[str, JSON], kind: str) -> bool:
    types = schema.get("type", ())
    return kind == types if isinstance(types, str) else kind in types


def _with_members(schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return a schema that says what its members are, if only that they may be anything."""
    if _has(schema, "array") and "items" not in schema:
        schema = {**schema, "items": {}}
    if _has(schema, "object") and "properties" not in schema:
        schema = {**schema, "properties": {}}
    return schema


def misnamed(
    parameters: dict[str, JSON], schema: dict[str, JSON], *, rules: Rules
) -> tuple[Loss, ...]:
    """Return which names of properties are refused, or may be.

    Args:
        parameters: the schema of the manifest, in which the places are.
        schema: what is made of it, with the properties that the provider is told of.
        rules: what names have to match.
    """
    refused = _refused_names(schema, rules)
    if not refused:
        return ()
    places = [
        (*node.path, "properties", name)
        for node in nodes(parameters, ROOT)
        for name in node.schema.get("properties", ())
        if name in refused
    ]
    arguments = schema["properties"] if rules.is_sure else ()
    return tuple(
        _misnamed(path, rules, is_sure=path[-1] in arguments)
        for path in sorted(places, key=pointer)
    )


def _refused_names(schema: dict[str, JSON], rules: Rules) -> set[str]:
    names = {name for node in nodes(schema, ROOT) for name in node.schema.get("properties", ())}
    return {name for name in names if not rules.names.fullmatch(name)}


def _misnamed(path: Path, rules: Rules, *, is_sure: bool) -> Loss:
    advice = f"rename it, so that it matches {rules.names.pattern}"
    if is_sure:
        return Loss("name", path, f"{path[-1]!r} is refused as the name of a property", advice)
    return Loss("doubt", path, f"{path[-1]!r} may be refused as the name of a property", advice)
