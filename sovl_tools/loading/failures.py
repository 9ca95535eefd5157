"""From an exception at import to the tool's own line."""

from __future__ import annotations

import contextlib
import os
from types import FrameType

from sovl_tools.loading.checks import module as checks
from sovl_tools.loading.discovery import listed
from sovl_tools.loading.inner import as_written, missing_helper
from sovl_tools.loading.limited import is_from_user
from sovl_tools.loading.whereabouts import innermost
from sovl_tools.model.diagnostic import Position, Rule, Verdict, ask
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.suggestion import did_you_mean

_LONGEST_MESSAGE = 500


def border_verdicts(error: BaseException, folder: ToolFolder) -> list[Verdict]:
    """Return what an exception means, even one whose own code fails when it is looked at."""
    try:
        return import_verdicts(error, folder)
    except BaseException as raised:
        if is_from_user(raised):
            raise
        place = Position(folder.module_name)
        failure = checks.ImportFailure(place, "an exception", "it can't be looked at")
        return ask((checks.import_failed,), failure)


def import_verdicts(error: BaseException, folder: ToolFolder) -> list[Verdict]:
    """Return what an exception that left the tool's import means, at the tool's own line."""
    if isinstance(error, SyntaxError) and _is_own(error.filename, folder):
        return _verdicts(checks.syntax_error, error, _syntax_place(error, folder))
    place = own_place(error, folder)
    if isinstance(error, ModuleNotFoundError):
        sibling = _sibling(error, folder)
        if sibling is not None:
            failure = checks.ImportFailure(place, "", "", sibling)
            return ask((checks.plain_sibling_import,), failure)
    if isinstance(error, ImportError):
        missing = _missing(error, folder)
        if missing is not None:
            return ask((checks.import_failed,), missing._replace(place=place))
    if isinstance(error, Exception):
        return _verdicts(checks.import_failed, error, place)
    return _verdicts(checks.import_exited, error, place)


def _verdicts(rule: Rule, error: BaseException, place: Position) -> list[Verdict]:
    words = _message(error)
    if rule is checks.import_exited:
        words = f": {words}" if words else ""
    return ask((rule,), checks.ImportFailure(place, type(error).__name__, words))


def told(error: BaseException) -> str:
    """Return the type of an exception and what it says, even if saying it fails."""
    return f"{type(error).__name__}: {_message(error)}".removesuffix(": ")


def _message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return str(error.msg)
    try:
        text = as_written(str(error))
    except BaseException as raised:  # the tool's own __str__ is as broken as the tool
        if is_from_user(raised):
            raise
        text = "its message can't be read"
    return text[:_LONGEST_MESSAGE]


def _missing(error: ImportError, folder: ToolFolder) -> checks.ImportFailure | None:
    """Return that a helper is missing, if that is what an import has failed of."""
    path = missing_helper(error)
    if path is None or os.path.lexists(f"{folder.location}/{path}"):
        return None
    with contextlib.suppress(OSError):
        folder = listed(folder)
    helpers = [each for each in folder.files if each.endswith(".py")]
    advice = did_you_mean(path, helpers) or "add it, or import a library without the dot"
    words = f"there is no {path!r} in the tool's folder"
    return checks.ImportFailure(Position(), type(error).__name__, words, advice=advice)


def _sibling(error: ModuleNotFoundError, folder: ToolFolder) -> str | None:
    name = str(error.name or "").partition(".")[0]
    with contextlib.suppress(OSError):
        folder = listed(folder)
    if f"{name}.py" in folder.files and name != folder.name:
        return f"{name}.py"
    return name if name in folder.folders else None


def _is_own(path: str | None, folder: ToolFolder) -> bool:
    return bool(path) and str(path).startswith(f"{folder.location}{os.sep}")


def _relative(path: str, folder: ToolFolder) -> str:
    return path[len(folder.location) + 1 :]


def _syntax_place(error: SyntaxError, folder: ToolFolder) -> Position:
    path = _relative(str(error.filename), folder)
    return Position(path, max(error.lineno or 1, 1), max(error.offset or 1, 1))


def own_place(origin: BaseException | FrameType | None, folder: ToolFolder) -> Position:
    """Return the innermost line of the tool's own files, of an exception or a frame that runs."""
    place = innermost(origin, lambda frame: _is_own(frame.f_code.co_filename, folder))
    if place is None:
        return Position(folder.module_name)
    return Position(_relative(place.path, folder), place.line, place.column)
