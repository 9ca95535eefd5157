"""What all code of a process stands on: no tool may take it from the others as it is imported.

Four things are looked at: the recursion limit, the builtins, ``sys.path`` and ``sys.modules``. What
nobody can do without is put back. Whatever else a module changes there is its author's business:
libraries add paths, raise the limit and put functions of their own in the place of builtins.
"""

from __future__ import annotations

import builtins
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_LEAST_LIMIT = 1000
"""The recursion limit that Python starts with; who lowers a higher one may have raised it."""

_LIBRARY = os.path.dirname(os.__file__)
_NEEDED = sys.stdlib_module_names | {__name__.partition(".")[0]}
_BUILTINS = vars(builtins)
_SYS = vars(sys)
_is_callable = callable
_OF_PYTHON = frozenset(
    name
    for name, value in _BUILTINS.items()
    if getattr(value, "__module__", "") in {"builtins", "_io"} and name != "_"
)
"""The names of builtins that others rely on: what a session or a program adds comes and goes."""


class DamageError(Exception):
    """A module has taken away what other code can't do without; it was put back."""


class _Seen(threading.local):
    modules: dict[str, ModuleType] | None = None


_SEEN = _Seen()


@contextmanager
def remembering() -> Iterator[None]:
    """Know in this thread which modules and builtins there are, so that they can be put back."""
    _SEEN.modules = sys.modules.copy()
    _WHOLE.remember()
    try:
        yield
    finally:
        _SEEN.modules = None


class intact:  # noqa: N801 - a context manager reads as a word of a sentence
    """A context that foreign code leaves as it found it, where others would suffer.

    Raises:
        DamageError: it was not left so, but nothing else was raised.
    """

    __slots__ = ("_limit", "_modules", "_number", "_path", "_paths")

    def __enter__(self) -> None:
        """Look at how things are."""
        self._limit = sys.getrecursionlimit()
        self._path = sys.path
        self._paths = [*sys.path]
        self._modules = sys.modules
        self._number = len(sys.modules)

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Look at how things are now: until it is known, no name of a builtin is used."""
        if (
            [*_BUILTINS.values()] == _WHOLE.values
            and sys.getrecursionlimit() >= self._limit
            and _SYS.get("path") is self._path
            and self._paths == self._path
            and sys.modules is self._modules
            and len(self._modules) >= self._number
        ):
            return
        damages = [*self._damages()]
        if damages and error is None:
            raise DamageError("; ".join(damages))

    def _damages(self) -> Iterator[str]:
        """Put back what is missing, and tell what it is."""
        limit = sys.getrecursionlimit()
        if limit < self._limit and limit < _LEAST_LIMIT:
            sys.setrecursionlimit(self._limit)
            yield f"it lowers the recursion limit to {limit}"
        for name in _WHOLE.repaired():
            yield f"it takes away the builtin {name!r}"
        if self._has_no_library():
            self._put_back_paths()
            yield "it takes the standard library out of sys.path"
        lost = self._put_back_modules()
        if lost:
            yield f"it takes {lost} modules out of sys.modules"

    def _has_no_library(self) -> bool:
        path = _SYS.get("path")
        return _LIBRARY in self._paths and not (isinstance(path, list) and _LIBRARY in path)

    def _put_back_paths(self) -> None:
        path = _SYS.get("path")
        added = path if isinstance(path, list) else []
        self._path[:] = [*self._paths, *(each for each in added if each not in self._paths)]
        sys.path = self._path

    def _put_back_modules(self) -> int:
        """Put modules back if one of those is missing that are not the tools'; return how many."""
        sys.modules = self._modules
        seen = _SEEN.modules or {}
        missing = {name: seen[name] for name in seen.keys() - self._modules.keys()}
        if not any(name.partition(".")[0] in _NEEDED for name in missing):
            return 0
        self._modules.update(missing)
        return len(missing)


class _Builtins:
    """The builtins as they were when they were last in order."""

    def __init__(self) -> None:
        self._objects: dict[str, object] = {}
        self.values: list[object] = []
        self.remember()

    def remember(self) -> None:
        """Take them as they are for being in order."""
        self._objects = _BUILTINS.copy()
        self.values = [*_BUILTINS.values()]

    def repaired(self) -> list[str]:
        """Put back what could be called and can't be called any more; return the names."""
        broken = [
            name
            for name, value in self._objects.items()
            if name in _OF_PYTHON and not _is_callable(_BUILTINS.get(name)) and _is_callable(value)
        ]
        for name in broken:
            _BUILTINS[name] = self._objects[name]
        self.remember()
        return broken


_WHOLE = _Builtins()
