"""A tool's folder, as the file system shows it, its manifest, and how folders are loaded."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from keyword import iskeyword
from typing import Any, NamedTuple, TypeAlias
from unicodedata import normalize

from sovl_tools.model.document import JSON

FIELDS = (
    "title", "examples", "tags", "activation_phrases", "category", "version", "aliases",
    "deprecated", "replaced_by", "removed_in", "instructions", "output_schema", "annotations",
    "execution", "requires", "metadata",
)  # fmt: skip
"""Keys of a manifest that ``@tool`` takes as well, in the order of writing.

Each is a field of ``ToolDefinition``.
"""

KEYS = frozenset({"$schema", "name", "description", "parameters", "enabled", "reload", *FIELDS})
"""Every key of a manifest, except keys that begin with ``x-``."""

SECTIONS = {
    "annotations": frozenset({"read_only", "destructive", "idempotent", "open_world"}),
    "execution": frozenset(
        {
            "mode",
            "timeout",
            "max_concurrency",
            "max_result_bytes",
            "memory_mb",
            "isolated_env",
            "retry",
            "cache_seconds",
            "rate_limit",
        }
    ),
    "requires": frozenset({"env", "packages"}),
}
"""Keys whose values are objects, and the keys of these objects."""

REQUIRED_KEYS = ("name", "description", "parameters")

PHRASES = "ACTIVATION_PHRASES"
HANDLERS = "STEP_HANDLERS"
REGISTER = "register_step_handlers"
"""Names that a module can bind in addition to the function."""

MAX_NAME_LENGTH = 64
"""The maximum number of characters of a tool's name."""
_MOST_CHARACTERS = 1000

IMPORT_TIMEOUT = 10.0
"""The default limit for importing one module, in seconds."""


READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags for opening files: a FIFO must not block."""


class ToolFolder(NamedTuple):
    """A folder that should contain a tool.

    Attributes:
        name: the folder's own name, which is the tool's.
        path: the folder as the caller named it, for messages.
        location: its absolute path.
        files: names of its files; empty unless the folder was listed.
        folders: names of its sub-folders, likewise.
        revision: a hash of the stamps of the data files that its manifest lists: the module runs
            again when they change.
        drafts: its manifest and all its sources by their names, if a worker reads another version
            than the files; empty elsewhere.
    """

    name: str
    path: str
    location: str
    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    revision: str = ""
    drafts: tuple[tuple[str, bytes], ...] = ()

    @property
    def manifest_name(self) -> str:
        """The manifest's file name."""
        return f"{self.name}.json"

    @property
    def module_name(self) -> str:
        """The module's file name."""
        return f"{self.name}.py"


class Manifest(NamedTuple):
    """A parsed manifest. The properties assume that it has passed its checks.

    Attributes:
        document: the parsed JSON object.
        text: the file's text, which the places of diagnostics are computed from.
    """

    document: Mapping[str, JSON]
    text: str

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self.document["name"])

    @property
    def parameters(self) -> dict[str, JSON]:
        """The JSON Schema of the arguments."""
        parameters: dict[str, JSON] = self.document["parameters"]
        return parameters

    @property
    def data(self) -> tuple[str, ...]:
        """Patterns of the data files that the module reads when it is imported."""
        listed = self.document.get("reload")
        return tuple(map(str, listed)) if isinstance(listed, list) else ()

    @property
    def enabled(self) -> bool:
        """False keeps the tool out of the registry."""
        # the meta-schema rejects a value of another type
        return self.document.get("enabled", True) is not False

    @property
    def phrases(self) -> tuple[str, ...]:
        """The activation phrases, unless the module has its own."""
        return tuple(self.document.get("activation_phrases", ()))


Hashes: TypeAlias = Mapping[str, str]
"""Hashes of a tool by ``LOCKED_PARTS``; ``data`` only if the manifest lists any."""

Lock: TypeAlias = Mapping[str, Hashes]
"""The content of a lock file, by the names of the tools."""


class Settings(NamedTuple):
    """How folders are loaded.

    Attributes:
        imports: False parses the modules instead of importing them.
        limit: the limit for importing one module, in seconds.
        locked: the content of a lock file; only its tools are loaded. None if there isn't one.
        defer: given the contents of a folder and these settings, returns a function that imports
            its module later, or None if it must be imported now. None imports all now.
    """

    imports: bool = True
    limit: float = IMPORT_TIMEOUT
    locked: Lock | None = None
    defer: Callable[[Any, Settings], Callable[[], Any] | None] | None = None


def name_problem(name: str) -> str | None:
    """Return the reason why a name can't be a tool's, or None if it can."""
    if not (name.isascii() and name.isidentifier()):
        return "it is not an ASCII identifier"
    if iskeyword(name):
        return "it is a Python keyword"
    if len(name) > MAX_NAME_LENGTH:
        return f"it has {len(name)} characters, more than {MAX_NAME_LENGTH}"
    return None


def fitting_name(name: str) -> str | None:
    """Return a valid tool name similar to the given one; None if no character is valid."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode()
    better = re.sub(r"\W+", "_", plain).strip("_")[:MAX_NAME_LENGTH]
    if better[:1].isdigit():
        better = f"tool_{better}"[:MAX_NAME_LENGTH]
    if iskeyword(better):
        better = f"{better}_"
    return better if name_problem(better) is None else None


def fit_names(names: Iterable[str]) -> Iterator[str]:
    """Yield valid names of tool folders, different also on file systems that ignore case."""
    taken: set[str] = set()
    for each in names:
        wanted = (fitting_name(each[:_MOST_CHARACTERS]) or "tool").lstrip("_") or "tool"
        name, number = wanted, 1
        while name.casefold() in taken:
            number += 1
            name = f"{wanted[: MAX_NAME_LENGTH - len(str(number)) - 1]}_{number}"
        taken.add(name.casefold())
        yield name
