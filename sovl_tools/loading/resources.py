"""What ``importlib.resources`` gives of a tool's folder: the files of one generation.

Sources and the data files that the manifest lists are as they were when the module was imported,
also if they are edited while a call goes on. Other files are the tool's own, and as they are now.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from typing import IO, Any


class Resource:
    """A file or folder of a generation (see ``importlib.resources.abc.Traversable``).

    Args:
        location: the absolute path of the tool's folder.
        path: relative to it, with slashes; "" for the folder itself.
        kept: the files that are as they were, by their relative paths.
    """

    def __init__(self, location: str, path: str, kept: Mapping[str, bytes]) -> None:
        self._location = location
        self._path = path
        self._kept = kept

    @property
    def name(self) -> str:
        """The last part of its path."""
        return os.path.basename(str(self))

    def __str__(self) -> str:
        return f"{self._location}/{self._path}".rstrip("/")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self)!r}>"

    def is_file(self) -> bool:
        """Tell whether it is a file."""
        return self._path in self._kept or os.path.isfile(str(self))

    def is_dir(self) -> bool:
        """Tell whether it is a folder."""
        return any(each.startswith(self._below) for each in self._kept) or os.path.isdir(str(self))

    def iterdir(self) -> Iterator[Resource]:
        """Yield what is in the folder, without compiled code."""
        names = {each[len(self._below) :].split("/")[0] for each in self._kept if self._holds(each)}
        if os.path.isdir(str(self)):
            names |= {*os.listdir(str(self))} - {"__pycache__"}
        yield from (self.joinpath(name) for name in sorted(names))

    def joinpath(self, *descendants: str | os.PathLike[str]) -> Resource:
        """Return what lies below it by that path."""
        path = "/".join([self._path, *(os.fspath(each) for each in descendants)])
        path = os.path.normpath(path.lstrip("/")).replace(os.sep, "/")
        return Resource(self._location, "" if path == "." else path, self._kept)

    def __truediv__(self, child: str | os.PathLike[str]) -> Resource:
        return self.joinpath(child)

    def open(self, mode: str = "r", *args: Any, **options: Any) -> IO[Any]:
        """Open the file for reading, ``"r"`` as text and ``"rb"`` as bytes."""
        if mode not in {"r", "rb"}:
            raise ValueError(f"a resource is opened with 'r' or 'rb', not {mode!r}")
        kept = self._kept.get(self._path)
        if kept is None:
            return open(str(self), mode, *args, **options)
        stream = io.BytesIO(kept)
        return stream if mode == "rb" else io.TextIOWrapper(stream, *args, **options)

    def read_bytes(self) -> bytes:
        """Return what the file holds."""
        with self.open("rb") as file:
            content: bytes = file.read()
            return content

    def read_text(self, encoding: str | None = None) -> str:
        """Return the text of the file, UTF-8 unless another encoding is named."""
        with self.open(encoding=encoding or "utf-8") as file:
            text: str = file.read()
            return text

    @property
    def _below(self) -> str:
        return f"{self._path}/" if self._path else ""

    def _holds(self, path: str) -> bool:
        return path.startswith(self._below)


class ResourceReader:
    """What a loader returns for a package (see ``importlib.resources.abc.TraversableResources``).

    Its resources begin at the package's folder.
    """

    def __init__(self, root: Resource) -> None:
        self._root = root

    def files(self) -> Resource:
        """Return the package's folder."""
        return self._root

    def open_resource(self, resource: str) -> IO[bytes]:
        """Open a file of the package."""
        return self._root.joinpath(resource).open("rb")

    def resource_path(self, resource: str) -> str:
        """Refuse: the file on the disk may be that of another generation."""
        raise FileNotFoundError(resource)

    def is_resource(self, path: str) -> bool:
        """Tell whether there is a file of that name in the package."""
        return self._root.joinpath(path).is_file()

    def contents(self) -> Iterator[str]:
        """Yield the names of what is in the package."""
        return (each.name for each in self._root.iterdir())
