"""Files under one root directory, and no others.

The root is the directory that the environment variable SOVL_TOOLS_ROOT names, otherwise the current
one. `..`, absolute paths and symbolic links are followed first; what they lead to must
lie under the root.
"""

import errno
import os
import stat
from contextlib import ExitStack
from pathlib import Path

ROOT_VARIABLE = "SOVL_TOOLS_ROOT"

# Not all of these exist on every system. O_NONBLOCK keeps a named pipe from blocking the open.
_DIRECTORY_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


def root_directory() -> Path:
    """Return the root, links followed; raise ValueError if there's no such directory."""
    root = Path(os.path.realpath(os.environ.get(ROOT_VARIABLE) or os.curdir))
    if not root.is_dir():
        raise ValueError(f"the root directory that {ROOT_VARIABLE} names does not exist")
    return root


def resolve(path: str) -> Path:
    """Return the place that `path` leads to; raise ValueError if it is outside the root."""
    if "\0" in path:
        raise ValueError("a path cannot contain a NUL character")
    root = root_directory()
    place = _followed(root / path)
    if not place.is_relative_to(root):
        raise ValueError(f"{path!r} leads outside the root directory")
    return place


def read_file(path: str, *, limit: int) -> bytes:
    """Return the bytes of a regular file; raise ValueError if it is unreadable or too large."""
    place = resolve(path)
    try:
        content = _read(_open(place), limit + 1)
    except OSError as error:
        raise ValueError(f"cannot read {path!r}: {_reason(error)}") from None
    if len(content) > limit:
        raise ValueError(f"{path!r} is larger than the {limit} bytes that can be read")
    return content


def file_status(place: Path) -> os.stat_result:
    """Return the status of a regular file without opening it; raise ValueError if it isn't one.

    Closing a database here would drop the locks that another connection of this process holds.
    """
    try:
        if os.stat not in os.supports_dir_fd or os.open not in os.supports_dir_fd:
            status = os.lstat(place)
        else:
            with ExitStack() as descriptors:
                parent, name = _walked(descriptors, place)
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError as error:
        raise ValueError(f"cannot open {place.name!r}: {_reason(error)}") from None
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{place.name!r} is a directory, link, pipe, socket or device, not a file")
    return status


def _followed(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except OSError as error:  # a link that vanishes while it is followed
        raise ValueError(f"cannot read {path.name!r}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _read(descriptor: int, count: int) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is a directory, pipe, socket or device, not a file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(count)
    finally:
        os.close(descriptor)


def _open(place: Path) -> int:
    if os.open not in os.supports_dir_fd:
        return os.open(place, _FILE_FLAGS)
    with ExitStack() as descriptors:
        parent, name = _walked(descriptors, place)
        return os.open(name, _FILE_FLAGS, dir_fd=parent)


def _walked(descriptors: ExitStack, place: Path) -> tuple[int, str]:
    """Walk down from the root without following a link; return the last directory and the name.

    `place` contains no links: one that is met now was put there after the check, and is rejected.
    """
    root = root_directory()
    *directories, name = place.relative_to(root).parts or (os.curdir,)
    parent = _enter(descriptors, root, None)
    for directory in directories:
        parent = _enter(descriptors, directory, parent)
    return parent, name


def _enter(descriptors: ExitStack, directory: str | Path, parent: int | None) -> int:
    descriptor = os.open(directory, _DIRECTORY_FLAGS, dir_fd=parent)
    descriptors.callback(os.close, descriptor)
    return descriptor
