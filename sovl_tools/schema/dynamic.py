"""Functions in a schema, called whenever the schema is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from math import isfinite
from typing import Any

from sovl_tools.model.document import JSON, JSON_TYPES, Path, dotted
from sovl_tools.model.errors import ResolutionError
from sovl_tools.schema.engine import meta_schema
from sovl_tools.schema.keywords import IN_LIST
from sovl_tools.schema.problem import describe, explained
from sovl_tools.schema.subschemas import with_subschemas

_SCALARS = JSON_TYPES.keys() - {list, dict}
_LISTS = IN_LIST | {"enum", "examples", "required"}


def is_dynamic(schema: Any) -> bool:
    """Return True if a function is anywhere in a schema."""
    if type(schema) in _SCALARS:
        return False
    if isinstance(schema, Mapping):
        return any(map(is_dynamic, schema.values()))
    if isinstance(schema, list | tuple):
        return any(map(is_dynamic, schema))
    return callable(schema)


def stated(schema: Any, path: Path = ()) -> Any:
    """Return a schema, or a fragment of one, with the values of Enums; functions are unchanged.

    Raises:
        TypeError: it contains a class other than an Enum under ``enum``.
    """
    if isinstance(schema, Mapping):
        return {key: stated(each, (*path, key)) for key, each in schema.items()}
    if isinstance(schema, list | tuple):
        return [stated(each, (*path, index)) for index, each in enumerate(schema)]
    if isinstance(schema, Enum):
        return schema.value
    if not isinstance(schema, type):
        return schema
    is_keyword = len(path) > 1 and path[-1] == "enum" and path[-2] != "properties"
    if is_keyword and issubclass(schema, Enum):
        return [each.value for each in schema]
    words = f"{dotted(path)} is the class {schema.__name__}, which isn't JSON Schema"
    raise TypeError(f"{words}; write it as in {{'type': 'string'}}")


def resolved(schema: Any, call: Callable[[Any], Any]) -> JSON:
    """Return a schema with only values, each function replaced by the result of ``call``.

    Members of Enums become their values, and any iterable becomes a list where a keyword has one.

    Raises:
        ResolutionError: a function fails, or returns something that can't be where it is.
    """
    found = _plain(schema, call, ())
    for problem in explained(meta_schema().problems(found)):
        raise ResolutionError(dotted(problem.path), describe(problem))
    return found


def _plain(value: Any, call: Callable[[Any], Any], path: Path) -> JSON:
    """Return a value as JSON, with the results of its functions."""
    if isinstance(value, Enum):
        return value.value
    if callable(value) and not isinstance(value, type):
        try:
            # going through the result can run more of the author's code
            return _plain(call(value), call, path)
        except ResolutionError:
            raise
        except Exception as error:
            raise ResolutionError(
                dotted(path), f"failed: {type(error).__name__}: {error}"
            ) from error
    if isinstance(value, Mapping):
        return {str(key): _plain(each, call, (*path, key)) for key, each in value.items()}
    is_list_wanted = bool(path) and path[-1] in _LISTS and not isinstance(value, str | bytes)
    if isinstance(value, list | tuple) or (is_list_wanted and isinstance(value, Iterable)):
        return [_plain(each, call, (*path, index)) for index, each in enumerate(value)]
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    raise ResolutionError(dotted(path), f"returned {value!r:.60}, which isn't JSON")


def without_functions(schema: Any) -> JSON:
    """Return a schema without its functions: the part that is fixed before they are called."""
    if not isinstance(schema, Mapping):
        return {} if is_dynamic(schema) else schema
    stating = {key: each for key, each in schema.items() if not callable(each)}
    found = with_subschemas(stating, without_functions)
    return {key: each for key, each in found.items() if not is_dynamic(each)}
