"""Snapshots of MCP servers: the reviewed definitions in a file of the repository."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from sovl_tools.model.document import JSON, canonical, parse_json
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.reporting.text import is_unsafe

LISTS = {
    "tools": "name",
    "prompts": "name",
    "resources": "uri",
    "resourceTemplates": "uriTemplate",
}
"""The lists of a server, and the key that names an item."""


class SnapshotError(SovlToolsError):
    """A snapshot that is missing or isn't one."""


class Snapshot(NamedTuple):
    """A snapshot, or another file of definitions.

    Attributes:
        path: the file; findings point into its ``text``.
        text: its content.
        document: the JSON in it.
    """

    path: str
    text: str
    document: JSON


class Offer(NamedTuple):
    """Everything that a server lists.

    Attributes:
        server: its name and version, if it says them.
        protocol: the protocol's version.
        lists: the items of each of ``LISTS``, as the server sends them.
    """

    server: dict[str, str]
    protocol: str
    lists: dict[str, list[JSON]]


def snapshot_of(offer: Offer, credentials: list[str], path: str) -> Snapshot:
    """Return the canonical snapshot of a server: sorted, with one key a line.

    Characters that no one sees are escaped, so that reviewers see them.

    Args:
        offer: what it lists.
        credentials: the names of the variables that the lists can depend on.
        path: the file.

    Raises:
        SnapshotError: the server sends a number that isn't one of JSON.
    """
    document: dict[str, JSON] = {
        "client": {"capabilities": [], "credentials": credentials, "protocol": offer.protocol},
        "server": offer.server,
    }
    for kind, key in LISTS.items():
        document[kind] = sorted(
            offer.lists[kind], key=lambda item: (name_of(item, key), canonical(item))
        )
    try:
        text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise SnapshotError(f"{path}: the server sends what isn't JSON: {error}") from error
    if not text.isascii():
        text = "".join(map(_visible, text))
    return Snapshot(path, f"{text}\n", document)


def _visible(letter: str) -> str:
    return json.dumps(letter)[1:-1] if is_unsafe(letter) and letter != "\n" else letter


def name_of(item: JSON, key: str = "name") -> str:
    """Return the name in a definition; "" without one."""
    name = item.get(key) if isinstance(item, dict) else None
    return name if isinstance(name, str) else ""


def read_snapshot(path: str) -> Snapshot:
    """Return a snapshot, or another file of definitions.

    Raises:
        SnapshotError: it can't be read, or isn't JSON.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
        text = data.decode("utf-8-sig")
        return Snapshot(path, text, parse_json(data))
    except OSError as error:
        raise SnapshotError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"{path}: it isn't JSON: {error}") from error


class Reviewed:
    """The reviewed tools of a snapshot, for loads that reject every other definition."""

    def __init__(self, path: str, tools: Mapping[str, str]) -> None:
        self.path = path
        self._tools = tools

    @classmethod
    def of(cls, path: str) -> Reviewed:
        """Return the reviewed tools of a snapshot.

        Raises:
            SnapshotError: it can't be read, or isn't a snapshot.
        """
        document = read_snapshot(path).document
        tools = document.get("tools") if isinstance(document, dict) else None
        if not isinstance(tools, list):
            raise SnapshotError(f"{path}: this isn't a snapshot: it has no list of tools")
        return cls(path, {name_of(each): canonical(each) for each in tools})

    def objection(self, definition: JSON) -> str | None:
        """Return why a definition isn't the reviewed one; None if it is."""
        reviewed = self._tools.get(name_of(definition))
        if reviewed is None:
            return f"it isn't in {self.path}"
        if reviewed != canonical(definition):
            return f"it differs from {self.path}"
        return None
