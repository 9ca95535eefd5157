"""Servers of the Model Context Protocol, and the one session with each.

A session lives on the loop of connections, so that sync and async tools of any thread share it. It
begins with the first call, begins again after the server has died, and ends with the program.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sovl_tools.model.call import SERVER_TIMEOUT
from sovl_tools.model.content import cut_characters
from sovl_tools.model.context import ToolContext
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError, ToolError
from sovl_tools.remote.answer import value_of
from sovl_tools.remote.loop import RemoteLoop, remote_loop, run_remotely
from sovl_tools.remote.snapshot import Offer

_LONGEST = 60


class RemoteError(SovlToolsError):
    """A server that can't be reached, or does not answer as the protocol says.

    Attributes:
        code: of the error that the server sent, if it sent one.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class McpServer:
    """A server of the Model Context Protocol; equal values share one session.

    Attributes:
        address: a command with its arguments, as in a shell, or a URL.
        headers: headers of HTTP, each with the environment variable that holds its value.
        env: variables for the server's process; one without a value is passed on. A few, such as
            ``PATH`` and ``HOME``, are passed on anyway.
        timeout: how long it must answer when it is connected to or lists its tools, in seconds.
        header_values: further headers, with their values.
        placeholders: environment variables whose values take the places of ``${NAME}`` in the
            address.
        locked: the snapshot of the reviewed tools; tools that differ from it aren't called.

    Raises:
        ValueError: the address isn't one, or what is said next to it is for servers of the other
            kind.
    """

    address: str
    headers: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str | None], ...] = ()
    timeout: float = SERVER_TIMEOUT
    header_values: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    placeholders: tuple[str, ...] = ()
    locked: str | None = None

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise ValueError(f"timeout must be more than 0 s, not {self.timeout!r}")
        if self.is_url:
            if urlsplit(self.address).hostname is None:
                raise ValueError("the URL of a server must name a host")
            if self.env:
                raise ValueError("variables are for a server that is started; a URL takes headers")
            return
        if self.headers or self.header_values:
            raise ValueError("headers are for a server at a URL; a command takes variables")
        words = shlex.split(self.address)
        if not words or not words[0]:
            raise ValueError("name the command that starts the server, or its URL")
        if found := re.match(r"\w+=", words[0]):
            advice = "variables for the server go into 'env'"
            raise ValueError(f"{found[0]!r} begins no command: {advice}")
        if "://" in words[0]:
            raise ValueError(f"{words[0]!r:.100} is neither a command nor an http or https URL")

    @property
    def is_url(self) -> bool:
        """Whether it is reached over HTTP."""
        return self.address[:8].lower().startswith(("http://", "https://"))

    @property
    def credentials(self) -> list[str]:
        """The names of the variables that its lists can depend on."""
        return sorted({name for _, name in self.headers} | {name for name, _ in self.env})

    @property
    def variables(self) -> list[str]:
        """The environment variables that must be set."""
        passed = [key for key, text in self.env if text is None]
        return [*self.placeholders, *(each for _, each in self.headers), *passed]

    def __str__(self) -> str:
        """Return the name of the program or of the host: the rest of the address can be secret."""
        if self.is_url:
            return urlsplit(self.address).netloc.rpartition("@")[2]
        return cut_characters(os.path.basename(shlex.split(self.address)[0]), _LONGEST)

    def __repr__(self) -> str:
        return f"<McpServer {self}>"

    def filled_address(self) -> str:
        """Return the address with the values of its variables.

        Raises:
            RemoteError: a variable isn't set.
        """
        words = [self.address] if self.is_url else shlex.split(self.address)
        for name in self.placeholders:
            value = variable(name)
            words = [each.replace(f"${{{name}}}", value) for each in words]
        return words[0] if self.is_url else shlex.join(words)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        context: ToolContext | None = None,
        *,
        repeatable: bool = False,
    ) -> Any:
        """Call a tool of the server; what it returns keeps its types.

        Args:
            tool: its name there.
            arguments: as the server's schema wants them.
            context: gets the progress.
            repeatable: whether the call can be made again if the connection breaks meanwhile.

        Raises:
            ToolError: the tool says that it failed, the server is not to be had, or the tool
                isn't as reviewed.
        """
        try:
            call = session_of(self).call(tool, arguments, context, is_repeatable=repeatable)
            answer = await run_remotely(call)
        except RemoteError as error:
            raise ToolError(str(error)) from None
        return value_of(answer)

    async def list_tools(self) -> list[JSON]:
        """Return the definitions of its tools as the server sends them, of all pages.

        Raises:
            RemoteError: it can't be reached, or sends no list.
        """
        return await run_remotely(session_of(self).list_tools())

    async def offer(self) -> Offer:
        """Return everything that it lists.

        Raises:
            RemoteError: it can't be reached, or a list is missing, endless or different each time.
        """
        return await run_remotely(session_of(self).offer())


_SESSIONS: dict[tuple[RemoteLoop, McpServer], Any] = {}


def session_of(server: McpServer) -> Any:
    """Return the ``McpSession`` with a server; nothing is connected before it is needed.

    Raises:
        RemoteError: the SDK is not installed.
    """
    loop, connection = remote_loop(), load_sdk()
    found = _SESSIONS.get((loop, server))
    if found is None:
        # two threads can come at once: the first one's session stays
        found = _SESSIONS.setdefault((loop, server), connection.McpSession(server))
        loop.closing(found, found.close)
    return found


def load_sdk() -> Any:
    """Import the SDK, which takes a while that no server is to blame for; return our module on it.

    Raises:
        RemoteError: it is not installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise RemoteError("MCP servers need the extra: pip install 'sovl-tools[mcp]'")
    return importlib.import_module("sovl_tools.remote.connection")


def variable(name: str) -> str:
    """Return the value of an environment variable.

    Raises:
        RemoteError: it isn't set.
    """
    text = os.environ.get(name)
    if not text:
        raise RemoteError(f"the environment variable {name} is not set")
    return text
