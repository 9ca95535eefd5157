"""The lines of many files, as one stream."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from .._shared.confinement import read_file

_MAXIMUM_BYTES = 2_000_000
_BATCH_CHARACTERS = 2_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, its number counted from 1."""

    file: Path
    number: int
    text: str


class Reader:
    """Reads files and counts which of them could be read as text."""

    def __init__(self) -> None:
        self.searched = 0
        self.skipped = 0

    def lines(self, files: Iterable[Path]) -> Iterator[Line]:
        """Yield the lines of the files, without their line breaks."""
        for file in files:
            text = _text(file)
            if text is None:
                self.skipped += 1
                continue
            self.searched += 1
            for number, line in enumerate(StringIO(text, newline=None), start=1):
                yield Line(file, number, line.removesuffix("\n"))


def batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Yield the lines in lists of limited size."""
    while batch := list(_batch(lines)):
        yield batch


def _batch(lines: Iterator[Line]) -> Iterator[Line]:
    room = _BATCH_CHARACTERS
    for line in lines:
        yield line
        room -= len(line.text) + 1
        if room <= 0:
            return


def _text(file: Path) -> str | None:
    try:
        text = read_file(str(file), limit=_MAXIMUM_BYTES).decode("utf-8-sig")
    except ValueError:
        return None
    return None if "\0" in text else text
