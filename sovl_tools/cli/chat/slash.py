"""The commands of a chat: lines that begin with a slash."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from time import strftime
from typing import NamedTuple

from sovl_tools.agent.agent import Agent
from sovl_tools.agent.messages import parse_messages
from sovl_tools.cli.list import row, table
from sovl_tools.cli.output import listed
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.plain import plain

_FOUND = 10


class Leave(Exception):  # noqa: N818 - it is no error
    """The chat is over."""


class SlashError(Exception):
    """A command could not be done; the message says why."""


class Command(NamedTuple):
    """A command of a chat.

    Attributes:
        does: takes the commands of an agent and what stands after its name; returns what is shown.
        usage: what may stand there.
        words: what it does.
    """

    does: Callable[[Slash, str], str]
    usage: str
    words: str


class Slash:
    """The commands for one agent."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def done(self, line: str) -> str:
        """Do what a line says and return what is to be shown.

        Raises:
            SlashError: it can't be done.
            Leave: the chat is over.
        """
        name, _, rest = line.removeprefix("/").partition(" ")
        command = _COMMANDS.get(name)
        if command is None:
            hint = did_you_mean(f"/{name}", NAMES) or "/help lists the commands"
            raise SlashError(f"there is no command {f'/{name}'!r}; {hint}")
        argument = rest.strip()
        if argument and not command.usage:
            raise SlashError(f"/{name} takes nothing, not {argument!r}")
        return command.does(self, argument)

    def _tools(self, words: str) -> str:
        tools = self.agent.tools
        found = tools.list_tools()
        if words:
            found = [tools[each.tool] for each in tools.search(words, limit=_FOUND)]
            if not found:
                return "no tool has a word of that"
        return table([row(tool) for tool in found], width=shutil.get_terminal_size().columns)

    def _save(self, name: str) -> str:
        path = os.path.expanduser(name) or f"chat-{strftime('%Y-%m-%d-%H%M%S')}.json"
        if os.path.lexists(path):
            try:
                text = Path(path).read_text(encoding="utf-8", errors="surrogatepass")
                parse_messages(json.loads(text))
            except (OSError, ValueError, RecursionError) as error:
                words = f"{path!r} is already there and holds no conversation"
                raise SlashError(words) from error
        try:
            self.agent.save(path)
        except (OSError, ValueError) as error:
            raise SlashError(f"{path!r} can't be written: {_reason(error)}") from error
        return f"{counted(len(self.agent.messages), 'message')} saved in {path}"

    def _load(self, name: str) -> str:
        if not name:
            raise SlashError("/load needs the name of a file")
        path = os.path.expanduser(name)
        try:
            self.agent.restore(path)
        except (OSError, ValueError, RecursionError) as error:
            raise SlashError(f"{path!r} can't be loaded: {_reason(error)}") from error
        return f"{counted(len(self.agent.messages), 'message')} loaded from {path}"

    def _clear(self, _: str) -> str:
        self.agent.messages.clear()
        return "this is a new conversation"

    def _help(self, _: str) -> str:
        heads = {f"/{name} {each.usage}".rstrip(): each for name, each in _COMMANDS.items()}
        width = max(map(len, heads))
        return "\n".join(f"{head:<{width}}  {each.words}" for head, each in heads.items())

    def _quit(self, _: str) -> str:
        raise Leave


_COMMANDS = {
    "tools": Command(Slash._tools, "[WORDS]", "list the tools, or find some"),  # noqa: SLF001
    "reload": Command(
        lambda slash, _: "" if slash.agent.tools.reload() else "nothing has changed",
        "",
        "look at the tools again now",
    ),
    "save": Command(Slash._save, "[FILE]", "write the conversation as JSON"),  # noqa: SLF001
    "load": Command(Slash._load, "FILE", "go on with a conversation that was saved"),  # noqa: SLF001
    "clear": Command(Slash._clear, "", "begin a new conversation"),  # noqa: SLF001
    "help": Command(Slash._help, "", "list these commands"),  # noqa: SLF001
    "quit": Command(Slash._quit, "", "leave, as Ctrl-D does"),  # noqa: SLF001
}
NAMES = tuple(f"/{name}" for name in _COMMANDS)
"""The commands as they are typed."""


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def describe_change(change: CatalogChange, served: Collection[str]) -> str:
    """Return what became of the tools, in a line; "" if none of them is another.

    Args:
        change: what became of them.
        served: the names of the tools that can be called.
    """
    kept = [name for name in change.rejected if name in served]
    lost = [name for name in change.rejected if name not in served]
    first = next((str(each) for each in change.diagnostics if each.severity == "error"), "")
    news = [
        ("added", change.added, ""),
        ("updated", change.updated, ""),
        ("removed", change.removed, ""),
        ("rejected", kept, " (the version before stays)"),
        ("rejected", lost, ""),
    ]
    told = [f"{word} {listed(names)}{remark}" for word, names, remark in news if names]
    why = f": {first}" if change.rejected and first else ""
    return plain(f"tools: {', '.join(told)}{why}") if told else ""
