"""What is in values: templates, the variables in them, and arguments for tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sovl_tools.dispatch.arguments import nullable_arguments
from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Finding, ManifestPlace, rule
from sovl_tools.model.document import JSON, Path, kind
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.errors import TemplateError
from sovl_tools.procedures.procedure import MAX_SECONDS, RESERVED, Reference, Step
from sovl_tools.procedures.templates import Template
from sovl_tools.procedures.variable_schemas import (
    ANYTHING,
    Environment,
    MissingMember,
    TracedCase,
    Use,
    assigned,
    member,
)
from sovl_tools.schema.applicators import below, kinds
from sovl_tools.schema.fit import problems
from sovl_tools.schema.problem import explanations, place
from sovl_tools.schema.subschemas import SchemaNode, lookup
from sovl_tools.signature.signature import call_schema, signature_for


class Text(NamedTuple):
    """A text in a value, at its place."""

    path: Path
    text: str


def texts(value: JSON, path: Path) -> Iterator[Text]:
    """Yield the texts in a value, but for the keys of objects."""
    if isinstance(value, str):
        yield Text(path, value)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from texts(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from texts(each, (*path, index))


def references(use: Use) -> Iterator[tuple[Path, Reference]]:
    """Yield what the templates of a value refer to and need, each with the place of the text."""
    for path, text in texts(use.value, use.path):
        try:
            template = (Template.of_expression if use.is_expression else Template.of)(text)
        except TemplateError:  # bad_template tells of it
            continue
        # Guarded: a filter like default() or a test deals with it if it is missing.
        yield from ((path, each) for each in template.references if not each.is_guarded)


@rule("ST759")
def invalid_template(case: TracedCase) -> Iterator[Finding]:
    """A template or an expression can't be read.

    Templates are Jinja's: ``{{ page.title | upper }}``. ``when`` and ``condition`` are expressions
    without the braces. There is nothing that reads files, includes or tells the time.
    """
    for use in case.uses:
        for path, text in texts(use.value, use.path):
            try:
                (Template.of_expression if use.is_expression else Template.of)(text)
            except TemplateError as error:
                yield Finding(ManifestPlace(path), error.message, error.help)


@rule("ST760")
def unknown_variable(case: TracedCase) -> Iterator[Finding]:
    """A template uses a variable that is not there.

    Variables are ``inputs``, what ``set`` and ``save_as`` have assigned before, and in ``for_each``
    the item and ``loop``. What is assigned in an iteration is not there outside of it.
    """
    later = {name for name, _ in assigned(case.procedure.steps)}
    for use in case.uses:
        for path, reference in references(use):
            name, where = reference.name, ManifestPlace(path)
            if name in use.environment:
                found = member(use.environment[name].schema, reference.attributes)
                if isinstance(found, MissingMember):
                    hint = did_you_mean(found.name, found.others)
                    yield Finding(where, f"{name!r} has no {found.name!r}", hint)
            elif name in later:
                yield Finding(where, f"{name!r} is assigned only later", "use it after that")
            else:
                hint = did_you_mean(name, use.environment)
                yield Finding(where, f"there is no variable {name!r}", hint)


@rule("ST761", "warning")
def unassigned_variable(case: TracedCase) -> Iterator[Finding]:
    """A template uses a variable that may not have been assigned, or an input that may be missing.

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
        for path, reference in references(use):
            known = use.environment.get(reference.name)
            if known is not None and not known.is_certain:
                message = f"{reference.name!r} may not have been assigned"
                yield Finding(ManifestPlace(path), message, "assign it before in any case")
            if reference.name == "inputs" and reference.attributes[:1] in optional:
                message = f"the input {reference.attributes[0]!r} may be missing"
                yield Finding(ManifestPlace(path), message, "give it a default")


@rule("ST762")
def conflicting_variable(case: TracedCase) -> Iterator[Finding]:
    """Two branches of ``parallel`` assign one variable.

    What it would be afterwards could depend on which branch is the quickest. Give them different
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
def reserved_name(case: TracedCase) -> Iterator[Finding]:
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
def valueless_step(case: TracedCase) -> Iterator[Finding]:
    """A step keeps its value although it has none.

    Tools, ``for_each``, ``procedure`` and what tools bring have values; ``set``, ``if``,
    ``parallel`` and ``wait`` do not. The variable would be null.
    """
    has_value = {name: each.has_value for name, each in ACTIONS.items()}
    for step in case.procedure.every_step():
        if step.save_as is not None and not has_value.get(step.action, True):
            message = f"a step {step.action!r} has no value to keep"
            yield Finding(ManifestPlace((*step.path, "save_as")), message, "remove 'save_as'")


# One variable with attributes and indexes: of anything else the type is unknown.
_PLAIN = re.compile(r"\{\{\s*[A-Za-z_]\w*(\s*\.\s*[A-Za-z_]\w*|\s*\[[^\[\]{}|()+*/%~-]+\])*\s*\}\}")
_MAX_REFERENCES = 20  # which may lead in a circle


class GivenValue(NamedTuple):
    """A value that something gets, and what it has to be.

    Attributes:
        path: the place of the value.
        value: as it is written, with templates.
        node: what is asked of it.
        environment: the variables at its place.
    """

    path: Path
    value: JSON
    node: SchemaNode
    environment: Environment


@rule("ST766")
def invalid_step_arguments(case: TracedCase) -> Iterator[Finding]:
    """What a step gives to a tool or a procedure can't be valid, whatever its templates make.

    A required argument is missing, there is one that the tool does not take, or a value that is
    written out breaks the tool's schema; or what a built-in action works on is of another type.
    The run would fail there.
    """
    for given in _given_values(case):
        yield from _check_value(given)


@rule("ST767")
def invalid_step_type(case: TracedCase) -> Iterator[Finding]:
    """A step gives a tool, or works on, a value of a type that is refused there.

    The value is what another tool returns, or an input, and its schema excludes the type that is
    wanted. A template with text around it is always a string.
    """
    for given in _given_values(case):
        yield from _check_types(given)


def _given_values(case: TracedCase) -> Iterator[GivenValue]:
    for use in case.uses:
        schema = _wanted_schema(case, use.step, use.path) if use.step is not None else None
        if isinstance(schema, dict):
            node = SchemaNode((), schema, schema, ())
            yield GivenValue(use.path, use.value, node, use.environment)
    for step in case.procedure.every_step():
        # A step that gives nothing at all has no value that is gone through above.
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
"""What built-in actions ask of values that may be templates as well."""


def _wanted_schema(case: TracedCase, step: Step, path: Path) -> JSON:
    """Return the schema of what a step gives at a place; None if there is none."""
    if (step.action, path[-1]) in _BUILT_IN:
        return _BUILT_IN[step.action, path[-1]]
    if case.catalog is not None and (step.action, path[-1]) == ("tool", "arguments"):
        tool = case.catalog.tools.get(step.fields["tool"])
        # What a dynamic tool takes is known when it is called.
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
    """Return the schema of what a tool takes, as a Tooler has it."""
    signature = signature_for(tool)
    properties = {**tool.parameters.get("properties", {})}
    # A Tooler drops a null where the default is meant, so that null has to pass here, too.
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
    """Tell whether there is no template in a value."""
    if isinstance(value, str):
        try:
            return Template.of(value).kind == "text"
        except TemplateError:  # what it was meant to be is unknown
            return False
    if isinstance(value, dict):
        return all(map(_is_literal, value.values()))
    return not isinstance(value, list) or all(map(_is_literal, value))


def _check_literal(given: GivenValue) -> Iterator[Finding]:
    refused = problems(given.node, given.value)
    if not refused:
        return
    known = given.node.schema.get("properties", {})
    for path, words in explanations(refused, lambda path: () if path else known):
        value, there = given.value, given.path
        for each in path:  # as far as it is there: something may be missing
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
    """Return the subschema to which references lead at last, if there are any."""
    for _ in range(_MAX_REFERENCES):
        reference = node.schema.get("$ref")
        target, _, path = lookup(node.root, reference) if reference else (None, None, ())
        if not isinstance(target, dict):
            break
        node = node._replace(schema=target, path=path)
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
        found = member(schema, reference.attributes)
        types = None if isinstance(found, MissingMember) else kinds(found, schema)
        if types and types.isdisjoint(wanted):
            name = ".".join(map(str, (reference.name, *reference.attributes)))
            is_what = " or ".join(sorted(types))
            yield Finding(ManifestPlace(given.path), f"{name} is {is_what}, not {words}")


RULES = (
    invalid_template,
    unknown_variable,
    unassigned_variable,
    conflicting_variable,
    reserved_name,
    valueless_step,
    invalid_step_arguments,
    invalid_step_type,
)
