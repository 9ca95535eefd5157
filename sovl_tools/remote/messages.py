"""What servers send, bounded and repaired before the SDK takes it: lines, and bodies of HTTP.

The SDK keeps whatever comes until a message is complete, and refuses a whole list of tools for half
a surrogate pair in the description of one.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import httpx2
from pydantic_core import from_json

from sovl_tools.model.document import JSON

MAX_MESSAGE: Final = 64 * 2**20
"""How many bytes a message may have."""

LINES: Final = "sovl_tools_lines"
"""An encoding: UTF-8 of which only whole lines are read, each bounded and readable."""

_TOO_LONG = f"it is longer than {MAX_MESSAGE:,} bytes"
_DEEPEST = 190
"""The SDK reads 200 levels."""
_HEAD = 200
_JSON, _ERROR, _NOT_FOUND = "application/json", 400, 404
_ID = re.compile(
    rb'\A\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,'
    rb'|"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z'
)


def repaired(data: bytes) -> bytes:
    """Return a message as JSON that the SDK reads, where Python reads it.

    Half a surrogate pair becomes a question mark, and null what is nested too deep.

    Raises:
        ValueError: nobody reads it.
    """
    try:
        from_json(data)
    except ValueError:
        with suppress(ValueError, RecursionError):
            found = _pruned(json.loads(data), _DEEPEST)
            return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
        raise
    return data


def _pruned(value: JSON, levels: int) -> JSON:
    if isinstance(value, dict):
        return {key: _pruned(each, levels - 1) for key, each in value.items()} if levels else None
    if isinstance(value, list):
        return [_pruned(each, levels - 1) for each in value] if levels else None
    return value


class LineDecoder(codecs.IncrementalDecoder):
    """Gives whole lines; in the place of an answer that can't be read an error, if it has an id."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._part = bytearray()
        self._size = 0

    def decode(self, data: Any, final: bool = False) -> str:  # noqa: FBT001, FBT002 - codecs' own
        """Return the lines that have ended."""
        *lines, part = bytes(data).split(b"\n")
        ended = b"".join(self._end(line) for line in lines)
        self._extend(part)
        if final:
            ended += self._end(b"")
        return ended.decode("utf-8", "replace")

    def _extend(self, part: bytes) -> None:
        self._size += len(part)
        # of a line that is too long, its beginning says which answer it is
        room = MAX_MESSAGE if self._size <= MAX_MESSAGE else _HEAD
        del self._part[room:]
        self._part += part[: max(0, room - len(self._part))]

    def _end(self, part: bytes) -> bytes:
        self._extend(part)
        line, size = bytes(self._part), self._size
        self._part.clear()
        self._size = 0
        if not line.strip():
            return b""
        reason = _TOO_LONG
        if size <= MAX_MESSAGE:
            try:
                return repaired(line) + b"\n"
            except ValueError as error:
                reason = str(error)
        known = _ID.search(line)
        if known is None:
            return line + b"\n"
        problem = {"code": -32700, "message": f"the answer can't be read: {reason}"}
        answer = {"jsonrpc": "2.0", "id": int(known[1] or known[2]), "error": problem}
        return json.dumps(answer).encode() + b"\n"


def _codec(name: str) -> codecs.CodecInfo | None:
    if name != LINES:
        return None
    plain = codecs.lookup("utf-8")
    return codecs.CodecInfo(plain.encode, plain.decode, incrementaldecoder=LineDecoder, name=LINES)


codecs.register(_codec)


async def bound_body(response: httpx2.Response) -> None:
    """Bound the body of a response of HTTP (a hook of the client); the SDK bounds events.

    The SDK says of an error of HTTP only that there is one, except of what a session may end with.
    """
    kind = _type_of(response)
    if response.status_code >= _ERROR and response.status_code != _NOT_FOUND and _JSON not in kind:
        problem = {"code": -32603, "message": f"it answers with status {response.status_code}"}
        answer = {"jsonrpc": "2.0", "id": None, "error": problem}
        response.headers["content-type"] = _JSON
        response.stream = _Body(response, json.dumps(answer).encode())
    elif not kind.startswith("text/event-stream"):
        response.stream = _Body(response)


def _type_of(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).lower()


class _Body(httpx2.AsyncByteStream):
    """A body that is read whole, up to a bound."""

    def __init__(self, response: httpx2.Response, instead: bytes = b"") -> None:
        self._instead = instead
        self._stream: Any = response.stream
        self._is_packed = "content-encoding" in response.headers
        self._is_json = _type_of(response).startswith(_JSON)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._instead:
            yield self._instead
            return
        if self._is_packed:
            raise httpx2.StreamError("it is compressed, which was not asked for")
        body = bytearray()
        async for chunk in self._stream:
            body += chunk
            if len(body) > MAX_MESSAGE:
                raise httpx2.StreamError(_TOO_LONG)
        try:
            yield repaired(bytes(body)) if self._is_json else bytes(body)
        except ValueError as error:
            raise httpx2.StreamError(f"it is no JSON: {error}") from error

    async def aclose(self) -> None:
        await self._stream.aclose()
