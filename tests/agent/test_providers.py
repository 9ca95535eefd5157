"""Who is asked: told by the client, by name or by the environment."""

from __future__ import annotations

import sys
from typing import Any

import anthropic
import openai
import pytest

from sovl_tools import Agent, AgentError
from sovl_tools.agent.providers.choice import PROVIDERS, choose_provider
from sovl_tools.testing import ScriptedServer, says

VARIABLES = [
    each for known in PROVIDERS.values() for each in (known.variable, known.model_variable)
]
OTHERS = ["OPENAI_ADMIN_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in filter(None, [*VARIABLES, *OTHERS]):
        monkeypatch.delenv(name, raising=False)


def _openai(**options: Any) -> openai.OpenAI:
    http = openai.DefaultHttpxClient(verify=False)
    return openai.OpenAI(api_key="any", http_client=http, **options)


CLIENTS = [
    ({}, "openai-responses", "openai-responses"),
    ({"base_url": "http://localhost:11434/v1"}, "openai", "openai"),
    ({"base_url": "https://openrouter.ai/api/v1"}, "openrouter", "openrouter"),
]


@pytest.mark.parametrize(("options", "name", "form"), CLIENTS, ids=lambda each: str(each)[:20])
def test_a_client_of_openai_tells_by_its_server(
    options: dict[str, Any], name: str, form: str
) -> None:
    with _openai(**options) as client:
        found = choose_provider(client)
        assert (found.name, found.format, found.client) == (name, form, client)


def test_a_client_of_anthropic_is_for_messages() -> None:
    http = anthropic.DefaultHttpxClient(verify=False)
    with anthropic.Anthropic(api_key="any", http_client=http) as client:
        assert choose_provider(client).name == "anthropic"


def test_a_client_of_a_subclass_is_known_and_a_stranger_is_not() -> None:
    class Watched(openai.OpenAI):
        pass

    with Watched(api_key="any", http_client=openai.DefaultHttpxClient(verify=False)) as client:
        assert choose_provider(client).name == "openai-responses"
        assert choose_provider(client, provider="openai").name == "openai"
    with pytest.raises(ValueError, match="which provider a object is for can't be told"):
        choose_provider(object())


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("OPENAI_API_KEY", "openai-responses"),
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("OPENROUTER_API_KEY", "openrouter"),
    ],
)
def test_a_key_in_the_environment_chooses(
    variable: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "any")
    found = choose_provider()
    with found.client:
        assert (found.name, found.model) == (name, PROVIDERS[name].model)
    monkeypatch.setenv(PROVIDERS[name].model_variable, "other")
    with choose_provider().client:
        assert choose_provider(provider=name).model == "other"
        assert choose_provider(provider=name, model="mine").model == "mine"


def test_a_server_of_ones_own_needs_no_key() -> None:
    found = choose_provider(base_url="http://localhost:11434/v1", model="llama")
    with found.client as client:
        assert (found.name, client.api_key) == ("openai", "none")


def test_a_server_in_the_environment_knows_chat_completions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
    with choose_provider().client:
        assert choose_provider().name == "openai"
        assert choose_provider(provider="openai-responses").name == "openai-responses"


@pytest.mark.parametrize("name", ["openai", "openai-responses", "anthropic"])
def test_a_provider_without_a_key_says_which_is_wanted(name: str) -> None:
    with pytest.raises(AgentError, match=f"set {PROVIDERS[name].variable}$"):
        Agent(provider=name)


def test_a_provider_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="there's no provider 'antropic'; did you mean"):
        Agent(provider="antropic")
    with pytest.raises(ValueError, match="there's no provider 'x'; there are openai-responses, op"):
        Agent(provider="x")


@pytest.mark.parametrize(("name", "package"), [("openai", "openai"), ("anthropic", "anthropic")])
def test_a_missing_sdk_says_what_to_install(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    words = f"provider '{name}' needs the package {package}: install sovl-tools\\[{package}\\]"
    with pytest.raises(ImportError, match=words):
        Agent(provider=name)


def test_a_provider_that_is_named_is_asked_with_a_client_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ScriptedServer([says("Hello.")]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        agent = Agent(provider="anthropic")
        assert agent.chat_sync("Hello") == "Hello."
        assert server.requests[0].body["model"] == PROVIDERS["anthropic"].model
        agent.client.close()


def test_a_client_of_another_provider_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^provider 'openai' needs another client than object: "):
        choose_provider(object(), provider="openai")
