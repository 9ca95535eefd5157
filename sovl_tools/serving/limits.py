"""What a server bears unless somebody decides; needs no extra, so that commands can quote it."""

from __future__ import annotations

from typing import Final

from sovl_tools.formats.providers import OPENAI

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""How long a request may be."""

MAX_CONCURRENCY: Final = 100
"""How many requests may be under way at a time."""

MOST_REPORTS: Final = 1_000
"""How many reports of a call wait for a client that reads slowly; then the oldest are left out."""

PROMPT: Final = 0.5
"""How long an answer waits for a call that says nothing, before its stream begins, in seconds."""

PING: Final = 15.0
"""How often a silent stream says that it is alive, in seconds; proxies close others."""

SHUTDOWN_TIMEOUT: Final = 10.0
"""How long calls may take to end after the first signal, in seconds."""

MOST_TOOLS: Final = OPENAI.tools
"""How many tools are offered one by one: what most clients' models take."""

MOST_TOKENS: Final = 25_000
"""How many tokens their definitions may take, by our estimate."""
