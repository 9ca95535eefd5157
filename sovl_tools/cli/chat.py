"""``sovl-tools chat``: messages and answers, and the commands that begin with a slash."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, aclosing, closing, nullcontext
from pathlib import Path
from time import strftime
from typing import TypeVar

import click

from sovl_tools.agent.agent import Agent
from sovl_tools.agent.errors import AgentError, LengthError, ProviderError
from sovl_tools.agent.history import parse_messages
from sovl_tools.agent.providers.choice import PROVIDERS, ProviderChoice, choose_provider
from sovl_tools.cli import option
from sovl_tools.cli.chat_terminal import Pipe, Terminal, Transcript, lines
from sovl_tools.cli.command import FINDINGS, Command, Misuse, is_quiet
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.show import row, show_tools
from sovl_tools.cli.terminal_host import approval, fill_form
from sovl_tools.cli.watch import moment_of
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.client_requests import Answer, Approval, ApprovalRequest, Question
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.model.host import Host
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.changes import news
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools chat
  sovl-tools chat --base-url http://localhost:11434/v1 --model qwen3
  echo "example_tool number1=5 number2=3" | sovl-tools chat --provider local

Keys are read from OPENAI_API_KEY, ANTHROPIC_API_KEY and OPENROUTER_API_KEY. The provider local
needs none. In the chat, /help lists its commands; Ctrl-C stops an answer, Ctrl-D leaves."""
EXITS = {1: "A line from a pipe got no answer."}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@option.registry
@option.views
@click.option(
    "--provider",
    type=click.Choice(list(PROVIDERS)),
    help="The provider. Default: the first with a key, or local.",
)
@click.option("--model", metavar="NAME", help="The provider's model.")
@click.option(
    "--base-url", metavar="URL", help="A server that is compatible with the provider's API."
)
@click.option("--system", default="", metavar="TEXT", help="The system prompt.")
@click.pass_context
def chat(
    ctx: click.Context,
    *,
    tools: option.ToolOptions,
    provider: str | None,
    model: str | None,
    base_url: str | None,
    system: str,
) -> None:
    """Talk to a model that calls the tools, or to a stand-in that needs no key.

    Answers go to the standard output; calls, results and notices to the error output. Tools are
    reloaded as they are edited. If the input isn't a terminal, each of its lines is a message.
    """
    try:
        who = choose_provider(provider=provider, model=model, base_url=base_url)
    except (AgentError, ImportError, ValueError) as error:
        raise Misuse(" ".join(str(error).split())) from error
    registry = all_tools(tools)
    source = lines(lambda: [*_COMMANDS, *(tool.name for tool in registry)])
    with nullcontext() if who.client is None else closing(who.client):
        transcript = Transcript(is_quiet=is_quiet(), shows_results=who.name != "local")
        agent = Agent(
            who.client,
            tools=registry,
            provider=who.name,
            model=who.model,
            system=system,
            policy=tools.settings().policy,
            host=_host(source, transcript),
        )
        conversation = Conversation(agent, source, transcript, who=who)
        with registry.watch(libraries=tools.settings().watch):
            failures = conversation.run()
    if failures and not source.is_terminal:
        ctx.exit(FINDINGS)


_T = TypeVar("_T")


def _host(source: Pipe | Terminal, transcript: Transcript) -> Host:
    """Return the host of the chat's calls, which asks the user on the event loop of the turn."""

    async def elicit(question: Question) -> Answer:
        return _asked(transcript, lambda: fill_form(question, source.prompt))

    async def approve(request: ApprovalRequest) -> Approval:
        return _asked(transcript, lambda: approval(request, source.prompt))

    return Host(on_event=lambda _: None, on_elicit=elicit, on_approve=approve)


def _asked(transcript: Transcript, ask: Callable[[], _T]) -> _T:
    """Ask the user something; Ctrl-C ends the turn."""
    transcript.end()
    # while a turn runs, asyncio takes Ctrl-C; here it must end the question
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return ask()
    except KeyboardInterrupt:
        # passed on to asyncio, which ends the turn
        signal.signal(signal.SIGINT, previous)
        signal.raise_signal(signal.SIGINT)
        raise RunCancelledError from None
    finally:
        signal.signal(signal.SIGINT, previous)


_LOGGER = logging.getLogger("sovl_tools")


class Conversation:
    """A chat with an agent.

    Args:
        agent: answers.
        source: of the user's messages.
        transcript: shows the chat.
        who: the provider.
    """

    def __init__(
        self, agent: Agent, source: Pipe | Terminal, transcript: Transcript, *, who: ProviderChoice
    ) -> None:
        self._agent = agent
        self._who = who
        self._source = source
        self._transcript = transcript
        self._notices: deque[str] = deque()

    def run(self) -> int:
        """Answer line by line until the end; return the number of lines without an answer."""
        failures = 0
        with ExitStack() as stack:
            stack.callback(self._agent.tools.subscribe(self._notice))
            # one loop for all turns: clients of providers keep connections that belong to it
            runner = stack.enter_context(asyncio.Runner())
            if self._source.is_terminal:
                count = counted(len(self._agent.tools), "tool")
                who = f"{self._who.name} {self._who.model}".strip()
                words = "/help lists the commands, Ctrl-D leaves"
                self._transcript.note(f"{count}; {who} answers; {words}")
            while (line := self._source.read()) is not None:
                text = line.strip()
                self._show_notices()
                try:
                    failures += bool(text) and not self._run_line(text, runner)
                except Leave:
                    break
            self._show_notices()
        return failures

    def _run_line(self, text: str, runner: asyncio.Runner) -> bool:
        """Run a command or answer a message; return whether that succeeded."""
        try:
            if not text.startswith("/"):
                runner.run(self._turn(text))
            elif shown := run_command(self._agent, text):
                self._transcript.result(shown)
        except (BrokenPipeError, click.ClickException, Leave):
            raise
        except KeyboardInterrupt:
            # at a terminal Ctrl-C ends the answer, in a pipe the program
            if not self._source.is_terminal:
                raise
            self._transcript.note("stopped")
        except Exception as error:  # the chat continues, whatever a provider's library raises
            _LOGGER.debug("a line failed", exc_info=True)
            self._transcript.problem(self._words(error))
            return False
        finally:
            self._show_notices()
        return True

    async def _turn(self, text: str) -> None:
        async with aclosing(aiter(self._agent.stream(text))) as events:
            async for event in events:
                self._transcript.show(event)
        self._transcript.end()

    def _words(self, error: Exception) -> str:
        """Return an error in a line, with advice if there is some."""
        if isinstance(error, OSError) and error.filename:
            return f"{error.filename!r}: {error.strerror}"
        is_ours = isinstance(error, AgentError | ValueError)
        words = " ".join(f"{'' if is_ours else f'{type(error).__name__}: '}{error}".split())
        if isinstance(error, LengthError):
            return f"{words}; /clear begins a new conversation"
        if isinstance(error, ProviderError) and error.kind == "authentication":
            return f"{words}; set {PROVIDERS[self._who.name].variable}"
        if isinstance(error, ProviderError) and error.retry_after is not None:
            return f"{words}; try again in {error.retry_after:.0f} s"
        return words

    def _notice(self, change: CatalogChange) -> None:
        """Keep a change of the tools until the user's line or the answer has ended."""
        if text := describe_change(self._agent.tools, change):
            self._notices.append(text)

    def _show_notices(self) -> None:
        while self._notices:
            self._transcript.note(self._notices.popleft())


_FOUND = 10


class Leave(Exception):  # noqa: N818 - it is no error
    """The user leaves the chat."""


def run_command(agent: Agent, line: str) -> str:
    """Run the command in a line and return the text to show.

    Raises:
        ValueError, OSError: the command failed.
        Leave: the user leaves the chat.
    """
    name, _, rest = line.partition(" ")
    usage, _, does = _COMMANDS.get(name, ("", "", None))
    argument = rest.strip()
    if does is None:
        hint = did_you_mean(name, _COMMANDS) or "/help lists the commands"
        raise ValueError(f"there's no command {name!r}; {hint}")
    if bool(argument) > bool(usage) or (usage == "FILE" and not argument):
        raise ValueError(f"{name} takes {usage or 'no arguments'}, not {argument!r}")
    return does(agent, argument)


def _tools(agent: Agent, words: str) -> str:
    found = agent.tools.list_tools()
    if words:
        found = [agent.tools[each.tool] for each in agent.tools.search(words, limit=_FOUND)]
        if not found:
            return "no tool has any of these words"
    show_tools([row(tool) for tool in found])
    return ""


def _reload(agent: Agent, _: str) -> str:
    # the listener of reloads reports the change
    return "" if agent.tools.reload() else "no tool has changed"


def _save(agent: Agent, name: str) -> str:
    path = os.path.expanduser(name) or f"chat-{strftime('%Y-%m-%d-%H%M%S')}.json"
    if os.path.lexists(path):
        # a conversation can be replaced, but a typing error must not cost another file
        try:
            parse_messages(json.loads(Path(path).read_bytes()))
        except ValueError as error:
            raise ValueError(f"{path!r} is already there and has no conversation") from error
    agent.save(path)
    return f"{counted(len(agent.messages), 'message')} saved in {path}"


def _load(agent: Agent, name: str) -> str:
    path = os.path.expanduser(name)
    try:
        agent.restore(path)
    except ValueError as error:
        raise ValueError(f"{path!r} can't be loaded: {error}") from error
    return f"{counted(len(agent.messages), 'message')} loaded from {path}"


def _clear(agent: Agent, _: str) -> str:
    agent.messages.clear()
    return "this is a new conversation"


def _help(_: Agent, __: str) -> str:
    heads = {f"{name} {usage}".rstrip(): words for name, (usage, words, _) in _COMMANDS.items()}
    width = max(map(len, heads))
    return "\n".join(f"{head:<{width}}  {words}" for head, words in heads.items())


def _quit(_: Agent, __: str) -> str:
    raise Leave


_COMMANDS: dict[str, tuple[str, str, Callable[[Agent, str], str]]] = {
    "/tools": ("[WORDS]", "list the tools, or find some", _tools),
    "/reload": ("", "reload the tools now", _reload),
    "/save": ("[FILE]", "write the conversation as JSON", _save),
    "/load": ("FILE", "continue a saved conversation", _load),
    "/clear": ("", "begin a new conversation", _clear),
    "/help": ("", "list these commands", _help),
    "/quit": ("", "leave, as Ctrl-D does", _quit),
}
"""The commands: what follows the name, what they do, and the function that does it."""


def describe_change(registry: ToolRegistry, change: CatalogChange) -> str:
    """Return the change of the tools in a line, as ``watch`` words it; "" without changes."""
    named = (change.added, change.updated, change.removed, change.rejected)
    if not any(named):
        return ""
    serving = moment_of(registry, change).serving
    words = "; ".join(f"{word} {names}" for word, names in news(change, serving))
    first = next((str(each) for each in change.diagnostics if each.severity == "error"), "")
    return plain(f"tools: {words}" + (f": {first}" if change.rejected and first else ""))
