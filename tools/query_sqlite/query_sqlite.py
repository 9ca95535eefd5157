"""Read-only SQL on SQLite databases that lie under one root directory.

SQLite itself may add the `-wal` and `-shm` files of a database that is in WAL mode. A query runs in
a child process, so that its time and memory are limited whatever its functions do.
"""

import json
import subprocess
import sys

from .._shared.confinement import regular_file
from . import sqlite_worker

_SECONDS = 5.0
_SECONDS_TO_START = 1.0
_SECONDS_TO_WAIT_FOR_A_LOCK = 2.0

_REFUSALS = ("not authorized", "authorization denied", "prohibited")

Value = str | float | bool | None


def query_sqlite(
    path: str, query: str, *, parameters: list[Value] | None, max_rows: int = 100
) -> dict[str, object]:
    """Return the rows of a query; raise ValueError if it does anything but read, or fails."""
    request = {
        "path": str(regular_file(path)),
        "query": query,
        "parameters": parameters or [],
        "max_rows": max_rows,
        "seconds": _SECONDS,
        "seconds_for_lock": _SECONDS_TO_WAIT_FOR_A_LOCK,
    }
    answer: dict[str, object] = json.loads(_ask(json.dumps(request)))
    if "refusal" in answer:
        raise ValueError(answer["refusal"])
    if "error" in answer:
        raise ValueError(_explained(str(answer["error"])))
    return answer


def _ask(request: str) -> str:
    # -I and -S: no path, environment or site packages of the user, and a quick start.
    command = [sys.executable, "-I", "-S", sqlite_worker.__file__]
    try:
        done = subprocess.run(  # noqa: S603
            command,
            input=request,
            capture_output=True,
            encoding="ascii",
            timeout=_SECONDS_TO_START + _SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(_explained("interrupted")) from None
    except OSError as error:
        raise ValueError(f"cannot start Python to run the query: {error}") from None
    return done.stdout or '{"error": "it could not be run"}'


def _explained(message: str) -> str:
    if "interrupted" in message:
        return f"the query takes longer than {_SECONDS:g} seconds"
    if any(word in message for word in _REFUSALS):
        return f"only reading is allowed, with one SELECT statement: {message}"
    return f"the query failed: {message[:1].lower()}{message[1:]}"
