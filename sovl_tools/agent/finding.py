"""Which tool somebody wants, by what is said: its name, its phrases, its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sovl_tools.agent.answer import Prompt
from sovl_tools.agent.gleaning import Span, bare
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.registry import ToolRegistry
from sovl_tools.search.terms import COMMON, parts
from sovl_tools.search.toolmatch import ToolMatch
from sovl_tools.search.words import spans, words

CHOICES = {"auto", "required", "none"}
"""What may be chosen beside the name of a tool."""

_ENOUGH = 0.5
_TELLING = {"name", "title"}


class Found(NamedTuple):
    """A tool that somebody seems to want.

    Attributes:
        name: its name.
        is_certain: whether its name or one of its phrases was said.
        spans: the places of those words.
    """

    name: str
    is_certain: bool = True
    spans: tuple[Span, ...] = ()


def wanted(prompt: Prompt, tools: Sequence[ToolDefinition], text: str) -> Found | None:
    """Return the tool that is chosen, or that a text speaks of; None if there is none."""
    if prompt.choice not in CHOICES:
        return Found(prompt.choice, spans=tuple(_named(prompt.choice, text)))
    certain = mentioned(prompt.registry, tools, text)
    if certain:
        return certain[0]
    is_required = prompt.choice == "required"
    names = {tool.name for tool in tools}
    asked = {part for part in parts(bare(text)) if part not in COMMON and not part.isdigit()}
    for match in prompt.registry.search(bare(text), limit=None):
        if match.tool in names and (is_required or _is_near(match, asked)):
            return Found(match.tool, is_certain=False)
    return Found(tools[0].name) if is_required and len(tools) == 1 else None


def mentioned(registry: ToolRegistry, tools: Sequence[ToolDefinition], text: str) -> list[Found]:
    """Return the tools whose name or phrase is said; that of the most words comes first."""
    found = [*_by_name(tools, text), *_by_phrase(registry, tools, text)]
    return sorted(found, key=lambda each: -_length(each, text))


def _by_name(tools: Sequence[ToolDefinition], text: str) -> Iterator[Found]:
    for tool in tools:
        named = tuple(_named(tool.name, text))
        if named:
            yield Found(tool.name, spans=named)


def _by_phrase(
    registry: ToolRegistry, tools: Sequence[ToolDefinition], text: str
) -> Iterator[Found]:
    names = {tool.name for tool in tools}
    for match in registry.match(text):
        if match.tool in names:
            yield Found(match.tool, spans=((match.start, match.end),))


def _length(found: Found, text: str) -> int:
    start, end = found.spans[0]
    return len(words(text[start:end]))


def _named(name: str, text: str) -> Iterator[Span]:
    form = name.casefold()
    return ((each.start, each.end) for each in spans(text) if each.form == form)


def near(
    registry: ToolRegistry, tools: Sequence[ToolDefinition], text: str
) -> list[ToolDefinition]:
    """Return the tools that have any word of a text that tells something, the best first."""
    known = {tool.name: tool for tool in tools}
    found = registry.search(bare(text), limit=None)
    return [known[each.tool] for each in found if each.tool in known and _is_telling(each)]


def _is_near(match: ToolMatch, asked: set[str]) -> bool:
    """Tell whether a tool has half of the words that tell what is wanted, or one in its name."""
    fields = {field for found in match.words.values() for field in found}
    is_named = not _TELLING.isdisjoint(fields) and _is_telling(match)
    return is_named or len(match.words.keys() & asked) >= _ENOUGH * max(1, len(asked))


def _is_telling(match: ToolMatch) -> bool:
    return not COMMON.issuperset(match.words)
