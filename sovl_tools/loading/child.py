"""The process that imports tools for ``validate``. If it dies, its parent continues."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import json
import os
import signal
import sys
from io import FileIO, TextIOWrapper
from typing import Any

from sovl_tools.loading.load import load_folders
from sovl_tools.loading.modules import Generation
from sovl_tools.loading.rules.module import import_stalled
from sovl_tools.loading.sources import read_folder
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.threads import after_fork

READY = b"ready\n"
"""The first line that a child writes."""

_PR_SET_PDEATHSIG = 1


def report_pipe() -> FileIO:
    """Prepare a child that runs tools; return the unbuffered pipe for its answers.

    The pipe is the standard output of the process. From here on, file descriptor 1 is the error
    output, where the tools print.
    """
    # the kernel ends this process with its parent
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    reports = FileIO(os.dup(1), "w")
    os.dup2(2, 1)
    # by lines: this process ends by ``os._exit``, which doesn't flush
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no user is there: a tool has sent it
    Generation.keeps_compiled = False

    @after_fork  # a process that a tool forks must not report
    def close() -> None:
        with contextlib.suppress(OSError):
            reports.close()

    return reports


def serve(request: dict[str, Any]) -> None:
    """Load the folders, and write a line with the candidate of each.

    Ends after an import that was abandoned: its thread may continue, recurse or fill memory.
    Doesn't return, so that threads that tools started aren't waited for.
    """
    reports = report_pipe()
    reports.write(READY)

    def report(event: ToolFolder | Candidate) -> None:
        if isinstance(event, Candidate):
            reports.write(json.dumps(event.to_json()).encode() + b"\n")
            if has_stalled(event):
                end()

    def end() -> None:
        sys.stderr.flush()
        os._exit(0)

    settings = Settings(*request["settings"])
    contents = [read_folder(ToolFolder(*each), settings) for each in request["folders"]]
    load_folders(contents, settings, observe=report)
    end()


def has_stalled(candidate: Candidate) -> bool:
    """Return whether the import of a tool took too long."""
    return any(each.code == import_stalled.code for each in candidate.diagnostics)
