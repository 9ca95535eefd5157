"""Tools that are in no tools directory, in the order of their precedence."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from sovl_tools.loading.directories import Directories
from sovl_tools.loading.enlisting import enlisted, rejected
from sovl_tools.loading.origins import Origin, Sight, distinct
from sovl_tools.loading.scanning import identity
from sovl_tools.loading.succeeding import is_same_tool, ran
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic


class Enlisted:
    """What was registered by hand, and the origins that somebody has named.

    Attributes:
        directories: of the origins that have any.
    """

    def __init__(self) -> None:
        self.directories = Directories()
        self._explicit: dict[str, Candidate] = {}
        self._sights: dict[tuple[type, Origin], Sight] = {}
        self._numbers = count(1)

    def register(self, definition: ToolDefinition, *, is_first: bool) -> Candidate:
        """Enter a definition after all others that were registered, or before them.

        What was registered before is entered once: its candidate is returned as it is, unless it
        has to be the first. Other words for the same function are another tool of its name.
        """
        known = self._known(definition)
        for each in () if is_first else known.values():
            if each.definition is not None and is_same_tool(each.definition, definition):
                return each
        place = f"registered {next(self._numbers)}: {identity(definition.function)}"
        candidate = enlisted(definition, place)
        if candidate.status == "loaded":
            if is_first:
                kept = {key: each for key, each in self._explicit.items() if key not in known}
                self._explicit = {place: candidate, **kept}
            else:
                self._explicit = {**self._explicit, place: candidate}
        return candidate

    def _known(self, definition: ToolDefinition) -> dict[str, Candidate]:
        """Return what was registered of the same function by the same name."""
        code, name = ran(definition.function), definition.name
        return {
            place: each
            for place, each in self._explicit.items()
            if each.name == name and each.definition and ran(each.definition.function) == code
        }

    def unregister(self, name: str) -> list[str]:
        """Take out what was registered by a name first; return its location, if there is one."""
        places = [place for place, each in self._explicit.items() if each.name == name][:1]
        for place in places:
            del self._explicit[place]
        return places

    def look(self, origins: Iterable[Origin]) -> None:
        """Look at origins, again or for the first time."""
        for origin in origins:
            if origin.directory is not None:
                self.directories.look(origin.directory)
            sight = origin.look()
            key = type(origin), origin  # two of them are tuples of one name
            self._sights[key] = _whole(sight, self._sights.get(key, Sight()))

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The origins in the order in which they were named."""
        return tuple(origin for _, origin in self._sights)

    def concerned(self, touched: Iterable[str]) -> list[Origin]:
        """Return the origins to which something at one of the paths may matter."""
        found = self.directories.concerned(touched)
        return [origin for origin in self.origins if origin.directory in found]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the origins themselves."""
        return tuple(found for sight in self._sights.values() for found in sight.diagnostics)

    def before_folders(self) -> dict[str, Candidate]:
        """Return the candidates that win over folders, by their locations."""
        return self._explicit

    def after_folders(self) -> dict[str, Candidate]:
        """Return the candidates that folders win over; an object seen twice counts once."""
        if not self._sights:
            return {}
        explicit = (each.definition for each in self._explicit.values())
        known = {ran(each.function) for each in explicit if each is not None}
        sights = sorted(self._sights.items(), key=lambda entry: entry[0][1].level)
        return distinct(
            each
            for _, sight in sights
            for each in sight.candidates
            if each.definition is None or ran(each.definition.function) not in known
        )


def _whole(sight: Sight, before: Sight) -> Sight:
    """Return what was seen, and what was lost from sight, so that its last good version serves."""
    lost = {
        key: tuple(
            rejected(each.name, each.location, [found])._replace(diagnostics=())
            for each in before.units.get(key, ())
        )
        for key, found in sight.lost.items()
    }
    return sight._replace(units={**sight.units, **lost})
