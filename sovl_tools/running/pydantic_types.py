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

from sovl_tools.annotations.pydantic_types import has_rules
from sovl_tools.model.document import JSON, Path
from sovl_tools.running.ignored import are_counted, ignore
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
            made = adapter.validate_python(value)
        except Exception:  # noqa: BLE001 - a strict model takes dates from JSON text only
            made = called(partial(from_text, value))
        if are_counted():
            ignore(_ignored(made, value))
        return made

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


def described(annotation: Any) -> Any:
    """Return what an ``Annotated`` describes, or itself where pydantic makes more of it."""
    if typing.get_origin(annotation) is not Annotated or has_rules(annotation):
        return annotation
    return annotation.__origin__


def _ignored(made: Any, value: JSON) -> int:
    """Return how many keys in a value have no part in what pydantic made of it."""
    if isinstance(value, list) and isinstance(made, list | tuple):
        return sum(map(_ignored, made, value))
    if getattr(type(made), "__pydantic_root_model__", False):
        return _ignored(made.root, value)
    parts = _parts(made)
    if parts is None or not isinstance(value, dict):
        return 0
    known = [name for name in value if name in parts]
    return len(value) - len(known) + sum(_ignored(parts[name], value[name]) for name in known)


def _parts(made: Any) -> Mapping[str, Any] | None:
    """Return what the keys of an object became; None where that can't be told."""
    fields = getattr(type(made), "__pydantic_fields__", None)
    if fields is None:
        return made if isinstance(made, dict) else None
    found = dict(getattr(made, "model_extra", None) or {})
    for name in fields.keys() & getattr(made, "model_fields_set", fields):
        found.update(dict.fromkeys(_keys(name, fields[name]), getattr(made, name, None)))
    return found


def _keys(name: str, field: Any) -> list[str]:
    """Return the keys that a field may be given by."""
    aliases = getattr(field.validation_alias, "choices", [field.validation_alias])
    return [name, *(getattr(each, "path", [each])[0] for each in aliases)]
