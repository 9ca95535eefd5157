"""Where else tools come from, what was found there, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sovl_tools.loading.definition_checks import rejected
from sovl_tools.loading.equality import ran
from sovl_tools.loading.origins import Directory, Origin, Sight, distinct
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic, internal_diagnostic
from sovl_tools.reloading.fingerprint import Fingerprint, fingerprint


class Origins:
    """The origins that somebody has named, and what there was when they were last looked at."""

    def __init__(self) -> None:
        self._sights: dict[tuple[type, Origin], Sight] = {}
        self._looks: dict[Directory, Fingerprint] = {}

    def __iter__(self) -> Iterator[Origin]:
        return iter([origin for _, origin in self._sights])

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
        """Look at origins, again or for the first time."""
        for origin in origins:
            if origin.directory is not None:
                self._looks[origin.directory] = fingerprint(*origin.directory)
            key = type(origin), origin  # two of them may be tuples of one name
            try:
                sight = origin.look()
            except Exception as error:  # noqa: BLE001 - the barrier: the others are looked at
                sight = Sight.of_problem(internal_diagnostic(error, str(origin)))
            self._sights[key] = _whole(sight, self._sights.get(key, Sight()))

    def concerned(self, touched: Iterable[str]) -> list[Origin]:
        """Return the origins to which something at one of the paths may matter."""
        paths = list(touched)
        return [
            origin
            for origin in self
            if origin.directory is not None and any(map(origin.directory.is_concerned, paths))
        ]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the origins themselves."""
        return tuple(found for sight in self._sights.values() for found in sight.diagnostics)

    def candidates(self, *, besides: Iterable[Candidate]) -> list[Candidate]:
        """Return all candidates by precedence, each object once, without those of ``besides``."""
        if not self._sights:
            return []
        known = {ran(each.definition.function) for each in besides if each.definition is not None}
        sights = sorted(self._sights.items(), key=lambda entry: entry[0][1].level)
        found = distinct(
            each
            for _, sight in sights
            for each in sight.candidates
            if each.definition is None or ran(each.definition.function) not in known
        )
        return list(found.values())


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
