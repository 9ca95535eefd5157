"""How a function can be called."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.signature.annotation import Annotation

ParameterKind: TypeAlias = Literal[
    "positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"
]
BY_KEYWORD = frozenset({"positional_or_keyword", "keyword_only"})
"""Kinds of parameters to which an argument can be passed by name."""


class Missing(Enum):
    """Values that stand for "there is none" where None is a value."""

    REQUIRED = "the parameter has no default"
    UNKNOWN = "the default can't be told without running the module"


REQUIRED = Missing.REQUIRED
UNKNOWN = Missing.UNKNOWN


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    kind: ParameterKind = "positional_or_keyword"
    default: Any = REQUIRED
    annotation: Annotation = Annotation()


Shape: TypeAlias = Literal["function", "class", "value", "callable"]


class Signature(NamedTuple):
    """How a function can be called, read from the function or from its module's text.

    Attributes:
        parameters: in the order of the definition.
        shape: what the name is bound to; ``"value"`` can't be called at all.
        is_certain: False if calls go through a decorator that may supply arguments, or take some
            of its own; the parameters are those of the function below it.
    """

    parameters: tuple[Parameter, ...] = ()
    shape: Shape = "function"
    is_certain: bool = True

    @property
    def takes_any_keyword(self) -> bool:
        """Whether the function has ``**kwargs``."""
        return any(parameter.kind == "var_keyword" for parameter in self.parameters)

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names of the parameters that receive a ``ToolContext``."""
        return tuple(each.name for each in self.parameters if each.annotation.is_context)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the parameters that can be given by keyword and have no default."""
        return tuple(
            each.name
            for each in self.parameters
            if each.kind in BY_KEYWORD and each.default is REQUIRED
        )


ANYTHING = Signature((Parameter("arguments", "var_keyword"),), "callable")
"""Of a callable of which nothing is known."""
