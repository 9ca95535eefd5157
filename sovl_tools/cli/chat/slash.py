"""The commands of a chat: lines that begin with a slash."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from time import strftime
from typing import Any, NamedTuple, TypeVar

from sovl_tools.agent.agent import Agent
from sovl_tools.agent.history import parse_messages
from sovl_tools.cli.list import row, table
from sovl_tools.cli.output import listed
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain

_F = TypeVar("_F", bound=Callable[..., Any])

_FOUND = 10


class Leave(Exception):  # noqa: N818 - it is no error
    """The chat is over."""


class SlashError(Exception):
    """A command could not be done; the message says why."""


class Command(NamedTuple):
    """A command of a chat.

    Attributes:
        does: takes the agent and what stands after the name; returns what is shown.
        usage: what may stand there.
        words: what it does.
    """

    does: Callable[[Agent, str], str]
    usage: str
    words: str


# filled by ``_command``, in the order in which /help lists them
_COMMANDS: dict[str, Command] = {}


def _command(usage: str, words: str) -> Callable[[_F], _F]:
    """Enter a function as the command of its name."""

    def register(function: _F) -> _F:
        _COMMANDS[function.__name__.removeprefix("_")] = Command(function, usage, words)
        return function

    return register


def run_command(agent: Agent, line: str) -> str:
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
    return command.does(agent, argument)


@_command("[WORDS]", "list the tools, or find some")
def _tools(agent: Agent, words: str) -> str:
    found = agent.tools.list_tools()
    if words:
        found = [agent.tools[each.tool] for each in agent.tools.search(words, limit=_FOUND)]
        if not found:
            return "no tool has a word of that"
    return table([row(tool) for tool in found], width=shutil.get_terminal_size().columns)


@_command("", "look at the tools again now")
def _reload(agent: Agent, _: str) -> str:
    # what has changed is told by the listener that hears of every reload
    return "" if agent.tools.reload() else "nothing has changed"


@_command("[FILE]", "write the conversation as JSON")
def _save(agent: Agent, name: str) -> str:
    path = os.path.expanduser(name) or f"chat-{strftime('%Y-%m-%d-%H%M%S')}.json"
    if os.path.lexists(path):
        # a conversation may be saved over; a slip of the finger must cost no other file
        try:
            text = Path(path).read_text(encoding="utf-8", errors="surrogatepass")
            parse_messages(json.loads(text))
        except (OSError, ValueError, RecursionError) as error:
            words = f"{path!r} is already there and holds no conversation"
            raise SlashError(words) from error
    try:
        agent.save(path)
    except (OSError, ValueError) as error:
        raise SlashError(f"{path!r} can't be written: {_reason(error)}") from error
    return f"{counted(len(agent.messages), 'message')} saved in {path}"


@_command("FILE", "go on with a conversation that was saved")
def _load(agent: Agent, name: str) -> str:
    if not name:
        raise SlashError("/load needs the name of a file")
    path = os.path.expanduser(name)
    try:
        agent.restore(path)
    except (OSError, ValueError, RecursionError) as error:
        raise SlashError(f"{path!r} can't be loaded: {_reason(error)}") from error
    return f"{counted(len(agent.messages), 'message')} loaded from {path}"


@_command("", "begin a new conversation")
def _clear(agent: Agent, _: str) -> str:
    agent.messages.clear()
    return "this is a new conversation"


@_command("", "list these commands")
def _help(_: Agent, __: str) -> str:
    heads = {f"/{name} {each.usage}".rstrip(): each for name, each in _COMMANDS.items()}
    width = max(map(len, heads))
    return "\n".join(f"{head:<{width}}  {each.words}" for head, each in heads.items())


@_command("", "leave, as Ctrl-D does")
def _quit(_: Agent, __: str) -> str:
    raise Leave


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
