"""From a tool folder to its manifest: bytes, text, document."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from sovl_tools.loading.jsontext import too_deep_at
from sovl_tools.loading.rules import text
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.model.diagnostic import Verdict, ask, has_errors
from sovl_tools.model.document import JSON, MAX_DEPTH, strict_decoder
from sovl_tools.model.folder import Manifest, ToolFolder

MAX_MANIFEST_BYTES = 1 << 20
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_file(folder: ToolFolder, name: str, *, limit: int) -> bytes | Unreadable:
    """Return the content of a file in the folder, or why it can't be read.

    Never blocks: FIFOs and devices are refused without being waited for.
    """
    try:
        descriptor = os.open(f"{folder.location}/{name}", _OPEN_FLAGS)
    except (OSError, ValueError) as error:
        is_absent = isinstance(error, FileNotFoundError | NotADirectoryError)
        return Unreadable(name, _reason(error), is_absent)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Unreadable(name, f"is {_KINDS.get(stat.S_IFMT(status.st_mode), 'no file')}")
        if status.st_size > limit:
            words = f"has {status.st_size:,} bytes; at most {limit:,} are read"
            return Unreadable(name, words)
        return os.read(descriptor, status.st_size + 1)
    except OSError as error:
        return Unreadable(name, _reason(error))
    finally:
        os.close(descriptor)


def _reason(error: OSError | ValueError) -> str:
    return f"can't be read: {getattr(error, 'strerror', None) or error}"


_KINDS = {
    stat.S_IFIFO: "a FIFO, not a file",
    stat.S_IFDIR: "a folder, not a file",
    stat.S_IFCHR: "a device, not a file",
    stat.S_IFBLK: "a device, not a file",
    stat.S_IFSOCK: "a socket, not a file",
}


class Reading(NamedTuple):
    """A manifest, or None if there is none to speak of, and what the checks say."""

    manifest: Manifest | None
    verdicts: list[Verdict]


def read_manifest(folder: ToolFolder) -> Reading | Unreadable:
    """Read and parse the folder's manifest, or return why its file can't be read."""
    data = read_file(folder, folder.manifest_name, limit=MAX_MANIFEST_BYTES)
    if isinstance(data, Unreadable):
        return data
    try:
        content = data.decode()
        document = _decode(content)
    except (ValueError, RecursionError, StopIteration):
        return _explain(folder, data)
    if type(document) is not dict or "\\u" in content:
        return _explain(folder, data)
    return Reading(Manifest(document, content), [])


def _explain(folder: ToolFolder, data: bytes) -> Reading:
    """Find out at leisure what is odd about the text; it may be fine after all."""
    case = text.ManifestText(folder.manifest_name, data)
    verdicts: list[Verdict] = []
    for rules in (text.ENCODING_RULES, text.SYNTAX_RULES, text.CONTENT_RULES):
        if not has_errors(verdicts):
            verdicts += ask(rules, case)
    if has_errors(verdicts):
        return Reading(None, verdicts)
    return Reading(Manifest(json.loads(case.text), case.text), verdicts)


def _decode(content: str) -> JSON:
    brackets = content.count("{") + content.count("[")
    if brackets > MAX_DEPTH and too_deep_at(content, MAX_DEPTH) is not None:
        raise ValueError("nested too deep")
    if content[:1] == "{":
        document, end = _SCAN(content, 0)
        if not content[end:].strip():
            return document
    return _DECODER.decode(content)


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice")
    return members


_DECODER = strict_decoder(object_pairs_hook=_unique)
# What ``decode`` calls between two looks for white space, each of which costs half a microsecond.
_SCAN: Callable[[str, int], tuple[JSON, int]] = vars(_DECODER)["scan_once"]
