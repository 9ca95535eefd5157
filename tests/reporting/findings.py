"""Diagnostics and outcomes to be shown."""

from __future__ import annotations

from typing import Any

from sovl_tools import Diagnostic
from sovl_tools.model.catalog import Candidate, LoadReport, Status
from sovl_tools.reporting.outcome import Outcome

WRONG = Diagnostic("ST201", "error", "a comma is missing", None, "echo", "tools/echo/x.json", 4, 3)
ODD = Diagnostic(
    "ST202",
    "warning",
    "'timout' isn't a key",
    "did you mean 'timeout'?",
    "echo",
    "tools/echo",
    1,
    1,
)


def diagnostic(**fields: Any) -> Diagnostic:
    return WRONG._replace(**fields)


def folder(name: str, status: Status) -> Candidate:
    return Candidate(name, f"tools/{name}", f"/absent/{name}", status)


def outcome(*found: Diagnostic, folders: tuple[Candidate, ...] = (), **keys: Any) -> Outcome:
    return Outcome(LoadReport(folders, found), **keys)
