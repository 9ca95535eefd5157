"""Writing files so that no program ever reads half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from secrets import token_hex
from typing import NamedTuple, Self

from sovl_tools.schema.engine import schema_text


def create_folders(root: str, folders: Mapping[str, Mapping[str, bytes]]) -> None:
    """Make many folders with files in a directory, which is made if necessary: all, or none.

    An existing folder keeps its other files; files with the same names are replaced.

    Raises:
        OSError: a file can't be written; no tool has changed.
    """
    made = [] if os.path.isdir(root) else [root]
    replaced: dict[str, bytes] = {}
    try:
        os.makedirs(root, exist_ok=True)
        for name, files in folders.items():
            folder = os.path.join(root, name)
            if os.path.lexists(folder):
                replaced |= {os.path.join(name, file): data for file, data in files.items()}
                continue
            os.mkdir(folder)
            made.append(folder)
            for file, data in files.items():
                with open(os.path.join(folder, file), "xb") as opened:
                    opened.write(data)
        replace_files(root, replaced)
    except BaseException:
        for each in made:
            shutil.rmtree(each, ignore_errors=True)
        raise


EDITOR_SCHEMA = "tool.schema.json"
"""The file next to the tool folders to which the ``$schema`` of their manifests leads."""


def write_editor_schema(directory: str) -> bool:
    """Write the schema of manifests next to tool folders, for editors; return False if it's there.

    Raises:
        OSError: it can't be written.
    """
    if os.path.lexists(os.path.join(directory, EDITOR_SCHEMA)):
        return False
    replace_files(directory, {EDITOR_SCHEMA: schema_text("tool").encode()})
    return True


class FileEdit(NamedTuple):
    """A file's old and new content.

    Attributes:
        path: the file's path.
        before: the content that was read; None for a new file.
        after: the new content.
    """

    path: str
    before: bytes | None
    after: bytes

    @property
    def undone(self) -> Self:
        """The edit that restores an existing file."""
        return self._replace(before=self.after, after=self.before or b"")

    def write(self) -> None:
        """Write the file; its mode stays.

        Raises:
            OSError: it can't be written, or it has changed since it was read.
        """
        if os.path.lexists(self.path) and not os.access(self.path, os.W_OK):
            raise PermissionError(errno.EACCES, "it can't be written", self.path)
        if not os.path.isdir(self.path) and _content(self.path) != self.before:
            words = "it has changed meanwhile; run the command again"
            raise OSError(errno.EBUSY, words, self.path)
        directory, name = os.path.split(self.path)
        replace_files(directory, {name: self.after})


def _content(path: str) -> bytes | None:
    """Return the content of a regular file; None if the path isn't one."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def replace_files(location: str, files: Mapping[str, bytes], *, mode: int | None = None) -> None:
    """Write files into a folder, replacing existing ones.

    All are written to temporary files before the first is moved into place. A link stays a link,
    and its target is replaced. Permissions are kept unless ``mode`` is given.

    Raises:
        OSError: a file can't be written; no file has been replaced.
    """
    with contextlib.ExitStack() as stack:
        staged = [
            stack.enter_context(_staged(os.path.realpath(os.path.join(location, name)), data, mode))
            for name, data in files.items()
        ]
        # no file has changed so far, and renaming rarely fails
        for temporary, path in staged:
            os.replace(temporary, path)


@contextlib.contextmanager
def _staged(path: str, data: bytes, mode: int | None) -> Iterator[tuple[str, str]]:
    """Write a temporary file next to a path; remove it at the end if it still exists."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    parent, name = os.path.split(path)
    temporary = os.path.join(parent, _hidden(name))
    try:
        # other users can't read it meanwhile if they can't read the final file
        mode_at_first = 0o666 if mode is None else mode
        with open(
            temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode_at_first)
        ) as file:
            file.write(data)
            file.flush()
            # otherwise a crash could leave an empty file under the right name
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            if mode is None:
                shutil.copymode(path, temporary)
        yield temporary, path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _hidden(name: str) -> str:
    """Return a name that loading and watching ignore."""
    return f".{name}.{token_hex(4)}.tmp"
