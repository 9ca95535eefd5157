"""A cache of the sources of tools whose folders are on another machine."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress

from sovl_tools.dispatch.reference import Drafts

_MOST_FILES = 500


def _directory() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "sovl-tools", "sources")


def load_drafts(digest: str) -> Drafts:
    """Return the sources of that digest, nothing if they are not there or can't be read.

    Whoever uses them makes sure that they have that digest.
    """
    try:
        with open(os.path.join(_directory(), f"{digest}.json"), encoding="ascii") as file:
            written = json.load(file)
        return tuple((str(name), text.encode("latin-1")) for name, text in written)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return ()


def keep_drafts(digest: str, drafts: Drafts) -> None:
    """Write sources for other processes of this machine, if that can be done."""
    directory = _directory()
    with suppress(OSError):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        # any byte is a character of Latin-1, and JSON has no bytes
        text = json.dumps([(name, data.decode("latin-1")) for name, data in drafts])
        descriptor, path = tempfile.mkstemp(dir=directory)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(path, os.path.join(directory, f"{digest}.json"))
        with os.scandir(directory) as entries:
            found = sorted((entry.stat().st_mtime, entry.path) for entry in entries)
        for _, oldest in found[:-_MOST_FILES]:
            os.unlink(oldest)
