"""What a function says of itself, as a manifest would have to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from sovl_tools.authoring.docstrings import Documentation, documentation_of
from sovl_tools.authoring.inference import infer
from sovl_tools.loading.inspecting import signature_of
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import InferenceError
from sovl_tools.model.interface import REQUIRED, Parameter, Signature

_BY_KEYWORD = frozenset({"positional_or_keyword", "keyword_only"})


class Account(NamedTuple):
    """A function's signature and docstring.

    Attributes:
        documentation: what the docstring says.
        parameters: the JSON Schema of the arguments, without those in ``errors``.
        signature: how the function can be called.
        errors: by parameter, why no schema can be made of it.
    """

    documentation: Documentation
    parameters: dict[str, JSON]
    signature: Signature
    errors: Mapping[str, InferenceError] = {}

    @property
    def arguments(self) -> dict[str, Parameter]:
        """The parameters that a model may give, in the order of the definition."""
        return {
            each.name: each
            for each in self.signature.parameters
            if each.kind in _BY_KEYWORD and not each.annotation.is_context
        }

    @property
    def described(self) -> dict[str, JSON]:
        """The schemas of the parameters that belong into a manifest.

        One with a default whose name begins with ``_`` is the function's own affair.
        """
        properties = self.parameters["properties"]
        own = {name for name in properties if name[0] == "_" and self.has_default(name)}
        return {name: schema for name, schema in properties.items() if name not in own}

    def takes(self, name: str) -> bool:
        """Tell whether the function has, or its ``**kwargs`` take, a parameter of that name."""
        return name in self.arguments or self.signature.takes_any_keyword

    def has_default(self, name: str) -> bool:
        """Tell whether the function can do without an argument."""
        known = self.arguments.get(name)
        return known is not None and known.default is not REQUIRED

    def needs(self, name: str) -> bool:
        """Tell whether the function can't do without an argument, nor be given None."""
        known = self.arguments.get(name)
        return known is not None and known.default is REQUIRED and not known.annotation.optional


def account_of(function: Callable[..., Any]) -> Account:
    """Return what a function says of itself, as far as it can be said in JSON Schema.

    Raises:
        InferenceError: it can't be told what the function takes.
    """
    documentation = documentation_of(function)
    errors: dict[str, InferenceError] = {}
    while True:
        try:
            found = infer(_without(function, errors), documentation=documentation)
        except InferenceError as error:
            if error.parameter is None or error.parameter in errors:
                raise
            errors[error.parameter] = error
        else:
            return Account(documentation, found.parameters, signature_of(function), errors)


def _without(function: Callable[..., Any], names: Collection[str]) -> Callable[..., Any]:
    """Return a function that looks as if it had no parameters of those names."""
    if not names:
        return function
    signature = inspect.signature(function)
    kept = [each for name, each in signature.parameters.items() if name not in names]

    def narrowed(**_: Any) -> None:
        """Stand for the function."""

    vars(narrowed).update(
        __wrapped__=function,
        __signature__=signature.replace(parameters=kept),
    )
    return narrowed
