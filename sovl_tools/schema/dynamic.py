"""Parts of a schema that are functions: called whenever the schema is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from math import isfinite
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON, JSON_TYPES, MAX_DEPTH, Path, copied, dotted
from sovl_tools.model.errors import ResolutionError
from sovl_tools.schema.keywords import IN_LIST, IN_OBJECT, LISTS, SINGLE, wanted
from sovl_tools.schema.subschemas import with_subschemas

_SCALARS = JSON_TYPES.keys() - {list, dict}
_EXACT = _SCALARS - {float}


def is_dynamic(schema: Any) -> bool:
    """Tell whether a function is anywhere in a schema."""
    if type(schema) in _SCALARS:
        return False
    if isinstance(schema, Mapping):
        return any(map(is_dynamic, schema.values()))
    if isinstance(schema, list | tuple):
        return any(map(is_dynamic, schema))
    return callable(schema)


def stated(schema: Any, path: Path = ()) -> Any:
    """Return a schema, or a fragment of one, with Enums as their values; functions stay.

    Raises:
        TypeError: a class is in it; only an Enum may be, under ``enum``. Or it is nested too deep.
    """
    if len(path) > MAX_DEPTH:
        raise TypeError(f"the schema is nested more than {MAX_DEPTH} levels deep, or holds itself")
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
    words = f"{dotted(path)} is the class {schema.__name__}, which is no JSON Schema"
    raise TypeError(f"{words}; write it as in {{'type': 'string'}}")


def resolved(schema: Any, call: Callable[[Any], Any]) -> JSON:
    """Return a schema of values alone, each function replaced by what ``call`` makes of it.

    Members of Enums become their values, and whatever can be gone through becomes a list where
    there has to be one.

    Raises:
        ResolutionError: a function fails, or returns nothing that could stand in its place.
    """
    return _Part(call).schema(schema)


class _Part(NamedTuple):
    """A place in a schema; what a function has returned is checked, the rest has been before."""

    call: Callable[[Any], Any]
    path: Path = ()
    is_returned: bool = False

    def schema(self, value: Any) -> JSON:
        if isinstance(value, Mapping):
            found: dict[str, JSON] = {}
            for key, said in ((each, value[each]) for each in value):
                # most keywords are plain values, whose places nobody needs
                is_plain = type(said) in JSON_TYPES and not self.is_returned
                is_plain = is_plain and not is_dynamic(said)
                name = self._key(key)
                found[name] = copied(said) if is_plain else self._at(key).keyword(key, said)
            return found
        if _is_function(value):
            return self._returned(value, _Part.schema)
        if self.is_returned and type(value) is not bool:
            raise self._refused(type(value).__name__, "a schema")
        if isinstance(value, list | tuple):  # as older drafts have it under items
            return [self._at(index).schema(each) for index, each in enumerate(value)]
        return self.json(value)

    def keyword(self, key: str, value: Any) -> JSON:
        """Return what a keyword says."""
        if _is_function(value):
            return self._returned(value, lambda part, result: part.keyword(key, result))
        if key in IN_OBJECT and isinstance(value, Mapping):
            return {self._key(name): self._at(name).schema(value[name]) for name in value}
        if key in IN_LIST and _is_sequence(value):
            return [self._at(index).schema(each) for index, each in enumerate(value)]
        if key in SINGLE:
            return self.schema(value)
        if not self.is_returned:
            return self.json([*value] if _is_enum(value) else value)
        # what stood there from the start was checked with the whole schema; this was not
        if key in IN_OBJECT:
            raise self._refused(type(value).__name__, "schemas by their names")
        if key in LISTS or key in IN_LIST:
            if not _is_sequence(value):
                raise self._refused(type(value).__name__, "a list")
            value = [*value]
        found = self.json(value)
        words = wanted(key, found)
        if words is not None:
            raise self._refused(f"{found!r:.60}", words)
        return found

    def json(self, value: Any) -> JSON:
        """Return a value as JSON; one that no function has returned stays as it is."""
        if isinstance(value, Mapping):
            return {self._key(key): self._at(key).json(value[key]) for key in value}
        if isinstance(value, list | tuple):
            return [
                each if type(each) in _EXACT else self._at(index).json(each)
                for index, each in enumerate(value)
            ]
        if isinstance(value, Enum):
            return self.json(value.value)
        if _is_function(value):
            return self._returned(value, _Part.json)
        return self._scalar(value) if self.is_returned or isinstance(value, type) else value

    def _scalar(self, value: Any) -> JSON:
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
        raise self._refused(found, "JSON")

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise self._refused(f"the key {key!r:.60}", "a string")
        return key

    def _at(self, key: str | int) -> _Part:
        return _Part(self.call, (*self.path, key), self.is_returned)

    def _refused(self, found: str, words: str) -> ResolutionError:
        return ResolutionError(dotted(self.path), f"returned {found}, not {words}")

    def _returned(self, function: Any, take: Callable[[_Part, Any], JSON]) -> JSON:
        """Return what is taken of a function's result, which may run more of the author's code."""
        try:
            return take(_Part(self.call, self.path, is_returned=True), self.call(function))
        # The author's code may raise anything; an interrupt is the user's.
        except (KeyboardInterrupt, ResolutionError):
            raise
        except BaseException as error:
            raise ResolutionError(dotted(self.path), f"failed: {said(error)}") from error


def said(error: BaseException) -> str:
    """Return the type of what an author's code raised, and what it says if it can."""
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the author's code as well
        text = "its message can't be read"
    return f"{type(error).__name__}: {text}"


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type | Enum)


def _is_enum(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Enum)


def _is_sequence(value: Any) -> bool:
    is_iterable = isinstance(value, Iterable) or _is_enum(value)
    return is_iterable and not isinstance(value, str | bytes | Mapping)


def without_functions(schema: Any) -> JSON:
    """Return a schema without its dynamic parts: what can be said of it before they are called."""
    if not isinstance(schema, Mapping):
        return {} if is_dynamic(schema) else schema
    stating = {key: each for key, each in schema.items() if not callable(each)}
    found = with_subschemas(stating, without_functions)
    return {key: each for key, each in found.items() if not is_dynamic(each)}
