"""What the tools' folders looked like when they were loaded, beside their manifests and sources.

A module may read any file of its folder. Whether such a file has changed is told by its stamp, as
against sources and manifests, whose content is compared.
"""

from __future__ import annotations

import logging
from time import time_ns
from typing import NamedTuple

from sovl_tools.loading.checks.file import Unreadable
from sovl_tools.loading.sources import take_snapshot
from sovl_tools.model.folder import ToolFolder
from sovl_tools.watching.survey import COARSE_TICK, Stamp, Survey, survey

_LOGGER = logging.getLogger("sovl_tools")
_TICK = 10_000_000
"""Nanoseconds between which a file system may not tell two moments apart."""
_MAX_ECHOES = 10


class _Baseline(NamedTuple):
    """What a folder looked like when it was loaded.

    ``echoes`` counts the loads in a row during which files changed that the module may read.
    """

    survey: Survey
    echoes: int = 0


class Surveys:
    """The folders as they were when they were loaded; tells what has changed since."""

    def __init__(self) -> None:
        self._baselines: dict[str, _Baseline] = {}

    def has_other_data(self, folder: ToolFolder, seen: Survey, since: int) -> bool:
        """Tell whether a file has changed that is neither manifest nor source of the module.

        Of a folder that has not been looked at yet that is told by the times of its files;
        ``since`` is the time of the load, in nanoseconds since the epoch.
        """
        known = self._baselines.get(folder.location)
        before = known.survey.stamps if known else _older(seen, since - _TICK)
        return _is_other_data(folder, before, seen.stamps)

    def keep(self, folder: ToolFolder, seen: Survey) -> None:
        """Remember what a folder looked like when its load began.

        If files changed meanwhile, somebody wrote them while the module ran, and it is loaded
        once more. If they change each time, it is the module itself that writes them.
        """
        now = survey(folder.location)
        if seen.stamps == now.stamps:
            self._baselines[folder.location] = _Baseline(now)
            return
        known = self._baselines.get(folder.location)
        echoes = known.echoes + 1 if known else 1
        if echoes == _MAX_ECHOES:
            _LOGGER.warning("tool %s writes into its own folder when it is imported", folder.path)
        self._baselines[folder.location] = _Baseline(now if echoes >= _MAX_ECHOES else seen, echoes)

    def is_echo(self, folder: ToolFolder, seen: Survey) -> bool:
        """Tell whether a folder looks as its own module left it, time and again."""
        known = self._baselines.get(folder.location)
        return (
            known is not None and known.echoes >= _MAX_ECHOES and known.survey.stamps == seen.stamps
        )

    def forget(self, location: str) -> None:
        """Forget a folder that is gone."""
        self._baselines.pop(location, None)

    def is_changed(self, folder: ToolFolder) -> bool:
        """Tell whether a folder looks otherwise than when it was loaded, or might do so soon.

        A file that was written a moment before may be written once more without a trace in its
        stamp, so it counts as changed until some time has gone by.
        """
        known = self._baselines.get(folder.location)
        if known is None:
            return True
        seen = survey(folder.location)
        return seen.stamps != known.survey.stamps or _is_newer(seen, time_ns() - COARSE_TICK)

    def learn(self, folder: ToolFolder, since: int) -> bool:
        """Remember a folder that was loaded unseen, or tell that it may have changed since.

        ``since`` is the time of the load, in nanoseconds since the epoch.
        """
        seen = survey(folder.location)
        is_whole = {folder.manifest_name, folder.module_name} <= seen.stamps.keys()
        if not is_whole or _is_newer(seen, since - _TICK):
            return True
        self._baselines[folder.location] = _Baseline(seen)
        return False

    @property
    def links(self) -> dict[str, str]:
        """Symbolic links in the folders, by their absolute paths, and what they lead to."""
        return {
            f"{location}/{path}".rstrip("/"): target
            for location, known in self._baselines.items()
            if known.survey.links
            for path, target in known.survey.links.items()
        }


def _is_other_data(folder: ToolFolder, before: dict[str, Stamp], after: dict[str, Stamp]) -> bool:
    """Tell whether two looks at a folder differ in files whose content is not compared."""
    other = {path for path, _ in before.items() ^ after.items()}
    other -= {folder.manifest_name, folder.module_name}
    if not other:
        return False
    snapshot = take_snapshot(folder)
    return isinstance(snapshot, Unreadable) or not other <= snapshot.files.keys()


def _is_newer(seen: Survey, moment: int) -> bool:
    return any(each.latest > moment for each in seen.stamps.values())


def _older(seen: Survey, moment: int) -> dict[str, Stamp]:
    return {path: each for path, each in seen.stamps.items() if each.latest <= moment}
