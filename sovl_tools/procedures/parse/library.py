"""Procedures by name: those that somebody has added, and those in files beside one that runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from sovl_tools.model.catalog import Catalog
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.model.suggestion import nearest
from sovl_tools.procedures.errors import ProcedureError, ProcedureNotFoundError
from sovl_tools.procedures.model import Procedure
from sovl_tools.procedures.parse.document import Written, checked, told, written
from sovl_tools.procedures.parse.files import SUFFIXES, file_beside, files

Named: TypeAlias = str | os.PathLike[str] | Mapping[str, JSON] | Written
"""A procedure: its file's path, a dictionary, the name of one that was added, or itself."""


class Family(NamedTuple):
    """A procedure and those that it runs, directly or not.

    Attributes:
        first: the procedure.
        others: by the path of the one that runs them, and by name.
    """

    first: Procedure
    others: Mapping[tuple[str, str], Procedure]

    def other(self, asking: Procedure, name: str) -> Procedure:
        """Return the procedure that another one runs by a name."""
        return self.others[asking.source, name]

    @property
    def members(self) -> tuple[Procedure, ...]:
        """All procedures, each once."""
        every = {id(each): each for each in (self.first, *self.others.values())}
        return tuple(every.values())


class Library:
    """Finds procedures and says what is wrong with them."""

    def __init__(self) -> None:
        self._added: dict[str, Written] = {}

    @property
    def procedures(self) -> dict[str, Procedure]:
        """Those that were added, by name."""
        found = {name: each.procedure for name, each in self._added.items()}
        return {name: each for name, each in found.items() if each is not None}

    def add(self, source: Named) -> Procedure:
        """Add a procedure; return it.

        Raises:
            ProcedureError: it can't be read, or does not fit the schema.
            OSError: there is no such file.
        """
        found = source if isinstance(source, Written) else written(source)
        procedure = found.sound()
        self._added[procedure.name] = found
        return procedure

    def add_directory(self, path: str | os.PathLike[str]) -> tuple[Diagnostic, ...]:
        """Add the procedures of a directory; return what is wrong with those that can't be.

        Raises:
            OSError: there is no such directory.
        """
        wrong: list[Diagnostic] = []
        for file in files(path):
            try:
                self.add(told(file))
            except ProcedureError as error:
                wrong += error.diagnostics
        return tuple(wrong)

    def find(self, source: Named) -> Written:
        """Return a procedure.

        Raises:
            ProcedureNotFoundError: none of that name was added.
            OSError: there is no such file.
        """
        if isinstance(source, Written):
            return source
        if not isinstance(source, str):
            return written(source)
        if source in self._added:
            return self._added[source]
        if not source.endswith(SUFFIXES) and not os.path.exists(source):
            raise ProcedureNotFoundError(source, nearest(source, self._added))
        return written(source)

    def checked(self, first: Written, catalog: Catalog | None) -> tuple[Diagnostic, ...]:
        """Return what is wrong with a procedure, but not with those that it runs."""
        return checked(first, catalog, self._others(first))

    def family(self, first: Written, catalog: Catalog) -> Family:
        """Return a procedure with all that it runs, and what those run in turn.

        Raises:
            ProcedureError: one of them is unsound.
        """
        related = self._related(first)
        every = {id(each): each for each in (first, *related.values())}
        found = [each for member in every.values() for each in self.checked(member, catalog)]
        errors = [each for each in found if each.severity == "error"]
        if errors:
            raise ProcedureError(errors)
        return Family(first.sound(), {key: each.sound() for key, each in related.items()})

    def _related(self, first: Written) -> dict[tuple[str, str], Written]:
        """Return the procedures that are run, by the path of the one that does, and the name."""
        found: dict[tuple[str, str], Written] = {}
        pending, reading = [first], cache(told)
        while pending:
            asking = pending.pop()
            for name in asking.runs:
                place = None if (asking.path, name) in found else self._place(asking, name)
                if place is not None:
                    other = reading(place) if isinstance(place, str) else place
                    found[asking.path, name] = other
                    pending.append(other)
        return found

    def _others(self, asking: Written) -> Callable[[str], Procedure | None]:
        """Return what finds procedures as the one that asks would."""

        @cache
        def other(name: str) -> Procedure | None:
            place = self._place(asking, name)
            found = told(place) if isinstance(place, str) else place
            return None if found is None else found.procedure

        return other

    def _place(self, asking: Written, name: str) -> Written | str | None:
        """Return a procedure that was added, or the path of one beside that which asks."""
        if name in self._added:
            return self._added[name]
        return file_beside(asking.path, name) if asking.path else None
