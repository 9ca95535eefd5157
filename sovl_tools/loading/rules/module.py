"""ST5xx: importing the module. ST7xx: tools in Python alone: functions, plugins, packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, Place, Position, rule


class ImportFailure(NamedTuple):
    """What came of an import that did not succeed.

    Attributes:
        place: the tool's own line, as near as it is known.
        error: the exception's type, or what ended the import.
        message: its message; empty if it has none.
        sibling: the file of the folder that a failed import meant, if one has its name.
        advice: what to do, if that is known better than for all such failures.
    """

    place: Position
    error: str
    message: str
    sibling: str | None = None
    advice: str | None = None


@rule("ST501")
def import_failed(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module raised an exception.

    The place is the last line of the tool's own files in the traceback; the traceback itself
    goes to the log at level DEBUG. A package that is missing may be listed under
    ``requires.packages``: the tool is then *unavailable* instead of broken where it is absent.
    Modules of your own are found in the directory of the configuration, in ``src`` beside it, or
    where ``pythonpath`` says.
    A helper that is missing is named by its file: ``from .helpers import name`` needs a
    ``helpers.py`` in the tool's folder.
    """
    yield Finding(case.place, _while_importing(case), case.advice)


@rule("ST502")
def syntax_error(case: ImportFailure) -> Iterator[Finding]:
    """The module, or a helper that it imports, is not Python.

    The message and the place are the compiler's own, of the Python that runs this command.
    """
    yield Finding(case.place, f"{case.error}: {case.message}")


@rule("ST503")
def import_exited(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module called ``sys.exit`` or raised another exception that ends programs.

    A module that is imported must not end the program that imports it. Mostly the file is also
    a script: put the script's part under ``if __name__ == "__main__":``.
    """
    hint = 'put what a script does under: if __name__ == "__main__":'
    yield Finding(case.place, _while_importing(case), hint)


def _while_importing(case: ImportFailure) -> str:
    return f"{case.error} while importing: {case.message}".removesuffix(": ")


@rule("ST504")
def import_stalled(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module did not end in time.

    An endless loop, a lock or a network connection at import time keeps every other tool
    waiting. The place is the line that was running when the limit was over, which
    ``import_timeout`` in ``[tool.sovl-tools]`` sets. Do the work in the function, at the first
    call.
    """
    yield Finding(case.place, f"importing {case.message}", "do the work in the function")


@rule("ST505")
def import_crashed(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module ended the process.

    ``os._exit``, a fatal signal such as a segmentation fault in an extension, or running out of
    memory. ``validate`` imports in a child process and goes on with the next tool; a server
    that loads this tool would die. The place is the line that Python's fault handler names,
    where it could name one.
    """
    yield Finding(case.place, f"importing ended the process: {case.message}")


@rule("ST506")
def import_flooded(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module printed more than 1 MiB.

    What a tool prints goes to the error output of whoever loads it, so this would fill logs at
    each start. Print nothing at import time; use ``logging`` inside the function.
    """
    yield Finding(case.place, f"importing printed {case.message}", "print nothing at import time")


@rule("ST507")
def absolute_sibling_import(case: ImportFailure) -> Iterator[Finding]:
    """A helper in the tool's folder is imported as if it were a library.

    The folder is not on ``sys.path``, so that two tools may each have a ``helpers.py`` and none
    shadows a library. Import the helper relatively: ``from . import helpers`` or
    ``from .helpers import name``. It belongs to this tool alone.
    """
    message = f"{case.sibling!r} can't be imported as a library"
    stem = (case.sibling or "").removesuffix(".py")
    yield Finding(case.place, message, f"write: from . import {stem}")


@rule("ST508")
def inspection_failed(case: ImportFailure) -> Iterator[Finding]:
    """The module was imported, but looking at what it offers raised an exception.

    The tool's name, ``STEP_HANDLERS`` or ``ACTIVATION_PHRASES`` is an object whose own code
    fails when it is looked at. Use plain functions, dictionaries and lists.
    """
    yield Finding(case.place, f"{case.error} while looking at the module: {case.message}")


class CodeCase(NamedTuple):
    """What is wrong with something in Python, in words, and where it is."""

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
    import_failed,
    syntax_error,
    import_exited,
    import_stalled,
    import_crashed,
    import_flooded,
    absolute_sibling_import,
    unimportable_source,
    invalid_tool_class,
    inexpressible_parameters,
    invalid_definition,
    weak_description,
    source_without_tools,
    foreign_definition,
)
