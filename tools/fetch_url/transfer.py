"""One request to one address that was checked, and an answer of limited size."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from .addresses import resolve

_PORTS = {"http": 80, "https": 443}
_MOST_ADDRESSES = 4
_SECONDS_TO_CONNECT = 5.0
_HEADERS = {"User-Agent": "sovl-tools fetch_url", "Accept": "*/*", "Accept-Encoding": "identity"}


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
    """Return the body, unpacked, and whether it was cut at the limit."""
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > limit:
            return bytes(content[:limit]), True
    return bytes(content), False
