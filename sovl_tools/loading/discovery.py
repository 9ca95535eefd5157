"""From the paths that a caller names to the tool folders in them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from itertools import chain
from typing import NamedTuple

from sovl_tools.loading.rules.folder import missing_directory, no_tools
from sovl_tools.model.catalog import Candidate, Catalog, LoadReport
from sovl_tools.model.diagnostic import Deferred, Diagnostic, ask, in_order
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.path_patterns import is_excluded, patterns_of

_HIDDEN = (".", "_")


def discover(root: str, location: str) -> list[ToolFolder]:
    """Return the tool folders of a tools directory, ordered by name; not yet looked into.

    ``location`` is the absolute path of ``root``, which is as the caller named it. Plain files and
    folders whose name begins with ``.`` or ``_`` are no tools.

    Raises:
        OSError: the directory can't be listed.
    """
    with os.scandir(location) as entries:
        # the order of a directory differs from one file system to the next
        found = sorted(
            (entry.name, entry.inode(), entry.is_symlink())
            for entry in entries
            if _is_candidate(entry)
        )
    none: frozenset[str] = frozenset()
    return [
        # by place, which takes half the time: a reload makes all of them
        ToolFolder(name, f"{root}/{name}", f"{location}{os.sep}{name}", none, none, 0, inode, link)
        for name, inode, link in found
    ]


def is_tool_name(path: str) -> bool:
    """Tell whether a folder of that name, in a tools directory, is one of a tool."""
    name = os.path.basename(path)
    return bool(name) and not name.startswith(_HIDDEN)


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(_HIDDEN):
        return False
    try:
        # a link to nothing is a tool whose folder is gone, which somebody wants to hear of
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
    # a link to nothing counts: the folder is a tool that lacks a file
    if not any(os.path.lexists(f"{location}/{name}.{suffix}") for suffix in ("json", "py")):
        return None
    is_link = os.path.islink(location)
    return ToolFolder(name, folder.rstrip("/") or folder, location, is_link=is_link)


def listed(folder: ToolFolder) -> ToolFolder:
    """Return the folder with its entries.

    Raises:
        OSError: the folder can't be listed.
    """
    with os.scandir(folder.location) as entries:
        found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    folders = frozenset(name for name, is_folder in found.items() if is_folder)
    return folder._replace(files=frozenset(found) - folders, folders=folders)


class Collected(NamedTuple):
    """Tool folders in the order of their precedence, and what is wrong with the paths."""

    folders: tuple[ToolFolder, ...]
    diagnostics: tuple[Diagnostic, ...]


def is_gone(error: OSError | ValueError) -> bool:
    """Tell whether a directory can't be listed because it is not there."""
    return isinstance(error, FileNotFoundError | NotADirectoryError | ValueError)


def collect(
    paths: Iterable[str | os.PathLike[str]],
    *,
    names: Collection[str] | None = None,
    base: str = "",
    known: Iterable[ToolFolder] = (),
    exclude: Iterable[str] = (),
) -> Collected:
    """Return the tool folders of the paths; of those names only, if any are given.

    A path may be a tools directory, one tool folder or a file in one. A folder that is named
    twice counts once.

    Args:
        paths: relative ones are so to ``base``, by default the current directory.
        names: names of folders.
        base: an absolute path.
        known: the folders of before, which stay where a directory is there but can't be listed.
        exclude: patterns of folders to leave out, as in a ``.gitignore`` of ``base``.
    """
    excluded = patterns_of(exclude, os.path.abspath(base)) if exclude else ()
    folders: dict[str, ToolFolder] = {}
    diagnostics: list[Diagnostic] = []
    for path in paths:
        text = os.fspath(path)
        location = os.path.abspath(os.path.join(base, text))
        try:
            folder = tool_folder(text, location)
            found = discover(text, location) if folder is None else [folder]
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            diagnostics += [
                each.at(text, tool=None) for each in ask((missing_directory,), (text, reason))
            ]
            stays = not is_gone(error)
            found = [each for each in known if stays and os.path.dirname(each.location) == location]
        else:
            if not found:
                diagnostics += [each.at(text, tool=None) for each in ask((no_tools,), text)]
        if excluded:
            found = [each for each in found if not is_excluded(each.location, excluded)]
        # two paths may lead to one directory, through a link
        root = os.path.realpath(os.path.dirname(found[0].location)) if found else ""
        for folder in found:
            folders.setdefault(f"{root}/{folder.name}", folder)
    wanted = [each for each in folders.values() if names is None or each.name in names]
    return Collected(tuple(wanted), tuple(diagnostics))


def report_of(catalog: Catalog, diagnostics: Iterable[Diagnostic]) -> LoadReport:
    """Return the report of a load: of the paths, of each folder, and between tools."""
    known = (*diagnostics, *catalog.diagnostics)

    def found(candidates: Iterable[Candidate]) -> tuple[Diagnostic, ...]:
        return in_order([*known, *chain.from_iterable(each.diagnostics for each in candidates)])

    every = catalog.candidates
    flawed = [each for each in every if each.status != "loaded"]
    return LoadReport(every, Deferred(lambda: found(every)), Deferred(lambda: found(flawed)))
