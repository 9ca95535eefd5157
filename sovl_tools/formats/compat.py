"""What a provider refuses even in a schema that it does not enforce.

One refused keyword makes a whole request fail. All else may stay: it guides the model. One walk
copies the schema and changes what would be refused; what goes from it is said in words. Every
provider takes a plain object alone at the root, so that what a schema says of the arguments as a
whole, in alternatives or under conditions, is said in words, too. The properties that it speaks of
become optional ones of the object, so that a model knows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from sovl_tools.annotations.jsonvalues import text_of
from sovl_tools.formats.base import ROOT, Loss
from sovl_tools.formats.meaning import note, with_notes
from sovl_tools.formats.providers import Rules, has_lookaround
from sovl_tools.model.document import JSON, Path, copied, pointer
from sovl_tools.schema.keywords import IN_LIST, IN_OBJECT, SILENT, SINGLE
from sovl_tools.schema.merge import merged
from sovl_tools.schema.rewrite import Definitions, Rewrite
from sovl_tools.schema.subschemas import children, nodes

_WITH_SCHEMAS = IN_OBJECT | IN_LIST | SINGLE
_LISTS = ("allOf", "anyOf", "oneOf")
_CONSEQUENCES = ("then", "else")
_CONDITION = ("if", *_CONSEQUENCES)
_BY_PATTERN = ("patternProperties", "additionalProperties", "unevaluatedProperties")
_CONTAINS = ("contains", "minContains", "maxContains")
_SWITCHES = frozenset({"additionalProperties", "unevaluatedProperties", "unevaluatedItems"})
_NEVER: tuple[JSON, ...] = (False, {"not": {}})
_CLOSING = "unevaluatedProperties"
# keywords by which a schema speaks of properties, itself or in alternatives
_SPEAKING = frozenset({"properties", *_LISTS, *_CONSEQUENCES})
_HELP = "say it in the descriptions of the properties, or make several tools of it"


class Changed(NamedTuple):
    """What has become of a subschema.

    Attributes:
        schema: the subschema.
        moved: keywords of the original that go into the description instead.
        notes: what else is said there.
        losses: what is lost beside what is moved.
    """

    schema: dict[str, JSON]
    moved: Sequence[str] = ()
    notes: Sequence[str] = ()
    losses: Sequence[Loss] = ()


class Compatible(NamedTuple):
    """A schema that a provider takes, with its definitions in ``$defs``.

    Attributes:
        schema: the schema.
        losses: what it does not say.
        definitions: where they are in the manifest's schema.
    """

    schema: dict[str, JSON]
    losses: tuple[Loss, ...]
    definitions: Definitions


class Adaptation(Rewrite):
    """A copy as a provider takes it, in which what goes is said in words.

    References lead to definitions, no subschema is true or false, and what only identifies a schema
    is gone. Subclasses say in ``adapted`` what else their provider wants.

    Attributes:
        rules: what the provider refuses.
        losses: what is lost so far.
        is_weakened: whether a keyword went, so that more values fit the schema than before.
        are_all_needed: whether nothing went that referred to a definition.
    """

    dropped = SILENT

    def __init__(self, parameters: dict[str, JSON], rules: Rules) -> None:
        super().__init__(Definitions(parameters), ROOT)
        self.rules = rules
        self.losses: list[Loss] = []
        self.is_weakened = False
        self.are_all_needed = True
        self._has_odd_names = False

    def adapted(self, schema: dict[str, JSON], made: dict[str, JSON], path: Path) -> Changed | None:
        """Return what a subschema becomes, None if that is ``made``; see ``Rewrite.changed``."""
        raise NotImplementedError

    def whole(self) -> Compatible:
        """Return the schema as the provider takes it."""
        parameters = self.definitions.root
        root = _Root(self.schema(parameters, ROOT), self.finish())
        schema = root.finished(self.rules.root, are_all_needed=self.are_all_needed)
        losses = tuple(dict.fromkeys([*self.losses, *root.losses]))
        if self._has_odd_names:
            losses += refused_names(parameters, schema, rules=self.rules)
        return Compatible(schema, losses, self.definitions)

    def decided(self, schema: bool, path: Path) -> JSON:  # noqa: FBT001 - a schema, no switch
        """Return true or false as a subschema that is an object."""
        # whatever is lost of the "not" in place of false is reported as one loss of false
        before = len(self.losses)
        made = self.schema({} if schema else {"not": {}}, path)
        message = "false stands in the description only"
        self.losses[before:] = [Loss("moved", path, message) for _ in self.losses[before:]]
        return made

    def single(self, keyword: str, value: JSON, path: Path) -> JSON:
        """Leave true and false where every provider takes them."""
        if type(value) is bool and keyword in _SWITCHES:
            return value
        return self.schema(value, (*path, keyword))

    def changed(self, schema: dict[str, JSON], made: dict[str, JSON], path: Path) -> JSON:
        """Return a subschema as the provider takes it, and note what it does not say."""
        if not self._has_odd_names and "properties" in made:
            self._has_odd_names = not self.rules.takes_names(made["properties"])
        lost = ["$dynamicRef"] if "$dynamicRef" in made else []
        if "$ref" in made and not self.definitions.is_address(made["$ref"]):
            lost.append("$ref")
        for each in lost:
            del made[each]
        found = self.adapted(schema, made, path)
        if found is None and not lost:
            return made
        made, moved, notes, losses = found or Changed(made)
        moved = [*lost, *moved]
        if moved and self.losses:  # what is lost in a keyword's own schemas goes with it
            gone, end = {(*path, keyword) for keyword in moved}, len(path) + 1
            self.losses = [each for each in self.losses if each.path[:end] not in gone]
        self.losses += losses
        if moved:
            notes = [*self._move(schema, made, moved, path), *notes]
        return with_notes(made, notes)

    def _move(
        self, schema: dict[str, JSON], made: dict[str, JSON], moved: Sequence[str], path: Path
    ) -> list[str]:
        """Take keywords out of a subschema, note that, and return what they say in words."""
        self.is_weakened, self.are_all_needed = True, False
        said = []
        for keyword in moved:
            if keyword not in _CONSEQUENCES:
                message = f"{keyword} stands in the description only"
                self.losses.append(Loss("moved", (*path, keyword), message))
            if keyword not in _CONSEQUENCES or "if" in schema:
                value = schema[keyword]
                if keyword in _WITH_SCHEMAS:  # references in it lead to definitions here, too
                    value = Rewrite(self.definitions).schema({keyword: value}, ())[keyword]
                said.append(note(keyword, value))
            made.pop(keyword, None)
        return said


def compatible(parameters: dict[str, JSON], rules: Rules) -> Compatible:
    """Return a copy of a schema of arguments that a provider takes, and what that loses."""
    compat = _Compat(parameters, rules, admits_more=False)
    found = compat.whole()
    # A schema that admits more within a ``not``, an ``if`` or a ``oneOf`` makes the whole admit
    # less. This is rare, so that it costs a second walk only where it happens.
    if compat.is_weakened and compat.has_inverse():
        return _Compat(parameters, rules, admits_more=True).whole()
    return found


# keywords that count on what schemas within do not admit
_INVERSE = frozenset({"oneOf", "not", "if", "maxContains"})

_MEMBERS = {"array": "items", "object": "properties"}


class _Compat(Adaptation):
    """Changes what some rules refuse."""

    def __init__(self, parameters: dict[str, JSON], rules: Rules, *, admits_more: bool) -> None:
        super().__init__(parameters, rules)
        self._admits_more = admits_more
        self._inverse: list[tuple[dict[str, JSON], Path]] = []

    def has_inverse(self) -> bool:
        """Tell whether less would be admitted where more fits the schemas within."""
        return any(
            self._is_touched_in_one_of(schema, path) or next(_inverse(schema, self.rules), None)
            for schema, path in self._inverse
        )

    def adapted(self, schema: dict[str, JSON], made: dict[str, JSON], path: Path) -> Changed | None:
        """Return a subschema as the rules allow it, None if it is that."""
        moved = [*_refused(schema, self.rules)]
        losses: tuple[Loss, ...] = ()
        whole = made
        if not _INVERSE.isdisjoint(schema):
            if self._admits_more:
                # the alternatives of the root are said in words later
                if self._is_touched_in_one_of(schema, path):
                    whole = dict(made)
                    either = {"anyOf": whole.pop("oneOf")}
                    if "anyOf" in whole:
                        either = {"allOf": [*whole.get("allOf", ()), either]}
                    whole.update(either)
                    losses = (Loss("rewritten", (*path, "oneOf"), "oneOf is said as anyOf"),)
                moved += _inverse(schema, self.rules)
            else:
                self._inverse.append((schema, path))
        if self.rules.needs_members and "type" in schema:
            # what an array or an object has in it must be said, if only that it may be anything
            for kind, keyword in _MEMBERS.items():
                if keyword not in whole and kind in whole["type"]:
                    whole = {**whole, keyword: {}}
        return Changed(whole, moved, (), losses) if moved or losses or whole is not made else None

    def _is_touched_in_one_of(self, schema: dict[str, JSON], path: Path) -> bool:
        branches = schema.get("oneOf", ()) if path != ROOT else ()
        return any(_is_touched(each, self.rules) for each in branches)


_REFUSABLE = frozenset({"pattern", "patternProperties", "unevaluatedItems"})


def _refused(schema: dict[str, JSON], rules: Rules) -> Iterator[str]:
    """Yield keywords that have to go from a schema."""
    if _REFUSABLE.isdisjoint(schema):
        return
    if not rules.takes_lookaround:
        if has_lookaround(schema.get("pattern", "")):
            yield "pattern"
        if any(map(has_lookaround, schema.get("patternProperties", ()))):
            yield from (each for each in _BY_PATTERN if each in schema)
    if rules.needs_members and "unevaluatedItems" in schema and "items" not in schema:
        yield from ["unevaluatedItems"] if "array" in schema.get("type", ()) else []


def _inverse(schema: dict[str, JSON], rules: Rules) -> Iterator[str]:
    """Yield keywords that would admit less, because schemas in them admit more."""
    if _is_touched(schema.get("not"), rules):
        yield "not"
    if _is_touched(schema.get("if"), rules):
        yield from (each for each in _CONDITION if each in schema)
    if "maxContains" in schema and _is_touched(schema.get("contains"), rules):
        yield from (each for each in _CONTAINS if each in schema)


def _is_touched(schema: JSON, rules: Rules) -> bool:
    """Tell whether a schema may lose something, also by what it refers to."""
    return isinstance(schema, dict) and (
        "$ref" in schema
        or "$dynamicRef" in schema
        or next(_refused(schema, rules), None) is not None
        or any(_is_touched(each, rules) for _, each in children(schema))
    )


def refused_names(
    parameters: dict[str, JSON], schema: dict[str, JSON], *, rules: Rules
) -> tuple[Loss, ...]:
    """Return which names of properties are refused, or may be.

    Args:
        parameters: the schema of the manifest, in which the places are.
        schema: what is made of it, with the properties that the provider sees.
        rules: what names have to match.
    """
    names = {name for node in nodes(schema, ROOT) for name in node.schema.get("properties", ())}
    refused = {name for name in names if not rules.names.fullmatch(name)}
    if not refused:
        return ()
    places = [
        (*node.path, "properties", name)
        for node in nodes(parameters, ROOT)
        for name in node.schema.get("properties", ())
        if name in refused
    ]
    arguments = schema["properties"] if rules.is_sure else ()
    advice = f"rename it, so that it matches {rules.names.pattern}"
    words = "refused as the name of a property"
    return tuple(
        Loss("name", path, f"{path[-1]!r} is {words}", advice)
        if path[-1] in arguments
        else Loss("doubt", path, f"{path[-1]!r} may be {words}", advice)
        for path in sorted(places, key=pointer)
    )


class _Root:
    """The root so far, which is nobody else's, and what was lost."""

    def __init__(self, schema: dict[str, JSON], definitions: dict[str, JSON]) -> None:
        self._definitions = definitions
        self._written = schema
        self._notes: list[str] = []
        self.losses: list[Loss] = []
        self.schema = schema

    def finished(self, refused: frozenset[str], *, are_all_needed: bool) -> dict[str, JSON]:
        """Return the root as a plain object, with its definitions in ``$defs``.

        What ``allOf`` and a reference say is merged into the root where that is possible. Those to
        which nothing refers any more are left out.

        Args:
            refused: keywords that can't stay.
            are_all_needed: whether all definitions are referred to so far.
        """
        written = self.schema
        # No provider takes either beside the properties of the root.
        if "allOf" in written or "$ref" in written:
            self.schema, *others = self._parts(written, set())
            self._merge(others, "allOf" if "allOf" in written else "$ref")
        if not refused.isdisjoint(self.schema):
            self.schema = dict(self.schema)
            for keyword in [each for each in self.schema if each in refused and each in _LISTS]:
                self.describe_branches(keyword, self.schema.pop(keyword))
            if "if" in refused:
                self.describe_condition()
            for keyword in [each for each in self.schema if each in refused]:
                self.describe_keyword(keyword)
        if self.schema.get("type") != "object" or "properties" not in self.schema:
            self.schema = {"type": "object", "properties": {}} | self.schema | {"type": "object"}
        made, definitions = with_notes(self.schema, self._notes), self._definitions
        if not are_all_needed or self.schema is not written:
            definitions = _needed(made, definitions)
        return {**made, "$defs": definitions} if definitions else made

    def _parts(self, schema: JSON, seen: set[str]) -> Iterator[JSON]:
        """Yield schemas that together say what one says, none of them all of others.

        Each definition is followed once, the first time.
        """
        if not isinstance(schema, dict) or schema.keys().isdisjoint(("allOf", "$ref")):
            yield schema
            return
        yield {key: each for key, each in schema.items() if key not in ("allOf", "$ref")}
        for each in schema.get("allOf", ()):
            yield from self._parts(each, seen)
        name = schema.get("$ref", "").removeprefix("#/$defs/")
        if name in self._definitions and name not in seen:
            seen.add(name)
            yield from self._parts(self._definitions[name], seen)

    def _merge(self, parts: Sequence[JSON], keyword: str) -> None:
        closing = self.schema.pop(_CLOSING, None)
        others = []
        for part in parts:
            found = merged([self.schema, part])
            if found is None:
                others.append(part)
            else:
                self.schema = found
        # What is not evaluated follows from all parts, so that it can be said again only now.
        if closing is not None:
            self.schema[_CLOSING] = closing
        if others:
            self.describe_branches(keyword, others)

    def describe_branches(self, keyword: str, branches: Sequence[JSON]) -> None:
        """Say in words how several schemas bear on all arguments."""
        every = [[*self._parts(each, set())] for each in branches]
        self._add_properties(every)
        # what each of some alternatives requires is required, or any of schemas that all hold
        sets = [
            {name for part in parts if isinstance(part, dict) for name in part.get("required", ())}
            for parts in every
        ]
        together = set[str].intersection if keyword in ("anyOf", "oneOf") else set[str].union
        required = self.schema.get("required", [])
        found = together(*sets) - {*required}
        added = [name for name in self.schema.get("properties", ()) if name in found]
        if added:
            self.schema["required"] = [*required, *added]
        words = keyword if keyword in _LISTS else "allOf"
        briefs = [self._without_known(*each) for each in zip(branches, every, strict=True)]
        self._notes.append(note(words, briefs))
        self._record_loss(keyword)

    def describe_condition(self) -> None:
        """Say in words what follows from what."""
        found = {key: self.schema.pop(key) for key in _CONDITION if key in self.schema}
        if "if" not in found:
            return
        every = [[*self._parts(each, set())] for each in found.values()]
        self._add_properties(parts for key, parts in zip(found, every, strict=True) if key != "if")
        for (key, each), parts in zip(found.items(), every, strict=True):
            self._notes.append(note(key, self._without_known(each, parts)))
        self._record_loss("if")

    def describe_keyword(self, keyword: str) -> None:
        """Say a keyword in words."""
        self._notes.append(note(keyword, self.schema.pop(keyword)))
        self._record_loss(keyword)

    def _record_loss(self, keyword: str) -> None:
        message = f"{keyword} of all arguments stands in the description only"
        path = (*ROOT, keyword) if keyword in self._written else ROOT
        self.losses.append(Loss("moved", path, message, _HELP))

    def _add_properties(self, branches: Iterable[list[JSON]]) -> None:
        """Add the properties of branches, if there may be others than those of the root.

        What is not evaluated is unknown without the branches, so that it is said in words.

        Args:
            branches: the parts of each.
        """
        if _CLOSING in self.schema:
            self.describe_keyword(_CLOSING)
        if self.schema.get("additionalProperties") is False:
            return
        known = self.schema.get("properties", {})
        found: dict[str, list[JSON]] = {}
        for parts in branches:
            for name, schema in self._properties(parts, set()):
                if name not in known and schema not in found.setdefault(name, []):
                    found[name].append(copied(schema))
        self.schema["properties"] = {**known, **{key: _any_of(each) for key, each in found.items()}}

    def _properties(self, parts: Iterable[JSON], seen: set[str]) -> Iterator[tuple[str, JSON]]:
        """Yield the properties of which parts of a schema and their alternatives speak."""
        for part in parts:
            if not isinstance(part, dict) or _SPEAKING.isdisjoint(part):
                continue
            described = part.get("properties", {}).items()
            yield from (each for each in described if each[1] not in _NEVER)
            branches = [each for keyword in _LISTS for each in part.get(keyword, ())]
            branches += [part[keyword] for keyword in _CONSEQUENCES if keyword in part]
            for branch in branches:
                yield from self._properties(self._parts(branch, seen), seen)

    def _without_known(self, branch: JSON, parts: list[JSON]) -> JSON:
        """Return a branch without what the root says of its properties as well."""
        whole = parts[0] if len(parts) == 1 else merged(parts) or branch
        if not isinstance(whole, dict) or whole.keys().isdisjoint(("properties", "type")):
            return whole
        known = self.schema.get("properties", {})
        described = whole.get("properties", {}).items()
        own = {name: each for name, each in described if known.get(name) != each}
        brief = {**whole, "properties": own} if own else _without(whole, "properties")
        return _without(brief, "type") if brief.get("type") == "object" else brief


def _without(schema: dict[str, JSON], *keywords: str) -> dict[str, JSON]:
    return {key: each for key, each in schema.items() if key not in keywords}


def _any_of(schemas: list[JSON]) -> JSON:
    """Return a schema that fits what one of several fits, with all their values in one list."""
    first, *others = [_without(each, "const", "enum") for each in schemas]
    values = [[each["const"]] if "const" in each else each.get("enum", []) for each in schemas]
    if len(schemas) > 1 and all(values) and all(each == first for each in others):
        return {**first, "enum": [*{repr(each): each for each in chain(*values)}.values()]}
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _needed(schema: dict[str, JSON], definitions: dict[str, JSON]) -> dict[str, JSON]:
    """Return the definitions that a schema refers to, be it in words, and those they refer to."""
    found: set[str] = set()
    pending = [schema]
    # searched for as text, since descriptions refer to definitions as well
    while pending and len(found) < len(definitions):
        text = text_of(pending.pop())
        names = [each for each in definitions if f"#/$defs/{each}" in text and each not in found]
        found.update(names)
        pending += [definitions[name] for name in names]
    return {name: each for name, each in definitions.items() if name in found}
