"""Where a database lies under one root directory, found out without opening it.

The root is the directory that the environment variable SOVL_TOOLS_ROOT names, otherwise the current
one. The file is only looked at: to open and close a database here would drop the locks that another
connection of this process holds on it.
"""

import os
import stat
from contextlib import ExitStack
from pathlib import Path

ROOT_VARIABLE = "SOVL_TOOLS_ROOT"

_DIRECTORY_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def resolve(path: str) -> Path:
    """Return the place that `path` leads to; raise ValueError if it is outside the root."""
    if "\0" in path:
        raise ValueError("a path cannot contain a NUL character")
    root = _root()
    place = _followed(root / path)
    if not place.is_relative_to(root):
        raise ValueError(f"{path!r} leads outside the root directory")
    return place


def file_status(place: Path) -> os.stat_result:
    """Return the status of a regular file, reached without links; raise ValueError otherwise."""
    try:
        status = _status(place)
    except OSError as error:
        raise ValueError(f"cannot open {place.name!r}: {_reason(error)}") from None
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{place.name!r} is a directory, link, pipe, socket or device, not a file")
    return status


def _followed(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except OSError as error:  # a link that vanishes while it is followed
        raise ValueError(f"cannot open {path.name!r}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _root() -> Path:
    root = Path(os.path.realpath(os.environ.get(ROOT_VARIABLE) or os.curdir))
    if not root.is_dir():
        raise ValueError(f"the root directory that {ROOT_VARIABLE} names does not exist")
    return root


def _status(place: Path) -> os.stat_result:
    if os.stat not in os.supports_dir_fd or os.open not in os.supports_dir_fd:
        return os.lstat(place)
    root = _root()
    *directories, name = place.relative_to(root).parts or (os.curdir,)
    with ExitStack() as descriptors:
        parent = _enter(descriptors, root, None)
        for directory in directories:
            parent = _enter(descriptors, directory, parent)
        return os.stat(name, dir_fd=parent, follow_symlinks=False)


def _enter(descriptors: ExitStack, directory: str | Path, parent: int | None) -> int:
    descriptor = os.open(directory, _DIRECTORY_FLAGS, dir_fd=parent)
    descriptors.callback(os.close, descriptor)
    return descriptor
