"""From what a model sent to the keywords that a function takes, or to what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from itertools import count
from json.decoder import JSONDecoder
from typing import Any, NamedTuple, NoReturn, TypeAlias

from sovl_tools.loading import fitting
from sovl_tools.loading.inspecting import signature_of
from sovl_tools.loading.schemanodes import SchemaNode
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, Path, depth, dotted, json_path, kind
from sovl_tools.model.interface import REQUIRED, Signature
from sovl_tools.model.result import BadArgument, Failure
from sovl_tools.model.suggestion import nearest
from sovl_tools.running.integers import with_integers
from sovl_tools.validation import Problem, Validator, compile_schema
from sovl_tools.validation.wording import describe, shown

Arguments: TypeAlias = Mapping[str, JSON] | str | bytes | None
"""An object, JSON text of one, or nothing for a tool that needs no arguments."""

MAX_DEPTH = 64
_tick = count().__next__


def _float(digits: str) -> float:
    """Read a number with a fraction or an exponent; count the whole ones, which may be integers."""
    number = float(digits)
    if number - number != 0:
        raise ValueError(f"{digits[:40]} is too large a number")
    if number.is_integer():
        _tick()
    return number


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


_DECODER = JSONDecoder(parse_float=_float, parse_constant=_refuse)
# The scanner that ``decode`` calls; going to it directly saves half of what ``json.loads`` costs.
_scan: Callable[[str, int], tuple[JSON, int]] = vars(_DECODER)["scan_once"]


class ArgumentCheck:
    """What is known about a tool's arguments before they come; made at its first call.

    Raises:
        SchemaError: the tool's parameters are no schema that a validator can be made of.
    """

    __slots__ = ("_fill", "_is_valid", "_nullable", "_schema", "_tool", "_validator")

    def __init__(self, tool: ToolDefinition) -> None:
        signature = signature_of(tool.function)
        self._tool = tool.name
        self._schema = _closed(tool.parameters, signature)
        self._validator: Validator = compile_schema(self._schema)
        self._is_valid = self._validator.is_valid
        self._fill = _filling(tool.parameters, signature)
        self._nullable = _nullable(tool.parameters, signature)

    def __call__(self, given: Arguments) -> dict[str, Any] | Failure:
        """Return the function's keywords, a new dictionary, or what is wrong with the arguments."""
        before = _tick()
        arguments = _parsed(given)
        if self._nullable and type(arguments) is dict:
            _drop_nulls(arguments, self._nullable)
        try:
            if type(arguments) is not dict or not self._is_valid(arguments):
                return self._refused(arguments)
        except ValueError as error:
            return self._failure([], f"they can't be encoded: {error}")
        if _tick() != before + 1:
            arguments = with_integers(arguments, self._schema)
        if self._fill is not None:
            self._fill(arguments)
        keywords: dict[str, Any] = arguments
        return keywords

    def _refused(self, arguments: JSON) -> Failure:
        if isinstance(arguments, Unparsed):
            return self._failure([], arguments.reason)
        if not isinstance(arguments, dict):
            return self._failure([], f"they must be a JSON object, not {kind(arguments)!r}")
        problems = self._validator.problems(arguments)
        details = [bad for each in problems for bad in self._explained(each)]
        return self._failure(sorted(details, key=lambda bad: [str(part) for part in bad[0]]))

    def _failure(self, details: list[tuple[Path, str]], reason: str = "") -> Failure:
        head = f"invalid arguments for {self._tool}"
        if not details:
            return Failure("invalid_arguments", f"{head}: {reason}", (BadArgument("$", reason),))
        lines = [f"- {dotted(path) or 'the arguments'}: {words}" for path, words in details]
        bad = tuple(BadArgument(json_path(path), words) for path, words in details)
        return Failure("invalid_arguments", "\n".join([f"{head}:", *lines]), bad)

    def _explained(self, problem: Problem) -> list[tuple[Path, str]]:
        if problem.keyword == "required":
            return [((*problem.path, name), "is required") for name in problem.expected]
        if problem.keyword in {"additionalProperties", "unevaluatedProperties"}:
            known = self._names(problem.path) - problem.value.keys()
            return [((*problem.path, name), _unknown(name, known)) for name in problem.expected]
        return [(problem.path, describe(problem))]

    def _names(self, path: Path) -> set[str]:
        schema: JSON = self._schema
        for part in path:
            schema = schema.get("items" if isinstance(part, int) else "properties", {})
            schema = schema.get(part, {}) if isinstance(part, str) else schema
        return set(schema.get("properties", ())) if isinstance(schema, dict) else set()


class Unparsed(NamedTuple):
    """Arguments that are no JSON, and why."""

    reason: str


def _parsed(given: Arguments) -> JSON:
    """Return the arguments as JSON of their own, or why they are none."""
    if type(given) is not str:
        return _parsed_other(given)
    try:
        arguments, end = _scan(given, 0)
    except (StopIteration, ValueError, RecursionError):
        return _parsed_slowly(given)
    if end != len(given) or (given.count("{") + given.count("[") > MAX_DEPTH):
        return _parsed_slowly(given)
    return arguments


def _parsed_other(given: Arguments) -> JSON:
    if given is None:
        return {}
    if isinstance(given, bytes | bytearray):
        try:
            return _parsed(given.decode())
        except UnicodeDecodeError as error:
            return Unparsed(f"they are not UTF-8: {error.reason}")
    if isinstance(given, str):
        return _parsed(str.__str__(given))
    try:
        return _parsed(json.dumps(given, allow_nan=False))
    except (ValueError, TypeError, RecursionError) as error:
        return Unparsed(f"they are no JSON: {str(error)[:1].lower()}{str(error)[1:]}")


def _parsed_slowly(text: str) -> JSON:
    if not text.strip():
        return {}
    try:
        arguments = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        around = shown(text[max(0, error.pos - 15) : error.pos + 15])
        return Unparsed(f"they are no JSON: {error.msg.lower()} at {place}, near {around}")
    except ValueError as error:
        return Unparsed(str(error).partition(";")[0])
    except RecursionError:
        return Unparsed("they are nested too deep")
    return arguments if depth(arguments) <= MAX_DEPTH else Unparsed("they are nested too deep")


def _unknown(name: str, known: set[str]) -> str:
    near = nearest(name, known)
    return f"is not a parameter; did you mean {near!r}?" if near else "is not a parameter"


def _closed(schema: dict[str, JSON], signature: Signature) -> dict[str, JSON]:
    """Return the schema with the arguments refused that the function could not take."""
    if signature.takes_any_keyword or schema.get("unevaluatedProperties") is False:
        return schema
    combined = {"allOf", "anyOf", "oneOf", "if", "$ref", "dependentSchemas"}
    if combined.isdisjoint(schema):
        return {**schema, "additionalProperties": False}
    given = {key: value for key, value in schema.items() if key != "additionalProperties"}
    return {**given, "unevaluatedProperties": False}


def _nullable(schema: dict[str, JSON], signature: Signature) -> tuple[str, ...]:
    """Return the arguments for which null means "left out": ``T | None``, not required."""
    return tuple(
        parameter.name
        for parameter in signature.parameters
        if parameter.annotation.optional
        and (parameter.default is REQUIRED or parameter.default is None)
        and parameter.name in schema["properties"]
        and parameter.name not in schema.get("required", ())
    )


def _drop_nulls(arguments: dict[str, JSON], names: tuple[str, ...]) -> None:
    for name in names:
        if name in arguments and arguments[name] is None:
            del arguments[name]


_Filling: TypeAlias = Callable[[dict[str, JSON]], None]


def _filling(schema: dict[str, JSON], signature: Signature) -> _Filling | None:
    """Return what fills in the arguments that were left out; None if there never are any."""
    defaults = _Defaults.of(SchemaNode((), schema, schema, ()))
    required = schema.get("required", ())
    nothing = {
        parameter.name: None
        for parameter in signature.parameters
        if parameter.default is REQUIRED
        and parameter.annotation.optional
        and parameter.name in schema["properties"]
        and parameter.name not in required
        and parameter.name not in defaults.scalars
    }
    defaults.scalars.update(nothing)
    return defaults.fill if defaults else None


class _Defaults(NamedTuple):
    """The defaults of an object's properties, those of nested objects included."""

    scalars: dict[str, JSON]
    containers: dict[str, JSON]
    nested: dict[str, _Defaults]

    @classmethod
    def of(cls, node: SchemaNode) -> _Defaults:
        found = cls({}, {}, {})
        for name, schema in node.schema.get("properties", {}).items():
            if isinstance(schema, dict):
                child = node._replace(path=(*node.path, "properties", name), schema=schema)
                found._add(name, child)
        return found

    def _add(self, name: str, node: SchemaNode) -> None:
        inner = self.of(node)
        if inner:
            self.nested[name] = inner
        if "default" in node.schema and not fitting.problems(node, node.schema["default"]):
            value = node.schema["default"]
            target = self.containers if isinstance(value, dict | list) else self.scalars
            target[name] = value

    def __bool__(self) -> bool:
        return bool(self.scalars or self.containers or self.nested)

    def fill(self, arguments: dict[str, JSON]) -> None:
        """Add to the arguments what they lack; containers are copied for each call."""
        for name, value in self.scalars.items():
            if name not in arguments:
                arguments[name] = value
        for name, value in self.containers.items():
            if name not in arguments:
                arguments[name] = deepcopy(value)
        for name, inner in self.nested.items():
            given = arguments.get(name)
            if isinstance(given, dict):
                inner.fill(given)
