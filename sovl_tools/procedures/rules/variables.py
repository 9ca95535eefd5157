"""What stands in values: templates, and the variables in them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.diagnostic import Finding, ManifestPlace, rule
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.model import RESERVED
from sovl_tools.procedures.rules.environment import (
    Environment,
    MissingMember,
    TracedCase,
    Use,
    assigned,
    member,
)
from sovl_tools.procedures.templates.language import Reference, TemplateError
from sovl_tools.procedures.templates.template import Template


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
            made = (Template.of_expression if use.is_expression else Template.of)(text)
        except TemplateError:
            continue
        yield from ((path, each) for each in made.references if not each.is_guarded)


@rule("ST759")
def bad_template(case: TracedCase) -> Iterator[Finding]:
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
            found = _lacking(reference, use.environment, later)
            if found is not None:
                yield Finding(ManifestPlace(path), *found)


def _lacking(
    reference: Reference, environment: Environment, later: Container[str]
) -> tuple[str, str | None] | None:
    """Return what is wrong with a reference, and a hint."""
    name = reference.name
    if name not in environment:
        if name in later:
            return f"{name!r} is assigned only later", "use it after that"
        return f"there is no variable {name!r}", did_you_mean(name, environment)
    found = member(environment[name].schema, reference.attributes)
    if isinstance(found, MissingMember):
        words = f"{name!r} has no {found.name!r}"
        return words, did_you_mean(found.name, found.others)
    return None


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
def same_variable(case: TracedCase) -> Iterator[Finding]:
    """Two branches of ``parallel`` assign one variable.

    What it would be afterwards could depend on which branch is the quickest. Give them different
    names.
    """
    for step in case.procedure.every_step():
        if step.action == "parallel":
            seen: dict[str, int] = {}
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
        names = list(assigned((step._replace(blocks={}),)))
        if step.action == "for_each" and "as" in step.fields:
            names.append((step.fields["as"], ManifestPlace((*step.path, "as"))))
        for name, place in names:
            if name in RESERVED:
                yield Finding(place, f"no variable can be called {name!r}")


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


RULES = (
    bad_template,
    unknown_variable,
    unassigned_variable,
    same_variable,
    reserved_name,
    valueless_step,
)
