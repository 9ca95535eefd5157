"""The engine jsonschema-rs: a validator compiled to native code."""

from __future__ import annotations

import re
from functools import partial
from itertools import islice

import jsonschema_rs

from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.problem import (
    COMBINATORS,
    MAX_PROBLEMS,
    MISSING,
    ONE_FOR,
    SUPERFLUOUS,
    UNEXPLAINED,
    Problem,
    Validator,
    deduplicated,
)


def compile_schema(schema: JSON, *, with_formats: bool = False) -> Validator:
    """Compile the schema; see ``sovl_tools.schema.engine.compile_schema``."""
    try:
        # Offline: a reference to an address is an error and never fetched.
        compiled = jsonschema_rs.Draft202012Validator(
            schema, offline=True, validate_formats=with_formats
        )
    except ValueError as error:
        raise SchemaError(str(error).partition("\n")[0]) from error
    return Validator(compiled.is_valid, partial(_problems, compiled, schema))


def _problems(
    compiled: jsonschema_rs.Draft202012Validator, schema: JSON, value: JSON
) -> list[Problem]:
    # most values fit, and only the others need be looked at here
    if compiled.is_valid(value):
        return []
    size, has_lost_keys = _measured(value)
    if size > _MOST_NODES:
        # the engine makes all problems at once, which takes seconds where there are very many
        beginning = _Beginning()
        part = beginning.of(value)
        places = {beginning.end[:length] for length in range(len(beginning.end) + 1)}
        found = _all_problems(compiled, schema, part, has_lost_keys=_measured(part)[1])
        found = [each for each in found if each.path not in places]
        if len(found) >= MAX_PROBLEMS:
            return found
    return _all_problems(compiled, schema, value, has_lost_keys=has_lost_keys)


_MOST_NODES = 10 * MAX_PROBLEMS


def _measured(value: JSON) -> tuple[int, bool]:
    """Return how many values there are in a value, and whether the engine loses keys of it.

    In paths it leaves empty ones out, and makes "7" and "007" indexes.
    """
    pending, has_lost_keys = [value], False
    for each in pending:  # which grows meanwhile
        if isinstance(each, dict):
            has_lost_keys = has_lost_keys or any(
                key[:1] in "+0123456789" and (not key or _INDEX.fullmatch(key)) for key in each
            )
            pending += each.values()
        elif isinstance(each, list):
            pending += each
    return len(pending), has_lost_keys


_INDEX = re.compile(r"\+?[0-9]+")


# a tuple, of which isinstance makes less than of a union
_CONTAINERS = (dict, list)


class _Beginning:
    """The beginning of a large value.

    Attributes:
        end: where it was cut off; what is wrong there or above may be for that reason alone.
    """

    end: Path = ()

    def __init__(self) -> None:
        self._room = _MOST_NODES
        self._is_cut = False

    def of(self, value: JSON, path: Path = ()) -> JSON:
        """Return as much of the value at a path as there is room for."""
        self._room -= 1
        if not isinstance(value, _CONTAINERS):
            return value
        items = value.items() if isinstance(value, dict) else enumerate(value)
        part: dict[str | int, JSON] = {}
        for key, item in items:
            if self._room <= 0:
                if not self._is_cut:
                    self._is_cut, self.end = True, path
                break
            part[key] = self.of(item, (*path, key))
        return part if isinstance(value, dict) else [*part.values()]


def _all_problems(
    compiled: jsonschema_rs.Draft202012Validator,
    schema: JSON,
    value: JSON,
    *,
    has_lost_keys: bool,
) -> list[Problem]:
    errors = list(islice(compiled.iter_errors(value), MAX_PROBLEMS))
    if errors and has_lost_keys:
        from sovl_tools.schema import python_engine  # noqa: PLC0415 - 60 ms, and hardly ever needed

        return python_engine.compile_schema(schema).problems(value)
    return deduplicated([_problem(error, value) for error in errors]) if errors else []


def _problem(error: jsonschema_rs.ValidationError, root: JSON) -> Problem:
    path, kind = tuple(error.instance_path), error.kind
    if kind.name == "propertyNames":
        return Problem("propertyNames", path, kind.value.instance)
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
        return _refused_outright(error, path, root)
    keyword = ONE_FOR.get(kind.name, kind.name)
    if keyword == "required":  # the engine calls dependentRequired that, too
        keyword = str(next(part for part in reversed(error.schema_path) if isinstance(part, str)))
        keyword = {"dependencies": "dependentRequired"}.get(keyword, keyword)  # of an older draft
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
            tuple(deduplicated([_problem(each, root) for each in branch[:MAX_PROBLEMS]]))
            for branch in kind.value
        )
    return Problem(keyword, path, error.instance, expected, branches)


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
