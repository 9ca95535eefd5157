"""What a function says of itself, as a manifest would have to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from sovl_tools.annotations.docstrings import Documentation, documentation_of
from sovl_tools.authoring.inference import infer
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import InferenceError
from sovl_tools.scaffolding.marked import attached_to, marked
from sovl_tools.scaffolding.writable import unwritable, written
from sovl_tools.signature.from_function import from_function
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Parameter, Signature


class Account(NamedTuple):
    """A function's signature and docstring, and what ``@tool`` says of it.

    Attributes:
        documentation: what the docstring says, or the decorator instead.
        parameters: the JSON Schema of the arguments, without those in ``errors``.
        signature: how the function can be called.
        errors: by parameter, why no schema can be made of it.
        fields: further keys of a manifest.
        demanded: parameters that the decorator requires.
        losses: what the decorator says and no manifest can.
        notes: what is left out of the schemas, and why.
    """

    documentation: Documentation
    parameters: dict[str, JSON]
    signature: Signature
    errors: Mapping[str, InferenceError] = {}
    fields: Mapping[str, JSON] = {}
    demanded: frozenset[str] = frozenset()
    losses: tuple[InferenceError, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Parameter]:
        """The parameters that a model may give, in the order of the definition."""
        return {
            each.name: each
            for each in self.signature.parameters
            if each.kind in BY_KEYWORD and not each.annotation.is_context
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
        """Tell whether a call may leave an argument out, because the function has a default."""
        known = self.arguments.get(name)
        has = known is not None and known.default is not REQUIRED
        return has and name not in self.demanded

    def needs(self, name: str) -> bool:
        """Tell whether a call must give an argument: there is no default, nor can None be given."""
        known = self.arguments.get(name)
        needed = known is not None and known.default is REQUIRED and not known.annotation.optional
        return needed or name in self.demanded


def account_of(function: Callable[..., Any]) -> Account:
    """Return what a function says of itself, as far as a manifest can say it.

    Raises:
        InferenceError: it can't be told what the function takes.
    """
    definition = attached_to(function)
    account = _inferred(function) if definition is None else _decorated(function, definition)
    return _written(_without_idle_defaults(account), _qualified(function))


def _qualified(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _decorated(function: Callable[..., Any], definition: ToolDefinition) -> Account:
    said = marked(definition)
    demanded = frozenset(said.parameters["required"])
    found = Account(
        documentation_of(function)._replace(description=said.description),
        said.parameters,
        from_function(function),
        fields=said.fields,
        demanded=demanded,
        losses=said.losses,
    )
    needed = [name for name in said.parameters["properties"] if found.needs(name)]
    account = found._replace(parameters={**said.parameters, "required": needed})
    return _refusing(account, said.errors)


def _refusing(account: Account, errors: Mapping[str, InferenceError]) -> Account:
    """Return an account without the schemas of some parameters."""
    if not errors:
        return account
    parameters = account.parameters
    properties = {
        name: each for name, each in parameters["properties"].items() if name not in errors
    }
    required = [name for name in parameters["required"] if name not in errors]
    return account._replace(
        parameters={**parameters, "properties": properties, "required": required},
        errors={**account.errors, **errors},
    )


def _without_idle_defaults(account: Account) -> Account:
    """Leave out defaults of what each call has to give."""
    properties, notes = dict(account.parameters["properties"]), list(account.notes)
    for name in account.parameters["required"]:
        if "default" in properties[name]:
            properties[name] = {k: each for k, each in properties[name].items() if k != "default"}
            if account.arguments[name].default is REQUIRED:
                notes.append(f"the default of {name!r} is left out: the function has none")
    parameters = {**account.parameters, "properties": properties}
    return account._replace(parameters=parameters, notes=tuple(notes))


def _written(account: Account, qualified: str) -> Account:
    """Leave out what the text of a manifest can't hold."""
    schema, notes, flaws = written(account.parameters)
    texts, text = account.documentation.parameters, account.documentation.description
    documentation = account.documentation._replace(
        parameters={name: each for name, each in texts.items() if unwritable(each) is None}
    )
    flaw = unwritable(text)
    if flaw is not None:
        documentation = documentation._replace(description="")
        notes = (*notes, f"the description is left out: {flaw}")
    errors = {
        name: InferenceError(qualified, name, f"its schema can't be written: {flaw}")
        for name, flaw in flaws.items()
    }
    found = account._replace(
        documentation=documentation, parameters=schema, notes=(*account.notes, *notes)
    )
    return _refusing(found, errors)


def _inferred(function: Callable[..., Any]) -> Account:
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
            return Account(documentation, found.parameters, from_function(function), errors)


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
