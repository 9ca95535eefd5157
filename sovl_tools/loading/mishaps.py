"""What is wrong with a whole source of tools, and the line of its code that is to blame."""

from __future__ import annotations

import os
from types import FrameType
from typing import NamedTuple

from sovl_tools.loading.checks import code
from sovl_tools.loading.checks.code import CodeCase
from sovl_tools.loading.failures import told
from sovl_tools.loading.whereabouts import Whereabouts, innermost, shown
from sovl_tools.model.diagnostic import Diagnostic, Rule


class Unit(NamedTuple):
    """Something that is imported in the search for tools.

    Attributes:
        words: what it is, such as ``"the entry point 'weather'"``.
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


def failed(error: BaseException, unit: Unit) -> Diagnostic:
    """Return that a unit can't be imported, at the last line of its own code that ran."""
    words = f"{unit.words} can't be imported: {told(error)}"
    return mishap(code.unavailable_source, words, *_place(error, unit))


def overdue(frame: FrameType | None, unit: Unit, limit: float) -> Diagnostic:
    """Return that the import of a unit had no end, at the line of its own code where it was."""
    words = f"{unit.words} can't be imported: it was not done after {limit:g} s"
    return mishap(code.unavailable_source, words, *_place(frame, unit))


def empty(unit: Unit) -> Diagnostic:
    """Return that there is no tool in a unit."""
    return mishap(code.nothing_found, f"there is no tool in {unit.words}", unit.path)


def mishap(rule: Rule, words: str, path: str, line: int = 1, column: int = 1) -> Diagnostic:
    """Return what a rule says, in those words, of something that is no single tool."""
    (found,) = rule.check(CodeCase(words))
    return Diagnostic(rule.code, rule.severity, found.message, found.help, None, path, line, column)


def _place(origin: BaseException | FrameType | None, unit: Unit) -> Whereabouts:
    if isinstance(origin, SyntaxError) and os.path.isfile(origin.filename or ""):
        place = max(origin.lineno or 1, 1), max(origin.offset or 1, 1)
        return Whereabouts(shown(str(origin.filename)), *place)
    own = innermost(origin, lambda frame: _is_own(frame, unit))
    return Whereabouts(unit.path) if own is None else own._replace(path=shown(own.path))


def _is_own(frame: FrameType, unit: Unit) -> bool:
    module = str(frame.f_globals.get("__name__"))
    return module.partition(".")[0] == unit.module.partition(".")[0]
