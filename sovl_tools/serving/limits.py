"""Limits and defaults of servers; needs no extra, so that commands can quote them."""

from __future__ import annotations

from typing import Final

from sovl_tools.formats.providers import OPENAI

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""The maximum size of a request."""

MAX_CONTAINERS: Final = 100_000
"""The maximum number of arrays and objects in a request; each takes 100 to 200 bytes of memory."""

MAX_CONCURRENCY: Final = 100
"""The maximum number of calls at a time."""

MOST_REPORTS: Final = 1_000
"""The maximum number of waiting reports of a call; beyond it the oldest are dropped."""

PROMPT: Final = 0.5
"""Seconds until the stream of a call starts, if the call reports nothing."""

PING: Final = 15.0
"""Seconds between the comments in a silent stream, which proxies would close."""

SHUTDOWN_TIMEOUT: Final = 10.0
"""Seconds that calls must finish after the first signal."""

MOST_TOOLS: Final = OPENAI.tools
"""The maximum number of tools that are offered one by one: the limit of most models."""

MOST_TOKENS: Final = 25_000
"""The maximum number of tokens of their definitions, by our estimate."""
