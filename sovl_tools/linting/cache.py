"""What became of tool folders, kept between runs of ``validate``."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

from sovl_tools import __version__
from sovl_tools.configuration import Configuration
from sovl_tools.linting.content import (
    Content,
    Stats,
    read_content,
    stats_of,
    surroundings,
)
from sovl_tools.linting.suppressions import Suppression
from sovl_tools.loading.dependencies import (
    Findings,
    Loaded,
    Stamps,
    environment_state,
    stamp_of,
    state_of,
)
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.document import JSON, is_record, texts
from sovl_tools.model.folder import Settings, ToolFolder

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
            kept = _read(file)
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
            kept = _read(self._file)
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
            self._prune()
        except OSError as error:
            _LOGGER.debug("the cache can't be written: %s", error)

    def _prune(self) -> None:
        """Forget all but the files that were written last."""
        with os.scandir(self._directory) as entries:
            kept = [each for each in entries if each.name.startswith(_PREFIX)]
            files = [(each.stat().st_mtime, each.path) for each in kept]
        for _, path in sorted(files, reverse=True)[_MOST_FILES:]:
            with suppress(OSError):
                os.unlink(path)


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


def _read(file: str) -> JSON:
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
