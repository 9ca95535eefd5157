"""Files under one root directory, and no others.

The root is the directory that the environment variable SOVL_TOOLS_ROOT names, otherwise the current
one. `..`, absolute paths and symbolic links are followed first; what they lead to must
lie under the root.
"""

import os
from pathlib import Path

ROOT_VARIABLE = "SOVL_TOOLS_ROOT"


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
    place = Path(os.path.realpath(root / path))
    if not place.is_relative_to(root):
        raise ValueError(f"{path!r} leads outside the root directory")
    return place


def regular_file(path: str) -> Path:
    """Return the place of a file; raise ValueError if it isn't one, or is outside the root."""
    place = resolve(path)
    if not os.path.isfile(place):
        is_other = os.path.exists(place)
        problem = "it is a directory, pipe or device, not a file" if is_other else "no such file"
        raise ValueError(f"cannot read {path!r}: {problem}")
    return place


def read_file(path: str, *, limit: int) -> bytes:
    """Return the bytes of a file; raise ValueError if it is unreadable or too large."""
    try:
        with regular_file(path).open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise ValueError(f"cannot read {path!r}: {error.strerror or error}") from None
    if len(content) > limit:
        raise ValueError(f"{path!r} is larger than the {limit} bytes that can be read")
    return content
