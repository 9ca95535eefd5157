"""What the annotation of a parameter says, and what a step handler is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

StepHandler: TypeAlias = Callable[[Mapping[str, Any], Any], Any]
"""``handler(step, context)``, sync or async; what it returns is the step's result."""


class Annotation(NamedTuple):
    """What a parameter's annotation says about JSON.

    Attributes:
        source: the annotation itself, or its text.
        types: JSON types that it admits; None where that can't be told.
        optional: whether it is ``Optional[T]`` or ``T | None``; None where that can't be told.
        is_context: whether it asks for the ``ToolContext``; None where that can't be told.
        value: what the text stands for, where ``source`` is one.
    """

    source: Any = ""
    types: frozenset[str] | None = None
    optional: bool | None = False
    is_context: bool | None = False
    value: Any = None

    @property
    def is_absent(self) -> bool:
        """Whether there is no annotation."""
        return isinstance(self.source, str) and not self.source

    @property
    def text(self) -> str:
        """The annotation as its author wrote it, or nearly so."""
        text = str(self.source)
        if isinstance(self.source, type) and "[" not in text:
            text = self.source.__name__
        for prefix in ("typing.", "collections.abc."):
            text = text.replace(prefix, "")
        return text.replace("NoneType", "None")
