"""What a tool's folder looks like: enough of each file to tell whether it has changed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from sovl_tools.watching.noise import is_noise

MAX_DEPTH = 8
"""Levels of folders below a tool's own that are looked into."""

MAX_ENTRIES = 2_000
"""Files and folders that are looked at in all: a folder that holds a data lake stops nobody.

The tool's own manifest and module are looked at even if they come later.
"""


COARSE_TICK = 2_000_000_000
"""Nanoseconds between which the coarsest file systems do not tell two moments apart."""


class Stamp(NamedTuple):
    """What changes with a file: two times in nanoseconds, its bytes, the number of its inode.

    ``changed`` moves also where the time of modification is kept, as by ``cp -p`` or a rename.
    """

    modified: int
    changed: int
    size: int
    inode: int

    @property
    def latest(self) -> int:
        """The later one of both times."""
        return max(self.modified, self.changed)


class Survey(NamedTuple):
    """What a folder looked like at one moment.

    Attributes:
        stamps: of every file that matters, by its path relative to the folder, with slashes.
        links: where symbolic links lead to, a real absolute path, be anything there or not; by
            relative path, "" for the folder itself.
    """

    stamps: dict[str, Stamp]
    links: dict[str, str]


class _Folder(NamedTuple):
    """A folder to look into; what is smaller comes first.

    ``prefix`` is its relative path and a slash, "" for the tool's folder.
    """

    is_link: bool
    level: int
    prefix: str


def survey(location: str) -> Survey:
    """Look at a folder and below it, noise left out.

    Links are followed. Each real folder is visited once: under its own path if it is one of those
    below, under a link's otherwise. What can't be listed or read is left out; nothing is raised.
    """
    return _Walk(location).survey()


class _Walk:
    __slots__ = ("_folders", "_left", "_links", "_location", "_stamps", "_visited")

    def __init__(self, location: str) -> None:
        self._location = location
        self._folders = [_Folder(is_link=False, level=0, prefix="")]
        self._visited: set[tuple[int, int]] = set()
        self._left = MAX_ENTRIES
        self._stamps: dict[str, Stamp] = {}
        self._links: dict[str, str] = {}

    def survey(self) -> Survey:
        if os.path.islink(self._location):
            self._note_link("", self._location)
        while self._folders and self._left:
            self._look_into(heappop(self._folders))
        if not self._left:
            self._look_at_own()
        return Survey(self._stamps, self._links)

    def _look_into(self, folder: _Folder) -> None:
        path = f"{self._location}/{folder.prefix}"
        if not self._is_first_visit(path):
            return
        for entry in _listed(path):
            with contextlib.suppress(OSError):
                self._look_at(entry, folder)
            self._left -= 1
            if not self._left:
                return

    def _is_first_visit(self, path: str) -> bool:
        try:
            status = os.stat(path)
        except OSError:
            return False
        identity = status.st_dev, status.st_ino
        is_first = identity not in self._visited
        self._visited.add(identity)
        return is_first

    def _look_at(self, entry: os.DirEntry[str], folder: _Folder) -> None:
        path = folder.prefix + entry.name
        is_link = entry.is_symlink()
        if is_link:
            self._note_link(path, entry.path)
        if not entry.is_dir():
            self._stamps[path] = _stamp(entry.stat())
        elif folder.level < MAX_DEPTH:
            heappush(self._folders, _Folder(is_link, folder.level + 1, f"{path}/"))

    def _note_link(self, path: str, link: str) -> None:
        with contextlib.suppress(OSError):
            self._links[path] = os.path.realpath(link)

    def _look_at_own(self) -> None:
        """Look at the files without which there is no tool."""
        name = os.path.basename(os.path.abspath(self._location))
        for path in (f"{name}.json", f"{name}.py"):
            place = f"{self._location}/{path}"
            if os.path.islink(place):
                self._note_link(path, place)
            with contextlib.suppress(OSError):
                self._stamps[path] = _stamp(os.stat(place))


def _listed(path: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not is_noise(entry.name):
                    yield entry
    except OSError:
        return


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
