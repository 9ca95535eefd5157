"""Fetching of web pages, against servers on the loopback interface and names of our own making."""

import asyncio
import gzip
import http.server
import ipaddress
import shutil
import socket
import ssl
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest

from tests.patience import PATIENCE
from tests.tables import check_each

from .conftest import Module, Refuse

Value = Callable[..., Any]
Names = dict[str, list[str]]
PUBLIC = "93.184.215.14"
PRIVATE_MESSAGE = "leads to an address that is not public, which may not be fetched"


class Site(http.server.ThreadingHTTPServer):
    """Answers each path with what ``pages`` says, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.over = threading.Event()

    def url(self, path: str = "/", *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.server_port}{path}"

    def page(self, body: bytes, path: str = "/", *, status: int = 200, **headers: str) -> str:
        return self.page_with(headers, body, path, status=status)

    def page_with(
        self, headers: dict[str, str], body: bytes, path: str = "/", *, status: int = 200
    ) -> str:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        self.pages[path] = (status, named, body)
        return self.url(path)

    def redirect(self, location: str, path: str = "/", *, status: int = 302) -> str:
        return self.page(b"moved", path, status=status, location=location)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of these tests."""


class Handler(http.server.BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        status, headers, body = self.server.pages.get(self.path, (404, {}, b"nothing here"))
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        if "transfer-encoding" not in headers:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if headers.get("transfer-encoding") == "chunked":
            self.server.over.wait(PATIENCE)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


def serving(site: Site) -> Iterator[Site]:
    thread = threading.Thread(target=site.serve_forever, args=(0.01,))
    thread.start()
    yield site
    site.over.set()
    site.shutdown()
    site.server_close()
    thread.join()


@pytest.fixture
def strict_site() -> Iterator[Site]:
    """A site that the tool may not reach directly."""
    yield from serving(Site())


@pytest.fixture
def site(strict_site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site on the loopback interface, which the environment permits."""
    monkeypatch.setenv("SOVL_TOOLS_ALLOW_PRIVATE", "1")
    return strict_site


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Hosts that we invent: each look-up takes the addresses that stand here."""
    known: Names = {}
    real = socket.getaddrinfo

    def look_up(host: str, *arguments: Any, **options: Any) -> Any:
        if host not in known:
            return real(host, *arguments, **options)
        found = known[host]
        return [entry for address in found for entry in real(address, *arguments, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


@pytest.fixture
def connections(strict_site: Site, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lead connections to a public address to our site, and tell all addresses connected to."""
    made: list[str] = []
    real: Any = asyncio.BaseEventLoop.create_connection

    async def connect(
        loop: Any, protocol: Any, host: str | None = None, port: int | None = None, **options: Any
    ) -> Any:
        made.append(str(host))
        if host == PUBLIC:
            host, port = "127.0.0.1", strict_site.server_port
        return await real(loop, protocol, host, port, **options)

    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", connect)
    return made


def test_returns_the_text_of_a_page(value: Value, site: Site) -> None:
    url = site.page("grüße".encode(), content_type="text/html; charset=utf-8", etag='"1"')
    assert value("fetch_url", url=url) == {
        "status": 200,
        "url": url,
        "redirects": [],
        "headers": {
            "content-type": "text/html; charset=utf-8",
            "content-length": "7",
            "etag": '"1"',
        },
        "text": "grüße",
        "note": "",
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("headers", "body", "text"),
    [
        ({"content_type": "text/plain; charset=latin-1"}, b"caf\xe9", "café"),
        ({"content_type": "text/plain; charset=utf-16"}, "né".encode("utf-16"), "né"),
        ({"content_type": "text/plain; charset=nonsense"}, b"caf\xc3\xa9", "café"),
        ({"content_type": "application/json"}, b'{"a": 1}', '{"a": 1}'),
        ({"content_type": "TEXT/HTML"}, b"\xef\xbb\xbfx", "x"),
        ({"content_type": "text/plain"}, b"a\xffb", "a\ufffdb"),
        (
            {"content_type": "text/plain", "content_encoding": "gzip"},
            gzip.compress(b"zip", mtime=0),
            "zip",
        ),
        (
            {"content_type": "text/plain", "content_encoding": "Deflate"},
            zlib.compress(b"zip"),
            "zip",
        ),
    ],
)
def test_decodes_text(
    value: Value, site: Site, headers: dict[str, str], body: bytes, text: str
) -> None:
    assert value("fetch_url", url=site.page_with(headers, body))["text"] == text


def test_redirects_are_limited(refuse: Refuse, site: Site) -> None:
    assert refuse("fetch_url", url=site.redirect("/")) == "there are more than 5 redirects"
    assert len(site.asked) == 6
    assert refuse("fetch_url", url=site.url(), max_redirects=0) == (
        "there are more than 0 redirects"
    )


@check_each(
    "address",
    [
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "192.168.1.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2001:db8::1",
        "2002:a00:1::1",
        "fc00::1",
        "fe80::1",
        "ff02::1",
    ],
)
def test_special_addresses_are_not_public(module: Module, address: str) -> None:
    is_public = module("fetch_url", "addresses").is_public
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "0x7f.1",
        "2130706433",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "10.0.0.1",
        "169.254.169.254",
    ],
)
def test_the_own_network_is_refused_however_it_is_written(
    refuse: Refuse, strict_site: Site, connections: list[str], host: str
) -> None:
    assert PRIVATE_MESSAGE in refuse("fetch_url", url=strict_site.url(host=host))
    assert (connections, strict_site.asked) == ([], [])


@pytest.mark.parametrize(
    "addresses",
    [["10.0.0.1"], [PUBLIC, "10.0.0.1"], ["2606:4700::1111", "::1"], [PUBLIC] * 9 + ["0.0.0.0"]],
)
def test_a_name_with_any_private_address_is_refused(
    refuse: Refuse, names: Names, connections: list[str], addresses: list[str]
) -> None:
    names["rebound.test"] = addresses
    assert PRIVATE_MESSAGE in refuse("fetch_url", url="http://rebound.test/")
    assert connections == []


def test_a_public_address_is_reached_by_the_address_that_was_checked(
    value: Value, strict_site: Site, names: Names, connections: list[str]
) -> None:
    names["public.test"] = [PUBLIC]
    strict_site.page(b"hello")
    assert value("fetch_url", url="http://public.test/")["text"] == "hello"
    assert connections == [PUBLIC]
    assert strict_site.asked[0][1]["Host"] == "public.test"


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/secret",
        "http://[::1]:{port}/secret",
        "https://169.254.169.254/latest/meta-data",
    ],
)
def test_a_redirect_into_the_own_network_is_refused(
    refuse: Refuse, strict_site: Site, names: Names, connections: list[str], location: str
) -> None:
    names |= {"public.test": [PUBLIC], "private.test": ["127.0.0.1"]}
    strict_site.redirect(location.format(port=strict_site.server_port))
    assert PRIVATE_MESSAGE in refuse("fetch_url", url="http://public.test/")
    assert connections == [PUBLIC]
    assert [path for path, _ in strict_site.asked] == ["/"]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for secure.test, together with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the command openssl")
    path = tmp_path / "secure.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    names = ["-subj", "/CN=secure.test", "-addext", "subjectAltName=DNS:secure.test"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(path)]
    subprocess.run([*command.split(), *names, *files], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + (tmp_path / "key.pem").read_bytes())
    return path


@pytest.fixture
def secure_site(certificate: Path, names: Names, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The same kind of site, by https, under the names secure.test and other.test."""
    monkeypatch.setenv("SOVL_TOOLS_ALLOW_PRIVATE", "1")
    names["secure.test"] = names["secure.test."] = names["other.test"] = ["127.0.0.1"]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    site = Site()
    site.socket = context.wrap_socket(site.socket, server_side=True)
    yield from serving(site)


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the certificate as the public authorities are."""
    monkeypatch.setattr(certifi, "where", lambda: str(certificate))


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("host", ["other.test", "127.0.0.1"])
def test_a_certificate_for_another_name_is_refused(
    refuse: Refuse, secure_site: Site, host: str
) -> None:
    message = refuse("fetch_url", url=secure_site.url(scheme="https", host=host))
    assert "certificate verify failed" in message
    assert secure_site.asked == []
