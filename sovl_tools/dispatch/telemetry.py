"""Observers that write each call down: as a line of the log, or as JSON in a file.

``Tooler(registry, observers=[log_calls, JsonLines("calls.jsonl")])`` calls them after each call.
"""

from __future__ import annotations

import io
import json
import logging
import os
import time
from threading import Lock
from typing import Any, Self, TextIO

from sovl_tools.model.call import CallEvent
from sovl_tools.model.document import JSON
from sovl_tools.reporting.text import plain

LONGEST = 10_000
"""The number of characters of the JSON text of arguments or a result that are kept."""

_COMPACT = (",", ":")


class CallLogger:
    """Writes one line a call to a logger: successes at INFO, failures at WARNING.

    Args:
        logger: where to; ``sovl_tools.calls`` unless it is given.
        content: whether arguments and results are written as well, at most ``LONGEST``
            characters of each.
    """

    def __init__(self, logger: logging.Logger | None = None, *, content: bool = False) -> None:
        self._logger = logger or logging.getLogger("sovl_tools.calls")
        self._content = content

    def __call__(self, event: CallEvent) -> None:
        """Write one call."""
        level = logging.INFO if event.ok else logging.WARNING
        if not self._logger.isEnabledFor(level):
            return
        outcome = "succeeded" if event.ok else "failed"
        # names and messages are a model's or a tool's: control characters would forge lines
        parts = [f"{plain(event.tool)} {outcome} in {readable(event.duration)}"]
        if event.alias is not None:
            parts.append(f"called as {plain(event.alias)}")
        if event.kind is not None:
            reason = f" ({plain(event.error_type)})" if event.error_type else ""
            parts.append(f"{event.kind}{reason}")
        if event.is_abandoned:
            parts.append("its thread was abandoned")
        parts.append(f"call {plain(event.call_id)}")
        if self._content:
            said = _content(event).items()
            parts += [f"{key} {plain(shortened(as_json(value)))}" for key, value in said]
        self._logger.log(level, "%s", ", ".join(parts))


log_calls = CallLogger()
"""The observer that writes to ``sovl_tools.calls``, without arguments and results."""


class JsonLines:
    """Appends one JSON object a call to a file, each in one write; several processes may share it.

    The keys are ``time`` (of the beginning, RFC 3339 in UTC), ``tool``, ``call_id``, ``duration``
    in seconds and ``ok``. A failure has ``error``, which is its kind, with ``error_type`` if the
    tool raised an exception and ``abandoned`` if a thread was abandoned.
    """

    def __init__(self, target: str | os.PathLike[str] | TextIO, *, content: bool = False) -> None:
        """Open the file.

        Args:
            target: the path of a file in a folder that is there, or a string stream; ``close``
                leaves a stream open.
            content: whether ``arguments`` and ``result`` are written as well. What isn't JSON in
                them is written as ``repr`` shows it, and text longer than ``LONGEST``
                characters as the beginning of its text.

        Raises:
            OSError: the file can't be opened for writing.
        """
        self._stream = (
            _open_for_appending(target) if isinstance(target, str | os.PathLike) else target
        )
        self._is_own = self._stream is not target
        self._content = content
        self._lock = Lock()

    def __call__(self, event: CallEvent) -> None:
        """Write one call.

        Raises:
            OSError: it can't be written.
            ValueError: the file is closed.
        """
        line = _line(event, content=self._content)
        with self._lock:
            self._stream.write(f"{line}\n")
            self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        if self._is_own:
            self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open_for_appending(path: str | os.PathLike[str]) -> TextIO:
    """Open a file whose every ``write`` is one call of the system's, to the end of the file."""
    file = io.FileIO(path, "a")
    return io.TextIOWrapper(file, encoding="ascii", newline="", write_through=True)


def _line(event: CallEvent, *, content: bool) -> str:
    whole, micro = divmod(round(event.started * 1_000_000), 1_000_000)
    time_of_day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    record: dict[str, JSON] = {
        "time": f"{time_of_day}.{micro:06}Z",
        "tool": event.tool,
        "call_id": event.call_id,
        "duration": event.duration,
        "ok": event.ok,
    }
    if event.alias is not None:
        record["alias"] = event.alias
    if not event.ok:
        further = {
            "error": event.kind,
            "error_type": event.error_type,
            "abandoned": event.is_abandoned,
        }
        record |= {key: value for key, value in further.items() if value}
    line = _encode(record)
    if not content:
        return line
    texts = {key: as_json(value, is_ascii=True) for key, value in _content(event).items()}
    # text that is cut isn't JSON anymore, and becomes a string
    short = {
        key: text if len(text) <= LONGEST else json.dumps(shortened(text))
        for key, text in texts.items()
    }
    more = "".join(f',"{key}":{text}' for key, text in short.items())
    return f"{line[:-1]}{more}}}"


_encode = json.JSONEncoder(check_circular=False, separators=_COMPACT).encode


def _content(event: CallEvent) -> dict[str, Any]:
    given = {"arguments": event.arguments}
    return {**given, "result": event.value} if event.ok else given


def as_json(value: Any, *, is_ascii: bool = False) -> str:
    """Return the value as JSON text that UTF-8 can encode; what isn't JSON becomes a string."""
    try:
        text = json.dumps(
            value,
            ensure_ascii=is_ascii,
            allow_nan=False,
            separators=_COMPACT,
            default=_represent,
        )
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(_represent(value), ensure_ascii=is_ascii)
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair can't be sent


def _represent(value: Any) -> str:
    try:
        text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else repr(value)
    except Exception:  # noqa: BLE001 - a tool's value can have any __repr__
        text = f"<{type(value).__name__}>"
    return shortened(text)


def shortened(text: str) -> str:
    """Return the text, or its first ``LONGEST`` characters with an ellipsis as the last."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


_UNITS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_LONG = 100


def readable(seconds: float) -> str:
    """Return a duration for people, to three digits: ``1.23 ms``, ``45 s``, ``2.5 h``."""
    rounded = float(f"{seconds:.3g}")
    for size, unit in _UNITS:
        if rounded >= size:
            amount = rounded / size
            return f"{amount:{'.3g' if amount < _LONG else ',.0f'}} {unit}"
    return "0 s"
