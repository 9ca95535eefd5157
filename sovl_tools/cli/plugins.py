"""Directories of modules with tools, looked at in a child process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from sovl_tools.loading.child import candidate_of, document_of
from sovl_tools.loading.import_errors import unavailable
from sovl_tools.loading.isolation import ending, interpreter
from sovl_tools.loading.location import relative_path
from sovl_tools.loading.origins import Modules
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.errors import SovlToolsError, TimeLimitError

_START_TIME = 30.0
_COMMAND = (
    "import json, sys\n"
    "request = json.loads(sys.stdin.readline())\n"
    "sys.path[:] = request['path']\n"
    "from sovl_tools.cli.plugins import serve\n"
    "serve(request)\n"
)
"""What the child runs: it takes its parent's module path before it imports anything."""


class Found(NamedTuple):
    """What was found in directories of modules, the definitions apart.

    Attributes:
        candidates: of the tools, in the order of their precedence.
        diagnostics: what is wrong with the directories and their modules themselves.
    """

    candidates: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def checked(paths: Iterable[str], limit: float, *, start: float = _START_TIME) -> Found:
    """Look for tools in directories of modules, in a child process for each.

    Args:
        paths: of the directories.
        limit: how long importing one module may take, in seconds.
        start: how much longer a child may take, in seconds.
    """
    found = [_checked(os.path.abspath(path), limit, start) for path in paths]
    return Found(
        tuple(each for one in found for each in one.candidates),
        tuple(each for one in found for each in one.diagnostics),
    )


def missing(paths: Iterable[str]) -> Found:
    """Return which directories of modules are not there, without running any module."""
    absent = [path for path in paths if not os.path.isdir(path)]
    words = "the directory can't be listed: it is not there"
    return Found((), tuple(unavailable(words, path) for path in absent))


def _checked(path: str, limit: float, start: float) -> Found:
    most = start + limit * _count(path)
    request = json.dumps({"path": sys.path, "plugins": path, "limit": limit})
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, our own command
            [interpreter(), "-P", "-c", _COMMAND],
            input=f"{request}\n".encode(),
            stdout=subprocess.PIPE,
            timeout=most,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _broken(path, f"importing its modules {TimeLimitError(most)}")
    except OSError as error:
        raise SovlToolsError(f"the child process did not start: {error}") from error
    try:
        return _decoded(done.stdout)
    except (ValueError, TypeError, KeyError):
        return _broken(path, f"importing its modules ended the process: {ending(done.returncode)}")


def _count(path: str) -> int:
    try:
        return sum(name.endswith(".py") for name in os.listdir(path))
    except OSError:
        return 0


def _broken(path: str, words: str) -> Found:
    return Found((), (unavailable(words, relative_path(path)),))


def serve(request: dict[str, Any]) -> None:
    """Look for tools and write what was found to what was the standard output.

    The standard output itself leads to the error output from here on, because it belongs to
    whatever the modules print. Does not return: threads that they started are not waited for.
    """
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sight = Modules(request["plugins"], request["limit"]).look()
    found = [[*map(document_of, sight.candidates)], sight.diagnostics]
    reports.write(json.dumps(found).encode())
    reports.flush()
    sys.stderr.flush()
    os._exit(0)  # a module may have started threads that never end


def _decoded(text: bytes) -> Found:
    """Return what a child has found.

    Raises:
        ValueError, TypeError, KeyError: the child did not come to its end.
    """
    candidates, diagnostics = json.loads(text)
    return Found(
        tuple(map(candidate_of, candidates)), tuple(Diagnostic(*each) for each in diagnostics)
    )
