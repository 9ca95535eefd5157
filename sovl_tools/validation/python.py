"""The engine jsonschema: pure Python, for machines without a wheel of the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError as EngineSchemaError
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import SchemaError
from sovl_tools.validation.problem import Problem, Validator, merged

_FORMATS = FormatChecker(formats=["regex"])


def compile_schema(schema: JSON) -> Validator:
    """Compile the schema; see ``sovl_tools.validation.compile_schema``."""
    try:
        Draft202012Validator.check_schema(schema, format_checker=_FORMATS)
        _resolve_references(schema)
    except (EngineSchemaError, Unresolvable, RecursionError) as error:
        raise SchemaError(str(error).partition("\n")[0]) from error
    engine = Draft202012Validator(schema, registry=REGISTRY)
    return Validator(partial(_is_valid, engine), partial(_problems, engine))


def _resolve_references(schema: JSON) -> None:
    """Raise Unresolvable for the first reference that leads nowhere."""
    resolver = REGISTRY.resolver_with_root(DRAFT202012.create_resource(schema))
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str):
                resolver.lookup(reference)
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def _is_valid(engine: Any, value: JSON) -> bool:
    try:
        return bool(engine.is_valid(value))
    except RecursionError:
        return False


def _problems(engine: Any, value: JSON) -> list[Problem]:
    try:
        return merged([_problem(error) for error in engine.iter_errors(value)])
    except RecursionError:
        return [Problem("$ref", (), value, "too deep to check")]


def _problem(error: Any, base: Path = ()) -> Problem:
    path = base + tuple(error.relative_path)
    if "propertyNames" in error.relative_schema_path:
        return Problem("propertyNames", path, error.instance, error.message)
    keyword = str(error.validator) if error.validator is not None else "false"
    expected = _EXPECTED.get(keyword, _own_value)(error)
    return Problem(keyword, path, error.instance, expected, _branches(error, path))


def _own_value(error: Any) -> JSON:
    return error.validator_value


def _types(error: Any) -> JSON:
    value = error.validator_value
    return (value,) if isinstance(value, str) else tuple(value)


def _absent(error: Any) -> JSON:
    return tuple(name for name in error.validator_value if name not in error.instance)


def _dependents(error: Any) -> JSON:
    needed = [
        name
        for key, names in error.validator_value.items()
        if key in error.instance
        for name in names
    ]
    return tuple(name for name in needed if name not in error.instance)


def _superfluous(error: Any) -> JSON:
    patterns = error.schema.get("patternProperties", {})
    return tuple(
        name
        for name in error.instance
        if name not in error.schema.get("properties", {})
        and not any(re.search(pattern, name) for pattern in patterns)
    )


def _nothing(_: Any) -> JSON:
    return None


_EXPECTED: dict[str, Callable[[Any], JSON]] = {
    "type": _types,
    "required": _absent,
    "dependentRequired": _dependents,
    "additionalProperties": _superfluous,
    "unevaluatedProperties": _superfluous,
    "anyOf": _nothing,
    "oneOf": _nothing,
}


def _branches(error: Any, path: Path) -> tuple[tuple[Problem, ...], ...]:
    found: dict[str | int, list[Problem]] = {}
    for each in error.context or ():
        found.setdefault(each.relative_schema_path[0], []).append(_problem(each, path))
    return tuple(tuple(merged(problems)) for problems in found.values())
