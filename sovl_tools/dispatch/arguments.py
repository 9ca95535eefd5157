"""Turn the arguments a model sent into a function's keywords, or into a list of problems."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.dispatch.failure import refused_arguments
from sovl_tools.dispatch.integers import integer_converter
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import (
    JSON,
    MAX_DEPTH,
    Path,
    copied,
    depth,
    encodes,
    number_problem,
    size_of,
    strict_decoder,
    value_at,
)
from sovl_tools.model.result import BadArgument, Failure
from sovl_tools.schema.applicators import below, in_place
from sovl_tools.schema.engine import compile_schema, problems_at
from sovl_tools.schema.names import argument_names, deprecated_arguments
from sovl_tools.schema.problem import Problem, Validator, as_text_of, explanations, named
from sovl_tools.schema.subschemas import SchemaNode
from sovl_tools.signature.signature import (
    REQUIRED,
    Parameter,
    Signature,
    call_schema,
    signature_for,
)

Arguments: TypeAlias = Mapping[str, JSON] | str | bytes | None
"""An object, JSON text of one, or None for a tool without parameters."""

_SHORT = 2 * MAX_DEPTH + 1
"""A string of at most this many characters can't be nested too deep."""

_DECODER = strict_decoder()
_MOST_AT_ONCE = 2_000
"""The number of values that are checked without letting other work continue."""
_CHARACTERS = 16
"""The number of characters of JSON text that count as one value."""


def takes_long(given: Arguments) -> bool:
    """Return True if arguments are so large that other work shouldn't wait for their check."""
    if isinstance(given, str | bytes | bytearray):
        return len(given) > _CHARACTERS * _MOST_AT_ONCE
    return size_of(given, _MOST_AT_ONCE) > _MOST_AT_ONCE


class Unparsed(NamedTuple):
    """Arguments that aren't JSON, and why."""

    reason: str


def parse_arguments(given: Arguments) -> JSON:
    """Return a copy of the arguments as JSON, or the reason why they aren't JSON."""
    if given is None:
        return {}
    try:
        return _parsed(given if isinstance(given, str) else _text_of(given))
    except RecursionError:
        return Unparsed("they are nested too deep")
    except UnicodeDecodeError as error:
        return Unparsed(f"they are not UTF-8: {error.reason}")
    except json.JSONDecodeError as error:
        if not error.doc.strip():
            return {}
        words = _reason(error)
    except ValueError as error:
        words = number_problem(error)
    except TypeError as error:
        words = str(error)
    return Unparsed(f"they aren't JSON: {words}")


def _text_of(given: Mapping[str, JSON] | bytes) -> str:
    # an object too, so that the tool gets its own objects and everything is checked alike
    return given.decode() if isinstance(given, bytes | bytearray) else _encode(given)


def _parsed(text: str) -> JSON:
    arguments = _DECODER.decode(text)
    if len(text) > _SHORT and depth(arguments) > MAX_DEPTH:
        raise RecursionError
    is_simple = text.isascii() and "\\u" not in text
    if not (is_simple or encodes(json.dumps(arguments, ensure_ascii=False))):
        raise ValueError("a string in them contains half of a surrogate pair")
    return arguments


def _as_dict(value: Any) -> dict[Any, Any]:
    """Return a mapping of any kind as a dictionary (the hook of ``json.dumps``)."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an object of type {type(value).__name__!r} isn't JSON")


_encode = json.JSONEncoder(check_circular=False, allow_nan=False, default=_as_dict).encode


def _reason(error: json.JSONDecodeError) -> str:
    place = f"line {error.lineno} column {error.colno}"
    around = repr(error.doc[max(0, error.pos - 15) : error.pos + 15])
    words = f"{error.msg.lower().removesuffix(' at')} at {place}, near {around}"
    is_cut = error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip()
    return f"{words}; the text ends too early" if is_cut else words


class ArgumentCheck:
    """Everything about a tool's arguments that doesn't depend on a call; made at its first call.

    Attributes:
        nullable: the arguments that null omits.
        replaced: deprecated arguments, each with the one to use instead.
        validator: of the other arguments.

    Raises:
        SchemaError: the tool's parameters aren't schema that a validator can be made of.
    """

    def __init__(self, tool: ToolDefinition) -> None:
        signature = signature_for(tool)
        self._tool, self._function, self._types = tool.name, tool.function, tool.types
        # Where the schema was inferred, no one has rejected null for ``T | None = default``: a
        # model sees a T that can be omitted, but None is a value of it.
        admitted = [
            each.name
            for each in _optional(tool.parameters, signature, is_default_none=False)
            if tool.types and problems_at(_property(tool.parameters, each.name), None)
        ]
        schema = tool.parameters
        if admitted:
            properties = {**schema["properties"]}
            for name in admitted:
                properties[name] = {"anyOf": [properties[name], {"type": "null"}]}
            schema = {**schema, "properties": properties}
        # Arguments that the function can't take are rejected, even if the schema admits them.
        self._schema = call_schema(schema, signature)
        self.validator: Validator = compile_schema(self._schema)
        self._fill = _filler(tool, signature)
        self._is_bare = not argument_names(self._schema).places
        self._is_valid = self.validator.is_valid
        self._convert = integer_converter(self._schema)
        self.nullable = nullable_arguments(tool.parameters, signature)
        former = deprecated_arguments(tool.parameters)
        self.replaced = {name: other for name, other in former.items() if other}

    def __call__(self, given: Arguments) -> dict[str, Any] | Failure:
        """Return the function's keywords, a new dictionary, or the problems of the arguments."""
        arguments = parse_arguments(given)
        if arguments is None and self._is_bare:  # models write null for a tool without parameters
            arguments = {}
        if type(arguments) is not dict:
            return self._refused(arguments)
        if self.nullable:
            drop_nulls(arguments, self.nullable)
        if not self._is_valid(arguments):
            left = self._without_nulls(arguments)
            if left is None:
                return self._refused(arguments)
            arguments = left
        if self._convert is not None:
            arguments = self._convert(arguments)
        if self._fill is not None:
            self._fill(arguments)
        keywords: dict[str, Any] = arguments
        return keywords

    def _without_nulls(self, arguments: dict[str, JSON]) -> dict[str, JSON] | None:
        """Return rejected arguments without nulls; None if they don't mean the same without."""
        places = [*null_places(self.validator.problems(arguments))]
        if not places:
            return None
        left = without_places(arguments, places)
        is_same = self._is_valid(left) and self.can_be_left_out(left, places)
        return left if is_same else None

    def can_be_left_out(self, arguments: dict[str, JSON], places: Iterable[Path]) -> bool:
        """Return True if null at places within arguments means the same as omitting them.

        These are fields of classes that are None by default: their schemas don't show null.
        """
        from sovl_tools.annotations.conversion import converter_of  # noqa: PLC0415 - seldom needed
        from sovl_tools.annotations.kinds import is_same  # noqa: PLC0415 - seldom needed

        convert = converter_of(self._function, {*arguments}, self._types)
        given = copied(arguments)
        try:
            for *parents, name in places:
                value_at(given, tuple(parents))[name] = None
            # the classes decide what null means
            return convert is not None and is_same(convert(given), convert(arguments))
        except Exception:  # noqa: BLE001 - a value that their own code rejects
            return False

    def _refused(self, arguments: JSON) -> Failure:
        if isinstance(arguments, Unparsed):
            return self._failure(arguments.reason)
        if not isinstance(arguments, dict):
            advice = as_text_of(arguments, ("object",))
            return self._failure(f"they must be a JSON object, not {named(arguments)}{advice}")
        problems = self.validator.problems(arguments)
        return refused_arguments(self._tool, explanations(problems, self._names))

    def _failure(self, reason: str) -> Failure:
        head = f"invalid arguments for {self._tool}"
        return Failure("invalid_arguments", f"{head}: {reason}", (BadArgument("$", reason),))

    def _names(self, path: Path) -> set[str]:
        """Return the names of the properties that the object at a place can have."""
        found = in_place([SchemaNode((), self._schema, self._schema, ())])
        for part in path:
            found = in_place(each for node in found for each in below(node, part))
        return {name for node in found for name in node.schema.get("properties", ())}


def null_places(problems: Iterable[Problem], *, is_spelt: bool = False) -> Iterator[Path]:
    """Yield the places of rejected nulls within arguments, or also of strings that spell null."""
    for each in problems:
        is_null = each.value is None or (
            is_spelt and isinstance(each.value, str) and each.value.strip() == "null"
        )
        if is_null and len(each.path) > 1 and isinstance(each.path[-1], str):
            yield each.path
        for branch in each.branches:
            yield from null_places(branch, is_spelt=is_spelt)


def without_places(arguments: dict[str, JSON], places: Iterable[Path]) -> dict[str, JSON]:
    """Return a copy of arguments without the members at places."""
    left: dict[str, JSON] = copied(arguments)
    for *parents, name in places:
        value_at(left, tuple(parents)).pop(name, None)
    return left


def drop_nulls(arguments: dict[str, JSON], names: tuple[str, ...]) -> None:
    """Remove those arguments that are null."""
    for name in names:
        if name in arguments and arguments[name] is None:
            del arguments[name]


_LASTING = frozenset({str, int, float, bool, type(None)})
"""Types of values that need no copy."""


Filling: TypeAlias = Callable[[dict[str, JSON]], None]
"""Adds defaults to the arguments of one call."""


def _filler(tool: ToolDefinition, signature: Signature) -> Filling | None:
    """Return the function that adds defaults; None if no argument has one.

    The manifest's defaults win; they are copied for each call, and defaults that break their own
    schema are omitted. ``T | None`` without any default receives None, and so does an annotation
    that can't be read: no rule finds fault with it. Nothing is added within an argument that
    becomes an instance: its class adds its own defaults.
    """
    schema = tool.parameters
    defaults = _Defaults.of(SchemaNode((), schema, schema, ()))
    if defaults.nested:
        from sovl_tools.annotations.conversion import converter_of  # noqa: PLC0415 - seldom needed

        for name in [*defaults.nested]:
            if converter_of(tool.function, {name}, tool.types) is not None:
                del defaults.nested[name]
    for parameter in _optional(schema, signature, known=(True, None)):
        if parameter.default is REQUIRED:
            defaults.values.setdefault(parameter.name, None)
    return defaults.fill if defaults else None


def nullable_arguments(schema: dict[str, JSON], signature: Signature) -> tuple[str, ...]:
    """Return the arguments that null omits although their schema rejects it."""
    return tuple(
        parameter.name
        for parameter in _optional(schema, signature)
        if problems_at(_property(schema, parameter.name), None)
    )


def _optional(
    schema: dict[str, JSON],
    signature: Signature,
    *,
    is_default_none: bool = True,
    known: tuple[bool | None, ...] = (True,),
) -> list[Parameter]:
    """Return the parameters ``T | None`` that need not be given, with or without other defaults.

    ``known`` has their annotations; None for annotations that can't be read.
    """
    properties, required = schema.get("properties", {}), schema.get("required", ())
    return [
        parameter
        for parameter in signature.parameters
        if parameter.annotation.optional in known
        and (parameter.default is REQUIRED or parameter.default is None) is is_default_none
        and isinstance(properties.get(parameter.name), dict)
        and parameter.name not in required
    ]


def _property(schema: dict[str, JSON], name: str) -> SchemaNode:
    return SchemaNode(("properties", name), schema["properties"][name], schema, ())


class _Defaults(NamedTuple):
    values: dict[str, JSON]
    nested: dict[str, _Defaults]

    @classmethod
    def of(cls, node: SchemaNode) -> _Defaults:
        found = cls({}, {})
        for child in (each for each in node.children() if each.is_property):
            name, schema = str(child.path[-1]), child.schema
            if inner := cls.of(child):
                found.nested[name] = inner
            if "default" in schema and not problems_at(child, schema["default"]):
                found.values[name] = schema["default"]
        return found

    def __bool__(self) -> bool:
        return bool(self.values or self.nested)

    def fill(self, arguments: dict[str, JSON]) -> None:
        for name, value in self.values.items():
            if name not in arguments:
                arguments[name] = value if type(value) in _LASTING else copied(value)
        for name, inner in self.nested.items():
            given = arguments.get(name)
            if isinstance(given, dict):
                inner.fill(given)
