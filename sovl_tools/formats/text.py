"""Tools as text: for a system prompt, and as a catalogue in Markdown for people.

The first is for models that have no function calling. Each keyword of a schema is a few words
after its argument's description; the members of an argument are indented below it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from sovl_tools.formats.base import Format, Loss, Options, Shape
from sovl_tools.formats.meaning import note
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, JSON_KINDS, kind, value_at
from sovl_tools.schema.keywords import SILENT
from sovl_tools.schema.names import argument_names
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
# keywords that have their own place in the text, or don't concern a model
_PLACED = _STRUCTURE | SILENT | {"type", "title", "description", "default", "required", "allOf"}

_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
_PLURALS = {each: f"{each}s" for each in JSON_KINDS}


def _instructed(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool as text: its name, description, arguments and instructions."""
    parameters = tool.parameters
    whole = _Text(parameters).value(parameters, "the arguments")
    inner = [*whole.inner()]
    lines = [f"## {tool.name}", tool.description.strip()]
    lines.append(" ".join(["Arguments:" if inner else "Arguments: none.", *whole.notes]))
    lines += inner
    # the text contains an unresolved reference unchanged
    if "$defs" in parameters and any('"#' in line for line in lines[2:]):
        lines.append(note("$defs", parameters["$defs"]))
    if tool.instructions and tool.instructions.strip():
        lines.append(f"Instructions: {tool.instructions.strip()}")
    return Shape(tool, "\n".join(lines))


def _joined(shapes: Sequence[Shape], _: Options) -> tuple[Any, tuple[Loss, ...]]:
    """Return the strings of all tools as one, with blank lines between them."""
    return "\n\n".join(shape.definition for shape in shapes), ()


PROMPT = Format(_instructed, _joined)


class Described(NamedTuple):
    """The text about an argument, in parts.

    Attributes:
        name: the argument's.
        type: in words, ``any`` if anything goes.
        mark: ``required``, ``optional`` or the default.
        meaning: the description, or else the title.
        notes: a sentence for each requirement next to its type.
        inner: lines about its members.
    """

    name: str
    type: str
    mark: str
    meaning: str
    notes: list[str]
    inner: list[str]


def described(parameters: dict[str, JSON]) -> Iterator[Described]:
    """Yield the text about each argument of a tool."""
    text, names = _Text(parameters), argument_names(parameters)
    for name, place in names.places.items():
        value = text.value(value_at(parameters, place), _label(name))
        mark = "required" if name in names.required else value.default
        inner = [*value.inner()]
        yield Described(name, value.type, mark, value.meaning, value.notes, inner)


class _Text:
    """The text about a tool's arguments; ``places`` says where schemas are described so far."""

    def __init__(self, root: dict[str, JSON]) -> None:
        self._root = root
        self._places: dict[int, str] = {}

    def value(self, schema: JSON, place: str) -> _Value:
        """Return the text about a value, and remember that it is at a place."""
        every = self._parts(schema, [])
        new = [each for each in every if id(each) not in self._places]
        names = {name for each in new for name in each.get("properties", ())}
        required = [name for each in new for name in each.get("required", ())]
        notes = [note(*item) for each in new for item in each.items() if self._is_noted(*item)]
        if others := [name for name in dict.fromkeys(required) if name not in names]:
            notes.append(note("required", others))
        # a schema is described once
        again = (self._places[id(each)] for each in every if id(each) in self._places)
        notes += [f"The same as {where} above." for where in again]
        types = ["nothing"] if schema is False else self._types(every, ())
        meanings = (each.get(key, "").strip() for key in ("description", "title") for each in new)
        default = next(
            (f"default {_json(e['default'])}" for e in new if "default" in e), "optional"
        )
        inner = partial(self._inner, new, required, place)
        named = self._named(types, new)
        return _Value(
            named, default, next(filter(None, meanings), ""), list(dict.fromkeys(notes)), inner
        )

    def _parts(self, schema: JSON, seen: list[int]) -> list[dict[str, JSON]]:
        """Return a schema and the schemas that a value must match because of it."""
        if not isinstance(schema, dict) or id(schema) in seen:
            return []
        seen.append(id(schema))
        below = [self._follow(schema[each]) for each in _REFERENCES if each in schema]
        below += schema.get("allOf", ())
        for branches in _choices(schema):
            # "or null" isn't a choice worth a list: the type says it
            if len(branches) - branches.count(_NULL) == 1:
                below.append(next(each for each in branches if each != _NULL))
        return [schema, *(part for each in below for part in self._parts(each, seen))]

    def _follow(self, reference: str) -> JSON:
        return lookup(self._root, reference).target

    def _types(self, parts: list[dict[str, JSON]], above: tuple[int, ...]) -> list[str]:
        """Return the types that schemas for a value admit; the first that says it counts."""
        for each in parts:
            if "type" in each:
                return [each["type"]] if isinstance(each["type"], str) else each["type"]
            found = list(map(kind, each.get("enum", [each["const"]] if "const" in each else ())))
            for branch in next(iter(_choices(each)), ()) if id(each) not in above else ():
                found += self._types(self._parts(branch, []), (*above, id(each)))
            if found:
                return ["any"] if "any" in found else list(dict.fromkeys(found))
        return ["any"]

    def _named(self, types: list[str], parts: list[dict[str, JSON]]) -> str:
        """Return types in words, an array as ``array of strings``."""
        items = next((each["items"] for each in parts if "items" in each), None)
        of = self._types(self._parts(items, []), ()) if isinstance(items, dict) else []
        is_plain = len(of) == 1 and of[0] in _PLURALS
        array = f"array of {_PLURALS[of[0]]}" if is_plain else "array"
        return " or ".join(array if each == "array" else each for each in types)

    def _is_noted(self, keyword: str, value: JSON) -> bool:
        """Return whether a keyword has no place of its own in the text."""
        if keyword in {"items", "additionalProperties"}:  # a schema is described
            return value is (keyword != "items")
        if keyword in _PLACED:
            return False
        if keyword in _REFERENCES:  # the target is described instead
            return not isinstance(self._follow(value), dict)
        return not keyword.startswith("x-")

    def _inner(
        self, parts: list[dict[str, JSON]], required: list[str], place: str
    ) -> Iterator[str]:
        """Yield the lines about the members of a value, and remember that."""
        parts = [each for each in parts if not _STRUCTURE.isdisjoint(each)]
        self._places.update((id(each), place) for each in parts)
        named: dict[str, list[JSON]] = {}
        for part in parts:
            for name, each in part.get("properties", {}).items():
                named.setdefault(name, []).append(each)
        for name, found in named.items():
            label = _label(name)
            value = self.value(found[0] if len(found) == 1 else {"allOf": found}, label)
            yield from value.lines(label, "required" if name in required else value.default)
        for part in parts:
            for label, each in _unnamed(part):
                yield from self.value(each, f"{label} of {place}").lines(label)
            if isinstance(part.get("items"), dict):
                label = "each other item" if "prefixItems" in part else "each item"
                yield from self._unless_plain([part["items"]], place, label, label)
            for branches in _choices(part):
                if len(branches) - branches.count(_NULL) > 1:
                    yield from self._unless_plain(branches, place, "either", "or")

    def _unless_plain(self, schemas: list[JSON], place: str, *labels: str) -> list[str]:
        """Return the lines about items or alternatives, unless a word for each says it all."""
        where = labels[0] if labels[0] == labels[1] else "an alternative"
        values = [self.value(each, f"{where} of {place}") for each in schemas]
        lines = [line for n, each in enumerate(values) for line in each.lines(labels[min(n, 1)])]
        is_said = any(each.meaning or each.notes or each.type not in _PLURALS for each in values)
        return lines if is_said or len(lines) > len(schemas) else []


class _Value(NamedTuple):
    """The text about a value.

    Attributes:
        type: in words, ``any`` if anything goes.
        default: the effect of omitting it.
        meaning: the description, or else the title.
        notes: a sentence for each keyword that has no other place.
        inner: yields the lines about its members.
    """

    type: str
    default: str
    meaning: str
    notes: list[str]
    inner: Callable[[], Iterator[str]]

    def lines(self, label: str, *marks: str) -> Iterator[str]:
        """Yield the lines about the value, the first of which begins with a label."""
        words = f" ({', '.join((self.type, *marks))})" if marks or self.type != "any" else ""
        said = " ".join((_with_full_stop(self.meaning), *self.notes)).strip()
        first, *others = f"- {label}{words}{': ' if said else ''}{said}".split("\n")
        yield first
        yield from ((_INDENT + each).rstrip() for each in (*others, *self.inner()))


def _unnamed(schema: dict[str, JSON]) -> Iterator[tuple[str, JSON]]:
    """Yield members without a name, with what they are called."""
    for pattern, each in schema.get("patternProperties", {}).items():
        yield f"any name that matches `{pattern}`", each
    if isinstance(schema.get("additionalProperties"), dict):
        label = "any other name" if schema.get("properties") else "any name"
        yield label, schema["additionalProperties"]
    for number, each in enumerate(schema.get("prefixItems", ()), start=1):
        yield f"item {number}", each


def _label(name: str) -> str:
    return name if name.isidentifier() else _json(name)


def _with_full_stop(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) or not text else f"{text}."


def _choices(schema: dict[str, JSON]) -> list[list[JSON]]:
    """Return the lists of alternatives between which a schema leaves the choice."""
    return [schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema]


_HEADINGS = "| Argument | Type | Required | Description |\n| --- | --- | --- | --- |"


def _section(tool: ToolDefinition, _: Options) -> Shape:
    """Return the section about one tool."""
    facts = {
        "Category": tool.category,
        "Tags": ", ".join(tool.tags),
        "Version": tool.version,
        "Phrases": ", ".join(f'"{phrase}"' for phrase in tool.activation_phrases),
        "Kind": ", ".join(
            name.replace("_", " ") for name, is_so in tool.annotations.items() if is_so
        ),
    }
    known = "\n".join(f"- **{name}:** {text}" for name, text in facts.items() if text)
    blocks = [f"## {tool.name}", tool.description.strip(), known, *_arguments(tool)]
    if tool.returns:
        blocks.append(f"**Returns:** {tool.returns}")
    if tool.examples:
        blocks.append("### Examples")
    for each in tool.examples:
        blocks += [str(each.get("description", "")), _code(each.get("input"))]
        if "output" in each:  # null is an output, too
            blocks += ["gives", _code(each["output"])]
    return Shape(tool, "\n\n".join(block for block in blocks if block))


def _catalogue(shapes: Sequence[Shape], _: Options) -> tuple[Any, tuple[Loss, ...]]:
    """Return the sections of all tools below a table of them."""
    rows = []
    for tool in (shape.tool for shape in shapes):
        first_line = _cell(tool.description.strip().partition("\n")[0])
        rows.append(f"| [{tool.name}](#{tool.name.lower()}) | {first_line} |")
    head = "\n".join(["| Tool | What it does |", "| --- | --- |", *rows])
    sections = [shape.definition for shape in shapes]
    return "\n\n".join(["# Tools", head if rows else "There are no tools.", *sections]), ()


def _arguments(tool: ToolDefinition) -> Iterator[str]:
    """Yield a table of the arguments, and lists of their members."""
    found = list(described(tool.parameters))
    if not found:
        yield "It takes no arguments."
        return
    rows = [_HEADINGS]
    for each in found:
        meaning = " ".join([each.meaning, *each.notes])
        cells = (f"`{each.name}`", each.type, each.mark, meaning)
        rows.append(f"| {' | '.join(map(_cell, cells))} |")
    yield "\n".join(rows)
    for each in found:
        if each.inner:
            yield "\n".join([f"In `{each.name}`:", "", *each.inner])


def _code(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return f"```json\n{text}\n```"


def _cell(text: str) -> str:
    """Return a string as a cell of a table, which ends at a bar or a line's end."""
    return " ".join(text.split()).replace("|", "\\|")


MARKDOWN = Format(_section, _catalogue)
