"""The server itself: scripts, their ends, and what is checked when the block ends."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import openai
import pytest

import sovl_tools.testing as public
from sovl_tools.testing import Reply, Request, ScriptedServer, fails, holds, says
from sovl_tools.testing.server import Part
from tests.tables import check_each
from tests.testing.provider_clients import PROVIDERS, ask, client_of, create, errors_of

PROVIDER = pytest.mark.parametrize("provider", PROVIDERS)


def test_one_script_serves_all_endpoints_in_order() -> None:
    with ScriptedServer([says("1"), says("2"), says("3")]) as server:
        assert [ask(provider, server).text for provider in PROVIDERS] == ["1", "2", "3"]


def test_each_provider_may_have_its_own_script() -> None:
    script: dict[str, Part] = {"anthropic": [says("A")], "openai": lambda _: says("O")}
    with ScriptedServer(script) as server:
        assert ask("openai", server).text == "O"
        assert ask("anthropic", server).text == "A"
        assert ask("openai", server).text == "O"


def test_a_function_may_answer_by_what_was_asked() -> None:
    def echo(request: Request) -> Reply:
        return says(request.body["messages"][-1]["content"])

    with ScriptedServer(echo) as server:
        assert ask("openai", server, messages=[{"role": "user", "content": "Ho"}]).text == "Ho"


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


def test_a_script_for_another_provider_has_run_out_at_once() -> None:
    with (
        ScriptedServer({"anthropic": [says("A")]}, strict=False) as server,
        pytest.raises(openai.InternalServerError, match="no reply is left for request 1"),
    ):
        ask("openai", server)


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


def test_a_refused_request_uses_up_no_reply() -> None:
    with ScriptedServer([says("Hi")], strict=False) as server:
        with client_of("openai", server) as client, pytest.raises(openai.BadRequestError):
            create("openai", client, extra_body={"odd": 1})
        assert ask("openai", server).text == "Hi"


def test_a_block_that_raises_is_not_checked() -> None:
    with pytest.raises(KeyError), ScriptedServer([says("Hi")]):
        raise KeyError


def test_a_pause_that_fails_is_heard_of() -> None:
    def failing() -> None:
        raise ValueError("oh dear")

    with (
        pytest.raises(AssertionError, match="oh dear"),
        ScriptedServer([holds(says("Hi"), failing)]) as server,
        pytest.raises(openai.APIConnectionError),
    ):
        ask("openai", server)


def test_a_server_has_no_address_before_its_block() -> None:
    with pytest.raises(RuntimeError, match="only within its with block"):
        _ = ScriptedServer([]).url


def test_two_servers_do_not_meet() -> None:
    with ScriptedServer([says("1")]) as one, ScriptedServer([says("2")]) as two:
        assert [ask("openai", two).text, ask("openai", one).text] == ["2", "1"]


def test_a_reply_shows_what_it_says_and_no_more() -> None:
    assert repr(says("Hi")) == "Reply(text='Hi')"


def test_public_names_are_there_and_no_others() -> None:
    names = [name for name in dir(public) if not name.startswith("_")]
    assert {"ScriptedServer", "says", "calls", "Pause"} <= {*names}
    assert all(hasattr(public, name) for name in names)
    with pytest.raises(AttributeError, match="has no attribute 'shouts'"):
        public.shouts  # type: ignore[attr-defined]  # noqa: B018


def test_no_client_is_imported() -> None:
    code = (
        "import sys, sovl_tools.testing.server;"
        "print({'openai', 'anthropic', 'pydantic', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
