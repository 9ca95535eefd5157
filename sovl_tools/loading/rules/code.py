"""ST7xx: tools that are written in Python alone: functions, classes, plugins, packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, Place, Position, rule


class CodeCase(NamedTuple):
    """What is wrong with something in Python, in words, and where it stands."""

    message: str
    help: str | None = None
    place: Place = Position()


def _finding(case: CodeCase) -> Iterator[Finding]:
    yield Finding(case.place, case.message, case.help)


@rule("ST701")
def unimportable_source(case: CodeCase) -> Iterator[Finding]:
    """A source of tools can't be imported.

    It is an entry point of an installed distribution, a module of a plugins directory or a package.
    The message names the exception. The other sources load all the same. Mend or uninstall it.
    """
    yield from _finding(case)


@rule("ST702")
def invalid_tool_class(case: CodeCase) -> Iterator[Finding]:
    """A subclass of ``AITool`` can't be made a tool.

    It lacks an abstract member, its constructor wants arguments or fails, or a member is of
    another type than it has to be. A class that is only a base of others is left in peace if its
    name begins with ``_``. Complete the class, or register an instance by hand.
    """
    yield from _finding(case)


@rule("ST703")
def inexpressible_parameters(case: CodeCase) -> Iterator[Finding]:
    """The parameters of a function can't be expressed in JSON.

    A model sends JSON, and the schema that tells it what to send is made of the annotations. The
    message names the parameter. Annotate it with a type that has a JSON form; register a method
    with its object.
    """
    yield from _finding(case)


@rule("ST704")
def invalid_definition(case: CodeCase) -> Iterator[Finding]:
    """What a decorator or a class says of its tool does not fit the meta-schema.

    The same holds for it as for a manifest: the name is an identifier of at most 64 characters, the
    description is not empty, the parameters are a valid JSON Schema (draft 2020-12) of an object,
    and so on. The message names the place within the definition.
    """
    yield from _finding(case)


@rule("ST705", "warning")
def weak_description(case: CodeCase) -> Iterator[Finding]:
    """A model is told less about a tool than it needs.

    The function has no docstring, or a parameter has no annotation, so that any value is let
    through. Models choose tools by their descriptions. Say what the tool does and when to use it.
    """
    yield from _finding(case)


@rule("ST706", "warning")
def source_without_tools(case: CodeCase) -> Iterator[Finding]:
    """A plugins directory, an entry point or a package holds no tool.

    Tools are functions decorated with ``@tool`` and subclasses of ``AITool``. Decorate one, or do
    not name the place.
    """
    yield from _finding(case)


@rule("ST707")
def foreign_definition(case: CodeCase) -> Iterator[Finding]:
    """Something has a ``_tool_definition`` that is not one of this package's.

    Other frameworks use the same attribute. Decorate the function with this package's ``@tool``.
    """
    yield from _finding(case)


RULES = (
    unimportable_source,
    invalid_tool_class,
    inexpressible_parameters,
    invalid_definition,
    weak_description,
    source_without_tools,
    foreign_definition,
)
