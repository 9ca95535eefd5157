"""The origins of a registry's tools in code, and what there was when they were last looked at."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator

from sovl_tools.loading.definitions import rejected
from sovl_tools.loading.load import SOON
from sovl_tools.loading.origins import (
    Directory,
    Origin,
    OriginLoad,
    distinct,
    mark_outdated,
    module_sources,
)
from sovl_tools.loading.registration import function_ids
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic, internal_diagnostic
from sovl_tools.reloading.fingerprint import Fingerprint, fingerprint
from sovl_tools.threads import Job

_PARTING = 3.0
"""How long a look that was stopped is waited for, in seconds."""


class LateLook:
    """A look at an origin, which imports modules there; it may go on while others are loaded."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self._job = Job(self._look)
        self.is_done = self._job.wait

    def _look(self) -> OriginLoad:
        try:
            return self.origin.look()
        except Exception as error:  # noqa: BLE001 - the barrier: the others are looked at
            return OriginLoad.of_problem(internal_diagnostic(error, str(self.origin)))

    def outcome(self) -> OriginLoad:
        """Wait for what there is to see."""
        self._job.wait(math.inf)
        return self._job.result()

    def give_up(self) -> None:
        """End it: nobody wants to know any more."""
        self._job.stop()
        # Two looks at one place would undo each other; but a look that does not even end when it is
        # stopped must not hold up the watch.
        self._job.wait(_PARTING)


class Origins:
    """The origins that somebody has named, and what there was when they were last looked at."""

    def __init__(self) -> None:
        self._late: dict[Origin, LateLook] = {}
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

    def look(
        self, origins: Iterable[Origin], defer: Callable[[LateLook], None] | None = None
    ) -> None:
        """Look at origins, again or for the first time; ``defer`` takes those that take long."""
        for origin in origins:
            late = self.begin(origin)
            if late.is_done(math.inf if defer is None else SOON):
                self.enter(late, late.outcome())
            elif defer is not None:
                defer(late)

    def begin(self, origin: Origin) -> LateLook:
        """Begin to look at an origin, from now on at every reload as well."""
        # before the modules are read: what is written meanwhile has changed since
        if origin.directory is not None:
            self._looks[origin.directory] = fingerprint(*origin.directory)
        self._loads.setdefault(origin, OriginLoad())
        if origin in self._late:
            self._late[origin].give_up()
        self._late[origin] = LateLook(origin)
        return self._late[origin]

    def enter(self, late: LateLook, load: OriginLoad) -> None:
        """Enter what was found, unless the origin has been looked at again since."""
        origin = late.origin
        if self._late.get(origin) is not late:
            return
        del self._late[origin]
        # of a unit that could not be looked at the last good version serves
        before = self._loads[origin].units
        lost = {
            unit: tuple(
                rejected(each.name, each.location, [found])._replace(diagnostics=())
                for each in before.get(unit, ())
            )
            for unit, found in load.lost.items()
        }
        self._loads[origin] = load._replace(units={**load.units, **lost})

    def sources(self) -> dict[str, Iterable[bytes]]:
        """Return the sources of the modules in the directories, by the names of the modules."""
        return {
            name: [source]
            for directory in self._looks
            for name, source in module_sources(directory.path).items()
        }

    def affected(
        self, touched: Iterable[str], users: Collection[str] | None = None
    ) -> list[Origin]:
        """Return the origins to which something at one of the paths may matter.

        If libraries have changed, ``users`` are the names of the modules that have to run again.
        What did not load is tried again then, for it may have failed for want of a library.
        """
        paths = list(touched)
        found = []
        for origin in self:
            if origin.directory is None:
                continue
            is_due = any(map(origin.directory.is_affected, paths))
            if users is not None:
                is_due |= mark_outdated(origin.directory.path, users)
                is_due |= bool(self._loads[origin].lost)
            found += [origin] if is_due else []
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
