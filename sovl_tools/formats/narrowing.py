"""From a parameter schema to one that a provider can enforce.

What only constrains a value and can't be said moves into the description. What would let a model
give something else than before, or nothing at all, can't be said: then the tool is not strict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sovl_tools.formats.base import ROOT, Loss
from sovl_tools.formats.dialect import Dialect, UnfitError
from sovl_tools.formats.notes import note, with_notes
from sovl_tools.formats.saying import (
    are_disjoint,
    audible,
    consequences,
    mentioned,
    share_first_name,
    spelled_out,
)
from sovl_tools.model.document import JSON, Path, copied, kind
from sovl_tools.schema.merge import merged
from sovl_tools.schema.rewrite import Hoisted, hoisted

_STRUCTURE = frozenset({"type", "enum", "const", "properties", "required", "items"})
_OBJECT = frozenset({"properties", "required", "additionalProperties"})
_SAYS_NOTHING = frozenset({"$schema", "$id", "$comment", "$anchor", "$defs", "definitions"})
_ANNOTATIONS = frozenset(
    {
        "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
        *_SAYS_NOTHING,
    }
)  # fmt: skip
_SAID_BY_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties"})
_IDLE: dict[str, JSON] = {
    "uniqueItems": False, "minItems": 0, "minLength": 0, "minProperties": 0, "deprecated": False,
    "readOnly": False, "writeOnly": False, "required": [], "examples": [],
}  # fmt: skip
_MOST = 256
_SHOWN = 9


class Narrowed(NamedTuple):
    """A schema in a dialect, with its definitions in ``$defs``, and what it does not say."""

    schema: dict[str, JSON]
    losses: tuple[Loss, ...]


def narrowed(parameters: dict[str, JSON], dialect: Dialect) -> Narrowed:
    """Return the schema of a tool's arguments in a dialect.

    Optional properties stay optional.

    Raises:
        UnfitError: it says what the dialect can't say.
    """
    narrowing = _Narrowing(hoisted(parameters), dialect)
    schema = narrowing.root()
    definitions = narrowing.definitions
    made = {**schema, "$defs": definitions} if definitions else schema
    return Narrowed(made, tuple(narrowing.losses))


class _Narrowing:
    """The definitions that are there so far, and what was lost."""

    def __init__(self, source: Hoisted, dialect: Dialect) -> None:
        self._source = source
        self._dialect = dialect
        self._open: list[str | None] = []
        self.definitions: dict[str, JSON] = {}
        self.losses: list[Loss] = []

    def root(self) -> dict[str, JSON]:
        """Return the schema of all arguments, an object with nothing beside its properties."""
        schema = self._flat(audible(self._source.schema), ROOT)
        schema = {"type": "object", "properties": {}, "additionalProperties": False, **schema}
        keywords = [each for each in ("anyOf", "oneOf") if each in schema]
        notes = [self._alternatives(schema, each) for each in keywords]
        self._open.append(None)
        made = self._plain(schema, ROOT)
        self._open.pop()
        return with_notes(made, notes)

    def _alternatives(self, schema: dict[str, JSON], keyword: str) -> str:
        """Take alternatives of the root away, if they are about known properties alone."""
        branches = schema.pop(keyword)
        path = (*ROOT, keyword)
        known = schema["properties"].keys()
        said = self._spelled_out(branches, path)
        if any(not isinstance(each, dict) or not known >= {*mentioned(each)} for each in said):
            raise UnfitError(path, f"{keyword} describes the arguments as a whole")
        self._lose("moved", path, f"{keyword} of all arguments stands in the description only")
        return note(keyword, said)

    def _spelled_out(self, value: JSON, path: Path) -> JSON:
        """Return what is said in words, with definitions in the places of references."""
        found = spelled_out(value, self._source.definitions)
        if found is None and value is not None:
            raise UnfitError(path, "it refers to what contains itself")
        return found

    def _lose(self, what: str, path: Path, message: str) -> None:
        self.losses.append(Loss(what, path, message))  # type: ignore[arg-type]  # literals all

    def _node(self, schema: JSON, path: Path) -> dict[str, JSON]:
        """Return a subschema in the dialect."""
        if not isinstance(schema, dict):
            raise UnfitError(path, "any value is admitted" if schema else "no value is admitted")
        schema = self._flat(audible(schema), path)
        if "$ref" in schema:
            return self._reference(schema, path)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self._union(schema, keyword, path)
        return self._plain(schema, path)

    def _flat(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        """Return a schema without ``allOf``, and without a reference beside other constraints."""
        steps = 0
        while "allOf" in schema or (
            "$ref" in schema and not _ANNOTATIONS.issuperset(_others(schema))
        ):
            steps += 1
            if steps > _MOST or len(path) > _MOST:
                raise UnfitError(path[:_SHOWN], "it refers to itself")
            parts = [{key: each for key, each in schema.items() if key not in {"allOf", "$ref"}}]
            parts += [{"$ref": schema["$ref"]}] if "$ref" in schema else []
            parts += schema.get("allOf", ())
            found = merged([audible(self._followed(each, path)) for each in parts])
            if found is None:
                raise UnfitError(path, "allOf can't be said as one schema")
            schema = found
        return schema

    def _followed(self, schema: JSON, path: Path) -> JSON:
        """Return what a reference leads to, with what stands beside it."""
        if not isinstance(schema, dict) or "$ref" not in schema:
            return schema
        others = {key: each for key, each in schema.items() if key != "$ref"}
        return {**others, "allOf": [self._target(schema["$ref"], path), *others.get("allOf", ())]}

    def _target(self, reference: str, path: Path) -> JSON:
        if reference == "#":
            return self._source.schema
        name = reference.removeprefix("#/$defs/")
        if name not in self._source.definitions:
            raise UnfitError(path, f"the reference {reference!r} can't be followed")
        return self._source.definitions[name]

    def _reference(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        reference = schema["$ref"]
        target = self._target(reference, path)
        name = None if reference == "#" else reference.removeprefix("#/$defs/")
        if not self._dialect.is_recursive and name in self._open:
            raise UnfitError(path, "it contains itself", "give it a bounded depth")
        others, notes = self._annotated(schema, path)
        if others or notes:
            if not self._dialect.wraps_references and isinstance(target, dict):
                beside = {key: each for key, each in schema.items() if key != "$ref"}
                return self._inlined({**target, **beside}, name, path)
            self._define(name, target)
            return with_notes({"anyOf": [{"$ref": reference}], **others}, notes)
        self._define(name, target)
        return {"$ref": reference}

    def _inlined(self, schema: dict[str, JSON], name: str | None, path: Path) -> dict[str, JSON]:
        self._open.append(name)
        made = self._node(schema, path)
        self._open.pop()
        return made

    def _define(self, name: str | None, target: JSON) -> None:
        if name is not None and name not in self.definitions:
            self.definitions[name] = {}
            path = (*ROOT, *self._source.targets[name].path)
            self.definitions[name] = self._inlined(target, name, path)
            if self._leads_back(name):
                raise UnfitError(path, "it refers to nothing but itself")

    def _leads_back(self, name: str) -> bool:
        """Tell whether a definition is nothing but a reference that leads to it again."""
        seen, found = {name}, self.definitions[name]
        while "$ref" in found:
            name = found["$ref"].removeprefix("#/$defs/")
            if name in seen:
                return True
            seen.add(name)
            found = self.definitions.get(name, {})
        return False

    def _annotated(self, schema: dict[str, JSON], path: Path) -> tuple[dict[str, JSON], list[str]]:
        """Return the annotations that may stay, and notes on those that may not."""
        annotations = [keyword for keyword in schema if keyword in _ANNOTATIONS - _SAYS_NOTHING]
        keeps, admits = self._dialect.keeps, self._dialect.admits
        kept = {
            key: schema[key] for key in annotations if key in keeps and admits(key, schema[key])
        }
        others = [key for key in annotations if key not in kept and not _is_idle(key, schema[key])]
        return kept, self._moved(schema, others, path)

    def _union(self, schema: dict[str, JSON], keyword: str, path: Path) -> dict[str, JSON]:
        """Return alternatives as ``anyOf``, what stands beside them in each of them."""
        branches: Sequence[JSON] = schema[keyword]
        place = (*path, keyword)
        beside = {key: each for key, each in schema.items() if key not in _ANNOTATIONS | {keyword}}
        self._doubt_alternatives(branches, keyword, place)
        if beside:
            whole = [audible(self._followed(each, place)) for each in branches]
            branches = [merged([beside, each]) for each in whole]
            if None in branches:
                raise UnfitError(place, f"{keyword} stands beside other keywords")
        made = [self._node(each, (*place, index)) for index, each in enumerate(branches)]
        others, notes = self._annotated(schema, path)
        return with_notes({"anyOf": made, **others}, notes)

    def _doubt_alternatives(self, branches: Sequence[JSON], keyword: str, place: Path) -> None:
        if are_disjoint(branches, self._source.definitions):
            return
        if keyword == "oneOf":
            self._lose("rewritten", place, "oneOf is said as anyOf")
        if self._dialect.tells_by_first and share_first_name(branches, self._source.definitions):
            message = "alternatives that begin with the same property may be refused"
            self._lose("doubt", place, message)

    def _plain(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        """Return a schema that is neither a union nor a reference."""
        types = self._types(schema, path)
        made: dict[str, JSON] = {"type": types[0] if len(types) == 1 else types}
        others = []
        for keyword, value in schema.items():
            if keyword in _STRUCTURE or keyword in _SAYS_NOTHING or _is_idle(keyword, value):
                continue
            if keyword in self._dialect.keeps and self._dialect.admits(keyword, value):
                made[keyword] = copied(value)
            elif not (keyword in _SAID_BY_CLOSING and "object" in types):
                others.append(keyword)
        notes = self._moved(schema, others, path)
        self._add_values(made, schema, path)
        if "object" in types:
            made.update(self._object(schema, path))
        if "array" in types:
            made["items"] = self._items(schema, path)
        return with_notes(made, notes)

    def _moved(self, schema: dict[str, JSON], keywords: Sequence[str], path: Path) -> list[str]:
        """Return notes on keywords that can't stay."""
        if keywords:
            *first, last = keywords
            words = f"{', '.join(first)} and {last} stand" if first else f"{last} stands"
            self._lose("moved", (*path, keywords[0]), f"{words} in the description only")
        return [note(each, self._spelled_out(schema[each], (*path, each))) for each in keywords]

    def _types(self, schema: dict[str, JSON], path: Path) -> list[str]:
        given = schema.get("type")
        if given is not None:
            return list(given) if isinstance(given, list) else [given]
        values = [schema["const"]] if "const" in schema else schema.get("enum", ())
        if values:
            return list(dict.fromkeys(map(kind, values)))
        for name, keywords in (("object", _OBJECT), ("array", {"items"})):
            if not schema.keys().isdisjoint(keywords):
                self._lose("rewritten", path, f"only a value of type {name} is admitted")
                return [name]
        raise UnfitError(path, "any type is admitted", "say its type")

    def _add_values(self, made: dict[str, JSON], schema: dict[str, JSON], path: Path) -> None:
        for keyword in ("enum", "const"):
            if keyword in schema:
                values = schema[keyword] if keyword == "enum" else [schema[keyword]]
                if not values:
                    raise UnfitError((*path, keyword), "there is nothing to choose from")
                if any(isinstance(each, dict | list) for each in values):
                    raise UnfitError((*path, keyword), f"{keyword} has values that are no scalars")
                made[keyword] = copied(schema[keyword])
                texts = [each for each in values if isinstance(each, str)]
                if not self._dialect.minds_case and len({*map(str.lower, texts)}) < len({*texts}):
                    message = "values that differ in case alone may be mistaken for one another"
                    self._lose("doubt", (*path, keyword), message)

    def _items(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        if "prefixItems" in schema:
            raise UnfitError((*path, "prefixItems"), "a tuple has items of different schemas")
        if "items" not in schema:
            raise UnfitError(path, "an array does not say what its items are", "add 'items'")
        return self._node(schema["items"], (*path, "items"))

    def _object(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        self._check_closed(schema, path)
        self._check_consequences(schema, path)
        properties, required = schema.get("properties", {}), schema.get("required", ())
        made = {}
        for name, each in properties.items():
            if each is not False or name in required:
                made[name] = self._node(each, (*path, "properties", name))
        absent = [name for name in required if name not in made]
        if absent:
            raise UnfitError((*path, "required"), f"{absent[0]!r} is required but not described")
        named = [name for name in made if name in required]
        return {"properties": made, "required": named, "additionalProperties": False}

    def _check_consequences(self, schema: dict[str, JSON], path: Path) -> None:
        """Refuse conditions about properties that could not be given any more."""
        unknown = {*consequences(schema)} - schema.get("properties", {}).keys()
        if unknown:
            raise UnfitError(path, f"a condition is about {min(unknown)!r}, which is not listed")

    def _check_closed(self, schema: dict[str, JSON], path: Path) -> None:
        """Refuse objects whose properties can't be listed."""
        others = schema.get("additionalProperties")
        if schema.get("patternProperties") or others not in (None, False):
            keyword = "patternProperties" if others in (None, False) else "additionalProperties"
            raise UnfitError((*path, keyword), "an object may have properties of any name")
        if others is None and not schema.get("properties"):
            raise UnfitError(path, "an object does not list its properties")
        if others is None:
            self._lose("rewritten", path, "an object can't have other properties than those listed")


def _others(schema: dict[str, JSON]) -> set[str]:
    return schema.keys() - {"$ref"}


def _is_idle(keyword: str, value: JSON) -> bool:
    """Tell whether a keyword has the value that says nothing."""
    return keyword in _IDLE and _IDLE[keyword] == value and type(_IDLE[keyword]) is type(value)
