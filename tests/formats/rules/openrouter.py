"""OpenRouter: OpenAI's tools, passed on to whatever provider serves the model."""

from __future__ import annotations

from typing import Any

from tests.formats.rules.openai import problems_of_openai


def problems_of_openrouter(definition: Any, *, strict: bool) -> list[str]:
    """Return what OpenRouter, or a provider behind it, rejects in a tool."""
    return problems_of_openai(definition, strict=strict)
