"""How a provider takes tools: strict where it can enforce the schema, and loose otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from inspect import CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import NamedTuple, Protocol

from sovl_tools.annotations.hints import underlying
from sovl_tools.formats.base import ROOT, Loss, Shape
from sovl_tools.formats.compat import Rules, compatible, refused_names
from sovl_tools.formats.restore import Restore
from sovl_tools.formats.strict import Dialect, Spend, StrictError, strict_subset
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON


class Define(Protocol):
    """Makes a provider's definition of a tool and the schema of its arguments."""

    def __call__(
        self, tool: ToolDefinition, schema: dict[str, JSON], *, is_strict: bool
    ) -> dict[str, JSON]:
        """Return a definition that holds the schema itself."""
        ...


class Form(NamedTuple):
    """How a provider takes tools.

    Attributes:
        rules: what it refuses in any schema.
        dialect: the part of JSON Schema that it can enforce.
        define: makes the definition of a tool.
        check_size: raises a StrictError for a strict schema that is too large.
    """

    rules: Rules
    dialect: Dialect
    define: Define
    check_size: Callable[[dict[str, JSON]], None] = lambda _: None


def convert_tool(tool: ToolDefinition, form: Form, *, is_strict: bool) -> Shape:
    """Return a tool in a form, strict if that is asked for and can be."""
    if not is_strict:
        return loose(tool, form)
    try:
        return strict(tool, form)
    except StrictError as error:
        return not_strict(loose(tool, form), error)


def loose(tool: ToolDefinition, form: Form) -> Shape:
    """Return a tool whose schema the provider does not enforce."""
    schema, losses, _ = compatible(tool.parameters, form.rules)
    return Shape(tool, form.define(tool, schema, is_strict=False), losses)


def strict(tool: ToolDefinition, form: Form, spend: Spend = lambda _, __: None) -> Shape:
    """Return a tool whose schema the provider enforces; for ``spend`` see ``strict_subset``.

    Raises:
        StrictError: it says what the provider can't enforce.
    """
    parameters, dialect = tool.parameters, form.dialect
    try:
        found = strict_subset(parameters, dialect, require_all=dialect.require_all, spend=spend)
        form.check_size(found.schema)
    except RecursionError:
        raise StrictError(ROOT, "it is nested too deep") from None
    losses = found.losses
    if "additionalProperties" not in parameters:
        function = tool.function
        # most functions are not wrapped, and there is nothing to look for behind them
        is_plain = type(function) is FunctionType and not hasattr(function, "__wrapped__")
        code = getattr(function if is_plain else underlying(function), "__code__", None)
        if isinstance(code, CodeType) and code.co_flags & CO_VARKEYWORDS:
            message = "the function takes other arguments too, which can't be given"
            losses += (Loss("rewritten", ROOT, message),)
    if not form.rules.takes_names(found.names):
        losses += refused_names(parameters, found.schema, rules=form.rules)
    undo = Restore(parameters, dialect) if dialect.require_all and found.has_optional else None
    definition = form.define(tool, found.schema, is_strict=True)
    return Shape(tool, definition, losses, undo, is_strict=True)


def not_strict(shape: Shape, why: StrictError) -> Shape:
    """Return a loose tool that says why it is not strict."""
    loss = Loss("loose", why.path, f"not strict: {why.message}", why.help)
    return shape._replace(losses=(loss, *shape.losses))


class Size(NamedTuple):
    """The size of a strict schema, as providers count it; each definition counts once.

    Attributes:
        properties: how many properties its objects have.
        values: how many values there are to choose from.
        characters: of all names of properties and definitions, and of all values.
        longest: characters of the values of the longest choice of more than 250 texts.
        depth: how many objects and arrays lie in one another, recursion not followed; of a schema
            that has no more than ten of them, how many there are.
    """

    properties: int = 0
    values: int = 0
    characters: int = 0
    longest: int = 0
    depth: int = 0


_COUNTED = frozenset({"anyOf", "properties", "items", "enum", "const"})
# OpenAI bounds the characters of a choice only if it has more texts than this
_MANY = 250
# no provider refuses this depth
_FEW = 10


def size_of(schema: dict[str, JSON]) -> Size:
    """Return the size of a schema in a dialect."""
    definitions: dict[str, JSON] = schema.get("$defs", {})
    properties = values = longest = depth = 0
    characters = sum(map(len, definitions))
    pending = [schema, *definitions.values()]  # each definition once, as providers count
    for each in pending:  # which grows
        if _COUNTED.isdisjoint(each):
            continue
        if "anyOf" in each:
            pending += each["anyOf"]
        if "properties" in each:
            inner = each["properties"]
            properties += len(inner)
            characters += sum(map(len, inner))
            pending += inner.values()
        if "items" in each:
            pending.append(each["items"])
        depth += "properties" in each or "items" in each
        if "enum" in each or "const" in each:
            choice = [each["const"]] if "const" in each else each["enum"]
            length = sum(map(len, map(_text, choice)))
            values += len(choice)
            characters += length
            longest = max(longest, length) if len(choice) > _MANY else longest
    if depth > _FEW:  # otherwise no provider minds how they lie
        depth = _depth(schema, definitions, ())
    return Size(properties, values, characters, longest, depth)


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _depth(
    schema: dict[str, JSON], definitions: Mapping[str, JSON], followed: tuple[str, ...]
) -> int:
    reference = schema.get("$ref")
    if reference is not None:
        name = reference.removeprefix("#/$defs/")
        if name in followed or name not in definitions:
            return 0
        return _depth(definitions[name], definitions, (*followed, name))
    deepest = 0
    for key in ("properties", "anyOf", "items"):
        if key in schema:
            found = schema[key]
            children = found.values() if key == "properties" else found
            for each in (found,) if key == "items" else children:
                deepest = max(deepest, _depth(each, definitions, followed))
    return deepest + ("properties" in schema or "items" in schema)
