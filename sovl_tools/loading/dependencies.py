"""What importing tools reads besides their own folders: modules, data files, directories."""

from __future__ import annotations

import os
import stat
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.machinery import all_suffixes
from importlib.util import source_from_cache
from typing import Any, NamedTuple, Self, TypeAlias

from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON, is_record
from sovl_tools.model.folder import READ_FLAGS

ABSENT = "absent"
"""The state and the stamp of a path where nothing is."""
MAX_READ = 1 << 20
_MAX_PATHS = 5_000
_SPECIAL = ("/proc/", "/sys/", "/dev/")
_INSTALLED = ("site-packages", "dist-packages")
_SEPARATOR = os.sep
_SUFFIXES = tuple(all_suffixes())
_LISTINGS = frozenset({"os.listdir", "os.scandir"})
_WRITING = os.O_WRONLY | os.O_RDWR


# a clock of a file system may be coarser than the one that says when a file is opened
_TICK = 20_000_000

Stamps: TypeAlias = Mapping[str, str]
"""What the file system says of paths, see ``stamp_of``."""


class Loaded(NamedTuple):
    """What became of a folder in a child process.

    Attributes:
        candidate: without its definition.
        opened: what the process has opened for the first time, outside of the folder, each with
            its stamp; None if nobody knows.
    """

    candidate: Candidate
    opened: Stamps | None


class Findings(NamedTuple):
    """What was found in a child process, the definitions of tools apart.

    Attributes:
        candidates: of the tools, in the order of their precedence.
        diagnostics: what is wrong with directories, modules and procedures themselves.
        opened: what the process has opened besides, each with its stamp; None if nobody knows.
    """

    candidates: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    opened: Stamps | None = None

    def to_json(self) -> dict[str, JSON]:
        """Return what ``from_json`` reads."""
        return {
            "candidates": [each.to_json() for each in self.candidates],
            "diagnostics": [each._asdict() for each in self.diagnostics],
            "opened": self.opened,
        }

    @classmethod
    def from_json(cls, document: JSON) -> Self:
        """Return what ``to_json`` was made of.

        Raises:
            ValueError: ``to_json`` makes nothing like this.
        """
        if not is_record(document, _FINDINGS):
            raise ValueError("these are no findings")
        return cls(
            tuple(map(Candidate.from_json, document["candidates"])),
            tuple(map(Diagnostic.from_json, document["diagnostics"])),
            stamps_of(document["opened"]),
        )


_FINDINGS = {"candidates": (list,), "diagnostics": (list,), "opened": (dict, type(None))}


def stamps_of(document: dict[str, JSON] | None) -> Stamps | None:
    """Return paths with their stamps, of JSON.

    Raises:
        ValueError: they are something else.
    """
    if document is None or all(type(each) is str for each in document.values()):
        return document
    raise ValueError("these are no stamps")


class OpenedPaths:
    """Keeps which paths this process opens or lists, from the environment's own files apart.

    It hears of them by an audit hook, which stays for as long as the process does. Nothing that
    happens in the hook reaches who opens the file.
    """

    def __init__(self) -> None:
        self._found: dict[str, str] = {}
        self._taken: set[str] = set()
        self._within: dict[str, str] = {}
        self._is_shared = False
        self._environment = (*_SPECIAL, *(f"{each}{os.sep}" for each in environment()))
        self._own: tuple[str, ...] = ()

    def start(self) -> None:
        """Listen from now on."""
        sys.addaudithook(self._hear)

    def enter(self, *folders: str) -> None:
        """Leave out what is in the folders of what is being loaded.

        Unless some of that is imported under a name by which other tools find it in
        ``sys.modules``: they don't open it again.
        """
        self._own = tuple(f"{each}{os.sep}" for each in folders)
        self._within, self._is_shared = {}, False

    def take(self) -> Stamps | None:
        """Return the paths that nobody has taken yet; None if there are too many to tell.

        Each has its stamp of when it was opened first; none if that is too short after a change.
        """
        if self._is_shared:
            self._found = self._within | self._found
        if len(self._found) >= _MAX_PATHS:
            return None
        found = {path: self._found[path] for path in sorted(self._found.keys() - self._taken)}
        self._taken.update(found)
        return found

    def _hear(
        self,
        event: str,
        arguments: tuple[Any, ...],
        _absolute: Any = os.path.abspath,
        _now: Any = time.time_ns,
    ) -> None:
        # a tool may have taken away whatever is used here, so that no exception has a name
        mode = None
        try:
            if event == "open":
                path, mode, flags = arguments
                is_written = flags & _WRITING if mode is None else mode[:1] in "wax"
            elif event in _LISTINGS:
                path, is_written = arguments[0] or ".", False
            elif event == "import":
                path, is_written = arguments[1], False  # of an extension module; else None
            else:
                return
            if is_written or path is None or type(path) is int or len(self._found) >= _MAX_PATHS:
                return
            location = _absolute(os.fsdecode(path))
            # the tool's own modules are opened by a descriptor, which has no mode; see ``compiled``
            is_shared = event == "import"
            if location.endswith(".pyc"):
                location, is_shared = source_from_cache(location), mode is not None
            if f"{location}{_SEPARATOR}".startswith(self._own):
                found = self._within
                self._is_shared = self._is_shared or is_shared
            elif not f"{location}{_SEPARATOR}".startswith(self._environment):
                found = self._found
            else:
                return
            if location not in found:
                found[location] = ""
                found[location] = stamp_of(location, _now())
        except:  # noqa: E722, S110 - as said
            pass


def environment() -> list[str]:
    """Return the directories of Python's own modules, of distributions and of this package."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    known = _python_paths()
    installed = [each for each in sys.path if each.endswith(_INSTALLED)]
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return list(dict.fromkeys([*(known[name] for name in names), *installed, own]))


def stamp_of(
    path: str, now: int | None = None, _stat: Any = os.stat, _list: Any = os.listdir
) -> str:
    """Return what the file system says of a file: another text once it is changed or replaced.

    It is empty if it has changed so shortly before ``now``, in nanoseconds since 1970, that the
    next change might not be told from it. Of a directory it tells the names in it.
    """
    try:
        status = _stat(path)
        if stat.S_ISDIR(status.st_mode):
            return _named(_list(path))
    except (OSError, ValueError):
        return ABSENT
    written, changed = status.st_mtime_ns, status.st_ctime_ns
    if now is not None and max(written, changed) >= now - _TICK:
        return ""
    return f"{status.st_size} {written} {changed} {status.st_ino}"


def state_of(path: str) -> str:
    """Return what names the content of a file, or the names in a directory."""
    try:
        return _named(os.listdir(path)) if os.path.isdir(path) else file_state(path)
    except (OSError, ValueError):
        return ABSENT


def _named(entries: list[str]) -> str:
    """Return what tells the names in a directory, but for what validate writes for others."""
    names = sorted(each for each in entries if each[0] != "." and each != "__pycache__")
    return _hashed("\0".join(names).encode("utf-8", "surrogateescape"))


def file_state(path: str) -> str:
    """Return what names the content of a file; of a large one its size, times and number.

    Raises:
        OSError: it can't be read, or is no plain file.
    """
    content = read_small(path)
    return stamp_of(path) if content is None else _hashed(content)


def read_small(path: str) -> bytes | None:
    """Return the content of a file; None if it is large.

    Raises:
        OSError: it can't be read, or is no plain file.
    """
    descriptor = os.open(path, READ_FLAGS)
    try:
        size = os.fstat(descriptor).st_size  # room for a megabyte would take longer than the file
        return None if size > MAX_READ else os.read(descriptor, size + 1)
    finally:
        os.close(descriptor)


def modules_in(place: str) -> list[str]:
    """Return the names of what may be imported from a directory of ``sys.path``."""
    try:
        names = os.listdir(place or os.curdir)
    except OSError:
        return []
    return sorted(each for each in names if "." not in each or each.endswith(_SUFFIXES))


def _hashed(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def is_installed(directory: str) -> bool:
    """Tell whether a directory of ``sys.path`` holds distributions or Python's own modules."""
    return directory.endswith(_INSTALLED) or directory in _python_paths().values()


@cache
def _python_paths() -> Mapping[str, str]:
    return sysconfig.get_paths()


def environment_state() -> Iterator[str]:
    """Yield what tells this Python and what is installed from others, without reading files."""
    yield from (sys.version, sys.prefix, *map(str, sys.flags))
    for directory in sys.path:
        if directory.endswith(_INSTALLED):
            yield from _states_in(directory, (".dist-info", ".egg-info", ".egg-link", ".pth"))
    # a version says nothing of what somebody changes here
    pending = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    while pending:
        directory = pending.pop()
        yield from _states_in(directory, (".py", ".json"), pending)


def _states_in(
    directory: str, suffixes: tuple[str, ...], folders: list[str] | None = None
) -> Iterator[str]:
    """Yield when what is in a directory was written; add folders to a list."""
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.name.endswith(suffixes):
                status = entry.stat()
                yield f"{entry.path} {status.st_mtime_ns} {status.st_size}"
            elif folders is not None and "." not in entry.name and entry.is_dir():
                folders.append(entry.path)
