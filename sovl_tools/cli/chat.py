"""``sovl-tools chat``."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

import click

from sovl_tools.agent.agent import Agent
from sovl_tools.agent.errors import AgentError
from sovl_tools.agent.providers.choice import PROVIDERS, ProviderChoice, choose_provider
from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    entry_points_option,
    is_quiet,
    settings,
    tools_option,
)
from sovl_tools.cli.conversation import Conversation
from sovl_tools.cli.lines import Lines, lines
from sovl_tools.cli.loaded import all_tools
from sovl_tools.cli.slash import NAMES
from sovl_tools.cli.transcript import Transcript
from sovl_tools.model.call import ToolCall

EXAMPLES = """\b
Examples:
  sovl-tools chat
  sovl-tools chat --provider anthropic --system "Answer in one sentence."
  sovl-tools chat --base-url http://localhost:11434/v1 --model qwen3
  echo "example_tool number1=5 number2=3" | sovl-tools chat --provider local

Keys are read from OPENAI_API_KEY, ANTHROPIC_API_KEY and OPENROUTER_API_KEY. The provider local
needs none. In the chat, /help lists its commands; Ctrl-C stops an answer, Ctrl-D leaves."""
EXITS = {
    1: "A line from a pipe got no answer.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@tools_option
@entry_points_option
@click.option(
    "--provider",
    type=click.Choice(list(PROVIDERS)),
    help="Who answers. Default: the one whose key is set, or local.",
)
@click.option("--model", metavar="NAME", help="Which model of the provider.")
@click.option(
    "--base-url", metavar="URL", help="A server that is compatible with the provider's API."
)
@click.option("--system", default="", metavar="TEXT", help="What the model is told first.")
@click.pass_context
def chat(
    ctx: click.Context,
    *,
    tools: tuple[str, ...],
    entry_points: bool,
    provider: str | None,
    model: str | None,
    base_url: str | None,
    system: str,
) -> None:
    """Talk to a model that calls the tools, or to a stand-in that needs no key.

    Answers go to the standard output; calls, results and notices to the error output. Tools are
    loaded anew as they are edited. Where the input is no terminal, each line of it is said.
    """
    who = _chosen(provider=provider, model=model, base_url=base_url)
    registry = all_tools(tools, entry_points=entry_points)
    source = lines(lambda: [*NAMES, *(tool.name for tool in registry)])
    with _closed(who.client):
        transcript = Transcript(is_quiet=is_quiet())
        agent = Agent(
            who.client,
            tools=registry,
            provider=who.name,
            model=who.model,
            system=system,
            approve=_approval(source, transcript),
        )
        conversation = Conversation(agent, source, transcript, who=who)
        with registry.watch(libraries=_libraries(tools)):
            failures = conversation.run()
    if failures and not source.is_terminal:
        ctx.exit(FINDINGS)


def _chosen(**options: Any) -> ProviderChoice:
    """Return who is asked.

    Raises:
        Misuse: nobody can be; the message says what it takes.
    """
    try:
        return choose_provider(**options)
    except (AgentError, ImportError, ValueError) as error:
        raise Misuse(" ".join(str(error).split())) from error


def _closed(client: Any) -> AbstractContextManager[object]:
    return nullcontext() if client is None else closing(client)


def _libraries(tools: Sequence[str]) -> Sequence[str]:
    return settings(tools, needs_tools=False).watch


def _approval(source: Lines, transcript: Transcript) -> Any:
    """Return what asks the user before a destructive tool runs."""

    async def approve(call: ToolCall) -> bool | str:
        transcript.end()
        question = transcript.question(call.name, call.arguments)
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return source.confirmed(question)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, previous)
            signal.raise_signal(signal.SIGINT)
            return "the user broke off"
        finally:
            signal.signal(signal.SIGINT, previous)

    return approve
