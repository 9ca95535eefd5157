"""What tool folders hold, and what became of them, kept between runs of ``validate``."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from sovl_tools import __version__
from sovl_tools.configuration import Configuration
from sovl_tools.linting.selection import Suppression, may_ask, suppressions_of
from sovl_tools.loading.dependencies import (
    Findings,
    Loaded,
    Stamps,
    environment_state,
    file_state,
    is_installed,
    modules_in,
    read_small,
    stamp_of,
    state_of,
)
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.document import JSON, encodes, is_record, texts
from sovl_tools.model.folder import REGISTER, Settings, ToolFolder

_LOGGER = logging.getLogger("sovl_tools")

DIRECTORY = ".sovl_tools_cache"
TAG = "CACHEDIR.TAG"
_FILES = {
    ".gitignore": "*\n",
    TAG: "Signature: 8a477f597d28d172789f06886806bc55\n# Made by sovl-tools; may be deleted.\n",
}
_PREFIX = "validate-"
_MOST_FILES = 20
_MAX_BYTES = 1 << 28
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


def read_content(folder: ToolFolder, *, is_named: bool = True) -> Content:
    """Read the files of a folder, each once; where all can't be read, those that may ask.

    Without a name for the content only those that may ask are read.
    """
    digest = blake2b(digest_size=16)
    drafts = dict(folder.drafts)
    asking: dict[str, bytes] = {}
    variables: tuple[str, ...] | None = None
    sees_others, is_known = False, is_named and not drafts
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


Load = Callable[[Sequence[ToolFolder]], Iterable[Loaded]]
"""Loads folders anew."""


class Checked(NamedTuple):
    """What became of a folder, and what its files ask to leave out."""

    candidate: Candidate
    suppressions: Sequence[Suppression] = ()


class _Entry(NamedTuple):
    """What is kept of a folder.

    Attributes:
        stats: what the file system said of its files; empty if they may have changed since.
        content: names what they said.
        variables: those of the environment that the tool requires; None if it requires nothing.
        surroundings: what there was of those, and of modules.
        suppressions: what the files ask to leave out.
        candidate: what became of the folder.
    """

    stats: str
    content: str
    variables: Sequence[str] | None
    surroundings: str
    suppressions: Sequence[Suppression]
    candidate: Candidate

    def to_json(self) -> dict[str, JSON]:
        """Return what ``_entry`` reads."""
        asked = [each._asdict() for each in self.suppressions]
        return {
            **self._asdict(),
            "suppressions": asked,
            "candidate": self.candidate.to_json(),
        }


class _Kept(NamedTuple):
    """What a file of the cache holds.

    Attributes:
        dependencies: the states of paths outside of the folders that imports have opened.
        tools: what is kept of folders, by their names, paths and locations.
    """

    dependencies: dict[str, str]
    tools: dict[str, _Entry]


class _Look(NamedTuple):
    """A folder before it is loaded.

    Attributes:
        stats: what the file system says of its files; None if that tells too little.
        content: what they say; None if nobody had to read them.
        entry: what is kept of it, if that holds.
    """

    stats: Stats | None
    content: Content | None
    entry: _Entry | None


class Cache:
    """A directory of what became of folders, for one way of loading them.

    Candidates come back without their definitions, as from a child process. A cache that is
    damaged, or can't be written, is as good as none.

    Args:
        directory: where it is, or will be.
        settings: how folders are loaded.
        rest: how long files must have been at rest, in seconds, for their times to tell that they
            are as they were; their content is compared otherwise. Some file systems count in
            steps of two seconds.
    """

    def __init__(self, directory: str, settings: Settings, *, rest: float = 2.0) -> None:
        self._directory = directory
        self._rest = int(rest * 1e9)
        self._surroundings: dict[tuple[str, ...] | None, str] = {}
        parts = [__version__, os.getcwd(), sys.path, settings, *environment_state()]
        self._file = os.path.join(directory, f"{_PREFIX}{_digest(json.dumps(parts))}.json")
        self._stats: dict[str, Stats | None] = {}
        self._contents: dict[str, str | None] = {}

    def load(self, folders: Sequence[ToolFolder], load: Load) -> list[Checked]:
        """Return what became of the folders: of those that are as they were, from the cache."""
        started = time.time_ns()
        kept = self._load()
        looks = {each.location: self._look(each, kept.tools.get(_name(each))) for each in folders}
        # it would be shown less than all, if others were not loaded
        if any(each.content is not None and each.content.sees_others for each in looks.values()):
            looks = {location: each._replace(entry=None) for location, each in looks.items()}
        found: dict[str, Checked] = {}
        others: list[ToolFolder] = []
        for folder in folders:
            entry = looks[folder.location].entry
            if entry is None:
                others.append(folder)
            else:
                found[folder.location] = Checked(entry.candidate, entry.suppressions)
        loaded = dict(zip((each.location for each in others), load(others), strict=True))
        for folder in others:
            look = looks[folder.location]
            content = read_content(folder) if look.content is None else look.content
            looks[folder.location] = look._replace(content=content)
            checked = Checked(loaded[folder.location].candidate, content.suppressions)
            found[folder.location] = checked
        for location, (stats, read, entry) in looks.items():
            self._stats[location] = stats
            known = entry.content if entry is not None else None
            self._contents[location] = read.digest if read is not None else known
        # a read file of which nothing had changed but its times is known by these from now on
        if any(each.content is not None for each in looks.values()):
            self._keep(kept, folders, loaded, looks, started)
        return [found[each.location] for each in folders]

    def recall(self, name: str, state: Sequence[JSON], find: Callable[[], Findings]) -> Findings:
        """Return what was found beside the folders that are loaded, anew if anything has changed.

        Only what has no error is kept: an import that fails may succeed the next time.

        Args:
            name: of a file of its own.
            state: says what is looked at, beside those folders; with null somewhere at its top
                nobody knows.
            find: looks at it.
        """
        unknown = (*state, *self._contents.values(), *self._stats.values())
        if any(each is None for each in unknown):
            return find()
        file = self._file.removesuffix(".json") + f"-{name}.json"
        known = _digest(json.dumps([state, self._contents]))
        with suppress(ValueError):
            kept = _read_kept(file)
            if is_record(kept, _FINDINGS) and kept["known"] == known and _holds(kept["opened"]):
                return Findings.from_json(kept["findings"])
        found = find()
        diagnostics = chain(found.diagnostics, *(each.diagnostics for each in found.candidates))
        is_final = not any(each.severity == "error" for each in diagnostics)
        is_same = all(stats_of(location) == each for location, each in self._stats.items())
        if found.opened is None or not (is_final and is_same):
            return found
        states = {each: state_of(each) for each in found.opened}
        if not _have_changed(found.opened):
            kept = {"known": known, "opened": states, "findings": found.to_json()}
            self._write(file, kept)
        return found

    def _look(self, folder: ToolFolder, entry: _Entry | None) -> _Look:
        stats = stats_of(folder.location) if not folder.drafts else None
        if entry is None or entry.surroundings != self._around(entry.variables):
            return _Look(stats, read_content(folder), None)
        if stats is not None and stats.text == entry.stats:
            return _Look(stats, None, entry)
        content = read_content(folder)
        return _Look(stats, content, entry if content.digest == entry.content else None)

    def _around(self, variables: Sequence[str] | None) -> str:
        """Return what there is of variables and modules that a tool requires."""
        names = None if variables is None else tuple(variables)
        if names not in self._surroundings:
            self._surroundings[names] = surroundings(names or (), sys.path)
        return self._surroundings[names]

    def _keep(
        self,
        kept: _Kept,
        folders: Iterable[ToolFolder],
        loaded: dict[str, Loaded],
        looks: dict[str, _Look],
        started: int,
    ) -> None:
        """Keep what became of folders that were read, unless something changes meanwhile."""
        dependencies = dict(kept.dependencies)
        tools = {
            name: each
            for name, each in kept.tools.items()
            if os.path.isdir(name.rpartition("\0")[2])
        }
        is_known = True
        for folder in folders:
            stats, content, entry = looks[folder.location]
            if content is None:
                continue
            is_resting = stats is not None and stats.newest < started - self._rest
            times = stats.text if stats is not None and is_resting else ""
            if folder.location not in loaded:
                if entry is not None:
                    tools[_name(folder)] = entry._replace(stats=times)
                continue
            candidate, opened = loaded[folder.location]
            tools.pop(_name(folder), None)
            states = {each: state_of(each) for each in opened or ()}
            # a file is reported once: later modules may depend on it without opening it
            is_known = is_known and opened is not None and not _have_changed(opened)
            if any(dependencies.get(path, state) != state for path, state in states.items()):
                tools = {}  # they were checked with what it said before
            dependencies |= states
            is_final = not any(each.code.startswith(_OF_OUTSIDE) for each in candidate.diagnostics)
            if not (is_known and is_final) or content.digest is None or content.sees_others:
                continue
            # who edits a tool while it is checked has it checked once more
            if is_resting and stats_of(folder.location) != stats:
                continue
            if not is_resting and read_content(folder).digest != content.digest:
                continue
            around, asked = self._around(content.variables), content.suppressions
            tools[_name(folder)] = _Entry(
                times, content.digest, content.variables, around, asked, candidate
            )
        if (dependencies, tools) != kept:
            entries = {name: each.to_json() for name, each in tools.items()}
            self._write(self._file, {"dependencies": dependencies, "tools": entries})

    def _load(self) -> _Kept:
        """Return what is kept and holds; nothing if the file is damaged or a dependency changed."""
        with suppress(ValueError):
            kept = _read_kept(self._file)
            if is_record(kept, _KEPT) and _holds(kept["dependencies"]):
                tools = kept["tools"].items()
                return _Kept(
                    kept["dependencies"], {name: _entry(name, each) for name, each in tools}
                )
        return _Kept({}, {})

    def _write(self, file: str, document: JSON) -> None:
        from sovl_tools.scaffolding.files import (  # noqa: PLC0415 - 10 ms, where something changed
            replace_files,
        )

        written = json.dumps(document)
        try:
            os.makedirs(self._directory, exist_ok=True)
            files = {
                name: text.encode()
                for name, text in _FILES.items()
                if not os.path.exists(os.path.join(self._directory, name))
            }
            files[os.path.basename(file)] = f"{_digest(written)}\n{written}".encode("ascii")
            replace_files(self._directory, files)
            with os.scandir(self._directory) as entries:
                kept = [each for each in entries if each.name.startswith(_PREFIX)]
                written_last = sorted(kept, key=lambda each: each.stat().st_mtime, reverse=True)
            for old in written_last[_MOST_FILES:]:
                with suppress(OSError):
                    os.unlink(old.path)
        except OSError as error:
            _LOGGER.debug("the cache can't be written: %s", error)


_OF_OUTSIDE = ("ST5", "ST0")
"""Codes of what may be otherwise the next time: imports that failed, and mistakes of ours."""


_KEPT = {"dependencies": (dict,), "tools": (dict,)}
_FINDINGS = {"known": (str,), "opened": (dict,), "findings": (dict,)}
_ENTRY = {
    **dict.fromkeys(("stats", "content", "surroundings"), (str,)),
    "variables": (list, type(None)),
    "suppressions": (list,),
    "candidate": (dict,),
}
_SUPPRESSION = {
    **dict.fromkeys(("code", "words", "scope", "path"), (str,)),
    **dict.fromkeys(("only", "line", "column"), (int,)),
    "tool": (str, type(None)),
}


def _entry(name: str, document: JSON) -> _Entry:
    """Return what is kept of a folder.

    Raises:
        ValueError: this is nothing that is kept, or another folder's.
    """
    if not is_record(document, _ENTRY) or not all(
        is_record(each, _SUPPRESSION) for each in document["suppressions"]
    ):
        raise ValueError("this is nothing that is kept of a folder")
    candidate = Candidate.from_json(document["candidate"])
    if _name(candidate) != name:
        raise ValueError("this is kept of another folder")
    variables = None if document["variables"] is None else texts(document["variables"])
    asked = tuple(Suppression(**each) for each in document["suppressions"])
    return _Entry(
        **{**document, "variables": variables, "suppressions": asked, "candidate": candidate}
    )


def _read_kept(file: str) -> JSON:
    """Return the document of a file of the cache.

    Raises:
        ValueError: it is not as it was written, or there is none.
    """
    try:
        if os.path.getsize(file) > _MAX_BYTES:
            raise ValueError("it is too large")
        with open(file, encoding="ascii") as opened:
            digest, written = opened.readline().rstrip("\n"), opened.read()
        if digest != _digest(written):
            raise ValueError("it is damaged")
        return json.loads(written)
    except (OSError, RecursionError) as error:
        raise ValueError("it can't be read") from error


def _holds(dependencies: dict[str, str]) -> bool:
    """Tell whether what imports have opened is as it was."""
    return all(state_of(path) == state for path, state in dependencies.items())


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _name(folder: ToolFolder | Candidate) -> str:
    return f"{folder.name}\0{folder.path}\0{folder.location}"


def _have_changed(opened: Stamps) -> bool:
    """Tell whether files are other ones than those that were opened, or nobody can know."""
    return any(not stamp or stamp_of(path) != stamp for path, stamp in opened.items())


def cache_directory(found: Configuration) -> str:
    """Return where the cache is: beside the configuration, else in the current directory."""
    return os.path.join(os.path.dirname(found.file or ""), DIRECTORY)
