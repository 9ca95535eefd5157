"""Messages of JSON-RPC as they are read, over pipes and over HTTP: each, or why it is none."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import NamedTuple

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

_BOM = b"\xef\xbb\xbf"
_NO_MESSAGE = "this is no message of JSON-RPC 2.0"


class Refusal(NamedTuple):
    """The answer to something that is no message.

    Attributes:
        id: the request's, as far as it has one.
        code: the error code.
        message: why.
    """

    id: RequestId | None
    code: int
    message: str

    def answer(self) -> JSONRPCError:
        """Return it as a message."""
        problem = ErrorData(code=self.code, message=self.message)
        return JSONRPCError(jsonrpc="2.0", id=self.id, error=problem)


def read_message(data: bytes) -> JSONRPCMessage | Refusal:
    """Return a message, or the answer to what is none."""
    # programs on Windows may begin with it
    data = data.removeprefix(_BOM)
    try:
        message = jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        if problem["type"] == "json_invalid":
            reason = f"this is no JSON: {problem['ctx']['error']}"
            return Refusal(_id_in(data), PARSE_ERROR, reason)
        return Refusal(_id_in(data), INVALID_REQUEST, _NO_MESSAGE)
    # the SDK takes a request for one whose id is neither a text nor a whole number
    if isinstance(message, JSONRPCNotification) and b'"id"' in data and "id" in json.loads(data):
        return Refusal(None, INVALID_REQUEST, _NO_MESSAGE)
    return message


def _id_in(data: bytes) -> RequestId | None:
    # Python reads more than the SDK: half a surrogate pair, for one, and its sender waits
    with suppress(ValueError, RecursionError):
        found = json.loads(data)
        known = found.get("id") if isinstance(found, dict) else None
        if isinstance(known, str):
            return known.encode("utf-8", "replace").decode()
        return known if type(known) is int else None
    return None
