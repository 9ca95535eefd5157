"""Resolves the paths of a command line to tools, plugins and procedures, or what is configured."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sovl_tools.cli.command import Misuse, settings
from sovl_tools.configuration import DEFAULT_SOURCE, Configuration, configuration
from sovl_tools.loading.rules.folder import no_tools
from sovl_tools.loading.sources import Collected, collect, discover, is_tool_name, tool_folder
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.path_patterns import is_excluded, patterns_of
from sovl_tools.procedures.parse.files import DIRECTORY, find_procedures, is_procedure
from sovl_tools.procedures.parse.files import files as files_in

_ADVICE = (
    "name the directory under 'plugins' in pyproject.toml or in SOVL_TOOLS_PLUGINS_DIR;"
    " then sovl-tools validate checks it"
)


class Places(NamedTuple):
    """What is to be checked, and the settings that apply.

    Attributes:
        configuration: the settings.
        collected: the tool folders.
        plugins: directories of modules.
        procedures: files of procedures.
        misplaced: diagnostics of the paths themselves.
        ignored: files on the command line that belong to no tool and no procedure.
    """

    configuration: Configuration
    collected: Collected = Collected((), ())
    plugins: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()
    misplaced: tuple[Diagnostic, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to check, and no diagnostic that says so."""
        return not (any(self.collected) or self.plugins or self.procedures or self.misplaced)


def places_of(
    paths: Sequence[str],
    tools: Sequence[str],
    *,
    locked: bool | None = None,
    imports: bool = True,
) -> Places:
    """Return what the paths name; without paths, everything that is configured.

    What the configuration excludes is left out even if a path names it. Without ``imports`` the
    user's packages stay out of ``sys.path``.

    Raises:
        Misuse: a path does not exist, and is not a deleted file of a tool either.
    """
    procedures, directories, files = _split_paths(paths, configuration(tools))
    around = tuple(dict.fromkeys(each for each in files.values() if each is not None))
    rest = (*directories, *around)
    # procedures are checked with all tools, unless directories of tools are named
    flags = tools or (rest if directories or not procedures else ())
    found = settings(flags, needs_tools=False, locked=locked, imports=imports)
    procedures = _included(procedures, found)
    ignored = tuple(path for path, folder in files.items() if folder is None)
    if paths and not (rest or procedures):
        return Places(found, ignored=tuple(filter(os.path.lexists, ignored)))
    if rest and (directories or not procedures):
        plugins, folders = _named_plugins(directories, found.plugins)
        faults = {each: _misplaced(each) for each in _included(folders, found)}
        misplaced = tuple(each for each in faults.values() if each is not None)
        kept = [each for each, fault in faults.items() if fault is None]
        collected = _collected(found, kept, around, procedures)
        modules = _included(plugins, found)
        return Places(found, collected, modules, procedures, misplaced, ignored)
    if not paths:
        procedures = _included(_configured_procedures(found), found)
    # where there is nothing else to check, a missing ./tools is misuse
    if not (procedures or found.plugins):
        settings(tools, imports=imports)
    collected = _collected(found, filter(os.path.exists, found.paths), around, procedures)
    modules = () if paths else _included(found.plugins, found)
    return Places(found, collected, modules, procedures, ignored=ignored)


def changed_places(places: Places, changed: Collection[str]) -> Places:
    """Leave out what has not changed; with a changed procedure all tools stay.

    ``changed`` are the absolute paths of files, which may have been deleted.
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


def _collected(
    found: Configuration, paths: Iterable[str], around: Iterable[str], procedures: Sequence[str]
) -> Collected:
    """Return the tool folders in paths and those around files, without folders of procedures."""
    collected = _without_procedures(collect(paths, exclude=found.exclude), procedures)
    known = {each.location for each in collected.folders}
    others = [(each, os.path.abspath(each)) for each in _included(around, found)]
    more = [
        ToolFolder(os.path.basename(location), path, location)
        for path, location in others
        if location not in known
    ]
    return collected._replace(folders=(*collected.folders, *more))


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
            raise Misuse(f"there is no directory of procedures {path!r}")
    # beside the tools, where these are found from a directory below
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


def _split_paths(
    paths: Sequence[str], found: Configuration
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str | None]]:
    """Return files of procedures, directories, and other files, each with its tool folder or None.

    Paths are classified by names and contents; nothing is imported.
    """
    procedures: list[str] = []
    directories: list[str] = []
    others: dict[str, str | None] = {}
    for path in paths:
        is_plugin = bool(_named_plugins([path], found.plugins)[0])
        # a link to nothing is a tool whose folder is gone, or whose file is
        if os.path.isdir(path) or (os.path.islink(path) and not os.path.exists(path)):
            # a directory can be of both, and a file of procedures may lie in any
            inside = find_procedures(path)
            procedures += inside
            if not inside or _has_tools(path) or is_plugin:
                directories.append(path)
        elif os.path.lexists(path) and is_procedure(path):
            procedures.append(path)
        elif os.path.lexists(path) and is_plugin:
            directories.append(path)
        else:
            others[path] = _folder_around(path, [*map(os.path.abspath, found.paths)])
    return tuple(dict.fromkeys(procedures)), tuple(directories), others


def _folder_around(path: str, roots: Collection[str]) -> str | None:
    """Return the tool folder of a file, which may have been deleted; None if it belongs to none.

    A folder in a tools directory counts if it would when the whole directory is checked.

    Raises:
        Misuse: the file does not exist, and nothing shows that it ever did.
    """
    above = [each or os.curdir for each in _with_parents(path)[1:]]
    for folder in above:
        location = os.path.abspath(folder)
        if os.path.dirname(location) in roots:
            # of a folder that was deleted as a whole nothing is left to check
            return folder if os.path.isdir(location) and is_tool_name(location) else None
    for folder in above:
        name = os.path.basename(os.path.abspath(folder))
        if os.path.isfile(os.path.join(folder, f"{name}.json")):
            return folder
    parent = os.path.dirname(path) or os.curdir
    if path and tool_folder(parent, os.path.abspath(parent)) is not None:
        return parent
    # a path without a suffix could be a misspelt tool; a file with one was deleted
    is_file_name = bool(os.path.splitext(path)[1])
    if os.path.lexists(path) or (is_file_name and os.path.abspath(parent) in roots):
        return None
    from sovl_tools.cli.git import has_known  # noqa: PLC0415 - where nothing else tells

    if has_known(path):
        return None
    raise Misuse(f"there is no {path!r}")


def _has_tools(path: str) -> bool:
    """Tell whether a path is a tool folder or a directory of tool folders."""
    location = os.path.abspath(path)
    if tool_folder(path, location) is not None:
        return True
    return any(tool_folder(each.path, each.location) for each in discover(path, location))


def _without_procedures(collected: Collected, files: Sequence[str]) -> Collected:
    """Leave out folders that hold only procedures, and the diagnostics that they are no tools."""

    def holds(path: str) -> bool:
        return any(each.startswith(os.path.join(path, "")) for each in files)

    folders = tuple(
        each
        for each in collected.folders
        if not holds(each.path) or tool_folder(each.path, each.location) is not None
    )
    return Collected(folders, tuple(each for each in collected.diagnostics if not holds(each.path)))


def _named_plugins(paths: Iterable[str], plugins: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the configured plugin directories that paths are or lie in, and the other paths."""
    named, others = [], []
    for path in paths:
        location = Path(os.path.abspath(path))
        around = [each for each in plugins if location.is_relative_to(os.path.abspath(each))]
        named += around[:1]
        others += [] if around else [path]
    return list(dict.fromkeys(named)), others


def _misplaced(path: str) -> Diagnostic | None:
    """Return the diagnostic of a directory of modules that is not configured as plugins."""
    location = os.path.abspath(path)
    if tool_folder(path, location) is not None:
        return None
    words = f"there is no tool folder in {path}, only modules"
    with suppress(OSError):  # the check of the folder says that it can't be listed
        is_code = any(name.endswith(".py") for name in os.listdir(location))
        if is_code and not _has_tools(path):
            return Diagnostic(no_tools.code, no_tools.severity, words, _ADVICE, None, path, 1, 1)
    return None
