"""The files below a path at one time, which show whether one of them changed."""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from stat import S_ISDIR
from typing import NamedTuple

from sovl_tools.loading.sources import Stamp, stamp_of

MAX_ENTRIES = 2_000
"""The number of files and folders that are scanned, so that a data lake can't block the rest."""

_ENDINGS = r"py[co]|bak|orig|rej|sw[nopx]|kate-swp|tmp|vsctmp|part|crdownload"
"""Bytecode, backups, swap files, half-written files."""

_NOISE = re.compile(
    r"\..*|__pycache__|node_modules|4913|~\$.*|#.*#|.*~|.*___jb_(?:tmp|old)___|"
    rf".*\.(?i:{_ENDINGS})",
    re.DOTALL,
)


def is_noise(name: str) -> bool:
    """Return whether a file name is a cache's, or an editor's temporary file's.

    Ignoring too much hides an edit, ignoring too little costs a scan of a folder. So a name that a
    user could choose isn't noise. (vim creates ``4913`` to find out whether it can write.)
    """
    return _NOISE.fullmatch(name) is not None


class Files(NamedTuple):
    """The files at or below a path at one time.

    Attributes:
        stamps: what changes with the files, by their absolute paths.
        links: the absolute paths of symbolic links.
    """

    stamps: Mapping[str, Stamp]
    links: frozenset[str]

    def changed(self, now: Files) -> set[str]:
        """Return the paths of files that were changed, added or deleted."""
        return {path for path, _ in self.stamps.items() ^ now.stamps.items()}


def files_of_tool(location: str, shared: Iterable[Files]) -> Files:
    """Scan a tool's folder; ``shared`` are the files of the modules next to it."""
    every = [files_below(location), *shared]
    stamps = {path: stamp for each in every for path, stamp in each.stamps.items()}
    return Files(stamps, frozenset().union(*(each.links for each in every)))


def files_below(location: str, suffixes: tuple[str, ...] = ("",)) -> Files:
    """Scan a folder and its subfolders, without noise, or a single file.

    Links are followed. Files and folders that can't be read are skipped.
    """
    stamps: dict[str, Stamp] = {}
    links: set[str] = set()
    for path in islice(_paths_below(location), MAX_ENTRIES):
        with contextlib.suppress(OSError, ValueError):  # deleted, a broken link, or a path with NUL
            if os.path.islink(path):
                links.add(path)
            status = os.stat(path)
            if not S_ISDIR(status.st_mode) and path.endswith(suffixes):
                stamps[path] = stamp_of(status)
    return Files(stamps, frozenset(links))


def _paths_below(location: str) -> Iterator[str]:
    """Yield a path, and the paths of files and folders below it."""
    yield location
    visited, folders = set[tuple[int, int]](), deque([location])
    while folders:
        folder = folders.popleft()
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(folder)
            identity = status.st_dev, status.st_ino
            if identity in visited:  # a link can lead back to a folder above it
                continue
            visited.add(identity)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not is_noise(entry.name):
                        yield entry.path
                        if entry.is_dir():
                            folders.append(entry.path)
