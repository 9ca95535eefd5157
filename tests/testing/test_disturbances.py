"""Errors, lost connections and pauses, as the providers' own clients meet them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from sovl_tools.testing import (
    Pause,
    ScriptedServer,
    drops,
    fails,
    holds,
    interrupts,
    says,
)
from tests.patience import PATIENCE
from tests.tables import check_each
from tests.testing.provider_clients import (
    PROVIDERS,
    ask,
    ask_async,
    client_of,
    create,
    errors_of,
)

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["plain", "streaming"])
PROVIDER = pytest.mark.parametrize("provider", PROVIDERS)


@PROVIDER
@STREAM
@check_each(
    ("status", "name"),
    [
        (400, "BadRequestError"),
        (401, "AuthenticationError"),
        (403, "PermissionDeniedError"),
        (404, "NotFoundError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
        (529, "APIStatusError"),
    ],
)
def test_a_failure_is_the_clients_error(
    provider: str, *, stream: bool, status: int, name: str
) -> None:
    with (
        ScriptedServer([fails(status, "not now", headers={"retry-after": "7"})]) as server,
        pytest.raises(getattr(errors_of(provider), name)) as caught,
    ):
        ask(provider, server, stream=stream)
    assert caught.value.status_code == status
    assert caught.value.response.headers["retry-after"] == "7"
    assert "not now" in str(caught.value)


@PROVIDER
@check_each("after", [0, 1, 3])
def test_a_connection_drops_after_so_many_events(provider: str, after: int) -> None:
    with ScriptedServer([drops(says("Hello there"), after=after)]) as server:
        met = events_until_failure(provider, server)
    # The SDK keeps pings to itself.
    assert met == after - (provider == "anthropic" and after > 1)


def events_until_failure(provider: str, server: ScriptedServer) -> int:
    count = 0
    with client_of(provider, server) as client, create(provider, client, stream=True) as events:
        try:
            for _ in events:
                count += 1
        except Exception:  # noqa: BLE001 - the clients let errors of HTTP through as they are
            return count
    return count


@PROVIDER
def test_a_stream_breaks_off_with_an_error(provider: str) -> None:
    with (
        ScriptedServer([interrupts(says("Hello there"), after=3, message="worn out")]) as server,
        client_of(provider, server) as client,
        create(provider, client, stream=True) as events,
    ):
        if provider == "openai-responses":
            told = list(events)
            assert [told[-1].type, told[-1].message] == ["error", "worn out"]
            assert [event.sequence_number for event in told] == [0, 1, 2, 3]
        else:
            with pytest.raises(errors_of(provider).APIError, match="worn out"):
                list(events)


def test_responses_may_tell_of_a_failure_by_its_status() -> None:
    broken = interrupts(says("Hello"), after=2, message="worn out", event="response.failed")
    with (
        ScriptedServer([broken, broken]) as server,
        client_of("openai-responses", server) as client,
    ):
        answer = create("openai-responses", client)
        with create("openai-responses", client, stream=True) as events:
            last = list(events)[-1]
    assert (answer.status, answer.error.message) == ("failed", "worn out")
    assert (last.type, last.response.status) == ("response.failed", "failed")


@PROVIDER
@STREAM
def test_the_server_stands_still_until_the_pause_ends(provider: str, *, stream: bool) -> None:
    pause = Pause()
    with ScriptedServer([holds(says("Hello"), pause)]) as server:
        heard: list[Any] = []
        asking = threading.Thread(
            target=lambda: heard.append(ask(provider, server, stream=stream).text)
        )
        asking.start()
        assert pause.reached.wait(PATIENCE)
        assert not heard
        pause.end()
        asking.join(PATIENCE)
    assert heard == ["Hello"]
    assert not pause.abandoned.is_set()


@PROVIDER
@STREAM
async def test_the_server_hears_of_a_client_that_gives_up(provider: str, *, stream: bool) -> None:
    pause = Pause()
    with ScriptedServer([holds(says("Hello"), pause, after=2 * stream)]) as server:
        asking = asyncio.create_task(ask_async(provider, server, stream=stream))
        assert await asyncio.to_thread(pause.reached.wait, PATIENCE)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(pause.abandoned.wait, PATIENCE)


@STREAM
async def test_the_block_ends_with_answers_still_held(*, stream: bool) -> None:
    pauses = [Pause() for _ in PROVIDERS]
    script = {
        provider: [holds(says("Hello"), pause, after=3 * stream)]
        for provider, pause in zip(PROVIDERS, pauses, strict=True)
    }
    with ScriptedServer(script) as server:
        asking = [
            asyncio.create_task(ask_async(provider, server, stream=stream))
            for provider in PROVIDERS
        ]
        for pause in pauses:
            assert await asyncio.to_thread(pause.reached.wait, PATIENCE)
    met = await asyncio.gather(*asking, return_exceptions=True)
    assert all(isinstance(each, Exception) for each in met)
