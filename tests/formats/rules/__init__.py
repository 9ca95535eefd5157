"""What each provider's documentation says about tools, to hold definitions against.

Each function returns what a provider rejects, one sentence each; an acceptable definition has
none. They were written from the providers' pages, without a check what makes the definitions.
"""

from __future__ import annotations

from tests.formats.rules.anthropic import problems_of_anthropic, problems_of_anthropic_request
from tests.formats.rules.gemini import problems_of_gemini
from tests.formats.rules.mcp import problems_of_mcp
from tests.formats.rules.openai import problems_of_openai, problems_of_openai_responses
from tests.formats.rules.openrouter import problems_of_openrouter
from tests.formats.rules.others import (
    problems_of_json_schema,
    problems_of_openapi,
    problems_of_prompt,
)

__all__ = [
    "problems_of_anthropic",
    "problems_of_anthropic_request",
    "problems_of_gemini",
    "problems_of_json_schema",
    "problems_of_mcp",
    "problems_of_openai",
    "problems_of_openai_responses",
    "problems_of_openapi",
    "problems_of_openrouter",
    "problems_of_prompt",
]
