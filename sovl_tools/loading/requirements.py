"""What a tool needs of its surroundings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

from sovl_tools.model.document import JSON


def unmet(document: Mapping[str, JSON]) -> tuple[str, ...]:
    """Return, in words, what a manifest's ``requires`` asks for and is not there."""
    requires = document.get("requires")
    if not requires:
        return ()
    variables = [name for name in requires.get("env", ()) if not os.environ.get(name)]
    packages = [name for name in requires.get("packages", ()) if not _is_installed(name)]
    return tuple(
        [f"the environment variable {name} is not set" for name in variables]
        + [f"the package {name} is not installed" for name in packages]
    )


def _is_installed(name: str) -> bool:
    """Tell whether a distribution or an importable module of that name is there."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - 20 ms, seldom

    try:
        version(name)
    except (PackageNotFoundError, ValueError):
        return _is_importable(name)
    return True


def _is_importable(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
