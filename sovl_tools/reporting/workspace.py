"""Paths as they are called from the root of a repository."""

from __future__ import annotations

import os


def from_workspace(path: str) -> str:
    """Return a path relative to ``GITHUB_WORKSPACE`` if it lies there, else as it is."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if not workspace:
        return path
    location = os.path.abspath(path)
    for root in (os.path.abspath(workspace), os.path.realpath(workspace)):
        if location.startswith(f"{root.rstrip(os.sep)}{os.sep}"):
            return os.path.relpath(location, root).replace(os.sep, "/")
    return path
