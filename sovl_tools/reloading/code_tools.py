"""Tools in code: those that were registered by hand, and those of origins, as last looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import unwrap
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from sovl_tools.loading.catalog_builder import function_ids, is_same_tool
from sovl_tools.loading.definitions import checked, identity, rejected
from sovl_tools.loading.origins import Origin, OriginLoad, distinct
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import internal_diagnostic
from sovl_tools.reloading.fingerprint import Files, files_below


class KnownOrigin(NamedTuple):
    """What was found when an origin was last looked at, and the files of its directory then."""

    load: OriginLoad = OriginLoad()
    files: Files | None = None

    def is_changed(self, origin: Origin) -> bool:
        """Tell whether the origin has a directory whose files look different now."""
        if origin.directory is None or self.files is None:
            return False
        return bool(self.files.changed(files_below(*origin.directory)))


def look_at(origin: Origin, before: OriginLoad) -> KnownOrigin:
    """Look at an origin, again or for the first time."""
    # before the modules are read: what is written meanwhile has changed since
    files = None if origin.directory is None else files_below(*origin.directory)
    try:
        load = origin.look()
    except Exception as error:  # noqa: BLE001 - the barrier: the other origins are looked at
        load = OriginLoad.of_failure(internal_diagnostic(error, str(origin)))
    # the last good version serves for a unit that couldn't be looked at
    hidden = {} if load.hidden is None else dict.fromkeys(before.units, load.hidden)
    lost = {
        unit: tuple(
            rejected(each.name, each.location, [found])._replace(found=())
            for each in before.units.get(unit, ())
        )
        for unit, found in {**hidden, **load.lost}.items()
    }
    # a unit that was seen in spite of all is as it was seen
    seen = {unit: found for unit, found in load.units.items() if unit not in load.lost}
    unseen = {unit: found for unit, found in lost.items() if unit not in seen}
    return KnownOrigin(load._replace(units={**seen, **unseen}), files)


def candidates_of(
    origins: Mapping[Origin, KnownOrigin], registered: Iterable[Candidate]
) -> list[Candidate]:
    """Return the candidates of origins by precedence, each object once, unless it is registered."""
    known = {
        function_ids(each.definition.function) for each in registered if each.definition is not None
    }
    by_level = sorted(origins, key=lambda origin: origin.level)
    found = distinct(
        each
        for origin in by_level
        for each in origins[origin].load.candidates
        if each.definition is None or function_ids(each.definition.function) not in known
    )
    return list(found.values())


class Registrations(NamedTuple):
    """The tools that were registered by hand.

    Attributes:
        candidates: the tools in the order of their precedence.
        total: how many there have been.
    """

    candidates: tuple[Candidate, ...] = ()
    total: int = 0

    def register(
        self, definition: ToolDefinition, *, is_first: bool
    ) -> tuple[Registrations, Candidate]:
        """Enter a definition after all others, or before them; return its candidate, too.

        A definition that was registered before is entered once: its candidate is returned as it is,
        unless it has to be the first. Other words for the same function are another tool of its
        name. A function that was defined again, as by a cell of a notebook, replaces the old one.
        An unsound definition isn't entered.
        """
        function = definition.function
        named = [each for each in self.candidates if each.name == definition.name]
        same = [each for each in named if function_ids(_function(each)) == function_ids(function)]
        older = [each for each in named if is_redefined(_function(each), function)]
        for each in () if is_first else same:
            if each.definition is not None and is_same_tool(each.definition, definition):
                return self, each
        place = f"registered {self.total + 1}: {identity(function)}"
        if older and not is_first:
            place = older[0].location
        candidate = checked(definition, place)
        if candidate.status != "loaded":
            return self, candidate
        if is_first:
            replaced = {each.location for each in (*same, *older)}
            others = [each for each in self.candidates if each.location not in replaced]
            entered = [candidate, *others]
        elif older:
            entered = [candidate if each is older[0] else each for each in self.candidates]
        else:
            entered = [*self.candidates, candidate]
        return Registrations(tuple(entered), self.total + 1), candidate

    def unregister(self, name: str) -> Registrations:
        """Remove the tool that comes first of a name, if there is one."""
        for position, each in enumerate(self.candidates):
            if each.name == name:
                rest = self.candidates[:position] + self.candidates[position + 1 :]
                return self._replace(candidates=rest)
        return self


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
