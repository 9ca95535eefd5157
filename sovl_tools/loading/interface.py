"""What a tool's module offers: the function's signature, phrases and step handlers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from sovl_tools.authoring.decorator import ATTRIBUTE, definition_of
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import InferenceError
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.signature.agreement import implied
from sovl_tools.signature.signature import Signature


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
        function: what the tool's name is bound to, if the module was imported.
    """

    signature: Signature | None = None
    names: tuple[str, ...] = ()
    phrases: Any = None
    handlers: Any = None
    registration: Signature | None = None
    claims: Mapping[Any, Signature] = MappingProxyType({})
    removals: tuple[str, ...] = ()
    function: Any = None

    def implied(self) -> dict[str, JSON]:
        """Return the schema of the arguments that the function implies, or ``@tool`` says."""
        definition = getattr(self.function, ATTRIBUTE, None)
        if isinstance(definition, ToolDefinition):
            with suppress(InferenceError):
                return {
                    "properties": {},
                    **without_functions(definition_of(self.function).parameters),
                }
        return implied(self.signature or Signature(), self.function)
