"""The variables before each step, found without a run, and the types of values made from them.

A variable has the JSON Schema of its values; ``ANYTHING`` admits any value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sovl_tools.dispatch.arguments import nullable_arguments
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Finding, ManifestPlace, rule
from sovl_tools.model.document import JSON, Path, copied, value_at
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.errors import TemplateError
from sovl_tools.procedures.procedure import BUILT_IN, Procedure, Reference, Step, assigned
from sovl_tools.procedures.rules.structure import (
    ENDS,
    Environment,
    Known,
    Others,
    ProcedureCase,
    Use,
)
from sovl_tools.procedures.templates import Template
from sovl_tools.schema.applicators import below, kinds, numeric
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.problem import Problem, explained, explanations, place
from sovl_tools.schema.subschemas import SchemaNode, follow
from sovl_tools.signature.signature import call_schema, signature_for

ANYTHING: JSON = {}

_LOOP: JSON = {
    "type": "object",
    "properties": {"index": {"type": "integer"}, "count": {"type": "integer"}},
    "additionalProperties": False,
}


def case_of(procedure: Procedure, catalog: Catalog | None, others: Others) -> ProcedureCase:
    """Return the case of a procedure for rules; see ``ProcedureCase``."""
    return ProcedureCase(procedure, catalog, others, tuple(_trace(procedure, catalog)))


def _trace(procedure: Procedure, catalog: Catalog | None) -> Iterator[Use]:
    start = {"inputs": Known(dict(procedure.inputs))}
    after, _ = yield from _trace_block(procedure.steps, start, catalog)
    yield Use(None, ("output",), procedure.output, after)


Trace: TypeAlias = Generator[Use, None, tuple[Environment, bool]]
"""Returns the variables behind a step, and whether it always ends the procedure."""


def _trace_block(steps: tuple[Step, ...], before: Environment, catalog: Catalog | None) -> Trace:
    after, is_over = before, False
    for step in steps:
        after, ends = yield from _trace_step(step, after, catalog)
        is_over = is_over or ends
    return after, is_over


def _trace_step(step: Step, before: Environment, catalog: Catalog | None) -> Trace:
    if step.when is not None:
        yield Use(step, (*step.path, "when"), step.when, before, is_expression=True)
    trace = _TRACES.get(step.action, _trace_fields)
    after, is_over = yield from trace(step, before, catalog)
    goes_on = step.on_error.then == "continue"
    if goes_on:
        after = _either(before, after)
    if step.save_as is not None:
        # A failed step after which the run continues has null.
        schema = ANYTHING if goes_on else _schema_of_result(step, catalog)
        after = {**after, step.save_as: Known(schema)}
    if step.when is not None:
        after = _either(before, after)
    return after, is_over and step.when is None and not goes_on


def _schema_of_result(step: Step, catalog: Catalog | None) -> JSON:
    if step.action == "for_each":
        return {"type": "array"}
    if step.action != "tool" or catalog is None:
        return ANYTHING
    tool = catalog.get(step.fields["tool"])
    return (tool and tool.output_schema) or ANYTHING


def _trace_fields(step: Step, before: Environment, _: Catalog | None) -> Trace:
    for key, value in step.fields.items():
        yield Use(step, (*step.path, key), value, before)
    return before, step.action in ENDS


def _trace_set(step: Step, before: Environment, _: Catalog | None) -> Trace:
    after = before
    for name, value in step.fields["values"].items():
        yield Use(step, (*step.path, "values", name), value, after)
        after = {**after, name: Known(ANYTHING)}  # the type of an expression is unknown
    return after, False


def _trace_if(step: Step, before: Environment, catalog: Catalog | None) -> Trace:
    condition = step.fields["condition"]
    yield Use(step, (*step.path, "condition"), condition, before, is_expression=True)
    # A missing branch counts, too: it leaves the variables unchanged.
    steps = step.blocks.get(("then",), ())
    first, is_first_over = yield from _trace_block(steps, before, catalog)
    steps = step.blocks.get(("else",), ())
    second, is_second_over = yield from _trace_block(steps, before, catalog)
    # No step follows a branch that returns, so that only the other one counts.
    if is_first_over or is_second_over:
        return second if is_first_over else first, is_first_over and is_second_over
    return _either(first, second), False


def _trace_loop(step: Step, before: Environment, catalog: Catalog | None) -> Trace:
    yield Use(step, (*step.path, "items"), step.fields["items"], before)
    own = {step.fields.get("as", "item"): Known(ANYTHING), "loop": Known(_LOOP)}
    steps = step.blocks[("steps",)]
    inside, _ = yield from _trace_block(steps, {**before, **own}, catalog)
    yield Use(step, (*step.path, "result"), step.fields.get("result"), inside)
    # There can be no item at all, and iterations have their own variables.
    return before, False


def _trace_branches(step: Step, before: Environment, catalog: Catalog | None) -> Trace:
    after = dict(before)
    for block in step.blocks.values():
        # Each branch begins with the variables before all; its own are there afterwards.
        branch, _ = yield from _trace_block(block, before, catalog)
        after |= {name: each for name, each in branch.items() if before.get(name) != each}
    return after, False


_TRACES: Mapping[str, Callable[[Step, Environment, Catalog | None], Trace]] = {
    "set": _trace_set,
    "if": _trace_if,
    "for_each": _trace_loop,
    "parallel": _trace_branches,
}


def _either(one: Environment, other: Environment) -> Environment:
    """Return the variables after either of two ways."""
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
    """A property that a schema's values can't have, and the ones they can."""

    name: str
    others: tuple[str, ...]


def _member(root: JSON, attributes: Sequence[str | int]) -> JSON | MissingMember:
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


def _templates(
    value: JSON, path: Path, *, is_expression: bool = False
) -> Iterator[tuple[Path, Template | TemplateError]]:
    """Yield the strings in a value as templates, or their problems, each with its place."""
    if isinstance(value, str):
        try:
            yield path, Template.of_expression(value) if is_expression else Template.of(value)
        except TemplateError as error:
            yield path, error
    elif isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _templates(each, (*path, key))


def _references(use: Use) -> Iterator[tuple[Path, Reference]]:
    """Yield the references of a value's templates, each with the place of the text."""
    for path, found in _templates(use.value, use.path, is_expression=use.is_expression):
        if isinstance(found, Template):
            # Guarded: a filter like default() or a test deals with it if it is missing.
            yield from ((path, each) for each in found.references if not each.is_guarded)


@rule("ST759")
def invalid_template(case: ProcedureCase) -> Iterator[Finding]:
    """A template or an expression can't be read.

    Templates are Jinja's: ``{{ page.title | upper }}``. ``when`` and ``condition`` are expressions
    without the braces. Templates can't read files, include others or tell the time.
    """
    for use in case.uses:
        for path, found in _templates(use.value, use.path, is_expression=use.is_expression):
            if isinstance(found, TemplateError):
                yield Finding(ManifestPlace(path), found.message, found.help)


@rule("ST760")
def unknown_variable(case: ProcedureCase) -> Iterator[Finding]:
    """A template uses a variable that is not there.

    Variables are ``inputs``, what ``set`` and ``save_as`` have assigned before, and in ``for_each``
    the item and ``loop``. Variables of an iteration don't exist outside of it.
    """
    later = {name for name, _ in assigned(case.procedure.steps)}
    for use in case.uses:
        for path, reference in _references(use):
            name, where = reference.name, ManifestPlace(path)
            if name in use.environment:
                found = _member(use.environment[name].schema, reference.attributes)
                if isinstance(found, MissingMember):
                    hint = did_you_mean(found.name, found.others)
                    yield Finding(where, f"{name!r} has no {found.name!r}", hint)
            elif name in later:
                yield Finding(where, f"{name!r} is assigned only later", "use it after that")
            else:
                hint = did_you_mean(name, use.environment)
                yield Finding(where, f"there's no variable {name!r}", hint)


@rule("ST761", "warning")
def unassigned_variable(case: ProcedureCase) -> Iterator[Finding]:
    """A template uses a variable that isn't always assigned, or an input that can be missing.

    A step with ``when``, or one branch of ``if``, assigns it; the input is not required and has no
    default. If the run takes the other way, the template fails. Assign it before, give the input a
    default, or use ``{{ name | default(…) }}``.
    """
    properties = case.procedure.inputs.get("properties", {})
    optional = {
        (name,)
        for name, schema in (properties.items() if isinstance(properties, dict) else ())
        if name not in case.procedure.inputs.get("required", ())
        and not (isinstance(schema, dict) and "default" in schema)
    }
    for use in case.uses:
        for path, reference in _references(use):
            known = use.environment.get(reference.name)
            if known is not None and not known.is_certain:
                message = f"{reference.name!r} may not have been assigned"
                yield Finding(ManifestPlace(path), message, "assign it before in any case")
            if reference.name == "inputs" and reference.attributes[:1] in optional:
                message = f"the input {reference.attributes[0]!r} can be missing"
                yield Finding(ManifestPlace(path), message, "give it a default")


class GivenValue(NamedTuple):
    """A value for parameters, and their schema.

    Attributes:
        path: the place of the value.
        value: unchanged, with templates.
        schema: of the parameters.
        environment: the variables at its place.
    """

    path: Path
    value: JSON
    schema: dict[str, JSON]
    environment: Environment


@rule("ST766")
def invalid_step_arguments(case: ProcedureCase) -> Iterator[Finding]:
    """A step's arguments for a tool or a procedure can't be valid, whatever its inputs are.

    A required argument is missing, an argument is unknown to the tool, or a value that is
    written out breaks the tool's schema; or a built-in action's value has another type.
    The run would fail there.
    """
    for given in _given_values(case):
        known = given.schema.get("properties", {})
        found, _ = _problems(given)
        for path, words in explanations(found, lambda path: () if path else known):  # noqa: B023
            value, there = given.value, given.path
            for each in path:  # as far as it exists: a part can be missing
                try:
                    value = value[each]
                except (KeyError, IndexError, TypeError):
                    break
                there = (*there, each)
            yield Finding(ManifestPlace(there), f"{place(path)}: {words}".removeprefix(": "))


@rule("ST767")
def invalid_step_type(case: ProcedureCase) -> Iterator[Finding]:
    """A step gives a tool, or works on, a value of a type that is rejected there.

    The value is what another tool returns, or an input, and its schema excludes the type that is
    wanted. A template with text around it is always a string.
    """
    for given in _given_values(case):
        _, found = _problems(given)
        for path, template, problem in found:
            wanted = " or ".join(problem.expected)
            message, hint = f"this is always a string, not {wanted}", None
            if template.kind == "string":
                hint = "write exactly one {{ expression }} to keep its type"
            else:
                (variable,) = template.references
                name = ".".join(map(str, (variable.name, *variable.attributes)))
                types = " or ".join(sorted(_types_of(template, given.environment)))
                message = f"{name} is {types}, not {wanted}"
            yield Finding(ManifestPlace((*given.path, *path)), message, hint)


def _given_values(case: ProcedureCase) -> Iterator[GivenValue]:
    for use in case.uses:
        schema = _wanted_schema(case, use.step, use.path) if use.step is not None else None
        if isinstance(schema, dict):
            yield GivenValue(use.path, use.value, schema, use.environment)
    for step in case.procedure.every_step():
        # A step without any value is missed above.
        key = {"tool": "arguments", "procedure": "inputs"}.get(step.action)
        schema = (
            _wanted_schema(case, step, (*step.path, key))
            if key and key not in step.fields
            else None
        )
        if isinstance(schema, dict):
            yield GivenValue(step.path, {}, schema, {})


def _wanted_schema(case: ProcedureCase, step: Step, path: Path) -> JSON:
    """Return the schema of a step's value at a place; None without one."""
    if (step.action, path[-1]) in BUILT_IN:
        return BUILT_IN[step.action, path[-1]]
    if case.catalog is not None and (step.action, path[-1]) == ("tool", "arguments"):
        tool = case.catalog.get(step.fields["tool"])
        # A dynamic tool's parameters are only known when it is called.
        return None if tool is None or tool.is_dynamic else _tool_schema(tool)
    if (step.action, path[-1]) == ("procedure", "inputs"):
        other = case.others(step.fields["procedure"])
        if other is not None:  # it has defaults for the rest
            known = other.inputs.get("properties", {}).items()
            filled = {name for name, each in known if isinstance(each, dict) and "default" in each}
            required = [name for name in other.inputs.get("required", ()) if name not in filled]
            return {**other.inputs, "required": required}
    return None


def _tool_schema(tool: ToolDefinition) -> JSON:
    """Return the schema of a tool's parameters, as a Tooler has it."""
    signature = signature_for(tool)
    properties = {**tool.parameters.get("properties", {})}
    # A Tooler drops a null where the default is meant, so that null must pass here, too.
    for name in nullable_arguments(tool.parameters, signature):
        properties[name] = True
    return call_schema({**tool.parameters, "properties": properties}, signature)


_EXAMPLES: Mapping[str, JSON] = {
    "string": "", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {},
    "null": None,
}  # fmt: skip
"""A value of each type, which takes the place of a template of that type."""

_WHATEVER = frozenset({"type", "required", "additionalProperties", "propertyNames"})
"""Keywords that reject an object or a list whatever the templates in it are."""


def _problems(given: GivenValue) -> tuple[list[Problem], list[tuple[Path, Template, Problem]]]:
    """Return the problems of a value whatever its templates make: of its own, and of their types.

    A template whose type is known is replaced by a value of that type.
    """
    templates: dict[Path, Template | TemplateError] = {
        path: found
        for path, found in _templates(given.value, ())
        if isinstance(found, TemplateError) or found.kind != "text"
    }
    if templates and '"if":' in json.dumps(given.schema):
        return [], []  # which part of the schema applies can depend on a template
    whole = [copied(given.value)]
    types = {path: _types_of(each, given.environment) for path, each in templates.items()}
    for path, names in types.items():
        if names:
            value_at(whole, (0, *path)[:-1])[(0, *path)[-1]] = _EXAMPLES[min(names)]
    own, typed = [], []
    for problem in problems_at(SchemaNode((), given.schema, given.schema, ()), whole[0]):
        path, template = problem.path, templates.get(problem.path)
        if template is None:
            is_fixed = not any(each[: len(path)] == path for each in templates)
            own += [problem] if is_fixed or problem.keyword in _WHATEVER else []
        elif isinstance(template, Template) and types[path]:
            for each in explained([problem]):
                is_type = each.keyword == "type" and each.path == path
                if is_type and types[path].isdisjoint(numeric(each.expected)):
                    typed.append((path, template, each))
    return own, typed


def _types_of(template: Template | TemplateError, environment: Environment) -> frozenset[str]:
    """Return the types that a template's value can have; none if they are unknown."""
    if isinstance(template, Template) and template.kind == "string":
        return frozenset({"string"})
    if isinstance(template, Template) and template.kind == "variable":
        for name, attributes, _ in template.references:
            schema = environment[name].schema if name in environment else ANYTHING
            found = _member(schema, attributes)
            if not isinstance(found, MissingMember):
                return kinds(found, schema) or frozenset()
    return frozenset()


RULES = (
    invalid_template,
    unknown_variable,
    unassigned_variable,
    invalid_step_arguments,
    invalid_step_type,
)
