"""Finding tool folders, reading manifests, and snapshots of the Python sources."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.util import source_hash
from typing import NamedTuple

from sovl_tools.loading.rules import text
from sovl_tools.loading.rules.folder import Unreadable, missing_directory, no_tools
from sovl_tools.model.diagnostic import Diagnostic, Verdict, ask, has_errors
from sovl_tools.model.document import JSON, MAX_DEPTH, depth, encodes, strict_decoder
from sovl_tools.model.folder import READ_FLAGS, Manifest, Settings, ToolFolder
from sovl_tools.model.path_patterns import is_excluded, patterns_of

_HIDDEN = (".", "_")


def discover(root: str, location: str) -> list[ToolFolder]:
    """Return the tool folders of a tools directory, ordered by name; their files aren't read.

    ``location`` is the absolute path of ``root``, which is as the caller named it. Plain files and
    folders whose name begins with ``.`` or ``_`` aren't tools.

    Raises:
        OSError: the directory can't be listed.
    """
    with os.scandir(location) as entries:
        # the order of a directory differs from one file system to the next
        names = sorted(entry.name for entry in entries if _is_candidate(entry))
    return [ToolFolder(name, f"{root}/{name}", f"{location}{os.sep}{name}") for name in names]


def is_tool_name(path: str) -> bool:
    """Return True if a folder of that name, in a tools directory, is a tool's."""
    name = os.path.basename(path)
    return bool(name) and not name.startswith(_HIDDEN)


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(_HIDDEN):
        return False
    try:
        # a broken link is reported as a tool whose folder is gone
        if not entry.is_dir():
            return entry.is_symlink() and not os.path.exists(entry.path)
        # git leaves a folder with empty subfolders when a tool isn't in another revision
        is_left_over = not os.path.exists(f"{entry.path}/{entry.name}.json") and (
            os.listdir(entry.path) == ["__pycache__"]
        )
    except OSError:
        return True
    return not is_left_over


def tool_folder(path: str, location: str) -> ToolFolder | None:
    """Return the tool folder that a path names, or None if the path is something else.

    ``location`` is the absolute path. A tool folder contains a manifest or a module of its
    own name; a file in one names the folder.
    """
    folder = path
    if os.path.isfile(location):
        folder, location = os.path.dirname(path) or ".", os.path.dirname(location)
    name = os.path.basename(location)
    # a broken link counts: the folder is a tool that lacks a file
    if not any(os.path.lexists(f"{location}/{name}.{suffix}") for suffix in ("json", "py")):
        return None
    return ToolFolder(name, folder.rstrip("/") or folder, location)


def listed(folder: ToolFolder) -> ToolFolder:
    """Return the folder with its entries.

    Raises:
        OSError: the folder can't be listed.
    """
    with os.scandir(folder.location) as entries:
        found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    folders = frozenset(name for name, is_folder in found.items() if is_folder)
    return folder._replace(files=frozenset(found) - folders, folders=folders)


class Collected(NamedTuple):
    """Tool folders in the order of their precedence, and problems with the paths."""

    folders: tuple[ToolFolder, ...]
    diagnostics: tuple[Diagnostic, ...]


def is_gone(error: OSError | ValueError) -> bool:
    """Return True if a directory can't be listed because it doesn't exist."""
    return isinstance(error, FileNotFoundError | NotADirectoryError | ValueError)


def collect(
    paths: Iterable[str | os.PathLike[str]],
    *,
    names: Collection[str] | None = None,
    base: str = "",
    known: Iterable[ToolFolder] = (),
    exclude: Iterable[str] = (),
) -> Collected:
    """Return the tool folders of the paths; of those names only, if any are given.

    A path can be a tools directory, one tool folder or a file in one. A folder that is named
    twice counts once.

    Args:
        paths: relative ones are so to ``base``, by default the current directory.
        names: names of folders.
        base: an absolute path.
        known: the known folders, which stay if a directory exists but can't be listed.
        exclude: patterns of folders to skip, as in a ``.gitignore`` of ``base``.
    """
    excluded = patterns_of(exclude, os.path.abspath(base)) if exclude else ()
    folders: dict[str, ToolFolder] = {}
    diagnostics: list[Diagnostic] = []
    for path in paths:
        named = os.fspath(path)
        location = os.path.abspath(os.path.join(base, named))
        try:
            folder = tool_folder(named, location)
            found = discover(named, location) if folder is None else [folder]
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            diagnostics += [
                each.at(named, tool=None) for each in ask((missing_directory,), (named, reason))
            ]
            stays = not is_gone(error)
            found = [each for each in known if stays and os.path.dirname(each.location) == location]
        else:
            if not found:
                diagnostics += [each.at(named, tool=None) for each in ask((no_tools,), named)]
        if excluded:
            found = [each for each in found if not is_excluded(each.location, excluded)]
        # two paths may lead to one directory, through a link
        root = os.path.realpath(os.path.dirname(found[0].location)) if found else ""
        for folder in found:
            folders.setdefault(f"{root}/{folder.name}", folder)
    wanted = [each for each in folders.values() if names is None or each.name in names]
    former = set(names or ()) - {each.name for each in wanted}
    if former:  # aliases, or tools in code
        wanted += [each for each in folders.values() if not former.isdisjoint(aliases_of(each))]
    return Collected(tuple(wanted), tuple(diagnostics))


def aliases_of(folder: ToolFolder) -> list[str]:
    """Return the aliases in a folder's manifest, if it can be read."""
    reading = read_manifest(folder)
    manifest = None if isinstance(reading, Unreadable) else reading.manifest
    listed = manifest.document.get("aliases") if manifest else None
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


MAX_MANIFEST_BYTES = 1 << 20


def read_file(folder: ToolFolder, name: str, *, limit: int) -> bytes | Unreadable:
    """Return the content of a file in the folder, or why it can't be read.

    Never blocks: FIFOs and devices are rejected.
    """
    for draft, data in folder.drafts:
        if draft == name:
            return data
    try:
        descriptor = os.open(f"{folder.location}/{name}", READ_FLAGS)
    except (OSError, ValueError) as error:
        is_absent = isinstance(error, FileNotFoundError | NotADirectoryError)
        return Unreadable(name, _reason(error), is_absent)
    try:
        # of the open file: the path might be another file by now
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a FIFO, a device or a socket"
            return Unreadable(name, f"is {kind}, not a file")
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


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Reading(NamedTuple):
    """A manifest, or None if it can't be parsed, and the findings."""

    manifest: Manifest | None
    verdicts: list[Verdict]


def read_manifest(folder: ToolFolder) -> Reading | Unreadable:
    """Read and parse the folder's manifest, or return why its file can't be read."""
    data = read_file(folder, folder.manifest_name, limit=MAX_MANIFEST_BYTES)
    return data if isinstance(data, Unreadable) else _parsed(folder, data)


def _parsed(folder: ToolFolder, data: bytes) -> Reading:
    try:
        content = data.decode()
        document = _DECODER.decode(content)
    except (ValueError, RecursionError):
        return _explain(folder, data)
    # an escape can spell half of a surrogate pair, which can't be encoded
    is_half = _SURROGATE.search(content) and not encodes(json.dumps(document, ensure_ascii=False))
    if is_half or type(document) is not dict or depth(document) > MAX_DEPTH:
        return _explain(folder, data)
    return Reading(Manifest(document, content), [])


def _explain(folder: ToolFolder, data: bytes) -> Reading:
    """Find the problem with a string; warnings, such as a byte order mark, don't reject it."""
    case = text.ManifestText(folder.manifest_name, data)
    verdicts: list[Verdict] = []
    for rules in (text.ENCODING_RULES, text.SYNTAX_RULES, text.CONTENT_RULES):
        if not has_errors(verdicts):
            verdicts += ask(rules, case)
    if has_errors(verdicts):
        return Reading(None, verdicts)
    return Reading(Manifest(json.loads(case.text), case.text), verdicts)


def unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    """Make an object of its members, as ``json`` does, but reject a duplicate key.

    Raises:
        ValueError: there is one.
    """
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate key")
    return members


_DECODER = strict_decoder(object_pairs_hook=unique)


MAX_MODULE_BYTES = 4 << 20
_RELATIVE = re.compile(rb"from[\s\\]*\.")
_MAX_FOLDER_DEPTH = 6
_MAX_DATA_BYTES = 1 << 28
_NO_SOURCES = {"__pycache__", "node_modules"}


class Snapshot(NamedTuple):
    """The content of a folder's Python files at one moment.

    Attributes:
        folder: where they were read.
        files: bytes by path relative to the folder, with slashes; ``../_shared/x.py`` is a shared
            one that other tools share.
        digest: a hash of the content, the same in every process and place: 64 bits in hexadecimal.
        locked: the hashes that it was compared with, if there is a lock file.
    """

    folder: ToolFolder
    files: dict[str, bytes]
    digest: str
    locked: Mapping[str, str] | None = None

    @property
    def main(self) -> bytes:
        """The content of the tool's module."""
        return self.files[self.folder.module_name]

    @property
    def shared(self) -> dict[str, bytes]:
        """The files that it shares with other tools, by path relative to their directory."""
        every = self.files.items()
        return {path.removeprefix(_ABOVE): each for path, each in every if path.startswith(_ABOVE)}


def take_snapshot(folder: ToolFolder, *, is_run: bool = True) -> Snapshot | Unreadable:
    """Read the folder's module and every Python file next to and below it.

    If the module won't run, its helper files don't matter.
    """
    name = folder.module_name
    main = read_file(folder, name, limit=MAX_MODULE_BYTES)
    if isinstance(main, Unreadable):
        return main
    files = {name: main}
    if folder.drafts:
        files = {each: data for each, data in folder.drafts if each.endswith(".py")}
    elif is_run and _may_import_helpers(main):
        files |= _read_helpers(folder)
        files |= _read_shared(folder, files)
    digest = source_hash(framed(files) if len(files) > 1 else main).hex()
    return Snapshot(folder, files, digest)


def _read_helpers(folder: ToolFolder) -> dict[str, bytes]:
    """Return the contents of the other Python files in and below a folder."""
    files: dict[str, bytes] = {}
    entries = folder
    with contextlib.suppress(OSError):
        entries = listed(folder)
    paths = [each for each in entries.files if each.endswith(".py") and each != folder.module_name]
    for each in entries.folders:
        if _may_hold_sources(each):
            paths += _paths_below(folder.location, each, 1)
    # in order, because the digest depends on it
    for path in sorted(paths):
        content = read_file(folder, path, limit=MAX_MODULE_BYTES)
        if not isinstance(content, Unreadable):
            files[path] = content
    return files


def _read_shared(folder: ToolFolder, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the contents of the directory's shared modules, if a tool might import them."""
    if not any(map(_SHARING.search, files.values())):
        return {}
    directory = ToolFolder("", "", os.path.dirname(folder.location))
    paths: list[str] = []
    for path in shared_next_to([folder.location]):
        name = os.path.basename(path)
        paths += [name] if name.endswith(".py") else _paths_below(directory.location, name, 1)
    found: dict[str, bytes] = {}
    # in order, because the digest depends on it
    for path in sorted(paths):
        content = read_file(directory, path, limit=MAX_MODULE_BYTES)
        if not isinstance(content, Unreadable):
            found[f"{_ABOVE}{path}"] = content
    return found


def shared_next_to(locations: Iterable[str]) -> set[str]:
    """Return the paths of what tool folders can share: modules whose names begin with ``_``."""
    found = set[str]()
    for directory in {os.path.dirname(each) for each in locations}:
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            found |= {each.path for each in entries if _is_shared(each)}
    return found


def _is_shared(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    is_own = name.startswith("_") and not name.startswith("__")
    return is_own and (name.endswith(".py") or (name.isidentifier() and entry.is_dir()))


_ABOVE = "../"
_SHARING = re.compile(rb"\.\.\s*(?:_\w|import\b)")


def _may_import_helpers(source: bytes) -> bool:
    """Return True if a module might import others of its folder."""
    return b"__" in source or b"import_module" in source or _RELATIVE.search(source) is not None


def _paths_below(location: str, relative: str, level: int) -> list[str]:
    paths: list[str] = []
    try:
        with os.scandir(f"{location}/{relative}") as entries:
            for entry in entries:
                path = f"{relative}/{entry.name}"
                if entry.name.endswith(".py"):
                    paths.append(path)
                elif level == _MAX_FOLDER_DEPTH or not _may_hold_sources(entry.name):
                    continue
                elif entry.is_dir(follow_symlinks=False):
                    paths += _paths_below(location, path, level + 1)
    except OSError:
        return paths
    return paths


def _may_hold_sources(name: str) -> bool:
    return name.isidentifier() and name not in _NO_SOURCES


class Contents(NamedTuple):
    """A folder's contents at one moment: everything that a tool is made of.

    Attributes:
        folder: where it was read.
        manifest: the manifest, or why it can't be read.
        snapshot: the sources, or why the module can't be read.
        digest: a hash of both, and of the stamps of the data files that the manifest lists.
    """

    folder: ToolFolder
    manifest: Reading | Unreadable
    snapshot: Snapshot | Unreadable
    digest: str


def read_folder(folder: ToolFolder, settings: Settings) -> Contents:
    """Read a folder's manifest and sources."""
    data = read_file(folder, folder.manifest_name, limit=MAX_MANIFEST_BYTES)
    manifest = data if isinstance(data, Unreadable) else _parsed(folder, data)
    if not isinstance(manifest, Unreadable) and manifest.manifest and manifest.manifest.data:
        folder = folder._replace(revision=_revision(folder, manifest.manifest.data))
    # without an import, or a lock to compare with, helpers don't matter
    is_run = settings.imports or settings.locked is not None
    snapshot = take_snapshot(folder, is_run=is_run)
    parts = [
        data if isinstance(data, bytes) else repr(data).encode(),
        (snapshot.digest if isinstance(snapshot, Snapshot) else repr(snapshot)).encode(),
        folder.revision.encode(),
    ]
    return Contents(folder, manifest, snapshot, source_hash(b" ".join(parts)).hex())


class Stamp(NamedTuple):
    """What changes with a file: two times in nanoseconds, its size, and its inode.

    ``changed`` is new even if the time of modification is kept, as by ``cp -p`` or a rename.
    """

    modified: int
    changed: int
    size: int
    inode: int


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file."""
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def _revision(folder: ToolFolder, patterns: Sequence[str]) -> str:
    """Return a hash of the stamps of data files."""
    stamps = {}
    for path in _matching(folder, patterns):
        if path not in {folder.manifest_name, folder.module_name}:
            with contextlib.suppress(OSError):  # deleted meanwhile, or a broken link
                stamps[path] = stamp_of(os.stat(f"{folder.location}/{path}"))
    return source_hash(repr(sorted(stamps.items())).encode()).hex()


def _matching(folder: ToolFolder, patterns: Sequence[str]) -> list[str]:
    """Return the relative paths of a folder's files that match any of the patterns."""
    every = _every_file(folder) if patterns else ()
    return [path for path in every if any(fnmatchcase(path, each) for each in patterns)]


def read_all_data(folder: ToolFolder, manifest: Manifest) -> dict[str, bytes] | Unreadable:
    """Return the contents of all data files that a manifest lists, or the first unreadable one."""
    contents: dict[str, bytes] = {}
    for path in _matching(folder, manifest.data):
        content = read_file(folder, path, limit=_MAX_DATA_BYTES)
        if isinstance(content, Unreadable):
            return content
        contents[path] = content
    return contents


def _every_file(folder: ToolFolder) -> Iterator[str]:
    """Yield the relative paths of all files, without compiled code."""
    for place, folders, names in os.walk(folder.location):
        folders[:] = [each for each in folders if each not in _NO_SOURCES]
        below = os.path.relpath(place, folder.location).replace(os.sep, "/")
        yield from (name if below == "." else f"{below}/{name}" for name in names)


def framed(files: Mapping[str, bytes]) -> bytes:
    """Return the content of files with their paths, so that no two sets of files look alike."""
    found = b""
    for path, content in files.items():
        frame = f"{len(path)} {path} {len(content)} "
        found += frame.encode("utf-8", "surrogateescape") + content
    return found
