"""A registry's tools in code: those registered by hand, and those of origins, as last looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import unwrap
from itertools import count
from types import FunctionType, MethodType
from typing import Any, NamedTuple

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


class Registrations:
    """Tools that were registered by hand.

    Attributes:
        candidates: in the order of their precedence; of one name the first wins.
    """

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self._numbers = count(1)

    def register(self, definition: ToolDefinition, *, is_first: bool) -> Candidate:
        """Enter a definition after all others that were registered, or before them.

        A definition that was registered before is entered once: its candidate is returned as it is,
        unless it has to be the first. Other words for the same function are another tool of its
        name. A function that was defined again, as by a cell of a notebook, replaces the old one.
        """
        function = definition.function
        named = [each for each in self.candidates if each.name == definition.name]
        same = [each for each in named if function_ids(_function(each)) == function_ids(function)]
        older = [each for each in named if is_redefined(_function(each), function)]
        for each in () if is_first else same:
            if each.definition is not None and is_same_tool(each.definition, definition):
                return each
        if older and not is_first:
            candidate = checked(definition, older[0].location)
            if candidate.status == "loaded":
                self.candidates[self.candidates.index(older[0])] = candidate
            return candidate
        number = next(self._numbers)
        candidate = checked(definition, f"registered {number}: {identity(function)}")
        if candidate.status == "loaded" and is_first:
            replaced = {each.location for each in (*same, *older)}
            others = [each for each in self.candidates if each.location not in replaced]
            self.candidates = [candidate, *others]
        elif candidate.status == "loaded":
            self.candidates.append(candidate)
        return candidate

    def unregister(self, name: str) -> bool:
        """Remove the tool that was registered by a name first; return whether there was one."""
        found = next((each for each in self.candidates if each.name == name), None)
        if found is not None:
            self.candidates.remove(found)
        return found is not None


def _function(candidate: Candidate) -> object:
    return None if candidate.definition is None else candidate.definition.function


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
