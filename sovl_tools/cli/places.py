"""What the paths of a command name: tools, plugins and procedures, or what is configured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from sovl_tools.cli.command import Misuse, settings
from sovl_tools.configuration import Configuration, configuration
from sovl_tools.loading.discovery import Collected, discover, tool_folder
from sovl_tools.loading.rules.folder import missing_directory, no_tools
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.path_patterns import is_excluded, patterns_of
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
    misplaced: tuple[Diagnostic, ...] = ()


def places_of(
    paths: Sequence[str],
    tools: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    locked: bool | None = None,
) -> Places:
    """Return what paths name; without any, all that is configured.

    ``exclude`` are patterns that win over those of the configuration; what they match is left out
    even where a path names it.

    Raises:
        Misuse: a path is not there.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise Misuse(f"there is no {path!r}")
    procedures, rest = _split_paths(paths)  # by names alone: nothing is imported for that
    found = settings(tools or rest, needs_tools=False, locked=locked)
    if exclude:
        sources = {**found.sources, "exclude": "--exclude"}
        found = replace(found, exclude=tuple(exclude), sources=sources)
    excluded = patterns_of(found.exclude, os.getcwd())

    def included(files: Iterable[str]) -> tuple[str, ...]:
        kept = (each for each in files if not is_excluded(os.path.abspath(each), excluded))
        return tuple(dict.fromkeys(kept))

    procedures = included(procedures)
    if rest:
        plugins, folders = _named_plugins(rest, found.plugins)
        misplaced = {
            path: each for path in included(folders) if (each := _misplaced(path)) is not None
        }
        kept = tuple(path for path in folders if path not in misplaced)
        return Places(found, kept, tuple(plugins), procedures, tuple(misplaced.values()))
    if not paths:
        for path in found.procedures:
            if not os.path.isdir(path):
                raise Misuse(f"there is no directory of procedures {path!r}")
        own = found.procedures or (DIRECTORY,) * os.path.isdir(DIRECTORY)
        files = [each for path in own for each in (*files_in(path), *find_procedures(path))]
        # those among tools and plugins are told by their content
        others = filter(os.path.isdir, (*found.paths, *found.plugins))
        files += [each for path in others for each in find_procedures(path)]
        procedures = included(files)
    # where there is nothing else to check, a missing ./tools is misuse
    if not (procedures or found.plugins):
        settings(tools)
    kept = tuple(filter(os.path.exists, found.paths))
    return Places(found, kept, () if paths else found.plugins, procedures)


def _split_paths(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files of procedures that paths name or hold, and the paths that are of tools."""
    files: list[str] = []
    others: list[str] = []
    plugins = configuration().plugins if paths else ()
    for path in paths:
        # a directory can be of both, and a file of procedures may lie in any
        is_folder = os.path.isdir(path)
        found = find_procedures(path) if is_folder else [path] * is_procedure(path)
        files += found
        if not found or (is_folder and (_has_tools(path) or _named_plugins([path], plugins)[0])):
            others.append(path)
    return tuple(dict.fromkeys(files)), tuple(others)


def _has_tools(path: str) -> bool:
    """Tell whether a path is a tool's folder or a directory of such."""
    location = os.path.abspath(path)
    if tool_folder(path, location) is not None:
        return True
    return any(tool_folder(each.path, each.location) for each in discover(path, location))


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
        # compared with a separator at the end, since plugins2 does not lie in plugins
        around = [
            each
            for each in plugins
            if f"{location}{os.sep}".startswith(f"{os.path.abspath(each).rstrip(os.sep)}{os.sep}")
        ]
        named += around[:1]
        others += [] if around else [path]
    return list(dict.fromkeys(named)), others


def _misplaced(path: str) -> Diagnostic | None:
    """Return that a path holds modules outside of tool folders, which nobody has configured."""
    location = os.path.abspath(path)
    if tool_folder(path, location) is not None:
        return None
    rule = words = None
    if os.path.isfile(location) and path.endswith(".py"):
        rule, words = missing_directory, f"{path} is a module in no tool folder"
    else:
        with suppress(OSError):  # the check of the folder says that it can't be listed
            is_code = any(name.endswith(".py") for name in os.listdir(location))
            if is_code and not _has_tools(path):
                rule, words = no_tools, f"there is no tool folder in {path}, only modules"
    if rule is None or words is None:
        return None
    return Diagnostic(rule.code, rule.severity, words, _ADVICE, None, path, 1, 1)
