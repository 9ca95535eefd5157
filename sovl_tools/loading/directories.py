"""Directories that are no tools directories, but in which tools come from files all the same."""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import time_ns
from typing import NamedTuple

from sovl_tools.watching.survey import COARSE_TICK, Stamp, survey


class Directory(NamedTuple):
    """A directory with all below it.

    Attributes:
        path: absolute.
        suffixes: what the names of the files end in that count.
    """

    path: str
    suffixes: tuple[str, ...]

    def is_concerned(self, touched: str) -> bool:
        """Tell whether something at a path, perhaps a directory, may count here."""
        if self.path == touched or self.path.startswith(f"{touched}{os.sep}"):
            return True
        is_below = touched.startswith(f"{self.path}{os.sep}")
        return is_below and (touched.endswith(self.suffixes) or not os.path.splitext(touched)[1])


class Glance(NamedTuple):
    """What a directory looked like.

    Attributes:
        stamps: of the files that count, by relative path.
        links: symbolic links by absolute path, and what they lead to.
        moment: when it was looked at, in nanoseconds since the epoch.
    """

    stamps: dict[str, Stamp]
    links: dict[str, str]
    moment: int

    @classmethod
    def at(cls, directory: Directory) -> Glance:
        """Look at a directory, which need not be there."""
        moment, (stamps, links) = time_ns(), survey(directory.path)
        return cls(
            {path: each for path, each in stamps.items() if path.endswith(directory.suffixes)},
            {f"{directory.path}/{path}".rstrip("/"): to for path, to in links.items()},
            moment,
        )

    def is_certain(self, tick: int) -> bool:
        """Tell whether whatever was written since would show in the stamps."""
        newest = max((each.latest for each in self.stamps.values()), default=0)
        return newest < self.moment - tick


class Directories:
    """Directories as they were when tools were last looked for in them.

    Between moments that are less than ``tick`` nanoseconds apart stamps may not differ.
    """

    def __init__(self, tick: int = COARSE_TICK) -> None:
        self._tick = tick
        self._glances: dict[Directory, Glance] = {}

    def look(self, directory: Directory) -> None:
        """Remember what a directory looks like; to be called before its files are read."""
        self._glances[directory] = Glance.at(directory)

    def concerned(self, touched: Iterable[str]) -> set[Directory]:
        """Return the directories to which something at one of the paths may matter."""
        paths = list(touched)
        return {each for each in self._glances if any(map(each.is_concerned, paths))}

    def changed(self) -> set[str]:
        """Return the paths of those that look otherwise now, or might do so without a trace."""
        return {
            directory.path
            for directory, before in self._glances.items()
            if not before.is_certain(self._tick) or Glance.at(directory).stamps != before.stamps
        }

    @property
    def paths(self) -> frozenset[str]:
        """Their paths."""
        return frozenset(each.path for each in self._glances)

    @property
    def links(self) -> dict[str, str]:
        """Symbolic links in them, by their absolute paths, and what they lead to."""
        return {link: to for each in self._glances.values() for link, to in each.links.items()}
