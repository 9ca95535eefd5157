"""The shape of requests: their keys and types as data, and both providers' rules for schemas.

The API's checks are written from its documentation and its own messages. Where an API's
decision is undocumented, it rejects: two outputs of one call, and an item with its own ``id``
whose reasoning is missing where it wasn't stored (Responses), two tools of one name
(OpenAI), and a ``$ref`` that leads nowhere in tools that are not strict. Limits that depend on the
model are not checked, nor is the content of hosted tools and media.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path, dotted, kind
from sovl_tools.testing.script import Objection, Request


class Tag(str):
    """A part of a path that names a variant: Anthropic says it, OpenAI doesn't."""

    __slots__ = ()


class Misfit(NamedTuple):
    """One place where a request has not the shape that it should have.

    Attributes:
        path: from the root of the body; the variants of blocks are in it as tags.
        fault: ``"missing"``, ``"unknown"``, ``"type"`` or ``"value"``.
        wanted: the words for the type, or the values, that would be right.
        given: the value there.
    """

    path: Path
    fault: str
    wanted: tuple[str, ...] = ()
    given: JSON = None


class Shape:
    """The shape of a value: its type, and in subclasses its members.

    Attributes:
        words: what such a value is called.
        types: of Python; true and false aren't numbers.
    """

    words = "an object"
    types: tuple[type, ...] = (dict,)

    def is_kind(self, value: JSON) -> bool:
        """Return whether a value has the right type; its members don't matter."""
        return isinstance(value, self.types) and (
            not isinstance(value, bool) or bool in self.types or object in self.types
        )

    def misfits(self, _value: JSON, _path: Path) -> Iterator[Misfit]:
        """Yield the problems within a value of the right type."""
        yield from ()


def misfits(shape: Shape, value: JSON, path: Path = ()) -> Iterator[Misfit]:
    """Yield the places where a value has the wrong shape."""
    if shape.is_kind(value):
        yield from shape.misfits(value, path)
    else:
        yield Misfit(path, "type", (shape.words,), value)


@dataclass(frozen=True)
class Plain(Shape):
    """A value of a type, or of several, without further checks."""

    words: str
    types: tuple[type, ...]


@dataclass(frozen=True)
class OneOf(Shape):
    """One of a list of words."""

    values: tuple[str, ...]
    words = "a string"
    types = (str,)

    def misfits(self, value: JSON, path: Path) -> Iterator[Misfit]:
        """Yield a problem unless it is one of the words."""
        if value not in self.values:
            yield Misfit(path, "value", self.values, value)


@dataclass(frozen=True)
class Many(Shape):
    """An array."""

    of: Shape
    words = "an array"
    types = (list,)

    def misfits(self, value: JSON, path: Path) -> Iterator[Misfit]:
        """Yield the problems of its members."""
        for index, member in enumerate(value):
            yield from misfits(self.of, member, (*path, index))


@dataclass(frozen=True)
class Fields(Shape):
    """An object with the keys that it must and can have, and no others."""

    needed: Mapping[str, Shape]
    other: Mapping[str, Shape] = field(default_factory=dict)

    def misfits(self, value: JSON, path: Path) -> Iterator[Misfit]:
        """Yield the keys that are missing, unknown or have the wrong value."""
        known = {**self.needed, **self.other}
        yield from (Misfit((*path, key), "missing") for key in self.needed if key not in value)
        for key, member in value.items():
            if key in known:
                yield from misfits(known[key], member, (*path, key))
            else:
                yield Misfit((*path, key), "unknown")


@dataclass(frozen=True)
class Tagged(Shape):
    """An object whose shape depends on one of its keys.

    Attributes:
        key: such as ``type``.
        variants: the shapes of the rest of the object, by its value.
        fallback: the variant of an object without the key; None where it must not be missing.
    """

    key: str
    variants: Mapping[str, Shape]
    fallback: str | None = None

    def misfits(self, value: JSON, path: Path) -> Iterator[Misfit]:
        """Yield the problems of its variant."""
        name = value.get(self.key, self.fallback)
        if name is None:
            yield Misfit((*path, self.key), "missing")
        elif not isinstance(name, str) or name not in self.variants:
            yield Misfit((*path, self.key), "value", tuple(self.variants), name)
        else:
            rest = {key: each for key, each in value.items() if key != self.key}
            yield from misfits(self.variants[name], rest, (*path, Tag(name)))


class Either(Shape):
    """A value of one of several shapes that differ in their types."""

    def __init__(self, shapes: tuple[Shape, ...]) -> None:
        self.shapes = shapes
        self.words = "one of " + " or ".join(shape.words for shape in shapes)

    def is_kind(self, value: JSON) -> bool:
        """Return whether the value has the type of one of them."""
        return any(shape.is_kind(value) for shape in self.shapes)

    def misfits(self, value: JSON, path: Path) -> Iterator[Misfit]:
        """Yield its problems as the shape of its type."""
        # the types tell them apart, so that the first is the only one
        fitting = next(shape for shape in self.shapes if shape.is_kind(value))
        yield from fitting.misfits(value, path)


NOTHING = Plain("null", (type(None),))
TEXT = Plain("a string", (str,))
FLAG = Plain("a boolean", (bool,))
COUNT = Plain("an integer", (int,))
OBJECT = Plain("an object", (dict,))
LIST = Plain("an array", (list,))
ANY = Plain("anything", (object,))


def maybe(shape: Shape) -> Either:
    """Return the shape of a value that can be null."""
    return Either((shape, NOTHING))


def some(*keys: str) -> dict[str, Shape]:
    """Return keys whose values are not checked."""
    return dict.fromkeys(keys, ANY)


# Anthropic's API answers in the words of pydantic
_PYDANTIC = {
    "a string": "string",
    "a boolean": "boolean",
    "an integer": "integer",
    "an object": "dictionary",
    "an array": "list",
}


def check_for_openai(shape: Shape, body: JSON) -> Iterator[Objection]:
    """Yield the shape's problems, in OpenAI's words."""
    for misfit in misfits(shape, body):
        # without the variants: input[0].content[1].text
        place = dotted(tuple(part for part in misfit.path if not isinstance(part, Tag)))
        if misfit.fault == "missing":
            message, code = f"Missing required parameter: '{place}'.", "missing_required_parameter"
        elif misfit.fault == "unknown":
            message, code = f"Unknown parameter: '{place}'.", "unknown_parameter"
        elif misfit.fault == "type":
            words = f"expected {misfit.wanted[0]}, but got {kind(misfit.given)} instead"
            message, code = f"Invalid type for '{place}': {words}.", "invalid_type"
        else:
            values = f"Supported values are: {_listed(misfit, 'and')}"
            message, code = f"Invalid value: '{misfit.given}'. {values}.", "invalid_value"
        yield Objection(message, place, code)


def check_for_anthropic(shape: Shape, body: JSON) -> Iterator[Objection]:
    """Yield the shape's problems, in Anthropic's words."""
    for misfit in misfits(shape, body):
        if misfit.fault == "missing":
            message = "Field required"
        elif misfit.fault == "unknown":
            message = "Extra inputs are not permitted"
        elif misfit.fault == "type":
            # of several types that would do the first is named
            words = misfit.wanted[0].removeprefix("one of ").split(" or ")
            message = f"Input should be a valid {_PYDANTIC.get(words[0], words[0])}"
        else:
            message = f"Input should be {_listed(misfit, 'or')}"
        # the path with tags: messages.0.content.1.text.text
        yield Objection(f"{'.'.join(map(str, misfit.path))}: {message}")


def _listed(misfit: Misfit, last: str) -> str:
    *others, final = [f"'{value}'" for value in misfit.wanted]
    return f"{', '.join(others)} {last} {final}" if others else final


def unreadable_for_openai(request: Request) -> Iterator[Objection]:
    """Yield OpenAI's objections: a missing key, or a body that isn't an object."""
    if not request.headers.get("authorization", "").removeprefix("Bearer").strip():
        yield Objection(
            "You didn't provide an API key. You need to provide your API key in an Authorization"
            " header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    if not is_object(request):
        yield Objection(
            "We could not parse the JSON body of your request. The OpenAI API expects a JSON"
            " payload, but what was sent was not valid JSON."
        )


def is_object(request: Request) -> bool:
    """Return whether the body is a JSON object."""
    try:
        return isinstance(json.loads(request.content), dict)
    except ValueError:
        return False
