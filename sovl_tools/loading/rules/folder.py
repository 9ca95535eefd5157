"""ST1xx: the folder itself, and files in it that can't be read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, Position, rule
from sovl_tools.model.folder import ToolFolder, fitting_name, name_problem

_NOT_A_TOOL = "or begin the folder's name with '_' if it isn't a tool"


class Unreadable(NamedTuple):
    """A file of a tool folder and why it can't be read; ``name`` is empty for the folder.

    ``is_absent`` tells that there's no file of exactly that name.
    """

    name: str
    reason: str
    is_absent: bool = False


@rule("ST104")
def unreadable_file(case: Unreadable) -> Iterator[Finding]:
    """A file of the tool can't be read.

    The manifest or the module isn't a regular file, is too large (more than 1 MiB for a manifest, 4
    MiB for a module), or the operating system denies access. Files are opened without waiting,
    so a FIFO or a device doesn't block the load. Replace it by a plain, readable file.
    """
    yield Finding(Position(case.name), f"{case.name or 'the folder'} {case.reason}")


@rule("ST101")
def missing_directory(case: tuple[str, str]) -> Iterator[Finding]:
    """A tools directory doesn't exist or can't be listed.

    The path is from ``--tools``, from ``SOVL_TOOLS_PATH``, from ``[tool.sovl-tools]`` in
    ``pyproject.toml``, or from the code that made the registry. Its other paths are loaded. Correct
    the path, or make the directory.
    """
    path, reason = case
    yield Finding(Position(), f"{path} can't be listed: {reason}")


@rule("ST102")
def missing_manifest(folder: ToolFolder) -> Iterator[Finding]:
    """A folder has no manifest with its name.

    Every folder in a tools directory is a tool, unless its name begins with ``.`` or ``_``, and
    ``<name>/<name>.json`` describes it. Without the manifest a model can't tell the tool's
    does. Write the manifest, rename it to match the folder, or begin the folder's name with ``_``.
    Case counts, even where the file system ignores it, and only JSON is read. If the folder was
    renamed, rename the module, the ``name`` in the manifest and the function, too.
    """
    wanted = folder.manifest_name
    if wanted not in folder.files:
        former = _former_name(folder)
        if former is None:
            yield Finding(Position(), *_lacking(folder, wanted))
        else:
            files = f"{f'{former}.json'!r} and {f'{former}.py'!r}"
            message = f"there's no {wanted!r}: the files in it are {files}"
            hint = (
                f"rename the folder to {former!r}, or both files to {wanted!r} and"
                f" {folder.module_name!r}, with the manifest's 'name' and the function"
            )
            yield Finding(Position(), message, hint)


def _former_name(folder: ToolFolder) -> str | None:
    """Return the name of both manifest and module if the folder was renamed."""
    manifest, module = misnamed(folder, folder.manifest_name), misnamed(folder, folder.module_name)
    if manifest is None or module is None:
        return None
    former = manifest.removesuffix(".json")
    return former if f"{former}.py" == module and name_problem(former) is None else None


@rule("ST103")
def missing_module(folder: ToolFolder) -> Iterator[Finding]:
    """A folder has no module with its name, but a manifest.

    A call runs a function in ``<name>/<name>.py``. Write the module, or rename it to match the
    folder. While files are being copied, a running server waits for the module instead of reporting
    this.
    """
    if folder.manifest_name in folder.files and folder.module_name not in folder.files:
        yield Finding(Position(), *_lacking(folder, folder.module_name))


def _lacking(folder: ToolFolder, wanted: str) -> tuple[str, str]:
    if wanted in folder.folders:
        return f"{wanted!r} is a folder, not a file", "put a file instead"
    other = misnamed(folder, wanted)
    if other is not None:
        only = ": only the case differs" if other.casefold() == wanted.casefold() else ""
        return f"there's no {wanted!r}", f"rename {other!r} to {wanted!r}{only}"
    for suffix in _OTHER_FORMATS if wanted.endswith(".json") else ():
        unread = f"{folder.name}{suffix}"
        if unread in folder.files:
            return f"there's no {wanted!r}", f"write {unread!r} as JSON: nothing else is read"
    inner = [each for each in sorted(folder.folders) if _holds_tool(folder, each)]
    if inner and not folder.files:
        hint = f'move {inner[0]!r} up: a manifest can say "category": {json.dumps(folder.name)}'
        return f"there's no {wanted!r}, but the tool {inner[0]!r} one level deeper", hint
    if wanted == folder.manifest_name and folder.module_name in folder.files:
        hint = f"add it (sovl-tools sync {folder.name} writes it), {_NOT_A_TOOL}"
        return f"there's no {wanted!r}", hint
    return f"there's no {wanted!r}", f"add it, {_NOT_A_TOOL}"


def _holds_tool(folder: ToolFolder, name: str) -> bool:
    """Return whether a folder in a tool's folder is a tool itself."""
    place = f"{folder.location}/{name}/{name}"
    return os.path.isfile(f"{place}.json") or os.path.isfile(f"{place}.py")


_OTHER_FORMATS = (".yaml", ".yml", ".toml", ".json5", ".jsonc")


def misnamed(folder: ToolFolder, wanted: str) -> str | None:
    """Return the file that has the wanted name in another case, or is the only one of its kind."""
    suffix = wanted[wanted.rindex(".") :]
    others = [each for each in folder.files if each.endswith(suffix) and each != "__init__.py"]
    same = [each for each in folder.files if each.casefold() == wanted.casefold()]
    found = same or others
    return found[0] if len(found) == 1 else None


@rule("ST105")
def invalid_folder_name(folder: ToolFolder) -> Iterator[Finding]:
    """A folder's name can't be the name of a tool.

    The tool, the module and the function have the folder's name, and providers accept few others:
    an ASCII Python identifier of at most 64 characters that isn't a keyword. Rename the folder and
    the files in it, or begin its name with ``_``.
    """
    reason = name_problem(folder.name)
    if reason is not None:
        better = fitting_name(folder.name)
        new = "" if better is None else f" to {better!r}"
        hint = f"rename the folder and its files{new}, {_NOT_A_TOOL}"
        yield Finding(Position(), f"{folder.name!r} can't name a tool: {reason}", hint)


@rule("ST106", "warning")
def no_tools(path: str) -> Iterator[Finding]:
    """A tools directory has no tools.

    In CI the path is usually wrong or the checkout incomplete, so ``validate`` makes this an error
    unless there are procedures. Correct the path; if the directory is empty on purpose, ignore this
    code.
    """
    yield Finding(Position(), f"there's no tool in {path}", "add a folder, or correct the path")


class LockCase(NamedTuple):
    """A tool and its line in the lock file.

    Attributes:
        folder: the tool's folder.
        hashes: of the folder's content, by its parts; empty if the folder doesn't exist.
        locked: the hashes in the lock file; empty if the tool isn't there.
    """

    folder: ToolFolder
    hashes: Mapping[str, str]
    locked: Mapping[str, str]


@rule("ST107")
def not_as_locked(case: LockCase) -> Iterator[Finding]:
    """A tool differs from the lock file.

    ``sovl-tools.lock`` has hashes of the reviewed manifest, Python files and listed data files of
    each tool. With ``--locked``, ``locked = true`` in the configuration or
    ``from_directory(locked=…)``, changed and new tools aren't loaded. ``validate`` also reports
    removed ones. Review the change; then run ``sovl-tools lock`` and commit the file.
    """
    folder, hashes, locked = case
    advice = "review the change, then run sovl-tools lock"
    parts = [each for each in LOCKED_PARTS if hashes.get(each) != locked.get(each)]
    if not hashes:
        words = f"the tool {folder.name!r} is locked, and not there anymore"
        yield Finding(Position(), words, "bring it back, or run sovl-tools lock")
    elif not locked:
        words = f"the tool {folder.name!r} is not in the lock file"
        yield Finding(Position(folder.manifest_name), words, advice)
    elif parts:
        words = f"the {' and the '.join(parts)} changed since the tool was locked"
        name = folder.module_name if parts == ["code"] else folder.manifest_name
        yield Finding(Position(name), words, advice)


LOCKED_PARTS = ("manifest", "code", "data")
"""The parts of a tool with a hash in the lock file."""

RULES = (missing_manifest, missing_module)
