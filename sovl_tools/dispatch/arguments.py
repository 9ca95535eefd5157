"""From what a model sent to the keywords that a function takes, or to what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sovl_tools.dispatch.defaults import admitting_null, filling, nullable
from sovl_tools.dispatch.given import SHORT, Arguments, Unparsed, parsed, scan, vetted, whole
from sovl_tools.dispatch.integers import with_integers
from sovl_tools.loading.taking import signature_for
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, Path, json_path
from sovl_tools.model.result import BadArgument, Failure, Repair
from sovl_tools.schema.applicators import below, in_place
from sovl_tools.schema.engine import Problem, Validator, compile_schema
from sovl_tools.schema.messages import MAX_NAME, brief, explanations, named, place
from sovl_tools.schema.subschemas import SchemaNode, nodes
from sovl_tools.signature.signature import Signature

_MOST_LINES = 20


def refusal(tool: str, details: Sequence[tuple[Path, str]]) -> Failure:
    """Return the failure that lists what is wrong with the arguments, each with its place."""
    lines = [
        f"- {brief(place(path), MAX_NAME) or 'the arguments'}: {brief(words)}"
        for path, words in details[:_MOST_LINES]
    ]
    left_out = len(details) - _MOST_LINES
    more = [f"- and {left_out} more"] if left_out > 0 else []
    bad = tuple(BadArgument(json_path(path), words) for path, words in details)
    message = "\n".join([f"invalid arguments for {tool}:", *lines, *more])
    return Failure("invalid_arguments", message, bad)


class ArgumentCheck:
    """What is known about a tool's arguments before they come; made at its first call.

    Raises:
        SchemaError: the tool's parameters are no schema that a validator can be made of.
    """

    __slots__ = ("_fill", "_is_valid", "_nullable", "_schema", "_tool", "_validator")

    def __init__(self, tool: ToolDefinition) -> None:
        signature = signature_for(tool)
        self._tool = tool.name
        # Where the schema was inferred, nobody has refused null for ``T | None = default``.
        parameters = admitting_null(tool.parameters, signature) if tool.types else tool.parameters
        self._schema = _closed(parameters, signature)
        self._validator: Validator = compile_schema(self._schema)
        self._fill = filling(tool.parameters, signature, tool.function)
        lacking = [] if tool.preprocess else self._lacking(signature)
        if lacking:
            required = [*self._schema.get("required", ()), *lacking]
            self._schema = {**self._schema, "required": required}
            self._validator = compile_schema(self._schema)
        self._is_valid = self._validator.is_valid
        self._nullable = nullable(tool.parameters, signature)

    def _lacking(self, signature: Signature) -> list[str]:
        """Return the arguments that need not be given and yet would be missing.

        Such a one has a default that is not filled in because it breaks its own schema.
        """
        filled: dict[str, JSON] = {}
        if self._fill is not None:
            self._fill(filled)
        known = self._schema.get("properties", {}).keys() - {*self._schema.get("required", ())}
        return [name for name in signature.required if name in known and name not in filled]

    def __call__(self, given: Arguments) -> dict[str, Any] | Failure:
        """Return the function's keywords, a new dictionary, or what is wrong with the arguments."""
        before = whole[0]
        text: Any = given
        try:
            arguments, end = scan(text, 0)
        except (TypeError, StopIteration, ValueError, RecursionError):
            arguments = parsed(given)
        else:
            if end > SHORT or end != len(text) or "\\" in text or not text.isascii():
                arguments = vetted(text, arguments, end)
        if self._nullable and type(arguments) is dict:
            _drop_nulls(arguments, self._nullable)
        try:
            if type(arguments) is not dict or not self._is_valid(arguments):
                return self._refused(arguments)
        except ValueError as error:
            return self._failure(f"they can't be encoded: {error}")
        if whole[0] is not before:
            arguments = with_integers(arguments, self._schema)
        if self._fill is not None:
            self._fill(arguments)
        keywords: dict[str, Any] = arguments
        return keywords

    def repaired(
        self, given: Arguments, failure: Failure
    ) -> tuple[dict[str, Any] | Failure, tuple[Repair, ...]]:
        """Return the keywords of arguments that could be made to fit, or the failure as it is."""
        from sovl_tools.dispatch.repair import repaired  # noqa: PLC0415 - seldom needed

        arguments = parsed(given)
        if isinstance(arguments, dict):
            _drop_nulls(arguments, self._nullable)
        found = None if isinstance(arguments, Unparsed) else repaired(arguments, self._validator)
        if found is None:
            return failure, ()
        checked = self(found[0])
        return checked, () if isinstance(checked, Failure) else found[1]

    def _refused(self, arguments: JSON) -> Failure:
        if isinstance(arguments, Unparsed):
            return self._failure(arguments.reason)
        if not isinstance(arguments, dict):
            return self._failure(f"they must be a JSON object, not {named(arguments)}")
        problems = self._validator.problems(arguments)
        certain = [each for problem in problems for each in self._certain(problem)]
        return refusal(self._tool, explanations(certain or problems, self._names))

    def _certain(self, problem: Problem) -> Iterator[Problem]:
        """Yield the problem without names that only seem unknown, as their alternative failed."""
        if problem.keyword != "unevaluatedProperties":
            yield problem
        elif names := tuple(name for name in problem.expected if name not in self._mentioned()):
            yield problem._replace(expected=names)

    def _mentioned(self) -> set[str]:
        every = nodes(self._schema, ())
        return {name for node in every for name in node.schema.get("properties", ())}

    def _failure(self, reason: str) -> Failure:
        head = f"invalid arguments for {self._tool}"
        return Failure("invalid_arguments", f"{head}: {reason}", (BadArgument("$", reason),))

    def _names(self, path: Path) -> set[str]:
        """Return the names of the properties that the object at a place may have."""
        found = in_place([SchemaNode((), self._schema, self._schema, ())])
        for part in path:
            found = in_place(each for node in found for each in below(node, part))
        return {name for node in found for name in node.schema.get("properties", ())}


def _closed(schema: dict[str, JSON], signature: Signature) -> dict[str, JSON]:
    """Return the schema with the arguments refused that the function could not take."""
    if signature.takes_any_keyword or schema.get("unevaluatedProperties") is False:
        return schema
    combined = {"allOf", "anyOf", "oneOf", "if", "$ref", "dependentSchemas"}
    if combined.isdisjoint(schema):
        return {**schema, "additionalProperties": False}
    given = {key: value for key, value in schema.items() if key != "additionalProperties"}
    return {**given, "unevaluatedProperties": False}


def _drop_nulls(arguments: dict[str, JSON], names: tuple[str, ...]) -> None:
    for name in names:
        if name in arguments and arguments[name] is None:
            del arguments[name]
