"""The document of a procedure: whether it can be read and is one, and what its steps refer to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from sovl_tools.loading.rules.schema import invalid_default
from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.diagnostic import Finding, ManifestPlace, Position, rule
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import SchemaError
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.errors import UnreadableError
from sovl_tools.procedures.procedure import COMMON, RESERVED, Procedure, Step, assigned
from sovl_tools.schema.engine import compile_schema, meta_schema
from sovl_tools.schema.names import deprecated_arguments
from sovl_tools.schema.problem import Problem, describe, explained
from sovl_tools.schema.subschemas import excess, nodes

_KEYS = (  # of a procedure itself
    "$schema", "name", "description", "inputs", "steps", "output", "tags", "timeout",
)  # fmt: skip

_CONCURRENT = frozenset(name for name, each in ACTIONS.items() if each.is_concurrent)


ENDS = frozenset(name for name, each in ACTIONS.items() if each.ends)
"""Actions that end a procedure."""


class DocumentCase(NamedTuple):
    """A document, and the published schema's problems with it.

    Attributes:
        document: unchanged.
        problems: the schema's problems.
        path: of the file; ``""`` for a dictionary.
    """

    document: JSON
    problems: list[Problem]
    path: str = ""


class Known(NamedTuple):
    """A variable.

    Attributes:
        schema: of its values.
        is_certain: whether every way through the run assigns it.
    """

    schema: JSON
    is_certain: bool = True


Environment: TypeAlias = Mapping[str, Known]
Others: TypeAlias = Callable[[str], Procedure | None]
"""Returns the procedure of a name, as seen from the checked one."""


class Use(NamedTuple):
    """A value that can have templates, and the variables at its place.

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


class ProcedureCase(NamedTuple):
    """A procedure that matches the schema, and the names it can refer to.

    Attributes:
        procedure: the procedure.
        catalog: the tools and step handlers; None if they are unknown, then rules that need
            them are skipped.
        others: other procedures.
        uses: every value that can have templates, in order.
    """

    procedure: Procedure
    catalog: Catalog | None
    others: Others
    uses: tuple[Use, ...]


@rule("ST750")
def unreadable_procedure(case: UnreadableError) -> Iterator[Finding]:
    """The file of a procedure can't be read.

    It isn't YAML or JSON, or is larger than a procedure can be: it has keys twice, tags, several
    documents, or aliases that make a small file a large one. YAML is read by the core schema of
    version 1.2, so ``no`` and ``12:30`` are strings. Correct it at the place that is named.
    """
    yield Finding(Position("", case.line, case.column), case.message, case.help)


@rule("ST751")
def invalid_procedure(case: DocumentCase) -> Iterator[Finding]:
    """A part of a procedure is missing or of the wrong kind.

    ``sovl-tools schema procedure`` prints the keys of procedures;
    ``docs/how-to/procedures.md`` explains it. Values are not converted.
    """
    for problem in case.problems:
        if problem.keyword == "required":
            for name in problem.expected:
                yield Finding(ManifestPlace(problem.path), f"{name!r} is missing")
        else:
            yield Finding(ManifestPlace(problem.path), describe(problem))


@rule("ST752")
def unknown_procedure_key(case: DocumentCase) -> Iterator[Finding]:
    """A procedure, or a step of a built-in action, has an unknown key.

    It would be ignored, and a misspelt ``when`` or ``on_error`` would change the run. Correct
    it, or begin it with ``x-`` if it is your own. Steps of actions that tools bring can have any
    key.
    """
    if isinstance(case.document, dict):
        yield from _unknown(case.document, _KEYS, ())
        yield from _in_steps(case.document.get("steps"), ("steps",))


def _in_steps(steps: JSON, path: Path) -> Iterator[Finding]:
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        # The document can still have any form: ST751 reports wrong types.
        action = step.get("action") if isinstance(step, dict) else None
        if isinstance(action, str) and action in ACTIONS:
            place = (*path, index)
            yield from _unknown(step, (*COMMON, *ACTIONS[action].keys), place)
            for key in ACTIONS[action].blocks:
                block = step.get(key)
                yield from _in_steps(block, (*place, key))
                for name, inner in block.items() if isinstance(block, dict) else ():
                    yield from _in_steps(inner, (*place, key, name))


def _unknown(document: dict[str, JSON], known: Iterable[str], path: Path) -> Iterator[Finding]:
    for key in document:
        if key not in known and not key.startswith("x-"):
            what = f"a key of a step {document['action']!r}" if path else "a key of a procedure"
            hint = did_you_mean(key, known)
            yield Finding(ManifestPlace((*path, key), "key"), f"{key!r} is not {what}", hint)


@rule("ST765")
def invalid_inputs(case: DocumentCase) -> Iterator[Finding]:
    """The schema of the inputs isn't a valid JSON Schema (draft 2020-12), or a default breaks it.

    No inputs could be checked against it, or no run could begin without the input. Correct
    it, or leave ``inputs`` or the default out.
    """
    inputs = case.document.get("inputs") if isinstance(case.document, dict) else None
    if not isinstance(inputs, dict):
        return
    problems = meta_schema().problems(inputs)
    for problem in explained(problems):
        yield Finding(ManifestPlace(("inputs", *problem.path)), describe(problem))
    if problems:
        return
    place = ManifestPlace(("inputs",))
    if excess(inputs):  # an engine would expand such references until the memory is full
        yield Finding(place, "the references in the schema expand without end")
        return
    try:
        compile_schema(inputs)
    except SchemaError as error:
        yield Finding(place, f"the schema can't be used: {error.reason}")
        return
    # A run would fill a default in and then reject it. The rule of manifests only warns of
    # that, because the functions of tools have their own defaults.
    for node in nodes(inputs, ("inputs",)):
        if node.path[1:-1] == ("properties",):
            yield from invalid_default.check(node)


@rule("ST768")
def procedure_name_mismatch(case: DocumentCase) -> Iterator[Finding]:
    """The name of a procedure differs from its file's.

    Steps find other procedures by the names of their files, so one with two names would not be
    found by its own name. Make them equal.
    """
    name = case.document.get("name") if isinstance(case.document, dict) else None
    stem = os.path.splitext(os.path.basename(case.path))[0]
    # A name that isn't a name was reported, and its file need not be called so.
    is_unfit = any(each.path == ("name",) for each in case.problems)
    if case.path and isinstance(name, str) and not is_unfit and name != stem:
        message = f"the name is {name!r}, the file's is {stem!r}"
        yield Finding(ManifestPlace(("name",)), message, "make them equal")


DOCUMENT_RULES = (invalid_procedure, unknown_procedure_key, invalid_inputs, procedure_name_mismatch)
"""Rules for every readable document."""


@rule("ST753")
def unknown_action(case: ProcedureCase) -> Iterator[Finding]:
    """A step has an action that is neither built in nor brought by a tool.

    A tool brings actions with ``STEP_HANDLERS`` or ``register_step_handlers``. It may not have
    loaded, or the action is misspelt.
    """
    if case.catalog is None:
        return
    known = {*ACTIONS, *case.catalog.step_handlers}
    for step in case.procedure.every_step():
        if step.action not in known:
            place = ManifestPlace((*step.path, "action"))
            message = f"there's no action {step.action!r}"
            yield Finding(place, message, did_you_mean(step.action, known))


@rule("ST754")
def unknown_tool(case: ProcedureCase) -> Iterator[Finding]:
    """A step calls a tool that is not there.

    It is misspelt, or its folder did not load; then the message has the reason.
    """
    if case.catalog is None:
        return
    tools, unavailable = case.catalog.tools, case.catalog.unavailable
    for step in case.procedure.every_step():
        name = step.fields.get("tool") if step.action == "tool" else None
        if name is not None and case.catalog.get(name) is None:
            reasons = unavailable.get(case.catalog.named(name))
            message = f"there's no tool {name!r}"
            if reasons:
                message = f"tool {name!r} is not available: {'; '.join(reasons)}"
            hint = None if reasons else did_you_mean(name, tools)
            yield Finding(ManifestPlace((*step.path, "tool")), message, hint)


@rule("ST769", "warning")
def deprecated_name(case: ProcedureCase) -> Iterator[Finding]:
    """A step calls a tool by an alias, or calls a deprecated one, or gives a deprecated argument.

    It works until the name is removed. Use the new name.
    """
    for step in case.procedure.every_step() if case.catalog else ():
        name = step.fields.get("tool") if step.action == "tool" else None
        tool = case.catalog.get(name) if case.catalog and name else None
        if tool is None:
            continue
        place = ManifestPlace((*step.path, "tool"))
        if name != tool.name:
            message = f"{name!r} is an alias of the tool {tool.name!r}"
            yield Finding(place, message, f"write {tool.name!r}")
        if tool.deprecation:
            advice = tool.deprecation.removeprefix("Deprecated").lstrip(":. ").rstrip(".")
            yield Finding(place, f"the tool {tool.name!r} is deprecated", advice or None)
        given = step.fields.get("arguments")
        former = deprecated_arguments(tool.parameters)
        for argument in given if isinstance(given, dict) else ():
            if argument in former:
                place = ManifestPlace((*step.path, "arguments", argument), "key")
                other = former[argument]
                message = f"the argument {argument!r} is deprecated"
                yield Finding(place, message, f"use {other!r}" if other else None)


@rule("ST755")
def unknown_procedure(case: ProcedureCase) -> Iterator[Finding]:
    """A step runs a procedure that doesn't exist or can't be read.

    Procedures are found by their names, among the loaded ones and next to the file of the
    procedure that runs them.
    """
    for step in _procedures(case.procedure):
        name = step.fields["procedure"]
        if case.others(name) is None:
            message = f"there's no procedure {name!r} that can be read"
            yield Finding(ManifestPlace((*step.path, "procedure")), message)


@rule("ST756")
def endless_recursion(case: ProcedureCase) -> Iterator[Finding]:
    """A procedure runs itself, directly or through others.

    Procedures are not recursive: the depth would be unbounded. Use ``for_each`` over a list of
    what is to do.
    """
    own = case.procedure.name
    for step in _procedures(case.procedure):
        way = _calls_leading_to(step.fields["procedure"], own, case.others, set())
        if way is not None:
            message = f"{own!r} would run itself: {' → '.join((own, *way))}"
            yield Finding(ManifestPlace((*step.path, "procedure")), message)


def _calls_leading_to(
    start: str, goal: str, others: Others, seen: set[str]
) -> tuple[str, ...] | None:
    """Return the names on a way from one procedure to another; None if none leads."""
    if start == goal:
        return (start,)
    found = others(start) if start not in seen else None
    seen.add(start)
    for step in _procedures(found) if found is not None else ():
        way = _calls_leading_to(step.fields["procedure"], goal, others, seen)
        if way is not None:
            return (start, *way)
    return None


def _procedures(procedure: Procedure) -> Iterator[Step]:
    return (step for step in procedure.every_step() if step.action == "procedure")


@rule("ST757")
def return_in_loop(case: ProcedureCase) -> Iterator[Finding]:
    """A step returns from within ``for_each`` or ``parallel``.

    The result could depend on which iteration or branch is the quickest. Let the
    iterations have a ``result``, or the branches set variables, and return after them.
    """
    for step in case.procedure.every_step():
        if step.action in _CONCURRENT:
            for block in step.blocks.values():
                for inner in _below(block):
                    message = f"a step returns from within {step.action}"
                    yield Finding(ManifestPlace((*inner.path, "action")), message)


def _below(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield the steps that return, except in an inner ``for_each`` or ``parallel``."""
    for step in steps:
        if step.action == "return":
            yield step
        elif step.action not in _CONCURRENT:
            for block in step.blocks.values():
                yield from _below(block)


@rule("ST758", "warning")
def unreachable_step(case: ProcedureCase) -> Iterator[Finding]:
    """A step follows a step that always ends the run.

    It never runs. Remove it, or give the step before it a ``when``.
    """
    every = case.procedure.every_step()
    inner = (block for step in every for block in step.blocks.values())
    for steps in (case.procedure.steps, *inner):
        for before, step in pairwise(steps):
            if before.action in ENDS and before.when is None and before.on_error.then == "fail":
                message = f"this step is never reached: the one before it is a {before.action!r}"
                yield Finding(ManifestPlace(step.path), message)


@rule("ST762")
def conflicting_variable(case: ProcedureCase) -> Iterator[Finding]:
    """Two branches of ``parallel`` assign one variable.

    Its later value could depend on which branch is the quickest. Give them different
    names.
    """
    for step in case.procedure.every_step():
        if step.action == "parallel":
            seen: dict[str, int] = {}  # one branch may assign a variable twice
            for number, block in enumerate(step.blocks.values()):
                for name, place in assigned(block):
                    if seen.setdefault(name, number) != number:
                        message = f"another branch assigns {name!r} too"
                        yield Finding(place, message, "give them different names")


@rule("ST763")
def reserved_name(case: ProcedureCase) -> Iterator[Finding]:
    """A variable has a name that is taken.

    ``inputs`` and ``loop`` are there already, and words of the expression language can't be names.
    """
    for step in case.procedure.every_step():
        # Without its blocks, whose steps every_step() yields themselves.
        names = list(assigned((step._replace(blocks={}),)))
        if step.action == "for_each" and "as" in step.fields:
            names.append((step.fields["as"], ManifestPlace((*step.path, "as"))))
        for name, where in names:
            if name in RESERVED:
                yield Finding(where, f"no variable can be called {name!r}")


@rule("ST764", "warning")
def valueless_step(case: ProcedureCase) -> Iterator[Finding]:
    """A step keeps its value although it doesn't have one.

    Tools, ``for_each``, ``procedure`` and what tools bring have values; ``set``, ``if``,
    ``parallel`` and ``wait`` do not. The variable would be null.
    """
    has_value = {name: each.has_value for name, each in ACTIONS.items()}
    for step in case.procedure.every_step():
        if step.save_as is not None and not has_value.get(step.action, True):
            message = f"a step {step.action!r} has no value to keep"
            yield Finding(ManifestPlace((*step.path, "save_as")), message, "remove 'save_as'")


STEP_RULES = (
    unknown_action,
    unknown_tool,
    deprecated_name,
    unknown_procedure,
    endless_recursion,
    return_in_loop,
    unreachable_step,
    conflicting_variable,
    reserved_name,
    valueless_step,
)
"""Rules for the steps of a procedure that matches the schema."""
