"""A request to an HTTP API with a tool's arguments, and what the answer means."""

from __future__ import annotations

import json
import mimetypes
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from sovl_tools.model.content import Audio, EmbeddedResource, Image, base64, cut, readable
from sovl_tools.model.errors import ToolError
from sovl_tools.model.redaction import redact
from sovl_tools.remote.loop import remote_loop, run_remotely

MAX_ANSWER = 16 << 20
"""How many bytes of an answer are read."""
_MOST_OF_AN_ERROR = 2_000
_ERROR_STATUS = 400
_REDIRECTS = range(300, 400)

Where: TypeAlias = Literal["path", "query", "header", "cookie", "body"]


class Argument(NamedTuple):
    """Where an argument goes.

    Attributes:
        where: the part of the request.
        name: what the API calls it; of a body its media type.
        style: how OpenAPI says that lists and objects are written; "" for what is usual there;
            "file" for a part of a form that is a file.
        explode: whether the members of an object have their names next to them, outside of a query.
        parts: the members of a form that aren't written as usual: each as an argument of a query,
            or, in a form with several parts, as a body.
    """

    where: Where
    name: str
    style: str = ""
    explode: bool = False
    parts: Mapping[str, Argument] = MappingProxyType({})


class Credential(NamedTuple):
    """A secret that goes along, from an environment variable.

    Attributes:
        kind: ``bearer``, ``basic`` (of ``user:password``), or where an API key goes.
        name: the name of the header, query parameter or cookie.
        variable: the name of the environment variable.
        is_optional: whether calls without it are possible.
    """

    kind: Literal["bearer", "basic", "header", "query", "cookie"]
    name: str
    variable: str
    is_optional: bool = False


@dataclass(frozen=True)
class Operation:
    """An operation of an HTTP API as a tool calls it.

    Attributes:
        method: such as ``"GET"``.
        url: with ``{name}`` where arguments of the path go, and the query that each request has.
        arguments: where each argument goes, by its name.
        credentials: what proves who calls.
        timeout: in seconds.
        names: the API's names of members that are renamed here, by the new names.
    """

    method: str
    url: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    credentials: Sequence[Credential] = ()
    timeout: float = 60.0
    names: Mapping[str, str] = field(default_factory=dict)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """Send the request; return JSON as a value, text as text, and anything else as content.

        Raises:
            ToolError: the API answers with an error or not at all, or an argument has no place.
        """
        return await run_remotely(self._send(self._request(arguments)))

    def _request(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path, _, query = self.url.partition("?")
        sent: dict[str, list[tuple[str, str]]] = {"query": [], "header": [], "cookie": []}
        more: dict[str, Any] = {}
        for name, given in arguments.items():
            place = self.arguments[name]
            value = _with_names(given, self.names) if self.names else given
            if place.where == "body":
                more |= _body(place, value)
            elif place.where == "path":
                template = f"{{{place.name}}}"
                text = ",".join(quote(each, safe="") for each in _texts(value, place))
                # such a segment would lead to another operation
                if template in path and text in {"", ".", ".."}:
                    raise ToolError(f"{name!r} can't be {value!r}: it is a part of the path")
                path, query = path.replace(template, text), query.replace(template, text)
            elif value is not None:
                sent[place.where] += _written(name, value, place)
        for each in _usable(self.credentials):
            where, name, text = _authorization(each)
            sent[where].append((name, text))
        headers = {**more.pop("headers", {}), **dict(sent["header"])}
        if cookies := dict(sent["cookie"]):
            headers["Cookie"] = "; ".join(f"{key}={text}" for key, text in cookies.items())
        return {
            "method": self.method, "url": f"{path}?{query}" if query else path,
            "params": sent["query"] or None, "headers": headers, **more,
        }  # fmt: skip

    async def _send(self, request: dict[str, Any]) -> Any:
        import httpx  # noqa: PLC0415 - heavy, and an extra

        # httpx would replace the query that the address has
        added = urlencode(request.pop("params") or ())
        url = request["url"]
        request["url"] = f"{url}{'&' if '?' in url else '?'}{added}" if added else url
        try:
            async with _client().stream(**request, timeout=self.timeout) as answer:
                data = bytearray()
                async for chunk in answer.aiter_bytes():
                    data += chunk
                    if len(data) > MAX_ANSWER:
                        raise ToolError(
                            f"{self._name}: the answer has more than {MAX_ANSWER:,} bytes"
                        )
                return self._value(answer, bytes(data))
        except httpx.TimeoutException:
            raise ToolError(f"{self._name} was not answered in {self.timeout:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise ToolError(f"{self._name} can't be sent: {reason}") from None

    @property
    def _host(self) -> str:
        """Its scheme and host: the rest of the address can have a secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def _name(self) -> str:
        return f"{self.method} at {self._host}"

    def _value(self, answer: Any, data: bytes) -> Any:
        status, headers = answer.status_code, answer.headers
        media = plain_media(headers.get("content-type", ""))
        text = _decoded(data, answer.charset_encoding)
        if status >= _ERROR_STATUS or status in _REDIRECTS:
            words = f"{self._name} was answered with {status} {answer.reason_phrase}".rstrip()
            if status in _REDIRECTS and "location" in headers:
                words += f", which leads to {cut(headers['location'], 200)}"
            detail = text if text is not None else f"{len(data):,} bytes of {media or 'no type'}"
            detail = redact(detail, [each.variable for each in self.credentials])
            raise ToolError(f"{words}: {cut(detail, _MOST_OF_AN_ERROR)}" if detail else words)
        if not data:
            return None
        if is_json(media):
            try:
                return json.loads(data if text is None else text.removeprefix("\ufeff"))
            except (ValueError, RecursionError):
                raise ToolError(f"{self._name} was answered with JSON that isn't one") from None
        if media.startswith("image/"):
            return Image(data, media)
        if media.startswith("audio/"):
            return Audio(data, media)
        if text is not None:
            return text
        return EmbeddedResource(f"{self._host}/", data, media if "/" in media else None)


def _decoded(data: bytes, charset: str | None) -> str | None:
    """Return a string in its charset, or else in UTF-8; None if it isn't one."""
    with suppress(LookupError, UnicodeDecodeError):
        if charset is not None:
            return data.decode(charset)
    return readable(data)


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with the names of its members as the API has them."""
    if isinstance(value, dict):
        return {names.get(key, key): _with_names(each, names) for key, each in value.items()}
    return [_with_names(each, names) for each in value] if isinstance(value, list) else value


FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


def plain_media(media: str) -> str:
    """Return a media type without parameters, in small letters."""
    return media.partition(";")[0].strip().lower()


def is_json(media: str) -> bool:
    """Return whether a media type is one of JSON."""
    plain = plain_media(media)
    return plain in {"application/json", "text/json"} or plain.endswith("+json")


def _body(place: Argument, value: Any) -> dict[str, Any]:
    """Return what httpx must be given for a body."""
    kind = plain_media(place.name)
    media = _OF_RANGE.get(kind, place.name)
    if kind == FORM and isinstance(value, dict):
        form: dict[str, list[str]] = {}
        for key, text in _form(value, place.parts):
            form.setdefault(key, []).append(text)
        return {"data": form, "headers": {"Content-Type": media}}
    if kind == MULTIPART and isinstance(value, dict):
        return {"files": [*_multipart(value, place.parts)]}
    text = json.dumps(value, ensure_ascii=False) if is_json(media) else _plain(value)
    return {"content": text.encode(), "headers": {"Content-Type": media}}


_OF_RANGE = {
    "*/*": "application/json", "application/*": "application/json", "text/*": "text/plain",
}  # fmt: skip
"""What is sent where a document accepts a range of media types."""


def _form(value: Mapping[str, Any], parts: Mapping[str, Argument]) -> Iterator[tuple[str, str]]:
    for key, each in value.items():
        if each is not None:
            usual = Argument("query", key, "json" if isinstance(each, dict) else "")
            yield from _in_query(each, parts.get(key, usual))


def _multipart(value: Mapping[str, Any], parts: Mapping[str, Argument]) -> Iterator[Any]:
    """Yield the parts of a form as httpx takes them; each item of a list is one."""
    for key, each in value.items():
        usual = Argument("body", "application/json" if isinstance(each, dict) else "")
        part = parts.get(key, usual)
        name = key + (mimetypes.guess_extension(part.name) or "") if part.style == "file" else None
        for item in each if isinstance(each, list) else [each]:
            media = part.name or ("application/json" if isinstance(item, dict) else None)
            text = json.dumps(item, ensure_ascii=False) if is_json(media or "") else _plain(item)
            if item is not None:
                yield key, (name, text.encode(), media)


def _plain(value: Any) -> str:
    """Return a value as text: JSON, unless it is text already."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _texts(value: Any, place: Argument) -> list[str]:
    """Return what is written of a value, with commas between."""
    return [_plain(value)] if place.style == "json" else _parts(value, explode=place.explode)


def _parts(value: Any, *, explode: bool) -> list[str]:
    if isinstance(value, dict):
        pairs = [(key, _plain(each)) for key, each in value.items()]
        return (
            [f"{key}={each}" for key, each in pairs] if explode else [*chain.from_iterable(pairs)]
        )
    return [_plain(each) for each in value] if isinstance(value, list) else [_plain(value)]


_SEPARATORS = {"commaDelimited": ",", "spaceDelimited": " ", "pipeDelimited": "|"}


def _written(argument: str, value: Any, place: Argument) -> list[tuple[str, str]]:
    """Return the names and texts of an argument in the query, the headers or the cookies."""
    if place.where == "query":
        return _in_query(value, place)
    text = ",".join(_texts(value, place))
    if not text.isprintable() or (place.where == "cookie" and ";" in text):
        raise ToolError(f"{argument!r} can't have line breaks or other control characters")
    return [(place.name, text if text.isascii() else quote(text))]


def _in_query(value: Any, place: Argument) -> list[tuple[str, str]]:
    name = place.name
    if place.style == "json" or not isinstance(value, dict | list):
        return [(name, _plain(value))]
    if place.style == "deepObject":
        members = value.items() if isinstance(value, dict) else enumerate(value)
        inner = (_in_query(v, place._replace(name=f"{name}[{key}]")) for key, v in members)
        return [*chain.from_iterable(inner)]
    if place.style in _SEPARATORS:
        return [(name, _SEPARATORS[place.style].join(_parts(value, explode=False)))]
    if isinstance(value, dict):
        return [(key, _plain(each)) for key, each in value.items()]
    return [(name, _plain(each)) for each in value]


def _usable(credentials: Sequence[Credential]) -> Iterator[Credential]:
    """Yield the credentials to send: those that are optional only if all of them are set."""
    optional = [each.variable for each in credentials if each.is_optional]
    are_set = all(map(os.environ.get, optional))
    yield from (each for each in credentials if are_set or not each.is_optional)


def _authorization(credential: Credential) -> tuple[str, str, str]:
    """Return where a credential goes, under which name, and its text."""
    secret = os.environ.get(credential.variable, "")
    if not secret:
        raise ToolError(f"the environment variable {credential.variable} is not set")
    # the client would show such a header in its error
    is_sendable = secret.isascii() or credential.kind in ("basic", "query")
    if not (is_sendable and secret.isprintable() and secret == secret.strip()):
        words = "has a line break, spaces around it, or a character that is not ASCII"
        raise ToolError(f"the environment variable {credential.variable} {words}")
    if credential.kind == "bearer":
        return "header", "Authorization", f"Bearer {secret}"
    if credential.kind == "basic":
        return "header", "Authorization", f"Basic {base64(secret.encode())}"
    return credential.kind, credential.name, secret


_CLIENTS: dict[object, Any] = {}


def _client() -> Any:
    """Return the client of the loop of connections, which all operations share."""
    import httpx  # noqa: PLC0415 - heavy, and an extra

    loop = remote_loop()
    if loop not in _CLIENTS:
        _CLIENTS.clear()
        # what one call's answer sets isn't sent with another call
        none = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        _CLIENTS[loop] = client = httpx.AsyncClient(cookies=none)
        loop.closing(client, client.aclose)
    return _CLIENTS[loop]
