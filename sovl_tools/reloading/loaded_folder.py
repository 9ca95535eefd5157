"""A loaded tool folder, and whether it must be loaded again."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence
from typing import NamedTuple

from sovl_tools.loading.rules.folder import misnamed
from sovl_tools.loading.sources import listed
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.folder import ToolFolder
from sovl_tools.reloading.fingerprint import Fingerprint

_LOGGER = logging.getLogger("sovl_tools")
_MAX_ECHOES = 10
_TICK = 20_000_000
"""The nanoseconds within which a file system may not distinguish two moments."""


class LoadedFolder(NamedTuple):
    """A tool folder as it was loaded.

    Attributes:
        folder: the folder.
        seen: its fingerprint before the load.
        candidate: the result, which has the last good version if it's broken.
        since: when the load started, in nanoseconds since the epoch; used while the data files in
            ``seen`` are unknown.
        echoes: the number of consecutive loads during which files changed.
    """

    folder: ToolFolder
    seen: Fingerprint
    candidate: Candidate
    since: int = 0
    echoes: int = 0

    def is_due(self, now: Fingerprint, *, is_patient: bool) -> bool:
        """Return whether it must be loaded again.

        Without patience, so must a tool that failed, and one with requirements.
        """
        if self.seen.digest != now.digest or self.has_other_data(now):
            return True
        if self.candidate.definition is not None:
            # packages and variables come and go
            return not is_patient and bool(self.candidate.definition.requires)
        if self.candidate.status == "disabled":
            return False
        # any file might be the missing one
        before, after = self.seen.files, now.files
        return not is_patient or before is None or after is None or before.stamps != after.stamps

    def has_other_data(self, now: Fingerprint) -> bool:
        """Return whether listed data files changed, so that the module must run again."""
        before, after = self.seen.data, now.data or {}
        if before is not None:
            return before != after
        since = self.since - _TICK
        return any(max(each.modified, each.changed) > since for each in after.values())

    def settled(self, now: Fingerprint) -> LoadedFolder:
        """Return the entry to keep after a load; ``now`` is the fingerprint at its end.

        Files that changed during the load were edited: the folder stays due. If they change during
        each load, the module itself writes them, and the new fingerprint counts.
        """
        if not self.is_due(now, is_patient=True):
            return self._replace(seen=now, echoes=0)
        echoes = self.echoes + 1
        if echoes == _MAX_ECHOES:
            path = self.folder.path
            _LOGGER.warning("tool %s writes into its own folder when it is imported", path)
        return self._replace(seen=self.seen if echoes < _MAX_ECHOES else now, echoes=echoes)


def arriving(folder: ToolFolder, seen: Fingerprint, known: LoadedFolder | None) -> Candidate | None:
    """Return a waiting candidate while files of a folder are being copied; None if they are there.

    It is a new folder with a missing or empty file, or a known one without both files.
    """
    stamps = seen.files.stamps if seen.files is not None else {}
    files = (folder.manifest_name, folder.module_name)
    missing = [name for name in files if name not in stamps or not stamps[name].size]
    is_new = known is None or known.candidate.status == "waiting"
    if not missing or not (is_new or stamps.keys().isdisjoint(files)):
        return None
    reason = f"{' and '.join(missing)} {'have' if len(missing) > 1 else 'has'} not arrived yet"
    reason += _advice(folder, [name for name in missing if name not in stamps])
    return Candidate(folder.name, folder.path, folder.location, "waiting", reasons=(reason,))


def _advice(folder: ToolFolder, missing: Sequence[str]) -> str:
    """Return the action if the files still have the name of a copied folder."""
    with contextlib.suppress(OSError):
        folder = listed(folder)
    # the former name of the folder is its only manifest's
    former = (misnamed(folder, folder.manifest_name) or folder.manifest_name).removesuffix(".json")
    others = {name: f"{former}{os.path.splitext(name)[1]}" for name in missing}
    renames = [
        f"rename {other!r} to {name!r}"
        for name, other in others.items()
        if other in folder.files and other != name
    ]
    return f"; {' and '.join(renames)}" if renames else ""
