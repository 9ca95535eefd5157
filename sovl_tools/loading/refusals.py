"""Folders that were rejected, as they were when they were: what fails need not run twice.

Several looks may follow one change. What has loaded is told by its sources, and does not run again
as long as they are the same; of what was rejected nothing else is left to compare.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from sovl_tools.loading.checks.file import Unreadable
from sovl_tools.loading.reading import MAX_MANIFEST_BYTES, read_file
from sovl_tools.loading.sources import Snapshot, take_snapshot
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.folder import ToolFolder
from sovl_tools.watching.survey import Stamp, Survey, survey


class Content(NamedTuple):
    """What a folder holds; the stamps tell of its other files, and that somebody touched one."""

    stamps: dict[str, Stamp]
    manifest: bytes | Unreadable
    sources: dict[str, bytes] | Unreadable

    @classmethod
    def of(cls, folder: ToolFolder, seen: Survey) -> Content:
        """Read the manifest and the sources of a folder that was just looked at."""
        found = take_snapshot(folder)
        sources = found.files if isinstance(found, Snapshot) else found
        manifest = read_file(folder, folder.manifest_name, limit=MAX_MANIFEST_BYTES)
        return cls(seen.stamps, manifest, sources)


class Refusals:
    """Remembers what was rejected."""

    def __init__(self) -> None:
        self._contents: dict[str, Content] = {}

    def note(self, candidates: Iterable[Candidate], contents: Mapping[str, Content]) -> None:
        """Take in what became of folders.

        Args:
            candidates: of the folders.
            contents: what they held when their load began, as far as that is known.
        """
        for each in candidates:
            self._contents.pop(each.location, None)
            if each.status == "rejected" and each.location in contents:
                self._contents[each.location] = contents[each.location]

    def others(self, folders: Collection[ToolFolder]) -> list[ToolFolder]:
        """Return the folders without those that are as they were when they were rejected."""
        return [each for each in folders if not self._is_known(each)]

    def _is_known(self, folder: ToolFolder) -> bool:
        known = self._contents.get(folder.location)
        return known is not None and known == Content.of(folder, survey(folder.location))
