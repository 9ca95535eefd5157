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
from sovl_tools.schema.keywords import IN_LIST, IN_OBJECT
from sovl_tools.schema.problem import UNEXPLAINED, Problem, Validator, merged
from sovl_tools.schema.subschemas import nesting

_FORMATS = FormatChecker(formats=["regex"])


def compile_schema(schema: JSON) -> Validator:
    """Compile the schema; see ``sovl_tools.schema.engine.compile_schema``."""
    try:
        Draft202012Validator.check_schema(schema, format_checker=_FORMATS)
        resource = DRAFT202012.create_resource(schema)
        _resolve_references(resource, REGISTRY.resolver_with_root(resource))
    except (EngineSchemaError, Unresolvable, RecursionError) as error:
        raise SchemaError(str(error).partition("\n")[0]) from error
    engine = Draft202012Validator(_without_false(schema), registry=REGISTRY)
    return Validator(partial(_is_valid, engine), partial(_problems, engine))


def _resolve_references(resource: Any, resolver: Any) -> None:
    """Raise Unresolvable for a reference that leads nowhere."""
    if isinstance(resource.contents, dict):
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(resource.contents.get(keyword), str):
                resolver.lookup(resource.contents[keyword])
    for part in resource.subresources():
        _resolve_references(part, resolver.in_subresource(part))


_NEVER: dict[str, JSON] = {"not": {"$comment": "stands for the schema false"}}


def _without_false(schema: JSON) -> JSON:
    """Replace each schema ``false``: the engine forgets where a value stands that one refuses."""
    if schema is False:
        return _NEVER
    if not isinstance(schema, dict):
        return schema
    made = dict(schema)
    for keyword in nesting(tuple(schema)):
        value = schema[keyword]
        if keyword in IN_OBJECT:
            made[keyword] = {name: _without_false(each) for name, each in value.items()}
        elif keyword in IN_LIST:
            made[keyword] = [_without_false(each) for each in value]
        elif value is not False or keyword not in _CLOSING:
            made[keyword] = _without_false(value)
    return made


_CLOSING = {"additionalProperties", "unevaluatedProperties", "unevaluatedItems"}
"""Keywords of which the engine names what is too many, if they are false."""


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
    if _is_about_a_name(list(error.relative_schema_path)):
        return Problem("propertyNames", path, error.instance)
    keyword = _keyword(error)
    expected = None if keyword in UNEXPLAINED else _EXPECTED.get(keyword, _own_value)(error)
    return Problem(keyword, path, error.instance, expected, _branches(error, path))


def _keyword(error: Any) -> str:
    if error.validator == "not" and {"not": error.validator_value} == _NEVER:
        return "false"
    return _SAME.get(error.validator, str(error.validator))


_SAME = {"minContains": "contains", "maxContains": "contains"}


def _is_about_a_name(schema_path: list[str | int]) -> bool:
    """Tell whether a path leads through the keyword ``propertyNames``, not a property of it."""
    before = [None, *schema_path]
    return any(
        part == "propertyNames" and previous not in IN_OBJECT
        for previous, part in zip(before, schema_path, strict=False)
    )


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


def _unevaluated(error: Any) -> JSON:
    """Return the names that the engine only tells in its message, in brackets at the end."""
    told = error.message.partition("(")[2]
    return tuple(name for name in error.instance if repr(name) in told)


def _nothing(_: Any) -> JSON:
    return None


_EXPECTED: dict[str, Callable[[Any], JSON]] = {
    "type": _types,
    "required": _absent,
    "dependentRequired": _dependents,
    "additionalProperties": _superfluous,
    "unevaluatedProperties": _unevaluated,
    "anyOf": _nothing,
    "oneOf": _nothing,
}


def _branches(error: Any, path: Path) -> tuple[tuple[Problem, ...], ...]:
    found: dict[str | int, list[Problem]] = {}
    for each in error.context or ():
        found.setdefault(each.relative_schema_path[0], []).append(_problem(each, path))
    return tuple(tuple(merged(problems)) for problems in found.values())
