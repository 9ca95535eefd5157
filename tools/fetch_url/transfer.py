"""One request to one address that was checked, and an answer of limited size."""

import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from .addresses import resolve

_PORTS = {"http": 80, "https": 443}
_MOST_ADDRESSES = 4
_SECONDS_TO_CONNECT = 5.0
_HEADERS = {"User-Agent": "sovl-tools fetch_url", "Accept": "*/*", "Accept-Encoding": "identity"}
_GZIP_OR_ZLIB = 47
_GZIP_MAGIC = b"\x1f\x8b"


@asynccontextmanager
async def opened(url: httpx.URL) -> AsyncIterator[httpx.Response]:
    """Yield the answer to a GET request, its body not yet read.

    The caller bounds the time. The host is resolved once, and the connection goes to an address
    that was checked. This is a transport and no client, so there are no redirects, cookies or
    proxies; it serves one request, since connections are told apart by address and not by name.
    """
    async with httpx.AsyncHTTPTransport(trust_env=False) as transport:
        response = await _first_answer(transport, url)
        try:
            yield response
        finally:
            await response.aclose()


async def _first_answer(transport: httpx.AsyncHTTPTransport, url: httpx.URL) -> httpx.Response:
    host = url.raw_host.decode("ascii")
    addresses = await resolve(host, url.port or _PORTS[url.scheme])
    problem = "it has no address"
    for address in addresses[:_MOST_ADDRESSES]:
        try:
            return await transport.handle_async_request(_request(url, host, address))
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            problem = str(error) or "it does not answer"
    raise ValueError(f"cannot connect to {url.host!r}: {problem}")


def _request(url: httpx.URL, host: str, address: str) -> httpx.Request:
    """Return a request to the address that still names the host, to the server and to TLS."""
    return httpx.Request(
        "GET",
        url.copy_with(host=address),
        headers=_HEADERS | {"Host": url.netloc.decode("ascii")},
        extensions={
            "sni_hostname": host.removesuffix("."),
            "timeout": httpx.Timeout(None, connect=_SECONDS_TO_CONNECT).as_dict(),
        },
    )


async def read_body(response: httpx.Response, *, limit: int) -> tuple[bytes, bool]:
    """Return the body, unpacked, and whether it was cut: at the limit, or before its end."""
    unpacker = _unpacker(response.headers.get("content-encoding", "identity").strip().lower())
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += unpacker.unpack(chunk, limit + 1 - len(content)) if unpacker else chunk
        if len(content) > limit:
            return bytes(content[:limit]), True
        if unpacker and unpacker.ended:
            break
    return bytes(content), unpacker is not None and not unpacker.complete


def _unpacker(encoding: str) -> "_Unpacker | None":
    if encoding in ("", "identity"):
        return None
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ValueError(f"the answer is packed as {encoding!r}, which was not asked for")
    return _Unpacker()


class _Unpacker:
    """Unpacks a body piece by piece, never to more than there is room for.

    A body of gzip is one member or several, one after the other. What follows the last one and is
    no member is omitted, as gzip itself does.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._begun = False
        self.ended = False

    @property
    def complete(self) -> bool:
        """Whether every member that began has ended."""
        return not self._begun or self._member.eof

    def unpack(self, chunk: bytes, room: int) -> bytes:
        """Return what a piece of the body represents, at most `room` bytes of it."""
        content = bytearray()
        while chunk and len(content) < room and not self.ended:
            if self._member.eof:
                self.ended = not _GZIP_MAGIC.startswith(chunk[:2])
                if self.ended:
                    break
                self._member = zlib.decompressobj(_GZIP_OR_ZLIB)
            self._begun = True
            try:
                content += self._member.decompress(chunk, room - len(content))
            except zlib.error:
                raise ValueError("the answer is not packed the way its headers say") from None
            chunk = self._member.unused_data
        return bytes(content)
