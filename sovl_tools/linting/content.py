"""What tool folders hold: whether that is what it was, and what they ask to leave out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from operator import attrgetter
from typing import NamedTuple

from sovl_tools.linting.suppressions import Suppression, may_ask, suppressions_of
from sovl_tools.loading.dependencies import file_state, is_installed, modules_in, read_small
from sovl_tools.model.document import JSON, encodes
from sovl_tools.model.folder import REGISTER, ToolFolder

_MAX_ENTRIES = 1_000
_MAX_DEPTH = 6
_REGISTER = REGISTER.encode()


class Content(NamedTuple):
    """What a folder holds.

    Attributes:
        digest: names it; None if its files alone don't say it.
        variables: those of the environment that it requires; None if it requires nothing at all.
        sees_others: whether the tool is shown the step handlers of others.
        suppressions: what its files ask to leave out.
    """

    digest: str | None
    variables: tuple[str, ...] | None
    sees_others: bool
    suppressions: tuple[Suppression, ...]


def read_suppressions(folder: ToolFolder) -> tuple[Suppression, ...]:
    """Return what the files of a folder ask to leave out."""
    drafts = dict(folder.drafts)
    asking: dict[str, bytes] = {}
    with suppress(OSError):
        for name in sorted(os.listdir(folder.location)):
            if may_ask(folder, name):
                with suppress(OSError):
                    data = drafts.get(name) or read_small(f"{folder.location}/{name}")
                    asking[name] = data or b""  # a large one asks for nothing
    return tuple(suppressions_of(folder, asking))


def read_content(folder: ToolFolder) -> Content:
    """Read the files of a folder, each once; where all can't be read, those that may ask."""
    digest = blake2b(digest_size=16)
    drafts = dict(folder.drafts)
    asking: dict[str, bytes] = {}
    variables: tuple[str, ...] | None = None
    sees_others, is_known = False, not drafts
    for name, entry in _entries(folder.location):
        is_known = is_known and entry is not None
        is_asked = may_ask(folder, name)
        if entry is None or not (is_known or is_asked):
            continue
        try:
            data = drafts.get(name) or _read(entry)
            # which may be written with escapes
            if name == folder.manifest_name and (b'"requires"' in data or b"\\u" in data):
                variables = _variables(data)
        except (OSError, ValueError, RecursionError):
            is_known = False
            continue
        if is_known:
            digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
        sees_others |= _REGISTER in data
        if is_asked:
            asking[name] = data
    suppressions = tuple(suppressions_of(folder, asking))
    return Content(digest.hexdigest() if is_known else None, variables, sees_others, suppressions)


def _read(entry: os.DirEntry[str]) -> bytes:
    """Return what a file says, or of a large one its size and time; nothing of a folder."""
    if not entry.is_file():
        return b""
    content = read_small(entry.path)
    return file_state(entry.path).encode() if content is None else content


def contents_of(directories: Iterable[str]) -> dict[str, str] | None:
    """Return what names the contents of directories; None if that is unknown of one."""
    found = {}
    for each in directories:
        location = os.path.abspath(each)
        digest = read_content(ToolFolder(os.path.basename(location), each, location)).digest
        if digest is None:
            return None
        found[each] = digest
    return found


class Stats(NamedTuple):
    """What the file system says of a folder's files.

    Attributes:
        text: another one once any file has been written.
        newest: when the last of them was, in nanoseconds since 1970.
    """

    text: str
    newest: int


def stats_of(location: str) -> Stats | None:
    """Return what the file system says of the files in a folder; None if that tells too little."""
    said, newest = [], 0
    try:
        for name, entry in _entries(location):
            if entry is None:
                return None
            status = entry.stat()
            written, changed = status.st_mtime_ns, status.st_ctime_ns
            said.append(f"{name} {status.st_size} {written} {changed} {status.st_ino}")
            newest = max(newest, written, changed)
    except OSError:
        return None
    text = "\0".join(said).encode("utf-8", "surrogateescape")
    return Stats(blake2b(text, digest_size=16).hexdigest(), newest)


def _entries(location: str) -> Iterator[tuple[str, os.DirEntry[str] | None]]:
    """Yield what is in and below a folder by its relative path, in a stable order.

    In the place of what is neither file nor folder, can't be listed, or is too much: None.
    """
    pending = [(location, "", 0)]
    count = 0
    while pending:
        place, prefix, depth = pending.pop()
        try:
            with os.scandir(place) as entries:
                found = sorted(entries, key=attrgetter("name"))
        except OSError:
            yield prefix, None
            continue
        count += len(found)
        if count > _MAX_ENTRIES:
            yield prefix, None
        for entry in found:
            name, is_file = f"{prefix}{entry.name}", _is_file(entry)
            if is_file:
                yield name, entry
            elif is_file is None or depth == _MAX_DEPTH or count > _MAX_ENTRIES:
                yield name, None
            elif entry.name != "__pycache__":  # which comes with the import
                yield f"{name}/", entry
                pending.append((entry.path, f"{name}/", depth + 1))


def _is_file(entry: os.DirEntry[str]) -> bool | None:
    """Tell whether an entry is a file, or else a folder; None if it is neither."""
    try:
        return entry.is_file() or (False if entry.is_dir(follow_symlinks=False) else None)
    except OSError:
        return None


def _variables(manifest: bytes) -> tuple[str, ...] | None:
    """Return the variables that a manifest requires; None if it requires nothing.

    Raises:
        ValueError: it is no JSON.
    """
    document: JSON = json.loads(manifest)
    if not isinstance(document, dict) or "requires" not in document:
        return None
    requires = document["requires"]
    names = requires.get("env") if isinstance(requires, dict) else None
    if not isinstance(names, list):
        return ()
    return tuple(each for each in names if isinstance(each, str) and encodes(each))


def surroundings(variables: Iterable[str], places: Iterable[str]) -> str:
    """Return what names the variables that are set, and what modules there are in places."""
    # imports look at these without listing them again
    states = [modules_in(each) for each in places if not is_installed(each)]
    text = json.dumps([[each for each in variables if os.environ.get(each)], *states])
    return blake2b(text.encode(), digest_size=16).hexdigest()
