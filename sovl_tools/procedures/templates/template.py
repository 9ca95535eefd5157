"""A template, what it refers to, and what can be wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError

_SYNTAX = re.compile(r"\{[{%#]")


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
        help: what would be right, as an imperative; None where that can't be told.
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
        help: what would be right, as an imperative; None where that can't be told.
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


class Template(NamedTuple):
    """A text in which there may be templates, or a bare expression, such as a condition.

    Attributes:
        kind: ``"value"`` for exactly one ``{{ … }}`` or a bare expression, which keep the type of
            their value, ``"text"`` if there is no template in it, ``"string"`` for any other.
        references: the variables that it reads, but for those that it binds itself.
        evaluate: returns its value, which shares nothing with the variables that it is given;
            raises ``EvaluationError`` if it has none.
    """

    kind: Literal["text", "value", "string"]
    references: tuple[Reference, ...]
    evaluate: Callable[[Mapping[str, JSON]], JSON]

    @staticmethod
    def of(text: str) -> Template:
        """Return the template of a text.

        Raises:
            TemplateError: it can't be read.
        """
        if not _SYNTAX.search(text):
            return Template("text", (), lambda _: text)
        return _compiled(text, is_expression=False)

    @staticmethod
    def of_expression(text: str) -> Template:
        """Return what a bare expression is.

        Raises:
            TemplateError: it can't be read.
        """
        return _compiled(text, is_expression=True)


@lru_cache(maxsize=4096)
def _compiled(text: str, *, is_expression: bool) -> Template:
    from sovl_tools.procedures.templates import compiler  # noqa: PLC0415 - jinja2 takes 80 ms

    return compiler.expression(text) if is_expression else compiler.template(text)
