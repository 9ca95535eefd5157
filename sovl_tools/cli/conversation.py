"""The loop of a chat: what is said, what is answered, and what becomes of the tools meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterator
from contextlib import aclosing, contextmanager

import click

from sovl_tools.agent.agent import Agent
from sovl_tools.agent.errors import AgentError, LengthError, ProviderError
from sovl_tools.agent.providers.choice import PROVIDERS, ProviderChoice
from sovl_tools.cli.lines import Lines
from sovl_tools.cli.slash import Leave, Slash, SlashError, notice
from sovl_tools.cli.transcript import Transcript
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.reporting.outcome import counted

_LOGGER = logging.getLogger("sovl_tools")
_ADVICE = {
    "rate_limit": "try again later",
    "overloaded": "try again later",
    "timeout": "try again",
    "connection": "look at the network, or at --base-url",
}
"""What can be done about an error of a provider, by its kind."""


class Conversation:
    """A chat with an agent.

    Args:
        agent: who answers.
        source: of what the user says.
        transcript: shows it all.
        who: which provider it is.
    """

    def __init__(
        self, agent: Agent, source: Lines, transcript: Transcript, *, who: ProviderChoice
    ) -> None:
        self._agent = agent
        self._who = who
        self._source = source
        self._transcript = transcript
        self._slash = Slash(agent)
        self._notices: deque[str] = deque()

    def run(self) -> int:
        """Answer line by line until the end; return how many lines got no answer."""
        failures = 0
        with self._noticing(), asyncio.Runner() as runner:
            self._greet()
            while (line := self._source.read()) is not None:
                text = line.strip()
                self._tell_notices()
                try:
                    failures += bool(text) and not self._is_done(text, runner)
                except Leave:
                    break
            self._tell_notices()
        return failures

    def _greet(self) -> None:
        if self._source.is_terminal:
            count = len(self._agent.tools)
            who = f"{self._who.name} {self._who.model}".strip()
            words = f"{counted(count, 'tool')}; {who} answers"
            self._transcript.note(f"{words}; /help lists the commands, Ctrl-D leaves")

    def _is_done(self, text: str, runner: asyncio.Runner) -> bool:
        """Do what a line says; return whether that succeeded."""
        if not text.startswith("/"):
            return self._is_answered(text, runner)
        try:
            shown = self._slash.done(text)
            if shown:
                self._transcript.result(shown)
        except SlashError as error:
            self._transcript.problem(str(error))
            return False
        finally:
            self._tell_notices()
        return True

    def _is_answered(self, text: str, runner: asyncio.Runner) -> bool:
        try:
            runner.run(self._turn(text))
        except (BrokenPipeError, click.ClickException):
            raise
        except KeyboardInterrupt:
            if not self._source.is_terminal:
                raise
            self._transcript.note("stopped")
        except Exception as error:
            _LOGGER.debug("a turn failed", exc_info=True)
            self._transcript.problem(self._told(error))
            return False
        finally:
            self._tell_notices()
        return True

    async def _turn(self, text: str) -> None:
        async with aclosing(aiter(self._agent.stream(text))) as events:
            async for event in events:
                self._transcript.show(event)
        self._transcript.end()

    def _told(self, error: Exception) -> str:
        """Return what went wrong in a line, and what can be done."""
        kind = "" if isinstance(error, AgentError) else f"{type(error).__name__}: "
        words = " ".join(f"{kind}{error}".split())
        advice = self._advice(error)
        return f"{words}; {advice}" if advice else words

    def _advice(self, error: Exception) -> str:
        if isinstance(error, LengthError):
            return "/clear begins a new conversation"
        if not isinstance(error, ProviderError):
            return ""
        if error.kind == "authentication":
            return f"set {PROVIDERS[self._who.name].variable}"
        if error.retry_after is not None:
            return f"try again in {error.retry_after:.0f} s"
        return _ADVICE.get(error.kind, "")

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """Tell what becomes of the tools."""
        end = self._agent.tools.subscribe(self._notice)
        try:
            yield
        finally:
            end()

    def _notice(self, change: CatalogChange) -> None:
        text = notice(change, frozenset(tool.name for tool in self._agent.tools))
        is_told = bool(text) and not self._transcript.is_quiet
        if is_told and not self._source.interject(text):
            self._notices.append(text)

    def _tell_notices(self) -> None:
        while self._notices:
            self._transcript.note(self._notices.popleft())
