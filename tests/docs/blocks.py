"""The code blocks of a document: what they are, and what they say when they are run.

A fence says by its language what its block is:

- a fence with a title is a file: ``json title="tools/greet/greet.json"``;
- ``console`` holds lines that begin with ``$``, each followed by what the command prints on both
  outputs; a line ``…`` represents any lines, and times do not count;
- ``python`` is run after the blocks before it, in one namespace; what it prints is in an
  ``output`` block right after it;
- ``json`` without a title is a part of a manifest, checked against the published schema;
- ``text`` without a title is a diagram, which says nothing that could be run.

Any other block needs a line ``<!-- not run: REASON -->`` before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_FENCE = re.compile(r'```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?')
_NOT_RUN = re.compile(r"<!-- not run: (?P<reason>.*\S.*) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block; ``line`` is the number of its fence, from 1.

    ``reason`` says why the block is not run; None if it is.
    """

    language: str
    body: str
    line: int = 1
    title: str | None = None
    reason: str | None = None


class MalformedFenceError(ValueError):
    """A fence that says neither a language nor a file, is indented, or does not end."""


@dataclass(frozen=True)
class Document:
    """A page in Markdown."""

    name: str
    text: str

    @classmethod
    def read(cls, path: Path) -> Document:
        """Read a page from its file."""
        return cls(path.name, path.read_text(encoding="utf-8"))

    @property
    def blocks(self) -> list[Block]:
        """All fenced blocks in their order."""
        return list(self._blocks())

    @property
    def files(self) -> dict[str, str]:
        """The files that the page defines, as they are at its end."""
        return {block.title: block.body for block in self.blocks if block.title is not None}

    def _blocks(self) -> Iterator[Block]:
        lines = self.text.split("\n")
        index = 0
        while index < len(lines):
            if lines[index].lstrip().startswith(("```", "~~~")):
                block = self._block(lines, index)
                index += block.body.count("\n") + 1
                yield block
            index += 1

    def _block(self, lines: list[str], start: int) -> Block:
        fence = _FENCE.fullmatch(lines[start])
        if fence is None or "```" not in lines[start + 1 :]:
            raise MalformedFenceError(f"{self.name}:{start + 1}: {lines[start]}")
        end = lines.index("```", start + 1)
        body = "".join(f"{line}\n" for line in lines[start + 1 : end])
        marker = _NOT_RUN.fullmatch(lines[start - 1]) if start else None
        reason = marker["reason"] if marker else None
        return Block(fence["language"], body, start + 1, fence["title"], reason)

    def with_bodies(self, bodies: dict[int, str]) -> Document:
        """Return the page with other bodies in the blocks that begin at the given lines."""
        lines = self.text.split("\n")
        for block in reversed(self.blocks):
            if block.line in bodies:
                end = block.line + block.body.count("\n")
                lines[block.line : end] = bodies[block.line].split("\n")[:-1]
        return replace(self, text="\n".join(lines))


def matches(expected: str, actual: str) -> bool:
    """Return whether an output matches: ``…`` matches any lines, and a time any time."""
    lines = _timeless(expected).splitlines()
    patterns = [r"(?:.*\n)*" if line.strip() == "…" else f"{re.escape(line)}\n" for line in lines]
    return re.fullmatch("".join(patterns), _timeless(actual)) is not None


def _timeless(text: str) -> str:
    return re.sub(r"\bin \d+\.\d\d s\b", "in 0.00 s", text)


@dataclass(frozen=True)
class Step:
    """A command of a console block and the output that is expected of it."""

    command: str
    output: str


def steps(block: Block) -> list[Step]:
    """Return the commands of a console block."""
    if not block.body.startswith("$ "):
        raise MalformedFenceError(f"line {block.line}: a console block begins with '$ '")
    parts = re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]
    return [Step(*part.split("\n", 1)) for part in parts]


def manifest_part(block: Block) -> dict[str, object]:
    """Return the keys of a manifest that a JSON block without a title shows."""
    part = json.loads(block.body)
    if not isinstance(part, dict):
        raise MalformedFenceError(f"line {block.line}: a part of a manifest is an object")
    return part
