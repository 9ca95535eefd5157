"""The choice of the provider: by client, by name, or by the environment."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple, cast

from sovl_tools.agent.answer import Adapter
from sovl_tools.agent.errors import AgentError
from sovl_tools.model.suggestion import did_you_mean


class Provider(NamedTuple):
    """A provider that there is.

    Attributes:
        adapter: the module that sends its requests.
        package: the SDK, which is also the name of the extra; None for none.
        client: the class of the client in it.
        variable: the environment variable with its key.
        model: the default model.
        model_variable: of the environment, where someone may say otherwise.
        base_url: of a server that isn't one of the SDK's defaults.
        format: the format of definitions, if it is not the adapter's own.
    """

    adapter: str
    package: str | None = None
    client: str = ""
    variable: str = ""
    model: str = ""
    model_variable: str = ""
    base_url: str | None = None
    format: str | None = None


_CHAT = "sovl_tools.agent.providers.chat_completions"
_OPENAI = ("openai", "OpenAI", "OPENAI_API_KEY", "gpt-5.5", "OPENAI_MODEL")
_OPENROUTER = ("openai", "OpenAI", "OPENROUTER_API_KEY", "openrouter/auto", "OPENROUTER_MODEL")
_ANTHROPIC = (
    "anthropic", "Anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-5-5", "ANTHROPIC_MODEL",
)  # fmt: skip

PROVIDERS = {
    "openai-responses": Provider("sovl_tools.agent.providers.responses", *_OPENAI),
    "openai": Provider(_CHAT, *_OPENAI),
    "anthropic": Provider("sovl_tools.agent.providers.anthropic", *_ANTHROPIC),
    "openrouter": Provider(_CHAT, *_OPENROUTER, "https://openrouter.ai/api/v1", "openrouter"),
    "local": Provider("sovl_tools.agent.providers.local"),
}
"""Providers by name, in the order of their keys in the environment."""


class ProviderChoice(NamedTuple):
    """The provider, its client and the model.

    Attributes:
        name: of the provider.
        adapter: the module that sends its requests.
        client: with what; None for ``local``.
        model: the model's name.
        format: the format of the definitions.
    """

    name: str
    adapter: Adapter
    client: Any
    model: str
    format: str


def choose_provider(
    client: Any = None,
    *,
    provider: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
) -> ProviderChoice:
    """Return the provider, its client and the model.

    Raises:
        ValueError: the provider is unknown, or the client doesn't tell it.
        TypeError: the client isn't one of the provider's.
        ImportError: its SDK is not installed.
        AgentError: its client can't be made, for the lack of a key for example.
    """
    name = provider or _provider_of_client(client)
    # With a base_url and no name it is OpenAI's API that other servers are compatible with.
    if name is None and base_url is None:
        keys = ((each, known.variable) for each, known in PROVIDERS.items())
        name = next((each for each, key in keys if key and os.environ.get(key)), "local")
    name = name or "openai"
    if name not in PROVIDERS:
        hint = did_you_mean(name, PROVIDERS) or f"there are {', '.join(PROVIDERS)}"
        raise ValueError(f"there's no provider {name!r}; {hint}")
    known = PROVIDERS[name]
    if client is None and known.package is not None:
        client = _make_client(name, known, base_url)
        # OPENAI_BASE_URL can have sent the new client elsewhere, where Responses is unknown.
        name = name if provider else _provider_of_client(client) or name
        known = PROVIDERS[name]
    adapter = cast("Adapter", import_module(known.adapter))
    try:  # now rather than in the middle of the first turn
        adapter.method(client)
    except AttributeError as error:
        words = f"provider {name!r} needs another client than {type(client).__name__}"
        raise TypeError(f"{words}: {error}") from error
    asked = model or os.environ.get(known.model_variable) or known.model
    return ProviderChoice(name, adapter, client, asked, known.format or adapter.FORMAT)


def _provider_of_client(client: Any) -> str | None:
    """Return the provider of a client; servers other than OpenAI's support Chat Completions."""
    if client is None:
        return None
    # a mock has the class of its ``spec`` only as ``__class__``
    kinds = {*type(client).__mro__, *getattr(client.__class__, "__mro__", ())}
    packages = {kind.__module__.split(".")[0] for kind in kinds}
    if "anthropic" in packages:
        return "anthropic"
    host = getattr(client, "base_url", "") if "openai" in packages else None
    if host is None or "unittest" in packages:
        return _fitting(client)
    if "openrouter.ai" in str(host):
        return "openrouter"
    return "openai-responses" if "api.openai.com" in str(host) else "openai"


def _fitting(client: Any) -> str:
    """Return the first provider that supports the client, or the one a mock names.

    Raises:
        ValueError: there isn't one.
    """
    told = dir(client)  # of a mock, the attributes that a test has set
    fitting = []
    for name in _ROOTS:
        with suppress(AttributeError):
            import_module(PROVIDERS[name].adapter).method(client)
            fitting.append(name)
    if not fitting:
        kind = type(client).__qualname__
        raise ValueError(f"which provider a {kind} is for can't be told; say provider=…")
    return next((name for name in fitting if _ROOTS[name] in told), fitting[0])


_ROOTS = {"openai-responses": "responses", "openai": "chat", "anthropic": "messages"}
"""The attribute of a client that sends each provider's requests."""


def _make_client(name: str, known: Provider, base_url: str | None) -> Any:
    package = str(known.package)
    try:
        module = import_module(package)
    except ImportError as error:
        words = f"provider {name!r} needs the package {package}"
        raise ImportError(f"{words}: install sovl-tools[{package}]") from error
    keys = (known.variable, *_OTHER_KEYS.get(package, ()))
    if base_url is None and not any(map(os.environ.get, keys)):
        raise AgentError(f"provider {name!r} needs a key; set {known.variable}")
    options: dict[str, Any] = {}
    if package == "openai":
        # the SDK needs a key, though the user's own server may not
        options["api_key"] = os.environ.get(known.variable) or "none"
    if address := base_url or known.base_url:
        options["base_url"] = address
    return getattr(module, known.client)(**options)


_OTHER_KEYS = {"anthropic": ("ANTHROPIC_AUTH_TOKEN",)}
"""Variables of the environment with which an SDK needs no other key."""
