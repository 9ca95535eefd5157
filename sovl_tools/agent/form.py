"""What a tool takes, for somebody who fills it in one argument at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.dispatch.arguments import ArgumentCheck
from sovl_tools.dispatch.given import Unparsed, parsed
from sovl_tools.dispatch.repair import repaired
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, json_path
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.keywords import OF_SEVERAL_PROPERTIES
from sovl_tools.schema.messages import shown

_PAIR = re.compile(r'(?<!\S)([^\W\d]\w*)=("(?:[^"\\]|\\.)*"|\'[^\']*\'|\S+)')
_MOST_CHOICES = 20
_SPOKEN = {"yes": True, "no": False}


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
        tool: with its dynamic parts resolved.
        properties: the schema of each parameter.

    Raises:
        ResolutionError: a dynamic part can't be had.
    """

    def __init__(self, tool: ToolDefinition) -> None:
        self.tool = tool.resolve()
        parameters = self.tool.parameters
        self.properties: dict[str, JSON] = parameters.get("properties", {})
        self._check = ArgumentCheck(self.tool)
        self._single = compile_schema(
            {key: value for key, value in parameters.items() if key not in OF_SEVERAL_PROPERTIES}
        )

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
        names = [*self.properties, *(key for key in arguments if key not in self.properties), None]
        made = []
        for path, words in ((each.path, each.message) for each in getattr(found, "details", ())):
            place = path.removeprefix("$").removeprefix(".")
            below = (name for name in names if name is not None and _is_below(path, name))
            made.append(Problem(next(below, None), f"{place}: {words}" if place else words))
        return sorted(made, key=lambda each: names.index(each.parameter))

    def question(self, name: str) -> str:
        """Return the question for an argument: its kind, what it is, what there is to choose."""
        found = self.properties[name]
        schema = found if isinstance(found, dict) else {}
        described = " ".join(str(schema.get("description") or schema.get("title") or "").split())
        kind = _kind(schema)
        question = f"{name} ({kind})" if kind else name
        question = f"{question}: {described}" if described else question
        return question if question.endswith((".", "!", "?", "…")) else f"{question}?"


def pairs(text: str) -> tuple[dict[str, str], str]:
    """Return the values of all ``key=value`` in a text, as they are written, and what else it says.

    A value is a text in quotes or has no spaces. The last of a key counts.
    """
    found = {each[1]: each[2].rstrip(",;") for each in _PAIR.finditer(text)}
    return found, _PAIR.sub("", text).strip(" ,;\n\t")


def _candidates(text: str) -> Iterator[JSON]:
    """Yield what a text may stand for: itself, a truth value, the items of a list."""
    yield unquoted(text)
    if text.casefold() in _SPOKEN:
        yield _SPOKEN[text.casefold()]
    if not text.startswith(("[", "{")):
        yield [unquoted(part.strip()) for part in text.split(",")]


def unquoted(text: str) -> str:
    """Return the string that a text spells as JSON or in single quotes, or the text."""
    if len(text) > 1 and text[0] == text[-1] == "'" and "'" not in text[1:-1]:
        return text[1:-1]
    try:
        found = json.loads(text) if text[:1] == '"' else text
    except ValueError:
        return text
    return found if isinstance(found, str) else text


def _is_below(path: str, name: str) -> bool:
    other = json_path((name,))
    return path == other or path.startswith((f"{other}.", f"{other}["))


def _kind(schema: dict[str, JSON]) -> str:
    options = schema.get("enum")
    if isinstance(options, list):
        listed = [each if isinstance(each, str) else shown(each) for each in options]
        more = ["…"] if len(options) > _MOST_CHOICES else []
        return f"one of {', '.join([*listed[:_MOST_CHOICES], *more])}"
    types = schema.get("type", [])
    return " or ".join([types] if isinstance(types, str) else types)
