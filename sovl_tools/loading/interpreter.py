"""What all code of a process relies on: the child of ``validate`` sees if a module damages it.

In other processes nobody looks: what a module does to the interpreter there stays done.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterator

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
    """A module takes away what other code can't do without."""


class Interpreter:
    """A context in which a module is imported, and which sees what that takes away.

    It is put back, so that the process can still tell of it, and should do nothing else after that.

    Attributes:
        is_damaged: whether any module has taken something away.
    """

    def __init__(self) -> None:
        self.is_damaged = False

    def __enter__(self) -> None:
        """Look at how things are."""
        self._limit = sys.getrecursionlimit()
        self._paths, self._path = sys.path, sys.path.copy()
        self._modules, self._known = sys.modules, sys.modules.copy()
        self._builtins = _BUILTINS.copy()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Look at how things are now.

        Raises:
            DamageError: something was taken away, and nothing else was raised.
        """
        damages = [*self._damages()]
        self.is_damaged = self.is_damaged or damages != []
        if damages and error is None:
            raise DamageError("; ".join(damages))

    def _damages(self) -> Iterator[str]:
        """Put back what is missing, the builtins first, and tell what it is."""
        for name, value in self._builtins.items():
            is_needed = name in _OF_PYTHON and _is_callable(value)
            if is_needed and not _is_callable(_BUILTINS.get(name)):
                _BUILTINS[name] = value
                yield f"it takes away the builtin {name!r}"
        limit = sys.getrecursionlimit()
        if limit < self._limit and limit < _LEAST_LIMIT:
            sys.setrecursionlimit(self._limit)
            yield f"it lowers the recursion limit to {limit}"
        path = _SYS.get("path")
        if _LIBRARY in self._path and not (isinstance(path, list) and _LIBRARY in path):
            self._paths[:] = self._path
            sys.path = self._paths
            yield "it takes the standard library out of sys.path"
        sys.modules = self._modules
        missing = self._known.keys() - self._modules.keys()
        if any(name.partition(".")[0] in _NEEDED for name in missing):
            self._modules.update((name, self._known[name]) for name in missing)
            yield f"it takes {len(missing)} modules out of sys.modules"
