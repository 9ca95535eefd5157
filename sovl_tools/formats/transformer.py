"""A schema as a provider takes it: one walk over the provider's table of keywords.

A keyword stays, is replaced by others, or moves into the description, in words. References lead to
definitions in ``$defs``. Alternatives and conditions of all arguments together are skipped, since
every provider wants a plain object there; properties that only a branch describes become optional
ones, so that a model sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sovl_tools.formats.base import ROOT, Kind, Loss
from sovl_tools.formats.meaning import is_idle, is_silent, note, with_notes
from sovl_tools.formats.providers import Dialect, Provider, are_choices
from sovl_tools.model.document import JSON, Path, copied, kind, pointer
from sovl_tools.schema.keywords import ANNOTATIONS, SILENT
from sovl_tools.schema.rewrite import Definitions, Rewrite
from sovl_tools.schema.subschemas import REFERENCES, SchemaNode, nodes

_BY_PATTERN = frozenset({"patternProperties", "additionalProperties", "unevaluatedProperties"})
_CONSEQUENCES = frozenset({"then", "else"})
_BRANCHES = frozenset({"allOf", "anyOf", "oneOf", *_CONSEQUENCES})
_SWITCHES = frozenset({"additionalProperties", "unevaluatedProperties", "unevaluatedItems"})
_NEVER: tuple[JSON, ...] = (False, {"not": {}})
_HELP = "say it in the descriptions of the properties, or make several tools of it"


class Transformed(NamedTuple):
    """A schema that a provider takes.

    Attributes:
        schema: the schema, with its definitions in ``$defs``.
        losses: the differences from the original.
        definitions: where they are in the manifest's schema.
    """

    schema: dict[str, JSON]
    losses: tuple[Loss, ...]
    definitions: Definitions


def loose(parameters: dict[str, JSON], provider: Provider) -> Transformed:
    """Return a schema of arguments that a provider takes without enforcing it."""
    walk = Transformer(parameters, provider.loose)
    found = walk.whole()
    names = refused_names(parameters, found.schema, walk.names, provider)
    return found._replace(losses=(*found.losses, *names))


class Transformer(Rewrite):
    """The walk. A subclass adds what its provider wants of each subschema.

    Attributes:
        dialect: the table.
        losses: the losses so far.
        names: the names of all properties so far.
    """

    dropped = SILENT

    def __init__(self, parameters: dict[str, JSON], dialect: Dialect) -> None:
        super().__init__(Definitions(parameters), ROOT)
        self.dialect = dialect
        self.losses: list[Loss] = []
        self.names: set[str] = set()

    def whole(self) -> Transformed:
        """Return the schema as the provider takes it, with a plain object at the root."""
        root, path = self.root()
        gone = [each for each in root if each in self.dialect.root]
        if gone and "unevaluatedProperties" in root:  # it depends on them
            gone.append("unevaluatedProperties")
        kept = {key: each for key, each in root.items() if key not in (*gone, "type")}
        made = self.schema({"type": "object", "properties": {}, **kept}, path)
        if gone:
            words = f"{_listed(gone)} of all arguments {'are' if gone[1:] else 'is'} omitted"
            self.losses.append(Loss("dropped", (*path, gone[0]), words, _HELP))
            if kept.get("additionalProperties") is not False:
                made["properties"] |= self._of_branches(root, path)
        definitions = self.finish()
        if definitions:
            made["$defs"] = definitions
        return Transformed(made, tuple(dict.fromkeys(self.losses)), self.definitions)

    def root(self) -> tuple[dict[str, JSON], Path]:
        """Return the schema of all arguments and its path; it follows bare references."""
        whole = self.definitions.root
        root, path = self.direct(whole, ROOT)
        seen = [whole]
        while "$ref" in root and ANNOTATIONS.issuperset(_audible(root) - {"$ref"}):
            target = SchemaNode(path, root, whole, ROOT).target()
            if target is None or target.schema in seen:
                break
            seen.append(target.schema)
            beside = {key: each for key, each in root.items() if key in ANNOTATIONS}
            root, path = self.direct(target.schema, target.path)
            root = {**root, **beside}
        return root, path

    def _of_branches(self, root: dict[str, JSON], path: Path) -> dict[str, JSON]:
        """Return the properties that only alternatives, conditions and references describe."""
        found: dict[str, list[JSON]] = {}
        pending = [SchemaNode(path, root, self.definitions.root, ROOT)]
        seen = [root, self.definitions.root]
        for node in pending:  # which grows meanwhile
            below = [each for each in node.children() if each.path[len(node.path)] in _BRANCHES]
            target = node.target()
            if target is not None and not any(each is target.schema for each in seen):
                seen.append(target.schema)
                below.append(target)
            pending += below
            for name, schema in node.schema.get("properties", {}).items():
                if name in root.get("properties", ()) or schema in _NEVER:
                    continue
                made = self.schema(schema, (*node.path, "properties", name))
                if made not in found.setdefault(name, []):
                    found[name].append(made)
        self.names.update(found)
        return {
            name: ways[0] if len(ways) == 1 else {"anyOf": ways} for name, ways in found.items()
        }

    def schema(self, schema: JSON, path: Path) -> JSON:
        """Return a subschema as the provider takes it, and record its losses."""
        if not isinstance(schema, dict):
            return self.decided(schema, path)
        dialect = self.dialect
        if "allOf" in schema or "$dynamicRef" in schema:
            schema, path = self.direct(schema, path)
        schema, path = self.prepared(schema, path)
        made, moved = self._kept(schema, path)
        if moved:
            made = with_notes(made, self._in_words(schema, moved, path))
        if dialect.wraps_references and "$ref" in made and len(made) > 1:
            made["anyOf"] = [{"$ref": made.pop("$ref")}]
        if "properties" in made:
            self.names.update(made["properties"])
        return self.changed(schema, made, path)

    def _kept(self, schema: dict[str, JSON], path: Path) -> tuple[dict[str, JSON], list[str]]:
        """Return the keywords that stay, and the names of the others."""
        made: dict[str, JSON] = {}
        moved, plain = [], self.dialect.plain
        for keyword, value in schema.items():
            if keyword in plain:
                made[keyword] = value if type(value) is str else copied(value)
            elif keyword in SILENT:
                continue
            elif self._stays(keyword, schema):
                made[keyword] = self.value(keyword, value, path)
            elif keyword == "oneOf" and "anyOf" not in schema:
                made["anyOf"] = self.value(keyword, value, path)
            elif not is_silent(keyword):
                moved.append(keyword)
        return made, moved

    def direct(self, schema: dict[str, JSON], path: Path) -> tuple[dict[str, JSON], Path]:
        """Return a schema, or the only one of its ``allOf`` with the annotations next to it."""
        schema = self.with_plain_reference(schema)
        while len(schema.get("allOf", ())) == 1 and isinstance(schema["allOf"][0], dict):
            if not ANNOTATIONS.issuperset(_audible(schema) - {"allOf"}):
                break
            beside = {key: each for key, each in schema.items() if key in ANNOTATIONS}
            schema = self.with_plain_reference({**schema["allOf"][0], **beside})
            path = (*path, "allOf", 0)
        return schema, path

    def prepared(self, schema: dict[str, JSON], path: Path) -> tuple[dict[str, JSON], Path]:
        """Return a schema with the keywords that the provider demands, and its path."""
        if self.dialect.needs_enum and not schema.keys().isdisjoint({"const", "enum"}):
            schema = _as_choice(schema)
        if self.dialect.needs_members and "type" in schema:
            for name, keyword in (("array", "items"), ("object", "properties")):
                if keyword not in schema and name in schema["type"]:
                    schema = {**schema, keyword: {}}
        return schema, path

    def _stays(self, keyword: str, schema: dict[str, JSON]) -> bool:
        value = schema[keyword]
        if keyword in REFERENCES:
            is_alone = not self.dialect.wraps_references or {"anyOf", "oneOf"}.isdisjoint(schema)
            return keyword == "$ref" and is_alone and self.definitions.address(value) is not None
        if keyword == "unevaluatedItems" and schema.get("items") == {}:  # which is new here
            return False
        if (
            keyword in _BY_PATTERN and "patternProperties" in schema
        ):  # these three depend on each other
            keyword, value = "patternProperties", schema["patternProperties"]
        return self.dialect.takes(keyword, value)

    def decided(self, schema: bool, path: Path) -> JSON:  # noqa: FBT001 - a schema, no switch
        """Return true or false as a subschema that is an object."""
        if schema:
            return {}
        if self.dialect.takes("not", {}):
            return {"not": {}}
        self.record("moved", path, "false is in the description only")
        return {"description": "No value matches."}

    def single(self, keyword: str, value: JSON, path: Path) -> JSON:
        """Leave true and false where every provider takes them."""
        if type(value) is bool and keyword in _SWITCHES:
            return value
        return self.schema(value, (*path, keyword))

    def record(self, kind: Kind, path: Path, message: str) -> None:
        """Add a loss."""
        self.losses.append(Loss(kind, path, message))

    def _in_words(self, schema: dict[str, JSON], moved: Sequence[str], path: Path) -> list[str]:
        """Return in words the keywords that can't stay, and record that they are lost."""
        said = [each for each in moved if not is_idle(each, schema[each])]
        named = [each for each in said if each not in _CONSEQUENCES]
        if not named:  # consequences without a condition have no effect
            return []
        message = f"{_listed(named)} {'is' if len(named) == 1 else 'are'} in the description only"
        self.record("moved", (*path, named[0]), message)
        copy = Rewrite(self.definitions)  # references in words lead to definitions, too
        return [
            note(each, copy.value(each, schema[each], ()))
            for each in said
            if each not in _CONSEQUENCES or "if" in schema
        ]


def _as_choice(schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return a schema with the type of its choices, and with a constant as an enum of one."""
    values = [schema["const"]] if "const" in schema else schema["enum"]
    types = list(dict.fromkeys(map(kind, values)))
    typed = {"type": types[0] if len(types) == 1 else types, **schema}
    if are_choices(values):
        typed.pop("const", None)
        typed["enum"] = values
    return typed


def _audible(schema: dict[str, JSON]) -> set[str]:
    return {each for each in schema if not is_silent(each)}


def _listed(keywords: Sequence[str]) -> str:
    *first, last = keywords
    return f"{', '.join(first)} and {last}" if first else last


def refused_names(
    parameters: dict[str, JSON], schema: dict[str, JSON], names: set[str], provider: Provider
) -> tuple[Loss, ...]:
    """Return losses for the names of properties that the provider rejects, or might reject.

    Args:
        parameters: the schema of the manifest, for the places.
        schema: the schema for the provider.
        names: the names of all its properties.
        provider: the provider, with its pattern for names.
    """
    pattern = provider.names
    if pattern is None or all(map(pattern.fullmatch, names)):
        return ()
    refused = {each for each in names if not pattern.fullmatch(each)}
    places = [
        (*node.path, "properties", name)
        for node in nodes(parameters, ROOT)
        for name in node.schema.get("properties", ())
        if name in refused
    ]
    arguments = schema["properties"] if provider.is_sure else ()
    advice = f"rename it, so that it matches {pattern.pattern}"
    words = "rejected as the name of a property"
    return tuple(
        Loss("name", path, f"{path[-1]!r} is {words}", advice)
        if path[-1] in arguments
        else Loss("doubt", path, f"{path[-1]!r} can be {words}", advice)
        for path in sorted(places, key=pointer)
    )
