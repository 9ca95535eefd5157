"""Which paths are of modules with tools; nothing of those is imported to tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from sovl_tools.loading.checks.folder import missing_directory, no_tools
from sovl_tools.loading.discovery import discover, tool_folder
from sovl_tools.model.diagnostic import Diagnostic

_ADVICE = (
    "name the directory under 'plugins' in pyproject.toml or in SOVL_TOOLS_PLUGINS_DIR;"
    " then sovl-tools validate checks it"
)


def named_plugins(paths: Iterable[str], plugins: Sequence[str]) -> tuple[list[str], list[str]]:
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


def astray(path: str) -> Diagnostic | None:
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
