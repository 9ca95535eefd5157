"""Procedures as tools: their inputs are the parameters."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from sovl_tools.loading.definitions import checked, rejected
from sovl_tools.loading.import_errors import Unit, no_tools_found, unavailable
from sovl_tools.loading.location import relative_path
from sovl_tools.loading.origins import MODULES, Directory, OriginLoad
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.context import ToolContext
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolError
from sovl_tools.procedures.errors import InputError, ProcedureError, StepError
from sovl_tools.procedures.manager import ProcedureManager
from sovl_tools.procedures.parse.files import SUFFIXES, files
from sovl_tools.procedures.parse.library import Library, ProcedureDocument, read_found_procedure
from sovl_tools.procedures.procedure import Procedure


class Procedures(NamedTuple):
    """A directory of procedures (an origin of tools).

    What they need of other tools can only be told when they are called.
    """

    path: str

    @property
    def level(self) -> int:
        """That of directories of modules."""
        return MODULES

    @property
    def directory(self) -> Directory:
        """The directory."""
        return Directory(self.path, SUFFIXES)

    def look(self) -> OriginLoad:
        """Read every file anew; one whose text is the same stays the tool that it is."""
        try:
            sources = [read_found_procedure(each) for each in files(self.path)]
        except (OSError, ValueError) as error:  # a ValueError: no file can have such a path
            reason = getattr(error, "strerror", None) or error
            words = f"the procedures can't be read: {reason}"
            return OriginLoad.of_problem(unavailable(words, relative_path(self.path)))
        if not sources:
            unit = Unit("the directory of procedures", relative_path(self.path), "")
            return OriginLoad.of_problem(no_tools_found(unit))
        return OriginLoad({each.path: (_candidate(each),) for each in sources})


class _Offered:
    """A procedure that can be called as a tool."""

    def __init__(self, source: ProcedureDocument) -> None:
        self.text = source.sound().text
        self._source = source

    async def run(self, /, _context: ToolContext, **inputs: Any) -> JSON:
        """Run the procedure with the tools of whoever calls it."""
        manager = ProcedureManager(_context.registry, _context.tooler)
        try:
            return await manager.run(self._source, inputs)
        except (InputError, ProcedureError, StepError) as error:
            raise ToolError(str(error)) from error


_OFFERED: dict[str, _Offered] = {}
"""By path, so that a look at a file that has not changed finds the same tool again."""


def _candidate(source: ProcedureDocument) -> Candidate:
    checks = Library().checked(source, None)
    found = [each._replace(path=relative_path(each.path)) for each in checks]
    errors = [each for each in found if each.severity == "error"]
    if errors or source.procedure is None:
        name = os.path.splitext(os.path.basename(source.path))[0]
        return rejected(
            name, source.path, [*errors, *(each for each in found if each not in errors)]
        )
    candidate = checked(_definition(source, source.procedure), source.path)
    own = (
        each._replace(path=relative_path(source.path), line=1, column=1)
        for each in candidate.diagnostics
    )
    return candidate._replace(
        path=relative_path(source.path), diagnostics=(*found, *own), line=1, column=1
    )


def _definition(source: ProcedureDocument, procedure: Procedure) -> ToolDefinition:
    known = _OFFERED.get(source.path)
    # The same function as before, or each look would seem a change of the tool.
    if known is None or known.text != procedure.text:
        known = _OFFERED[source.path] = _Offered(source)
    return ToolDefinition(
        procedure.name,
        procedure.description,
        {"properties": {}, **procedure.inputs},
        known.run,
        tags=procedure.tags,
        source=relative_path(source.path),
    )
