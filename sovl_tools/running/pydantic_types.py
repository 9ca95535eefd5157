"""What pydantic makes, and what it says of what it refuses."""

from __future__ import annotations

import json
import re
import sys
import typing
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

from sovl_tools.model.document import JSON, Path
from sovl_tools.running.unfit import Build, Convert, UnfitError, called
from sovl_tools.validation.wording import named


def model(_: Build, annotation: Any) -> Convert:
    """Return the converter of what pydantic knows how to make.

    Raises:
        Exception: it does not know after all; which one is up to pydantic.
    """
    library = sys.modules["pydantic"]
    adapter = library.TypeAdapter(annotation)

    def from_text(value: Any) -> Any:
        try:
            return adapter.validate_json(json.dumps(value))
        except library.ValidationError as error:
            found = error.errors()
            problems = [(_place(each, value), _reworded(each)) for each in found]
            raise UnfitError(problems) from error

    def convert(value: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except Exception:  # noqa: BLE001 - a strict model takes dates from JSON text only
            return called(partial(from_text, value))

    return convert


def _place(error: Mapping[str, Any], value: JSON) -> Path:
    """Return where an error is; those parts that name members of a union are left out."""
    path: Path = ()
    for part in error["loc"]:
        with suppress(LookupError, TypeError):
            value = value[part]
            path = (*path, part)
    return (*path, error["loc"][-1]) if error["type"] == "missing" else path


def _reworded(error: Mapping[str, Any]) -> str:
    message: str = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    should = re.match(r"\w+ should ", message)
    if should:
        return f"must {message[should.end() :]}, not {named(error['input'])}"
    return _PYDANTIC.get(error["type"], message)


_PYDANTIC = {"missing": "is required", "extra_forbidden": "is not a field"}


def is_model(kind: Any) -> bool:
    """Tell whether a class says to pydantic how it is made."""
    own = hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_validator__")
    return own and "pydantic" in sys.modules


def _has_rules(metadata: Any) -> bool:
    """Tell whether metadata of ``Annotated`` makes pydantic do more than describe."""
    if not type(metadata).__module__.startswith("pydantic."):
        return False
    if type(metadata).__name__ != "FieldInfo":
        return True
    return bool(metadata.metadata or metadata.discriminator)


def described(annotation: Any) -> Any:
    """Return what an ``Annotated`` describes, or itself where pydantic makes more of it."""
    if typing.get_origin(annotation) is not Annotated:
        return annotation
    inner, *metadata = typing.get_args(annotation)
    has_rules = "pydantic" in sys.modules and any(map(_has_rules, metadata))
    return annotation if has_rules else inner
