"""A loaded tool folder, and whether it must be loaded again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from sovl_tools.loading.rules import folder as rules
from sovl_tools.loading.sources import Contents, listed
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import ask
from sovl_tools.model.folder import ToolFolder
from sovl_tools.reloading.fingerprint import Files


class LoadedFolder(NamedTuple):
    """A tool folder as it was loaded.

    Attributes:
        folder: the folder.
        digest: a hash of the contents that it was loaded from.
        candidate: the result, which has the last good version if it's broken.
        files: all files and links below the folder; None before the first scan.
    """

    folder: ToolFolder
    digest: str
    candidate: Candidate
    files: Files | None = None

    def is_due(self, contents: Contents, files: Files, *, is_patient: bool) -> bool:
        """Return whether it must be loaded again.

        Without patience, so must a tool that failed, and one with requirements.
        """
        if self.digest != contents.digest:
            return True
        if self.candidate.definition is not None:
            # packages and variables come and go
            return not is_patient and bool(self.candidate.definition.requires)
        if self.candidate.status == "disabled":
            return False
        # any file might be the missing one
        return not is_patient or self.files is None or self.files.stamps != files.stamps


def arriving(folder: ToolFolder, known: LoadedFolder | None) -> Candidate | None:
    """Return a waiting candidate while files of a folder are being copied; None if they are there.

    It is a new folder with a missing or empty file, or a known one without both files.
    """
    files = (folder.manifest_name, folder.module_name)
    sizes = dict(_sizes(folder))
    missing = [name for name in files if not sizes.get(name)]
    is_new = known is None or known.candidate.status == "waiting"
    if not missing or not (is_new or sizes.keys().isdisjoint(files)):
        return None
    reason = f"{' and '.join(missing)} {'have' if len(missing) > 1 else 'has'} not arrived yet"
    with suppress(OSError):
        # a folder that was copied has files with its former name
        if not sizes.keys() & missing and (advice := _renaming(listed(folder))):
            reason += f"; {advice}"
    return Candidate(folder.name, folder.path, folder.location, "waiting", reasons=(reason,))


def _sizes(folder: ToolFolder) -> Iterator[tuple[str, int]]:
    """Yield the names of a folder's two files, and their sizes, as far as they are there."""
    for name in (folder.manifest_name, folder.module_name):
        with suppress(OSError):
            yield name, os.path.getsize(f"{folder.location}/{name}")


def _renaming(folder: ToolFolder) -> str | None:
    """Return how to rename the files in a folder so that they are a tool's."""
    helps = (each.finding.help for each in ask(rules.RULES, folder))
    return next((each for each in helps if each and each.startswith("rename")), None)
