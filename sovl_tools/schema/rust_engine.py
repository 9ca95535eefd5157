"""The engine jsonschema-rs: a validator compiled to native code."""

from __future__ import annotations

import re
from functools import partial

import jsonschema_rs

from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.problem import UNEXPLAINED, Problem, Validator, merged

_COMBINATORS = {"anyOf", "oneOf"}


def compile_schema(schema: JSON) -> Validator:
    """Compile the schema; see ``sovl_tools.schema.engine.compile_schema``."""
    try:
        compiled = jsonschema_rs.Draft202012Validator(schema, offline=True)
    except ValueError as error:
        raise SchemaError(str(error).partition("\n")[0]) from error
    return Validator(compiled.is_valid, partial(_problems, compiled))


def _problems(compiled: jsonschema_rs.Draft202012Validator, value: JSON) -> list[Problem]:
    errors = list(compiled.iter_errors(value))
    return merged([_problem(error, value) for error in errors]) if errors else []


def _problem(error: jsonschema_rs.ValidationError, root: JSON) -> Problem:
    path = _path(error, root)
    if error.kind.name == "propertyNames":
        return Problem("propertyNames", path, error.kind.value.instance)
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
        return _refused_outright(error, path, root)
    keyword = _keyword(error)
    branches = _branches(error, root)
    return Problem(keyword, path, error.instance, _expected(error, keyword), branches)


def _path(error: jsonschema_rs.ValidationError, root: JSON) -> Path:
    """Return the path of an error; the engine tells keys such as "7" and "007" as indexes."""
    path: list[str | int] = []
    value = root
    for part in error.instance_path:
        path.append(_key(value, part) if isinstance(value, dict) else part)
        value = value[path[-1]]
    return tuple(path)


def _key(value: dict[str, JSON], part: str | int) -> str:
    if isinstance(part, str):
        return part
    digits = re.compile(rf"\+?0*{part}")
    return next(key for key in value if digits.fullmatch(key))


def _refused_outright(error: jsonschema_rs.ValidationError, path: Path, root: JSON) -> Problem:
    """Return the problem of a schema ``false``; where it closes an object, no key is named."""
    keyword = error.schema_path[-1] if error.schema_path else None
    is_name = error.schema_path[-2:-1] in (["properties"], ["patternProperties"], ["$defs"])
    if is_name or keyword not in {"additionalProperties", "propertyNames"}:
        return Problem("false", path, error.instance)
    value = root
    for part in path:
        value = value[part]
    if keyword == "propertyNames":
        return Problem("propertyNames", path, next(iter(value)))
    return Problem("additionalProperties", path, value, tuple(value))


def _keyword(error: jsonschema_rs.ValidationError) -> str:
    """Return the keyword as the schema spells it, where the engine names it otherwise."""
    if error.kind.name == "required":
        return str(next(part for part in reversed(error.schema_path) if isinstance(part, str)))
    return _SAME.get(error.kind.name, error.kind.name)


_SAME = {"minContains": "contains", "maxContains": "contains"}


def _expected(error: jsonschema_rs.ValidationError, keyword: str) -> JSON:
    value = error.kind.value
    if keyword in {"required", "dependentRequired"}:
        return (value,)
    if keyword in {"type", "additionalProperties", "unevaluatedProperties"}:
        return tuple(value)
    return None if keyword in _COMBINATORS | UNEXPLAINED else value


def _branches(error: jsonschema_rs.ValidationError, root: JSON) -> tuple[tuple[Problem, ...], ...]:
    if error.kind.name not in _COMBINATORS:
        return ()
    return tuple(
        tuple(merged([_problem(each, root) for each in branch])) for branch in error.kind.value
    )
