"""Schemas that a provider enforces, and the reason why another one can't be said so.

One walk copies the part of JSON Schema that the provider knows. What only constrains a value and
can't be said moves into the description. What would let a model give something else than before, or
nothing at all, can't be said: then the tool is not strict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.annotations.jsonvalues import text_of
from sovl_tools.formats.base import ROOT, Loss
from sovl_tools.formats.meaning import (
    accepts_null,
    are_disjoint,
    audible,
    is_idle,
    is_silent,
    note,
    with_notes,
)
from sovl_tools.formats.providers import Dialect, Size
from sovl_tools.model.document import JSON, Path, copied, kind
from sovl_tools.schema.keywords import ANNOTATIONS, IN_LIST, IN_OBJECT, SCALAR, SINGLE
from sovl_tools.schema.rewrite import Definitions, refer
from sovl_tools.schema.subschemas import REFERENCES, nodes

_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
_STRUCTURE = frozenset({"type", "enum", "const", "properties", "required", "items"})
_OF_ROOT = frozenset({"type", "properties", "additionalProperties"})
_OBJECT = frozenset({"properties", "required", "additionalProperties"})
_SAID_BY_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties"})
_WITH_SCHEMAS = frozenset({*IN_OBJECT, *IN_LIST, *SINGLE})
# OpenAI bounds the characters of a choice only if it has more texts than this
_MANY = 250
_DEFINITION = "#/$defs/"
_NULL: dict[str, JSON] = {"type": "null"}
_OUTSIDE = ("title", "description")


class StrictError(Exception):
    """A schema that can't be said strictly.

    Attributes:
        path: the place in the manifest.
        message: why, in words that begin with what is there.
        help: what the author may do.
    """

    def __init__(self, path: Path, message: str, help: str | None = None) -> None:  # noqa: A002 - as everywhere
        super().__init__(path, message, help)
        self.path = path
        self.message = message
        self.help = help


_Way: TypeAlias = Literal["plain", "union", "reference"]
_MOST_PLANS = 4096
_REFUSED = {
    "allOf": "allOf isn't merged into one schema",
    **dict.fromkeys(
        ("if", "then", "else", "dependentRequired", "dependentSchemas"),
        "a condition can't be enforced",
    ),
}


class _Plan(NamedTuple):
    """What has to be done for a schema that has certain keywords.

    Attributes:
        way: what it is.
        type: its type; None if there is none, or several.
        is_dynamic: whether there is a dynamic reference.
        beside: keywords beside the structure, each with whether it stays, whatever its value.
        choices: keywords that list its values.
        refused: the first keyword that no provider enforces as it is written here.
        whole: all keywords of a scalar that stay, whatever their values; empty for any other.
    """

    way: _Way
    type: str | None
    is_dynamic: bool
    beside: tuple[tuple[str, bool], ...]
    choices: tuple[str, ...]
    refused: str | None
    whole: tuple[str, ...]


_Plans: TypeAlias = dict[tuple[str | None, ...], _Plan]

_PLANS: dict[Dialect, _Plans] = {}
"""Plans of each dialect, by a schema's type and keywords."""


def _plan(dialect: Dialect, key: tuple[str | None, ...]) -> _Plan:
    """Return what has to be done for schemas of a type, None for any other, and of keywords."""
    keywords = [each for each in key[1:] if each is not None and not is_silent(each)]
    way: _Way = "plain"
    refused = next((each for each in keywords if each in _REFUSED), None)
    alone = next((each for each in ("$ref", "anyOf", "oneOf") if each in keywords), None)
    if alone is not None:
        way = "reference" if alone == "$ref" else "union"
        if not ANNOTATIONS.issuperset({*keywords} - {alone, "$dynamicRef"}):
            refused = refused or alone
    others = [each for each in keywords if each not in _STRUCTURE]
    sure = {
        each
        for each in others
        if each in (dialect.keeps or ()) and each in SCALAR and not is_idle(each, 0)
    }
    is_said = key[0] in _SCALARS and sure.union({"type"}).issuperset(keywords)
    return _Plan(
        way,
        key[0],
        "$dynamicRef" in keywords,
        tuple((each, each in sure) for each in others),
        tuple(each for each in ("enum", "const") if each in keywords),
        refused,
        ("type", *others) if is_said else (),
    )


class StrictSubset(NamedTuple):
    """A schema in a dialect, with its definitions in ``$defs``.

    Attributes:
        schema: the schema.
        losses: what it does not say.
        names: those of all properties.
        has_optional: whether some of them were not required.
        size: how large it is.
    """

    schema: dict[str, JSON]
    losses: tuple[Loss, ...]
    names: set[str]
    has_optional: bool
    size: Size


Spend: TypeAlias = Callable[[str, int], None]
"""Counts what a request has room for: ``unions`` or ``optional parameters``, and how many more.

It raises a StrictError where there is no room, so that the schema is not gone through to its end.
"""


def strict_subset(
    parameters: dict[str, JSON],
    dialect: Dialect,
    *,
    require_all: bool = False,
    spend: Spend = lambda _, __: None,
) -> StrictSubset:
    """Return the schema of a tool's arguments in a dialect.

    Args:
        parameters: the schema of the manifest.
        dialect: what the provider knows.
        require_all: whether optional properties become required ones that may be null.
        spend: called with what is limited in a whole request.

    Raises:
        StrictError: it says what the dialect can't say.
    """
    work = _Subset(parameters, dialect, require_all=require_all, spend=spend)
    schema = work.root()
    # Whether a reference admits null is known when all definitions are there.
    for properties, name in work.nullable:
        before = properties[name]
        made = properties[name] = _nullable(before, work.definitions)
        if "enum" in made and made["enum"] is not before["enum"]:
            work.count_values(made["enum"], counted=len(before["enum"]))
    made = schema
    if work.definitions:
        made = {**schema, "$defs": work.definitions}
        work.characters += sum(map(len, work.definitions))
    size = Size(work.properties, work.values, work.characters, work.longest, work.depth)
    return StrictSubset(made, tuple(work.losses), work.names, work.has_optional, size)


class _Subset:
    """The definitions that are there so far, and what was lost."""

    def __init__(
        self, parameters: dict[str, JSON], dialect: Dialect, *, require_all: bool, spend: Spend
    ) -> None:
        self.definitions: dict[str, JSON] = {}
        self.losses: list[Loss] = []
        self.names: set[str] = set()
        self.nullable: list[tuple[dict[str, JSON], str]] = []
        self.has_optional = False
        self.properties = self.values = self.characters = self.longest = self.depth = 0
        self._source = Definitions(parameters)
        self._dialect = dialect
        self._plans = _PLANS.setdefault(dialect, {})
        self._require_all = require_all
        self._spend = spend
        self._open: list[str | None] = []  # definitions on the way; None is the root

    def _plan(self, schema: dict[str, JSON]) -> _Plan:
        """Return what has to be done for a schema, by its type and its keywords."""
        # schemas have few combinations of keywords, so that most need no look at each of them
        kind = schema.get("type")
        key = (kind if type(kind) is str else None, *schema)
        found = self._plans.get(key)
        if found is None:
            if len(self._plans) > _MOST_PLANS:
                self._plans.clear()
            found = self._plans[key] = _plan(self._dialect, key)
        return found

    def root(self) -> dict[str, JSON]:
        """Return the schema of all arguments, an object with nothing beside its properties."""
        schema, plan = self._direct(self._source.root, ROOT)
        if plan.way != "plain":
            raise StrictError(ROOT, "the arguments as a whole aren't one plain object")
        if not schema.keys() >= _OF_ROOT:
            schema = {"type": "object", "properties": {}, "additionalProperties": False, **schema}
            plan = self._plan(schema)
        self._open.append(None)
        made = self._plain(schema, plan, ROOT)
        self._open.pop()
        return made

    def _record_loss(self, what: str, path: Path, message: str) -> None:
        self.losses.append(Loss(what, path, message))  # type: ignore[arg-type]  # literals all

    def _node(self, schema: JSON, path: Path) -> dict[str, JSON]:
        """Return a subschema in the dialect."""
        if not isinstance(schema, dict):
            raise StrictError(path, "any value is admitted" if schema else "no value is admitted")
        plan = self._plan(schema)
        if plan.whole:
            return {keyword: schema[keyword] for keyword in plan.whole}
        schema, plan = self._direct(schema, path)
        if plan.way == "plain":
            return self._plain(schema, plan, path)
        schema = audible(schema)
        if plan.way == "reference":
            return self._reference(schema, path)
        return self._union(schema, "anyOf" if "anyOf" in schema else "oneOf", path)

    def _direct(self, schema: dict[str, JSON], path: Path) -> tuple[dict[str, JSON], _Plan]:
        """Return a schema without dynamic references, and what has to be done for it."""
        plan = self._plan(schema)
        if plan.is_dynamic:
            schema = self._resolve_dynamic(schema)
            plan = self._plan(schema)
        if plan.refused is not None:
            message = _REFUSED.get(plan.refused, f"{plan.refused} stands beside other keywords")
            raise StrictError((*path, plan.refused), message)
        return schema, plan

    def _resolve_dynamic(self, schema: JSON) -> JSON:
        """Return a schema in which a dynamic reference to one place is one like any other."""
        if not isinstance(schema, dict) or "$dynamicRef" not in schema:
            return schema
        if not self._source.is_static(schema["$dynamicRef"]):
            return schema
        made = dict(schema)
        refer(made, made.pop("$dynamicRef"))
        return made

    def _address(self, reference: str, path: Path) -> str:
        found = self._source.address(reference)
        if found is None:
            raise StrictError(path, f"the reference {reference!r} can't be followed")
        return found

    def _reference(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        address = self._address(schema["$ref"], path)
        target = self._source.target(address)
        name = None if address == "#" else address.removeprefix(_DEFINITION)
        if not self._dialect.is_recursive and name in self._open:
            raise StrictError(path, "it contains itself", "give it a bounded depth")
        if len(schema) == 1:
            self._define(name, target)
            return {"$ref": address}
        others, moved = self._annotated(schema, path)
        if not others and not moved:
            self._define(name, target)
            return {"$ref": address}
        if not self._dialect.wraps_references and isinstance(target, dict):
            beside = {key: each for key, each in schema.items() if key != "$ref"}
            return self._inlined({**target, **beside}, name, path)
        self._define(name, target)
        return with_notes({"anyOf": [{"$ref": address}], **others}, moved)

    def _inlined(self, schema: JSON, name: str | None, path: Path) -> dict[str, JSON]:
        self._open.append(name)
        made = self._node(schema, path)
        self._open.pop()
        return made

    def _define(self, name: str | None, target: JSON) -> None:
        if name is None or name in self.definitions:
            return
        self.definitions[name] = {}  # it has its place before it is made, so that recursion ends
        path = (*ROOT, *self._source.targets[name].path)
        made = self.definitions[name] = self._inlined(target, name, path)
        # A definition that is nothing but a reference could lead in a circle.
        seen = {name}
        while "$ref" in made:
            following = made["$ref"].removeprefix(_DEFINITION)
            if following in seen:
                raise StrictError(path, "it refers to nothing but itself")
            seen.add(following)
            made = self.definitions.get(following, {})

    def _annotated(
        self, schema: dict[str, JSON], path: Path
    ) -> tuple[dict[str, JSON], Sequence[str]]:
        """Return the annotations that may stay, and what the others say in words."""
        kept: dict[str, JSON] = {}
        others: list[str] = []
        for keyword, value in schema.items():
            if keyword not in ANNOTATIONS:
                continue
            if self._dialect.takes(keyword, value):
                kept[keyword] = copied(value)
            elif not is_idle(keyword, value):
                others.append(keyword)
        return kept, self._moved(schema, others, path) if others else ()

    def _union(self, schema: dict[str, JSON], keyword: str, path: Path) -> dict[str, JSON]:
        """Return alternatives as ``anyOf``, with the keywords beside them in each of them."""
        self._spend("unions", 1)
        branches: Sequence[JSON] = schema[keyword]
        place = (*path, keyword)
        self._warn_of_alternatives(branches, keyword, place)
        made = [self._node(each, (*place, index)) for index, each in enumerate(branches)]
        others, moved = self._annotated(schema, path)
        return with_notes({"anyOf": made, **others}, moved)

    def _warn_of_alternatives(self, branches: Sequence[JSON], keyword: str, place: Path) -> None:
        if keyword != "oneOf" and not self._dialect.tells_by_first:
            return
        found = []
        for each in branches:  # each as it is, or the definition to which it refers
            schema = self._resolve_dynamic(each)
            if isinstance(schema, dict) and "$ref" in schema:
                address = self._source.address(schema["$ref"])
                schema = self._source.target(address) if address not in (None, "#") else None
            found.append(schema if isinstance(schema, dict) else {})
        if are_disjoint(found):
            return
        if keyword == "oneOf":
            self._record_loss("rewritten", place, "oneOf is said as anyOf")
        # a model that has written the first name has chosen the alternative
        names = [next(iter(each["properties"])) for each in found if each.get("properties")]
        if self._dialect.tells_by_first and len(names) > len({*names}):
            message = "alternatives that begin with the same property may be refused"
            self._record_loss("doubt", place, message)

    def _plain(self, schema: dict[str, JSON], plan: _Plan, path: Path) -> dict[str, JSON]:
        """Return a schema that is neither a union nor a reference."""
        types: JSON = plan.type
        is_object, is_array = types == "object", types == "array"
        if types is None:
            found = self._types(schema, path)
            types = found[0] if len(found) == 1 else found
            is_object, is_array = "object" in found, "array" in found
            self._spend("unions", len(found) > 1)
        made: dict[str, JSON] = {"type": types}
        others = []
        for keyword, is_sure in plan.beside:
            value = schema[keyword]
            if is_sure:
                made[keyword] = value
            elif is_idle(keyword, value):
                continue
            elif self._dialect.takes(keyword, value):
                made[keyword] = copied(value)
            elif not (is_object and keyword in _SAID_BY_CLOSING):
                others.append(keyword)
        moved = self._moved(schema, others, path) if others else ()
        for keyword in plan.choices:
            self._add_values(made, keyword, schema, path)
        if is_object:
            self._add_properties(made, schema, path)
        if is_array:
            made["items"] = self._items(schema, path)
        self.depth += is_object or is_array
        return with_notes(made, moved)

    def _moved(self, schema: dict[str, JSON], keywords: Sequence[str], path: Path) -> Sequence[str]:
        """Return in words the keywords that can't stay, and record that they are lost."""
        for each in keywords:
            part = {each: schema[each]}
            if each in _WITH_SCHEMAS and any(
                REFERENCES & at.schema.keys() for at in nodes(part, ())
            ):
                raise StrictError((*path, each), f"{each} refers to another schema")
        *first, last = keywords
        words = f"{', '.join(first)} and {last} stand" if first else f"{last} stands"
        self._record_loss("moved", (*path, keywords[0]), f"{words} in the description only")
        return [note(each, schema[each]) for each in keywords]

    def _types(self, schema: dict[str, JSON], path: Path) -> list[str]:
        given = schema.get("type")
        if given is not None:
            return list(given) if isinstance(given, list) else [given]
        values = [schema["const"]] if "const" in schema else schema.get("enum", ())
        if values:
            return list(dict.fromkeys(map(kind, values)))
        for name, keywords in (("object", _OBJECT), ("array", {"items"})):
            if not schema.keys().isdisjoint(keywords):
                self._record_loss("rewritten", path, f"only a value of type {name} is admitted")
                return [name]
        raise StrictError(path, "any type is admitted", "say its type")

    def _add_values(
        self, made: dict[str, JSON], keyword: str, schema: dict[str, JSON], path: Path
    ) -> None:
        value = schema[keyword]
        values = value if keyword == "enum" else [value]
        if not values:
            raise StrictError((*path, keyword), "there is nothing to choose from")
        kinds = {*map(type, values)}
        if not kinds.isdisjoint((dict, list)):
            raise StrictError((*path, keyword), f"{keyword} has values that are no scalars")
        made[keyword] = copied(value)
        if keyword == "const" or "const" not in schema:  # beside a const, an enum says nothing
            self.count_values(values)
        if self._dialect.minds_case or str not in kinds:
            return
        texts = [each for each in values if isinstance(each, str)]
        if len({*map(str.lower, texts)}) < len({*texts}):
            message = "values that differ in case alone may be mistaken for one another"
            self._record_loss("doubt", (*path, keyword), message)

    def count_values(self, values: Sequence[JSON], *, counted: int = 0) -> None:
        """Add values to choose from to the size, but for the first that have been added before."""
        lengths = [len(each if type(each) is str else text_of(each)) for each in values]
        self.values += len(values) - counted
        self.characters += sum(lengths[counted:])
        if len(values) > _MANY:
            self.longest = max(self.longest, sum(lengths))

    def _items(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        if "prefixItems" in schema:
            raise StrictError((*path, "prefixItems"), "a tuple has items of different schemas")
        if "items" not in schema:
            raise StrictError(path, "an array does not say what its items are", "add 'items'")
        return self._node(schema["items"], (*path, "items"))

    def _add_properties(self, made: dict[str, JSON], schema: dict[str, JSON], path: Path) -> None:
        """Add the properties to an object, and that it has no others."""
        properties, required = schema.get("properties", {}), {*schema.get("required", ())}
        self._check_closed(schema, path)
        # a property that may be left out and admits nothing is left out
        kept = {
            key: each for key, each in properties.items() if each is not False or key in required
        }
        if not required <= kept.keys():
            absent = next(name for name in schema["required"] if name not in kept)
            raise StrictError((*path, "required"), f"{absent!r} is required but not described")
        # before the members are gone through, which is in vain where there is no room
        if len(required) < len(kept):
            self.has_optional = True
            self._spend("optional parameters", len(kept) - len(required))
        node, place = self._node, (*path, "properties")
        members: dict[str, JSON] = {name: node(each, (*place, name)) for name, each in kept.items()}
        if self._require_all:
            self.nullable += [(members, name) for name in members if name not in required]
        self.names.update(members)
        self.properties += len(members)
        self.characters += sum(map(len, members))
        made["properties"] = members
        is_every = self._require_all or len(required) == len(members)
        made["required"] = [name for name in members if is_every or name in required]
        made["additionalProperties"] = False

    def _check_closed(self, schema: dict[str, JSON], path: Path) -> None:
        """Refuse objects whose properties can't be listed."""
        others = schema.get("additionalProperties")
        if schema.get("patternProperties") or others not in (None, False):
            keyword = "patternProperties" if others in (None, False) else "additionalProperties"
            raise StrictError((*path, keyword), "an object may have properties of any name")
        if others is None and not schema.get("properties"):
            raise StrictError(path, "an object does not list its properties")
        if others is None:
            self._record_loss(
                "rewritten", path, "an object can't have other properties than those listed"
            )


def _nullable(schema: dict[str, JSON], definitions: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a schema that admits null beside what it admits."""
    said = schema.get("type")
    if type(said) is not str or said == "null" or "const" in schema:
        if accepts_null(schema, definitions):
            return schema
        if "anyOf" in schema:
            return {**schema, "anyOf": [*schema["anyOf"], _NULL]}
        if "$ref" in schema or "const" in schema:
            outside = {key: schema[key] for key in _OUTSIDE if key in schema}
            inside = {key: each for key, each in schema.items() if key not in outside}
            return {"anyOf": [inside, _NULL], **outside}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    made = {**schema, "type": types if "null" in types else [*types, "null"]}
    if "enum" in schema and None not in schema["enum"]:
        made["enum"] = [*schema["enum"], None]
    return made
