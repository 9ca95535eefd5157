"""Regular expressions that cannot hang their caller.

Python's engine may need ages for a hostile pattern, and holds the interpreter all the while. So it
runs in a child process, which is killed when it is late.
"""

import json
import subprocess
import sys
from collections.abc import Sequence

from . import regex_worker

_SECONDS = 2.0
_MAXIMUM_CHARACTERS = 2000


def search(
    pattern: str, texts: Sequence[str], *, ignore_case: bool, limit: int
) -> list[tuple[int, int]]:
    """Return (index of the text, start of the match) of at most `limit` strings that match.

    Only the first 2,000 characters of each text are checked. Raises ValueError if the pattern is
    no regular expression or takes longer than two seconds.
    """
    request = {
        "pattern": pattern,
        "texts": [text[:_MAXIMUM_CHARACTERS] for text in texts],
        "ignore_case": ignore_case,
        "limit": limit,
    }
    answer = json.loads(_ask(json.dumps(request)) or '{"error": "it could not be run"}')
    if "error" in answer:
        raise ValueError(f"the regular expression {pattern[:60]!r} failed: {answer['error']}")
    return [(index, start) for index, start in answer["found"]]


def _ask(request: str) -> str:
    # -I and -S: no path, environment or site packages of the user, and a quick start.
    command = [sys.executable, "-I", "-S", regex_worker.__file__]
    try:
        return subprocess.run(  # noqa: S603
            command,
            input=request,
            capture_output=True,
            encoding="ascii",
            timeout=_SECONDS,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired:
        raise ValueError(f"the regular expression takes longer than {_SECONDS:g} seconds") from None
    except OSError as error:
        raise ValueError(f"cannot start Python to run the regular expression: {error}") from None
