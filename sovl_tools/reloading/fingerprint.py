"""What a folder looks like: enough of each file to tell whether it has changed since its load.

The system's stamps of a file tell that, as in git's index: they are trusted if they are older than
what the clock of the file system can tell apart. The content of younger files is compared.

A tool's folder that looks as before is not loaded again. Of one that does not, manifest and sources
are read and compared, so that a mere touch changes nothing. The module runs again also if a file
has changed that its manifest lists under ``reload``. Others may be the tool's own writing, and its
variables have to outlive that. Beside a tool that did not load every file counts.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from heapq import heappop, heappush
from importlib.util import source_hash
from stat import S_ISDIR, S_ISLNK, S_ISREG
from time import time_ns
from typing import NamedTuple

from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import MAX_MODULE_BYTES, listed_now, matching, take_snapshot
from sovl_tools.model.folder import READ_FLAGS, ToolFolder

_LOGGER = logging.getLogger("sovl_tools")
_MAX_ECHOES = 10

MAX_DEPTH = 8
"""Levels of folders below a tool's own that are looked into."""

MAX_ENTRIES = 2_000
"""Files and folders that are looked at in all: a folder that holds a data lake stops nobody.

The tool's own manifest and module are looked at even if they come later.
"""

_SECOND = 1_000_000_000
_TICK = 20_000_000
"""Nanoseconds between which a file system may not tell two moments apart."""
_COARSE_TICK = 2 * _SECOND
"""The same for file systems that keep whole seconds, which shows in their stamps."""


_ENDINGS = r"py[co]|bak|orig|rej|sw[nopx]|kate-swp|tmp|vsctmp|part|crdownload"
"""Bytecode, backups, swap files, half-written files."""

_SERIAL = r"(?:\d+|(?=\w*\d)\w{6,})"
_NUMBERED = rf"\.tmp[.\-_]?{_SERIAL}(?:[.\-]{_SERIAL})*"
"""``.tmp.1234``, ``.tmp-1234-17323``, ``.tmp.k3x9aq``; a word after ``.tmp`` is a real ending."""

_SED = r"sed(?![A-Za-z]?[a-z]*\d*$)(?![A-Z]*\d*$)[A-Za-z0-9]{6}"
"""What ``sed -i`` writes to; a word, and a word with a number after it, is somebody's file."""

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

    A name that is noise by mistake hides an edit; one that is not costs a look at a folder. So a
    name that somebody may have chosen is none. (``4913`` is how vim tries whether it may write.)
    """
    return _noise().fullmatch(name) is not None


class Stamp(NamedTuple):
    """What changes with a file: two times in nanoseconds, its bytes, the number of its inode.

    ``changed`` moves also where the time of modification is kept, as by ``cp -p`` or a rename.
    """

    modified: int
    changed: int
    size: int
    inode: int

    @staticmethod
    def of(status: os.stat_result) -> Stamp:
        """Return the stamp of a file or folder."""
        return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)

    def is_before(self, moment: int) -> bool:
        """Tell whether any later change than at a moment, in nanoseconds, shows in this stamp."""
        latest = max(self.changed, self.modified)
        return latest < moment - (_TICK if latest % _SECOND else _COARSE_TICK)


class Fingerprint(NamedTuple):
    """What a folder, or a single file, looked like at one moment.

    Attributes:
        location: the absolute path of the folder, or of the file, whose relative path is "".
        suffixes: what the names of the files end in that matter.
        files: stamps of those files, by their paths relative to the folder, with slashes.
        links: where symbolic links lead to, a real absolute path, be anything there or not; by
            relative path, "" for the folder itself.
        folders: stamps of the folders that were looked into, by relative path with a final slash.
        contents: hashes of files that were too young for their stamps to be trusted; None of one
            that can't be read or is too large for that.
        is_listed: whether the stamps of the folders tell whether files come and go.
        newest: the latest time in all stamps.
    """

    location: str
    suffixes: tuple[str, ...]
    files: dict[str, Stamp]
    links: dict[str, str]
    folders: dict[str, Stamp]
    contents: dict[str, bytes | None]
    is_listed: bool
    newest: int

    def since(self, moment: int) -> set[str]:
        """Return the files and folders in it that may have changed since a moment."""
        if self.newest < moment - _COARSE_TICK:
            return set()
        below = {path: each for path, each in self.folders.items() if path}
        every = {**self.files, **below}
        return {path for path, each in every.items() if not each.is_before(moment)}

    def again(self) -> Fingerprint:
        """Return what the folder looks like now: this very object if that is as before."""
        if not (self.is_listed and self._has_same_stamps()):
            return fingerprint(self.location, self.suffixes, reading=self.contents)
        if not self.contents:
            return self
        # Files that were written a moment before the last look may have changed without a trace.
        moment = time_ns()
        contents = {path: _content(self.location, path) for path in self.contents}
        if contents != self.contents or None in contents.values():
            return fingerprint(self.location, self.suffixes, reading=self.contents)
        young = {
            path: each for path, each in contents.items() if not self.files[path].is_before(moment)
        }
        return self._replace(contents=young)

    def _has_same_stamps(self) -> bool:
        """Ask the system for every file and folder that was seen; this is most of a reload."""
        stat, location = os.stat, self.location
        try:
            for stamps in (self.folders, self.files):
                for path, known in stamps.items():
                    now = stat(f"{location}/{path}" if path else location)
                    stamp = (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino)
                    # a plain tuple equals a stamp, and is made faster
                    if stamp != known:
                        return False
        except OSError:
            return False
        return True

    def changed(self, now: Fingerprint) -> set[str]:
        """Return the relative paths of the files that look otherwise now, came or went."""
        if now.files is self.files:
            return set()
        others = {path for path, _ in self.files.items() ^ now.files.items()}
        others.update(
            path
            for path, content in self.contents.items()
            if content is None or now.contents.get(path) != content
        )
        return others


def fingerprint(
    location: str,
    suffixes: tuple[str, ...] = ("",),
    *,
    reading: Collection[str] = (),
    is_bare: bool = False,
) -> Fingerprint:
    """Look at a folder and below it, noise left out, or at a single file.

    Links are followed. Each real folder is visited once: under its own path if it is one of those
    below, under a link's otherwise. What can't be listed or read is left out; nothing is raised.

    ``is_bare`` says that nothing but the tool's own two files matters, and that the folder is no
    link. Where the files are none either, it isn't listed then, which costs as much as asking for
    five files. ``reading`` are files whose content is compared, whatever their stamps say.
    """
    moment = time_ns()
    files: dict[str, Stamp] = _own_stamps(location) if is_bare else {}
    folders: dict[str, Stamp] = {}
    links: dict[str, str] = {}
    if not files:
        walk = _Walk(location, suffixes)
        walk.run()
        files, folders, links = walk.files, walk.folders, walk.links
    newest = 0
    for stamps in (files, folders):
        for modified, changed, _, _ in stamps.values():
            newest = max(newest, modified, changed)
    contents: dict[str, bytes | None] = {}
    is_listed = bool(folders or files)
    # mostly nothing is so young that each file would have to be looked at
    if reading or newest >= moment - _COARSE_TICK:
        for path, stamp in files.items():
            if path in reading or not stamp.is_before(moment):
                contents[path] = _content(location, path)
        is_listed = is_listed and all(each.is_before(moment) for each in folders.values())
    return Fingerprint(location, suffixes, files, links, folders, contents, is_listed, newest)


class FolderChanges:
    """The folders as they were when they were loaded; tells what has changed since.

    Of folders that were loaded without a look the times of their files tell that.

    Args:
        unseen: the locations of those.
        since: when their load began, in nanoseconds since the epoch.
    """

    def __init__(self, unseen: Iterable[str], *, since: int) -> None:
        self._unseen = set(unseen)
        self._since = since
        self._known: dict[str, Fingerprint] = {}
        self._echoes: dict[str, int] = {}
        """Of some the loads in a row during which files changed that the module may read."""

    def look(self, folder: ToolFolder, patterns: Sequence[str] | None) -> Fingerprint:
        """Return what a folder looks like now.

        ``patterns`` are those of its candidate, here and below: where no other file can make
        another tool of it, manifest and module are all that is looked at until they change.
        """
        location = folder.location
        known = self._known.get(location)
        if known is not None:
            return known.again()
        is_bare = patterns == () and not folder.is_link and location in self._unseen
        return fingerprint(location, is_bare=is_bare)

    def is_changed(
        self, folder: ToolFolder, now: Fingerprint, patterns: Sequence[str] | None
    ) -> bool:
        """Tell whether a folder looks otherwise than when it was loaded; if not, remember that."""
        known = self._known.get(folder.location)
        if known is not None and now is known:
            return False
        if known is None:
            if folder.location not in self._unseen or not now.files:
                return True
            # without folders it was a look at the tool's own files, and they were there
            if now.folders and not now.files.keys() >= {*_own_names(folder.location)}:
                return True
            young = now.since(self._since)
            if young and concerning(folder, young, patterns):
                return True
        elif concerning(folder, known.changed(now), patterns):
            return True
        self._known[folder.location] = now
        return False

    def has_other_data(
        self, folder: ToolFolder, now: Fingerprint, patterns: Sequence[str] | None
    ) -> bool:
        """Tell whether a file has changed for which the module has to run again.

        That is neither the manifest nor a source, whose content tells the same.
        """
        known = self._known.get(folder.location)
        if known is not None:
            others = known.changed(now)
        else:
            others = now.since(self._since) if folder.location in self._unseen else set(now.files)
        listed = None if patterns is None else listed_now(folder)
        if patterns is not None and listed is not None:
            # nobody knows since when files are as they are that were not listed before
            if not {*patterns}.issuperset(listed):
                return True
            others = matching(others, listed)
        others = others.difference(_own_names(folder.location))
        if not others:
            return False
        snapshot = take_snapshot(folder)
        return isinstance(snapshot, Unreadable) or not others <= snapshot.files.keys()

    def keep(self, folder: ToolFolder, seen: Fingerprint, patterns: Sequence[str] | None) -> None:
        """Remember what a folder looked like when its load began.

        If files changed meanwhile, somebody wrote them while the module ran, and it is loaded
        once more. If they change each time, it is the module itself that writes them.
        """
        now = seen.again()
        if not concerning(folder, seen.changed(now), patterns):
            self._known[folder.location] = now
            self._echoes.pop(folder.location, None)
            return
        echoes = self._echoes[folder.location] = self._echoes.get(folder.location, 0) + 1
        if echoes == _MAX_ECHOES:
            _LOGGER.warning("tool %s writes into its own folder when it is imported", folder.path)
        self._known[folder.location] = now if echoes >= _MAX_ECHOES else seen

    def forget(self, location: str) -> None:
        """Forget a folder that is gone, or whose place another one has taken."""
        self._unseen.discard(location)
        self._known.pop(location, None)
        self._echoes.pop(location, None)

    @property
    def links(self) -> dict[str, str]:
        """Symbolic links in the folders, by their absolute paths, and what they lead to."""
        return {
            f"{location}/{path}".rstrip("/"): target
            for location, known in self._known.items()
            if known.links
            for path, target in known.links.items()
        }


def concerning(folder: ToolFolder, paths: set[str], patterns: Sequence[str] | None) -> set[str]:
    """Return those of the changed files and folders that may make another tool of a folder."""
    if patterns is None:
        return paths
    # a folder that has changed may have lost files, which nobody sees any more
    below = {path for path in paths if path.endswith("/")} if patterns else set()
    return paths.intersection(_own_names(folder.location)) | below | matching(paths, patterns)


def _own_names(location: str) -> tuple[str, str]:
    name = location.rpartition(os.sep)[2]
    return f"{name}.json", f"{name}.py"


def _own_stamps(location: str) -> dict[str, Stamp]:
    """Look at a tool's own two files alone; return none unless both are there, and no links."""
    manifest, module = _own_names(location)
    try:
        first, second = os.lstat(f"{location}/{manifest}"), os.lstat(f"{location}/{module}")
    except (OSError, ValueError):
        return {}
    if not (S_ISREG(first.st_mode) and S_ISREG(second.st_mode)):
        return {}
    return {manifest: Stamp.of(first), module: Stamp.of(second)}


class _Walk:
    """A walk over a folder and those below, real folders before linked ones, near before far."""

    def __init__(self, location: str, suffixes: tuple[str, ...]) -> None:
        self._location = location
        self._suffixes = suffixes
        self._own = _own_names(location)
        self._folders: list[tuple[bool, int, str]] = []
        """A heap of the folders to look into: whether by a link, the level, path and a slash."""
        self._left = MAX_ENTRIES
        self._visited: set[tuple[int, int]] = set()
        self.files: dict[str, Stamp] = {}
        self.links: dict[str, str] = {}
        self.folders: dict[str, Stamp] = {}

    def run(self) -> None:
        self._folders = [(False, 0, "")]
        while self._folders and self._left:
            _, level, prefix = heappop(self._folders)
            try:
                self._look_into(level, prefix)
            except (OSError, ValueError):  # the latter of a path with a NUL
                continue
        for path in self._own if not self._left else ():  # without them there is no tool
            place = f"{self._location}/{path}"
            if os.path.islink(place):
                self._note_link(path, place)
            with contextlib.suppress(OSError):
                self.files[path] = Stamp.of(os.stat(place))

    def _look_into(self, level: int, prefix: str) -> None:
        path = f"{self._location}/{prefix}"
        status = os.lstat(path if prefix else self._location)
        if S_ISLNK(status.st_mode):
            self._note_link("", self._location)
            status = os.stat(self._location)
        if S_ISREG(status.st_mode):
            self.files[""] = Stamp.of(status)
        identity = status.st_dev, status.st_ino
        # a link may lead back to a folder above it
        if identity in self._visited or not S_ISDIR(status.st_mode):
            return
        self._visited.add(identity)
        self.folders[prefix] = Stamp.of(status)
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                if name not in self._own and is_noise(name):
                    continue
                self._look_at(entry, prefix + name, level)
                self._left -= 1
                if not self._left:
                    return

    def _look_at(self, entry: os.DirEntry[str], path: str, level: int) -> None:
        try:
            is_link = entry.is_symlink()
            if is_link:
                self._note_link(path, entry.path)
            if not entry.is_dir():
                if path.endswith(self._suffixes):
                    self.files[path] = Stamp.of(entry.stat())
            elif level < MAX_DEPTH:
                heappush(self._folders, (is_link, level + 1, f"{path}/"))
        except OSError:
            return  # it is gone meanwhile, or a link that leads nowhere

    def _note_link(self, path: str, link: str) -> None:
        with contextlib.suppress(OSError):
            self.links[path] = os.path.realpath(link)


def _content(location: str, relative: str) -> bytes | None:
    """Return a hash of a file's content; None if it can't be read or is too large for that."""
    try:
        descriptor = os.open(f"{location}/{relative}" if relative else location, READ_FLAGS)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        # a FIFO or a device has no content that could be compared
        if not S_ISREG(status.st_mode):
            return b""
        if status.st_size > MAX_MODULE_BYTES:
            return None
        return source_hash(os.read(descriptor, status.st_size + 1))
    except OSError:
        return None
    finally:
        os.close(descriptor)
