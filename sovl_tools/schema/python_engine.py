"""The engine jsonschema: pure Python, for machines without a wheel of the other."""

from __future__ import annotations

import re
from functools import partial
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError as EngineSchemaError
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.keywords import IN_OBJECT
from sovl_tools.schema.problem import (
    COMBINATORS,
    MAX_PROBLEMS,
    ONE_FOR,
    UNEXPLAINED,
    Problem,
    Validator,
    deduplicated,
)
from sovl_tools.schema.subschemas import with_subschemas

_FORMATS = FormatChecker(formats=["regex"])


def compile_schema(schema: JSON, *, with_formats: bool = False) -> Validator:
    """Compile the schema; see ``sovl_tools.schema.engine.compile_schema``."""
    try:
        Draft202012Validator.check_schema(schema, format_checker=_FORMATS)
        # The engine itself looks references up only when a value leads it to them.
        resource = DRAFT202012.create_resource(schema)
        _resolve_references(resource, REGISTRY.resolver_with_root(resource))
    except (EngineSchemaError, Unresolvable, RecursionError) as error:
        raise SchemaError(str(error).partition("\n")[0]) from error
    checker = FormatChecker() if with_formats else None
    engine = Draft202012Validator(_without_false(schema), registry=REGISTRY, format_checker=checker)
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
    """Replace each schema ``false``: the engine forgets the place of a value that one refuses."""
    if schema is False:
        return _NEVER
    if not isinstance(schema, dict):
        return schema
    closed = {key: False for key in _CLOSING if schema.get(key) is False}
    return {**with_subschemas(schema, _without_false), **closed}


_CLOSING = {"additionalProperties", "unevaluatedProperties", "unevaluatedItems"}
"""Keywords of which the engine names what is too many, if they are false."""


def _is_valid(engine: Any, value: JSON) -> bool:
    try:
        return bool(engine.is_valid(value))
    except RecursionError:
        return False


def _problems(engine: Any, value: JSON) -> list[Problem]:
    try:
        errors = islice(engine.iter_errors(value), MAX_PROBLEMS)
        return deduplicated([_problem(error) for error in errors])
    except RecursionError:
        return [Problem("$ref", (), value, "too deep to check")]


def _problem(error: Any, base: Path = ()) -> Problem:
    path = base + tuple(error.relative_path)
    # A path through the keyword ``propertyNames``, not a property of that name, is about a name.
    before = [None, *error.relative_schema_path]
    steps = zip(before, error.relative_schema_path, strict=False)
    if any(part == "propertyNames" and previous not in IN_OBJECT for previous, part in steps):
        return Problem("propertyNames", path, error.instance)
    keyword = ONE_FOR.get(error.validator, str(error.validator))
    if keyword == "not" and {"not": error.validator_value} == _NEVER:  # our own stand-in
        keyword = "false"
    branches: dict[str | int, list[Problem]] = {}
    for each in error.context or ():
        branches.setdefault(each.relative_schema_path[0], []).append(_problem(each, path))
    together = tuple(tuple(deduplicated(problems)) for problems in branches.values())
    return Problem(keyword, path, error.instance, _expected(error, keyword), together)


def _expected(error: Any, keyword: str) -> JSON:
    wanted, given = error.validator_value, error.instance
    if keyword in UNEXPLAINED | COMBINATORS:
        return None
    match keyword:
        case "type":
            return (wanted,) if isinstance(wanted, str) else tuple(wanted)
        case "required":
            names = wanted
        case "dependentRequired":
            names = [name for key, more in wanted.items() if key in given for name in more]
        case "unevaluatedProperties":
            # The engine tells these names in its message only, in brackets at the end.
            listed = error.message.partition("(")[2]
            return tuple(name for name in given if repr(name) in listed)
        case "additionalProperties":
            known = error.schema.get("properties", {})
            patterns = error.schema.get("patternProperties", {})
            unknown = (name for name in given if name not in known)
            return tuple(
                name for name in unknown if not any(re.search(each, name) for each in patterns)
            )
        case _:
            return wanted
    return tuple(name for name in names if name not in given)
