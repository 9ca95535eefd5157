"""Fetching of public web pages, without a way into the machine's own network."""

import asyncio
from collections.abc import Callable

import httpx

from .content import decode, is_text
from .transfer import opened, read_body

_HIGHEST_PORT = 65_535
_HEADERS_OF_INTEREST = (
    "content-type",
    "content-length",
    "content-language",
    "last-modified",
    "etag",
    "retry-after",
)


async def fetch_url(
    url: str,
    *,
    max_bytes: int = 200_000,
    max_redirects: int = 5,
    timeout_seconds: float = 20,
) -> dict[str, object]:
    """Return what a web address answers; raise ValueError if it may not or cannot be fetched."""
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _fetch(url, max_bytes=max_bytes, max_redirects=max_redirects)
    except TimeoutError:
        raise ValueError(f"no complete answer within {timeout_seconds:g} seconds") from None
    except httpx.HTTPError as error:
        raise ValueError(f"the fetch failed: {error or type(error).__name__}") from None


async def _fetch(url: str, *, max_bytes: int, max_redirects: int) -> dict[str, object]:
    address = _checked(httpx.URL, url)
    redirects: list[str] = []
    while len(redirects) <= max_redirects:
        async with opened(address) as response:
            if not response.has_redirect_location:
                content = await _content(response, max_bytes)
                return _described(response, address) | {"redirects": redirects} | content
            target = _checked(address.join, response.headers["location"])
        redirects.append(str(address))
        address = target
    raise ValueError(f"there are more than {max_redirects} redirects")


def _checked(parse: Callable[[str], httpx.URL], text: str) -> httpx.URL:
    """Return the address that a string represents; raise ValueError if it isn't one to fetch."""
    try:
        url = parse(text)
        host = url.host
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ValueError(f"{text[:80]!r} isn't a web address: {error}") from None
    if url.scheme not in {"http", "https"} or not host:
        raise ValueError(f"{text[:80]!r} isn't an address that begins with http:// or https://")
    if url.port is not None and not 0 < url.port <= _HIGHEST_PORT:
        raise ValueError(f"there's no port {url.port}")
    if url.userinfo:
        raise ValueError("an address must not hold a user name or password")
    return url


def _described(response: httpx.Response, address: httpx.URL) -> dict[str, object]:
    found = {name: response.headers.get(name) for name in _HEADERS_OF_INTEREST}
    return {
        "status": response.status_code,
        "url": str(address),
        "headers": {name: value for name, value in found.items() if value is not None},
    }


async def _content(response: httpx.Response, max_bytes: int) -> dict[str, object]:
    kind = response.headers.get("content-type", "")
    if not is_text(kind):
        return _no_text(f"the content is {kind[:100]}, which isn't text")
    body, truncated = await read_body(response, limit=max_bytes)
    if not kind and b"\0" in body:
        return _no_text("the content is of no stated type and holds NUL bytes, so it isn't text")
    text = decode(body, response.charset_encoding, truncated=truncated)
    return {"text": text, "note": "", "truncated": truncated}


def _no_text(note: str) -> dict[str, object]:
    return {"text": None, "note": note, "truncated": False}
