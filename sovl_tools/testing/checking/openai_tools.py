"""The tools of a request to OpenAI, which its two APIs spell differently."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.checking.openai_schemas import faults
from sovl_tools.testing.record import Objection

NAME = "^[a-zA-Z0-9_-]+$"
MAX_NAME = 64
MAX_TOOLS = 128


class Function(NamedTuple):
    """A tool that is a function: its definition, and where that stands in the request."""

    definition: dict[str, JSON]
    place: str


def objections(body: dict[str, JSON], functions: list[Function]) -> Iterator[Objection]:
    """Yield what is refused in the tools of a request, which have the right shape."""
    count = len(body.get("tools", ()))
    if count > MAX_TOOLS:
        yield Objection(
            f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS},"
            f" but got an array with length {count} instead.",
            "tools",
            "array_above_max_length",
        )
    for function in functions:
        yield from misnamed(function.definition["name"], f"{function.place}.name")
        yield from _of_parameters(function)
    yield from _repeated(functions)


def misnamed(name: str, place: str) -> Iterator[Objection]:
    """Yield that a name is empty, too long or has other characters in it."""
    yield from too_long(name, place, MAX_NAME)
    if not re.fullmatch(NAME, name):
        yield Objection(
            f"Invalid '{place}': string does not match pattern. Expected a string that matches the"
            f" pattern '{NAME}'.",
            place,
            "invalid_value",
        )


def too_long(text: str, place: str, most: int) -> Iterator[Objection]:
    """Yield that a text has too many characters."""
    if len(text) > most:
        yield Objection(
            f"Invalid '{place}': string too long. Expected a string with maximum length {most}, but"
            f" got a string with length {len(text)} instead.",
            place,
            "string_above_max_length",
        )


def empty(place: str) -> Objection:
    """Return that there has to be something in an array."""
    return Objection(
        f"Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty"
        " array instead.",
        place,
        "empty_array",
    )


def _of_parameters(function: Function) -> Iterator[Objection]:
    schema = function.definition.get("parameters")
    if schema is None:
        return
    name = function.definition["name"]
    for fault in faults(schema, strict=function.definition.get("strict") is True):
        yield Objection(
            f"Invalid schema for function '{name}': {fault}.",
            f"{function.place}.parameters",
            "invalid_function_parameters",
        )


def _repeated(functions: list[Function]) -> Iterator[Objection]:
    names = [function.definition["name"] for function in functions]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Objection(f"Duplicate function name '{name}' in 'tools'.", "tools", "invalid_value")
