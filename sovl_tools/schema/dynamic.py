"""Functions in a schema, called whenever the schema is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from math import isfinite
from typing import Any

from sovl_tools.model.document import JSON, JSON_TYPES, MAX_DEPTH, Path, dotted
from sovl_tools.model.errors import ResolutionError
from sovl_tools.schema.keywords import IN_LIST, LISTS, wanted
from sovl_tools.schema.subschemas import children, nodes, with_subschemas

_SCALARS = JSON_TYPES.keys() - {list, dict}


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
        TypeError: it contains a class other than an Enum under ``enum``, or is nested too deep.
    """
    if len(path) > MAX_DEPTH:
        raise TypeError(
            f"the schema is nested more than {MAX_DEPTH} levels deep, or contains itself"
        )
    if isinstance(schema, Mapping):
        return {key: stated(each, (*path, key)) for key, each in schema.items()}
    if isinstance(schema, list | tuple):
        return [stated(each, (*path, index)) for index, each in enumerate(schema)]
    if isinstance(schema, Enum):
        return stated(schema.value, path)
    if not isinstance(schema, type):
        return schema
    is_keyword = len(path) > 1 and path[-1] == "enum" and path[-2] != "properties"
    if is_keyword and issubclass(schema, Enum):
        return [stated(each.value, path) for each in schema]
    words = f"{dotted(path)} is the class {schema.__name__}, which isn't JSON Schema"
    raise TypeError(f"{words}; write it as in {{'type': 'string'}}")


def resolved(schema: Any, call: Callable[[Any], Any]) -> JSON:
    """Return a schema with only values, each function replaced by the result of ``call``.

    Members of Enums become their values, and any iterable becomes a list where a keyword has one.

    Raises:
        ResolutionError: a function fails, or returns something that can't be where it is.
    """
    found = _plain(schema, call, ())
    _check(found)
    return found


def _plain(value: Any, call: Callable[[Any], Any], path: Path) -> JSON:
    """Return a value as JSON, with the results of its functions."""
    if isinstance(value, Enum):
        return _plain(value.value, call, path)
    if callable(value) and not isinstance(value, type):
        try:
            # going through the result can run more of the author's code
            return _plain(call(value), call, path)
        # The author's code may raise anything; an interrupt is the user's.
        except (KeyboardInterrupt, ResolutionError):
            raise
        except BaseException as error:
            raise ResolutionError(dotted(path), f"failed: {said(error)}") from error
    if isinstance(value, Mapping):
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            raise _refused(path, f"the key {odd!r:.60}", "a string")
        return {key: _plain(value[key], call, (*path, key)) for key in value}
    is_list_wanted = path[-1:] and path[-1] in _LISTS
    if isinstance(value, list | tuple) or (is_list_wanted and _is_iterable(value)):
        return [_plain(each, call, (*path, index)) for index, each in enumerate(value)]
    return _scalar(value, path)


_LISTS = LISTS | IN_LIST


def _is_iterable(value: Any) -> bool:
    is_enum = isinstance(value, type) and issubclass(value, Enum)
    return is_enum or (isinstance(value, Iterable) and not isinstance(value, str | bytes | type))


def _scalar(value: Any, path: Path) -> JSON:
    if value is None or isinstance(value, bool):
        return value
    # Subclasses of built-in types become those, without the code of their own methods.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float) and isfinite(value):
        return float.__float__(value)
    found = repr(value) if isinstance(value, float | type) else type(value).__name__
    raise _refused(path, found, "JSON")


def _check(schema: JSON) -> None:
    """Reject values that can't be in a schema; values from elsewhere were checked before.

    Raises:
        ResolutionError: there is something of the kind.
    """
    for node in nodes(schema, ()) if isinstance(schema, dict) else ():
        for keyword, value in node.schema.items():
            words = wanted(keyword, value)
            if words is not None:
                raise _refused((*node.path, keyword), f"{value!r:.60}", words)
        for path, child in children(node.schema):
            if not isinstance(child, dict | bool):
                raise _refused((*node.path, *path), f"{child!r:.60}", "a schema")
    if not isinstance(schema, dict | bool):
        raise _refused((), f"{schema!r:.60}", "a schema")


def _refused(path: Path, found: str, words: str) -> ResolutionError:
    return ResolutionError(dotted(path), f"returned {found}, not {words}")


def said(error: BaseException) -> str:
    """Return the type and the message of an exception from an author's code."""
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the author's code as well
        text = "its message can't be read"
    return f"{type(error).__name__}: {text}"


def without_functions(schema: Any) -> JSON:
    """Return a schema without its functions: the part that is fixed before they are called."""
    if not isinstance(schema, Mapping):
        return {} if is_dynamic(schema) else schema
    stating = {key: each for key, each in schema.items() if not callable(each)}
    found = with_subschemas(stating, without_functions)
    return {key: each for key, each in found.items() if not is_dynamic(each)}
