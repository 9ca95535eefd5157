"""A function's signature, docstring and ``@tool``, as the content of a manifest."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from sovl_tools.annotations.docstrings import Documentation, documentation_of, undescribed
from sovl_tools.annotations.hints import marker_of
from sovl_tools.authoring.decorator import ATTRIBUTE, definition_of
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied, dotted, encodes
from sovl_tools.model.errors import InferenceError, UnresolvedReferenceError
from sovl_tools.model.folder import FIELDS
from sovl_tools.schema.dynamic import is_dynamic, without_functions
from sovl_tools.schema.subschemas import needed_definitions, nodes
from sovl_tools.signature.inference import Inference, implied, parameters_of, refusals
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Parameter, Signature, from_function

_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class FunctionSpec:
    """A function's signature, docstring and ``@tool``, as the content of a manifest.

    Attributes:
        signature: of the function.
        parameters: the JSON Schema of the arguments, without the ones in ``errors``, and without
            descriptions from the docstring.
        document: reads the docstring, or the decorator's description.
        described: parameters whose schemas have a description, which wins over the docstring's.
        errors: the reason, for each parameter without a schema.
        fields: other keys of a manifest.
        required_by_decorator: parameters that the decorator requires.
        losses: settings of the decorator that a manifest can't contain.
        notes: messages about omitted parts of the schemas.
    """

    signature: Signature
    parameters: dict[str, JSON]
    document: Callable[[], Documentation]
    described: frozenset[str] = frozenset()
    errors: Mapping[str, InferenceError] = field(default_factory=dict)
    fields: Mapping[str, JSON] = field(default_factory=dict)
    required_by_decorator: frozenset[str] = frozenset()
    losses: tuple[InferenceError, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def arguments(self) -> dict[str, Parameter]:
        """The parameters that a model may give, in the order of the definition."""
        return {
            each.name: each
            for each in self.signature.parameters
            if each.kind in BY_KEYWORD and not each.annotation.is_context
        }

    @property
    def needed(self) -> frozenset[str]:
        """The arguments that every call must have: without a default, and not optional."""
        needed = {
            name
            for name, each in self.arguments.items()
            if each.default is REQUIRED and each.annotation.optional is False
        }
        return self.required_by_decorator | needed

    @property
    def defaulted(self) -> frozenset[str]:
        """The arguments with a default, which calls can omit."""
        arguments = self.arguments.items()
        known = frozenset(name for name, each in arguments if each.default is not REQUIRED)
        return known - self.required_by_decorator

    @property
    def omissible(self) -> dict[str, InferenceError]:
        """The reasons for the parameters without a schema that the function has a default for."""
        return {
            name: error
            for name, error in self.errors.items()
            if name in self.defaulted
            and not isinstance(error, UnresolvedReferenceError)
            and marker_of(self.arguments[name].default) is None
        }

    @cached_property
    def documentation(self) -> Documentation:
        """The docstring, or the decorator's description."""
        return self.document()

    def undescribed(self, names: Collection[str]) -> list[str]:
        """Return a message about the parameters without a description, if any."""
        bare = [name for name in self.names if name in names and not self.text_of(name)]
        return [undescribed(bare, self.document())] if bare else []

    @property
    def names(self) -> list[str]:
        """The parameters that belong in a manifest.

        A parameter with a default whose name begins with ``_`` is private to the function.
        """
        properties, defaulted = self.parameters["properties"], self.defaulted
        return [each for each in properties if not (each.startswith("_") and each in defaulted)]

    @property
    def properties(self) -> dict[str, JSON]:
        """The schemas of the parameters that belong in a manifest, with their descriptions."""
        found = {}
        for name in self.names:
            schema, text = self.parameters["properties"][name], self.text_of(name)
            if text and isinstance(schema, dict) and schema.get("description") != text:
                schema = {**schema, "description": text}
                if "default" in schema:
                    schema["default"] = schema.pop("default")  # the last key
            found[name] = schema
        return found

    def text_of(self, name: str) -> str | None:
        """Return the description of a parameter."""
        schema = self.parameters["properties"].get(name)
        own: str | None = schema.get("description") if isinstance(schema, dict) else None
        if own and name in self.described:
            return own
        return self.documentation.parameters.get(name) or own

    def takes(self, name: str) -> bool:
        """Return whether the function or its ``**kwargs`` takes a parameter of that name."""
        return name in self.arguments or self.signature.takes_any_keyword


def function_spec(
    function: Callable[..., Any],
    signature: Signature | None = None,
    *,
    said: Inference | None = None,
    document: Callable[[], Documentation] | None = None,
) -> FunctionSpec:
    """Return the content of a manifest for a function, as far as a manifest can contain it.

    Args:
        function: the function, or any other callable.
        signature: of the function, if the caller has it.
        said: the schema that the function implies, if the caller has it.
        document: returns the documentation, by default of the docstring.

    Raises:
        InferenceError: the function's parameters are unknown.
    """
    signature = signature or from_function(function)
    document = document or partial(documentation_of, function)
    if isinstance(getattr(function, ATTRIBUTE, None), ToolDefinition):
        spec = _from_decorator(definition_of(function), signature, document)
    else:
        said = said or implied(signature, function)
        spec = _from_signature(function, signature, said, document)
    return _without_unwritable_defaults(_without_needless_defaults(spec))


def _without_needless_defaults(spec: FunctionSpec) -> FunctionSpec:
    """Omit the defaults of required parameters."""
    properties = dict(spec.parameters["properties"])
    notes = list(spec.notes)
    for name in spec.parameters["required"]:
        if "default" in properties[name]:
            own = properties[name]
            properties[name] = {key: each for key, each in own.items() if key != "default"}
            if spec.arguments[name].default is REQUIRED:
                notes.append(f"the default of {name!r} is omitted: the function doesn't have one")
    parameters = {**spec.parameters, "properties": properties}
    return replace(spec, parameters=parameters, notes=tuple(notes))


def _without_parameters(schema: dict[str, JSON], names: Collection[str]) -> dict[str, JSON]:
    """Return the schema of arguments without some, and without what only they refer to."""
    properties = {name: each for name, each in schema["properties"].items() if name not in names}
    required = [name for name in schema["required"] if name not in names]
    found = {**schema, "properties": properties, "required": required}
    known = found.pop("$defs", {})
    kept = needed_definitions(found, known)
    return (
        {**found, "$defs": {name: known[name] for name in known if name in kept}} if kept else found
    )


def _from_signature(
    function: Callable[..., Any],
    signature: Signature,
    said: Inference,
    document: Callable[[], Documentation],
) -> FunctionSpec:
    taken = parameters_of(function, signature)
    errors = refusals(function, signature, said)
    if errors:  # the other parameters don't depend on them
        kept = tuple(each for each in taken if each.name not in errors)
        said = implied(signature._replace(parameters=kept), function)
    return FunctionSpec(signature, said.parameters, document, said.described, errors)


def _from_decorator(
    definition: ToolDefinition, signature: Signature, document: Callable[[], Documentation]
) -> FunctionSpec:
    source, parameters = definition.source, definition.parameters
    said = {key: plain(getattr(definition, key)) for key in FIELDS if getattr(definition, key)}
    flaws = {key: flaw for key, each in said.items() if (flaw := unwritable(each)) is not None}
    empty: dict[str, JSON] = {"type": "object", "properties": {}, "required": []}
    schema = {**empty, **plain(without_functions(parameters))}
    # the decorator makes up this text if there isn't one
    is_described = definition.description != f"Tool: {definition.name}"
    text = definition.description if is_described else ""
    errors: dict[str, InferenceError] = {}
    for name, each in parameters.get("properties", {}).items():
        flaw = unwritable(each)
        if is_dynamic(each):
            flaw = "there is a function in it, and a manifest holds values alone"
        if flaw is not None:
            words, advice = f"its schema can't be written: {flaw}", "register it in code"
            errors[name] = InferenceError(source, name, words, advice)
    spec = FunctionSpec(
        signature,
        schema,
        lambda: document()._replace(description=text),
        frozenset(schema["properties"]),
        errors,
        fields={key: each for key, each in said.items() if key not in flaws},
        required_by_decorator=frozenset(schema["required"]),
        losses=tuple(_losses(definition, flaws)),
    )
    needed = spec.needed
    required = [name for name in schema["properties"] if name in needed]
    return replace(spec, parameters=_without_parameters({**schema, "required": required}, errors))


def _losses(definition: ToolDefinition, flaws: Mapping[str, str]) -> Iterator[InferenceError]:
    for key in ("preprocess", "postprocess"):
        if getattr(definition, key) is not None:
            words = f"its {key} is not called, because the function of a folder is called as it is"
            advice = "register it in code, or do it in the function"
            yield InferenceError(definition.source, None, words, advice)
    for key, flaw in flaws.items():
        yield InferenceError(definition.source, None, f"{key!r} can't be written: {flaw}")


def _without_unwritable_defaults(spec: FunctionSpec) -> FunctionSpec:
    """Omit defaults that JSON can't contain, such as infinity."""
    notes, schema = list(spec.notes), copied(spec.parameters)
    for node in nodes(schema, ()):
        flaw = unwritable(node.schema.get("default"))
        if flaw is not None:
            del node.schema["default"]
            path = tuple(each for each in node.path if each not in {"properties", "$defs"})
            notes.append(f"the default of {dotted(path)!r} is omitted: {flaw}")
    return replace(spec, parameters=schema, notes=tuple(notes))


def unwritable(value: Any) -> str | None:
    """Return the reason that a manifest can't contain a value; None if it can."""
    pending = [value]
    for each in pending:  # which grows meanwhile
        if isinstance(each, str):
            if not encodes(each):
                return "it contains half of a surrogate pair"
        elif isinstance(each, Mapping):
            pending += [*each, *each.values()]
        elif isinstance(each, list | tuple):
            pending += each
        elif isinstance(each, int | float):
            # other languages read a number beyond the range of floats differently
            if not -_LARGEST <= each <= _LARGEST:
                return "it is not a JSON number"
        elif each is not None:
            return f"it holds {type(each).__name__!r}, which isn't JSON"
    return None


def plain(value: Any) -> JSON:
    """Return a value as JSON has it: a tuple is a list, any mapping a dictionary."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
