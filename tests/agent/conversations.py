"""A talk between an agent and a scripted server, by every way in which the two can be joined."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing, closing, contextmanager
from typing import Any, NamedTuple, TypeVar

import anthropic
import openai
import pytest

from sovl_tools import Agent
from sovl_tools.agent.events import Event, Reply, TextDelta, TurnFinished
from sovl_tools.dispatch.background import run_in_background
from sovl_tools.testing import ScriptedServer

PROVIDERS = ("openai", "openai-responses", "anthropic")

_T = TypeVar("_T")


class Way(NamedTuple):
    """How an agent asks: which API, with which client, plain or streaming, from which world."""

    provider: str
    is_async: bool = True
    is_streaming: bool = False
    is_driven_async: bool = True

    def __str__(self) -> str:
        client = "async" if self.is_async else "sync"
        crossed = "" if self.is_driven_async == self.is_async else "-crossed"
        return f"{self.provider}-{client}{crossed}-{'streaming' if self.is_streaming else 'plain'}"


FEW = tuple(Way(provider, world, world, world) for provider in PROVIDERS for world in (False, True))
WAYS = (
    *FEW,
    Way("openai", is_async=False, is_streaming=True, is_driven_async=False),
    Way("openai", is_async=True, is_streaming=False, is_driven_async=True),
)
"""Every API, and every kind of client and answer: what drives a turn knows no API."""

CROSSED = tuple(way._replace(is_driven_async=not way.is_async) for way in WAYS)

MEASURED = {FEW[0], *(way for way in FEW if way.is_streaming), *(Way(each) for each in PROVIDERS)}
"""The ways in which all is gone through that there is to cover."""


def _each(ways: Iterable[Way]) -> pytest.MarkDecorator:
    unmeasured = {way: () if way in MEASURED else (pytest.mark.unmeasured,) for way in ways}
    rows = [pytest.param(way, id=str(way), marks=marks) for way, marks in unmeasured.items()]
    return pytest.mark.parametrize("way", rows)


each_way = _each(WAYS)
each_crossed = _each(CROSSED)
each_streaming = _each(way for way in WAYS if way.is_streaming)
each_api = _each(FEW)
each_provider = _each(Way(each) for each in PROVIDERS)


def client_of(provider: str, server: ScriptedServer, *, is_async: bool, retries: int = 0) -> Any:
    """Return a client; without certificates it is made in a millisecond."""
    package: Any = anthropic if provider == "anthropic" else openai
    kind = "Async" if is_async else ""
    name = "Anthropic" if provider == "anthropic" else "OpenAI"
    return getattr(package, f"{kind}{name}")(
        base_url=server.anthropic_url if provider == "anthropic" else server.openai_url,
        api_key="any",
        max_retries=retries,
        http_client=getattr(package, f"Default{kind}HttpxClient")(verify=False),
    )


class Talk:
    """An agent that talks to a server; ``run`` awaits what the test must await."""

    def __init__(
        self, way: Way, server: ScriptedServer, agent: Agent, run: Callable[..., Any]
    ) -> None:
        self.way = way
        self.server = server
        self.agent = agent
        self.run = run

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.server.requests]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.agent.messages

    def results(self) -> list[Any]:
        """Return the contents of all results of tools in the conversation."""
        return [each["content"] for each in self.messages if each["role"] == "tool"]

    def say(self, content: Any, **wanted: Any) -> Reply:
        """Say something and return the answer, which a stream must tell in its events too."""
        if not self.way.is_streaming:
            if not self.way.is_driven_async:
                return self.agent.chat_sync(content, **wanted)
            reply: Reply = self.run(self.agent.chat(content, **wanted))
            return reply
        last = self.events(content, **wanted)[-1]
        assert isinstance(last, TurnFinished)
        return last.reply

    def events(self, content: Any, **wanted: Any) -> list[Event]:
        """Say something and return all that happens."""
        found: list[Event] = []
        self.each(content, found.append, **wanted)
        return found

    def each(self, content: Any, heard: Callable[[Event], object], **wanted: Any) -> None:
        """Say something and hand over each event at its time."""
        stream = self.agent.stream(content, **wanted)
        if self.way.is_driven_async:
            self.run(_each_event(stream, heard))
            return
        with closing(iter(stream)) as events:  # type: ignore[type-var]  # it is a generator
            for event in events:
                heard(event)


async def _each_event(stream: Any, heard: Callable[[Event], object]) -> None:
    async with aclosing(aiter(stream)) as events:
        async for event in events:
            heard(event)


@contextmanager
def talk(
    way: Way,
    script: Any,
    *,
    kind: type[Agent] = Agent,
    strictly: bool = True,
    retries: int = 0,
    **options: Any,
) -> Iterator[Talk]:
    """Let an agent talk to a server with a script; the end of the block checks the server.

    Args:
        way: how.
        script: the server's.
        kind: the agent's class.
        strictly: whether the server checks at the end.
        retries: how often the client tries again.
        options: of the agent.
    """
    with ScriptedServer(script, strict=strictly) as server, asyncio.Runner() as runner:
        client = client_of(way.provider, server, is_async=way.is_async, retries=retries)
        run = runner.run if way.is_driven_async else _in_background
        try:
            agent = kind(client, **{"model": "m", "provider": way.provider, **options})
            yield Talk(way, server, agent, run)
        finally:
            if way.is_async:
                run(client.close())
            else:
                client.close()


def _in_background(work: Any) -> Any:
    return run_in_background(work)


def said(events: Iterable[Event]) -> str:
    """Return the text of all deltas."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def of_kind(events: Iterable[Event], kind: type[_T]) -> list[_T]:
    """Return the events of a kind."""
    return [event for event in events if isinstance(event, kind)]
