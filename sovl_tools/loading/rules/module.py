"""ST5xx: importing the module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, Position, rule


class ImportFailure(NamedTuple):
    """What came of an import that did not succeed.

    Attributes:
        place: the tool's own line, as near as it can be told.
        error: the exception's type, or what ended the import.
        message: its message.
        sibling: the file of the folder that a failed import meant, if one has its name.
        advice: what to do, if that can be told better than for all such failures.
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
    ``helpers.py`` in the tool's folder. A ``DamageError`` says that the module takes away what all
    other code stands on, such as the standard library; ``validate`` alone looks for that.
    """
    words = f"{case.error} while importing: {case.message}"
    yield Finding(case.place, words, case.advice)


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
    yield Finding(case.place, f"{case.error} while importing{case.message}", hint)


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
