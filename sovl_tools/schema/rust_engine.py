"""The engine jsonschema-rs: a validator compiled to native code."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import jsonschema_rs

from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.problem import (
    COMBINATORS,
    MISSING,
    ONE_FOR,
    SUPERFLUOUS,
    UNEXPLAINED,
    Problem,
    Validator,
    deduplicated,
)


def compile_schema(schema: JSON) -> Validator:
    """Compile the schema; see ``sovl_tools.schema.engine.compile_schema``."""
    try:
        # Offline: a reference to an address is an error and never fetched.
        compiled = jsonschema_rs.Draft202012Validator(schema, offline=True)
    except ValueError as error:
        raise SchemaError(str(error).partition("\n")[0]) from error
    return Validator(compiled.is_valid, partial(_problems, compiled))


def _problems(compiled: jsonschema_rs.Draft202012Validator, value: JSON) -> list[Problem]:
    errors = list(compiled.iter_errors(value))
    return deduplicated([_problem(error, value) for error in errors]) if errors else []


def _problem(error: jsonschema_rs.ValidationError, root: JSON) -> Problem:
    path, kind = _path(error, root), error.kind
    if kind.name == "propertyNames":
        return Problem("propertyNames", path, kind.value.instance)
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
        return _refused_outright(error, path, root)
    keyword = ONE_FOR.get(kind.name, kind.name)
    if keyword == "required":  # the engine calls dependentRequired that, too
        keyword = str(next(part for part in reversed(error.schema_path) if isinstance(part, str)))
    expected = kind.value
    branches: tuple[tuple[Problem, ...], ...] = ()
    if keyword in MISSING:
        expected = (expected,)
    elif keyword in SUPERFLUOUS or keyword == "type":
        expected = tuple(expected)
    elif keyword in UNEXPLAINED:
        expected = None
    elif keyword in COMBINATORS:
        expected = None
        branches = tuple(
            tuple(deduplicated([_problem(each, root) for each in branch])) for branch in kind.value
        )
    return Problem(keyword, path, error.instance, expected, branches)


def _path(error: jsonschema_rs.ValidationError, root: JSON) -> Path:
    """Return the path of an error.

    The engine leaves empty keys out and tells keys such as "7" and "007" as indexes. Where that
    may mean several values, it is the one that the error holds.
    """
    found = _through_empty_keys([((), root)])
    for part in error.instance_path:
        found = _through_empty_keys(
            [((*path, key), value[key]) for path, value in found for key in _keys(value, part)]
        )
    if len(found) > 1:
        text = json.dumps(error.instance)
        found = [each for each in found if json.dumps(each[1]) == text] or found
    return found[0][0]


def _through_empty_keys(places: list[tuple[Path, Any]]) -> list[tuple[Path, Any]]:
    """Return the places, and those below them that only empty keys lead to."""
    for path, value in places:  # which grows meanwhile
        if isinstance(value, dict) and "" in value:
            places.append(((*path, ""), value[""]))
    return places


def _keys(value: JSON, part: str | int) -> list[str | int]:
    if isinstance(value, dict):
        if isinstance(part, str):
            return [part] if part in value else []
        digits = re.compile(rf"\+?0*{part}")
        return [key for key in value if digits.fullmatch(key)]
    is_index = isinstance(value, list) and isinstance(part, int) and part < len(value)
    return [part] if is_index else []


def _refused_outright(error: jsonschema_rs.ValidationError, path: Path, root: JSON) -> Problem:
    """Return the problem of a schema ``false``; where it closes an object, no key is named."""
    keyword = error.schema_path[-1] if error.schema_path else None
    is_name = error.schema_path[-2:-1] in (["properties"], ["patternProperties"], ["$defs"])
    if is_name or keyword not in {"additionalProperties", "propertyNames"}:
        return Problem("false", path, error.instance)
    value = root
    for part in path:
        value = value[part]
    # The engine does not say which name it was; an object of none would have fitted.
    if keyword == "propertyNames":
        return Problem("propertyNames", path, next(iter(value)))
    return Problem("additionalProperties", path, value, tuple(value))
