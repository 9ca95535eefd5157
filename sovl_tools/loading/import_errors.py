"""From an exception at import to the diagnostic of a tool or of a source of tools."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from types import FrameType
from typing import NamedTuple

from sovl_tools.loading.importer import PLUGIN_ROOT, TOOL_ROOT
from sovl_tools.loading.interface import SHARE, missing_above, missing_helper, own_directory
from sovl_tools.loading.location import SourceLocation, innermost, relative_path
from sovl_tools.loading.rules import module
from sovl_tools.loading.rules.module import CodeCase, ImportFailure
from sovl_tools.loading.sources import listed
from sovl_tools.model.diagnostic import Diagnostic, Position, Rule, Verdict, ask
from sovl_tools.model.errors import TimeLimitError
from sovl_tools.model.folder import ToolFolder

_DIGEST = "[0-9a-f]{16}"
_TOOL = rf"{TOOL_ROOT}\.{_DIGEST}\.(?!_)\w+"
_PACKAGE = rf"\b(?:{_TOOL}|{PLUGIN_ROOT}\.{_DIGEST})\b\.?"
_SHARED = rf"\b{TOOL_ROOT}\.{_DIGEST}\b\.?"
_HELPER = rf"{_TOOL}\.([\w.]+)"
_ABOVE = rf"{TOOL_ROOT}\.{_DIGEST}\.((?:_[\w.]+)|(?!{_DIGEST})\w+)"
_MEMBER = rf"cannot import name '(\w+)' from '{_TOOL}'"


def as_written(text: str) -> str:
    """Return a string with relative names instead of our names for tools' modules."""
    return re.sub(_SHARED, "..", re.sub(_PACKAGE, ".", text))


def without_modules(text: str) -> str:
    """Return a string without our names for tools' modules before the names of classes."""
    return re.sub(rf"(?:{_PACKAGE}|{_SHARED})(?:\w+\.)*(?=\w)", "", text)


_LONGEST_MESSAGE = 500


def import_verdicts(error: BaseException, folder: ToolFolder) -> list[Verdict]:
    """Return the verdicts about an exception during an import, at the tool's own line."""
    if isinstance(error, SyntaxError) and _is_own(error.filename, folder):
        path = _relative(str(error.filename), folder)
        # Python sometimes has no line or column, or 0
        place = Position(path, max(error.lineno or 1, 1), max(error.offset or 1, 1))
        return _verdicts(module.syntax_error, error, place)
    place = own_place(error, folder)
    advice = None
    if isinstance(error, ModuleNotFoundError):
        name = str(error.name or "").partition(".")[0]
        files, folders = _entries(folder)
        sibling = name if name in folders else None
        if f"{name}.py" in files and name != folder.name:
            sibling = f"{name}.py"
        if sibling is not None:
            failure = ImportFailure(place, "", "", sibling)
            return ask((module.absolute_sibling_import,), failure)
        advice = _advice(str(error.name or ""), folder)
    missing = _missing(error, folder) if isinstance(error, ImportError) else None
    if missing is not None:
        return ask((module.import_failed,), missing._replace(place=place))
    is_failure = isinstance(error, Exception)
    rule = module.import_failed if is_failure else module.import_exited
    return _verdicts(rule, error, place, advice)


def _verdicts(
    rule: Rule, error: BaseException, place: Position, advice: str | None = None
) -> list[Verdict]:
    failure = ImportFailure(place, type(error).__name__, _message(error), advice=advice)
    return ask((rule,), failure)


def error_text(error: BaseException) -> str:
    """Return the type and the message of an exception."""
    return f"{type(error).__name__}: {_message(error)}".removesuffix(": ")


def _message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return str(error.msg)
    return as_written(str(error))[:_LONGEST_MESSAGE]


def _missing(error: ImportError, folder: ToolFolder) -> ImportFailure | None:
    """Return that a file for a relative import is missing, if that is why an import failed."""
    above = re.fullmatch(_ABOVE, str(error.name))
    if above and isinstance(error, ModuleNotFoundError):
        return missing_above(folder, above[1], Position())
    if isinstance(error, ModuleNotFoundError):
        found = re.fullmatch(_HELPER, str(error.name))
    else:
        found = re.match(_MEMBER, str(error.msg))
    path = f"{found[1].replace('.', '/')}.py" if found else ""
    if not path or os.path.lexists(f"{folder.location}/{path}"):
        return None
    whole = folder._replace(files=_entries(folder)[0])
    return missing_helper(whole, path, Position())._replace(error=type(error).__name__)


_DISTRIBUTIONS = {
    "PIL": "Pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "git": "GitPython",
    "jwt": "PyJWT",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
"""Well-known modules that are installed under another name."""


def _advice(name: str, folder: ToolFolder) -> str | None:
    """Return the advice about a missing module, which is the author's or a library."""
    outer = name.partition(".")[0]
    if outer in sys.modules or not outer.isidentifier():
        return None
    directory = own_directory(outer, folder)
    if directory is not None:
        if os.path.lexists(f"{directory}/{outer}/{outer}.json"):
            own = f"{outer!r} is this tool: write a dot, as in from .x import y"
            return own if outer == folder.name else f"{outer!r} is a tool, too: {SHARE}"
        if outer.startswith("_") and directory == os.path.dirname(folder.location):
            return f"write: from ..{name} import …"
        shown = relative_path(directory) if directory != os.getcwd() else "."
        return f"{outer!r} lies in {shown}: list that under 'pythonpath' in the configuration"
    package = _DISTRIBUTIONS.get(outer, outer)
    return f"pip install {package}, or list it in 'requires': {{'packages': ['{package}']}}"


def _entries(folder: ToolFolder) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of files and of folders in a tool's folder; none if it can't be listed."""
    with contextlib.suppress(OSError):
        folder = listed(folder)
    return folder.files, folder.folders


def _is_own(path: str | None, folder: ToolFolder) -> bool:
    return bool(path) and str(path).startswith(f"{folder.location}{os.sep}")


def _relative(path: str, folder: ToolFolder) -> str:
    return path[len(folder.location) + 1 :]


def own_place(origin: BaseException | FrameType | None, folder: ToolFolder) -> Position:
    """Return the innermost line of the tool's own files, of an exception or a frame that runs."""
    place = innermost(origin, lambda frame: _is_own(frame.f_code.co_filename, folder))
    if place is None:
        return Position(folder.module_name)
    return Position(_relative(place.path, folder), place.line, place.column)


class Unit(NamedTuple):
    """Something that is imported in the search for tools.

    Attributes:
        words: for messages, such as ``"the entry point 'weather'"``.
        path: where it is: a file, or the dotted name of a module.
        module: the dotted name of a module; what begins with the first part of it is its own code.
    """

    words: str
    path: str
    module: str

    @property
    def key(self) -> str:
        """What tells it from the other units of its origin."""
        return f"{self.words} {self.path}"

    @classmethod
    def of_module(cls, name: str, kind: str = "module") -> Unit:
        """Return the unit of an importable module or package."""
        return cls(f"the {kind} {name!r}", name, name)


def import_failure(error: BaseException, unit: Unit) -> Diagnostic:
    """Return the finding that a unit can't be imported, at the last line of its code that ran."""
    words = f"{unit.words} can't be imported: {error_text(error)}"
    return unavailable(words, *_place(error, unit))


def import_timeout(frame: FrameType | None, unit: Unit, limit: float) -> Diagnostic:
    """Return the finding that the import of a unit timed out, at the line of its code."""
    words = f"{unit.words} can't be imported: it {TimeLimitError(limit)}"
    return unavailable(words, *_place(frame, unit))


def no_tools_found(unit: Unit) -> Diagnostic:
    """Return the finding that a unit has no tools."""
    return _of_source(module.source_without_tools, f"there's no tool in {unit.words}", unit.path)


def unavailable(words: str, path: str, line: int = 1, column: int = 1) -> Diagnostic:
    """Return that a source of tools can't be had, in those words."""
    return _of_source(module.unimportable_source, words, path, line, column)


def _of_source(rule: Rule, words: str, path: str, line: int = 1, column: int = 1) -> Diagnostic:
    (verdict,) = ask((rule,), CodeCase(words))
    return verdict.at(path, line, column, tool=None)


def _place(origin: BaseException | FrameType | None, unit: Unit) -> SourceLocation:
    if isinstance(origin, SyntaxError) and os.path.isfile(origin.filename or ""):
        place = max(origin.lineno or 1, 1), max(origin.offset or 1, 1)
        return SourceLocation(relative_path(str(origin.filename)), *place)
    # by the name, because an entry point's file can be anywhere
    package = unit.module.partition(".")[0]

    def is_own(frame: FrameType) -> bool:
        return str(frame.f_globals.get("__name__")).partition(".")[0] == package

    own = innermost(origin, is_own)
    return SourceLocation(unit.path) if own is None else own._replace(path=relative_path(own.path))
