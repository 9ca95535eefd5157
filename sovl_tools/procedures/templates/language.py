"""What a template refers to, and what can be wrong with it."""

from __future__ import annotations

from typing import NamedTuple

from sovl_tools.model.errors import SovlToolsError


class Reference(NamedTuple):
    """A variable that is read and not bound in the template itself.

    Attributes:
        name: of the variable.
        attributes: the constant keys and indexes behind it: ``page.links[0].url`` has
            ``("links", 0, "url")``, ``page.links[i].url`` has ``("links",)``.
        is_guarded: whether it may be absent: ``x | default(1)``, or ``x is defined`` somewhere.
    """

    name: str
    attributes: tuple[str | int, ...]
    is_guarded: bool = False


class TemplateError(SovlToolsError, ValueError):
    """A template or an expression that can't be read.

    Attributes:
        message: what is there.
        help: what would be right, as an imperative; None where that is unknown.
    """

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message, advice)
        self.message = message
        self.help = advice

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message


class EvaluationError(SovlToolsError):
    """A template or an expression that has no value.

    Attributes:
        message: why.
        line: of the text, from 1.
        name: the variable, key or index that is absent; None if another thing is wrong.
        help: what would be right, as an imperative; None where that is unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int = 1,
        name: str | int | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(message, line, name, advice)
        self.message = message
        self.line = line
        self.name = name
        self.help = advice

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message
