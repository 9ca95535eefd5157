"""Tools as text for a system prompt, for models that have no function calling.

Each keyword of a schema is a few words behind the description of its argument; what lies in an
argument stands indented below it.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

from sovl_tools.formats.base import Asked, Loss, Shape
from sovl_tools.formats.notes import note
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, kind
from sovl_tools.schema.subschemas import lookup

_INDENT = "  "
_NULL = {"type": "null"}
_REFERENCES = ("$ref", "$dynamicRef")
_STRUCTURE = frozenset(
    {
        "properties", "patternProperties", "additionalProperties", "items", "prefixItems", "anyOf",
        "oneOf",
    }
)  # fmt: skip
_UNNAMED = _STRUCTURE - {"properties"}
_FOLLOWED = frozenset({*_REFERENCES, "allOf", "anyOf", "oneOf"})
"""Keywords that lead to other schemas for the same value."""

_TOLD = frozenset(
    {
        *_STRUCTURE, "type", "title", "description", "default", "required", "allOf", "$schema",
        "$id", "$anchor", "$dynamicAnchor", "$comment", "$defs", "definitions",
    }
)  # fmt: skip
"""Keywords that have a place of their own in the text, or say nothing to a model."""

_PLURALS = {
    "string": "strings",
    "integer": "integers",
    "number": "numbers",
    "boolean": "booleans",
    "object": "objects",
    "array": "arrays",
    "null": "nulls",
}

_BASIC = frozenset({"type", "title", "description", "properties", "required"})
_BARE = frozenset({"type", "description"})
_SCALARS = _PLURALS.keys() - {"object", "array"}


def shaped(tool: ToolDefinition, _: Asked) -> Shape:
    """Return one tool as text: its name, description, arguments and instructions."""
    lines = [f"## {tool.name}", tool.description.strip(), *_arguments(tool.parameters)]
    if tool.instructions and tool.instructions.strip():
        lines.append(f"Instructions: {tool.instructions.strip()}")
    return Shape(tool, "\n".join(lines))


def gathered(shapes: Sequence[Shape], _: Asked) -> tuple[Any, tuple[Loss, ...]]:
    """Return the texts of all tools as one, with blank lines between them."""
    return "\n\n".join(shape.definition for shape in shapes), ()


def _arguments(parameters: dict[str, JSON]) -> list[str]:
    properties, required = parameters.get("properties", {}), parameters.get("required", ())
    is_bare = _BASIC.issuperset(parameters) and all(map(_is_bare, properties.values()))
    if is_bare and properties.keys() >= {*required}:
        lines = [_bare(name, each, required) for name, each in properties.items()]
        return ["Arguments:", *lines] if lines else ["Arguments: none."]
    whole = _Value.of(parameters, _Text(parameters, {}), "the arguments")
    notes, inner = whole.notes(), whole.inner()
    lines = [" ".join(["Arguments:" if inner else "Arguments: none.", *notes]), *inner]
    if "$defs" in parameters and any('"#' in line for line in lines):
        lines.append(note("$defs", parameters["$defs"]))
    return lines


class Described(NamedTuple):
    """What the text says of an argument, in parts.

    Attributes:
        name: the argument's.
        type: in words, ``any`` if anything goes.
        mark: ``required``, ``optional`` or the default.
        meaning: the description, or else the title.
        notes: a sentence for each thing that is asked of it beside its type.
        inner: lines about what lies in it.
    """

    name: str
    type: str
    mark: str
    meaning: str
    notes: list[str]
    inner: list[str]


def described(parameters: dict[str, JSON]) -> Iterator[Described]:
    """Yield what is said of each argument of a tool."""
    text, required = _Text(parameters, {}), parameters.get("required", ())
    for name, schema in parameters.get("properties", {}).items():
        value = _Value.of(schema, text, _label(name))
        mark = "required" if name in required else value.default()
        yield Described(name, value.type, mark, value.meaning(), value.notes(), value.inner())


class _Text(NamedTuple):
    """What the arguments of one tool have in common.

    Attributes:
        root: the schema in which references are looked up.
        places: where schemas are described so far, by their identity; it grows with the text.
    """

    root: dict[str, JSON]
    places: dict[int, str]


class _Value(NamedTuple):
    """What is known of a value.

    Attributes:
        schemas: those that it has to fit and that are not described yet, references followed.
        text: the text so far.
        place: what the value is called.
        names: the types that it may have.
        repeated: the places at which other schemas are described that it has to fit.
    """

    schemas: tuple[dict[str, JSON], ...]
    text: _Text
    place: str
    names: list[str]
    repeated: list[str]

    @classmethod
    def of(cls, schema: JSON, text: _Text, place: str) -> _Value:
        """Return what a schema says of a value."""
        every = _schemas(schema, text.root, set())
        names = _names(schema, text.root, frozenset())
        if text.places.keys().isdisjoint(map(id, every)):
            return cls(tuple(every), text, place, names, [])
        new = tuple(each for each in every if id(each) not in text.places)
        known = [text.places[id(each)] for each in every if id(each) in text.places]
        return cls(new, text, place, names, known)

    def below(self, schema: JSON, place: str) -> _Value:
        """Return what a schema says of something in the value, or of the value itself."""
        return _Value.of(schema, self.text, f"{place} of {self.place}")

    @property
    def type(self) -> str:
        """Its type in words: ``array of strings``, ``string or null``."""
        if "array" not in self.names:
            return " or ".join(self.names)
        items = [each["items"] for each in self.schemas if "items" in each][:1]
        inner = [name for each in items for name in _names(each, self.text.root, frozenset())]
        is_plain = len(inner) == 1 and inner[0] in _PLURALS
        array = f"array of {_PLURALS[inner[0]]}" if is_plain else "array"
        return " or ".join(array if name == "array" else name for name in self.names)

    def notes(self) -> list[str]:
        """Return a sentence for each keyword that has no other place, each sentence once."""
        said = []
        for schema in self.schemas:
            if not _BASIC.issuperset(schema):
                said += [
                    note(keyword, value)
                    for keyword, value in schema.items()
                    if keyword not in _BASIC and self._is_noted(keyword, value)
                ]
        required = self._required()
        if required:
            known = {name for schema in self.schemas for name in schema.get("properties", ())}
            others = [name for name in required if name not in known]
            said += [note("required", others)] if others else []
        said += [f"The same as {place} above." for place in self.repeated]
        return list(dict.fromkeys(said)) if len(said) > 1 else said

    def _is_noted(self, keyword: str, value: JSON) -> bool:
        if keyword in _REFERENCES:
            return not isinstance(lookup(self.text.root, value).target, dict)
        if keyword in {"items", "additionalProperties"}:
            return value is (keyword == "additionalProperties")
        return keyword not in _TOLD and not keyword.startswith("x-")

    def _required(self) -> dict[str, None]:
        """Return the names of members that are required, in their order."""
        return dict.fromkeys(name for each in self.schemas for name in each.get("required", ()))

    def meaning(self) -> str:
        """Return its description, or else its title."""
        for key in ("description", "title"):
            for each in self.schemas:
                if key in each and each[key].strip():
                    return str(each[key].strip())
        return ""

    def said(self) -> str:
        """Return its description, and what is asked of it beside its type."""
        return " ".join((_ended(self.meaning()), *self.notes())).strip()

    def default(self) -> str:
        """Return what happens if it is left out."""
        found = [each["default"] for each in self.schemas if "default" in each]
        return f"default {_json(found[0])}" if found else "optional"

    def lines(self, label: str, *marks: str) -> list[str]:
        """Return the lines about a value, the first of which begins with a label."""
        words = [] if self.names == ["any"] and not marks else [self.type, *marks]
        first, *rest = _line(label, words, self.said()).split("\n")
        rest += self.inner()
        return [first, *((_INDENT + line).rstrip() for line in rest)]

    def inner(self) -> list[str]:
        """Return the lines about what lies in it, and remember that."""
        structured = [each for each in self.schemas if not _STRUCTURE.isdisjoint(each)]
        if not structured:
            return []
        for each in structured:
            self.text.places[id(each)] = self.place
        named: dict[str, list[JSON]] = {}
        for schema in structured:
            for name, each in schema.get("properties", {}).items():
                named.setdefault(name, []).append(each)
        required, lines = self._required(), []
        for name, found in named.items():
            schema = found[0] if len(found) == 1 else {"allOf": found}
            if _is_bare(schema):
                lines.append(_bare(name, schema, required))
            else:
                value = _Value.of(schema, self.text, _label(name))
                mark = "required" if name in required else value.default()
                lines += value.lines(_label(name), mark)
        for each in structured:
            if not _UNNAMED.isdisjoint(each):
                lines += self._others(each)
        return lines

    def _others(self, schema: dict[str, JSON]) -> Iterator[str]:
        """Yield the lines about what has no name of its own."""
        for pattern, each in schema.get("patternProperties", {}).items():
            label = f"any name that matches `{pattern}`"
            yield from self.below(each, label).lines(label)
        if isinstance(schema.get("additionalProperties"), dict):
            label = "any other name" if schema.get("properties") else "any name"
            yield from self.below(schema["additionalProperties"], label).lines(label)
        first = schema.get("prefixItems", ())
        for number, each in enumerate(first, start=1):
            label = f"item {number}"
            yield from self.below(each, label).lines(label)
        if isinstance(schema.get("items"), dict):
            label = "each other item" if first else "each item"
            yield from self._unless_plain([schema["items"]], label, label)
        for branches in _choices(schema):
            if len(branches) - branches.count(_NULL) > 1:
                yield from self._unless_plain(branches, "an alternative", "either", "or")

    def _unless_plain(self, schemas: list[JSON], place: str, *labels: str) -> list[str]:
        """Return the lines about items or alternatives, unless a word for each says it all."""
        lines, is_said = [], False
        for index, each in enumerate(schemas):
            value = self.below(each, place)
            is_said = is_said or bool(value.said()) or value.type not in _PLURALS
            lines += value.lines(labels[min(index, 1)])
        return lines if is_said or len(lines) > len(schemas) else []


def _is_bare(schema: JSON) -> bool:
    """Tell whether a schema says no more than a type and what the value is, in one line."""
    if type(schema) is not dict or not _BARE.issuperset(schema):
        return False
    kind = schema.get("type")
    return type(kind) is str and kind in _SCALARS and "\n" not in schema.get("description", "")


def _bare(name: str, schema: dict[str, JSON], required: Container[str]) -> str:
    """Return the line about an argument with a bare schema."""
    mark = "required" if name in required else "optional"
    said = _ended(schema.get("description", "").strip())
    return _line(_label(name), (schema["type"], mark), said)


def _label(name: str) -> str:
    return name if name.isidentifier() else _json(name)


def _line(label: str, words: Sequence[str], said: str) -> str:
    head = f"- {label} ({', '.join(words)})" if words else f"- {label}"
    return f"{head}: {said}" if said else head


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) or not text else f"{text}."


def _schemas(schema: JSON, root: dict[str, JSON], seen: set[int]) -> list[dict[str, JSON]]:
    """Return a schema and those that a value has to fit because of it."""
    if not isinstance(schema, dict) or id(schema) in seen:
        return []
    seen.add(id(schema))
    if _FOLLOWED.isdisjoint(schema):
        return [schema]
    found = [schema]
    for keyword in _REFERENCES:
        if keyword in schema:
            found += _schemas(lookup(root, schema[keyword]).target, root, seen)
    for each in schema.get("allOf", ()):
        found += _schemas(each, root, seen)
    for branches in _choices(schema):
        if len(branches) - branches.count(_NULL) == 1:
            found += _schemas(next(each for each in branches if each != _NULL), root, seen)
    return found


def _choices(schema: dict[str, JSON]) -> list[list[JSON]]:
    """Return the lists of alternatives between which a schema leaves the choice."""
    return [schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema]


def _names(schema: JSON, root: dict[str, JSON], seen: frozenset[int]) -> list[str]:
    """Return the types that a schema admits, ``["any"]`` if it does not say."""
    if schema is False:
        return ["nothing"]
    if isinstance(schema, dict) and type(schema.get("type")) is str and id(schema) not in seen:
        return [schema["type"]]
    for each in _schemas(schema, root, set(seen)):
        found = _own_names(each, root, seen | {id(each)})
        if found:
            return ["any"] if "any" in found else list(dict.fromkeys(found))
    return ["any"]


def _own_names(schema: dict[str, JSON], root: dict[str, JSON], seen: frozenset[int]) -> list[str]:
    if "type" in schema:
        types = schema["type"]
        return [types] if isinstance(types, str) else types
    if "enum" in schema or "const" in schema:
        return [kind(each) for each in schema.get("enum", [schema.get("const")])]
    choices = _choices(schema)[:1]
    return [name for each in choices for part in each for name in _names(part, root, seen)]


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
