"""Registering tools by hand: what is entered in which place, or why it can not be."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from inspect import unwrap
from itertools import count
from types import FunctionType, MethodType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.loading.definitions import checked, identity
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition


def are_distinct(first: Candidate, second: Candidate) -> bool:
    """Tell whether two candidates certainly stand for two objects."""
    functions = [each.definition.function for each in (first, second) if each.definition]
    return len(functions) > 1 and function_ids(functions[0]) != function_ids(functions[1])


def is_same_tool(first: ToolDefinition, second: ToolDefinition) -> bool:
    """Tell whether two definitions say the same of the same function."""
    return function_ids(first.function) == function_ids(second.function) and content_of(
        first
    ) == content_of(second)


def content_of(definition: ToolDefinition | None) -> tuple[Any, ...]:
    """Return what a definition is made of; 1, 1.0 and true differ."""
    if definition is None:
        return ()
    fields = dict(vars(definition))
    handlers = fields.pop("step_handlers")
    code = fields.pop("function"), *(handlers[action] for action in sorted(handlers))
    return repr(fields), sorted(handlers), [function_ids(each) for each in code]


def function_ids(function: Any) -> tuple[int, ...]:
    """Return what tells one function from another; a bound method is another object each time."""
    if isinstance(function, MethodType):
        return id(function.__func__), id(function.__self__)
    return (id(function),)


_Key: TypeAlias = tuple[Any, ...]
"""What a registration is found by: a name, a name and its function, a name and the function's text.
"""


class Registrations:
    """Tools that were registered by hand, ordered by rank."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._index: dict[_Key, list[tuple[int, str]]] = {}
        self._numbers = count(1)
        self._acting: set[str] = set()

    def register(self, definition: ToolDefinition, *, is_first: bool) -> Candidate:
        """Enter a definition after all others that were registered, or before them.

        What was registered before is entered once: its candidate is returned as it is, unless it
        has to be the first. Other words for the same function are another tool of its name. A
        function that was defined again, as by a cell of a notebook, takes the place of the old one.
        """
        same, key = self._found(_function_key(definition)), _text_key(definition)
        older = [
            each
            for each in (self._found(key) if key is not None else ())
            if is_redefined(_defined(each.candidate).function, definition.function)
        ]
        for each in () if is_first else same:
            if is_same_tool(_defined(each.candidate), definition):
                return each.candidate
        # counted downwards, so that of those that come first the last one is the first
        number = next(self._numbers)
        rank = -number if is_first else number
        place = f"registered {number}: {identity(definition.function)}"
        replaced = [*same, *older] if is_first else older[:1]
        if replaced and not is_first:
            rank, place = replaced[0].rank, replaced[0].candidate.location
        candidate = checked(definition, place)
        if candidate.status == "loaded":
            for each in replaced:
                self._remove(each)
            self._add(_Entry(rank, candidate))
        return candidate

    def unregister(self, name: str) -> bool:
        """Take out what was registered by a name first; tell whether there was anything."""
        found = self._found((name,))
        for each in found[:1]:
            self._remove(each)
        return bool(found)

    def candidates(self) -> list[Candidate]:
        """Return all that are registered, in the order of their precedence."""
        entries = sorted(self._entries.values(), key=lambda each: each.rank)
        return [each.candidate for each in entries]

    def certain_holder(self, name: str) -> Candidate | None:
        """Return what has a name, whatever else there is; None if that is unknown.

        The first of a name has it, unless tools bring step handlers: then actions decide as well.
        """
        places = self._index.get((name,))
        if not places or self._acting:
            return None
        return self._entries[places[0][1]].candidate

    def _found(self, key: _Key) -> list[_Entry]:
        return [self._entries[place] for _, place in self._index.get(key, ())]

    def _add(self, entry: _Entry) -> None:
        candidate = entry.candidate
        self._entries[candidate.location] = entry
        for key in _keys(_defined(candidate)):
            insort(self._index.setdefault(key, []), (entry.rank, candidate.location))
        if candidate.actions:
            self._acting.add(candidate.location)

    def _remove(self, entry: _Entry) -> None:
        candidate = entry.candidate
        if self._entries.pop(candidate.location, None) is None:
            return
        self._acting.discard(candidate.location)
        for key in _keys(_defined(candidate)):
            self._index[key].remove((entry.rank, candidate.location))
            if not self._index[key]:
                del self._index[key]


class _Entry(NamedTuple):
    """A registration; of two the one with the smaller rank comes first."""

    rank: int
    candidate: Candidate


def _defined(candidate: Candidate) -> Any:
    """Return the definition of a candidate that was entered; none comes in without one."""
    return candidate.definition


def _keys(definition: ToolDefinition) -> Sequence[_Key]:
    keys = (definition.name,), _function_key(definition), _text_key(definition)
    return [each for each in keys if each is not None]


def _function_key(definition: ToolDefinition) -> _Key:
    return definition.name, *function_ids(definition.function)


def _text_key(definition: ToolDefinition) -> _Key | None:
    text = text_of(definition.function)
    return None if text is None else (definition.name, *text)


class Text(NamedTuple):
    """Where a function is written.

    Attributes:
        module: the name of its module.
        name: its qualified name there.
    """

    module: str
    name: str


def text_of(function: Any) -> Text | None:
    """Return where a function is written; None if several may come of the same text.

    Those of a factory and lambdas are such. A wrapper counts as what it wraps.
    """
    inner = _innermost(function)
    if inner is None or "<" in inner.__qualname__:
        return None
    return Text(str(inner.__module__), inner.__qualname__)


def is_redefined(old: Any, new: Any) -> bool:
    """Tell whether one function is another version of the text of the other one."""
    text = text_of(new)
    if text is None or text != text_of(old):
        return False
    # registering the very same function again redefines nothing
    first, second = _innermost(old), _innermost(new)
    return first is not None and second is not None and first.__code__ is not second.__code__


def _innermost(function: Any) -> FunctionType | None:
    while isinstance(function, MethodType):
        function = function.__func__
    try:
        inner = unwrap(function) if isinstance(function, FunctionType) else None
    except ValueError:  # they wrap one another in a circle
        return None
    return inner if isinstance(inner, FunctionType) else None
