"""Templates and expressions, which give values once the variables are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.procedures.language import (
    EvaluationError,
    Kind,
    Reference,
    TemplateError,
)

__all__ = ["EvaluationError", "Expression", "Reference", "Template", "TemplateError"]

_SYNTAX = re.compile(r"\{[{%#]")


class Template(NamedTuple):
    """A text in which there may be templates.

    Attributes:
        text: as it is written.
        kind: ``"value"`` for exactly one ``{{ … }}``, which keeps the type of its value,
            ``"text"`` if there is no template in it, ``"string"`` for any other.
        references: the variables that it reads, but for those that it binds itself.
        run: returns its value, given the variables.
    """

    text: str
    kind: Kind
    references: tuple[Reference, ...]
    run: Callable[[Mapping[str, JSON]], JSON]

    @staticmethod
    def of(text: str) -> Template:
        """Return the template of a text.

        Raises:
            TemplateError: it can't be read.
        """
        if not _SYNTAX.search(text):
            return Template(text, "text", (), lambda _: text)
        return _template(text)

    def evaluate(self, variables: Mapping[str, JSON]) -> JSON:
        """Return the value, which shares nothing with the variables.

        Raises:
            EvaluationError: it has none.
        """
        return self.run(variables)


class Expression(NamedTuple):
    """A bare expression, such as a condition.

    Attributes:
        text: as it is written.
        references: the variables that it reads.
        run: returns its value, given the variables.
    """

    text: str
    references: tuple[Reference, ...]
    run: Callable[[Mapping[str, JSON]], JSON]

    @staticmethod
    def of(text: str) -> Expression:
        """Return the expression of a text.

        Raises:
            TemplateError: it can't be read.
        """
        return _expression(text)

    def evaluate(self, variables: Mapping[str, JSON]) -> JSON:
        """Return the value, which shares nothing with the variables.

        Raises:
            EvaluationError: it has none.
        """
        return self.run(variables)


@lru_cache(maxsize=4096)
def _template(text: str) -> Template:
    from sovl_tools.procedures.compiling import compiled_template  # noqa: PLC0415 - jinja2, 80 ms

    return Template(text, *compiled_template(text))


@lru_cache(maxsize=4096)
def _expression(text: str) -> Expression:
    from sovl_tools.procedures.compiling import compiled_expression  # noqa: PLC0415 - the same

    return Expression(text, *compiled_expression(text)[1:])
