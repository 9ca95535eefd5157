"""What comes next in a script, for whichever request comes first."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from sovl_tools.testing.record import Request
from sovl_tools.testing.script import Reply

Part: TypeAlias = Sequence[Reply] | Callable[[Request], Reply]
Script: TypeAlias = Part | Mapping[str, Part]


class Prompter:
    """Hands out the replies of a script, one for each request, whatever thread asks."""

    def __init__(self, script: Script) -> None:
        self._lock = threading.Lock()
        self._parts = (
            {provider: _begun(part) for provider, part in script.items()}
            if isinstance(script, Mapping)
            else None
        )
        self._part = None if isinstance(script, Mapping) else _begun(script)

    def reply(self, request: Request) -> Reply | None:
        """Return the reply to a request, None if the script has none left for it."""
        part = self._part if self._parts is None else self._parts.get(request.provider)
        with self._lock:
            if callable(part):
                return part(request)
            return part.popleft() if part else None

    def unused(self) -> list[Reply]:
        """Return the replies that nobody has asked for."""
        parts = [self._part] if self._parts is None else self._parts.values()
        return [reply for part in parts if isinstance(part, deque) for reply in part]


def _begun(part: Part) -> deque[Reply] | Callable[[Request], Reply]:
    return part if callable(part) else deque(part)
