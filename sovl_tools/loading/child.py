"""The process that ``validate`` imports tools in. It may die; its parent goes on."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import signal
import sys
from typing import Any

from sovl_tools.loading.pipeline import Settings
from sovl_tools.loading.supervision import load_folders
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.folder import ToolFolder

COMMAND = (
    "import json, sys\n"
    "request = json.loads(sys.stdin.readline())\n"
    "sys.path[:] = request['path']\n"
    "from sovl_tools.loading.child import serve\n"
    "serve(request)\n"
)
"""What the child runs: it takes its parent's module path before it imports anything."""


def request(folders: list[ToolFolder], settings: Settings) -> bytes:
    """Return the line that tells a child what to load."""
    names = [(folder.name, folder.path, folder.location) for folder in folders]
    document = {"path": sys.path, "limit": settings.limit, "folders": names}
    return json.dumps(document).encode() + b"\n"


def serve(document: dict[str, Any]) -> None:
    """Load the folders and write one line for each to what was the standard output.

    The standard output itself leads to the error output from here on, because it belongs to
    whatever the tools print. Does not return: threads that tools started are not waited for.
    """
    _die_with_parent()
    reports = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    faulthandler.enable()

    def report(event: ToolFolder | Candidate) -> None:
        if isinstance(event, Candidate):
            reports.write(_encoded(event))

    folders = [ToolFolder(*names) for names in document["folders"]]
    load_folders(folders, Settings(limit=document["limit"]), observe=report)
    sys.stderr.flush()
    os._exit(0)


def _die_with_parent() -> None:
    """Let the kernel end this process when its parent ends, even amid an endless loop (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


_PR_SET_PDEATHSIG = 1


def _encoded(candidate: Candidate) -> bytes:
    found = [each._asdict() for each in candidate.diagnostics]
    document = candidate._replace(definition=None)._asdict() | {"diagnostics": found}
    return json.dumps(document).encode() + b"\n"


def decoded(line: bytes) -> Candidate:
    """Return the candidate that a child reported, without its definition.

    Raises:
        ValueError, TypeError, KeyError: something else wrote the line.
    """
    document = json.loads(line)
    found = tuple(Diagnostic(**each) for each in document.pop("diagnostics"))
    lists = {key: tuple(document[key]) for key in ("phrases", "actions", "reasons")}
    return Candidate(**{**document, **lists, "diagnostics": found})
