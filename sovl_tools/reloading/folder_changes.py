"""What the tools' folders looked like when they were loaded, and what has changed since.

A folder that looks as before is not loaded again. Of one that does not, manifest and sources are
read and compared, so that a mere touch changes nothing. The module runs again also if a file
has changed that its manifest lists under ``reload``. Others may be the tool's own writing, and its
variables have to outlive that. Beside a tool that did not load every file counts.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sovl_tools.loading.discovery import listed
from sovl_tools.loading.registration import content_of
from sovl_tools.loading.rules.folder import Unreadable, misnamed
from sovl_tools.loading.sources import listed_now, matching, take_snapshot
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.folder import ToolFolder
from sovl_tools.reloading.fingerprint import Fingerprint, fingerprint

_LOGGER = logging.getLogger("sovl_tools")
_MAX_ECHOES = 10


class _Known(NamedTuple):
    """What a folder looked like when it was loaded.

    ``echoes`` counts the loads in a row during which files changed that the module may read.
    """

    look: Fingerprint
    echoes: int = 0


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
        self._known: dict[str, _Known] = {}

    def look(self, folder: ToolFolder, patterns: Sequence[str] | None) -> Fingerprint:
        """Return what a folder looks like now.

        ``patterns`` are those of its candidate, here and below: where no other file can make
        another tool of it, manifest and module are all that is looked at until they change.
        """
        location = folder.location
        known = self._known.get(location)
        if known is not None:
            return known.look.again()
        is_bare = patterns == () and not folder.is_link and location in self._unseen
        return fingerprint(location, is_bare=is_bare)

    def is_changed(
        self, folder: ToolFolder, now: Fingerprint, patterns: Sequence[str] | None
    ) -> bool:
        """Tell whether a folder looks otherwise than when it was loaded; if not, remember that."""
        known = self._known.get(folder.location)
        if known is None:
            if folder.location not in self._unseen or not now.files:
                return True
            # without folders it was a look at the tool's own files, and they were there
            if now.folders and not now.files.keys() >= {*_own(folder)}:
                return True
            young = now.since(self._since)
            if young and concerning(folder, young, patterns):
                return True
            self._known[folder.location] = _Known(now)
        elif now is not known.look:
            if concerning(folder, known.look.changed(now), patterns):
                return True
            self._known[folder.location] = known._replace(look=now)
        return False

    def has_other_data(
        self, folder: ToolFolder, now: Fingerprint, patterns: Sequence[str] | None
    ) -> bool:
        """Tell whether a file has changed for which the module has to run again.

        That is neither the manifest nor a source, whose content tells the same.
        """
        known = self._known.get(folder.location)
        if known is not None:
            others = known.look.changed(now)
        else:
            others = now.since(self._since) if folder.location in self._unseen else set(now.files)
        listed = None if patterns is None else listed_now(folder)
        if patterns is not None and listed is not None:
            # nobody knows since when files are as they are that were not listed before
            if not {*patterns}.issuperset(listed):
                return True
            others = matching(others, listed)
        others = others.difference(_own(folder))
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
            self._known[folder.location] = _Known(now)
            return
        known = self._known.get(folder.location)
        echoes = known.echoes + 1 if known else 1
        if echoes == _MAX_ECHOES:
            _LOGGER.warning("tool %s writes into its own folder when it is imported", folder.path)
        self._known[folder.location] = _Known(now if echoes >= _MAX_ECHOES else seen, echoes)

    def forget(self, location: str) -> None:
        """Forget a folder that is gone, or whose place another one has taken."""
        self._unseen.discard(location)
        self._known.pop(location, None)

    @property
    def links(self) -> dict[str, str]:
        """Symbolic links in the folders, by their absolute paths, and what they lead to."""
        return {
            f"{location}/{path}".rstrip("/"): target
            for location, known in self._known.items()
            if known.look.links
            for path, target in known.look.links.items()
        }


def concerning(folder: ToolFolder, paths: set[str], patterns: Sequence[str] | None) -> set[str]:
    """Return those of the changed files and folders that may make another tool of a folder."""
    if patterns is None:
        return paths
    # a folder that has changed may have lost files, which nobody sees any more
    below = {path for path in paths if path.endswith("/")} if patterns else set()
    return paths.intersection(_own(folder)) | below | matching(paths, patterns)


def _own(folder: ToolFolder) -> tuple[str, str]:
    return folder.manifest_name, folder.module_name


def arriving(folder: ToolFolder, seen: Fingerprint, *, is_new: bool) -> Candidate | None:
    """Return the candidate of a folder whose files are on their way, or None if they are there.

    Of a new folder no file may be missing or empty; one that is known has lost both of them.
    """
    files = (folder.manifest_name, folder.module_name)
    missing = [name for name in files if name not in seen.files or not seen.files[name].size]
    if not missing or not (is_new or _is_emptied(folder)):
        return None
    reason = f"{' and '.join(missing)} {'have' if len(missing) > 1 else 'has'} not arrived yet"
    reason += _advice(folder, [name for name in missing if name not in seen.files])
    return Candidate(folder.name, folder.path, folder.location, "waiting", reasons=(reason,))


def _advice(folder: ToolFolder, missing: Sequence[str]) -> str:
    """Return what to do if the files are there but have kept the name of another folder."""
    with contextlib.suppress(OSError):
        folder = listed(folder)
    # the former name of the folder is that of its only manifest
    former = (misnamed(folder, folder.manifest_name) or folder.manifest_name).removesuffix(".json")
    others = {name: f"{former}{os.path.splitext(name)[1]}" for name in missing}
    renames = [
        f"rename {other!r} to {name!r}"
        for name, other in others.items()
        if other in folder.files and other != name
    ]
    return f"; {' and '.join(renames)}" if renames else ""


def successor(old: Candidate, new: Candidate, *, is_served: bool) -> Candidate:
    """Return what stands for a folder from now on: the old candidate itself if nothing changed.

    A new one keeps the last good version beside it, for as long as it may be needed.

    Args:
        old: what stood for it.
        new: what has become of its files.
        is_served: whether the old one, rather than its last good version, is in the catalog.
    """
    if old is new:
        return old
    # what they are first: to compare what is wrong with them, both would have to be linted
    if content_of(old.definition) == content_of(new.definition):
        bare, other = (each._replace(definition=None, previous=None) for each in (old, new))
        if bare == other:
            return old
    if new.status in {"disabled", "unavailable", "waiting"}:
        return new
    if new.status == "rejected" and _is_emptied(ToolFolder(new.name, new.path, new.location)):
        return new
    return new._replace(previous=old._replace(previous=None) if is_served else old.previous)


def _is_emptied(folder: ToolFolder) -> bool:
    """Tell whether neither file of a tool is there any more: it was deleted, not broken."""
    try:
        names = os.listdir(folder.location)
    except OSError:
        return False
    return folder.manifest_name not in names and folder.module_name not in names
