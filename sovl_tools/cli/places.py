"""What the paths that ``validate`` is given mean; nothing is imported to tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sovl_tools.cli.command import Misuse, settings
from sovl_tools.configuration import Configuration, configuration
from sovl_tools.loading.discovery import Collected, discover, tool_folder
from sovl_tools.loading.rules.folder import missing_directory, no_tools
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.procedures.parse.files import DIRECTORY, find_procedures, is_procedure
from sovl_tools.procedures.parse.files import files as files_in

_ADVICE = (
    "name the directory under 'plugins' in pyproject.toml or in SOVL_TOOLS_PLUGINS_DIR;"
    " then sovl-tools validate checks it"
)


class Places(NamedTuple):
    """What is to be checked, and the settings that hold."""

    configuration: Configuration
    folders: tuple[str, ...]
    plugins: tuple[str, ...]
    procedures: tuple[str, ...]
    astray: tuple[Diagnostic, ...] = ()


def places_of(paths: Sequence[str], tools: Sequence[str]) -> Places:
    """Return what paths name; without any, all that is configured.

    Raises:
        Misuse: a path is not there.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise Misuse(f"there is no {path!r}")
    procedures, rest = _parted(paths)
    found = settings(tools or rest, needs_tools=False)
    if rest:
        plugins, folders = _named_plugins(rest, found.plugins)
        lost = {path: told for path in folders if (told := _astray(path)) is not None}
        kept = tuple(path for path in folders if path not in lost)
        return Places(found, kept, tuple(plugins), procedures, tuple(lost.values()))
    if not paths:
        procedures = _configured(found)
    if not (procedures or found.plugins):
        settings(tools)
    kept = tuple(filter(os.path.exists, found.paths))
    return Places(found, kept, () if paths else found.plugins, procedures)


def _parted(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files of procedures that paths name or hold, and the paths that are of tools."""
    files: list[str] = []
    others: list[str] = []
    plugins = configuration().plugins if paths else ()
    for path in paths:
        is_folder = os.path.isdir(path)
        found = find_procedures(path) if is_folder else [path] * is_procedure(path)
        files += found
        if not found or (is_folder and (_has_tools(path) or _named_plugins([path], plugins)[0])):
            others.append(path)
    return tuple(dict.fromkeys(files)), tuple(others)


def _has_tools(path: str) -> bool:
    location = os.path.abspath(path)
    own = tool_folder(path, location)
    inner = () if own is not None else discover(path, location)
    return own is not None or any(tool_folder(each.path, each.location) for each in inner)


def _configured(found: Configuration) -> tuple[str, ...]:
    """Return the files of procedures in all directories that are configured.

    Raises:
        Misuse: a directory of procedures is not there.
    """
    for path in found.procedures:
        if not os.path.isdir(path):
            raise Misuse(f"there is no directory of procedures {path!r}")
    own = found.procedures or (DIRECTORY,) * os.path.isdir(DIRECTORY)
    files = [each for path in own for each in (*files_in(path), *find_procedures(path))]
    others = filter(os.path.isdir, (*found.paths, *found.plugins))
    return tuple(
        dict.fromkeys([*files, *(each for path in others for each in find_procedures(path))])
    )


def without_procedures(collected: Collected, files: Sequence[str]) -> Collected:
    """Leave out folders in which there are only procedures, and that these are no tools."""

    def holds(path: str) -> bool:
        return any(each.startswith(os.path.join(path, "")) for each in files)

    folders = tuple(
        each
        for each in collected.folders
        if not holds(each.path) or tool_folder(each.path, each.location) is not None
    )
    return Collected(folders, tuple(each for each in collected.diagnostics if not holds(each.path)))


def _named_plugins(paths: Iterable[str], plugins: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the configured directories of modules that paths name or lie in, and other paths."""
    named, others = [], []
    for path in paths:
        location = os.path.abspath(path)
        around = [each for each in plugins if _is_in(location, os.path.abspath(each))]
        named += around[:1]
        others += [] if around else [path]
    return list(dict.fromkeys(named)), others


def _is_in(location: str, directory: str) -> bool:
    return f"{location}{os.sep}".startswith(f"{directory.rstrip(os.sep)}{os.sep}")


def _astray(path: str) -> Diagnostic | None:
    """Return that a path holds modules outside of tool folders, which nobody has configured."""
    location = os.path.abspath(path)
    if tool_folder(path, location) is not None:
        return None
    if os.path.isfile(location) and path.endswith(".py"):
        rule, words = missing_directory, f"{path} is a module in no tool folder"
    elif _holds_modules(path, location):
        rule, words = no_tools, f"there is no tool folder in {path}, only modules"
    else:
        return None
    return Diagnostic(rule.code, rule.severity, words, _ADVICE, None, path, 1, 1)


def _holds_modules(path: str, location: str) -> bool:
    """Tell whether a directory has modules, and no folder that could be a tool."""
    try:
        names = os.listdir(location)
        folders = discover(path, location)
    except OSError:
        return False
    is_tools = any(tool_folder(each.path, each.location) is not None for each in folders)
    return not is_tools and any(name.endswith(".py") for name in names)
