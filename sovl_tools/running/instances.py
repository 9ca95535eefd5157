"""Classes that are made of an object: dataclasses, NamedTuples, TypedDicts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

from sovl_tools.annotations.fields import is_required
from sovl_tools.annotations.hints import names_in
from sovl_tools.model.document import Path
from sovl_tools.model.suggestion import as_hint, nearest
from sovl_tools.running.hints import hints_of, origin_of, resolved
from sovl_tools.running.ignored import ignore
from sovl_tools.running.unfit import Build, Convert, UnfitError, called, collected, mismatch, same
from sovl_tools.running.unions import defaulting


class _Field(NamedTuple):
    convert: Convert
    is_required: bool


class _Shape(NamedTuple):
    """What an object must look like; one that is open may have other keys as well."""

    fields: dict[str, _Field]
    is_open: bool


class _Instance:
    """A class that is made of an object; its fields are looked at when the first value comes.

    So a class may refer to itself.
    """

    def __init__(self, kind: Any, shape: Callable[[], _Shape]) -> None:
        self._kind = kind
        self._look = shape

    @cached_property
    def _shape(self) -> _Shape:
        return self._look()

    def convert(self, value: Any) -> Any:
        if isinstance(value, self._kind):
            return value
        return called(partial(self._kind, **self.fields_of(value)))

    def from_array(self, value: Any) -> Any:
        """Convert an array of the fields in their order, or what ``convert`` does."""
        if type(value) not in {list, tuple}:
            return self.convert(value)
        names = [*self._shape.fields]
        if len(value) > len(names):
            raise UnfitError([((), f"must have at most {len(names)} items, not {len(value)}")])
        try:
            return self.convert(dict(zip(names, value, strict=False)))
        except UnfitError as error:
            places: list[tuple[Path, str]] = [
                ((*(names.index(str(part)) for part in path[:1]), *path[1:]), words)
                for path, words in error.problems
            ]
            raise UnfitError(places) from error

    def fields_of(self, value: Any) -> dict[str, Any]:
        """Return the converted fields of an object."""
        if not isinstance(value, Mapping):
            raise mismatch(value, "an object")
        fields, is_open = self._shape
        missing = [name for name in fields if fields[name].is_required and name not in value]
        strange = [] if is_open else [name for name in value if name not in fields]
        problems = [((name,), "is required") for name in missing]
        problems += [((name,), self._unknown(name, fields.keys() - value)) for name in strange]
        steps = ((name, fields.get(name, _ANYTHING).convert, value[name]) for name in value)
        return dict(zip(value, collected(steps, problems), strict=True))

    def keys_of(self, value: Any) -> dict[str, Any]:
        """Return an object with its listed keys converted and all others as they are."""
        found = self.fields_of(value)
        ignore(len(found.keys() - self._shape.fields))
        return found

    def _unknown(self, name: str, others: set[str]) -> str:
        return f"is not a field of {self._kind.__name__}{as_hint(nearest(str(name), others))}"


_ANYTHING = _Field(same, is_required=False)


def instance(build: Build, annotation: Any) -> Convert:
    """Return the converter of a dataclass."""
    return _with_parameters(build, annotation).convert


def named_tuple(build: Build, annotation: Any) -> Convert:
    """Return the converter of a NamedTuple."""
    return _with_parameters(build, annotation).from_array


def typed_dict(build: Build, annotation: Any) -> Convert:
    """Return the converter of a TypedDict, which stays a dictionary."""
    return _Instance(origin_of(annotation), partial(_keys, build, annotation)).keys_of


def _with_parameters(build: Build, annotation: Any) -> _Instance:
    kind = origin_of(annotation)
    taken = [*inspect.signature(kind).parameters.values()]
    return _Instance(kind, lambda: _parameters(build, taken, annotation))


def _parameters(build: Build, taken: list[inspect.Parameter], annotation: Any) -> _Shape:
    """Return the shape of an object of keywords for those parameters of a class."""
    hints, names = hints_of(annotation), names_in(origin_of(annotation))
    fields = {}
    for each in taken:
        if each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}:
            hint = hints[each.name] if each.name in hints else resolved(each.annotation, names)
            convert = defaulting(build(hint), each.default)
            fields[each.name] = _Field(convert, is_required=each.default is each.empty)
    return _Shape(fields, any(each.kind is each.VAR_KEYWORD for each in taken))


def _keys(build: Build, annotation: Any) -> _Shape:
    kind = origin_of(annotation)
    fields = {
        name: _Field(build(hint), is_required(kind, name, hint))
        for name, hint in hints_of(annotation).items()
    }
    return _Shape(fields, is_open=True)
