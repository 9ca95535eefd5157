"""The variables before each step, found without a run, and the types of values made from them.

A variable has the JSON Schema of its values; ``ANYTHING`` admits any value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sovl_tools.dispatch.arguments import nullable_arguments
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Finding, ManifestPlace, rule
from sovl_tools.model.document import JSON, Path, kind
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.errors import TemplateError
from sovl_tools.procedures.procedure import MAX_SECONDS, Procedure, Reference, Step, assigned
from sovl_tools.procedures.rules.structure import (
    ENDS,
    Environment,
    Known,
    Others,
    ProcedureCase,
    Use,
)
from sovl_tools.procedures.templates import Template
from sovl_tools.schema.applicators import below, kinds
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.problem import explanations, place
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


def _texts(value: JSON, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the strings in a value with their places, but for the keys of objects."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(each, (*path, key))


def _templates(use: Use) -> Iterator[tuple[Path, Template | TemplateError]]:
    """Yield the templates in a value, or their problems, each with its place."""
    for path, text in _texts(use.value, use.path):
        try:
            found = Template.of_expression(text) if use.is_expression else Template.of(text)
        except TemplateError as error:
            yield path, error
        else:
            yield path, found


def _references(use: Use) -> Iterator[tuple[Path, Reference]]:
    """Yield the references of a value's templates, each with the place of the text."""
    for path, found in _templates(use):
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
        for path, found in _templates(use):
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


# One variable with attributes and indexes: of anything else the type is unknown.
_PLAIN = re.compile(r"\{\{\s*[A-Za-z_]\w*(\s*\.\s*[A-Za-z_]\w*|\s*\[[^\[\]{}|()+*/%~-]+\])*\s*\}\}")
_MAX_REFERENCES = 20  # which may lead in a circle


class GivenValue(NamedTuple):
    """A value for a parameter, and its schema.

    Attributes:
        path: the place of the value.
        value: unchanged, with templates.
        node: its schema.
        environment: the variables at its place.
    """

    path: Path
    value: JSON
    node: SchemaNode
    environment: Environment


@rule("ST766")
def invalid_step_arguments(case: ProcedureCase) -> Iterator[Finding]:
    """A step's arguments for a tool or a procedure can't be valid, whatever its inputs are.

    A required argument is missing, an argument is unknown to the tool, or a value that is
    written out breaks the tool's schema; or a built-in action's value has another type.
    The run would fail there.
    """
    for given in _given_values(case):
        yield from _check_value(given)


@rule("ST767")
def invalid_step_type(case: ProcedureCase) -> Iterator[Finding]:
    """A step gives a tool, or works on, a value of a type that is rejected there.

    The value is what another tool returns, or an input, and its schema excludes the type that is
    wanted. A template with text around it is always a string.
    """
    for given in _given_values(case):
        yield from _check_types(given)


def _given_values(case: ProcedureCase) -> Iterator[GivenValue]:
    for use in case.uses:
        schema = _wanted_schema(case, use.step, use.path) if use.step is not None else None
        if isinstance(schema, dict):
            node = SchemaNode((), schema, schema, ())
            yield GivenValue(use.path, use.value, node, use.environment)
    for step in case.procedure.every_step():
        # A step without any value is missed above.
        key = {"tool": "arguments", "procedure": "inputs"}.get(step.action)
        schema = (
            _wanted_schema(case, step, (*step.path, key))
            if key and key not in step.fields
            else None
        )
        if isinstance(schema, dict):
            yield GivenValue(step.path, {}, SchemaNode((), schema, schema, ()), {})


_BUILT_IN: Mapping[tuple[str, str | int], JSON] = {
    ("for_each", "items"): {"type": "array"},
    ("wait", "seconds"): {"type": "number", "minimum": 0, "maximum": MAX_SECONDS},
}
"""The schemas of built-in actions for values that can be templates as well."""


def _wanted_schema(case: ProcedureCase, step: Step, path: Path) -> JSON:
    """Return the schema of a step's value at a place; None without one."""
    if (step.action, path[-1]) in _BUILT_IN:
        return _BUILT_IN[step.action, path[-1]]
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


def _check_value(given: GivenValue) -> Iterator[Finding]:
    if _is_literal(given.value):
        yield from _check_literal(given)
    elif isinstance(given.value, dict | list):
        types, own = kinds(given.node.schema, given.node.root), kind(given.value)
        if types is not None and own not in types:
            message = f"must be of type {' or '.join(sorted(types))}, not {own}"
            yield Finding(ManifestPlace(given.path), message)
        elif types is not None and own == "object":
            yield from _check_names(given)
        for inner in _members(given):
            yield from _check_value(inner)


def _is_literal(value: JSON) -> bool:
    """Return whether there's no template in a value."""
    if isinstance(value, str):
        try:
            return Template.of(value).kind == "text"
        except TemplateError:  # its intended value is unknown
            return False
    if isinstance(value, dict):
        return all(map(_is_literal, value.values()))
    return not isinstance(value, list) or all(map(_is_literal, value))


def _check_literal(given: GivenValue) -> Iterator[Finding]:
    refused = problems_at(given.node, given.value)
    if not refused:
        return
    known = given.node.schema.get("properties", {})
    for path, words in explanations(refused, lambda path: () if path else known):
        value, there = given.value, given.path
        for each in path:  # as far as it exists: a part can be missing
            try:
                value = value[each]
            except (KeyError, IndexError, TypeError):
                break
            there = (*there, each)
        yield Finding(ManifestPlace(there), f"{place(path)}: {words}".removeprefix(": "))


def _check_names(given: GivenValue) -> Iterator[Finding]:
    """Yield names that are missing, and names that are not taken."""
    schema = given.node.schema
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in given.value:
            yield Finding(ManifestPlace(given.path), f"{name}: is required")
    if schema.get("additionalProperties") is False and "patternProperties" not in schema:
        for name in given.value:
            if name not in properties:
                where = ManifestPlace((*given.path, name), "key")
                yield Finding(where, f"{name}: is not taken", did_you_mean(name, properties))


def _members(given: GivenValue) -> Iterator[GivenValue]:
    """Yield the members of an object or a list with their schemas, where there is one."""
    value = given.value
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            for node in below(given.node, key):
                place = (*given.path, key)
                yield GivenValue(place, value[key], _target(node), given.environment)


def _target(node: SchemaNode) -> SchemaNode:
    """Return the subschema at the end of all references, if there are any."""
    for _ in range(_MAX_REFERENCES):
        node = node.target() or node
    return node


def _check_types(given: GivenValue) -> Iterator[Finding]:
    wanted = kinds(given.node.schema, given.node.root)
    if isinstance(given.value, str) and wanted is not None:
        yield from _check_text(given, wanted, given.value)
    for inner in _members(given):
        yield from _check_types(inner)


def _check_text(given: GivenValue, wanted: frozenset[str], text: str) -> Iterator[Finding]:
    try:
        template = Template.of(text)
    except TemplateError:
        return
    words = " or ".join(sorted(wanted))
    if template.kind == "string" and "string" not in wanted:
        hint = "write exactly one {{ expression }} to keep its type"
        yield Finding(ManifestPlace(given.path), f"this is always a string, not {words}", hint)
    if template.kind == "value" and _PLAIN.fullmatch(text) and len(template.references) == 1:
        (reference,) = template.references
        known = given.environment.get(reference.name)
        schema = ANYTHING if known is None else known.schema
        found = _member(schema, reference.attributes)
        types = None if isinstance(found, MissingMember) else kinds(found, schema)
        if types and types.isdisjoint(wanted):
            name = ".".join(map(str, (reference.name, *reference.attributes)))
            is_what = " or ".join(sorted(types))
            yield Finding(ManifestPlace(given.path), f"{name} is {is_what}, not {words}")


RULES = (
    invalid_template,
    unknown_variable,
    unassigned_variable,
    invalid_step_arguments,
    invalid_step_type,
)
