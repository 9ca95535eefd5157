"""From an imported module to its interface."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple

from sovl_tools.loading.checks.offer import HANDLERS, PHRASES, REGISTER, takes
from sovl_tools.loading.interface import Interface
from sovl_tools.model.definition import StepHandler
from sovl_tools.signature.from_function import from_function
from sovl_tools.signature.signature import Signature


class Offer(NamedTuple):
    """What an imported module offers: its interface, and the things themselves.

    Attributes:
        interface: for the checks.
        function: what the tool's name is bound to.
        handlers: the step handlers by action, those of ``register_step_handlers`` included.
    """

    interface: Interface
    function: Any
    handlers: Mapping[str, StepHandler] = MappingProxyType({})


def inspect_module(module: ModuleType, name: str, existing: Mapping[str, StepHandler]) -> Offer:
    """Look at what the module of the tool of that name offers.

    ``existing`` are the step handlers of other tools, which ``register_step_handlers`` sees.

    Raises:
        BaseException: whatever the module's own code raises on being looked at.
    """
    members = vars(module)
    own, register = members.get(HANDLERS), members.get(REGISTER)
    if name in members and own is None and register is None:
        signature = from_function(members[name])
        interface = Interface(signature, phrases=_phrases(members), function=members[name])
        return Offer(interface, members[name])
    claims, removals = _register(register, existing)
    interface = Interface(
        signature=from_function(members[name]) if name in members else None,
        names=tuple(key for key, value in members.items() if _is_own(value, module)),
        phrases=_phrases(members),
        handlers=_signatures(own) if isinstance(own, Mapping) else own,
        registration=from_function(register) if register is not None else None,
        claims=_signatures(claims),
        removals=removals,
        function=members.get(name),
    )
    handlers = {**(own if isinstance(own, Mapping) else {}), **claims}
    return Offer(interface, members.get(name), handlers)


def _phrases(members: Mapping[str, Any]) -> Any:
    """Return the module's phrases, as a list of their own if they are a list of any kind."""
    phrases = members.get(PHRASES)
    if not isinstance(phrases, list | tuple):
        return phrases
    return [str.__str__(each) if isinstance(each, str) else each for each in phrases]


def _is_own(value: object, module: ModuleType) -> bool:
    return isinstance(value, FunctionType) and value.__module__ == module.__name__


def _signatures(handlers: Mapping[Any, Any]) -> dict[Any, Signature]:
    return {action: from_function(handler) for action, handler in handlers.items()}


def _register(
    register: object, existing: Mapping[str, StepHandler]
) -> tuple[dict[str, StepHandler], tuple[str, ...]]:
    """Let the module register its handlers in a copy, and return what it added and removed."""
    if not callable(register) or not takes(from_function(register), 1):
        return {}, ()
    handlers = dict(existing)
    register(handlers)
    claims = {
        action: handler
        for action, handler in handlers.items()
        if action not in existing or existing[action] is not handler
    }
    return claims, tuple(action for action in existing if action not in handlers)
