"""A tool's folder, as the file system shows it."""

from __future__ import annotations

from typing import NamedTuple


class ToolFolder(NamedTuple):
    """A folder that ought to hold a tool.

    Attributes:
        name: the folder's own name, which is the tool's.
        path: the folder as the caller named it, for messages.
        location: its absolute path.
        files: names of the entries that are no folders; empty until somebody asks for them.
        folders: names of the sub-folders, likewise.
        revision: how often something that its module may use has changed, other than sources.
        inode: its number in the file system, by which another folder of its name is known; 0 of one
            that was named by itself.
    """

    name: str
    path: str
    location: str
    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    revision: int = 0
    inode: int = 0

    @property
    def manifest_name(self) -> str:
        """The manifest's file name."""
        return f"{self.name}.json"

    @property
    def module_name(self) -> str:
        """The module's file name."""
        return f"{self.name}.py"
