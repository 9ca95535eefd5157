"""What is known of the variables at each step, before anything runs.

A variable is known by the JSON Schema of its values; ``ANYTHING`` is that of any value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import JSON, Path
from sovl_tools.procedures.procedure import Procedure, Step
from sovl_tools.schema.applicators import below
from sovl_tools.schema.engine import Problem
from sovl_tools.schema.subschemas import SchemaNode, follow

_LOOP: JSON = {
    "type": "object",
    "properties": {"index": {"type": "integer"}, "count": {"type": "integer"}},
    "additionalProperties": False,
}


ANYTHING: JSON = {}
"""The schema of any value."""

ENDS = frozenset(name for name, each in ACTIONS.items() if each.ends)
"""Actions that end a procedure."""


class Known(NamedTuple):
    """A variable.

    Attributes:
        schema: of its values.
        is_certain: whether it has been assigned, whatever way a run takes.
    """

    schema: JSON
    is_certain: bool = True


Environment = Mapping[str, Known]


class Use(NamedTuple):
    """A value in which templates may be, and what is known at its place.

    Attributes:
        step: the step; None for the output of the procedure.
        path: the place of the value.
        value: the value.
        environment: the variables.
        is_expression: whether the text is a bare expression.
    """

    step: Step | None
    path: Path
    value: JSON
    environment: Environment
    is_expression: bool = False


class TracedCase(NamedTuple):
    """A procedure, what it can refer to, and every value in which templates may be, in order."""

    procedure: Procedure
    catalog: Catalog | None
    others: Others
    uses: tuple[Use, ...]


def trace(case: ProcedureCase) -> TracedCase:
    """Return a case with what is known of the variables wherever a template may be."""
    procedure, tracing = case.procedure, _Tracing(case)
    uses = [*tracing.block(procedure.steps, {"inputs": Known(dict(procedure.inputs))})]
    uses.append(Use(None, ("output",), procedure.output, tracing.after))
    return TracedCase(*case, tuple(uses))


class _Tracing:
    """Goes through steps; ``after`` are the variables behind those gone through last.

    Behind a step that always ends the procedure, ``is_over`` is true.
    """

    def __init__(self, case: ProcedureCase) -> None:
        self._case = case
        self._traces = {
            "set": self._set,
            "if": self._if,
            "for_each": self._for_each,
            "parallel": self._parallel,
        }
        self.after: Environment = {}
        self.is_over = False

    def block(self, steps: tuple[Step, ...], environment: Environment) -> Iterator[Use]:
        self.after, is_over = environment, False
        for step in steps:
            yield from self._step(step, self.after)
            is_over = is_over or self.is_over
        self.is_over = is_over

    def _step(self, step: Step, before: Environment) -> Iterator[Use]:
        if step.when is not None:
            yield Use(step, (*step.path, "when"), step.when, before, is_expression=True)
        self.is_over = step.action in ENDS
        yield from self._traces.get(step.action, self._fields)(step, before)
        goes_on = step.on_error.then == "continue"
        if goes_on:
            self.after = _either(before, self.after)
        if step.save_as is not None:
            schema: JSON = ANYTHING
            if step.action == "for_each":
                schema = {"type": "array"}
            elif step.action == "tool" and self._case.catalog is not None:
                tool = self._case.catalog.tools.get(step.fields["tool"])
                schema = (tool and tool.output_schema) or ANYTHING
            # A step that failed and after which the run goes on has null.
            self.after = {**self.after, step.save_as: Known(ANYTHING if goes_on else schema)}
        if step.when is not None:
            self.after = _either(before, self.after)
        self.is_over = self.is_over and step.when is None and not goes_on

    def _fields(self, step: Step, before: Environment) -> Iterator[Use]:
        for key, value in step.fields.items():
            yield Use(step, (*step.path, key), value, before)
        self.after = before

    def _set(self, step: Step, before: Environment) -> Iterator[Use]:
        after = dict(before)
        for name, value in step.fields["values"].items():
            yield Use(step, (*step.path, "values", name), value, dict(after))
            after[name] = Known(ANYTHING)  # of an expression no type is known
        self.after = after

    def _if(self, step: Step, before: Environment) -> Iterator[Use]:
        path = (*step.path, "condition")
        yield Use(step, path, step.fields["condition"], before, is_expression=True)
        ends = []
        # A branch that is not there counts, too: it leads on with what was before.
        for key in ("then", "else"):
            yield from self.block(step.blocks.get((key,), ()), before)
            ends.append((self.after, self.is_over))
        (first, is_first_over), (second, is_second_over) = ends
        self.is_over = is_first_over and is_second_over
        # Behind a branch that returns nobody comes, so that only the other one counts.
        if is_first_over or is_second_over:
            self.after = second if is_first_over else first
        else:
            self.after = _either(first, second)

    def _for_each(self, step: Step, before: Environment) -> Iterator[Use]:
        yield Use(step, (*step.path, "items"), step.fields["items"], before)
        own = {step.fields.get("as", "item"): Known(ANYTHING), "loop": Known(_LOOP)}
        yield from self.block(step.blocks[("steps",)], {**before, **own})
        yield Use(step, (*step.path, "result"), step.fields.get("result"), self.after)
        # There may be no item at all, and iterations have variables of their own.
        self.after, self.is_over = before, False

    def _parallel(self, step: Step, before: Environment) -> Iterator[Use]:
        after = dict(before)
        for block in step.blocks.values():
            yield from self.block(block, before)
            # Each branch begins with what was before all; what it assigns is there afterwards.
            changed = {name: each for name, each in self.after.items() if before.get(name) != each}
            after |= changed
        self.after, self.is_over = after, False


def _either(one: Environment, other: Environment) -> Environment:
    """Return what is known behind one of two ways, whichever a run takes."""
    found: dict[str, Known] = {}
    for name in {**one, **other}:
        first, second = one.get(name), other.get(name)
        if first is None or second is None:
            found[name] = Known(ANYTHING, is_certain=False)
        elif first is second:  # mostly; comparing large schemas costs
            found[name] = first
        else:
            schema = first.schema if first.schema == second.schema else ANYTHING
            found[name] = Known(schema, first.is_certain and second.is_certain)
    return found


class MissingMember(NamedTuple):
    """A property that no value of a schema can have, and those that one can have."""

    name: str
    others: tuple[str, ...]


def member(root: JSON, attributes: Sequence[str | int]) -> JSON | MissingMember:
    """Return the schema of what attributes and indexes lead to; any doubt is ``ANYTHING``."""
    schema = follow(root, root)
    for key in attributes:
        if not isinstance(schema, dict) or not _UNCERTAIN.isdisjoint(schema):
            return ANYTHING
        node = SchemaNode((), schema, {**root}, ())
        if isinstance(key, str) and key not in schema.get("properties", ()):
            is_closed = schema.get("additionalProperties") is False
            if is_closed and schema.get("type") == "object":
                return MissingMember(key, tuple(schema.get("properties", ())))
        schema = next((follow(each.schema, root) for each in below(node, key)), ANYTHING)
    return schema


# What says more of a place than the one schema there.
_UNCERTAIN = frozenset(
    {"allOf", "anyOf", "oneOf", "if", "not", "$dynamicRef", "patternProperties", "prefixItems"}
)


def assigned(steps: tuple[Step, ...]) -> Iterator[tuple[str, ManifestPlace]]:
    """Yield the variables that steps assign, each with its place, but for those of iterations."""
    for step in steps:
        if step.action == "set":
            for name in step.fields["values"]:
                yield name, ManifestPlace((*step.path, "values", name), "key")
        if step.save_as is not None:
            yield step.save_as, ManifestPlace((*step.path, "save_as"))
        if step.action != "for_each":
            for block in step.blocks.values():
                yield from assigned(block)


Others: TypeAlias = Callable[[str], Procedure | None]
"""Returns the procedure of a name, as the one that is checked would find it."""


class DocumentCase(NamedTuple):
    """A document, and what the published schema refuses in it.

    Attributes:
        document: as it was read.
        problems: what the schema refuses.
        path: of the file; ``""`` for a dictionary.
    """

    document: JSON
    problems: list[Problem]
    path: str = ""


class ProcedureCase(NamedTuple):
    """A procedure that fits the schema, and what it can refer to.

    Attributes:
        procedure: the procedure.
        catalog: the tools and step handlers that there are; None if nobody knows, then what needs
            them is not asked.
        others: other procedures.
    """

    procedure: Procedure
    catalog: Catalog | None
    others: Others
