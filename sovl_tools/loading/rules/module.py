"""ST5xx: importing the module. ST7xx: tools that are only Python: functions, plugins, packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, Place, Position, rule


class ImportFailure(NamedTuple):
    """A failed import.

    Attributes:
        place: the nearest known line of the tool.
        error: the exception's type, or what ended the import.
        message: its message; empty without one.
        sibling: the file of the folder with the name of the import that failed.
        advice: the fix, if this failure has a special one.
    """

    place: Position
    error: str
    message: str
    sibling: str | None = None
    advice: str | None = None


@rule("ST501")
def import_failed(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module raised an exception.

    The place is the last line of the tool's own files in the traceback; the traceback itself is
    logged at level DEBUG. If a missing package is listed under ``requires.packages``, the tool is
    *unavailable* instead of broken. Your own modules are found in the directory of the
    configuration, in ``src`` next to it, and in the directories of ``pythonpath``.
    A helper that is missing is named by its file: ``from .helpers import name`` needs a
    ``helpers.py`` in the tool's folder.
    """
    yield Finding(case.place, _while_importing(case), case.advice)


@rule("ST502")
def syntax_error(case: ImportFailure) -> Iterator[Finding]:
    """The module, or a helper that it imports, is not Python.

    The message and the place are from the compiler of the Python that runs this command.
    """
    yield Finding(case.place, f"{case.error}: {case.message}")


@rule("ST503")
def import_exited(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module called ``sys.exit`` or raised another exception that ends programs.

    An import must not end the program. Usually the file is also a script: put the script's part
    under ``if __name__ == "__main__":``.
    """
    hint = 'put what a script does under: if __name__ == "__main__":'
    yield Finding(case.place, _while_importing(case), hint)


def _while_importing(case: ImportFailure) -> str:
    return f"{case.error} while importing: {case.message}".removesuffix(": ")


@rule("ST504")
def import_stalled(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module took too long.

    An endless loop, a lock or a network connection at import time blocks all other tools. The place
    is the line that was running at the time limit, which is ``import_timeout`` in
    ``[tool.sovl-tools]``. Do the work in the function, at the first call.
    """
    yield Finding(case.place, f"importing {case.message}", "do the work in the function")


@rule("ST505")
def import_crashed(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module ended the process.

    The cause is ``os._exit``, a fatal signal such as a segmentation fault in an extension, or too
    little memory. ``validate`` imports in a child process and continues with the next tool; a
    server that loads this tool would die. The place is from Python's fault handler, if it knows
    the line.
    """
    yield Finding(case.place, f"importing ended the process: {case.message}")


@rule("ST506")
def import_flooded(case: ImportFailure) -> Iterator[Finding]:
    """Importing the module printed more than 1 MiB.

    The output of an import goes to standard error, so this would fill the logs at each start. Print
    only inside functions; use ``logging`` in the function.
    """
    yield Finding(case.place, f"importing printed {case.message}", "print only inside the function")


@rule("ST507")
def absolute_sibling_import(case: ImportFailure) -> Iterator[Finding]:
    """A helper in the tool's folder is imported as if it were a library.

    The folder isn't on ``sys.path``, so that several tools can have a ``helpers.py``, and none
    hides a library. A tool that puts its folder there would share its helpers with all other tools:
    an import's additions to ``sys.path`` from inside the tools directory are removed after it.
    Import the helper relatively: ``from . import helpers`` or ``from .helpers import name``. It
    belongs to this tool only; several tools share modules in ``_shared``.
    """
    message = f"{case.sibling!r} can't be imported as a library"
    stem = (case.sibling or "").removesuffix(".py")
    yield Finding(case.place, message, case.advice or f"write: from . import {stem}")


@rule("ST508")
def inspection_failed(case: ImportFailure) -> Iterator[Finding]:
    """The module was imported, but inspecting it raised an exception.

    The tool's name, ``STEP_HANDLERS`` or ``ACTIVATION_PHRASES`` is an object whose own code fails
    when it is inspected. Use plain functions, dictionaries and lists.
    """
    yield Finding(case.place, f"{case.error} while checking the module: {case.message}")


class CodeCase(NamedTuple):
    """A problem of an object in Python, in words, and its place."""

    message: str
    help: str | None = None
    place: Place = Position()


def _finding(case: CodeCase) -> Iterator[Finding]:
    yield Finding(case.place, case.message, case.help)


@rule("ST701")
def unimportable_source(case: CodeCase) -> Iterator[Finding]:
    """A source of tools can't be imported.

    It is an entry point of an installed distribution, a module of a plugins directory or a package.
    The message names the exception. The other sources are loaded. Fix or uninstall it.
    """
    yield from _finding(case)


@rule("ST702")
def invalid_tool_class(case: CodeCase) -> Iterator[Finding]:
    """A subclass of ``AITool`` can't be made a tool.

    It lacks an abstract member, its constructor needs arguments or fails, or a member has the wrong
    type. Classes whose names begin with ``_`` are only bases of others and aren't checked. Complete
    the class, or register an instance.
    """
    yield from _finding(case)


@rule("ST703")
def inexpressible_parameters(case: CodeCase) -> Iterator[Finding]:
    """The parameters of a function can't be expressed in JSON.

    A model sends JSON, and its schema is made from the annotations. The message names the
    parameter. Annotate it with a type that has a JSON form; register a method with its object.
    """
    yield from _finding(case)


@rule("ST704")
def invalid_definition(case: CodeCase) -> Iterator[Finding]:
    """The definition from a decorator or a class breaks the meta-schema.

    The rules are the manifest's: the name is an identifier of at most 64 characters, the
    description isn't empty, the parameters are a valid JSON Schema (draft 2020-12) of an object,
    and so on. The message names the place in the definition.
    """
    yield from _finding(case)


@rule("ST705", "warning")
def weak_description(case: CodeCase) -> Iterator[Finding]:
    """A model doesn't get enough information about a tool.

    The function has no docstring, or a parameter has no annotation, so that it accepts any value.
    Models choose tools by their descriptions. Describe the tool and when to use it.
    """
    yield from _finding(case)


@rule("ST706", "warning")
def source_without_tools(case: CodeCase) -> Iterator[Finding]:
    """A plugins directory, an entry point or a package has no tools.

    Tools are functions decorated with ``@tool`` and subclasses of ``AITool``. Decorate one, or
    remove the source.
    """
    yield from _finding(case)


@rule("ST707")
def foreign_definition(case: CodeCase) -> Iterator[Finding]:
    """An object has a ``_tool_definition`` of another framework.

    Decorate the function with this package's ``@tool``.
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
