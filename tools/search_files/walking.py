"""Which files lie below a directory, in a fixed order, without following links."""

import os
from collections.abc import Iterator
from pathlib import Path

from . import globs


def files_below(start: Path, *, glob: str, hidden: bool) -> Iterator[list[Path]]:
    """Yield, directory by directory, the regular files that the pattern selects."""
    pending = [start]
    while pending:
        entries = _entries(pending.pop(), hidden=hidden)
        files = [Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False)]
        yield [file for file in files if globs.matches(file.relative_to(start).parts, glob)]
        directories = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        pending += map(Path, reversed(directories))


def _entries(directory: Path, *, hidden: bool) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            shown = [entry for entry in entries if hidden or not entry.name.startswith(".")]
    except OSError:
        return []
    return sorted(shown, key=lambda entry: entry.name)
