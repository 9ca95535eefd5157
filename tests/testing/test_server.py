"""The server itself: scripts, their ends, and what is checked when the block ends."""

from __future__ import annotations

from typing import Any

import pytest

from sovl_tools.testing import Reply, Request, ScriptedServer, fails, says
from sovl_tools.testing.server import Part
from tests.tables import check_each
from tests.testing.provider_clients import PROVIDERS, ask, client_of, create, errors_of

PROVIDER = pytest.mark.parametrize("provider", PROVIDERS)


def test_each_provider_may_have_its_own_script() -> None:
    script: dict[str, Part] = {"anthropic": [says("A")], "openai": lambda _: says("O")}
    with ScriptedServer(script) as server:
        assert ask("openai", server).text == "O"
        assert ask("anthropic", server).text == "A"
        assert ask("openai", server).text == "O"


@PROVIDER
def test_a_function_that_fails_is_heard_of(provider: str) -> None:
    def failing(request: Request) -> Reply:
        raise ValueError("oh dear")

    server = ScriptedServer(failing)
    with (
        pytest.raises(AssertionError, match="the server failed: ValueError"),
        server,
        pytest.raises(errors_of(provider).InternalServerError, match="oh dear"),
    ):
        ask(provider, server)


@PROVIDER
def test_a_script_that_has_run_out_says_so_and_is_not_tried_again(provider: str) -> None:
    server = ScriptedServer([])
    with (
        pytest.raises(AssertionError, match="the script has run out"),
        server,
        client_of(provider, server, retries=3) as client,
        pytest.raises(errors_of(provider).InternalServerError, match="has run out"),
    ):
        create(provider, client)
    assert len(server.requests) == 1


@check_each("script", [[says("1"), fails(503)], {"openai": [says("1"), fails(503)]}])
def test_replies_that_are_not_used_are_told_of(script: Any) -> None:
    with (
        pytest.raises(AssertionError, match=r"1 of the replies .*status=503"),
        ScriptedServer(script) as server,
    ):
        ask("openai", server)


@PROVIDER
def test_requests_that_were_refused_are_told_of(provider: str) -> None:
    with (
        pytest.raises(AssertionError, match=r"request 1 to /v1/.* was rejected: .*odd"),
        ScriptedServer([]) as server,
        client_of(provider, server) as client,
        pytest.raises(errors_of(provider).BadRequestError),
    ):
        create(provider, client, extra_body={"odd": 1})


def test_a_block_that_raises_is_not_checked() -> None:
    with pytest.raises(KeyError), ScriptedServer([says("Hi")]):
        raise KeyError
