"""From what a model sent to the keywords that a function takes, or to what is wrong with it."""

from __future__ import annotations

from typing import Any

from sovl_tools.loading.inspecting import signature_of
from sovl_tools.loading.schemanodes import nodes
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, Path, dotted, json_path, kind
from sovl_tools.model.interface import Signature
from sovl_tools.model.result import BadArgument, Failure, Repair
from sovl_tools.model.suggestion import nearest
from sovl_tools.running.defaults import filling, nullable
from sovl_tools.running.given import Arguments, Unparsed, parsed, tick
from sovl_tools.running.integers import with_integers
from sovl_tools.validation import Problem, Validator, compile_schema
from sovl_tools.validation.wording import describe

_SUPERFLUOUS = {"additionalProperties", "unevaluatedProperties"}


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
        self._fill = filling(tool.parameters, signature)
        self._nullable = nullable(tool.parameters, signature)

    def __call__(self, given: Arguments) -> dict[str, Any] | Failure:
        """Return the function's keywords, a new dictionary, or what is wrong with the arguments."""
        before = tick()
        arguments = parsed(given)
        if self._nullable and type(arguments) is dict:
            _drop_nulls(arguments, self._nullable)
        try:
            if type(arguments) is not dict or not self._is_valid(arguments):
                return self._refused(arguments)
        except ValueError as error:
            return self._failure([], f"they can't be encoded: {error}")
        if tick() != before + 1:
            arguments = with_integers(arguments, self._schema)
        if self._fill is not None:
            self._fill(arguments)
        keywords: dict[str, Any] = arguments
        return keywords

    def repaired(
        self, given: Arguments, failure: Failure
    ) -> tuple[dict[str, Any] | Failure, tuple[Repair, ...]]:
        """Return the keywords of arguments that could be made to fit, or the failure as it is."""
        from sovl_tools.running.repair import repaired  # noqa: PLC0415 - seldom needed

        arguments = parsed(given)
        found = None if isinstance(arguments, Unparsed) else repaired(arguments, self._validator)
        if found is None:
            return failure, ()
        checked = self(found[0])
        return checked, () if isinstance(checked, Failure) else found[1]

    def _refused(self, arguments: JSON) -> Failure:
        if isinstance(arguments, Unparsed):
            return self._failure([], arguments.reason)
        if not isinstance(arguments, dict):
            return self._failure([], f"they must be a JSON object, not {kind(arguments)!r}")
        problems = self._validator.problems(arguments)
        details = [bad for each in problems for bad in self._explained(each)]
        if len(details) > 1:
            details = [bad for bad in details if not self._is_doubtful(problems, bad[0])]
        return self._failure(sorted(details, key=lambda bad: [str(part) for part in bad[0]]))

    def _is_doubtful(self, problems: list[Problem], path: Path) -> bool:
        """Tell whether a name only seems unknown, because the alternative that has it failed."""
        unevaluated = any(
            problem.keyword == "unevaluatedProperties"
            and problem.path == path[:-1]
            and path[-1] in problem.expected
            for problem in problems
            if path
        )
        return unevaluated and path[-1] in self._mentioned()

    def _mentioned(self) -> set[str]:
        every = nodes(self._schema, ())
        return {name for node in every for name in node.schema.get("properties", ())}

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
        if problem.keyword in _SUPERFLUOUS:
            known = self._names(problem.path) - problem.value.keys()
            return [((*problem.path, name), _unknown(name, known)) for name in problem.expected]
        return [(problem.path, describe(problem))]

    def _names(self, path: Path) -> set[str]:
        """Return the names of the properties of the object at a place, if they can be told."""
        schema: JSON = self._schema
        for part in path:
            if not isinstance(schema, dict):
                return set()
            schema = _below(schema, part)
        return set(schema.get("properties", ())) if isinstance(schema, dict) else set()


def _below(schema: dict[str, JSON], part: str | int) -> JSON:
    if isinstance(part, str):
        return schema.get("properties", {}).get(part)
    first = schema.get("prefixItems", ())
    return first[part] if part < len(first) else schema.get("items")


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


def _drop_nulls(arguments: dict[str, JSON], names: tuple[str, ...]) -> None:
    for name in names:
        if name in arguments and arguments[name] is None:
            del arguments[name]
