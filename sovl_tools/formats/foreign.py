"""Definitions of tools in other systems' forms, read as a manifest.

OpenAI (Chat Completions and Responses), Anthropic, Gemini, Bedrock, MCP, and the neutral
``{name, description, parameters}``; a single one, in a list, or in an object around the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.formats.mcp import HINTS
from sovl_tools.model.aliases import PARAMETERS, TYPES
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, MAX_DEPTH, Path, depth, kind
from sovl_tools.schema.upgrade import upgrade

_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
_INNER = ("function", "toolSpec", "toolConfig", "result")
_OUTPUT = ("outputSchema", "output_schema")
_DEEPEST = 4 * MAX_DEPTH


class ForeignTool(NamedTuple):
    """A tool as another system defines it.

    Attributes:
        name: any string.
        parameters: an object's schema, in draft 2020-12.
        place: where it is in the document that was read.
        description: can be empty.
        title: a name for people.
        output_schema: the schema of its result.
        annotations: by the names that a manifest has for them.
        metadata: what else must be kept.
        tags: words to find it by.
        requires: the manifest's key.
        unread: unsupported keys of the definition.
    """

    name: str
    parameters: dict[str, JSON]
    place: Path = ()
    description: str = ""
    title: str | None = None
    output_schema: dict[str, JSON] | None = None
    annotations: Mapping[str, bool] = MappingProxyType({})
    metadata: Mapping[str, JSON] = MappingProxyType({})
    tags: tuple[str, ...] = ()
    requires: Mapping[str, list[str]] = MappingProxyType({})
    unread: tuple[str, ...] = ()

    def definition(self, name: str, function: Callable[..., Any]) -> ToolDefinition:
        """Return the tool under a name of here; one without a description has its name's words."""
        return ToolDefinition(
            name,
            self.description if self.description.strip() else in_words(name),
            self.parameters,
            function,
            title=self.title,
            tags=self.tags,
            output_schema=self.output_schema,
            annotations=self.annotations,
            requires=self.requires,
            metadata=self.metadata,
        )


def in_words(name: str) -> str:
    """Return a name as a sentence: ``petId`` is ``Pet id.``, for want of a description."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+", " ", name).split()
    text = " ".join(part if part.isupper() else part.lower() for part in parts) or name
    return f"{text[:1].upper()}{text[1:]}."


class Flaw(NamedTuple):
    """Why something in a document can't become a tool; ``place`` is where it is."""

    place: Path
    message: str


class ProviderTool(NamedTuple):
    """A tool that the provider brings itself, such as its web search: it needs no folder."""

    place: Path
    name: str


Definition: TypeAlias = ForeignTool | ProviderTool | Flaw


class Selection(NamedTuple):
    """Shell patterns that select tools by name and by their other labels."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def wants(self, names: Iterable[JSON]) -> bool:
        """Return whether a tool of these names is wanted; what isn't text isn't a name."""
        texts = [name for name in names if isinstance(name, str)]
        if self.include and not _matches(texts, self.include):
            return False
        return not _matches(texts, self.exclude)

    def wants_definition(self, value: JSON) -> bool:
        """Return whether a definition is wanted, by its name."""
        return self.wants([value.get("name") if isinstance(value, dict) else None])


def _matches(names: Iterable[str], patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def definitions_in(
    document: JSON,
    selection: Selection = Selection(),  # noqa: B008 - immutable
) -> list[Definition]:
    """Return the definitions in a document, in its order, with their problems."""
    if depth(document) > _DEEPEST:
        return [Flaw((), f"it is nested more than {_DEEPEST} levels deep")]
    return [
        each if isinstance(each, Flaw) else read_definition(each, place)
        for place, each in _entries(document, ())
        if selection.wants_definition(each)
    ]


class UnfitDefinition(Exception):  # noqa: N818 - caught by the readers of definitions
    """The value at a place can't become a tool."""

    def __init__(self, place: Path, message: str) -> None:
        super().__init__(message)
        self.flaw = Flaw(place, message)


def _entries(value: JSON, place: Path) -> Iterator[tuple[Path, JSON]]:
    """Yield the definitions in a list or in an object around one, each with its place."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            if isinstance(each, list):
                yield (*place, index), Flaw((*place, index), "a list in a list isn't a definition")
            else:
                yield from _entries(each, (*place, index))
        return
    if isinstance(value, dict):
        for key in _LISTS if "name" not in value else ():
            if key in value:
                if isinstance(value[key], list):
                    yield from _entries(value[key], (*place, key))
                else:
                    words = f"{key!r} must be a list, not {kind(value[key])!r}"
                    yield (*place, key), Flaw((*place, key), words)
                return
        for key in _INNER if "name" not in value else ():
            if isinstance(value.get(key), dict):
                yield from _entries(value[key], (*place, key))
                return
    yield place, value


def read_definition(value: JSON, place: Path = ()) -> Definition:
    """Return one definition."""
    try:
        return _read(value, place)
    except UnfitDefinition as error:
        return error.flaw


def _read(value: JSON, place: Path) -> Definition:
    if not isinstance(value, dict):
        raise UnfitDefinition(place, f"a definition must be an object, not {kind(value)!r}")
    schema_key = next((key for key in PARAMETERS if value.get(key) is not None), None)
    type_ = value.get("type")
    if schema_key is None and isinstance(type_, str) and type_ not in {"function", "custom"}:
        return ProviderTool(place, str(value.get("name", type_)))
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        words = (
            "there's no name" if name is None else f"the name must be a string, not {kind(name)!r}"
        )
        raise UnfitDefinition(place, "the name is blank" if isinstance(name, str) else words)
    hints = value.get("annotations") or {}
    if not isinstance(hints, dict):
        raise UnfitDefinition((*place, "annotations"), f"must be an object, not {kind(hints)!r}")
    unread = tuple(key for key in value if key not in _KNOWN)
    parameters: JSON = {}
    if schema_key is not None:
        parameters = value[schema_key]
    elif type_ == "custom":  # of OpenAI: the model writes one string
        parameters = {"input": {"type": "string", "description": "The text of the call."}}
    elif odd := next((key for key in unread if isinstance(value[key], dict | list)), None):
        words = "isn't known, and nothing else says what the tool takes: write that as JSON Schema"
        raise UnfitDefinition((*place, odd), f"{odd!r} {words} under 'parameters'")
    output_key = next((key for key in _OUTPUT if value.get(key) is not None), None)
    icons = value.get("icons")
    if icons is not None and not isinstance(icons, list):
        raise UnfitDefinition((*place, "icons"), f"must be a list, not {kind(icons)!r}")
    schema = _schema(parameters, (*place, schema_key or "parameters"))
    said = {"type": "object", "properties": {}, **schema}
    return ForeignTool(
        name,
        {key: said[key] for key in ("type", "properties", *said)},
        place,
        _text(value, "description", place) or "",
        _text(value, "title", place) or _text(hints, "title", (*place, "annotations")),
        None if output_key is None else _schema(value[output_key], (*place, output_key)),
        dict(_annotations(hints, place)),
        {"icons": icons} if icons else {},
        unread=unread,
    )


_KNOWN = frozenset(
    {
        *PARAMETERS, *_OUTPUT, "name", "description", "title", "type", "annotations", "icons",
        "strict", "format", "_meta", "cache_control", "defer_loading", "allowed_callers",
        "input_examples", "eager_input_streaming", "response", "behavior", "execution",
    }
)  # fmt: skip


def _text(value: Mapping[str, JSON], key: str, place: Path) -> str | None:
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found
    raise UnfitDefinition((*place, key), f"must be a string, not {kind(found)!r}")


def _annotations(hints: Mapping[str, JSON], place: Path) -> Iterator[tuple[str, bool]]:
    for own, theirs in HINTS.items():
        found = hints.get(theirs)
        if isinstance(found, bool):
            yield own, found
        elif found is not None:
            words = f"must be true or false, not {kind(found)!r}"
            raise UnfitDefinition((*place, "annotations", theirs), words)


def _schema(schema: JSON, place: Path) -> dict[str, JSON]:
    if isinstance(schema, list) and schema:
        schema = _named(schema, place)
    if not isinstance(schema, dict):
        raise UnfitDefinition(place, f"a schema must be an object, not {kind(schema)!r}")
    # as Bedrock wraps it
    if isinstance(schema.get("json"), dict) and len(schema) == 1:
        schema, place = schema["json"], (*place, "json")
    if depth(schema) > MAX_DEPTH:
        raise UnfitDefinition(place, f"the schema is nested more than {MAX_DEPTH} levels deep")
    return upgrade(_of_map(schema, place) if _is_map(schema) else schema)


_SCHEMA_KEYS = frozenset({"properties", "$ref", "allOf", "anyOf", "oneOf"})


def _is_map(schema: Mapping[str, JSON]) -> bool:
    """Return whether an object lists arguments by name, and isn't a schema."""
    members = [each for key, each in schema.items() if key not in {"$schema", "required"}]
    is_typed = isinstance(schema.get("type"), str | list)
    return bool(members) and not is_typed and _SCHEMA_KEYS.isdisjoint(schema)


def _named(parameters: list[JSON], place: Path) -> JSON:
    """Return a list of parameters, each with its name, as a map."""
    found = {}
    for index, each in enumerate(parameters):
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(name, str):
            raise UnfitDefinition((*place, index), "a parameter must be an object with a name")
        found[name] = {key: own for key, own in each.items() if key != "name"}
    return found


def _of_map(arguments: Mapping[str, JSON], place: Path) -> dict[str, JSON]:
    """Return the schema of arguments that are listed by name."""
    listed = arguments.get("required")
    named = listed if isinstance(listed, list) else None
    members = {key: each for key, each in arguments.items() if key != "required" or named is None}
    properties, required = {}, []
    is_said = any(isinstance(each, dict) and "required" in each for each in members.values())
    for name, each in members.items():
        schema: JSON = {"type": each} if isinstance(each, str) else each
        if not isinstance(schema, dict):
            words = f"an argument must be an object or a type, not {kind(each)!r}"
            raise UnfitDefinition((*place, name), words)
        own = {key: value for key, value in schema.items() if key not in {"required", "optional"}}
        if isinstance(own.get("type"), str):
            own = {**own, **_typed(own["type"])}
        properties[name] = own
        is_needed = schema.get("required") is True if is_said else not _is_optional(schema)
        required += [name] * (name in named if named is not None else is_needed)
    return {"type": "object", "properties": properties, "required": required}


def _is_optional(schema: Mapping[str, JSON]) -> bool:
    is_said = schema.get("optional") is True or schema.get("nullable") is True
    return is_said or "default" in schema or str(schema.get("type", "")).startswith("Optional[")


def _typed(text: str) -> dict[str, JSON]:
    """Return the schema of a type that is written as in Python: ``list[str]``, ``int | None``."""
    inner = re.fullmatch(r"(?:typing\.)?Optional\[(.*)\]", text.strip())
    names = [each.strip() for each in (inner[1] if inner else text).split("|")]
    names = [each for each in names if each not in {"None", "null"}]
    if len(names) != 1:
        return {"type": [TYPES.get(each.casefold(), each) for each in names]}
    found = re.fullmatch(r"(?:typing\.)?(\w+)\[(.*)\]", names[0])
    outer = TYPES.get((found[1] if found else names[0]).casefold(), found[1] if found else names[0])
    if found is None or outer != "array":
        return {"type": outer}
    return {"type": "array", "items": _typed(found[2])}
