"""The lock file: hashes of reviewed tools, so that no other version loads."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.loading.rules.folder import (
    LOCKED_PARTS,
    LockCase,
    Unreadable,
    not_as_locked,
    unreadable_file,
)
from sovl_tools.loading.sources import (
    Snapshot,
    framed,
    read_all_data,
    read_file,
    read_manifest,
    take_snapshot,
    unique,
)
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, Verdict, ask
from sovl_tools.model.document import JSON, dotted, strict_decoder
from sovl_tools.model.errors import LockError
from sovl_tools.model.folder import Hashes, Lock, Manifest, ToolFolder
from sovl_tools.reporting.text import read_text
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import describe

_MAX_BYTES = 1 << 26
_VERSION = 1
_HASH: dict[str, JSON] = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_SCHEMA: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "version": {"const": _VERSION},
        "tools": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": dict.fromkeys(LOCKED_PARTS, _HASH),
                "required": ["manifest", "code"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["version", "tools"],
    "additionalProperties": False,
}
_DECODER = strict_decoder(object_pairs_hook=unique)


def hashes_of(manifest: Manifest, snapshot: Snapshot) -> dict[str, str] | Unreadable:
    """Return the hashes of a tool, or which of the data files that it lists can't be read.

    They are SHA-256, because a snapshot's digest can be forged. A text file has the same hash with
    either kind of line endings.
    """
    data = read_all_data(snapshot.folder, manifest)
    if isinstance(data, Unreadable):
        return data
    text = manifest.text.encode("utf-8", "surrogatepass")
    found = {"manifest": _hash({snapshot.folder.manifest_name: text})}
    found["code"] = _hash(snapshot.files)
    if manifest.data:
        found["data"] = _hash(data)
    return found


def _hash(files: Mapping[str, bytes]) -> str:
    plain = {
        path: content if b"\0" in content else content.replace(b"\r\n", b"\n")
        for path, content in sorted(files.items())
    }
    return f"sha256:{sha256(framed(plain)).hexdigest()}"


def lock_verdicts(lock: Lock, manifest: Manifest, snapshot: Snapshot) -> list[Verdict]:
    """Return the differences between a tool and its lock."""
    folder = snapshot.folder
    found = hashes_of(manifest, snapshot)
    if isinstance(found, Unreadable):
        return ask((unreadable_file,), found)
    return ask((not_as_locked,), LockCase(folder, found, lock.get(folder.name, {})))


def read_lock(path: str | os.PathLike[str]) -> Lock:
    """Read a lock file.

    Raises:
        LockError: it is missing or damaged.
    """
    text = os.fspath(path)
    place, name = os.path.split(os.path.abspath(text))
    data = read_file(ToolFolder("", "", place), name, limit=_MAX_BYTES)
    if isinstance(data, Unreadable):
        if data.is_absent:
            raise LockError(text, "there's no such file; sovl-tools lock writes it")
        raise LockError(text, f"it {data.reason}")
    try:
        document = _DECODER.decode(data.decode())
        problems = compile_schema(_SCHEMA).problems(document)
    except (ValueError, RecursionError) as error:
        words = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise LockError(text, f"this isn't a lock file: {words}; {_ADVICE}") from error
    for problem in problems:
        words = f"{dotted(problem.path)} {describe(problem)}".strip()
        raise LockError(text, f"this isn't a lock file: {words}; {_ADVICE}")
    tools: Lock = document["tools"]
    return tools


_ADVICE = "sovl-tools lock writes it again"


def written(lock: Lock) -> str:
    """Return the text of a lock file: a line for each tool, so that edits of two can be merged."""
    lines = [f"    {json.dumps(name)}: {json.dumps(lock[name])}" for name in sorted(lock)]
    tools = "{\n" + ",\n".join(lines) + "\n  }" if lines else "{}"
    return f'{{\n  "version": {_VERSION},\n  "tools": {tools}\n}}'


class Locked(NamedTuple):
    """The lock of some folders.

    Attributes:
        lock: the hashes of the tools, by their names; the first of equal names counts.
        unreadable: the folders that have no manifest or no module that could be read.
    """

    lock: Lock
    unreadable: tuple[ToolFolder, ...]


def lock_of(folders: Iterable[ToolFolder]) -> Locked:
    """Return the lock of tool folders in their current state, without importing them."""
    lock: dict[str, Hashes] = {}
    unreadable: list[ToolFolder] = []
    for folder in folders:
        hashes = _hashes(folder)
        if hashes is None:
            unreadable.append(folder)
        else:
            lock.setdefault(folder.name, hashes)
    return Locked(lock, tuple(unreadable))


def _hashes(folder: ToolFolder) -> Hashes | None:
    reading, snapshot = read_manifest(folder), take_snapshot(folder)
    if isinstance(reading, Unreadable) or isinstance(snapshot, Unreadable):
        return None
    hashes = None if reading.manifest is None else hashes_of(reading.manifest, snapshot)
    return None if isinstance(hashes, Unreadable) else hashes


def lock_changes(old: Lock, new: Lock) -> Iterator[str]:
    """Yield a line for each tool that differs between two locks."""
    for name in sorted({*old, *new}):
        before, now = old.get(name, {}), new.get(name, {})
        if not before or not now:
            yield f"{name}: {'new' if now else 'removed'}"
        elif before != now:
            parts = [part for part in LOCKED_PARTS if before.get(part) != now.get(part)]
            yield f"{name}: {', '.join(parts)} changed"


def removed_tools(lock: Lock, path: str, there: Container[str]) -> list[Diagnostic]:
    """Return a finding for each tool of a lock file whose name isn't in ``there``."""
    gone = sorted(name for name in lock if name not in there)
    if not gone:
        return []
    text = read_text(path) or ""
    places = Places(text)
    found = []
    for name in gone:
        at = line_and_column(text, places.offset(ManifestPlace(("tools", name), "key")))
        case = LockCase(ToolFolder(name, "", ""), {}, lock[name])
        found += [each.at(path, *at, tool=name) for each in ask((not_as_locked,), case)]
    return found
