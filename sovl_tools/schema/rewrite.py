"""Copies of schemas, in one walk, every reference to a definition in one place; merged schemas.

Whatever is referred to becomes a definition, wherever it is, by pointer, by anchor or by its own
``$id``; what nobody refers to is left out. A dynamic reference that can lead to one place only is
one like any other. A reference that only an engine could follow stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.schema.keywords import BOUNDS, IDENTITY, IN_LIST, IN_OBJECT, SCALAR, SINGLE
from sovl_tools.schema.subschemas import Reference, free_name, is_static, lookup

_MOST_PLANS = 4096
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")

_AS_THEY_ARE = SCALAR - {"$ref"}


class _Plan(NamedTuple):
    """What has to be done to copy a schema that has certain keywords and a certain type.

    Attributes:
        dropped: keywords that are left out.
        nested: keywords whose values can't be taken over as they are, each with the method that
            copies such a value; None for one that is only data.
        is_dynamic: whether there is a dynamic reference.
        refers: whether there is a reference.
        is_due: whether something may have to be changed in it.
        is_flat: whether nothing of that is so: a shallow copy is all.
    """

    dropped: tuple[str, ...]
    nested: tuple[tuple[str, Callable[[Any, str, JSON, Path], JSON] | None], ...]
    is_dynamic: bool
    refers: bool
    is_due: bool
    is_flat: bool


def in_definitions(name: str | None) -> str:
    """Return the reference to a definition, or to the whole schema: the usual address."""
    return "#" if name is None else f"#/$defs/{name}"


class Definitions:
    """What a schema refers to, by names that are given as references are met.

    Attributes:
        root: the schema, in which its references are looked up.
        targets: where each definition is, by name.
    """

    def __init__(
        self, root: dict[str, JSON], address: Callable[[str | None], str] = in_definitions
    ) -> None:
        self.root = root
        self.targets: dict[str, Reference] = {}
        self._address = address
        self._addresses: dict[int, str] = {}
        self._given: dict[str, JSON] = {}
        self._known: dict[str, str | None] = {}

    def address(self, reference: str) -> str | None:
        """Return the reference to the definition that another one leads to; None for nowhere."""
        if reference in self._known:
            return self._known[reference]
        found, address = lookup(self.root, reference), None
        if isinstance(found.target, dict | bool):
            # by identity: two ways to write a reference lead to one definition
            key = id(found.target)
            if key not in self._addresses:
                name = None if found.target is self.root else self._free_name(reference, found.path)
                self._addresses[key] = self._address(name)
                self._given[self._addresses[key]] = found.target
                if name is not None:
                    self.targets[name] = found
            address = self._addresses[key]
        self._known[reference] = address
        return address

    def target(self, address: str) -> JSON:
        """Return what a definition is, or the whole schema, by the reference to it here."""
        return self._given[address]

    def is_static(self, reference: JSON) -> bool:
        """Tell whether a dynamic reference leads to one definition, wherever it is come from."""
        if not isinstance(reference, str) or not is_static(self.root, reference):
            return False
        return isinstance(lookup(self.root, reference).target, dict | bool)

    @property
    def are_used(self) -> bool:
        """Whether there are references that lead to definitions, or to the whole schema."""
        return bool(self._addresses)

    def is_address(self, reference: JSON) -> bool:
        """Tell whether a reference leads to a definition by the name that it has here."""
        return isinstance(reference, str) and reference in self._given

    def _free_name(self, reference: str, path: Path) -> str:
        """Return a name for a definition that no other definition has."""
        document, _, fragment = reference.partition("#")
        name = fragment or re.split("[/:]", document)[-1]
        wanted = str(path[-1]) if fragment.startswith("/") else name
        if not wanted.isidentifier() or not wanted.isascii():
            wanted = _UNFIT.sub("_", wanted) or "definition"
        return free_name(wanted, self.targets, joint="_")


class Rewrite:
    """A copy of a schema, made in one walk; subclasses change what they are to change.

    Attributes:
        definitions: the names of what is referred to.
        base: the path of the schema itself, with which all paths begin.
        copies: the definitions, copied; None for one that is being copied.
    """

    dropped: ClassVar[frozenset[str]] = IDENTITY
    """Keywords that are left out of every schema."""

    _plans: ClassVar[dict[tuple[Any, ...], dict[tuple[Any, ...], _Plan]]] = {}
    """Plans by a subclass and its variant, then by a schema's type and keywords."""

    def __init__(self, definitions: Definitions, base: Path = (), variant: Any = None) -> None:
        """Begin a copy; ``variant`` is what the answers of ``concerns`` depend on."""
        self.definitions = definitions
        self.base = base
        self.copies: dict[str, JSON] = {}
        self._own_plans = self._plans.setdefault((type(self), variant), {})

    def concerns(self, keywords: frozenset[str], kind: str | None) -> bool:
        """Tell whether ``changed`` is to be asked of schemas with these keywords, and no others.

        It is asked wherever a reference leads nowhere, too.

        Args:
            keywords: all of them, but for those that are left out.
            kind: the type; None if there is none, or several.
        """
        del keywords, kind
        return False

    def replaces(self, keyword: str) -> bool:
        """Tell whether ``changed`` puts something else in the place of a keyword, wherever it is.

        Then its value is not copied.
        """
        del keyword
        return False

    def changed(self, schema: dict[str, JSON], copy: dict[str, JSON], path: Path) -> JSON:
        """Return what becomes of a subschema.

        Args:
            schema: as it was.
            copy: its copy, in which every subschema is changed already.
            path: from the root.
        """
        del schema, path
        return copy

    def decided(self, schema: bool, path: Path) -> JSON:  # noqa: FBT001 - a schema, no switch
        """Return what becomes of a subschema that is true or false."""
        del path
        return schema

    def finish(self) -> dict[str, JSON]:
        """Copy the definitions to which what is copied so far refers, and return them all."""
        targets = self.definitions.targets
        # To copy a definition may bring up others.
        while len(self.copies) < len(targets):
            for name in [each for each in targets if each not in self.copies]:
                self.definition(name)
        return {name: self.copies[name] for name in targets}

    def definition(self, name: str) -> JSON:
        """Return the copy of a definition; None while it is being made."""
        if name not in self.copies:
            # a definition that refers to itself asks for its own copy meanwhile
            self.copies[name] = None
            found = self.definitions.targets[name]
            self.copies[name] = self.schema(found.target, (*self.base, *found.path))
        return self.copies[name]

    def schema(self, schema: JSON, path: Path) -> JSON:
        """Return the copy of a subschema."""
        if not isinstance(schema, dict):
            return self.decided(schema, path) if isinstance(schema, bool) else copied(schema)
        kind = schema.get("type")
        # Most schemas have one of a few sets of keywords, so that a plan serves many of them.
        key = (kind if type(kind) is str else None, *schema)
        plan = self._own_plans.get(key) or self._plan(key)
        copy = schema.copy()
        if plan.is_flat:
            return copy
        if plan.is_dynamic and self.definitions.is_static(copy["$dynamicRef"]):
            # now a reference like any other, for which another plan is due
            refer(copy, copy.pop("$dynamicRef"))
            return self.schema(copy, path)
        for keyword in plan.dropped:
            del copy[keyword]
        for keyword, copy_value in plan.nested:
            value = copy[keyword]
            if copy_value is not None:
                copy[keyword] = copy_value(self, keyword, value, path)
            elif type(value) in (dict, list):
                copy[keyword] = copied(value)
        leads_nowhere = plan.refers and not self.definitions.is_address(copy["$ref"])
        return self.changed(schema, copy, path) if plan.is_due or leads_nowhere else copy

    def _plan(self, key: tuple[Any, ...]) -> _Plan:
        kind, *keywords = key
        dropped = tuple(each for each in keywords if each in self.dropped)
        others = [each for each in keywords if each not in dropped]
        nested = tuple(
            (each, self._copier(each))
            for each in others
            if not (each in _AS_THEY_ARE or self.replaces(each))
            if each != "type" or kind is None
        )
        is_dynamic, refers = "$dynamicRef" in others, "$ref" in others
        is_due = is_dynamic or self.concerns(frozenset(others), kind)
        is_flat = not (dropped or nested or refers or is_due)
        plan = _Plan(dropped, nested, is_dynamic, refers, is_due, is_flat)
        # Schemas from outside could otherwise fill the memory with odd keywords.
        if len(self._own_plans) > _MOST_PLANS:
            self._own_plans.clear()
        self._own_plans[key] = plan
        return plan

    def _copier(self, keyword: str) -> Callable[[Any, str, JSON, Path], JSON] | None:
        """Return the method that copies what a keyword says; None if that is no schema."""
        if keyword in IN_OBJECT:
            return Rewrite._by_name
        if keyword in IN_LIST:
            return Rewrite._listed
        if keyword in SINGLE:
            return type(self).single
        return Rewrite._reference if keyword == "$ref" else None

    # a value of another kind is wrong there, and stays for those who say so

    def _by_name(self, keyword: str, value: JSON, path: Path) -> JSON:
        if type(value) is not dict:
            return copied(value)
        schema, place = self.schema, (*path, keyword)
        return {name: schema(each, (*place, name)) for name, each in value.items()}

    def _listed(self, keyword: str, value: JSON, path: Path) -> JSON:
        if type(value) is not list:
            return copied(value)
        return [self.schema(each, (*path, keyword, step)) for step, each in enumerate(value)]

    def _reference(self, _: str, value: JSON, __: Path) -> JSON:
        return self.reference(value) if type(value) is str else copied(value)

    def single(self, keyword: str, value: JSON, path: Path) -> JSON:
        """Return the copy of a keyword's only subschema."""
        return self.schema(value, (*path, keyword))

    def reference(self, reference: str) -> str:
        """Return where a reference leads in the copy."""
        return self.definitions.address(reference) or reference


def refer(schema: dict[str, JSON], reference: str | None) -> None:
    """Add a reference to a schema, beside whatever it refers to already."""
    if "$ref" in schema:
        schema["allOf"] = [*schema.get("allOf", ()), {"$ref": reference}]
    else:
        schema["$ref"] = reference


class Hoisted(NamedTuple):
    """A schema without definitions of its own, and what it refers to.

    Attributes:
        schema: the schema.
        definitions: what it refers to, by name.
        targets: where each of the definitions is in the schema that was copied.
    """

    schema: dict[str, JSON]
    definitions: dict[str, JSON]
    targets: dict[str, Reference]


def hoisted(
    root: dict[str, JSON], address: Callable[[str | None], str] = in_definitions
) -> Hoisted:
    """Return a copy of a schema in which references lead to definitions at one place.

    Args:
        root: the schema, in which its references are looked up.
        address: from the name of a definition to the reference to it; None is the schema itself.
    """
    copy = Rewrite(Definitions(root, address))
    return Hoisted(copy.schema(root, ()), copy.finish(), copy.definitions.targets)


_GROUPS = (
    frozenset({"if", "then", "else"}),
    frozenset({"contains", "minContains", "maxContains"}),
    frozenset({"items", "prefixItems"}),
)
"""Keywords that say something only together."""

_SEE_OTHERS = frozenset({"unevaluatedProperties", "unevaluatedItems", "$ref", "$dynamicRef"})


class _ConflictError(Exception):
    """Two schemas that can't be said in one."""


def merged(schemas: Iterable[JSON]) -> dict[str, JSON] | None:
    """Return the one schema that says what an ``allOf`` of the schemas says, or None.

    Nothing is followed: where one of several holds a reference, there is no such schema. It is a
    new dictionary, which shares with them what only one of them says.
    """
    found: dict[str, JSON] = {}
    try:
        for schema in schemas:
            if schema is True:  # it admits everything, and so adds nothing
                continue
            if not isinstance(schema, dict):
                return None
            found = _both(found, schema) if found and schema else {**found, **schema}
    except _ConflictError:
        return None
    return found


def _both(first: dict[str, JSON], second: dict[str, JSON]) -> dict[str, JSON]:
    # Some keywords mean something else beside those of the other schema.
    if not (_SEE_OTHERS.isdisjoint(first) and _SEE_OTHERS.isdisjoint(second)):
        raise _ConflictError
    for group in _GROUPS:
        if group.isdisjoint(second):
            continue
        ours, others = group & first.keys(), group & second.keys()
        if ours and others and (ours | others != {"items"}):
            raise _ConflictError
    _check_closed(first, second)
    _check_closed(second, first)
    found = dict(first)
    for keyword, value in second.items():
        if keyword not in found:
            found[keyword] = value
        elif repr(found[keyword]) != repr(value):  # 1 and true are equal in Python
            if keyword not in _JOINED:
                raise _ConflictError
            found[keyword] = _JOINED[keyword](found[keyword], value)
    return found


def _check_closed(closed: dict[str, JSON], other: dict[str, JSON]) -> None:
    """Refuse properties about which the other schema says something without naming them."""
    if "additionalProperties" not in closed:
        return
    # The closed one would refuse what only the other one names.
    names = {*other.get("properties", ())} - {*closed.get("properties", ())}
    if names or "patternProperties" in other or "patternProperties" in closed:
        raise _ConflictError


def _types(first: JSON, second: JSON) -> JSON:
    ours, others = _listed(first), _listed(second)
    found = [each for each in ours if _covers(others, each)]
    found += [each for each in others if each not in found and _covers(ours, each)]
    if not found:
        raise _ConflictError
    return found[0] if len(found) == 1 else found


def _listed(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else [value]


def _covers(types: Sequence[JSON], kind: JSON) -> bool:
    return kind in types or (kind == "integer" and "number" in types)


def _properties(first: dict[str, JSON], second: dict[str, JSON]) -> JSON:
    found = dict(first)
    for name, schema in second.items():
        found[name] = _whole(found[name], schema) if name in found else schema
    return found


def _whole(first: JSON, second: JSON) -> JSON:
    found = merged([first, second])
    if found is None:
        raise _ConflictError
    return found


def _common(first: list[JSON], second: list[JSON]) -> list[JSON]:
    allowed = {repr(each) for each in second}
    found = [each for each in first if repr(each) in allowed]
    if not found:
        raise _ConflictError
    return found


def _united(first: list[JSON], second: list[JSON]) -> list[JSON]:
    return [*first, *(each for each in second if each not in first)]


_JOINED: dict[str, Callable[[Any, Any], JSON]] = {
    "type": _types,
    "properties": _properties,
    "items": _whole,
    "required": _united,
    "enum": _common,
    "description": lambda first, second: f"{first}\n\n{second}",
    "title": lambda first, _: first,
    "examples": _united,
    **dict.fromkeys((lower for lower, _ in BOUNDS), max),
    **dict.fromkeys((upper for _, upper in BOUNDS), min),
    "uniqueItems": lambda first, second: first or second,
}
