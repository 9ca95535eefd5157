"""A catalogue of tools in Markdown, for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sovl_tools.formats.base import Loss, Options, Shape
from sovl_tools.formats.prompt import described
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON

_HEADINGS = ("Argument", "Type", "Required", "Description")
_PLAIN_NAME = re.compile(r"[^\s`|\x00-\x1f]+( [^\s`|\x00-\x1f]+)*")
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|]")


def convert(tool: ToolDefinition, _: Options) -> Shape:
    """Return the section about one tool."""
    said = _SPECIAL.sub(r"\\\g<0>", tool.description.strip())
    facts = {
        "Category": tool.category,
        "Tags": ", ".join(tool.tags),
        "Version": tool.version,
        "Phrases": ", ".join(f'"{phrase}"' for phrase in tool.activation_phrases),
        "Kind": ", ".join(
            name.replace("_", " ") for name, is_so in tool.annotations.items() if is_so
        ),
    }
    stated = {name: text for name, text in facts.items() if text}
    escaped = zip(stated, _escaped(stated.values()), strict=True)
    known = "\n".join(f"- **{name}:** {text}" for name, text in escaped) if stated else ""
    blocks = [f"## {tool.name}", said, known, *_arguments(tool)]
    if tool.returns:
        blocks += [f"**Returns:** {each}" for each in _escaped([tool.returns])]
    if tool.examples:
        blocks.append("### Examples")
    for each in tool.examples:
        blocks += [str(each.get("description", "")), _code(each.get("input"))]
        if "output" in each:  # null is an output, too
            blocks += ["gives", _code(each["output"])]
    return Shape(tool, "\n\n".join(block for block in blocks if block))


def collect(shapes: Sequence[Shape], _: Options) -> tuple[Any, tuple[Loss, ...]]:
    """Return the sections of all tools below a table of them."""
    tools = [shape.tool for shape in shapes]
    first_lines = _escaped(tool.description.strip().partition("\n")[0] for tool in tools)
    rows = [
        f"| [{tool.name}](#{tool.name.lower()}) | {line} |"
        for tool, line in zip(tools, first_lines, strict=False)
    ]
    head = "\n".join(["| Tool | What it does |", "| --- | --- |", *rows])
    sections = [shape.definition for shape in shapes]
    return "\n\n".join(["# Tools", head if rows else "There are no tools.", *sections]), ()


def _arguments(tool: ToolDefinition) -> Iterator[str]:
    """Yield a table of the arguments, and lists of what lies in them."""
    found = list(described(tool.parameters))
    if not found:
        yield "It takes no arguments."
        return
    cells = iter(
        _escaped(
            text
            for each in found
            for text in (each.type, each.mark, " ".join([each.meaning, *each.notes]))
        )
    )
    names = [_as_code(each.name) for each in found]
    rows = [(name.replace("|", r"\|"), next(cells), next(cells), next(cells)) for name in names]
    lines = [_HEADINGS, ("---",) * len(_HEADINGS), *rows]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    for name, each in zip(names, found, strict=True):
        if each.inner:
            yield "\n".join([f"In {name}:", "", *each.inner])


def _as_code(name: str) -> str:
    """Return a name as code within a line: in quotes if something in it would end that."""
    if _PLAIN_NAME.fullmatch(name):
        return f"`{name}`"
    text = json.dumps(name)
    # longer than any run of backticks in the name, which would end the code
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _code(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    # longer than any run of backticks in the text, which would end the block
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}json\n{text}\n{fence}"


def _escaped(texts: Iterable[str]) -> list[str]:
    """Return texts, each on one line, without what Markdown would read as its own."""
    # searched together, which costs little more than to search one of them
    lines = "\n".join([" ".join(each.split()) for each in texts])
    return _SPECIAL.sub(r"\\\g<0>", lines).split("\n")
