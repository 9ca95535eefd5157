"""How a provider takes tools: strict where it can enforce the schema, and loose otherwise.

Where it wants every property to be required, an optional one can be null instead. Such a null is
removed again before the tool is called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from inspect import CO_VARKEYWORDS
from itertools import islice, product
from types import CodeType
from typing import NamedTuple, Protocol

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


class Define(Protocol):
    """Makes a provider's definition of a tool and the schema of its arguments."""

    def __call__(
        self, tool: ToolDefinition, schema: dict[str, JSON], *, is_strict: bool
    ) -> dict[str, JSON]:
        """Return a definition that contains the schema itself."""
        ...


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
    return Shape(tool, form.define(tool, schema, is_strict=False), losses)


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
    definition = form.define(tool, found.schema, is_strict=True)
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


# ways to read a value that are tried; their number doubles with each null that may mean itself
_MOST = 64


class Restore:
    """Removes nulls that represent omitted properties from arguments.

    Where a null may represent itself as well, or a value for several alternatives, the manifest
    decides: the first way to read the arguments that matches it is taken.
    """

    def __init__(self, parameters: dict[str, JSON], dialect: Dialect) -> None:
        self._parameters = parameters
        self._dialect = dialect
        self._checks: dict[int, Callable[[JSON], bool]] = {}

    def __call__(self, arguments: dict[str, JSON], compile_schema: Compile) -> dict[str, JSON]:
        """Return the arguments without such nulls; values that don't match stay unchanged."""
        ways: list[dict[str, JSON]] = self._ways(arguments, self._schema, compile_schema)
        if len(ways) == 1:
            return ways[0]
        if id(self) not in self._checks:
            self._checks[id(self)] = compile_schema(self._parameters)
        fits = self._checks[id(self)]
        return next((each for each in ways if fits(each)), ways[0])

    @cached_property
    def _schema(self) -> dict[str, JSON]:
        """The schema in the dialect, with optional properties."""
        return strict_subset(self._parameters, self._dialect).schema

    def _ways(self, value: JSON, schema: dict[str, JSON], compile_schema: Compile) -> list[JSON]:
        """Return the ways to read a value, the likeliest first."""
        while "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            schema = self._schema if name == "#" else self._schema["$defs"][name]
        if not isinstance(value, dict | list):
            return [value]
        if "anyOf" in schema:
            return self._alternatives(value, schema["anyOf"], compile_schema)
        if isinstance(value, dict) and "properties" in schema:
            return self._ways_of_object(value, schema, compile_schema)
        if isinstance(value, list) and "items" in schema:
            items = (self._ways(each, schema["items"], compile_schema) for each in value)
            return [list(each) for each in islice(product(*items), _MOST)]
        return [value]

    def _ways_of_object(
        self, value: dict[str, JSON], schema: dict[str, JSON], compile_schema: Compile
    ) -> list[JSON]:
        members: list[list[tuple[tuple[str, JSON], ...]]] = []
        for name, each in value.items():
            known = schema["properties"].get(name)
            kept: list[tuple[tuple[str, JSON], ...]]
            if known is None or each is not None or name in schema["required"]:
                ways = [each] if known is None else self._ways(each, known, compile_schema)
                kept = [((name, way),) for way in ways]
            # a null can be meant here, or represent an omission: both ways are tried
            elif accepts_null(known, self._schema.get("$defs", {})):
                kept = [((name, None),), ()]
            else:
                kept = [()]
            members.append(kept)
        found = islice(product(*members), _MOST)
        return [dict(pair for each in way for pair in each) for way in found]

    def _alternatives(
        self, value: JSON, branches: list[dict[str, JSON]], compile_schema: Compile
    ) -> list[JSON]:
        """Return the possible readings of a value as one of the alternatives."""
        found: list[JSON] = []
        for branch in branches:
            ways = self._ways(value, branch, compile_schema)
            if len(branches) > 1:  # an anyOf of one, which wraps a reference, leaves no choice
                # The branches live as long as this object, so that their ids stay unique.
                if id(branch) not in self._checks:
                    whole = {**_rerooted(branch), "$defs": self._definitions()}
                    self._checks[id(branch)] = compile_schema(whole)
                ways = [*filter(self._checks[id(branch)], ways)]
            found += ways
        # not a set: values can be lists and objects
        different = [each for index, each in enumerate(found) if each not in found[:index]]
        return different[:_MOST] or [value]

    def _definitions(self) -> dict[str, JSON]:
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
