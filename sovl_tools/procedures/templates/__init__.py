"""A template, whose value depends on the variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.procedures.procedure import Reference

_SYNTAX = re.compile(r"\{[{%#]")


class Template(NamedTuple):
    """A string in which there can be templates, or a bare expression, such as a condition.

    Attributes:
        kind: ``"value"`` for exactly one ``{{ … }}`` or a bare expression, which keep the type of
            their value, ``"variable"`` if that is one reference with constant keys, ``"text"`` if
            there's no template in it, ``"string"`` for any other.
        references: the variables that it reads, but for those that it binds itself.
        evaluate: returns its value, which shares nothing with the variables that it is given;
            raises ``EvaluationError`` if it doesn't have one.
    """

    kind: Literal["text", "value", "variable", "string"]
    references: tuple[Reference, ...]
    evaluate: Callable[[Mapping[str, JSON]], JSON]

    @staticmethod
    def of(text: str) -> Template:
        """Return the template of a string.

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

    return Template._make((compiler.expression if is_expression else compiler.template)(text))
