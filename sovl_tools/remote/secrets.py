"""Addresses of servers with what looks like a secret taken from environment variables instead."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace
from itertools import pairwise
from urllib.parse import urlsplit

from sovl_tools.remote.session import McpServer
from sovl_tools.schema.subschemas import free_name

_PREFIX = "SOVL_"
_LONGEST = 60
_NAME = re.compile(
    r"""token | secret | passw | pwd | passphrase | api[-_]?key | access[-_]?key | private[-_]?key
      | credential | authorization | bearer | cookie | session[-_]?id | signature
      | (?:^|[-_.])(?:auth|key|pat|sig|pass|dsn|code)$""",
    re.VERBOSE | re.IGNORECASE,
)
_PLAIN = re.compile(r"(?:[\d.,]*|true|false|yes|no|on|off|none|\.{0,2}/.*|~/.*)", re.IGNORECASE)
"""Values that aren't secrets under any name: numbers, switches, paths."""
_KNOWN = re.compile(
    r"""(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|hf|npm|pypi|shpat|dop_v1|SG|AKIA
      |AIza|ya29|lin_api|ntn|secret|whsec)[-_.A-Z0-9]\S{6,}|eyJ[\w-]{8,}\.\S*
      |[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$""",
    re.VERBOSE,
)
_RUN = re.compile(r"[A-Za-z0-9+=]{16,}")
_HEADER = re.compile(r"(?P<before>[A-Za-z][\w-]*:\s*(?:(?:Bearer|Basic|Token)\s+)?)(?P<value>\S.*)")
_PAIR = re.compile(r"(?P<before>(?P<name>-{0,2}[A-Za-z][\w.-]*)=)(?P<value>.+)", re.DOTALL)
_LAUNCHERS = frozenset(
    {"npx", "uvx", "bunx", "pipx", "uv", "docker", "podman", "node", "python", "python3", "deno",
     "run", "exec", "tool", "env", "sh", "bash"}
)  # fmt: skip


def without_secrets(server: McpServer) -> McpServer:
    """Return a server without the parts of its address and variables that look like secrets.

    It reads those parts from environment variables: ``placeholders``, or the variable of ``env``.
    """
    found = _Address(server)
    env = tuple(
        (key, None if value is not None and is_secret(key, value) else value)
        for key, value in server.env
    )
    if server.is_url:
        address = found.url(server.address)
    else:
        address = shlex.join(found.words(shlex.split(server.address)))
    if not found.values:
        return replace(server, env=env)
    return replace(server, address=address, env=env, placeholders=tuple(found.values))


def is_secret(name: str, value: str) -> bool:
    """Return True if a value or its name looks like that of a secret."""
    if _PLAIN.fullmatch(value):
        return False
    return _NAME.search(name) is not None or _looks_secret(value)


def _looks_secret(value: str) -> bool:
    runs = [] if "sha256:" in value else _RUN.findall(value)
    return _KNOWN.match(value) is not None or any(
        re.search(r"\d", each) and re.search(r"[A-Za-z]", each) for each in runs
    )


class _Address:
    """Replaces the secrets of one address.

    Attributes:
        values: the secrets, by the names of their variables.
    """

    def __init__(self, server: McpServer) -> None:
        self._label = server_label(server)
        self.values: dict[str, str] = {}

    def words(self, words: list[str]) -> list[str]:
        """Return the words of a command with placeholders."""
        made = words[:1]
        for before, word in pairwise(words):
            is_value = before.startswith("-") and "=" not in before and not word.startswith("-")
            made.append(self._word(before.lstrip("-") if is_value else "", word))
        return made

    def _word(self, option: str, word: str) -> str:
        if "://" in word and not _PAIR.fullmatch(word.partition("://")[0]):
            return self.url(word)
        if found := _HEADER.fullmatch(word):
            name = found["before"].partition(":")[0]
            return found["before"] + self._value(name, found["value"])
        if found := _PAIR.fullmatch(word):
            value = found["value"]
            made = self.url(value) if "://" in value else self._value(found["name"], value)
            return found["before"] + made
        return self._value(option, word)

    def url(self, url: str) -> str:
        """Return a URL with placeholders."""
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
        name, colon, password = user.partition(":")
        if at and (password or not colon):
            user = (
                name + colon + self._put("password", password) if colon else self._put("user", user)
            )
        path = "/".join(self._value("", each) for each in parts.path.split("/"))
        pairs = (each.partition("=") for each in parts.query.split("&"))
        query = "&".join(key + equals + self._value(key, value) for key, equals, value in pairs)
        return parts._replace(netloc=user + at + host, path=path, query=query).geturl()

    def _value(self, name: str, value: str) -> str:
        return self._put(name, value) if is_secret(name, value) else value

    def _put(self, name: str, value: str) -> str:
        words = re.sub(r"\W+", "_", f"{self._label} {name or 'secret'}", flags=re.ASCII)
        start = _PREFIX + words.strip("_").upper()[:_LONGEST]
        known = {**os.environ, **self.values}
        taken = {each for each, other in known.items() if other != value}
        variable = free_name(start, taken, joint="_")
        self.values[variable] = value
        return f"${{{variable}}}"


def server_label(server: McpServer) -> str:
    """Return a short name of a server, without secrets: of its host, or its program."""
    if server.is_url:
        return urlsplit(server.address).hostname or ""
    words = [os.path.basename(each.rstrip("/")) for each in shlex.split(server.address)]
    plain = [each for each in words if each and not each.startswith("-") and "=" not in each]
    own = (each for each in plain if each not in _LAUNCHERS and not _looks_secret(each))
    return next(own, plain[0] if plain else "")
