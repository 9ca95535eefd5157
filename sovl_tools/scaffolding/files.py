"""Writing files so that no program ever reads half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from secrets import token_hex
from typing import NamedTuple, Self


def create_folder(location: str, files: Mapping[str, bytes]) -> None:
    """Make a folder with files in it, all at once, and the directory around it if need be.

    Raises:
        FileExistsError: there is something of that name.
        OSError: it can't be made; then there is nothing of it.
    """
    if os.path.lexists(location):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), location)
    parent, name = os.path.split(location)
    os.makedirs(parent, exist_ok=True)
    temporary = os.path.join(parent, _hidden(name))
    try:
        os.mkdir(temporary)
        for file, data in files.items():
            _write(os.path.join(temporary, file), data)
        # From here on there is a tool, with all its files.
        os.rename(temporary, location)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def create_folders(root: str, folders: Mapping[str, Mapping[str, bytes]]) -> None:
    """Make many folders with files in a directory, which is made if need be: all, or none.

    A folder that is there already keeps its other files; those of the same names are replaced.

    Raises:
        OSError: something can't be written; then everything is as it was.
    """
    is_new_root = not os.path.isdir(root)
    os.makedirs(root, exist_ok=True)
    made: list[str] = []
    stage = os.path.join(root, _hidden("import"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, stage, ignore_errors=True)
        try:
            os.mkdir(stage)
            replaced: dict[str, bytes] = {}
            for name, files in folders.items():
                if os.path.lexists(os.path.join(root, name)):
                    replaced |= {os.path.join(name, file): data for file, data in files.items()}
                else:
                    os.mkdir(os.path.join(stage, name))
                    for file, data in files.items():
                        with open(os.path.join(stage, name, file), "xb") as opened:
                            opened.write(data)
            if hasattr(os, "sync"):  # once, not for each of thousands of files
                os.sync()
            for name in os.listdir(stage):
                os.rename(os.path.join(stage, name), os.path.join(root, name))
                made.append(os.path.join(root, name))
            replace_files(root, replaced)
        except BaseException:
            for each in [*made, *([root] if is_new_root else [])]:
                shutil.rmtree(each, ignore_errors=True)
            raise


class FileEdit(NamedTuple):
    """A file's content as it was read, and what it is to be.

    Attributes:
        path: the file's.
        before: its content; None if there is no file.
        after: the new content.
    """

    path: str
    before: bytes | None
    after: bytes

    @property
    def undone(self) -> Self:
        """The edit that puts the file back, which was there before."""
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
    """Return the content of a regular file; None if there is none."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def replace_files(location: str, files: Mapping[str, bytes], *, mode: int | None = None) -> None:
    """Put files into a folder, in the place of those that are there.

    All are written beside their places before the first is moved. A link stays one: the file that
    it leads to is replaced. Permissions are kept, unless ``mode`` says what they are to be.

    Raises:
        OSError: one can't be written; then none has been replaced.
    """
    with contextlib.ExitStack() as stack:
        staged = [
            stack.enter_context(_staged(os.path.realpath(os.path.join(location, name)), data, mode))
            for name, data in files.items()
        ]
        # Nothing has been touched so far, and what is left can hardly fail.
        for temporary, path in staged:
            os.replace(temporary, path)


@contextlib.contextmanager
def _staged(path: str, data: bytes, mode: int | None) -> Iterator[tuple[str, str]]:
    """Write a file beside its place; remove it at the end if it is still there."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    parent, name = os.path.split(path)
    temporary = os.path.join(parent, _hidden(name))
    try:
        # nobody else reads it meanwhile if nobody else may in the end
        _write(temporary, data, mode=0o666 if mode is None else mode)
        with contextlib.suppress(FileNotFoundError):
            if mode is None:
                shutil.copymode(path, temporary)
        yield temporary, path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _hidden(name: str) -> str:
    """Return a name that no tool and no watch takes notice of."""
    return f".{name}.{token_hex(4)}.tmp"


def _write(path: str, data: bytes, *, mode: int = 0o666) -> None:
    def opened(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    with open(path, "xb", opener=opened) as file:
        file.write(data)
        file.flush()
        # Otherwise a crash could leave an empty file under the right name.
        os.fsync(file.fileno())
