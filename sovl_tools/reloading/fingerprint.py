"""Fingerprints of folders, which show whether a file changed.

The manifest and the sources of a tool folder are read and compared, so a touch has no effect.
Data files listed in the manifest are compared by their stamps: times, size and inode. The tool
might write other files itself, so they don't count, unless the tool failed to load.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from stat import S_ISDIR, S_ISLNK
from typing import NamedTuple

from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import Contents, matching, read_folder
from sovl_tools.model.folder import Settings, ToolFolder

MAX_DEPTH = 8
"""The number of levels of subfolders that are scanned."""

MAX_ENTRIES = 2_000
"""The number of files and folders that are scanned, so that a data lake can't block the rest.

The manifest and the module are always scanned.
"""

_ENDINGS = r"py[co]|bak|orig|rej|sw[nopx]|kate-swp|tmp|vsctmp|part|crdownload"
"""Bytecode, backups, swap files, half-written files."""

_SERIAL = r"(?:\d+|(?=\w*\d)\w{6,})"
_NUMBERED = rf"\.tmp[.\-_]?{_SERIAL}(?:[.\-]{_SERIAL})*"
"""``.tmp.1234``, ``.tmp-1234-17323``, ``.tmp.k3x9aq``; a word after ``.tmp`` is a real ending."""

_SED = r"sed(?![A-Za-z]?[a-z]*\d*$)(?![A-Z]*\d*$)[A-Za-z0-9]{6}"
"""The temporary files of ``sed -i``; a word, or a word and a number, is a user's file."""

_NOISE = re.compile(
    r"\..*|__pycache__|node_modules|4913|~\$.*|#.*#|.*~|.*___jb_(?:tmp|old)___|"
    rf".*\.(?i:{_ENDINGS})|.*{_NUMBERED}|{_SED}",
    re.DOTALL,
)


def is_noise(name: str) -> bool:
    """Return whether a file name is a cache's, or an editor's temporary file's.

    Ignoring too much hides an edit, ignoring too little costs a scan of a folder. So a name that a
    user could choose isn't noise. (vim creates ``4913`` to find out whether it can write.)
    """
    return _NOISE.fullmatch(name) is not None


class Stamp(NamedTuple):
    """What changes with a file: two times in nanoseconds, its size, and its inode.

    ``changed`` is new even if the time of modification is kept, as by ``cp -p`` or a rename.
    """

    modified: int
    changed: int
    size: int
    inode: int


class Files(NamedTuple):
    """The files below a folder at one time, by relative path with slashes.

    Attributes:
        stamps: the files' stamps; the path of a single file is "".
        links: the real absolute paths of symbolic links' targets, whether they exist or not; the
            path of the folder itself is "".
    """

    stamps: Mapping[str, Stamp]
    links: Mapping[str, str]

    def changed(self, now: Files) -> set[str]:
        """Return the paths of files that were changed, added or deleted."""
        return {path for path, _ in self.stamps.items() ^ now.stamps.items()}

    def links_of(self, location: str) -> dict[str, str]:
        """Return the links by absolute path; ``location`` is the folder's."""
        return {f"{location}/{path}".rstrip("/"): target for path, target in self.links.items()}


def files_below(location: str, suffixes: tuple[str, ...] = ("",)) -> Files:
    """Scan a folder and its subfolders, without noise, or a single file.

    Links are followed, but each real folder is scanned once, preferably under its own path. Files
    and folders that can't be read are skipped.
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
        except (OSError, ValueError):  # deleted meanwhile, or a broken link
            continue
        if not S_ISDIR(status.st_mode) and place.endswith(suffixes):
            stamps[path] = Stamp(
                status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
            )
    return Files(stamps, links)


def _paths_below(location: str) -> Iterator[str]:
    """Yield the relative paths of files and folders below a folder, linked folders last."""
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
    """Return a folder's first entries; none if it was visited before or can't be listed."""
    try:
        status = os.stat(path)
        identity = status.st_dev, status.st_ino
        if identity in visited:  # a link can lead back to a folder above it
            return []
        visited.add(identity)
        with os.scandir(path) as entries:
            return sorted(islice(entries, MAX_ENTRIES), key=lambda entry: entry.name)
    except (OSError, ValueError):  # ValueError: the path contains NUL
        return []


class Fingerprint(NamedTuple):
    """A tool folder at one time.

    Attributes:
        digest: a hash of the manifest and the sources.
        data: the stamps of data files listed in the manifest; None if unknown.
        files: all files and links below the folder; None if unknown.
    """

    digest: str
    data: Mapping[str, Stamp] | None = None
    files: Files | None = None


def scan(
    folder: ToolFolder, settings: Settings, before: Fingerprint | None
) -> tuple[Fingerprint, Contents]:
    """Scan a tool folder; return its fingerprint, and the contents that were read.

    While the manifest can't be read, the data files are the ones of the fingerprint ``before``.
    """
    contents = read_folder(folder, settings)
    files = files_below(folder.location)
    manifest, snapshot = contents.manifest, contents.snapshot
    if isinstance(manifest, Unreadable) or manifest.manifest is None:
        data = None if before is None else before.data
    else:
        listed = matching(files.stamps, manifest.manifest.data)
        # the digest covers these
        sources = () if isinstance(snapshot, Unreadable) else snapshot.files
        others = listed.difference([folder.manifest_name, folder.module_name, *sources])
        data = {path: files.stamps[path] for path in others}
    return Fingerprint(contents.digest, data, files), contents
