"""Search for a string or a regular expression in the files under one root directory."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile
from pathlib import Path

from .._shared import patterns
from .._shared.confinement import resolve, root_directory
from .reading import Line, Reader, batches
from .walking import files_below

_SECONDS = 10.0
_MAXIMUM_FILES = 20_000
_SHOWN_CHARACTERS = 300
_SHOWN_BEFORE = 100

# The texts to look at -> (index of a text that matches, start of the match in it).
Finder = Callable[[Sequence[str]], Iterable[tuple[int, int]]]


def search_files(  # noqa: PLR0913 - one parameter for each property of the manifest
    query: str,
    *,
    path: str = ".",
    glob: str = "*",
    regex: bool = False,
    ignore_case: bool = False,
    include_hidden: bool = False,
    max_results: int = 100,
) -> dict[str, object]:
    """Return the lines that match; raise ValueError for a path or pattern that is rejected."""
    _check_query(query)
    deadline = time.monotonic() + _SECONDS
    files = _files(path, glob=glob, hidden=include_hidden, deadline=deadline)
    reader = Reader()
    finder = _regex_finder if regex else _text_finder
    find = finder(query, ignore_case=ignore_case, limit=max_results + 1)
    matches = list(islice(_matches(batches(reader.lines(files)), find), max_results + 1))
    all_read = reader.searched + reader.skipped < _MAXIMUM_FILES and time.monotonic() < deadline
    return {
        "matches": matches[:max_results],
        "files_searched": reader.searched,
        "files_skipped": reader.skipped,
        "complete": all_read and len(matches) <= max_results,
    }


def _check_query(query: str) -> None:
    if not query:
        raise ValueError("the query is empty")
    if "\n" in query or "\r" in query:
        raise ValueError("the query contains a line break: the files are searched line by line")


def _files(path: str, *, glob: str, hidden: bool, deadline: float) -> Iterator[Path]:
    place = resolve(path)
    if os.path.isfile(place):
        return iter([place])
    if not os.path.isdir(place):
        raise ValueError(f"there's no file or directory {path!r}")

    def in_time(_: object) -> bool:
        return time.monotonic() < deadline

    directories = takewhile(in_time, files_below(place, glob=glob, hidden=hidden))
    return takewhile(in_time, islice(chain.from_iterable(directories), _MAXIMUM_FILES))


def _text_finder(query: str, *, ignore_case: bool, limit: int) -> Finder:
    pattern = re.compile(re.escape(query), re.IGNORECASE if ignore_case else 0)

    def find(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        found = ((index, pattern.search(text)) for index, text in enumerate(texts))
        return islice(((index, match.start()) for index, match in found if match), limit)

    return find


def _regex_finder(query: str, *, ignore_case: bool, limit: int) -> Finder:
    return lambda texts: patterns.search(query, texts, ignore_case=ignore_case, limit=limit)


def _matches(lines: Iterator[list[Line]], find: Finder) -> Iterator[dict[str, object]]:
    for batch in lines:
        for index, start in find([line.text for line in batch]):
            yield _shown(batch[index], start)


def _shown(line: Line, start: int) -> dict[str, object]:
    first = max(start - _SHOWN_BEFORE, 0) if len(line.text) > _SHOWN_CHARACTERS else 0
    return {
        "path": _printable(line.file.relative_to(root_directory()).as_posix()),
        "line": line.number,
        "column": start + 1,
        "text": line.text[first : first + _SHOWN_CHARACTERS],
    }


def _printable(path: str) -> str:
    """Replace the bytes of a file name that aren't text, which JSON cannot carry."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
