"""The packages and variables that a tool requires. Checking them imports no package."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from typing import Any

from sovl_tools.model.document import JSON

_NO_PROCESSES = (
    "tools run in processes with the extra sovl-tools[process] alone, which is not installed"
)


def processes_missing() -> str | None:
    """Return why tools can't run in worker processes; None if they can."""
    return None if is_importable("pebble") else _NO_PROCESSES


def needs_process(execution: Mapping[str, JSON]) -> bool:
    """Return whether a tool requires a process, or limits that only a process has."""
    asked = execution.get("mode")
    has_limits = "memory_mb" in execution or execution.get("isolated_env") is True
    return asked == "process" or (has_limits and asked is None)


def unmet(document: Mapping[str, JSON]) -> tuple[str, ...]:
    """Return a message for each missing requirement of a manifest's ``requires``."""
    requires = document.get("requires")
    if not requires:
        return ()
    variables = [name for name in requires.get("env", ()) if not os.environ.get(name)]
    packages = [_missing(text) for text in requires.get("packages", ())]
    return tuple(
        [f"the environment variable {name} is not set" for name in variables]
        + [f"the package {text} is not installed" for text in packages if text]
    )


def unmet_by_platform(document: Mapping[str, JSON]) -> tuple[str, ...]:
    """Return a message for each missing requirement of a manifest's ``execution``."""
    reason = processes_missing() if needs_process(document.get("execution", {})) else None
    return () if reason is None else (reason,)


def _missing(text: str) -> str:
    """Return the requirement if it is not met, with the version that is there; otherwise ``""``."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - 20 ms

    wanted = parsed_requirement(text)
    if wanted is None:
        return text
    if wanted.marker is not None and not wanted.marker.evaluate():
        return ""
    try:
        found = distribution(wanted.name)
    except (PackageNotFoundError, ValueError):
        is_name = not (wanted.specifier or wanted.extras or wanted.url)
        return "" if is_name and is_importable(wanted.name) else text
    # a pre-release that is installed was chosen by its user
    if not wanted.specifier.contains(found.version, prereleases=True):
        return f"{text} (but {found.version})"
    for line in (found.requires or ()) if wanted.extras else ():
        needed = parsed_requirement(line)
        marker = needed and needed.marker
        # requirements for other extras don't matter
        is_due = marker and any(marker.evaluate({"extra": one}) for one in wanted.extras)
        missing = _missing(line.partition(";")[0]) if is_due else ""
        if missing:
            return f"{text}, of which {missing}"
    return ""


@lru_cache(maxsize=256)
def parsed_requirement(text: str) -> Any:
    """Return a requirement; None if the text isn't one, or its markers can't be compared."""
    from packaging.requirements import Requirement  # noqa: PLC0415 - 10 ms

    try:
        wanted = Requirement(text)
        if wanted.marker is not None:
            wanted.marker.evaluate()
    except (ValueError, LookupError):
        return None
    return wanted


def is_importable(name: str) -> bool:
    """Return whether a module can be imported, without importing the packages above it."""
    if name in sys.modules:
        return True
    # ``find_spec`` of the whole name would import the packages above it
    outer, *inner = name.split(".")
    try:
        spec: ModuleSpec | None = find_spec(outer)
        for each in inner:
            if spec is None or spec.submodule_search_locations is None:
                return False
            outer = f"{outer}.{each}"
            spec = PathFinder.find_spec(outer, spec.submodule_search_locations)
    except (ImportError, ValueError):
        return False
    return spec is not None
