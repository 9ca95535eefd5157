"""The formats that there are."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from sovl_tools.formats.shape import Format
from sovl_tools.model.suggestion import did_you_mean

FORMATS = {
    "json-schema": "sovl_tools.formats.json_schema",
    "openai": "sovl_tools.formats.openai",
    "openai-responses": "sovl_tools.formats.openai_responses",
    "anthropic": "sovl_tools.formats.anthropic",
    "gemini": "sovl_tools.formats.gemini",
    "openrouter": "sovl_tools.formats.openrouter",
    "mcp": "sovl_tools.formats.mcp",
    "openapi": "sovl_tools.formats.openapi",
    "prompt": "sovl_tools.formats.prompt",
}
"""The module of each format, imported when it is first used."""

STRICT = frozenset({"openai", "openai-responses", "anthropic", "openrouter"})
"""Formats of which there is a strict form."""


def format_of(name: str) -> Format:
    """Return a format by its name.

    Raises:
        ValueError: there is no such format.
    """
    if name not in FORMATS:
        plain = name.removesuffix("-strict")
        if plain in STRICT:
            raise ValueError(f"there is no format {name!r}; ask for {plain!r} and strict")
        hint = did_you_mean(name, FORMATS) or f"there are {', '.join(FORMATS)}"
        raise ValueError(f"there is no format {name!r}; {hint}")
    return cast("Format", import_module(FORMATS[name]))
