"""What became of tool folders, kept between runs of ``validate``."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from sovl_tools import __version__
from sovl_tools.configuration import Configuration
from sovl_tools.loading.child import CANDIDATE, DIAGNOSTIC, candidate_of, document_of
from sovl_tools.loading.dependencies import (
    environment_state,
    file_state,
    is_installed,
    read_small,
    state_of,
)
from sovl_tools.loading.isolation import Loaded
from sovl_tools.loading.settings import Settings
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.document import JSON, parse_json
from sovl_tools.model.folder import ToolFolder
from sovl_tools.scaffolding.files import replace_files
from sovl_tools.schema.engine import Validator, compile_schema

_LOGGER = logging.getLogger("sovl_tools")

DIRECTORY = ".sovl_tools_cache"
TAG = "CACHEDIR.TAG"
_FILES = {
    ".gitignore": "*\n",
    TAG: "Signature: 8a477f597d28d172789f06886806bc55\n# Made by sovl-tools; may be deleted.\n",
}
_VERSION = 1
_MOST_FILES = 20
_MAX_BYTES = 1 << 28
_MAX_ENTRIES = 1_000
_MAX_DEPTH = 6
# a clock of a file system may be coarser than the one that says when a run began
_TICK = 20_000_000

_TEXT: dict[str, JSON] = {"type": "string"}
_ENTRY: dict[str, JSON] = {
    "type": "object",
    "properties": {"content": _TEXT, "candidate": CANDIDATE},
    "required": ["content", "candidate"],
    "additionalProperties": False,
}
_SCHEMA: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "version": {"const": _VERSION},
        "dependencies": {"type": "object", "additionalProperties": _TEXT},
        "tools": {"type": "object", "additionalProperties": _ENTRY},
    },
    "required": ["version", "dependencies", "tools"],
    "additionalProperties": False,
    "$defs": {"diagnostic": DIAGNOSTIC},
}

Load = Callable[[Sequence[ToolFolder]], Iterable[Loaded]]
"""Loads folders anew."""


class _Kept(NamedTuple):
    """What a file of the cache holds.

    Attributes:
        dependencies: the states of paths outside of the folders that imports have opened.
        tools: what became of folders: the state of their content, and the candidate as JSON.
    """

    dependencies: dict[str, str]
    tools: dict[str, dict[str, JSON]]


class ContentState(NamedTuple):
    """What a folder holds.

    Attributes:
        content: names it, and which variables and modules there are of those that it requires.
        sees_others: whether the tool is shown the step handlers of others.
    """

    content: str
    sees_others: bool


class Cache:
    """A directory of what became of folders, for one way of loading them.

    Candidates come back without their definitions, as from a child process. A cache that is
    damaged, or can't be written, is as good as none.
    """

    def __init__(self, directory: str, settings: Settings) -> None:
        self._directory = directory
        parts = [__version__, os.getcwd(), sys.path, settings, *environment_state()]
        key = blake2b(json.dumps(parts).encode("utf-8", "surrogatepass"), digest_size=16)
        self._file = os.path.join(directory, f"validate-{key.hexdigest()}.json")

    def load(self, folders: Sequence[ToolFolder], load: Load) -> list[Candidate]:
        """Return what became of the folders: of those that are as they were, from the cache."""
        started = time.time_ns() - _TICK
        kept = self._read()
        before = {each.location: content_state(each) for each in folders}
        # it would be shown less than all, if others were not loaded
        is_usable = not any(each.sees_others for each in before.values() if each is not None)
        found: dict[str, Candidate] = {}
        for folder in folders if is_usable else ():
            state, entry = before[folder.location], kept.tools.get(_name(folder))
            if state is not None and entry is not None and entry["content"] == state.content:
                candidate = candidate_of(entry["candidate"])
                if candidate[:3] == folder[:3]:
                    found[folder.location] = candidate
        others = [each for each in folders if each.location not in found]
        loaded = dict(zip((each.location for each in others), load(others), strict=True))
        if others:
            self._add(kept, others, loaded, before, started)
        found |= {location: each.candidate for location, each in loaded.items()}
        return [found[each.location] for each in folders]

    def _add(
        self,
        kept: _Kept,
        folders: Iterable[ToolFolder],
        loaded: dict[str, Loaded],
        before: dict[str, ContentState | None],
        started: int,
    ) -> None:
        dependencies = dict(kept.dependencies)
        tools = {
            name: each
            for name, each in kept.tools.items()
            if os.path.isdir(name.partition("\0")[2])
        }
        is_known = True
        for folder in folders:
            candidate, opened = loaded[folder.location]
            state = before[folder.location]
            tools.pop(_name(folder), None)
            # a file is told of once: what comes later may depend on it without opening it
            is_known = is_known and opened is not None
            is_known = is_known and not any(_changed_since(each, started) for each in opened or ())
            dependencies |= {each: state_of(each) for each in opened or ()}
            is_final = not any(each.code.startswith(_OF_OUTSIDE) for each in candidate.diagnostics)
            if not (is_known and is_final) or state is None or state.sees_others:
                continue
            # who edits a tool while it is checked has it checked once more
            if content_state(folder) == state:
                entry = {"content": state.content, "candidate": document_of(candidate)}
                tools[_name(folder)] = entry
        self._write(_Kept(dependencies, tools))

    def _read(self) -> _Kept:
        """Return what is kept and holds; nothing if the file is damaged or a dependency changed."""
        try:
            if os.path.getsize(self._file) > _MAX_BYTES:
                return _Kept({}, {})
            with open(self._file, "rb") as file:
                document = parse_json(file.read())
            is_sound = _validator().is_valid(document)
        except (OSError, ValueError):
            return _Kept({}, {})
        if not is_sound:
            return _Kept({}, {})
        kept = _Kept(document["dependencies"], document["tools"])
        if any(state_of(path) != state for path, state in kept.dependencies.items()):
            return _Kept({}, {})
        return kept

    def _write(self, kept: _Kept) -> None:
        document = {"version": _VERSION, **kept._asdict()}
        try:
            os.makedirs(self._directory, exist_ok=True)
            files = {
                name: text.encode()
                for name, text in _FILES.items()
                if not os.path.exists(os.path.join(self._directory, name))
            }
            files[os.path.basename(self._file)] = json.dumps(document).encode()
            replace_files(self._directory, files)
            self._prune()
        except OSError as error:
            _LOGGER.debug("the cache can't be written: %s", error)

    def _prune(self) -> None:
        """Forget all but the files that were written last."""
        with os.scandir(self._directory) as entries:
            files = [(each.stat().st_mtime, each.path) for each in entries if _is_kept(each.name)]
        for _, path in sorted(files, reverse=True)[_MOST_FILES:]:
            with suppress(OSError):
                os.unlink(path)


_OF_OUTSIDE = ("ST5", "ST0")
"""Codes of what may be otherwise the next time: imports that failed, and mistakes of ours."""


@cache
def _validator() -> Validator:
    return compile_schema(_SCHEMA)


def _name(folder: ToolFolder) -> str:
    return f"{folder.path}\0{folder.location}"


def _is_kept(name: str) -> bool:
    return name.startswith("validate-")


def _changed_since(path: str, started: int) -> bool:
    """Tell whether a file has changed since a time, in nanoseconds, or nobody can know."""
    try:
        return os.stat(path).st_mtime_ns >= started and not os.path.isdir(path)
    except OSError:
        return False


def content_state(folder: ToolFolder) -> ContentState | None:
    """Return what a folder holds; None if that can't be told from its files alone."""
    if folder.drafts:
        return None
    digest = blake2b(digest_size=16)
    sees_others = False
    pending = [(folder.location, 0)]
    count = 0
    try:
        while pending:
            place, depth = pending.pop()
            with os.scandir(place) as entries:
                found = sorted(entries, key=lambda each: each.name)
            count += len(found)
            for entry in found:
                if entry.name == "__pycache__":  # comes with the import
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if not (is_folder or entry.is_file()) or depth > _MAX_DEPTH or count > _MAX_ENTRIES:
                    return None
                digest.update(os.fsencode(entry.name) + b"/\0"[is_folder ^ 1 :])
                if is_folder:
                    pending.append((entry.path, depth + 1))
                    continue
                content = read_small(entry.path)
                if content is None:
                    content = file_state(entry.path).encode()
                digest.update(b"%d\0" % len(content) + content)
                if entry.name == folder.manifest_name and b'"requires"' in content:
                    digest.update(_surroundings(content))
                sees_others |= b"register_step_handlers" in content
            digest.update(b"\0")  # the end of a folder
    except (OSError, ValueError, RecursionError):
        return None
    return ContentState(digest.hexdigest(), sees_others)


def _surroundings(manifest: bytes) -> bytes:
    """Return what there is of the variables and modules that a manifest may require.

    What is installed is the same for a whole file of the cache.

    Raises:
        ValueError: it is no JSON.
    """
    document = json.loads(manifest)
    requires = document.get("requires") if isinstance(document, dict) else None
    names = requires.get("env") if isinstance(requires, dict) else None
    texts = [each for each in names if isinstance(each, str)] if isinstance(names, list) else []
    variables = [each for each in texts if os.environ.get(each)]
    places = [state_of(each or os.curdir) for each in sys.path if not is_installed(each)]
    return json.dumps([variables, places]).encode()


def cache_directory(found: Configuration) -> str:
    """Return where the cache is: beside the configuration, else in the current directory."""
    return os.path.join(os.path.dirname(found.file or ""), DIRECTORY)
