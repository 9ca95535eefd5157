"""Resolves paths of a command line to tools, plugins and procedures."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sovl_tools.cli.command import Misuse, settings
from sovl_tools.configuration import DEFAULT_SOURCE, Configuration, configuration
from sovl_tools.loading.sources import Collected, collect, discover, is_tool_name, tool_folder
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.path_patterns import is_excluded, patterns_of
from sovl_tools.procedures.parse.files import DIRECTORY, find_procedures, is_procedure
from sovl_tools.procedures.parse.files import files as files_in


class Places(NamedTuple):
    """What is checked, and the settings that apply.

    Attributes:
        configuration: the settings.
        collected: the tool folders.
        plugins: directories of modules.
        procedures: files of procedures.
        ignored: files on the command line that belong to no tool and no procedure.
    """

    configuration: Configuration
    collected: Collected = Collected((), ())
    plugins: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there's nothing to check, and no diagnostic that says so."""
        return not (any(self.collected) or self.plugins or self.procedures)


def places_of(
    paths: Sequence[str],
    tools: Sequence[str],
    *,
    locked: bool | None = None,
    imports: bool = True,
) -> Places:
    """Return the places that paths name; without paths, everything that is configured.

    What the configuration excludes is omitted even if a path names it. Without ``imports`` the
    user's packages stay out of ``sys.path``.

    Raises:
        Misuse: a path does not exist.
    """
    named = _named(paths, configuration(tools))
    # procedures are checked with all tools, unless directories of tools are named
    is_all = not paths or bool(named.procedures and not named.directories)
    flags = tools or (() if is_all else (*named.directories, *named.folders))
    found = settings(flags, needs_tools=False, locked=locked, imports=imports)
    procedures = _included(named.procedures if paths else _configured_procedures(found), found)
    if not paths and not (procedures or found.plugins):
        settings(tools, imports=imports)  # with nothing else to check, a missing ./tools is misuse
    roots = filter(os.path.exists, found.paths) if is_all else _included(named.directories, found)
    collected = _without_procedures(collect(roots, exclude=found.exclude), procedures)
    known = {each.location for each in collected.folders}
    more = [(each, os.path.abspath(each)) for each in _included(named.folders, found)]
    folders = [
        ToolFolder(os.path.basename(location), path, location)
        for path, location in more
        if location not in known
    ]
    return Places(
        found,
        collected._replace(folders=(*collected.folders, *folders)),
        _included(named.plugins if paths else found.plugins, found),
        procedures,
        tuple(named.ignored),
    )


def quotable(places: Places, named: Iterable[str]) -> tuple[str, ...]:
    """Return the real directories of tools, plugins and procedures whose files can be quoted.

    Each is in the project, or in a directory that is ``named`` on the command line, and not behind
    a link: a stranger's link or configuration could lead to the user's own files.
    """
    found = places.configuration
    beginnings = [os.path.dirname(os.path.abspath(each)) for each in named]
    beginnings.append(os.path.abspath(os.path.dirname(found.file or "")))
    directories = [os.path.dirname(each.location) for each in places.collected.folders]
    directories += [os.path.dirname(os.path.abspath(each)) for each in places.procedures]
    directories += [os.path.abspath(each) for each in (*places.plugins, found.lock_file)]
    roots = set[str]()
    for each in dict.fromkeys(directories):
        around = [begin for begin in beginnings if Path(each).is_relative_to(begin)]
        if around and is_direct(each, min(around, key=len)):
            roots.add(os.path.realpath(each))
    return tuple(roots)


def is_direct(path: str, begin: str) -> bool:
    """Return whether no link leads from a directory to a path below it."""
    real = os.path.join(os.path.realpath(begin), os.path.relpath(path, begin))
    return os.path.realpath(path) == os.path.normpath(real)


def changed_places(places: Places, changed: Collection[str]) -> Places:
    """Omit what has not changed; with a changed procedure all tools stay.

    ``changed`` are the absolute paths of files, which can have been deleted.
    """
    files = frozenset(changed)
    around = {above for path in files for above in _with_parents(path)}

    def has_changed(path: str) -> bool:
        locations = {os.path.abspath(path), os.path.realpath(path)}
        # git lists a submodule as a path, and no file in it
        return any(
            each in around or not files.isdisjoint(_with_parents(each)) for each in locations
        )

    procedures = tuple(filter(has_changed, places.procedures))
    collected = places.collected
    if not procedures:
        kept = tuple(each for each in collected.folders if has_changed(each.location))
        collected = Collected(kept, ())
    plugins = tuple(filter(has_changed, places.plugins))
    return Places(places.configuration, collected, plugins, procedures)


def _with_parents(path: str) -> list[str]:
    above = [path]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    return above


def _included(paths: Iterable[str], found: Configuration) -> tuple[str, ...]:
    """Return the paths without duplicates and without those that are excluded."""
    excluded = patterns_of(found.exclude, os.getcwd())
    kept = (each for each in paths if not is_excluded(os.path.abspath(each), excluded))
    return tuple(dict.fromkeys(kept))


def _configured_procedures(found: Configuration) -> Iterator[str]:
    """Yield the files of procedures in the configured directories, and among tools and plugins.

    Raises:
        Misuse: a directory does not exist, or can't be listed.
    """
    for path in found.procedures:
        if not os.path.isdir(path):
            raise Misuse(f"there's no directory of procedures {path!r}")
    # next to the tools, where these are found from a directory below
    beside = os.path.join(os.path.dirname(found.paths[0]), DIRECTORY)
    default = beside if found.source == DEFAULT_SOURCE else DIRECTORY
    for path in found.procedures or (default,) * os.path.isdir(default):
        try:
            yield from files_in(path)
        except OSError as error:
            raise Misuse(f"{path!r} can't be listed: {error.strerror}") from error
        yield from find_procedures(path)
    # among tools and plugins, procedures are recognized by their content
    for path in filter(os.path.isdir, (*found.paths, *found.plugins)):
        yield from find_procedures(path)


class _Named(NamedTuple):
    """What paths name; ``folders`` are the tool folders around files."""

    directories: list[str]
    folders: list[str]
    plugins: list[str]
    procedures: list[str]
    ignored: list[str]


def _named(paths: Sequence[str], found: Configuration) -> _Named:
    """Classify paths by names and contents; nothing is imported.

    Raises:
        Misuse: a path does not exist.
    """
    named = _Named([], [], [], [], [])
    roots = [*map(os.path.abspath, found.paths)]
    for path in paths:
        if not os.path.exists(path):
            raise Misuse(f"there's no {path!r}")
        plugin = _plugin_around(path, found.plugins)
        if os.path.isdir(path):
            inside = find_procedures(path)
            named.procedures.extend(inside)
            if plugin is not None:
                named.plugins.append(plugin)
            elif not inside or _has_tools(path):
                named.directories.append(path)
        elif is_procedure(path):
            named.procedures.append(path)
        elif plugin is not None:
            named.plugins.append(plugin)
        elif (folder := _folder_around(path, roots)) is not None:
            named.folders.append(folder)
        else:
            named.ignored.append(path)
    return named


def _plugin_around(path: str, plugins: Sequence[str]) -> str | None:
    """Return the configured directory of plugins that a path is, or is in."""
    location = Path(os.path.abspath(path))
    return next((e for e in plugins if location.is_relative_to(os.path.abspath(e))), None)


def _folder_around(path: str, roots: Collection[str]) -> str | None:
    """Return the tool folder of a file; None if it belongs to none.

    A folder in a tools directory counts if it would when the whole directory is checked.
    """
    above = [each or os.curdir for each in _with_parents(path)[1:]]
    for folder in above:
        location = os.path.abspath(folder)
        if os.path.dirname(location) in roots:
            return folder if is_tool_name(location) else None
    for folder in above:
        name = os.path.basename(os.path.abspath(folder))
        if os.path.isfile(os.path.join(folder, f"{name}.json")):
            return folder
    return above[0] if tool_folder(above[0], os.path.abspath(above[0])) is not None else None


def _has_tools(path: str) -> bool:
    """Return whether a path is a tool folder or a directory of tool folders."""
    location = os.path.abspath(path)
    if tool_folder(path, location) is not None:
        return True
    return any(tool_folder(each.path, each.location) for each in discover(path, location))


def _without_procedures(collected: Collected, files: Sequence[str]) -> Collected:
    """Omit folders that hold only procedures, and the diagnostics that they aren't tools."""

    def holds(path: str) -> bool:
        return any(each.startswith(os.path.join(path, "")) for each in files)

    folders = tuple(
        each
        for each in collected.folders
        if not holds(each.path) or tool_folder(each.path, each.location) is not None
    )
    return Collected(folders, tuple(each for each in collected.diagnostics if not holds(each.path)))
