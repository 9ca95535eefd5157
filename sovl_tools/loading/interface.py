"""What a tool's module offers: the function's signature, phrases and step handlers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

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
    """

    signature: Signature | None = None
    names: tuple[str, ...] = ()
    phrases: Any = None
    handlers: Any = None
    registration: Signature | None = None
    claims: Mapping[Any, Signature] = MappingProxyType({})
    removals: tuple[str, ...] = ()
