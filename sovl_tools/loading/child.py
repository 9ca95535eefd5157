"""The process that ``validate`` imports tools in. It may die; its parent goes on."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import faulthandler
import json
import os
import signal
import sys
from collections.abc import Iterator
from io import FileIO, TextIOWrapper
from operator import is_
from typing import Any, NamedTuple

from sovl_tools.loading.load import load_folders
from sovl_tools.loading.modules import guard_imports
from sovl_tools.loading.rules.module import import_stalled
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.document import JSON, is_record, parse_json
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.threads import after_fork

_LEAST_LIMIT = 1000
"""The recursion limit that Python starts with; who lowers a higher one may have raised it."""

_LIBRARY = os.path.dirname(os.__file__)
_KEPT_MODULES = sys.stdlib_module_names | {__name__.partition(".")[0]}
_BUILTINS = vars(builtins)
_SYS = vars(sys)
# modules are suspected of taking builtins away, and this is one
_is_callable = callable
_all, _len, _map = all, len, map
_OF_PYTHON = frozenset(
    name
    for name, value in _BUILTINS.items()
    if getattr(value, "__module__", "") in {"builtins", "_io"} and name != "_"
)
"""The names of builtins that others rely on: what a session or a program adds comes and goes."""


def _is_same(names: dict[str, Any]) -> bool:
    """Tell whether builtins are the same objects; none is compared, for that may raise."""
    pairs = _map(is_, names.values(), _BUILTINS.values())
    return _len(names) == _len(_BUILTINS) and _all(pairs)


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
        # as a whole first: a load of thousands of tools asks this of each
        for name, value in () if _is_same(self._builtins) else self._builtins.items():
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
        # a module may have put a dictionary of its own in the place of this one
        sys.modules = self._modules
        if self._known.keys() <= self._modules.keys():
            return
        missing = self._known.keys() - self._modules.keys()
        if any(name.partition(".")[0] in _KEPT_MODULES for name in missing):
            self._modules.update((name, self._known[name]) for name in missing)
            yield f"it takes {len(missing)} modules out of sys.modules"


def command_of(module: str) -> str:
    """Return what a child runs: it takes its parent's module path before it imports our code.

    Then it calls ``serve`` of the module with the first line of its input.
    """
    return (
        "import json, sys\n"
        "request = json.loads(sys.stdin.readline())\n"
        "sys.path[:] = request['path']\n"
        f"from {module} import serve\n"
        "serve(request)\n"
    )


def request(folders: list[ToolFolder], settings: Settings) -> dict[str, JSON]:
    """Return what tells a child what to load."""
    names = [
        {
            "name": folder.name,
            "path": folder.path,
            "location": folder.location,
            "drafts": [(name, data.decode("latin-1")) for name, data in folder.drafts],
        }
        for folder in folders
    ]
    return {"path": sys.path, "folders": names, "settings": settings}


def report_pipe() -> FileIO:
    """Prepare a child that calls tools; return where its answers go, unbuffered.

    That is what was the standard output. The standard output itself leads to the error output from
    here on, because it belongs to whatever the tools print.
    """
    # the kernel ends this process with its parent, whatever it does
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    reports = FileIO(os.dup(1), "w")
    os.dup2(2, 1)
    # by lines: this process ends by ``os._exit``, or by whatever a tool does, and flushes nothing
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no user is there: a tool has sent it

    @after_fork  # a process that a tool forks is not the one that reports
    def close() -> None:
        with contextlib.suppress(OSError):
            reports.close()

    return reports


def serve(document: dict[str, Any]) -> None:
    """Say that it has started, load the folders, and write one line for each.

    After a module that damages the interpreter, or whose import was given up and may still go on,
    another process has to go on with the others.

    Does not return: threads that tools started are not waited for.
    """
    reports = report_pipe()
    interpreter = Interpreter()
    guard_imports(interpreter)

    def report(event: ToolFolder | Candidate) -> None:
        if isinstance(event, Candidate):
            # the thread of an import that was given up may go on, and recurse or fill memory
            is_stalled = any(each.code == import_stalled.code for each in event.diagnostics)
            is_last = interpreter.is_damaged or is_stalled
            found = {"candidate": event.to_json(), "is_last": is_last}
            try:
                reports.write(_line({"pid": os.getpid(), **found}))
            except Exception:  # noqa: BLE001 - a module has taken the pipe or a library away
                os._exit(SPEECHLESS)
            if is_last:
                end()

    def end() -> None:
        sys.stderr.flush()
        os._exit(0)

    reports.write(_line({"pid": os.getpid()}))

    folders = []
    for each in document["folders"]:
        # any byte is a character of Latin-1, and JSON has no bytes
        each["drafts"] = tuple((name, text.encode("latin-1")) for name, text in each["drafts"])
        folders.append(ToolFolder(**each))
    load_folders(folders, Settings(*document["settings"]), observe=report)
    end()


SPEECHLESS = 70
"""The exit code of a child that can't report any more: EX_SOFTWARE of sysexits."""


_PR_SET_PDEATHSIG = 1


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode() + b"\n"


class Report(NamedTuple):
    """What one line of a child says.

    Attributes:
        pid: the process that wrote it.
        candidate: what became of a folder, without its definition; None if the child has started.
        is_last: whether the child ends, because a module has damaged or still keeps it.
    """

    pid: int
    candidate: Candidate | None
    is_last: bool = False


def report_of(line: bytes) -> Report:
    """Return what a child reported.

    Raises:
        ValueError: something else wrote the line.
    """
    document = parse_json(line)
    if is_record(document, _STARTED):
        return Report(document["pid"], None)
    if not is_record(document, _REPORT):
        raise ValueError("it is no report")
    candidate = Candidate.from_json(document["candidate"])
    return Report(document["pid"], candidate, document["is_last"])


_STARTED: dict[str, tuple[type, ...]] = {"pid": (int,)}
_REPORT = {
    **_STARTED,
    "candidate": (dict,),
    "is_last": (bool,),
}
