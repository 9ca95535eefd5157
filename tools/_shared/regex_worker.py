"""The child process of `patterns`: reads one request as JSON, answers with the places that match.

It imports nothing of its folder, since it is run as a script.
"""

import contextlib
import json
import re
import sys

_MAXIMUM_MEMORY = 1_000_000_000


def answer(request: str) -> str:
    """Return the answer to a request, both as JSON.

    The answer is {"found": [[index of a string, start of the match in it], …]} or {"error": "…"}.
    """
    asked = json.loads(request)
    try:
        pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
        return json.dumps({"found": _found(pattern, asked["texts"], asked["limit"])})
    except (re.error, OverflowError, RecursionError) as error:
        return json.dumps({"error": f"it isn't a valid regular expression: {error}"})
    except MemoryError:
        return json.dumps({"error": "it needs too much memory"})


def _found(pattern: re.Pattern[str], texts: list[str], limit: int) -> list[tuple[int, int]]:
    found = []
    for index, text in enumerate(texts):
        match = pattern.search(text)
        if match:
            found.append((index, match.start()))
        if len(found) == limit:
            break
    return found


def limit_memory() -> None:
    """Keep a pattern that hoards memory from taking the machine's, where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_AS, (_MAXIMUM_MEMORY, _MAXIMUM_MEMORY))


if __name__ == "__main__":
    limit_memory()
    sys.stdout.write(answer(sys.stdin.read()))
