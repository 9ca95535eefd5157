"""One walk over a schema, in which rules are noted where they are due, and asked afterwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.model.diagnostic import Rule, RuleTable, Verdict, ask, is_due
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.schemanodes import SchemaNode, is_subschema, nesting, nodes
from sovl_tools.schema.references import MAX_EXPANSION, lookup

_Due: TypeAlias = dict[Callable[[Any], Any], list[SchemaNode]]

_NAMING = frozenset({"$id", "$schema", "$vocabulary", "$anchor", "$dynamicAnchor", "$dynamicRef"})
"""Keywords that give places names, or use such names."""


_KINDS = {"properties": "property"}


class Visit(NamedTuple):
    """What a walk over a schema has found out.

    Attributes:
        size: how many subschemas there are.
        references: those that are one.
        has_names: whether places in it have names.
        due: the subschemas that a rule is to be asked about, by its question.
        rules: those that could be due.
    """

    size: int
    references: list[SchemaNode]
    has_names: bool
    due: _Due
    rules: RuleTable

    @property
    def could_multiply(self) -> bool:
        """Whether so many references could lead to more subschemas than anyone can check.

        Each reference at most doubles what was there without it.
        """
        count = len(self.references)
        return count > 0 and self.size << min(count, 64) > MAX_EXPANSION

    @property
    def is_doubtful(self) -> bool:
        """Whether it has what nobody but a validator looks at, when it is made.

        That is whatever gives places names, and references to what is no subschema.
        """
        return self.has_names or any(map(_is_astray, self.references))

    def verdicts(self) -> list[Verdict]:
        """Ask the rules that are due."""
        if not self.due:
            return []
        asked = ((each, self.due[each.check]) for each in self.rules if each.check in self.due)
        return [found for each, due in asked for found in ask((each,), *due)]


def _is_astray(node: SchemaNode) -> bool:
    """Tell whether a reference may lead to what is no subschema."""
    reference = node.schema["$ref"]
    if reference.startswith("#/$defs/") and reference.count("/") == 2:  # noqa: PLR2004
        return False
    found = lookup(node.root, reference)
    return not isinstance(found.target, dict) or not is_subschema(found.path)


def visit(root: dict[str, JSON], base: Path, rules: RuleTable) -> Visit:
    """Walk over a schema once and note which rules are due where.

    A node shows its keywords; it is of the kind ``property`` if it describes one.
    """
    size = 1
    has_names = False
    references: list[SchemaNode] = []
    due: _Due = {}

    def is_idle(schema: dict[str, JSON], keyword: str) -> bool:
        nonlocal size
        size += 1
        return _stop(rules, _KINDS.get(keyword, ""), tuple(schema)).is_idle

    for node in nodes(root, base, is_idle):
        schema = node.schema
        stop = _stop(rules, "property" if node.is_property else "", tuple(schema))
        has_names = has_names or stop.has_names
        if "$ref" in schema:
            references.append(node)
        for each in stop.due:
            due.setdefault(each.check, []).append(node)
        for each in stop.depending:
            if is_due(each, schema):
                due.setdefault(each.check, []).append(node)
    return Visit(size, references, has_names, due, rules)


class _Stop(NamedTuple):
    """What is to be done at subschemas that have certain keywords.

    Attributes:
        due: the rules that are asked in any case.
        depending: those whose occasion takes a look at values as well.
        has_names: whether a keyword gives or uses the name of a place.
        is_idle: there is nothing to do, and nothing below.
    """

    due: tuple[Rule, ...]
    depending: tuple[Rule, ...]
    has_names: bool
    is_idle: bool


@lru_cache(maxsize=8192)
def _stop(rules: RuleTable, kind: str, keys: tuple[str, ...]) -> _Stop:
    due, depending = rules.plan(kind, keys)
    has_names = not _NAMING.isdisjoint(keys)
    is_idle = not (due or depending or has_names or "$ref" in keys or nesting(keys))
    return _Stop(due, depending, has_names, is_idle)
