"""Checks in child processes: plugins, and procedures with the tools that they call."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import asdict, replace
from queue import Empty
from typing import Any, NamedTuple

from sovl_tools.cli.output import echo
from sovl_tools.configuration import Configuration, import_path
from sovl_tools.loading.child import report_pipe
from sovl_tools.loading.import_errors import unavailable
from sovl_tools.loading.isolation import Child
from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import TimeLimitError

# for a fresh interpreter on a busy machine, in addition to the time limits of the imports
_START_TIME = 30.0


class Findings(NamedTuple):
    """The results of a child process.

    Attributes:
        candidates: of tools in code, without their definitions.
        diagnostics: the findings in directories, modules and procedures.
    """

    candidates: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def to_json(self) -> dict[str, JSON]:
        """Return the findings as JSON."""
        return {
            "candidates": [each.to_json() for each in self.candidates],
            "diagnostics": [each._asdict() for each in self.diagnostics],
        }

    @classmethod
    def from_json(cls, document: dict[str, JSON]) -> Findings:
        """Return the findings that ``to_json`` was called on."""
        return cls(
            tuple(map(Candidate.from_json, document["candidates"])),
            tuple(Diagnostic(**each) for each in document["diagnostics"]),
        )


def check_plugins(paths: Sequence[str], found: Configuration) -> Findings:
    """Search for tools in directories of modules."""
    settings = replace(found, paths=(), procedures=(), plugins=tuple(paths))
    return _run_child({"configuration": asdict(settings)}, settings, paths[0], "its modules")


def check_procedures_with_tools(
    paths: Sequence[str], found: Configuration, validated: Catalog
) -> Sequence[Diagnostic]:
    """Check procedures of files with the tools that they can call.

    The child that imported the folders' tools has reported only the findings about them, so they
    are loaded again, except for those that failed.
    """
    request = {
        "configuration": asdict(found),
        "procedures": paths,
        # a tool that ended its process or hung must not do that again
        "tools": [each.name for each in validated.candidates if each.status == "loaded"],
        "unavailable": {name: [*reasons] for name, reasons in validated.unavailable.items()},
    }
    return _run_child(request, found, paths[0], "the tools for it").diagnostics


def check_procedures(paths: Sequence[str], catalog: Catalog | None) -> list[Diagnostic]:
    """Return the findings in the procedures of some files.

    Args:
        paths: of the files.
        catalog: the tools; None skips the rules that need them.
    """
    # plugins are checked without procedures
    from sovl_tools.procedures.parse.library import (  # noqa: PLC0415
        check_procedure,
        read_found_procedure,
    )

    return [each for path in paths for each in check_procedure(read_found_procedure(path), catalog)]


def _run_child(request: dict[str, Any], found: Configuration, path: str, what: str) -> Findings:
    """Return the answer of a child process, or a finding at the path if it fails."""
    request["path"] = import_path(found)
    imports = len(request.get("tools", ())) + sum(map(_count_modules, found.plugins))
    most = _START_TIME + found.import_timeout * imports
    child = Child(__name__, echo)
    try:
        child.send(request, is_last=True)
        line = child.line(time.monotonic() + most)
        if line:
            return Findings.from_json(json.loads(line))
        words = f"ended the process: {child.ended_by()}"
    except Empty:
        words = str(TimeLimitError(most))
    finally:
        child.end()
    return Findings((), (unavailable(f"importing {what} {words}", path),))


def _count_modules(path: str) -> int:
    # each can use up its time limit; a number too high only delays the end of a child that hangs
    try:
        return sum(name.endswith(".py") for name in os.listdir(path))
    except OSError:
        return 0


def serve(request: dict[str, Any]) -> None:
    """Check plugins or procedures, and write the findings to the parent.

    Doesn't return, so that threads that modules started aren't waited for.
    """
    reports = report_pipe()
    logging.getLogger("sovl_tools").addHandler(logging.NullHandler())  # the parent tells it all
    from sovl_tools.configured import open_registry  # noqa: PLC0415 - for the child alone

    procedures = request.get("procedures", ())
    with chdir("."):  # a tool can change the directory when it's imported
        registry = open_registry(
            settings=Configuration(**request["configuration"]),
            names=request.get("tools", ()),
            entry_points=bool(procedures),
        )
    # without the candidates' own findings
    found = Findings(registry.catalog.candidates, registry._source_diagnostics)  # noqa: SLF001
    if procedures:
        # the parent knows why the other tools didn't load
        reasons = {**registry.catalog.unavailable, **request["unavailable"]}
        catalog = replace(registry.catalog, unavailable=reasons)
        found = Findings((), tuple(check_procedures(procedures, catalog)))
    reports.write(json.dumps(found.to_json()).encode() + b"\n")
    sys.stderr.flush()
    os._exit(0)  # modules can start threads that never end
