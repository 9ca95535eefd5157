"""How tool folders are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from sovl_tools.model.folder import IMPORT_TIMEOUT

Hashes: TypeAlias = Mapping[str, str]
"""Of a tool, by what they are of: ``LOCKED_PARTS``; ``data`` only if the manifest lists any."""

Lock: TypeAlias = Mapping[str, Hashes]
"""What a lock file says, by the names of the tools."""


class Settings(NamedTuple):
    """How folders are loaded.

    Attributes:
        imports: False parses the modules instead of importing them.
        limit: how long importing one module may take, in seconds.
        compiles: True makes a validator of every schema, which otherwise the first call does.
        locked: what a lock file says; unless it is None, nothing else is loaded.
    """

    imports: bool = True
    limit: float = IMPORT_TIMEOUT
    compiles: bool = False
    locked: Lock | None = None
