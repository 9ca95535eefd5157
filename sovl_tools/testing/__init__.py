"""A scripted server in place of a model, for tests of agents without network or key.

It answers like OpenAI's Responses and Chat Completions and like Anthropic's Messages, plain and
streaming, to the providers' own clients, and rejects the requests that they would reject::

    from sovl_tools.testing import ScriptedServer, calls, says

    with ScriptedServer([calls(("add", {"a": 1, "b": 2})), says("That makes 3.")]) as server:
        client = openai.OpenAI(base_url=server.openai_url, api_key="any")

A reply is the model's next action: it ``says`` text, ``calls`` tools or ``refuses``. The server
``fails`` with an HTTP error, or, around another reply, ``drops`` the connection, ``interrupts``
the stream with an error or ``holds`` it until the test has acted.
"""

from importlib import import_module

_OF_SCRIPT = (
    "Call", "Pause", "Reply", "Request", "Usage",
    "calls", "drops", "fails", "holds", "interrupts", "refuses", "says",
)  # fmt: skip
_PUBLIC = {
    **dict.fromkeys(_OF_SCRIPT, "sovl_tools.testing.script"),
    "ScriptedServer": "sovl_tools.testing.server",
}


def __getattr__(name: str) -> object:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
