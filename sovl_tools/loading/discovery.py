"""From a path to the tool folders in it."""

from __future__ import annotations

import os

from sovl_tools.model.folder import ToolFolder


def discover(root: str, location: str) -> list[ToolFolder]:
    """Return the tool folders of a tools directory, ordered by name; not yet looked into.

    ``location`` is the absolute path of ``root``, which is as the caller named it. Plain files and
    folders whose name begins with ``.`` or ``_`` are no tools.

    Raises:
        OSError: the directory can't be listed.
    """
    with os.scandir(location) as entries:
        found = sorted((entry.name, entry.inode()) for entry in entries if _is_candidate(entry))
    return [
        ToolFolder(name, f"{root}/{name}", f"{location}{os.sep}{name}", inode=inode)
        for name, inode in found
    ]


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if entry.name[0] in "._":
        return False
    try:
        return entry.is_dir() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError:
        return True


def tool_folder(path: str, location: str) -> ToolFolder | None:
    """Return the tool folder that a path names, or None if the path is something else.

    ``location`` is the absolute path. A tool folder is one that holds a manifest or a module of
    its own name; a file in one names the folder.
    """
    folder = path
    if os.path.isfile(location):
        folder, location = os.path.dirname(path) or ".", os.path.dirname(location)
    name = os.path.basename(location)
    if not any(os.path.lexists(f"{location}/{name}.{suffix}") for suffix in ("json", "py")):
        return None
    return ToolFolder(name, folder.rstrip("/") or folder, location)


def listed(folder: ToolFolder) -> ToolFolder:
    """Return the folder with its entries.

    Raises:
        OSError: the folder can't be listed.
    """
    with os.scandir(folder.location) as entries:
        found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    folders = frozenset(name for name, is_folder in found.items() if is_folder)
    return folder._replace(files=frozenset(found) - folders, folders=folders)
