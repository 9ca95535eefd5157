"""Definitions of tools in other systems' forms, read as what a manifest says.

OpenAI (Chat Completions and Responses), Anthropic, Gemini, Bedrock, MCP, and the neutral
``{name, description, parameters}``; one alone, in a list, or in an object around the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.formats.mcp import HINTS
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, MAX_DEPTH, Path, depth, kind
from sovl_tools.schema.upgrade import upgrade

_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
_INNER = ("function", "toolSpec", "result")
_PARAMETERS = (
    "parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema",
)  # fmt: skip
_OUTPUT = ("outputSchema", "output_schema")
_DEEPEST = 4 * MAX_DEPTH


class ForeignTool(NamedTuple):
    """A tool as another system defines it.

    Attributes:
        name: any text.
        parameters: an object's schema, in draft 2020-12.
        place: where it is in the document that was read.
        description: may be empty.
        title: a name for people.
        output_schema: the schema of what it returns.
        annotations: by the names that a manifest has for them.
        metadata: what else is to be kept.
        tags: words to find it by.
        requires: what a manifest has under that key.
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
    """A tool that the provider brings itself, such as its web search: nothing to be written."""

    place: Path
    name: str


Definition: TypeAlias = ForeignTool | ProviderTool | Flaw


class Selection(NamedTuple):
    """Shell patterns of the tools that are wanted, by name and whatever else they go by."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def wants(self, names: Iterable[JSON]) -> bool:
        """Tell whether a tool of these names is wanted; what is no text is no name."""
        texts = [name for name in names if isinstance(name, str)]
        if self.include and not _matches(texts, self.include):
            return False
        return not _matches(texts, self.exclude)

    def wants_definition(self, value: JSON) -> bool:
        """Tell whether a definition is wanted, by its name."""
        return self.wants([value.get("name") if isinstance(value, dict) else None])


def _matches(names: Iterable[str], patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def definitions_in(
    document: JSON,
    selection: Selection = Selection(),  # noqa: B008 - immutable
) -> list[Definition]:
    """Return what a document defines, in its order, with what is wrong in it."""
    if depth(document) > _DEEPEST:
        return [Flaw((), f"it is nested more than {_DEEPEST} levels deep")]
    return [
        each if isinstance(each, Flaw) else read_definition(each, place)
        for place, each in _entries(document, ())
        if selection.wants_definition(each)
    ]


class UnfitDefinition(Exception):  # noqa: N818 - caught by those who read definitions
    """What is at a place can't become a tool."""

    def __init__(self, place: Path, message: str) -> None:
        super().__init__(message)
        self.flaw = Flaw(place, message)


def _entries(value: JSON, place: Path) -> Iterator[tuple[Path, JSON]]:
    """Yield the definitions in a list or in an object around one, each with its place."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            if isinstance(each, list):
                yield (*place, index), Flaw((*place, index), "a list in a list is no definition")
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
    """Return what one definition says."""
    try:
        return _read(value, place)
    except UnfitDefinition as error:
        return error.flaw


def _read(value: JSON, place: Path) -> Definition:
    if not isinstance(value, dict):
        raise UnfitDefinition(place, f"a definition must be an object, not {kind(value)!r}")
    schema_key = next((key for key in _PARAMETERS if value.get(key) is not None), None)
    type_ = value.get("type")
    if schema_key is None and isinstance(type_, str) and type_ not in {"function", "custom"}:
        return ProviderTool(place, str(value.get("name", type_)))
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        words = (
            "there is no name" if name is None else f"the name must be a text, not {kind(name)!r}"
        )
        raise UnfitDefinition(place, "the name is blank" if isinstance(name, str) else words)
    hints = value.get("annotations") or {}
    if not isinstance(hints, dict):
        raise UnfitDefinition((*place, "annotations"), f"must be an object, not {kind(hints)!r}")
    parameters = {} if schema_key is None else value[schema_key]
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
    )


def _text(value: Mapping[str, JSON], key: str, place: Path) -> str | None:
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found
    raise UnfitDefinition((*place, key), f"must be a text, not {kind(found)!r}")


def _annotations(hints: Mapping[str, JSON], place: Path) -> Iterator[tuple[str, bool]]:
    for own, theirs in HINTS.items():
        found = hints.get(theirs)
        if isinstance(found, bool):
            yield own, found
        elif found is not None:
            words = f"must be true or false, not {kind(found)!r}"
            raise UnfitDefinition((*place, "annotations", theirs), words)


def _schema(schema: JSON, place: Path) -> dict[str, JSON]:
    if not isinstance(schema, dict):
        raise UnfitDefinition(place, f"a schema must be an object, not {kind(schema)!r}")
    # as Bedrock wraps it
    if isinstance(schema.get("json"), dict) and len(schema) == 1:
        schema, place = schema["json"], (*place, "json")
    if depth(schema) > MAX_DEPTH:
        raise UnfitDefinition(place, f"the schema is nested more than {MAX_DEPTH} levels deep")
    return upgrade(schema)
