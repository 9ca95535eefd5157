"""How each provider tells of a wrong shape."""

from __future__ import annotations

from collections.abc import Iterator

from sovl_tools.model.document import JSON, Path, dotted, kind
from sovl_tools.testing.checking.shapes import Misfit, Shape, Tag, misfits
from sovl_tools.testing.record import Objection

_PYDANTIC = {
    "a string": "string",
    "a boolean": "boolean",
    "an integer": "integer",
    "a number": "number",
    "an object": "dictionary",
    "an array": "list",
}


def of_openai(shape: Shape, body: JSON) -> Iterator[Objection]:
    """Yield what has not the shape that it should have, in OpenAI's words."""
    for misfit in misfits(shape, body):
        place = dotted(tuple(part for part in misfit.path if not isinstance(part, Tag)))
        message, code = _openai(misfit, place)
        yield Objection(message, place, code)


def _openai(misfit: Misfit, place: str) -> tuple[str, str]:
    if misfit.fault == "missing":
        return f"Missing required parameter: '{place}'.", "missing_required_parameter"
    if misfit.fault == "unknown":
        return f"Unknown parameter: '{place}'.", "unknown_parameter"
    if misfit.fault == "type":
        return wrong_type(place, misfit.wanted[0], misfit.given), "invalid_type"
    values = _listed(_quoted(misfit), "and")
    return f"Invalid value: '{misfit.given}'. Supported values are: {values}.", "invalid_value"


def wrong_type(place: str, wanted: str, given: JSON) -> str:
    """Return OpenAI's words for a value of the wrong type."""
    got = kind(given)
    article = "" if got == "null" else "an " if got[0] in "aio" else "a "
    return f"Invalid type for '{place}': expected {wanted}, but got {article}{got} instead."


def of_anthropic(shape: Shape, body: JSON) -> Iterator[Objection]:
    """Yield what has not the shape that it should have, in Anthropic's words."""
    for misfit in misfits(shape, body):
        yield Objection(f"{spelled(misfit.path)}: {_anthropic(misfit)}")


def spelled(path: Path) -> str:
    """Return a path as Anthropic writes it: ``messages.0.content.1.text.text``."""
    return ".".join(map(str, path))


def _anthropic(misfit: Misfit) -> str:
    if misfit.fault == "missing":
        return "Field required"
    if misfit.fault == "unknown":
        return "Extra inputs are not permitted"
    if misfit.fault == "type":
        words = misfit.wanted[0].removeprefix("one of ").split(" or ")
        return f"Input should be a valid {_PYDANTIC.get(words[0], words[0])}"
    return f"Input should be {_listed(_quoted(misfit), 'or')}"


def _quoted(misfit: Misfit) -> list[str]:
    return [f"'{value}'" for value in misfit.wanted]


def _listed(words: list[str], last: str) -> str:
    *others, final = words
    if not others:
        return final
    comma = "," if last == "and" and len(words) > 2 else ""  # noqa: PLR2004 - two need none
    return f"{', '.join(others)}{comma} {last} {final}"
