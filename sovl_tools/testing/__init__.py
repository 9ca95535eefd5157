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

from sovl_tools.testing.script import (
    Call,
    Pause,
    Reply,
    Request,
    Usage,
    calls,
    drops,
    fails,
    holds,
    interrupts,
    refuses,
    says,
)
from sovl_tools.testing.server import ScriptedServer

__all__ = (
    "Call", "Pause", "Reply", "Request", "ScriptedServer", "Usage",
    "calls", "drops", "fails", "holds", "interrupts", "refuses", "says",
)  # fmt: skip
