"""A registry's tools in code: those registered by hand, and those of origins, as last looked at."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from inspect import unwrap
from itertools import count
from types import FunctionType, MethodType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.loading.catalog_builder import function_ids, is_same_tool
from sovl_tools.loading.definitions import checked, identity, rejected
from sovl_tools.loading.origins import (
    Directory,
    Origin,
    OriginLoad,
    distinct,
    mark_outdated,
)
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, internal_diagnostic
from sovl_tools.reloading.fingerprint import Fingerprint, fingerprint


class Origins:
    """The origins that somebody has named, and what there was when they were last looked at."""

    def __init__(self) -> None:
        self._loads: dict[Origin, OriginLoad] = {}
        self._looks: dict[Directory, Fingerprint] = {}

    def __iter__(self) -> Iterator[Origin]:
        return iter([*self._loads])

    @property
    def directories(self) -> frozenset[str]:
        """The paths of the directories of those that have any."""
        return frozenset(each.path for each in self._looks)

    @property
    def links(self) -> dict[str, str]:
        """Symbolic links in the directories, by their absolute paths, and what they lead to."""
        return {
            f"{directory.path}/{path}".rstrip("/"): target
            for directory, look in self._looks.items()
            for path, target in look.links.items()
        }

    def changed(self) -> set[str]:
        """Return the paths of the directories that look otherwise than when they were looked at."""
        return {
            directory.path
            for directory, before in self._looks.items()
            if before.changed(before.again())
        }

    def look(self, origins: Iterable[Origin]) -> None:
        """Look at origins, from now on at every reload as well."""
        for origin in origins:
            # before the modules are read: what is written meanwhile has changed since
            if origin.directory is not None:
                self._looks[origin.directory] = fingerprint(*origin.directory)
            self._loads.setdefault(origin, OriginLoad())
            try:
                load = origin.look()
            except Exception as error:  # noqa: BLE001 - the barrier: the others are looked at
                load = OriginLoad.of_failure(internal_diagnostic(error, str(origin)))
            self._enter(origin, load)

    def _enter(self, origin: Origin, load: OriginLoad) -> None:
        # of a unit that could not be looked at the last good version serves
        before = self._loads[origin].units
        hidden = {} if load.hidden is None else dict.fromkeys(before, load.hidden)
        lost = {
            unit: tuple(
                rejected(each.name, each.location, [found])._replace(diagnostics=())
                for each in before.get(unit, ())
            )
            for unit, found in {**hidden, **load.lost}.items()
        }
        # a unit that was seen in spite of all is as it was seen
        seen = {unit: found for unit, found in load.units.items() if unit not in load.lost}
        unseen = {unit: found for unit, found in lost.items() if unit not in seen}
        self._loads[origin] = load._replace(units={**seen, **unseen})

    def affected(self, touched: Iterable[str], *, has_new_libraries: bool) -> list[Origin]:
        """Return the origins with a directory to which something at one of the paths may matter.

        Libraries that have changed matter to all of them: their modules have to run again.
        """
        paths, found = list(touched), []
        for origin in self:
            if origin.directory is None:
                continue
            if has_new_libraries:
                mark_outdated(origin.directory.path)
            if has_new_libraries or any(map(origin.directory.is_affected, paths)):
                found.append(origin)
        return found

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the origins themselves."""
        return tuple(found for load in self._loads.values() for found in load.diagnostics)

    def candidates(self, *, besides: Iterable[Candidate]) -> list[Candidate]:
        """Return all candidates by precedence, each object once, without those of ``besides``."""
        if not self._loads:
            return []
        known = {
            function_ids(each.definition.function)
            for each in besides
            if each.definition is not None
        }
        loads = sorted(self._loads.items(), key=lambda entry: entry[0].level)
        found = distinct(
            each
            for _, load in loads
            for each in load.candidates
            if each.definition is None or function_ids(each.definition.function) not in known
        )
        return list(found.values())


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
