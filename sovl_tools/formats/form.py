"""How a provider takes tools: strict where it can enforce the schema, and loose otherwise.

Where it wants every property to be required, an optional one can be null instead. Such a null is
removed again before the tool is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeAlias

from sovl_tools.formats.base import ROOT, Loss, Options, Shape
from sovl_tools.formats.meaning import accepts_null
from sovl_tools.formats.providers import Dialect, Provider
from sovl_tools.formats.size import size_of
from sovl_tools.formats.strict import StrictError, strict_subset
from sovl_tools.formats.transformer import loose as loosened
from sovl_tools.formats.transformer import refused_names
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON

_Schema: TypeAlias = dict[str, JSON]

Define: TypeAlias = Callable[[ToolDefinition, _Schema, _Schema], _Schema]
"""Makes the definition of a tool with a schema, and the mark of a strict one if it is one."""


class Form(NamedTuple):
    """How a provider takes tools.

    Attributes:
        provider: its tables.
        define: makes the definition of a tool.
    """

    provider: Provider
    define: Define


def convert_tool(form: Form, tool: ToolDefinition, options: Options) -> Shape:
    """Return a tool in a form, strict if that is wanted and possible."""
    if not options.strict:
        return loose(tool, form)
    try:
        return strict(tool, form)
    except StrictError as error:
        return not_strict(loose(tool, form), error)


def loose(tool: ToolDefinition, form: Form) -> Shape:
    """Return a tool whose schema the provider does not enforce."""
    schema, losses, _ = loosened(tool.parameters, form.provider)
    return Shape(tool, form.define(tool, schema, {}), losses)


def strict(tool: ToolDefinition, form: Form) -> Shape:
    """Return a tool whose schema the provider enforces.

    Raises:
        StrictError: the provider can't enforce the schema.
    """
    parameters, dialect = tool.parameters, form.provider.dialect
    try:
        found = strict_subset(parameters, dialect, require_all=dialect.require_all)
    except RecursionError:
        raise StrictError(ROOT, "it is nested too deep") from None
    if form.provider.size:
        size = size_of(found.schema)._asdict()
        for name, most in form.provider.size.items():
            if size[name] > most:
                raise StrictError(ROOT, f"it has {size[name]:,} {name}, more than {most:,}")
    names = refused_names(parameters, found.schema, found.names, form.provider)
    undo = Restore(parameters, dialect) if dialect.require_all and found.has_optional else None
    definition = form.define(tool, found.schema, {"strict": True})
    return Shape(tool, definition, (*found.losses, *names), undo, is_strict=True)


def not_strict(shape: Shape, why: StrictError) -> Shape:
    """Return a loose tool with the reason why it is not strict."""
    loss = Loss("loose", why.path, f"not strict: {why.message}", why.help)
    return Shape(shape.tool, shape.definition, (loss, *shape.losses))


class Restore:
    """Removes nulls that represent omitted properties from arguments.

    A null that the manifest admits means itself. An object of several alternatives is read as the
    first that has its properties, and no others.
    """

    def __init__(self, parameters: _Schema, dialect: Dialect) -> None:
        self._parameters = parameters
        self._dialect = dialect

    def __call__(self, arguments: _Schema) -> _Schema:
        """Return the arguments without such nulls; values that don't match stay unchanged."""
        restored: _Schema = self._restored(arguments, self._schema)
        return restored

    @cached_property
    def _schema(self) -> _Schema:
        """The schema in the dialect, with optional properties."""
        return strict_subset(self._parameters, self._dialect).schema

    def _restored(self, value: JSON, schema: _Schema) -> JSON:
        schema = next((each for each in self._branches(schema) if _is_read_as(value, each)), {})
        if isinstance(value, list) and "items" in schema:
            return [self._restored(each, schema["items"]) for each in value]
        if not isinstance(value, dict) or "properties" not in schema:
            return value
        members = schema["properties"]
        return {
            name: self._restored(each, members[name])
            for name, each in value.items()
            if each is not None or not self._is_omission(name, schema)
        }

    def _branches(self, schema: _Schema) -> Iterator[_Schema]:
        """Yield the alternatives in a schema, or itself, behind their references."""
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            yield from self._branches(self._schema if name == "#" else self._schema["$defs"][name])
        elif "anyOf" in schema:
            for each in schema["anyOf"]:
                yield from self._branches(each)
        else:
            yield schema

    def _is_omission(self, name: str, schema: _Schema) -> bool:
        """Return whether a null under a name represents an omitted property."""
        if name in schema["required"]:
            return False
        return not accepts_null(schema["properties"][name], self._schema.get("$defs", {}))


def _is_read_as(value: JSON, schema: _Schema) -> bool:
    """Return whether a value that a provider has checked is of this alternative."""
    if not isinstance(value, dict):
        return isinstance(value, list) and "items" in schema
    members = schema.get("properties", {})
    return value.keys() <= members.keys() and all(
        "const" not in members[name] or each in (members[name]["const"], None)
        for name, each in value.items()
    )
