"""Formats: their table, a tool in one, and the length of a definition."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from sovl_tools.model.caller import check_text
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.suggestion import did_you_mean

ROOT: Path = ("parameters",)
"""The path of the schema of all arguments in a manifest."""

Kind: TypeAlias = Literal[
    "dropped", "moved", "rewritten", "loose", "limit", "name", "doubt", "left_out"
]
"""How something gets lost.

- ``dropped``: it is not said anymore.
- ``moved``: it is in a description, in words, so that no one enforces it.
- ``rewritten``: it is expressed differently, and less exactly.
- ``loose``: the tool is not strict, although the caller wanted that.
- ``limit``: it is more, longer or deeper than the provider accepts.
- ``name``: the provider rejects a property's name.
- ``doubt``: the provider may reject or ignore it.
- ``left_out``: the whole tool, because its schema can't be had.
"""


class Loss(NamedTuple):
    """A part of the manifest that a provider's definition lacks, or that the provider rejects.

    Attributes:
        kind: how it gets lost.
        path: the place in the manifest, such as ``("parameters", "properties", "city")``.
        message: the loss, in words that begin with the place's own name or keyword.
        help: advice for the author.
    """

    kind: Kind
    path: Path
    message: str
    help: str | None = None


Undo: TypeAlias = Callable[[dict[str, JSON]], dict[str, JSON]]
"""Turns the model's arguments into the manifest's; doesn't change its input."""


class Shape(NamedTuple):
    """A tool in a format.

    Attributes:
        tool: the tool, without dynamic parts.
        definition: the JSON for the provider, the caller's own.
        losses: what that does not say.
        undo: converts the model's arguments back; None if they need no conversion.
        is_strict: whether the provider enforces the schema.
    """

    tool: ToolDefinition
    definition: JSON
    losses: tuple[Loss, ...] = ()
    undo: Undo | None = None
    is_strict: bool = False


class Options(NamedTuple):
    """What someone wants of a format next to the tools.

    Attributes:
        strict: whether schemas must be converted to the provider's enforced subset.
        cache_control: marks the last cacheable tool, for providers that support it.
        defer_loading: names of tools that the provider shows a model only when it searches.
    """

    strict: bool = False
    cache_control: dict[str, JSON] | None = None
    defer_loading: frozenset[str] = frozenset()


def as_list(
    shapes: Sequence[Shape], _: Options, *, most: int | None = None, provider: str = ""
) -> tuple[list[JSON], tuple[Loss, ...]]:
    """Collect definitions as a list; a loss says that a provider takes fewer in one request."""
    losses: tuple[Loss, ...] = ()
    if most is not None and len(shapes) > most:
        message = f"{len(shapes)} tools, more than the {most} that {provider} takes in one request"
        losses = (Loss("limit", (), message, "offer fewer tools at a time"),)
    return [shape.definition for shape in shapes], losses


@dataclass(frozen=True, eq=False)
class Format:
    """One provider's way to define tools.

    Attributes:
        convert: returns one tool in the format; it does not raise for any sound tool.
        collect: returns the definitions of several tools, and what their number or their sum
            exceeds.
        apply_limits: returns the shapes as they must be next to each other, before they are
            collected. Where there is one, ``convert`` always makes loose tools.
    """

    convert: Callable[[ToolDefinition, Options], Shape]
    collect: Callable[[Sequence[Shape], Options], tuple[Any, tuple[Loss, ...]]]
    apply_limits: Callable[[Sequence[Shape], Options], list[Shape]] | None = None


FORMATS = {
    "json-schema": "sovl_tools.formats.mcp:NEUTRAL",
    "openai": "sovl_tools.formats.openai:CHAT_COMPLETIONS",
    "openai-responses": "sovl_tools.formats.openai:RESPONSES",
    "anthropic": "sovl_tools.formats.anthropic:MESSAGES",
    "gemini": "sovl_tools.formats.gemini:DECLARATIONS",
    "openrouter": "sovl_tools.formats.openai:ROUTER",
    "mcp": "sovl_tools.formats.mcp:MCP",
    "openapi": "sovl_tools.formats.openapi:DOCUMENT",
    "prompt": "sovl_tools.formats.text:PROMPT",
    "markdown": "sovl_tools.formats.text:MARKDOWN",
}
"""Where each format is; its module is imported when it is first used."""

STRICT = frozenset({"openai", "openai-responses", "anthropic", "openrouter"})
"""Formats with a strict form."""


def format_of(name: str, *, strict: bool = False) -> Format:
    """Return a format by its name.

    Raises:
        ValueError: the format is unknown, or ``strict`` is wanted and it has no strict form.
    """
    check_text("format", name)
    if name not in FORMATS:
        plain = name.removesuffix("-strict")
        if plain in STRICT:
            raise ValueError(f"there's no format {name!r}; ask for {plain!r} and strict")
        hint = did_you_mean(name, FORMATS) or f"there are {', '.join(FORMATS)}"
        raise ValueError(f"there's no format {name!r}; {hint}")
    if strict and name not in STRICT:
        raise ValueError(f"there's no strict {name}; there is of {', '.join(sorted(STRICT))}")
    module, _, attribute = FORMATS[name].partition(":")
    return cast("Format", getattr(import_module(module), attribute))


def estimate(definition: JSON) -> int:
    """Return an estimate of the tokens of a definition in a request: JSON, or plain text.

    It is an estimate and no bill: four bytes of UTF-8 make a token. Providers rewrite definitions
    before a model reads them, each with a tokenizer: by the two examples for which they publish
    numbers, this is a third too high for OpenAI's gpt-4o and half too high for Anthropic's older
    models, of whose text newer ones make about 30 % more tokens. The cost of a request with tools
    is not in it; at Anthropic that is a system prompt of some 300 to 700 tokens.

    Source: the Gemini API's rule of four characters a token; the OpenAI cookbook's
    ``How_to_count_tokens_with_tiktoken`` and Anthropic's pages on tool use for the comparison.
    """
    is_text = isinstance(definition, str)
    text = (
        definition if is_text else json.dumps(definition, ensure_ascii=False, separators=(",", ":"))
    )
    return -(-len(text.encode(errors="surrogatepass")) // 4)
