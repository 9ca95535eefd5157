"""Reads arguments for tools and inputs for procedures from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from sovl_tools.cli.command import Misuse
from sovl_tools.model.document import JSON
from sovl_tools.schema.applicators import below
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.subschemas import SchemaNode

# /dev/zero never ends
MAX_BYTES = 64 * 1024 * 1024


def parse_pairs(
    pairs: Sequence[str], parameters: Mapping[str, JSON], whole: str | None = None
) -> dict[str, JSON]:
    """Return ``KEY=VALUE`` pairs as an object, each value read according to its schema.

    Args:
        pairs: the pairs.
        parameters: the schema of that object.
        whole: the option that takes a JSON object, for those who wrote one.

    Raises:
        Misuse: a pair isn't ``KEY=VALUE``, or a key is there twice.
    """
    found: dict[str, JSON] = {}
    root = SchemaNode((), dict(parameters), dict(parameters), ())
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            hint = f"; give a JSON object with {whole}" if whole and pair.startswith("{") else ""
            raise Misuse(f"{pair!r} is not KEY=VALUE{hint}")
        if key in found:
            raise Misuse(f"{key!r} is given twice")
        found[key] = parse_value(value, next(iter(below(root, key)), None))
    return found


def parse_value(text: str, node: SchemaNode | None) -> JSON:
    """Read a value as JSON, or as text if it isn't JSON or only the text is valid."""
    if node is not None and node.schema.get("type") == "string":
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    # 12 is JSON, but text if only strings are valid, as in an enum of them
    is_text = node is not None and not _fits(value, node) and _fits(text, node)
    return text if is_text else value


def _fits(value: JSON, node: SchemaNode) -> bool:
    try:
        return not problems_at(node, value)
    except ValueError:  # NaN and the like
        return False


def read_json(text: str, option: str) -> str:
    """Return the JSON text that an option names: itself, ``@FILE``, or ``-`` for the input.

    Raises:
        Misuse: there's no such file, or no input, or it is not UTF-8.
    """
    if text == "-" or text.startswith("@"):
        return read_text(text.removeprefix("@"), f"{option} {text}")
    return text


@contextmanager
def opened_input(path: str, place: str = "") -> Iterator[BinaryIO]:
    """Open a file, or the standard input for ``-``; errors name the place.

    Raises:
        Misuse: there's no such file, or no input.
    """
    place = place or path
    if path == "-":
        if sys.stdin is None:
            raise Misuse(f"{place}: there's no standard input")
        yield sys.stdin.buffer
        return
    try:
        file = open(path, "rb")  # noqa: SIM115 - an error of the body is none of opening
    except (OSError, ValueError) as error:  # the latter for a null character in the path
        raise Misuse(f"{place}: {getattr(error, 'strerror', None) or error}") from error
    with file:
        yield file


def read_input(path: str, place: str = "") -> bytes:
    """Return the content of a file, or of the standard input for ``-``; errors name the place.

    Raises:
        Misuse: there's no such file, or no input, or it is too long.
    """
    with opened_input(path, place) as file:
        data = file.read(MAX_BYTES + 1)  # a device or a pipe may never end
    if len(data) > MAX_BYTES:
        raise Misuse(f"{place or path}: there are more than {MAX_BYTES:,} bytes")
    return data


def read_text(path: str, place: str = "") -> str:
    """Return the text of a file, or of the standard input for ``-``; errors name the place.

    Raises:
        Misuse: as ``read_input``, or it is not UTF-8.
    """
    try:
        return read_input(path, place).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        words = f"byte {error.start + 1} can't be read"
        raise Misuse(f"{place or path}: the text is not UTF-8, {words}") from error
