"""Tools in code: registered in code, or found when an origin was last scanned."""

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
    """The result of scanning an origin, and the files of its directory at that time."""

    load: OriginLoad = OriginLoad()
    files: Files | None = None

    def is_changed(self, origin: Origin) -> bool:
        """Return whether files in the origin's directory changed since."""
        if origin.directory is None or self.files is None:
            return False
        return self.files.stamps != files_below(*origin.directory).stamps


def scan_origin(origin: Origin, before: OriginLoad) -> KnownOrigin:
    """Scan an origin, again or for the first time; units that fail keep their last good version."""
    # first, so that a file written during the scan counts as changed
    files = None if origin.directory is None else files_below(*origin.directory)
    try:
        load = origin.look()
    except Exception as error:  # noqa: BLE001 - the barrier: the other origins are scanned
        load = OriginLoad.of_failure(internal_diagnostic(error, str(origin)))
    hidden = {} if load.hidden is None else dict.fromkeys(before.units, load.hidden)
    lost = {
        unit: tuple(
            rejected(each.name, each.location, [found])._replace(found=())
            for each in before.units.get(unit, ())
        )
        for unit, found in {**hidden, **load.lost}.items()
    }
    seen = {unit: found for unit, found in load.units.items() if unit not in load.lost}
    unseen = {unit: found for unit, found in lost.items() if unit not in seen}
    return KnownOrigin(load._replace(units={**seen, **unseen}), files)


def candidates_of(
    origins: Mapping[Origin, KnownOrigin], registered: Iterable[Candidate]
) -> list[Candidate]:
    """Return the candidates of origins by precedence, each object once, without registered ones."""
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
    """The tools registered in code.

    Attributes:
        candidates: the tools in order of precedence.
        total: the number of registrations so far, for unique locations.
    """

    candidates: tuple[Candidate, ...] = ()
    total: int = 0

    def register(
        self, definition: ToolDefinition, *, is_first: bool
    ) -> tuple[Registrations, Candidate]:
        """Enter a definition after all others, or before them; return its candidate, too.

        A definition that was registered before is entered once: its candidate is returned
        unchanged, unless it must be the first. Other words for the same function are another tool
        of its name. A function that was defined again, as by a cell of a notebook, replaces the old
        one. An unsound definition isn't entered.
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
        """Remove the first tool with a name, if there is one."""
        first = next((each for each in self.candidates if each.name == name), None)
        if first is None:
            return self
        return self._replace(
            candidates=tuple(each for each in self.candidates if each is not first)
        )


def _function(candidate: Candidate) -> object:
    return None if candidate.definition is None else candidate.definition.function


def text_of(function: Any) -> tuple[str, str] | None:
    """Return a function's module and qualified name; None if several functions can have the same.

    Lambdas and the functions of a factory do. A wrapper counts as the function it wraps.
    """
    inner = _innermost(function)
    if inner is None or "<" in inner.__qualname__:
        return None
    return str(inner.__module__), inner.__qualname__


def is_redefined(old: Any, new: Any) -> bool:
    """Return whether a function is an edited version of another, as in a notebook's cell."""
    text = text_of(new)
    if text is None or text != text_of(old):
        return False
    # the same function, registered twice, isn't redefined
    first, second = _innermost(old), _innermost(new)
    return first is not None and second is not None and first.__code__ is not second.__code__


def _innermost(function: Any) -> FunctionType | None:
    while isinstance(function, MethodType):
        function = function.__func__
    inner = unwrap(function) if isinstance(function, FunctionType) else None
    return inner if isinstance(inner, FunctionType) else None
