"""Locks on files that vanish with the process that holds them, even if it is killed.

SQLite's own locks do the work: they are the same on every system, hold between the threads of a
process too, and no child inherits them.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress

from sovl_tools.procedures.database import address
from sovl_tools.procedures.journal_errors import JournalError


class Lock:
    """An exclusive lock on a new file that nobody else makes.

    Attributes:
        path: of the file.

    Raises:
        JournalError: the file can't be made.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._connection = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = OFF")
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise JournalError(path, f"it can't be made: {error}") from error

    def release(self) -> None:
        """Give up the lock, and remove the file; once more does no harm."""
        self._connection.close()
        discard(self.path)


def is_held(path: str) -> bool:
    """Tell whether anybody holds the lock on a file; nobody does if there is none."""
    try:
        with closing(sqlite3.connect(address(path, "ro"), uri=True, timeout=0)) as connection:
            connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.Error:
        return os.path.exists(path)
    return False


def discard(path: str) -> None:
    """Remove the file of a lock that nobody holds."""
    with suppress(OSError):
        os.unlink(path)
