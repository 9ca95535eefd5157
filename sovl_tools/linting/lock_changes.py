"""What is locked: the lock of tool folders as they are, and how it differs from another one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sovl_tools.configuration import configuration
from sovl_tools.loading.discovery import collect
from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.loading.lock import hashes_of
from sovl_tools.loading.rules.folder import LOCKED_PARTS, LockCase, Unreadable, not_as_locked
from sovl_tools.loading.sources import read_manifest, take_snapshot
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, ask
from sovl_tools.model.folder import Hashes, Lock, ToolFolder
from sovl_tools.reporting.text import read_lines


class Locked(NamedTuple):
    """The lock of some folders.

    Attributes:
        lock: the hashes of the tools, by their names; of two of one name those of the first.
        unreadable: the folders that have no manifest or no module that could be read.
    """

    lock: Lock
    unreadable: tuple[ToolFolder, ...]


def lock_of(folders: Iterable[ToolFolder]) -> Locked:
    """Return the lock of tool folders as they are. Nothing is imported."""
    lock: dict[str, Hashes] = {}
    unreadable: list[ToolFolder] = []
    for folder in folders:
        hashes = _hashes(folder)
        if hashes is None:
            unreadable.append(folder)
        else:
            lock.setdefault(folder.name, hashes)
    return Locked(lock, tuple(unreadable))


def _hashes(folder: ToolFolder) -> Hashes | None:
    reading, snapshot = read_manifest(folder), take_snapshot(folder)
    if isinstance(reading, Unreadable) or isinstance(snapshot, Unreadable):
        return None
    hashes = None if reading.manifest is None else hashes_of(reading.manifest, snapshot)
    return None if isinstance(hashes, Unreadable) else hashes


def changes(old: Lock, new: Lock) -> Iterator[str]:
    """Yield a line for each tool that differs between two locks."""
    for name in sorted({*old, *new}):
        before, now = old.get(name, {}), new.get(name, {})
        if not before or not now:
            yield f"{name}: {'new' if now else 'removed'}"
        elif before != now:
            parts = [part for part in LOCKED_PARTS if before.get(part) != now.get(part)]
            yield f"{name}: {', '.join(parts)} changed"


def removed_tools(lock: Lock, path: str, folders: Sequence[ToolFolder]) -> list[Diagnostic]:
    """Return that tools of a lock file are gone, with the places in the file.

    ``folders`` are those that were looked at; those of configured directories are there as well.
    """
    there = {each.name for each in folders}
    if there >= lock.keys():
        return []
    others = collect(filter(os.path.exists, configuration().paths)).folders
    gone = sorted(lock.keys() - there - {each.name for each in others})
    text = "\n".join(read_lines(path))
    places = Places(text)
    found = []
    for name in gone:
        at = line_and_column(text, places.offset(ManifestPlace(("tools", name), "key")))
        case = LockCase(ToolFolder(name, "", ""), {}, lock[name])
        found += [each.at(path, *at, tool=name) for each in ask((not_as_locked,), case)]
    return found
