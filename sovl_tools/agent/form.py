"""What a tool takes, for somebody who fills it in one argument at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, json_path
from sovl_tools.model.result import BadArgument, Failure
from sovl_tools.running.arguments import ArgumentCheck
from sovl_tools.running.given import Unparsed, parsed
from sovl_tools.running.repair import repaired
from sovl_tools.validation import compile_schema

_TOGETHER = {
    "required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
    "propertyNames", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
}  # fmt: skip
"""Keywords of an object that speak of several properties at a time."""

_SPOKEN = {"yes": True, "y": True, "on": True, "no": False, "n": False, "off": False}


class Problem(NamedTuple):
    """Something that is wrong with the arguments.

    Attributes:
        parameter: the name of the argument that lacks or is wrong; None for all together.
        words: what is there and what would be right.
    """

    parameter: str | None
    words: str


class Form:
    """The parameters of a tool.

    Attributes:
        name: the tool's.
        tool: with its dynamic parts resolved.
        properties: the schema of each parameter.
        required: the names of those that must be given, in the order of the schema.

    Raises:
        ResolutionError: a dynamic part can't be had.
    """

    def __init__(self, tool: ToolDefinition) -> None:
        self.name = tool.name
        self.tool = tool.resolve()
        parameters = self.tool.parameters
        self.properties: dict[str, JSON] = parameters.get("properties", {})
        required = parameters.get("required", ())
        self.required = [name for name in self.properties if name in required]
        self._check = ArgumentCheck(self.tool)
        self._single = compile_schema(
            {key: value for key, value in parameters.items() if key not in _TOGETHER}
        )

    def schema(self, name: str) -> dict[str, JSON]:
        """Return the schema of a parameter; one that is true or false says nothing."""
        found = self.properties[name]
        return found if isinstance(found, dict) else {}

    def is_fit(self, name: str, value: JSON) -> bool:
        """Tell whether a value fits its parameter."""
        return not self._single.problems({name: value})

    def read(self, name: str, text: str) -> JSON:
        """Return the value that a text means for a parameter; unless one fits, what it seems."""
        for candidate in _candidates(text):
            found = repaired({name: candidate}, self._single)
            if found is not None:
                return found[0][name]
        problems = self._single.problems({name: text})
        value = parsed(text) if any(each.keyword == "type" for each in problems) else text
        return text if isinstance(value, Unparsed) else value

    def problems(self, arguments: dict[str, JSON]) -> list[Problem]:
        """Return what is wrong with arguments, in the order of the parameters."""
        found = self._check(arguments)
        if not isinstance(found, Failure):
            return []
        names = [*self.properties, *(key for key in arguments if key not in self.properties)]
        made = [_problem(detail, names) for detail in found.details]
        return sorted(made, key=lambda each: _place(each.parameter, names))


def _candidates(text: str) -> Iterator[JSON]:
    """Yield what a text may stand for: itself, a truth value, the items of a list."""
    yield unquoted(text)
    if text.casefold() in _SPOKEN:
        yield _SPOKEN[text.casefold()]
    if not text.startswith(("[", "{")):
        yield [unquoted(part.strip()) for part in text.split(",")]


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around it."""
    inner = text[1:-1]
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"" or text[0] in inner:  # noqa: PLR2004 - two marks
        return _spelt(text)
    return _spelt(text) if "\\" in inner else inner


def _spelt(text: str) -> str:
    """Return the string that a text spells as JSON, or the text."""
    try:
        found = json.loads(text) if text[:1] == '"' else text
    except ValueError:
        return text
    return found if isinstance(found, str) else text


def _problem(detail: BadArgument, names: Sequence[str]) -> Problem:
    paths = {name: json_path((name,)) for name in names}
    name = next((name for name, path in paths.items() if _is_below(detail.path, path)), None)
    place = detail.path.removeprefix("$").removeprefix(".")
    return Problem(name, f"{place}: {detail.message}" if place else detail.message)


def _is_below(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))


def _place(name: str | None, names: Sequence[str]) -> int:
    return len(names) if name is None else names.index(name)
