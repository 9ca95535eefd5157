"""A request to an HTTP API with a tool's arguments, and what the answer means."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from sovl_tools.model.content import Audio, EmbeddedResource, Image, base64, cut, readable
from sovl_tools.model.errors import ToolError
from sovl_tools.remote.loop import remote_loop, run_remotely

MAX_ANSWER = 16 << 20
"""How many bytes of an answer are read."""
_MOST_OF_AN_ERROR = 2_000
_ERROR_STATUS = 400
_REDIRECTS = range(300, 400)
_CONTROLS = frozenset(map(chr, [*range(32), 127]))

Where: TypeAlias = Literal["path", "query", "header", "cookie", "body"]


class Argument(NamedTuple):
    """Where an argument goes.

    Attributes:
        where: the part of the request.
        name: what the API calls it; of a body its media type.
        style: how OpenAPI says that lists and objects are written; "" for what is usual there.
        explode: whether the members of an object stand with their names, beside the query.
    """

    where: Where
    name: str
    style: str = ""
    explode: bool = False


class Credential(NamedTuple):
    """A secret that goes along, from an environment variable.

    Attributes:
        kind: ``bearer``, ``basic`` (of ``user:password``), or where an API key goes.
        name: the name of the header, query parameter or cookie.
        variable: the name of the environment variable.
    """

    kind: Literal["bearer", "basic", "header", "query", "cookie"]
    name: str
    variable: str


class _Request(NamedTuple):
    """What is made of arguments, beside the path."""

    query: list[tuple[str, str]]
    headers: dict[str, str]
    cookies: dict[str, str]


@dataclass(frozen=True)
class Operation:
    """An operation of an HTTP API as a tool calls it.

    Attributes:
        method: such as ``"GET"``.
        url: with ``{name}`` where arguments of the path go.
        arguments: where each argument goes, by its name.
        credentials: what proves who calls.
        timeout: in seconds.
    """

    method: str
    url: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    credentials: Sequence[Credential] = ()
    timeout: float = 60.0

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """Send the request; return JSON as a value, text as text, and anything else as content.

        Raises:
            ToolError: the API answers with an error or not at all, or an argument has no place.
        """
        return await run_remotely(self._send(self._request(arguments)))

    def _request(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path: dict[str, str] = {}
        request = _Request([], {}, {})
        more: dict[str, Any] = {}
        for name, value in arguments.items():
            place = self.arguments[name]
            if place.where == "body":
                more |= _body(place.name, value)
            elif place.where == "path":
                path[place.name] = _in_path(name, value, place)
            elif value is not None:
                _add(request, name, value, place)
        for each in self.credentials:
            _authorize(request, each)
        url = self.url
        for name, text in path.items():
            url = url.replace(f"{{{name}}}", text)
        headers = {**more.pop("headers", {}), **request.headers}
        if request.cookies:
            headers["Cookie"] = "; ".join(f"{key}={text}" for key, text in request.cookies.items())
        return {
            "method": self.method, "url": url, "params": request.query or None,
            "headers": headers, **more,
        }  # fmt: skip

    async def _send(self, request: Mapping[str, Any]) -> Any:
        import httpx  # noqa: PLC0415 - heavy, and an extra

        try:
            async with _client().stream(**request, timeout=self.timeout) as answer:
                data = bytearray()
                async for chunk in answer.aiter_bytes():
                    data += chunk
                    if len(data) > MAX_ANSWER:
                        raise ToolError(
                            f"{self._name}: the answer has more than {MAX_ANSWER:,} bytes"
                        )
                return self._value(
                    answer.status_code, answer.reason_phrase, answer.headers, bytes(data)
                )
        except httpx.TimeoutException:
            raise ToolError(f"{self._name} was not answered in {self.timeout:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise ToolError(f"{self._name} can't be sent: {reason}") from None

    @property
    def _name(self) -> str:
        """What is said of it in messages: no argument, and no secret, is part of that."""
        return f"{self.method} {self.url}"

    def _value(self, status: int, phrase: str, headers: Mapping[str, str], data: bytes) -> Any:
        media = headers.get("content-type", "").partition(";")[0].strip().lower()
        text = readable(data)
        if status >= _ERROR_STATUS or status in _REDIRECTS:
            words = f"{self._name} was answered with {status} {phrase}".rstrip()
            if status in _REDIRECTS and "location" in headers:
                words += f", which leads to {cut(headers['location'], 200)}"
            detail = text if text is not None else f"{len(data):,} bytes of {media or 'no type'}"
            raise ToolError(f"{words}: {cut(detail, _MOST_OF_AN_ERROR)}" if detail else words)
        if not data:
            return None
        if media == "application/json" or media.endswith("+json"):
            try:
                return json.loads(data)
            except (ValueError, RecursionError):
                raise ToolError(f"{self._name} was answered with JSON that is none") from None
        if media.startswith("image/"):
            return Image(data, media)
        if media.startswith("audio/"):
            return Audio(data, media)
        if text is not None:
            return text
        return EmbeddedResource(self.url, data, media if "/" in media else None)


def _body(media: str, value: Any) -> dict[str, Any]:
    """Return what httpx has to be given for a body."""
    if media == "application/x-www-form-urlencoded" and isinstance(value, dict):
        form = {
            key: [*map(_plain, each)] if isinstance(each, list) else _plain(each)
            for key, each in value.items()
        }
        return {"data": form}
    if media == "multipart/form-data" and isinstance(value, dict):
        return {"files": {key: (None, _plain(each)) for key, each in value.items()}}
    is_text = isinstance(value, str) and "json" not in media
    content = value.encode() if is_text else json.dumps(value, ensure_ascii=False).encode()
    return {"content": content, "headers": {"Content-Type": media}}


def _plain(value: Any) -> str:
    """Return a value as text: JSON, unless it is text already."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _in_path(argument: str, value: Any, place: Argument) -> str:
    parts = [quote(each, safe="") for each in _parts(value, explode=place.explode)]
    text = ",".join(parts)
    # such a segment would lead to another operation
    if text in {"", ".", ".."}:
        raise ToolError(f"{argument!r} can't be {value!r}: it is a part of the path")
    return text


def _parts(value: Any, *, explode: bool) -> list[str]:
    if isinstance(value, dict):
        pairs = [(key, _plain(each)) for key, each in value.items()]
        return (
            [f"{key}={each}" for key, each in pairs] if explode else [*chain.from_iterable(pairs)]
        )
    return [_plain(each) for each in value] if isinstance(value, list) else [_plain(value)]


_SEPARATORS = {"commaDelimited": ",", "spaceDelimited": " ", "pipeDelimited": "|"}


def _add(request: _Request, argument: str, value: Any, place: Argument) -> None:
    """Add an argument to the query, the headers or the cookies."""
    if place.where == "query":
        request.query.extend(_in_query(value, place))
        return
    text = (
        _plain(value) if place.style == "json" else ",".join(_parts(value, explode=place.explode))
    )
    if not _CONTROLS.isdisjoint(text) or (place.where == "cookie" and ";" in text):
        raise ToolError(f"{argument!r} can't have line breaks or other control characters")
    target = request.headers if place.where == "header" else request.cookies
    target[place.name] = text if text.isascii() else quote(text)


def _in_query(value: Any, place: Argument) -> list[tuple[str, str]]:
    name = place.name
    if place.style == "json" or not isinstance(value, dict | list):
        return [(name, _plain(value))]
    if isinstance(value, dict) and place.style == "deepObject":
        return [(f"{name}[{key}]", _plain(each)) for key, each in value.items()]
    if place.style in _SEPARATORS:
        return [(name, _SEPARATORS[place.style].join(_parts(value, explode=False)))]
    if isinstance(value, dict):
        return [(key, _plain(each)) for key, each in value.items()]
    return [(name, _plain(each)) for each in value]


def _authorize(request: _Request, credential: Credential) -> None:
    secret = os.environ.get(credential.variable, "")
    if not secret:
        raise ToolError(f"the environment variable {credential.variable} is not set")
    if not _CONTROLS.isdisjoint(secret):
        raise ToolError(f"the environment variable {credential.variable} has a line break in it")
    if credential.kind in ("bearer", "header", "cookie") and not secret.isascii():
        words = "has a character that is not ASCII, which a header can't carry"
        raise ToolError(f"the environment variable {credential.variable} {words}")
    match credential.kind:
        case "bearer":
            request.headers["Authorization"] = f"Bearer {secret}"
        case "basic":
            request.headers["Authorization"] = f"Basic {base64(secret.encode())}"
        case "header":
            request.headers[credential.name] = secret
        case "cookie":
            request.cookies[credential.name] = secret
        case "query":
            request.query.append((credential.name, secret))


_CLIENTS: dict[object, Any] = {}


def _client() -> Any:
    """Return the client of the loop of connections, which all operations share."""
    import httpx  # noqa: PLC0415 - heavy, and an extra

    loop = remote_loop()
    if loop not in _CLIENTS:
        _CLIENTS.clear()
        _CLIENTS[loop] = client = httpx.AsyncClient()
        loop.closing(client, client.aclose)
    return _CLIENTS[loop]
