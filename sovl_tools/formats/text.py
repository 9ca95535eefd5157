"""Tools as text: for a system prompt, and as a catalogue in Markdown for people.

The first is for models that have no function calling. Each keyword of a schema is a few words
after its argument's description; the members of an argument are indented below it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
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
_UNNAMED = _STRUCTURE - {"properties"}
# keywords that have their own place in the text, or don't concern a model
_PLACED = _STRUCTURE | SILENT | {"type", "title", "description", "default", "required", "allOf"}

_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
_PLURALS = {each: f"{each}s" for each in JSON_KINDS}


def _instructed(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool as text: its name, description, arguments and instructions."""
    parameters = tool.parameters
    whole = _Value(parameters, _Text(parameters), "the arguments")
    inner = whole.inner()
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
        value = _Value(value_at(parameters, place), text, _label(name))
        mark = "required" if name in names.required else value.default()
        yield Described(name, value.type, mark, value.meaning, value.notes, value.inner())


class _Text:
    """The context shared by the arguments of one tool.

    Attributes:
        root: the schema that resolves references.
        places: where schemas are described so far, by their identity; it grows with the text.
    """

    def __init__(self, root: dict[str, JSON]) -> None:
        self.root = root
        self.places: dict[int, str] = {}

    def follow(self, reference: str) -> JSON:
        """Return a reference's target, None without a target."""
        return lookup(self.root, reference).target

    def schemas(self, schema: JSON, seen: set[int]) -> list[dict[str, JSON]]:
        """Return a schema and the schemas that a value must match because of it."""
        if not isinstance(schema, dict) or id(schema) in seen:
            return []
        found = [schema]
        seen.add(id(schema))
        for keyword in _REFERENCES:
            if keyword in schema:
                found += self.schemas(self.follow(schema[keyword]), seen)
        for each in schema.get("allOf", ()):
            found += self.schemas(each, seen)
        for branches in _choices(schema):
            # "or null" isn't a choice worth a list: the type says it
            if len(branches) - branches.count(_NULL) == 1:
                found += self.schemas(next(each for each in branches if each != _NULL), seen)
        return found

    def types(self, schema: JSON, seen: frozenset[int] = frozenset()) -> list[str]:
        """Return the types that a schema admits, ``["any"]`` if it does not say."""
        if schema is False:
            return ["nothing"]
        return self.types_of(self.schemas(schema, {*seen}), seen)

    def types_of(self, every: list[dict[str, JSON]], seen: frozenset[int]) -> list[str]:
        """Return the types that schemas for the same value admit; the first that says it counts."""
        for each in every:
            if "type" in each:
                types = each["type"]
                return [types] if isinstance(types, str) else types
            if "enum" in each or "const" in each:
                values = map(kind, each.get("enum", [each.get("const")]))
                found = list(dict.fromkeys(values))
            else:
                below = seen | {id(each)}
                branches = next(iter(_choices(each)), ())
                names = (name for part in branches for name in self.types(part, below))
                found = list(dict.fromkeys(names))
            if found:
                return ["any"] if "any" in found else found
        return ["any"]


class _Value:
    """The facts about a value.

    Attributes:
        types: its possible types.
        type: the same in words: ``array of strings``, ``string or null``.
        meaning: its description, or else its title.
        notes: a sentence for each keyword that has no other place, each sentence once.
    """

    def __init__(self, schema: JSON, text: _Text, place: str) -> None:
        self._text, self._place = text, place
        every = text.schemas(schema, set())
        self.types = ["nothing"] if schema is False else text.types_of(every, frozenset())
        self._schemas: list[dict[str, JSON]] = []
        self._structured: list[dict[str, JSON]] = []
        self._required: dict[str, None] = {}
        description = title = ""
        notes: list[str] = []
        repeated: list[str] = []
        for each in every:
            if id(each) in text.places:  # a schema is described once
                repeated.append(f"The same as {text.places[id(each)]} above.")
                continue
            self._schemas.append(each)
            if not _STRUCTURE.isdisjoint(each):
                self._structured.append(each)
            if "description" in each:
                description = description or each["description"].strip()
            if "title" in each:
                title = title or each["title"].strip()
            if "required" in each:
                self._required.update(dict.fromkeys(each["required"]))
            notes += [note(*item) for item in each.items() if self._is_noted(*item)]
        self.meaning = description or title
        if self._required:
            known = {name for each in self._schemas for name in each.get("properties", ())}
            others = [name for name in self._required if name not in known]
            notes += [note("required", others)] if others else []
        notes += repeated
        self.notes = list(dict.fromkeys(notes))
        self.type = " or ".join(self._named_types())

    def _is_noted(self, keyword: str, value: JSON) -> bool:
        """Return whether a keyword has no place of its own in the text."""
        if keyword in {"items", "additionalProperties"}:  # a schema is described
            return value is (keyword != "items")
        if keyword in _PLACED:
            return False
        if keyword in _REFERENCES:  # the target is described instead
            return not isinstance(self._text.follow(value), dict)
        return not keyword.startswith("x-")

    def _named_types(self) -> list[str]:
        """Return the types, an array as ``array of strings``, which saves the line about items."""
        items = next((each["items"] for each in self._schemas if "items" in each), None)
        of = [] if items is None or "array" not in self.types else self._text.types(items)
        is_plain = len(of) == 1 and of[0] in _PLURALS
        array = f"array of {_PLURALS[of[0]]}" if is_plain else "array"
        return [array if each == "array" else each for each in self.types]

    def default(self) -> str:
        """Return the effect of omitting it."""
        for each in self._schemas:
            if "default" in each:
                return f"default {_json(each['default'])}"
        return "optional"

    def lines(self, label: str, *marks: str) -> list[str]:
        """Return the lines about a value, the first of which begins with a label."""
        words = f" ({', '.join((self.type, *marks))})" if marks or self.types != ["any"] else ""
        head = f"- {label}{words}"
        said = " ".join((_with_full_stop(self.meaning), *self.notes)).strip()
        first, *others = (f"{head}: {said}" if said else head).split("\n")
        return [first, *[(_INDENT + each).rstrip() for each in (*others, *self.inner())]]

    def inner(self) -> list[str]:
        """Return the lines about its members, and remember that."""
        if not self._structured:
            return []
        named: dict[str, list[JSON]] = {}
        for schema in self._structured:
            self._text.places[id(schema)] = self._place
            for name, each in schema.get("properties", {}).items():
                named.setdefault(name, []).append(each)
        lines = []
        for name, found in named.items():
            label = _label(name)
            value = _Value(found[0] if len(found) == 1 else {"allOf": found}, self._text, label)
            lines += value.lines(label, "required" if name in self._required else value.default())
        for each in self._structured:
            if not _UNNAMED.isdisjoint(each):
                lines += self._unnamed(each)
        return lines

    def _unnamed(self, schema: dict[str, JSON]) -> Iterator[str]:
        """Yield the lines about members without a name."""
        for pattern, each in schema.get("patternProperties", {}).items():
            label = f"any name that matches `{pattern}`"
            yield from self._below(each, label).lines(label)
        if isinstance(schema.get("additionalProperties"), dict):
            label = "any other name" if schema.get("properties") else "any name"
            yield from self._below(schema["additionalProperties"], label).lines(label)
        first = schema.get("prefixItems", ())
        for number, each in enumerate(first, start=1):
            label = f"item {number}"
            yield from self._below(each, label).lines(label)
        if isinstance(schema.get("items"), dict):
            label = "each other item" if first else "each item"
            yield from self._lines_unless_plain([schema["items"]], label, label)
        for branches in _choices(schema):
            if len(branches) - branches.count(_NULL) > 1:
                yield from self._lines_unless_plain(branches, "an alternative", "either", "or")

    def _below(self, schema: JSON, place: str) -> _Value:
        return _Value(schema, self._text, f"{place} of {self._place}")

    def _lines_unless_plain(self, schemas: list[JSON], place: str, *labels: str) -> list[str]:
        """Return the lines about items or alternatives, unless a word for each says it all."""
        lines, is_said = [], False
        for index, each in enumerate(schemas):
            value = self._below(each, place)
            is_said = is_said or bool(value.meaning or value.notes or value.type not in _PLURALS)
            lines += value.lines(labels[min(index, 1)])
        return lines if is_said or len(lines) > len(schemas) else []


def _label(name: str) -> str:
    return name if name.isidentifier() else _json(name)


def _with_full_stop(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) or not text else f"{text}."


def _choices(schema: dict[str, JSON]) -> list[list[JSON]]:
    """Return the lists of alternatives between which a schema leaves the choice."""
    return [schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema]


_HEADINGS = "| Argument | Type | Required | Description |\n| --- | --- | --- | --- |"
_PLAIN_NAME = re.compile(r"[^\s`|\x00-\x1f]+( [^\s`|\x00-\x1f]+)*")
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|]")


def _section(tool: ToolDefinition, _: Options) -> Shape:
    """Return the section about one tool."""
    said = _SPECIAL.sub(_escape, tool.description.strip())
    facts = {
        "Category": tool.category,
        "Tags": ", ".join(tool.tags),
        "Version": tool.version,
        "Phrases": ", ".join(f'"{phrase}"' for phrase in tool.activation_phrases),
        "Kind": ", ".join(
            name.replace("_", " ") for name, is_so in tool.annotations.items() if is_so
        ),
    }
    stated = {name: text for name, text in facts.items() if text}
    texts = zip(stated, _escaped(stated.values()), strict=False)  # no text is one of nothing
    known = "\n".join(f"- **{name}:** {text}" for name, text in texts)
    blocks = [f"## {tool.name}", said, known, *_arguments(tool)]
    if tool.returns:
        blocks += [f"**Returns:** {each}" for each in _escaped([tool.returns])]
    if tool.examples:
        blocks.append("### Examples")
    for each in tool.examples:
        blocks += [str(each.get("description", "")), _code(each.get("input"))]
        if "output" in each:  # null is an output, too
            blocks += ["gives", _code(each["output"])]
    return Shape(tool, "\n\n".join(block for block in blocks if block))


def _catalogue(shapes: Sequence[Shape], _: Options) -> tuple[Any, tuple[Loss, ...]]:
    """Return the sections of all tools below a table of them."""
    tools = [shape.tool for shape in shapes]
    first_lines = _escaped(tool.description.strip().partition("\n")[0] for tool in tools)
    rows = [
        f"| [{tool.name}](#{tool.name.lower()}) | {line} |"
        for tool, line in zip(tools, first_lines, strict=False)
    ]
    head = "\n".join(["| Tool | What it does |", "| --- | --- |", *rows])
    sections = [shape.definition for shape in shapes]
    return "\n\n".join(["# Tools", head if rows else "There are no tools.", *sections]), ()


def _arguments(tool: ToolDefinition) -> Iterator[str]:
    """Yield a table of the arguments, and lists of their members."""
    found = list(described(tool.parameters))
    if not found:
        yield "It takes no arguments."
        return
    texts = [(each.type, each.mark, " ".join([each.meaning, *each.notes])) for each in found]
    cells = iter(_escaped(chain(*texts)))
    # each name takes the next three cells
    names = [_as_code(each.name).replace("|", r"\|") for each in found]
    rows = [f"| {' | '.join(row)} |" for row in zip(names, cells, cells, cells, strict=False)]
    yield "\n".join([_HEADINGS, *rows])
    for each in found:
        if each.inner:
            yield "\n".join([f"In {_as_code(each.name)}:", "", *each.inner])


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _as_code(name: str) -> str:
    """Return a name as code within a line: in quotes if something in it would end that."""
    if _PLAIN_NAME.fullmatch(name):
        return f"`{name}`"
    text = json.dumps(name)
    fence = _fence(text, 1)
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _code(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    fence = _fence(text, 3)
    return f"{fence}json\n{text}\n{fence}"


def _fence(text: str, least: int) -> str:
    """Return more backticks than a string has in a row, where they would end it."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


def _escaped(texts: Iterable[str]) -> list[str]:
    """Return strings, each on one line, without what Markdown would read as its own."""
    # searched together, which is hardly slower than to search one of them
    lines = "\n".join([" ".join(each.split()) for each in texts])
    return _SPECIAL.sub(_escape, lines).split("\n")


MARKDOWN = Format(_section, _catalogue)
