"""ST104: files that can't be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, Position, rule


class Unreadable(NamedTuple):
    """A file of a tool folder and why it can't be read; ``name`` is empty for the folder.

    ``is_absent`` tells that there is no file of exactly that name.
    """

    name: str
    reason: str
    is_absent: bool = False


@rule("ST104")
def unreadable(case: Unreadable) -> Iterator[Finding]:
    """A file of the tool can't be read.

    The manifest or the module is there but is no regular file, is larger than a file of its
    kind may be (1 MiB for a manifest, 4 MiB for a module), or the operating system refuses to
    open it. Files are opened without waiting, so a FIFO or a device does not hang the load.
    Put a plain, readable file in its place.
    """
    yield Finding(Position(case.name), f"{case.name or 'the folder'} {case.reason}")


RULES = (unreadable,)
