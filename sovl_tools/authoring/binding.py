"""Definitions of bound methods, and those that wait for names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from typing import Any

from sovl_tools.annotations.kind import InexpressibleError
from sovl_tools.authoring.defining import defined, headed, is_method
from sovl_tools.authoring.inference import parameters_of
from sovl_tools.authoring.marks import Marks
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import InferenceError


def bound(
    definition: ToolDefinition, method: Callable[..., Any], instance: object
) -> ToolDefinition:
    """Return the definition of a method with what the functions in its schema are given, or None.

    The first parameter of a bound method is none of the tool's, whatever it is called. What can't
    be inferred, or not yet, is told when somebody asks for the parameters.
    """
    is_odd = inspect.ismethod(method) and not is_method(definition.function)
    look: Any = vars(definition).get(_LOOK)
    if is_odd:
        look = partial(look, is_bound=True) if look else partial(_without_first, definition)
    elif look is None:
        return replace(definition, function=method, instance=instance)
    made = PendingDefinition.after(definition, look, function=method, instance=instance)
    with suppress(InferenceError):
        _ = made.parameters
    return made


def _without_first(definition: ToolDefinition) -> ToolDefinition:
    """Return a definition without the parameter that receives the instance.

    Raises:
        InferenceError: the function has none that could.
    """
    function = definition.function
    try:
        parameters_of(function, is_method=True)
    except InexpressibleError as error:
        name = getattr(function, "__qualname__", definition.name)
        raise InferenceError(name, None, error.reason, error.advice) from error
    first = parameters_of(function, is_method=False)[0].name
    whole = definition.parameters
    parameters = {
        **whole,
        "properties": {name: each for name, each in whole["properties"].items() if name != first},
        "required": [name for name in whole["required"] if name != first],
    }
    types = {name: each for name, each in definition.types.items() if name != first}
    remarks = tuple(each for each in definition.remarks if each[0] != first)
    return replace(definition, parameters=parameters, types=types, remarks=remarks)


class PendingDefinition(ToolDefinition):
    """A definition whose parameters are inferred when somebody asks for them."""

    @classmethod
    def of(cls, function: Callable[..., Any], marks: Marks) -> PendingDefinition:
        """Return the definition of a function whose annotations can't be resolved yet."""
        return cls.after(headed(function, marks), partial(defined, function, marks))

    @classmethod
    def after(
        cls, definition: ToolDefinition, look: Callable[[], ToolDefinition], **changes: Any
    ) -> PendingDefinition:
        """Return a changed definition; what is inferred is that of the one that ``look`` makes."""
        known = {key: each for key, each in vars(definition).items() if key not in _INFERRED}
        pending = object.__new__(cls)
        vars(pending).update(known, **{_LOOK: look}, **changes)
        return pending

    def __getattr__(self, name: str) -> Any:
        """Infer what is missing.

        Raises:
            UnresolvedReferenceError: an annotation names what is still not there.
        """
        if name not in _INFERRED:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        own = vars(self)
        if _LOOK in own:
            whole = own[_LOOK]()
            known = {**own, **{each: getattr(whole, each) for each in _INFERRED}}
            ordered = {each.name: known[each.name] for each in fields(self)}
            object.__setattr__(self, "__dict__", ordered)
        return vars(self)[name]


_INFERRED = ("parameters", "types", "remarks")
_LOOK = "_look"
