"""Which directories to watch, what is heard of them, and under which path it is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from sovl_tools.reloading.noise import is_noise
from sovl_tools.reloading.observer import Event


class Place(NamedTuple):
    """A directory to watch, and how to tell of it.

    Attributes:
        real: its absolute path without symbolic links.
        logical: the path under which what happens there is told.
        recursive: whether the folders below are watched as well.
        only: the one name in it that counts, that of a link's target; no folder below is watched
            then, and ``logical`` is the path of the link.
    """

    real: str
    logical: str
    recursive: bool = True
    only: str | None = None


def places(paths: Iterable[str], links: Mapping[str, str]) -> set[Place]:
    """Return the directories in which changes of the paths show.

    Args:
        paths: absolute paths of directories, be they there or not, and of single files.
        links: absolute paths of symbolic links below them, and what they lead to.
    """
    return {_place(path, os.path.realpath(path)) for path in paths} | {
        _place(link, target) for link, target in links.items()
    }


def _place(logical: str, real: str) -> Place:
    if os.path.isdir(real):
        return Place(real, logical)
    folder, name = os.path.split(real)
    return Place(folder, logical, recursive=False, only=name)


class Target(NamedTuple):
    """What is watched once, for however many places."""

    real: str
    recursive: bool


def by_target(places: Iterable[Place]) -> dict[Target, frozenset[Place]]:
    """Return the places, those together that one watch serves."""
    groups: dict[Target, frozenset[Place]] = {}
    for place in places:
        target = Target(place.real, place.recursive and place.only is None)
        groups[target] = groups.get(target, frozenset()) | {place}
    return groups


class Listener:
    """Hears what happens at one target, and tells it of each of the places there.

    Attributes:
        places: whom it concerns; may be replaced at any time.
        is_worn: whether the target or a folder below is gone. Of the one nothing more is heard.
            The other may have been moved away: watchdog goes on counting it under its old path,
            and once another folder takes that path its books fail, and a thread of it with them.
    """

    def __init__(
        self, tell: Callable[[str], None], target: Target, places: frozenset[Place] = frozenset()
    ) -> None:
        self.places = places
        self.is_worn = False
        self._tell = tell
        self._target = target

    def dispatch(self, event: Event) -> None:
        """Tell the path of an event, or both if something was moved."""
        path = os.fsdecode(event.src_path)
        if event.is_directory and event.event_type == "deleted":
            self.is_worn |= self._target.recursive or path == self._target.real
        self._hear(path)
        if event.dest_path:
            self._hear(os.fsdecode(event.dest_path))

    def _hear(self, path: str) -> None:
        rest = path[len(self._target.real.rstrip(os.sep)) :]
        names = [name for name in rest.split(os.sep) if name]
        for place in self.places:
            if place.only is None and not any(map(is_noise, names)):
                self._tell(place.logical.rstrip(os.sep) + rest)
            elif names in ([], [place.only]):
                self._tell(place.logical)
