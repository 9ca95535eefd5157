"""Which paths are of procedures; nothing of those is imported to tell."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

_DIRECTORY = "procedures"


def parted(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths of procedures among paths, and the others.

    Of procedures are YAML files, JSON files that have ``steps``, and directories called
    ``procedures`` with what is in them.
    """
    found: list[str] = []
    others: list[str] = []
    for path in paths:
        (found if _is_procedure(path) else others).append(path)
    return tuple(found), tuple(others)


def _is_procedure(path: str) -> bool:
    if os.path.isdir(path):
        return os.path.basename(os.path.abspath(path)) == _DIRECTORY
    if not path.endswith(".json"):
        return path.endswith((".yaml", ".yml"))
    directory = os.path.dirname(os.path.abspath(path))
    return os.path.basename(directory) == _DIRECTORY or _has_steps(path)


def _has_steps(path: str) -> bool:
    try:
        document = json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "steps" in document
