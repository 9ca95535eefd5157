"""How a provider takes tools: strict where it can enforce the schema, and loose otherwise.

Where it wants every property to be required, an optional one can be null instead. Such a null is
removed again before the tool is called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from inspect import CO_VARKEYWORDS
from types import CodeType
from typing import NamedTuple, TypeAlias

from sovl_tools.annotations.hints import underlying
from sovl_tools.formats.base import ROOT, Compile, Loss, Options, Shape
from sovl_tools.formats.meaning import accepts_null
from sovl_tools.formats.providers import Dialect, Provider
from sovl_tools.formats.size import excess_of
from sovl_tools.formats.strict import StrictError, strict_subset
from sovl_tools.formats.transformer import loose as loosened
from sovl_tools.formats.transformer import refused_names
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import with_subschemas

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
    parameters, dialect, most = tool.parameters, form.provider.dialect, form.provider.size
    try:
        found = strict_subset(parameters, dialect, require_all=dialect.require_all)
        excess = excess_of(found.schema, most) if most is not None else None
    except RecursionError:
        raise StrictError(ROOT, "it is nested too deep") from None
    if excess is not None:
        raise StrictError(ROOT, f"it has {excess}")
    losses = found.losses
    if "additionalProperties" not in parameters and _takes_any_keyword(tool):
        message = "the function takes other arguments too, which can't be given"
        losses += (Loss("rewritten", ROOT, message),)
    losses += refused_names(parameters, found.schema, found.names, form.provider)
    undo = Restore(parameters, dialect) if dialect.require_all and found.has_optional else None
    definition = form.define(tool, found.schema, {"strict": True})
    return Shape(tool, definition, losses, undo, is_strict=True)


def _takes_any_keyword(tool: ToolDefinition) -> bool:
    if tool.deferred is not None:
        return tool.deferred.takes_any_keyword
    code = getattr(underlying(tool.function), "__code__", None)
    return isinstance(code, CodeType) and bool(code.co_flags & CO_VARKEYWORDS)


def not_strict(shape: Shape, why: StrictError) -> Shape:
    """Return a loose tool with the reason why it is not strict."""
    loss = Loss("loose", why.path, f"not strict: {why.message}", why.help)
    return Shape(shape.tool, shape.definition, (loss, *shape.losses))


class Restore:
    """Removes nulls that represent omitted properties from arguments.

    A null that the manifest admits means itself. A value of several alternatives is read as the
    first that it matches.
    """

    def __init__(self, parameters: _Schema, dialect: Dialect) -> None:
        self._parameters = parameters
        self._dialect = dialect
        self._checks: dict[int, Callable[[JSON], bool]] = {}

    def __call__(self, arguments: _Schema, compile_schema: Compile) -> _Schema:
        """Return the arguments without such nulls; values that don't match stay unchanged."""
        restored: _Schema = self._restored(arguments, self._schema, compile_schema)
        return restored

    @cached_property
    def _schema(self) -> _Schema:
        """The schema in the dialect, with optional properties."""
        return strict_subset(self._parameters, self._dialect).schema

    def _restored(self, value: JSON, schema: _Schema, compile_schema: Compile) -> JSON:
        while "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            schema = self._schema if name == "#" else self._schema["$defs"][name]
        if "anyOf" in schema and isinstance(value, dict | list):
            return self._alternative(value, schema["anyOf"], compile_schema)
        if isinstance(value, list) and "items" in schema:
            return [self._restored(each, schema["items"], compile_schema) for each in value]
        if not isinstance(value, dict) or "properties" not in schema:
            return value
        members = schema["properties"]
        return {
            name: self._restored(each, members.get(name, {}), compile_schema)
            for name, each in value.items()
            if each is not None or not self._is_omission(name, schema)
        }

    def _is_omission(self, name: str, schema: _Schema) -> bool:
        """Return whether a null under a name represents an omitted property."""
        known = schema["properties"].get(name)
        if known is None or name in schema["required"]:
            return False
        return not accepts_null(known, self._schema.get("$defs", {}))

    def _alternative(self, value: JSON, branches: list[_Schema], compile_schema: Compile) -> JSON:
        for branch in branches:
            restored = self._restored(value, branch, compile_schema)
            if len(branches) == 1:  # which wraps a reference
                return restored
            # The branches live as long as this object, so that their ids stay unique.
            if id(branch) not in self._checks:
                whole = {**_rerooted(branch), "$defs": self._definitions()}
                self._checks[id(branch)] = compile_schema(whole)
            if self._checks[id(branch)](restored):
                return restored
        return value

    def _definitions(self) -> _Schema:
        """Return all definitions, and the schema itself as one of them."""
        definitions = {**self._schema.get("$defs", {}), _ROOT: {**self._schema, "$defs": {}}}
        return {name: _rerooted(each) for name, each in definitions.items()}


_ROOT = "(root)"  # no name of a definition that anyone writes


def _rerooted(schema: JSON) -> JSON:
    """Return a schema that can be in another: ``#`` leads to a definition."""
    if not isinstance(schema, dict):  # false: other properties are forbidden
        return schema
    if schema.get("$ref") == "#":
        return {**schema, "$ref": f"#/$defs/{_ROOT}"}
    return with_subschemas(schema, _rerooted)
