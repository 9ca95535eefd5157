"""One walk over a schema, in which rules are noted where they are due, and asked afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sovl_tools.model.diagnostic import Rule, RuleTable, Verdict, ask, is_due
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.schemanodes import SchemaNode, nodes
from sovl_tools.schema.references import MAX_EXPANSION


class Visit(NamedTuple):
    """What a walk over a schema has found out.

    Attributes:
        nodes: all subschemas, parents first.
        references: how many of them are references.
        due: the subschemas that a rule is to be asked about, by its question.
        rules: those that could be due.
    """

    nodes: list[SchemaNode]
    references: int
    due: dict[Callable[[Any], Any], list[SchemaNode]]
    rules: RuleTable

    @property
    def could_multiply(self) -> bool:
        """Whether so many references could lead to more subschemas than anyone can check.

        Each reference at most doubles what was there without it.
        """
        count = self.references
        return count > 0 and len(self.nodes) << min(count, 64) > MAX_EXPANSION

    def verdicts(self) -> list[Verdict]:
        """Ask the rules that are due."""
        due = self.due
        return [found for each in self.rules if each.check in due for found in _asked(each, due)]


def _asked(each: Rule, due: dict[Callable[[Any], Any], list[SchemaNode]]) -> list[Verdict]:
    return ask((each,), *due[each.check])


def visit(root: dict[str, JSON], base: Path, rules: RuleTable) -> Visit:
    """Walk over a schema once and note which rules are due where.

    A node shows its keywords; it is of the kind ``property`` if it describes one.
    """
    every: list[SchemaNode] = []
    references = 0
    due: dict[Callable[[Any], Any], list[SchemaNode]] = {}
    for node in nodes(root, base):
        every.append(node)
        schema = node.schema
        references += "$ref" in schema
        plan = rules.plan("property" if node.is_property else "", tuple(schema))
        for each in plan.due:
            due.setdefault(each.check, []).append(node)
        for each in plan.depending:
            if is_due(each, schema):
                due.setdefault(each.check, []).append(node)
    return Visit(every, references, due, rules)
