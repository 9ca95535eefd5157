"""The files of ``sovl-tools map``: inputs as they are needed, and results that can be gone on with.

A result is one line, also in CSV: what was written when a process was killed is whole up to the
last line end, and the rest is written again.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

from sovl_tools.cli.arguments import MAX_BYTES, parse_pairs
from sovl_tools.cli.command import Misuse
from sovl_tools.dispatch.parse_arguments import Arguments
from sovl_tools.dispatch.tooler import Mapped
from sovl_tools.model.document import JSON, parse_json

COLUMNS = ("index", "input_hash", "value", "error_kind", "error")
"""Of results in CSV; in JSON Lines they are keys, with one ``error`` of kind and message."""
_LONGEST_CELL = (1 << 31) - 1
_HASH = re.compile(r"[0-9a-f]{16}")


class Input(NamedTuple):
    """One of the inputs, and a hash by which it is known when a run goes on."""

    arguments: Arguments
    hash: str


def is_csv(path: str) -> bool:
    """Tell whether a file is CSV, by its name; all others are JSON Lines."""
    return path.lower().endswith(".csv")


def count_lines(path: str) -> int:
    """Return how many lines a file has at most, blank ones included."""
    with open(path, "rb") as file:
        pieces = iter(lambda: file.read(1 << 20), b"")
        return sum(piece.count(b"\n") for piece in pieces) + 1


def read_inputs(file: BinaryIO, name: str, parameters: Mapping[str, JSON]) -> Iterator[Input]:
    """Yield the inputs of a file: objects, one a line, or rows of values for its columns.

    A line that is no object is yielded as it is: its call says what is wrong with it. Cells are
    read as the parameters say; an empty one is an argument left out.

    Raises:
        Misuse: it is no CSV, or a line is too long.
    """
    if is_csv(name):
        yield from _read_rows(file, name, parameters)
        return
    for _, line in _read_lines(file, name):
        if text := line.strip():
            yield Input(text, _hash_of(text))


def _read_lines(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers.

    Raises:
        Misuse: a line is too long.
    """
    lines = iter(partial(file.readline, MAX_BYTES + 1), b"")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_BYTES:
            raise Misuse(f"{name}:{number}: the line has more than {MAX_BYTES:,} bytes")
        yield number, line


def _csv_rows(lines: Iterable[str]) -> Iterator[list[str]]:
    # The longest cell is one limit for the whole process, tools that read CSV included, and 128 KiB
    # by default: it is raised for rows that may need it, and only while they are parsed.
    theirs: list[int] = []
    length = 0

    def counted() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            if length > csv.field_size_limit():
                theirs.append(csv.field_size_limit(_LONGEST_CELL))
            yield line

    rows = csv.reader(counted(), strict=True)
    while True:
        length = 0
        try:
            row = next(rows, None)
        finally:
            while theirs:
                csv.field_size_limit(theirs.pop())
        if row is None:
            return
        yield row


def _read_rows(file: BinaryIO, name: str, parameters: Mapping[str, JSON]) -> Iterator[Input]:
    number = 0

    def texts() -> Iterator[str]:
        nonlocal number
        for number, line in _read_lines(file, name):  # noqa: B007 - for who reads the rows
            yield line.decode()

    rows = _csv_rows(texts())
    try:
        header = [each.removeprefix("\ufeff") for each in next(rows, [])] or [""]
        if "" in header or len({*header}) < len(header):
            raise Misuse(f"{name}:1: each cell of the first row must name another parameter")
        for row in rows:
            if len(row) > len(header):
                words = f"{len(row)} cells for {len(header)} columns"
                raise Misuse(f"{name}:{number}: the row has {words}")
            cells = dict(zip(header, row, strict=False))
            pairs = [f"{key}={text}" for key, text in cells.items() if text]
            if row:
                arguments = parse_pairs(pairs, parameters)
                yield Input(arguments, _hash_of(json.dumps(arguments).encode()))
    except (csv.Error, UnicodeDecodeError) as error:
        raise Misuse(f"{name}:{number}: this is no CSV: {error}") from error


def _hash_of(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


class EarlierResults:
    """The results that a file has already.

    Attributes:
        count: how many there are.
        failures: how many of them are none.
    """

    def __init__(self, total: int) -> None:
        """Make room for a number of inputs."""
        self.count = 0
        self.failures = 0
        self._hashes = array("Q", bytes(8 * total))

    def add(self, index: object, hash_: object, *, is_failure: bool) -> None:
        """Add a result.

        Raises:
            ValueError: it can't be one of these inputs, or is there already.
        """
        if type(index) is not int or not 0 <= index < len(self._hashes):
            raise ValueError(f"there is no input of the index {index!r:.40}")
        if not isinstance(hash_, str) or not _HASH.fullmatch(hash_):
            raise ValueError(f"{hash_!r:.40} is no hash of an input")
        if self._hashes[index]:
            raise ValueError(f"there is a result of the index {index} already")
        self._hashes[index] = int(hash_, 16) or 1
        self.count += 1
        self.failures += is_failure

    def has(self, index: int, hash_: str) -> bool:
        """Tell whether there is a result of an input.

        Raises:
            ValueError: it is of another input.
        """
        known = self._hashes[index] if index < len(self._hashes) else 0
        if known and known != (int(hash_, 16) or 1):
            raise ValueError(f"it has a result of another input with the index {index}")
        return known != 0


class Results:
    """Where results go, a line each, in one piece."""

    def __init__(self, write: Callable[[str], object], *, as_csv: bool) -> None:
        self._write = write
        self._as_csv = as_csv

    def header(self) -> None:
        """Write what comes before all results."""
        if self._as_csv:
            self._write(_row(COLUMNS))

    def add(self, mapped: Mapped, hash_: str) -> None:
        """Write a result."""
        value, error = mapped.result.value, mapped.result.error
        if self._as_csv:
            text = "" if error else json.dumps(value, ensure_ascii=False)
            words = ("", "") if error is None else (error.kind, " ".join(error.message.split()))
            self._write(_row((mapped.place, hash_, text, *words)))
            return
        document: dict[str, JSON] = {"index": mapped.place, "input_hash": hash_}
        if error is None:
            document["value"] = value
        else:
            document["error"] = {"kind": error.kind, "message": error.message}
        self._write(json.dumps(document, ensure_ascii=False) + "\n")


def _row(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def read_earlier(file: io.FileIO, name: str, total: int) -> EarlierResults:
    """Read the results that a file has, and cut off a last line that is not whole.

    Raises:
        Misuse: a line is no result, or of other inputs.
    """
    earlier, whole = EarlierResults(total), 0
    lines = io.BufferedReader(file)
    try:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            try:
                _add_line(earlier, line, as_csv=is_csv(name), is_first=number == 1)
            except (ValueError, RecursionError, csv.Error) as error:
                words = f"this is no result of map with these inputs: {error}"
                raise Misuse(f"{name}:{number}: {words}") from error
    finally:
        lines.detach()
    file.seek(whole)
    file.truncate()
    return earlier


def _add_line(earlier: EarlierResults, line: bytes, *, as_csv: bool, is_first: bool) -> None:
    if not as_csv:
        document = parse_json(line)
        if not isinstance(document, dict) or not ("value" in document) ^ ("error" in document):
            raise ValueError("it is no object with a value or an error")
        is_failure = "error" in document
        earlier.add(document.get("index"), document.get("input_hash"), is_failure=is_failure)
    elif not is_first:
        (cells,) = _csv_rows([line.decode()])
        if len(cells) != len(COLUMNS) or not cells[0].isascii() or not cells[0].isdigit():
            raise ValueError("it is no row of an index, a hash, a value and an error")
        earlier.add(int(cells[0][:18]), cells[1], is_failure=cells[3] != "")
    elif line.decode() != _row(COLUMNS):
        raise ValueError("the first row is another one")


def open_results(path: str, *, resumes: bool) -> io.FileIO:
    """Open the file of results for this process alone.

    Raises:
        Misuse: it has results and the run is a new one, somebody else writes it, or it is no file.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}") from error
    file = io.FileIO(descriptor, "r+")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise Misuse(f"{path} is no file; without -o the results go to the standard output")
    try:
        if os.name == "posix":
            import fcntl  # noqa: PLC0415 - not on every platform

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise Misuse(f"{path}: another process writes it") from error
    if not resumes and os.fstat(descriptor).st_size:
        file.close()
        raise Misuse(f"{path} is there already; --resume goes on with it")
    return file
