"""From the version of a tool that is there to the one that takes its place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from sovl_tools.loading.checks.folder import misnamed
from sovl_tools.loading.discovery import listed
from sovl_tools.loading.equality import content_of
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.folder import ToolFolder
from sovl_tools.reloading.fingerprint import Fingerprint


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
    renames = [
        f"rename {other!r} to {name!r}"
        for name in missing
        if (other := _named_before(folder, name)) is not None
    ]
    return f"; {' and '.join(renames)}" if renames else ""


def _named_before(folder: ToolFolder, wanted: str) -> str | None:
    """Return the file of a folder's former name, the name of its only manifest, if it is there."""
    manifest = misnamed(folder, folder.manifest_name)
    stem, suffix = (manifest or folder.manifest_name)[:-5], wanted[wanted.rindex(".") :]
    name = f"{stem}{suffix}"
    return name if name in folder.files and name != wanted else None


def successor(old: Candidate, new: Candidate, *, is_served: bool) -> Candidate:
    """Return what stands for a folder from now on: the old candidate itself if nothing changed.

    A new one keeps the last good version beside it, for as long as it may be needed.

    Args:
        old: what stood for it.
        new: what has become of its files.
        is_served: whether the old one, rather than its last good version, is in the catalog.
    """
    if _is_same(old, new):
        return old
    if new.status in {"disabled", "unavailable", "waiting"} or _is_broken_off(new):
        return new
    return new._replace(previous=old._replace(previous=None) if is_served else old.previous)


def _is_broken_off(candidate: Candidate) -> bool:
    folder = ToolFolder(candidate.name, candidate.path, candidate.location)
    return candidate.status == "rejected" and _is_emptied(folder)


def _is_emptied(folder: ToolFolder) -> bool:
    """Tell whether neither file of a tool is there any more: it was deleted, not broken."""
    try:
        names = os.listdir(folder.location)
    except OSError:
        return False
    return folder.manifest_name not in names and folder.module_name not in names


def _is_same(old: Candidate, new: Candidate) -> bool:
    if old is new:
        return True
    return _bare(old) == _bare(new) and content_of(old.definition) == content_of(new.definition)


def _bare(candidate: Candidate) -> Candidate:
    return candidate._replace(definition=None, previous=None)
