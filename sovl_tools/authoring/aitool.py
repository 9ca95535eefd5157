"""Tools that are classes: each instance of a subclass of ``AITool`` is a tool."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import FIELDS
from sovl_tools.model.suggestion import nearest
from sovl_tools.schema.dynamic import is_dynamic, stated


class AITool(ABC):
    """A tool with a state, or with definitions of its own.

    A subclass gives the four abstract members, as attributes or properties; everything else has a
    default. Each field of ``ToolDefinition`` that a subclass has is taken: ``annotations``,
    ``activation_phrases``, ``requires`` and so on. ``registry.filter`` can ask for any other
    attribute. All of them are read once, when the tool is registered; what changes later is a
    function in ``parameters_schema``, and what the two methods return.

    Attributes:
        category: what kind of tool it is.
        tags: words to find it by.
    """

    category: str | None = None
    tags: ClassVar[Any] = []

    @property
    @abstractmethod
    def name(self) -> str:
        """An ASCII identifier of at most 64 characters."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What the tool does and when to use it, for the model."""

    @property
    @abstractmethod
    def parameters_schema(self) -> dict[str, JSON]:
        """The JSON Schema of the arguments; values in it can be functions, given the tool."""

    @abstractmethod
    def execute(self, *_: Any, **arguments: Any) -> Any:
        """Do the work; sync or async. The arguments have been checked against the schema."""

    def get_ai_prompt_instructions(self) -> str | None:
        """Return what a system prompt says of the tool, "" or None for nothing."""
        return ""

    def get_openrouter_tool_definition(self) -> dict[str, JSON]:
        """Return the tool as OpenRouter takes it: a function with name, description, parameters."""
        return {"type": "function", "function": definition_of_instance(self).to_schema()}


def definition_of_instance(instance: AITool) -> ToolDefinition:
    """Return the definition of a tool that is an object.

    Raises:
        TypeError: a member is of another type than it must be, or a class is in the schema.
        Exception: whatever a property or a method of the subclass raises.
    """
    # Each member is read once: a property may return another value the next time.
    schema = stated(
        _check_member(instance, "parameters_schema", instance.parameters_schema, Mapping)
    )
    instructions = instance.get_ai_prompt_instructions()
    if instructions is not None:
        _check_member(instance, "instructions", instructions, str)
    given = {name: getattr(instance, name) for name in _FIELDS if hasattr(instance, name)}
    for name in _LISTS & given.keys():
        given[name] = tuple(_check_member(instance, name, given[name], Collection))
    given["instructions"] = instructions or given.get("instructions")
    return ToolDefinition(
        name=_check_member(instance, "name", instance.name, str),
        description=_check_member(instance, "description", instance.description, str),
        parameters={"type": "object", "properties": {}, **schema},
        function=instance.execute,
        is_dynamic=is_dynamic(schema),
        instance=instance,
        **{
            "source": f"{type(instance).__module__}.{type(instance).__qualname__}",
            "remarks": tuple(_misspelt(type(instance))),
            **given,
        },
    )


_FIELDS = (*FIELDS, "source", "returns", "preprocess", "postprocess", "step_handlers")
"""Fields of a definition that a class can have as attributes."""
_LISTS = frozenset({"tags", "activation_phrases", "examples", "aliases"})


def _misspelt(kind: type) -> Iterator[tuple[None, str]]:
    """Yield a remark for each attribute with nearly the name of a field."""
    known = {*dir(AITool), *_FIELDS}
    names = [name for base in kind.__mro__ if issubclass(base, AITool) for name in vars(base)]
    for name in dict.fromkeys(names):
        near = None if name in known or name.startswith("_") else nearest(name, _FIELDS)
        if near is not None:
            yield None, f"has an attribute {name!r}: did you mean {near!r}?"


def _check_member(instance: AITool, member: str, value: Any, kind: type) -> Any:
    # A string is a collection of letters, and never meant as one.
    if not isinstance(value, kind) or (kind is Collection and isinstance(value, str)):
        owner, actual = type(instance).__qualname__, type(value).__name__
        raise TypeError(f"{member} of {owner} is of type {actual}, not {_EXPECTED[kind]}")
    return value


_EXPECTED: dict[type, str] = {str: "a string", Mapping: "a mapping", Collection: "a list"}
