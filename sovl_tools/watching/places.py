"""Which directories have to be watched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from sovl_tools.watching.events import Place

__all__ = ["Place", "places"]


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
