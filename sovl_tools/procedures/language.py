"""What can be said of a template: what it refers to, and what is wrong with it."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.model.errors import SovlToolsError

Kind: TypeAlias = Literal["text", "value", "string"]
"""Text without a template, exactly one expression, or a template that gives a string."""


class Reference(NamedTuple):
    """A variable that is read and not bound in the template itself.

    Attributes:
        name: of the variable.
        attributes: the constant keys and indexes behind it: ``page.links[0].url`` has
            ``("links", 0, "url")``, ``page.links[i].url`` has ``("links",)``.
        offset: where it stands, in characters.
        is_guarded: whether it may be absent: ``x | default(1)``, or ``x is defined`` somewhere.
    """

    name: str
    attributes: tuple[str | int, ...]
    offset: int
    is_guarded: bool = False


class TemplateError(SovlToolsError, ValueError):
    """A template or an expression that can't be read.

    Attributes:
        message: what is there.
        offset: where, in characters; a line break counts as one.
        help: what would be right, as an imperative; None where that can't be told.
    """

    def __init__(self, message: str, offset: int, advice: str | None = None) -> None:
        super().__init__(message, offset, advice)
        self.message = message
        self.offset = offset
        self.help = advice

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message


class EvaluationError(SovlToolsError):
    """A template or an expression that has no value.

    Attributes:
        message: why.
        offset: where the expression stands in the text, in characters; None if nobody knows.
        name: the variable, key or index that is absent; None if another thing is wrong.
        help: what would be right, as an imperative; None where that can't be told.
    """

    def __init__(
        self,
        message: str,
        offset: int | None = None,
        name: str | int | None = None,
        *,
        advice: str | None = None,
    ) -> None:
        super().__init__(message, offset, name, advice)
        self.message = message
        self.offset = offset
        self.name = name
        self.help = advice

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message
