"""What a function says of itself, and ``@tool`` of it, as far as a manifest can say it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from sovl_tools.annotations.docstrings import Documentation, documentation_of
from sovl_tools.authoring.decorator import ATTRIBUTE, definition_of
from sovl_tools.authoring.inference import infer
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied, dotted, encodes
from sovl_tools.model.errors import InferenceError
from sovl_tools.schema.dynamic import is_dynamic, without_functions
from sovl_tools.schema.engine import published
from sovl_tools.schema.problem import describe
from sovl_tools.schema.subschemas import nodes
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Parameter, Signature, from_function

FIELDS = (
    "title", "examples", "tags", "activation_phrases", "category", "version", "instructions",
    "output_schema", "annotations", "execution", "requires", "metadata",
)  # fmt: skip
"""Keys of a manifest that ``@tool`` may say, in the order in which they are written."""


_LARGEST = sys.float_info.max


class FunctionSpec(NamedTuple):
    """A function's signature and docstring, and what ``@tool`` says of it.

    Attributes:
        documentation: what the docstring says, or the decorator instead.
        parameters: the JSON Schema of the arguments, without those in ``errors``.
        signature: how the function can be called.
        errors: by parameter, why no schema can be made of it.
        fields: further keys of a manifest.
        required_by_decorator: parameters that the decorator requires.
        losses: what the decorator says and no manifest can.
        notes: what is left out of the schemas, and why.
    """

    documentation: Documentation
    parameters: dict[str, JSON]
    signature: Signature
    errors: Mapping[str, InferenceError] = {}
    fields: Mapping[str, JSON] = {}
    required_by_decorator: frozenset[str] = frozenset()
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
        own = {name for name in properties if name[:1] == "_" and self.has_default(name)}
        return {name: schema for name, schema in properties.items() if name not in own}

    def takes(self, name: str) -> bool:
        """Tell whether the function has, or its ``**kwargs`` take, a parameter of that name."""
        return name in self.arguments or self.signature.takes_any_keyword

    def has_default(self, name: str) -> bool:
        """Tell whether a call may leave an argument out, because the function has a default."""
        known = self.arguments.get(name)
        has = known is not None and known.default is not REQUIRED
        return has and name not in self.required_by_decorator

    def needs(self, name: str) -> bool:
        """Tell whether calls must give an argument, having neither a default nor None for it."""
        known = self.arguments.get(name)
        needed = (
            known is not None and known.default is REQUIRED and known.annotation.optional is False
        )
        return needed or name in self.required_by_decorator

    def without(self, errors: Mapping[str, InferenceError]) -> FunctionSpec:
        """Return the same without the schemas of some parameters."""
        properties, required = self.parameters["properties"], self.parameters["required"]
        parameters = {
            **self.parameters,
            "properties": {name: each for name, each in properties.items() if name not in errors},
            "required": [name for name in required if name not in errors],
        }
        return self._replace(parameters=parameters, errors={**self.errors, **errors})


def function_spec(function: Callable[..., Any]) -> FunctionSpec:
    """Return what a function says of itself.

    Raises:
        InferenceError: it can't be told what the function takes.
    """
    is_decorated = isinstance(getattr(function, ATTRIBUTE, None), ToolDefinition)
    definition = definition_of(function) if is_decorated else None
    spec = _infer(function) if definition is None else _from_decorator(function, definition)
    # what each call has to give needs no default
    properties, notes = dict(spec.parameters["properties"]), list(spec.notes)
    for name in spec.parameters["required"]:
        if "default" in properties[name]:
            properties[name] = {k: each for k, each in properties[name].items() if k != "default"}
            if spec.arguments[name].default is REQUIRED:
                notes.append(f"the default of {name!r} is left out: the function has none")
    parameters = {**spec.parameters, "properties": properties}
    spec = spec._replace(parameters=parameters, notes=tuple(notes))
    return _without_unwritable(
        spec, str(getattr(function, "__qualname__", type(function).__qualname__))
    )


def _infer(function: Callable[..., Any]) -> FunctionSpec:
    documentation = documentation_of(function)
    errors: dict[str, InferenceError] = {}
    while True:
        try:
            # An error names one parameter: what the others have to say is asked without it.
            found = infer(_without_parameters(function, errors), documentation=documentation)
        except InferenceError as error:
            if error.parameter is None or error.parameter in errors:
                raise
            errors[error.parameter] = error
        else:
            return FunctionSpec(documentation, found.parameters, from_function(function), errors)


def _without_parameters(function: Callable[..., Any], names: Collection[str]) -> Callable[..., Any]:
    """Return a function that looks as if it had no parameters of those names."""
    if not names:
        return function
    signature = inspect.signature(function)
    kept = [each for name, each in signature.parameters.items() if name not in names]

    # What inspect asks for is the signature, and inference the annotations behind it.
    def narrowed(**_: Any) -> None:
        """Stand for the function."""

    vars(narrowed).update(
        __wrapped__=function,
        __signature__=signature.replace(parameters=kept),
    )
    return narrowed


def _from_decorator(function: Callable[..., Any], definition: ToolDefinition) -> FunctionSpec:
    source, parameters = definition.source, definition.parameters
    # The decorator makes up such a text where nobody gave one.
    is_described = definition.description != f"Tool: {definition.name}"
    said = {key: plain(getattr(definition, key)) for key in FIELDS if getattr(definition, key)}
    flaws: dict[str, str] = {}
    for key, value in said.items():
        flaw = unwritable(value)
        problems = [] if flaw else published("tool").problems({key: value})
        found = (describe(each) for each in problems if each.path[:1] == (key,))
        reason = flaw or next(found, None)
        if reason is not None:
            flaws[key] = reason
    empty: dict[str, JSON] = {"type": "object", "properties": {}, "required": []}
    schema = {**empty, **plain(without_functions(parameters))}
    spec = FunctionSpec(
        documentation_of(function)._replace(
            description=definition.description if is_described else ""
        ),
        schema,
        from_function(function),
        fields={key: each for key, each in said.items() if key not in flaws},
        required_by_decorator=frozenset(schema["required"]),
        losses=tuple(_losses(definition, flaws)),
    )
    needed = [name for name in schema["properties"] if spec.needs(name)]
    errors = dict(_unwritable_parameters(source, schema["properties"]))
    for name, each in parameters.get("properties", {}).items():
        if is_dynamic(each):
            reason = "there is a function in its schema, and a manifest holds values alone"
            advice = "register it in code, or write values instead"
            errors[name] = InferenceError(source, name, reason, advice)
    return spec._replace(parameters={**schema, "required": needed}).without(errors)


def _losses(definition: ToolDefinition, flaws: Mapping[str, str]) -> Iterator[InferenceError]:
    for key in ("preprocess", "postprocess"):
        if getattr(definition, key) is not None:
            words = f"its {key} is not called, because the function of a folder is called as it is"
            advice = "register it in code, or do it in the function"
            yield InferenceError(definition.source, None, words, advice)
    for key, flaw in flaws.items():
        yield InferenceError(definition.source, None, f"{key!r} can't be written: {flaw}")


def _unwritable_parameters(
    source: str, properties: Mapping[str, Any]
) -> Iterator[tuple[str, InferenceError]]:
    inside = len(("parameters", "properties", "name"))
    for key, schema in properties.items():
        document = {"parameters": {"type": "object", "properties": {key: schema}}}
        # The meta-schema could not even be asked about what is no JSON.
        for problem in [] if unwritable(schema) else published("tool").problems(document):
            if len(problem.path) > inside:
                place = dotted(problem.path[inside:])
                yield key, InferenceError(source, key, f"its {place!r} {describe(problem)}")


def _without_unwritable(spec: FunctionSpec, qualified: str) -> FunctionSpec:
    """Leave out what the text of a manifest can't hold."""
    if unwritable([spec.parameters, *spec.documentation[:2]]) is None:
        return spec
    notes, schema = list(spec.notes), copied(spec.parameters)
    for node in nodes(schema, ()):
        for key in ("default", "description"):
            flaw = unwritable(node.schema.get(key))
            if flaw is not None:
                del node.schema[key]
                path = tuple(each for each in node.path if each not in {"properties", "$defs"})
                notes.append(f"the {key} of {dotted(path)!r} is left out: {flaw}")
    texts, text = spec.documentation.parameters, spec.documentation.description
    flaw = unwritable(text)
    if flaw is not None:
        text = ""
        notes.append(f"the description is left out: {flaw}")
    kept = {name: each for name, each in texts.items() if unwritable(each) is None}
    errors = {}
    definitions = schema.get("$defs", {})
    for name, each in schema["properties"].items():
        # A definition that nothing else needs goes with the property that does.
        flaw = unwritable(
            [each, *(definitions[key] for key in needed_definitions(each, definitions))]
        )
        if flaw is not None:
            words = f"its schema can't be written: {flaw}"
            errors[name] = InferenceError(qualified, name, words)
    documentation = spec.documentation._replace(description=text, parameters=kept)
    spec = spec._replace(documentation=documentation, parameters=schema, notes=tuple(notes))
    return spec.without(errors)


def unwritable(value: Any) -> str | None:
    """Return why a manifest can't hold a value; None if it can."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            if not encodes(each):
                return "it holds half of a surrogate pair"
        elif isinstance(each, list | tuple):
            pending += each
        elif isinstance(each, Mapping):
            pending += [*each.keys(), *each.values()]
        elif isinstance(each, int | float):
            # beyond what a float can hold, other languages read another number
            if not -_LARGEST <= each <= _LARGEST:
                return "it is not a number that JSON can hold"
        elif each is not None:
            return f"it holds {type(each).__name__!r}, which is no JSON"
    return None


def plain(value: Any) -> JSON:
    """Return a value as JSON has it: a tuple is a list, any mapping a dictionary."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def needed_definitions(schema: JSON, definitions: Mapping[str, JSON]) -> list[str]:
    """Return the names of the definitions that a schema refers to, or those that it needs do."""
    found: list[str] = []
    pending = [schema] if definitions else []
    while pending:
        each = pending.pop()
        for node in nodes(each, ()) if isinstance(each, dict) else ():
            name = defined_name(node.schema.get("$ref"))
            if name in definitions and name not in found:
                found.append(name)
                pending.append(definitions[name])
    return found


def defined_name(reference: JSON) -> str:
    """Return the name of the definition that a reference leads to; "" if it leads elsewhere."""
    start = "#/$defs/"
    is_plain = isinstance(reference, str) and reference.startswith(start)
    return reference.removeprefix(start) if is_plain else ""
