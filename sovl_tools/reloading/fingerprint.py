"""What folders look like: enough of their files to tell whether one has changed.

Manifest and sources of a tool folder are read and compared, so that a mere touch changes nothing.
Data files that the manifest lists are compared by their stamps: times, size and inode. Other files
may be the tool's own writing and don't count, unless the tool didn't load: then every file counts.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, islice
from stat import S_ISDIR, S_ISLNK
from typing import NamedTuple

from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import Contents, matching, read_folder
from sovl_tools.model.folder import Settings, ToolFolder

MAX_DEPTH = 8
"""Levels of folders below a tool's own that are looked into."""

MAX_ENTRIES = 2_000
"""Files and folders that are looked at in a folder, so that a data lake doesn't stop the others.

The tool's own manifest and module are looked at even if they come later.
"""

_ENDINGS = r"py[co]|bak|orig|rej|sw[nopx]|kate-swp|tmp|vsctmp|part|crdownload"
"""Bytecode, backups, swap files, half-written files."""

_SERIAL = r"(?:\d+|(?=\w*\d)\w{6,})"
_NUMBERED = rf"\.tmp[.\-_]?{_SERIAL}(?:[.\-]{_SERIAL})*"
"""``.tmp.1234``, ``.tmp-1234-17323``, ``.tmp.k3x9aq``; a word after ``.tmp`` is a real ending."""

_SED = r"sed(?![A-Za-z]?[a-z]*\d*$)(?![A-Z]*\d*$)[A-Za-z0-9]{6}"
"""What ``sed -i`` writes to; a word, and a word with a number after it, is a user's file."""

_NOISE = (
    r"\..*|__pycache__|node_modules|4913|~\$.*|#.*#|.*~|.*___jb_(?:tmp|old)___|"
    rf".*\.(?i:{_ENDINGS})|.*{_NUMBERED}|{_SED}"
)


@cache
def _noise() -> re.Pattern[str]:
    # compiled when it is needed: that takes as long as looking at a hundred folders
    return re.compile(_NOISE, re.DOTALL)


def is_noise(name: str) -> bool:
    """Tell whether a bare name says nothing about a tool: a cache, or a file that an editor leaves.

    Noise by mistake hides an edit; the opposite mistake costs a look at a folder. So a name that a
    user may have chosen isn't noise. (``4913`` is how vim tries whether it may write.)
    """
    return _noise().fullmatch(name) is not None


class Stamp(NamedTuple):
    """What changes with a file: two times in nanoseconds, its size and the number of its inode.

    ``changed`` moves also where the time of modification is kept, as by ``cp -p`` or a rename.
    """

    modified: int
    changed: int
    size: int
    inode: int


class Files(NamedTuple):
    """The files below a folder at one moment, by their paths relative to it, with slashes.

    Attributes:
        stamps: of the files; a single file has the path "".
        links: the real absolute paths of symbolic links' targets, whether they exist or not; the
            folder itself has the path "".
    """

    stamps: Mapping[str, Stamp]
    links: Mapping[str, str]

    def changed(self, now: Files) -> set[str]:
        """Return the paths of the files that changed, came or went."""
        return {path for path, _ in self.stamps.items() ^ now.stamps.items()}

    def links_of(self, location: str) -> dict[str, str]:
        """Return the links by their absolute paths; ``location`` is that of the folder."""
        return {f"{location}/{path}".rstrip("/"): target for path, target in self.links.items()}


def files_below(location: str, suffixes: tuple[str, ...] = ("",)) -> Files:
    """Look at a folder and below it, without noise, or at a single file.

    Links are followed, but each real folder is visited once, and under its own path rather than a
    link's. What can't be listed or read is left out; nothing is raised.
    """
    stamps: dict[str, Stamp] = {}
    links: dict[str, str] = {}
    name = os.path.basename(location)
    paths = chain([""], islice(_paths_below(location), MAX_ENTRIES), [f"{name}.json", f"{name}.py"])
    for path in paths:
        place = f"{location}/{path}".rstrip("/")
        if path in stamps:
            continue
        try:
            status = os.lstat(place)
            if S_ISLNK(status.st_mode):
                links[path] = os.path.realpath(place)
                status = os.stat(place)
        except (OSError, ValueError):  # it is gone, or a link that leads nowhere
            continue
        if not S_ISDIR(status.st_mode) and place.endswith(suffixes):
            stamps[path] = Stamp(
                status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
            )
    return Files(stamps, links)


def _paths_below(location: str) -> Iterator[str]:
    """Yield the relative paths of what is below a folder; what is behind links comes last."""
    visited: set[tuple[int, int]] = set()
    folders = deque([(0, "")])
    while folders:
        level, prefix = folders.popleft()
        for entry in _entries(f"{location}/{prefix}", visited):
            if is_noise(entry.name):
                continue
            path = f"{prefix}{entry.name}"
            yield path
            with contextlib.suppress(OSError):
                if level < MAX_DEPTH and entry.is_dir():
                    below = level + 1, f"{path}/"
                    folders.append(below) if entry.is_symlink() else folders.appendleft(below)


def _entries(path: str, visited: set[tuple[int, int]]) -> list[os.DirEntry[str]]:
    """Return some entries of a folder, unless it has been visited or can't be listed."""
    try:
        status = os.stat(path)
        identity = status.st_dev, status.st_ino
        if identity in visited:  # a link may lead back to a folder above it
            return []
        visited.add(identity)
        with os.scandir(path) as entries:
            return sorted(islice(entries, MAX_ENTRIES), key=lambda entry: entry.name)
    except (OSError, ValueError):  # the latter of a path with a NUL
        return []


class Fingerprint(NamedTuple):
    """What a tool folder looked like at one moment.

    Attributes:
        digest: of the manifest and the sources.
        data: the data files that the manifest lists; None if they are unknown.
        files: all files and links below the folder; None if they are unknown.
    """

    digest: str
    data: Mapping[str, Stamp] | None = None
    files: Files | None = None


def look(
    folder: ToolFolder, settings: Settings, before: Fingerprint | None
) -> tuple[Fingerprint, Contents]:
    """Return what a tool folder looks like now, and what was read of it.

    ``before`` tells which data files count while the manifest can't be read.
    """
    contents = read_folder(folder, settings)
    files = files_below(folder.location)
    manifest, snapshot = contents.manifest, contents.snapshot
    if isinstance(manifest, Unreadable) or manifest.manifest is None:
        data = None if before is None else before.data
    else:
        listed = matching(files.stamps, manifest.manifest.data)
        # what was read as a source is compared as such
        sources = () if isinstance(snapshot, Unreadable) else snapshot.files
        others = listed.difference([folder.manifest_name, folder.module_name, *sources])
        data = {path: files.stamps[path] for path in others}
    return Fingerprint(contents.digest, data, files), contents
