"""What a tool's module offers: the function's signature, phrases and step handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

ParameterKind: TypeAlias = Literal[
    "positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"
]

StepHandler: TypeAlias = Callable[[Mapping[str, Any], Any], Any]
"""``handler(step, context)``, sync or async; what it returns is the step's result."""


class Missing(Enum):
    """Values that stand for "there is none" where None is a value."""

    REQUIRED = "the parameter has no default"
    UNKNOWN = "the default can't be told without running the module"


REQUIRED = Missing.REQUIRED
UNKNOWN = Missing.UNKNOWN


class Annotation(NamedTuple):
    """What a parameter's annotation says about JSON.

    Attributes:
        source: the annotation itself, or its text.
        types: JSON types that it admits; None where that can't be told.
        optional: whether it is ``Optional[T]`` or ``T | None``.
        is_context: whether it asks for the ``ToolContext``.
    """

    source: Any = ""
    types: frozenset[str] | None = None
    optional: bool = False
    is_context: bool = False

    @property
    def text(self) -> str:
        """The annotation as its author wrote it, or nearly so."""
        text = str(self.source)
        if isinstance(self.source, type) and "[" not in text:
            text = self.source.__name__
        for prefix in ("typing.", "collections.abc."):
            text = text.replace(prefix, "")
        return text.replace("NoneType", "None")


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    kind: ParameterKind = "positional_or_keyword"
    default: Any = REQUIRED
    annotation: Annotation = Annotation()


Shape: TypeAlias = Literal["function", "class", "value", "callable"]


class Signature(NamedTuple):
    """How a function can be called, whoever found it out: by importing or by parsing.

    Attributes:
        parameters: in the order of the definition.
        shape: what the name is bound to; ``"value"`` can't be called at all.
    """

    parameters: tuple[Parameter, ...] = ()
    shape: Shape = "function"

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
            if each.kind in {"positional_or_keyword", "keyword_only"} and each.default is REQUIRED
        )


class Interface(NamedTuple):
    """What a module offers, whether it was imported or only parsed.

    Attributes:
        signature: of the function of the tool's name; None if there is no such name.
        names: the module's public names, for suggestions.
        phrases: the value of ``ACTIVATION_PHRASES``; None if the module has none, UNKNOWN if
            parsing can't tell.
        handlers: the value of ``STEP_HANDLERS``, with a signature in place of each function.
        registration: the signature of ``register_step_handlers``; None if there is none.
        claims: actions that ``register_step_handlers`` added or overwrote.
        removals: actions of others that it took away.
    """

    signature: Signature | None = None
    names: tuple[str, ...] = ()
    phrases: Any = None
    handlers: Any = None
    registration: Signature | None = None
    claims: Mapping[Any, Signature] = MappingProxyType({})
    removals: tuple[str, ...] = ()
