"""A tool, and its parameters one by one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from sovl_tools.model.document import JSON, JSON_TYPES, copied
from sovl_tools.model.former_names import check_arguments, refuse_attribute

StepHandler: TypeAlias = Callable[[Mapping[str, Any], Any], Any]
"""``handler(step, context)``, sync or async; its return value is the step's result."""

_DEFERRED = "_deferred"
_RESOLVED = "sovl_tools.schema.dynamic:resolved"
_PARAMETERS = "sovl_tools.schema.parameters:parameter_definitions"
"""Functions that read schemas, in the layer above."""

PYTHON_TYPES = {name: each for each, name in JSON_TYPES.items()}
"""Python's types by the names that JSON Schema gives them."""


class ToolParameterDefinition(NamedTuple):
    """One parameter of a tool.

    Attributes:
        name: the argument's name.
        description: its meaning, "" if unknown.
        param_type: its annotation, or else the Python type of its JSON type, or ``Any``.
        type_str: its JSON type, several joined by ``" | "``, ``"any"`` without one.
        is_required: whether a call must give it.
        default_value: the schema's default; None if ``has_default`` is false.
        has_default: whether the schema names a default.
    """

    name: str
    description: str
    param_type: Any
    type_str: str
    is_required: bool
    default_value: JSON = None
    has_default: bool = False


def schema_of(parameters: Sequence[ToolParameterDefinition]) -> dict[str, JSON]:
    """Return the JSON Schema of arguments that are described one by one.

    Raises:
        TypeError: one of them isn't a ToolParameterDefinition.
    """
    for each in parameters:
        if not isinstance(each, ToolParameterDefinition):
            raise TypeError(f"parameters must be ToolParameterDefinition, not {each!r:.80}")
    return {
        "type": "object",
        "properties": {each.name: _property(each) for each in parameters},
        "required": [each.name for each in parameters if each.is_required],
    }


def _property(parameter: ToolParameterDefinition) -> dict[str, JSON]:
    names = [name.strip() for name in parameter.type_str.split("|")]
    schema: dict[str, JSON] = {}
    # ``"any"``, for one, means no type at all.
    if all(name in PYTHON_TYPES for name in names):
        schema["type"] = names[0] if len(names) == 1 else names
    if parameter.description:
        schema["description"] = parameter.description
    # a default other than None needs no ``has_default`` next to it
    if parameter.has_default or parameter.default_value is not None:
        schema["default"] = parameter.default_value
    return schema


class Deferred:
    """The function of a tool whose module is imported when the function is first needed.

    Args:
        load: imports the module, and returns the tool that it makes.
        code: a value that is equal for the same code.
        takes_any_keyword: whether the function has ``**kwargs``.
    """

    def __init__(
        self, load: Callable[[], ToolDefinition], code: object, *, takes_any_keyword: bool
    ) -> None:
        self.code = code
        self.takes_any_keyword = takes_any_keyword
        self._load = load
        self._tool: ToolDefinition | None = None
        self._lock = threading.Lock()

    def tool(self) -> ToolDefinition:
        """Import the module if that hasn't been done, and return the tool that it makes.

        Raises:
            UnavailableError: it can't be imported, or differs from what its text says.
        """
        with self._lock:
            if self._tool is None:
                tool = self._tool = self._load()
                # what it was loaded from isn't needed anymore
                self._load = lambda: tool
            return self._tool


@dataclass(frozen=True)
class DeferredHandler:
    """A step handler of a module that is imported when the handler is first needed."""

    module: Deferred
    action: str

    def imported(self) -> StepHandler:
        """Import the module and return the handler; raises as ``Deferred.tool`` does."""
        return self.module.tool().step_handlers[self.action]

    def __call__(self, step: Mapping[str, Any], context: Any, /) -> Any:
        """Call the handler."""
        return self.imported()(step, context)


def _entered(address: str) -> Any:
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True, eq=False)
class ToolDefinition:
    """A tool that can be listed, exported and called.

    ``docs/reference/manifest.md`` describes the fields.
    Two definitions are equal only if they are the same object: a reload makes another.

    Attributes:
        name: an ASCII identifier of at most 64 characters.
        description: its purpose and when to use it, for the model.
        parameters: the JSON Schema (draft 2020-12) of the arguments, an object; a list of
            ToolParameterDefinition is accepted as well.
        function: the function, which is called with the arguments as keywords.
        source: its folder, module or distribution.
        output_schema: the JSON Schema of the result, if the author gave one.
        returns: the function's return value, in words.
        types: the resolved annotations of the function, as far as they can be resolved.
        remarks: weaknesses, each with the name of a parameter or None.
        is_dynamic: whether the parameters contain functions, as in ``{"enum": names}``.
        instance: the argument of these functions; None for none.
        preprocess: returns the function's arguments, given the valid ones.
        postprocess: returns the result, given the function's return value.
        aliases: former names by which it can be called.
        deprecated: whether no new caller should use it, or the reason in words.
        replaced_by: the name of the tool to use instead.
        removed_in: the release that no longer has it.
    """

    name: str
    description: str
    parameters: JSON
    function: Callable[..., Any]
    title: str | None = None
    tags: tuple[str, ...] = ()
    category: str | None = None
    version: str | None = None
    instructions: str | None = None
    activation_phrases: tuple[str, ...] = ()
    examples: tuple[JSON, ...] = ()
    output_schema: dict[str, JSON] | None = None
    annotations: Mapping[str, bool] = field(default_factory=dict)
    execution: Mapping[str, JSON] = field(default_factory=dict)
    requires: Mapping[str, list[str]] = field(default_factory=dict)
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    step_handlers: Mapping[str, StepHandler] = field(default_factory=dict)
    source: str = ""
    returns: str | None = None
    types: Mapping[str, Any] = field(default_factory=dict)
    remarks: Sequence[tuple[str | None, str]] = field(default_factory=tuple)
    is_dynamic: bool = False
    instance: object = None
    preprocess: Callable[[dict[str, Any]], Any] | None = None
    postprocess: Callable[[Any], Any] | None = None
    aliases: tuple[str, ...] = ()
    deprecated: bool | str = False
    replaced_by: str | None = None
    removed_in: str | None = None

    def __new__(cls, *_: Any, **keywords: Any) -> Self:
        """Reject an argument that has another name here."""
        check_arguments("ToolDefinition", keywords)
        return object.__new__(cls)

    if not TYPE_CHECKING:  # to a type checker, a missing attribute stays missing

        def __getattr__(self, name: str) -> Any:
            """Return the function of a deferred module, or the name of another framework's name."""
            if name != "function" or _DEFERRED not in vars(self):
                refuse_attribute("ToolDefinition", name)
            made = vars(self)[_DEFERRED].tool()
            vars(self).update(function=made.function, step_handlers=made.step_handlers)
            return made.function

    def __post_init__(self) -> None:
        """Make the schema of parameters that are given one by one."""
        given: Any = self.parameters
        if isinstance(given, list | tuple):
            # the dataclass is frozen, and this is a part of making it
            object.__setattr__(self, "parameters", schema_of(given))
            types = {each.name: each.param_type for each in given}
            object.__setattr__(self, "types", {**types, **self.types})
        execution: Any = self.execution
        if isinstance(execution, Mapping):  # JSON has one kind of number: 3.0 is a valid count
            counts = {key: _whole(value) for key, value in execution.items()}
            object.__setattr__(self, "execution", counts)
        function: Any = self.function
        if isinstance(function, Deferred):
            vars(self)[_DEFERRED] = vars(self).pop("function")

    @property
    def deferred(self) -> Deferred | None:
        """What imports the tool's module when ``function`` is first read; None once it has."""
        found: Deferred | None = vars(self).get(_DEFERRED)
        return None if "function" in vars(self) else found

    def current_instructions(self) -> str | None:
        """Return the tool's text for a system prompt; an ``AITool`` computes it each time."""
        ask = getattr(self.instance, "get_ai_prompt_instructions", None)
        try:
            text = None if ask is None else ask()
        except Exception:
            logging.getLogger("sovl_tools").warning(
                "get_ai_prompt_instructions of tool %s failed", self.name, exc_info=True
            )
            text = None
        return text if isinstance(text, str) and text else self.instructions

    def resolve(self) -> ToolDefinition:
        """Return the tool with the functions in its parameters called; itself without any.

        Nowhere else are they called. They get the instance, if the tool belongs to one.

        A parameter whose schema as a whole is a function is not required if it has a default.

        Raises:
            ResolutionError: one fails, or returns an invalid value for its place.
        """
        if not self.is_dynamic:
            return self
        given = () if self.instance is None else (self.instance,)
        # in the layer above: this package has no code for schemas
        resolved = _entered(_RESOLVED)
        parameters = resolved(self.parameters, lambda function: function(*given))
        return replace(self, parameters=self._relieved(parameters), is_dynamic=False)

    def _relieved(self, parameters: dict[str, JSON]) -> dict[str, JSON]:
        """Return resolved parameters, fewer required where a function has brought a default."""
        written, properties = self.parameters.get("properties"), parameters.get("properties", {})
        if not isinstance(written, Mapping) or "required" not in parameters:
            return parameters
        # the author of a function can't tell whether its schema will have a default
        brought = [name for name, each in written.items() if callable(each)]
        supplied = [
            name
            for name in brought
            if isinstance(properties[name], dict) and "default" in properties[name]
        ]
        required = [name for name in parameters["required"] if name not in supplied]
        return {**parameters, "required": required}

    @property
    def deprecation(self) -> str:
        """What a caller should know if the tool is deprecated, as a sentence; otherwise ""."""
        return deprecation(vars(self))

    @property
    def parameter_definitions(self) -> list[ToolParameterDefinition]:
        """The parameters one by one, in the order of the schema."""
        # A tool from a folder has its annotations where its function does.
        types = self.types or getattr(self.function, "__annotations__", {})
        found: list[ToolParameterDefinition] = _entered(_PARAMETERS)(
            self.resolve().parameters, types
        )
        return found

    def __repr__(self) -> str:
        return f"<ToolDefinition {self.name!r} from {self.source or 'code'}>"

    def execute(self, /, **arguments: Any) -> Any:
        """Call the bare function: no validation; an awaitable if the tool is async."""
        return self.function(**arguments)

    def to_schema(self) -> dict[str, JSON]:
        """Return exactly ``{name, description, parameters}``, the neutral definition.

        It is the caller's own: changing it does not change the tool.

        Raises:
            ResolutionError: see ``resolve``.
        """
        parameters = copied(self.resolve().parameters)
        return {"name": self.name, "description": self.description, "parameters": parameters}


def _whole(value: JSON) -> JSON:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def deprecation(manifest: Mapping[str, JSON]) -> str:
    """Return what a manifest, or a definition's fields, says of a deprecated tool; otherwise "".

    ``replaced_by`` and ``removed_in`` deprecate a tool, too.
    """
    reason, other, release = map(manifest.get, ("deprecated", "replaced_by", "removed_in"))
    said = [
        reason.strip().rstrip(".") if isinstance(reason, str) else "",
        f"use {other} instead" if other else "",
        f"to be removed in {release}" if release else "",
    ]
    words = "; ".join(filter(None, said))
    if words:
        return f"Deprecated: {words}."
    return "Deprecated." if reason else ""


def manifest_values(tool: ToolDefinition, keys: Iterable[str]) -> dict[str, JSON]:
    """Return the values of a definition for keys of a manifest, as JSON, without empty ones."""
    known = {key: getattr(tool, key) for key in keys}
    found = {key: value for key, value in known.items() if value not in (None, False, (), {})}
    for key, value in found.items():
        if isinstance(value, tuple | Mapping):
            found[key] = list(value) if isinstance(value, tuple) else dict(value)
    return found
