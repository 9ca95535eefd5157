"""A tool's folder, as the file system shows it, its manifest, and how folders are loaded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from keyword import iskeyword
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from sovl_tools.model.document import JSON

FIELDS = (
    "title", "examples", "tags", "activation_phrases", "category", "version", "instructions",
    "output_schema", "annotations", "execution", "requires", "metadata",
)  # fmt: skip
"""Keys of a manifest that ``@tool`` takes as well, in the order in which they are written.

Each is a field of ``ToolDefinition``.
"""

KEYS = frozenset({"$schema", "name", "description", "parameters", "enabled", "reload", *FIELDS})
"""Every key that a manifest may have, beside those that begin with ``x-``."""

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
        }
    ),
    "requires": frozenset({"env", "packages"}),
}
"""The keys of those that are objects of a few keys."""

REQUIRED_KEYS = ("name", "description", "parameters")

PHRASES = "ACTIVATION_PHRASES"
HANDLERS = "STEP_HANDLERS"
REGISTER = "register_step_handlers"
"""What a module may bind beside the function."""

MAX_NAME_LENGTH = 64
"""How many characters a tool's name may have."""
_MOST_CHARACTERS = 1000

IMPORT_TIMEOUT = 10.0
"""How long importing one module may take, in seconds, unless configured otherwise."""


READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How files are opened: a path may lead to a FIFO, whose other end nobody waits for."""


class ToolFolder(NamedTuple):
    """A folder that ought to hold a tool.

    Attributes:
        name: the folder's own name, which is the tool's.
        path: the folder as the caller named it, for messages.
        location: its absolute path.
        files: names of the entries that are no folders; empty until somebody asks for them.
        folders: names of the sub-folders, likewise.
        revision: how often something that its module may use has changed, other than sources.
        drafts: its manifest and all its sources by their names, where a worker that holds another
            version reads them in place of the files; empty elsewhere.
    """

    name: str
    path: str
    location: str
    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    revision: int = 0
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
        document: the JSON object as it was parsed.
        text: the file's text, from which positions are found when something is reported.
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
        # a value of another type is refused, and hides nothing
        return self.document.get("enabled", True) is not False

    @property
    def phrases(self) -> tuple[str, ...]:
        """The activation phrases, unless the module has its own."""
        return tuple(self.document.get("activation_phrases", ()))


Hashes: TypeAlias = Mapping[str, str]
"""Of a tool, by what they are of: ``LOCKED_PARTS``; ``data`` only if the manifest lists any."""

Lock: TypeAlias = Mapping[str, Hashes]
"""What a lock file says, by the names of the tools."""


class Settings(NamedTuple):
    """How folders are loaded.

    Attributes:
        imports: False parses the modules instead of importing them.
        limit: how long importing one module may take, in seconds.
        locked: what a lock file says; unless it is None, nothing else is loaded.
    """

    imports: bool = True
    limit: float = IMPORT_TIMEOUT
    locked: Lock | None = None


def name_problem(name: str) -> str | None:
    """Return why a name can't be a tool's, or None if it can."""
    if not (name.isascii() and name.isidentifier()):
        return "it is not an ASCII identifier"
    if iskeyword(name):
        return "it is a Python keyword"
    if len(name) > MAX_NAME_LENGTH:
        return f"it has {len(name)} characters, more than {MAX_NAME_LENGTH}"
    return None


def fitting_name(name: str) -> str | None:
    """Return a name for a tool that is much like the given one; None if nothing is left of it."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode()
    better = re.sub(r"\W+", "_", plain).strip("_")[:MAX_NAME_LENGTH]
    if better[:1].isdigit():
        better = f"tool_{better}"[:MAX_NAME_LENGTH]
    if iskeyword(better):
        better = f"{better}_"
    return better if name_problem(better) is None else None


def fit_names(names: Iterable[str]) -> Iterator[str]:
    """Yield names that folders of tools may have, no two equal, also where case is lost."""
    taken: set[str] = set()
    for each in names:
        wanted = (fitting_name(each[:_MOST_CHARACTERS]) or "tool").lstrip("_") or "tool"
        name, number = wanted, 1
        while name.casefold() in taken:
            number += 1
            name = f"{wanted[: MAX_NAME_LENGTH - len(str(number)) - 1]}_{number}"
        taken.add(name.casefold())
        yield name
