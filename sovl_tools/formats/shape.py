"""What becomes of one tool in one format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, Path

Kind: TypeAlias = Literal[
    "dropped", "moved", "rewritten", "loose", "limit", "name", "doubt", "left_out"
]
"""How something gets lost.

- ``dropped``: it is not said any more.
- ``moved``: it stands in a description, in words, so that nobody enforces it.
- ``rewritten``: it is said otherwise, and less exactly.
- ``loose``: the tool is not strict, although that was asked for.
- ``limit``: the provider refuses so many, so long or so deep a thing.
- ``name``: the provider refuses a property's name.
- ``doubt``: the provider may refuse or ignore it.
- ``left_out``: the whole tool, because its schema can't be had.
"""


class Loss(NamedTuple):
    """What a provider's definition does not say as the manifest does, or what it refuses.

    Attributes:
        kind: how it gets lost.
        path: the place in the manifest, such as ``("parameters", "properties", "city")``.
        message: what is lost, in words that begin with the place's own name or keyword.
        help: what the author may do about it.
    """

    kind: Kind
    path: Path
    message: str
    help: str | None = None


Compile: TypeAlias = Callable[[dict[str, JSON]], Callable[[JSON], bool]]
"""From a schema to what tells whether a value fits it."""

Undo: TypeAlias = Callable[[dict[str, JSON], Compile], dict[str, JSON]]
"""From the arguments that a model sent to those of the manifest; changes nothing it is given."""


class Shape(NamedTuple):
    """A tool in a format.

    Attributes:
        tool: the tool, without dynamic parts.
        definition: what the provider is sent: JSON, the caller's own.
        losses: what that does not say.
        undo: what has to be done to arguments that a model sends; None for nothing.
        is_strict: whether the provider enforces the schema.
        cost: what a strict tool counts towards limits of a whole request, by their names.
    """

    tool: ToolDefinition
    definition: JSON
    losses: tuple[Loss, ...] = ()
    undo: Undo | None = None
    is_strict: bool = False
    cost: tuple[tuple[str, int], ...] = ()


class Asked(NamedTuple):
    """What somebody wants of a format beside the tools.

    Attributes:
        strict: whether schemas are to be converted to what the provider can enforce.
        cache_control: marks the last tool that can be cached, for providers that know that.
        defer_loading: names of tools that the provider shows a model only when it searches.
    """

    strict: bool = False
    cache_control: dict[str, JSON] | None = None
    defer_loading: frozenset[str] = frozenset()


class Format(Protocol):
    """One provider's way to define tools: a module with these functions.

    It may have one more, ``settled``, which takes what ``gathered`` takes and returns the shapes as
    they have to be beside each other. Then ``shaped`` is asked for what is not strict alone.
    """

    def shaped(self, tool: ToolDefinition, asked: Asked) -> Shape:
        """Return one tool in the format; it does not raise for any sound tool."""
        ...

    def gathered(self, shapes: Sequence[Shape], asked: Asked) -> tuple[Any, tuple[Loss, ...]]:
        """Return the definitions of several tools, and what their number or their sum exceeds."""
        ...
