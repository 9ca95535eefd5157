"""What schemas say: anything, of which properties, null; and whether two exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.keywords import SILENT
from sovl_tools.schema.rewrite import Definitions, Rewrite, in_definitions

_SILENT = SILENT | {"discriminator", "externalDocs", "xml"}
_DEFINITION = "#/$defs/"
_CONSEQUENCES = ("then", "else")


def is_silent(keyword: str) -> bool:
    """Tell whether a keyword says nothing of a value, to a model or to anybody else."""
    return keyword in _SILENT or keyword.startswith("x-")


def audible(schema: JSON) -> JSON:
    """Return a schema without what says nothing."""
    silent = _silent_among(tuple(schema)) if isinstance(schema, dict) else ()
    if not silent:
        return schema
    return {key: value for key, value in schema.items() if key not in silent}


@lru_cache(maxsize=4096)
def _silent_among(keywords: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(is_silent, keywords))


def mentioned(schema: JSON) -> Iterator[str]:
    """Yield the names of properties that a schema demands or describes.

    Its ``if`` and ``not`` do neither, and what it says of values within the value does not count.
    """
    if not isinstance(schema, dict):
        return
    yield from schema.get("properties", ())
    yield from schema.get("required", ())
    yield from consequences(schema)
    for each in schema.get("allOf", ()):
        yield from mentioned(each)


def consequences(schema: Mapping[str, JSON]) -> Iterator[str]:
    """Yield the names that a schema mentions where they depend on something."""
    for name, others in schema.get("dependentRequired", {}).items():
        yield name
        yield from others
    for name, each in schema.get("dependentSchemas", {}).items():
        yield name
        yield from mentioned(each)
    for keyword in _CONSEQUENCES:
        yield from mentioned(schema.get(keyword))
    for keyword in ("anyOf", "oneOf"):
        for each in schema.get(keyword, ()):
            yield from mentioned(each)


def accepts_null(
    schema: dict[str, JSON], definitions: Mapping[str, JSON], seen: tuple[str, ...] = ()
) -> bool:
    """Tell whether a strict schema admits null; ``seen`` are references on the way to it."""
    while "$ref" in schema:
        reference: str = schema["$ref"]
        if reference in seen or reference == "#":
            return False
        seen = (*seen, reference)
        schema = definitions[reference.removeprefix(_DEFINITION)]
    if "anyOf" in schema:
        return any(accepts_null(each, definitions, seen) for each in schema["anyOf"])
    types = schema["type"]
    if "null" not in (types if isinstance(types, list) else [types]):
        return False
    values = [schema["const"]] if "const" in schema else schema.get("enum", [None])
    return None in values


class EndlessError(Exception):
    """A schema that contains itself."""


class SpelledOut(Rewrite):
    """A copy with definitions in the places of references."""

    def __init__(self, definitions: Definitions) -> None:
        super().__init__(definitions)
        self._open = [in_definitions(None)]

    def concerns(self, keywords: frozenset[str], kind: str | None) -> bool:
        """Ask of references."""
        del kind
        return "$ref" in keywords

    def changed(self, schema: dict[str, JSON], made: dict[str, JSON], path: Path) -> JSON:
        """Return what a reference leads to, with the keywords beside it."""
        del schema
        if "$ref" not in made:
            return made
        address = made.pop("$ref")
        if address in self._open or not self.definitions.is_address(address):
            raise EndlessError
        # open while it is spelled out: met again within, it contains itself
        self._open.append(address)
        target = self.schema(self.definitions.target(address), path)
        self._open.pop()
        return {**target, **made} if isinstance(target, dict) else target


def are_disjoint(branches: Sequence[Mapping[str, JSON]]) -> bool:
    """Tell whether alternatives certainly exclude one another.

    They do by their types, or by a property that is required and has another value in each.
    """
    types = [each.get("type") for each in branches]
    plain = {each for each in types if isinstance(each, str)}
    # every integer is a number
    if len(plain) == len(types) and not {"number", "integer"} <= plain:
        return True
    marks = [_marks(each) for each in branches]
    names = set(marks[0]).intersection(*marks[1:]) if marks else set()
    return any(len({each[name] for each in marks}) == len(marks) for name in names)


def _marks(schema: Mapping[str, JSON]) -> dict[str, str]:
    """Return the text that each required property of an object has to be, where it is only one."""
    if schema.get("type") != "object":
        return {}
    properties = schema.get("properties", {})
    wanted = {name: properties.get(name) for name in schema.get("required", ())}
    values = {
        name: [each["const"]] if "const" in each else each.get("enum", ())
        for name, each in wanted.items()
        if isinstance(each, dict)
    }
    return {
        name: each[0] for name, each in values.items() if len(each) == 1 and type(each[0]) is str
    }
