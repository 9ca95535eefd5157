"""One walk over a schema, in which rules are noted where they are due, and asked afterwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.model.diagnostic import Rule, RuleTable, Verdict, ask, is_due
from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.subschemas import (
    MAX_EXPANSION,
    SchemaNode,
    child_of,
    is_subschema,
    lookup,
    nesting,
    subschemas,
)

_Due: TypeAlias = dict[Callable[[Any], Any], list[SchemaNode]]

_NAMING = frozenset({"$id", "$schema", "$vocabulary", "$anchor", "$dynamicAnchor", "$dynamicRef"})
"""Keywords that give places names, or use such names."""


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
        if self.has_names:
            return True
        for node in self.references:
            reference = node.schema["$ref"]
            # of definitions, where most lead, the rules ask whether they are there
            if reference.startswith("#/$defs/") and reference.count("/") == 2:  # noqa: PLR2004
                continue
            found = lookup(node.root, reference)
            if not isinstance(found.target, dict) or not is_subschema(found.path):
                return True
        return False

    def verdicts(self) -> list[Verdict]:
        """Ask the rules that are due."""
        found: list[Verdict] = []
        for each in self.rules:
            if each.check in self.due:
                found += ask((each,), *self.due[each.check])
        return found


def visit(root: dict[str, JSON], base: Path, rules: RuleTable) -> Visit:
    """Walk over a schema once and note which rules are due where.

    A node shows its keywords; it is of the kind ``property`` if it describes one.
    """
    size = 1
    has_names = False
    references: list[SchemaNode] = []
    due: _Due = {}
    pending = [(SchemaNode(base, root, root, base), _stop(rules, "", tuple(root)))]
    while pending:
        node, stop = pending.pop()
        schema = node.schema
        has_names = has_names or stop.has_names
        if "$ref" in schema:
            references.append(node)
        for each in stop.due:
            due.setdefault(each.check, []).append(node)
        for each in stop.depending:
            if is_due(each, schema):
                due.setdefault(each.check, []).append(node)
        if stop.nesting:
            found = []
            for keyword, key, child in subschemas(schema, stop.nesting):
                size += 1
                # Most subschemas have nothing that a rule speaks of, and are spared a node.
                kind = "property" if keyword == "properties" else ""
                below = _stop(rules, kind, tuple(child))
                if not below.is_idle:
                    found.append((child_of(node, keyword, key, child), below))
            pending.extend(reversed(found))
    return Visit(size, references, has_names, due, rules)


class _Stop(NamedTuple):
    """What is to be done at subschemas that have certain keywords.

    Attributes:
        due: the rules that are asked in any case.
        depending: those whose occasion takes a look at values as well.
        has_names: whether a keyword gives or uses the name of a place.
        nesting: the keywords that hold subschemas.
        is_idle: there is nothing to do, and nothing below.
    """

    due: tuple[Rule, ...]
    depending: tuple[Rule, ...]
    has_names: bool
    nesting: tuple[str, ...]
    is_idle: bool


@lru_cache(maxsize=8192)
def _stop(rules: RuleTable, kind: str, keys: tuple[str, ...]) -> _Stop:
    due, depending = rules.plan(kind, keys)
    has_names = not _NAMING.isdisjoint(keys)
    below = nesting(keys)
    is_idle = not (due or depending or has_names or "$ref" in keys or below)
    return _Stop(due, depending, has_names, below, is_idle)
