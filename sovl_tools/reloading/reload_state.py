"""A registry's folders with all that became of them, and how they are brought up to date."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Collection, Sequence
from operator import is_

from sovl_tools.loading.catalog_builder import combine, content_of, difference
from sovl_tools.loading.load import Load, load_folders
from sovl_tools.loading.modules import forget_folder
from sovl_tools.loading.origins import Origin
from sovl_tools.loading.rules.folder import misnamed
from sovl_tools.loading.sources import Collected, collect, listed
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.diagnostic import Deferred, Diagnostic
from sovl_tools.model.folder import ToolFolder
from sovl_tools.reloading.code_tools import Origins, Registrations
from sovl_tools.reloading.fingerprint import Fingerprint, FolderChanges
from sovl_tools.reloading.libraries import Libraries, restore

_REVISIONS = itertools.count(1)


class ReloadState:
    """The sources of a registry's tools and what became of them; for one thread at a time.

    Attributes:
        catalog: the tools as they were when they were last combined.
        libraries: modules outside of the folders that tools import.
        changes: what the folders looked like when they were loaded.
        folders: the folders that there are, by their locations.
        registrations: tools that were registered by hand.
        origins: where else tools come from.
    """

    def __init__(self, load: Load) -> None:
        self._found = load.collected.diagnostics
        self._last_collected = load.collected
        self.libraries = Libraries()
        self.folders: dict[str, ToolFolder] = {
            each.location: each for each in load.collected.folders
        }
        self.changes = FolderChanges(self.folders, since=load.moment)
        self._source = load._replace(candidates=(), catalog=Catalog())
        self._roots = self._find_roots()
        self.registrations = Registrations()
        self.origins = Origins()
        self.catalog = load.catalog
        self._candidates = {each.location: each for each in load.candidates}
        self._shown = {each.location: each for each in load.catalog.candidates}
        self._combined = list(load.candidates)
        self._revisions: dict[str, int] = {}
        self._is_interrupted = False

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the paths and the other origins."""
        return (*self._found, *self.origins.diagnostics)

    def watched(self) -> tuple[frozenset[str], dict[str, str]]:
        """Return the paths to watch, and what symbolic links below them lead to."""
        paths = self._roots | self.libraries.paths | self.origins.directories
        return paths, {**self.changes.links, **self.origins.links}

    def _find_roots(self) -> frozenset[str]:
        """Return the tools directories, and the folders that were named by themselves."""
        named = (os.path.join(self._source.base, path) for path in self._source.paths)
        roots = {*map(os.path.abspath, named)}
        alone = {each for each in self.folders if each.rpartition(os.sep)[0] not in roots}
        return frozenset(roots | alone)

    def changed(self) -> set[str]:
        """Return what looks otherwise than when it was loaded, and the folders that are new."""
        found = self._collected().folders
        changes = self.changes
        others = {
            each.location
            for each in found
            if changes.is_changed(
                each, changes.look(each, self._patterns(each)), self._patterns(each)
            )
        }
        come_or_gone = {each.location for each in found} ^ self.folders.keys()
        return others | come_or_gone | self.libraries.changed() | self.origins.changed()

    def _patterns(self, folder: ToolFolder) -> tuple[str, ...] | None:
        known = self._candidates.get(folder.location)
        return None if known is None else known.patterns

    def reload(self, touched: Collection[str] | None = None) -> CatalogChange:
        """Take the folders that were touched through the pipeline again, and combine anew.

        After a reload that was interrupted the next one looks everywhere.

        Args:
            touched: absolute paths where something may have happened; None looks everywhere.
        """
        known = self.diagnostics
        sources = self.libraries.sources(touched) if touched else set[str]()
        # set back at the end alone: after Ctrl-C in between nobody knows what was done
        was_interrupted, self._is_interrupted = self._is_interrupted, True
        is_everywhere = was_interrupted or touched is None
        others = [path for path in touched or () if path not in sources]
        # a path outside of all folders, or a folder itself: some may have come or gone
        if is_everywhere or any(self._owner(path) in {None, path} for path in others):
            self._relist()
        unloaded = self.libraries.unload(sources) if sources else {}
        affected = self.origins.affected(touched or (), has_new_libraries=bool(sources))
        self.origins.look(self.origins if is_everywhere else affected)
        forced = set(self.folders) if sources else set[str]()
        for location in forced:
            self._revise(location)
        if was_interrupted:
            forced = set(self.folders)
        if is_everywhere:
            due = list(self.folders.values())
        else:
            new = self.folders.keys() - self._candidates.keys()
            locations = new | forced | {self._owner(path) for path in others}
            # one folder is what most edits touch: the others need not be gone through
            if len(locations) == 1:
                due = [self.folders[each] for each in locations if each is not None]
            else:
                due = [each for place, each in self.folders.items() if place in locations]
        candidates = self._load(due, is_patient=touched is not None, forced=forced)
        restore(unloaded, limit=self._source.settings.limit)
        for each in candidates:
            self._enter(each)
        change = self._recombined(known)
        self._is_interrupted = False
        return change

    def look(self, origin: Origin) -> CatalogChange:
        """Look at an origin, and combine anew."""
        known = self.diagnostics
        self.origins.look([origin])
        return self._recombined(known)

    def combine(self) -> CatalogChange:
        """Combine all candidates that there are; return what that changes."""
        registered = self.registrations.candidates
        outside = self.origins.candidates(besides=registered)
        for each in (*registered, *outside):
            self._enter(each)
        order = [each.location for each in registered]
        order += self.folders
        order += [each.location for each in outside]
        candidates = [self._candidates[each] for each in order if each in self._candidates]
        before = self.catalog
        # the same candidates make the same catalog: it stays, and the indexes made of it
        is_same = len(candidates) == len(self._combined)
        if is_same and all(map(is_, candidates, self._combined)):
            return CatalogChange()
        self.catalog = combine(candidates)
        self._shown = {each.location: each for each in self.catalog.candidates}
        # one that is in the catalog needs its last good version no more
        self._candidates = {
            each.location: shown if shown.status == "loaded" else each
            for each, shown in zip(candidates, self.catalog.candidates, strict=True)
        }
        self._combined = list(self._candidates.values())
        return difference(before, self.catalog)

    def _recombined(self, known: Collection[Diagnostic]) -> CatalogChange:
        """Combine; the change tells also what is wrong with the sources now and was not before."""
        change = self.combine()
        found = [each for each in self.diagnostics if each not in known]
        if not found:
            return change
        return change._replace(diagnostics=Deferred(lambda: (*found, *change.diagnostics)))

    def _enter(self, new: Candidate) -> None:
        """Let a candidate take the place of the one before, unless nothing has changed."""
        old = self._candidates.get(new.location)
        if old is not None and old is not new:
            shown = self._shown.get(new.location)
            is_served = shown is not None and shown.status == "loaded"
            new = successor(old, new, is_served=is_served)
        self._candidates[new.location] = new

    def _owner(self, path: str) -> str | None:
        """Return the location of the tool's folder in which a path lies, if it lies in one."""
        while path not in self.folders:
            above = os.path.dirname(path)
            if above == path:
                return None
            path = above
        return path

    def _collected(self) -> Collected:
        load = self._source
        known = self.folders.values()
        return collect(
            load.paths, names=load.names, base=load.base, known=known, exclude=load.exclude
        )

    def _relist(self) -> None:
        """Look which folders there are, and forget those that are gone."""
        collected = self._collected()
        if collected == self._last_collected:
            return
        self._last_collected = collected
        self._found = collected.diagnostics
        before, revisions = self.folders, self._revisions
        self.folders = {
            each.location: each._replace(revision=revisions[each.location])
            if each.location in revisions
            else each
            for each in collected.folders
        }
        self._roots = self._find_roots()
        # a folder that has taken the place of another may have files as old as those before
        for location, each in self.folders.items():
            if location in before and each.inode != before[location].inode:
                self.changes.forget(location)
        for location in before.keys() - self.folders.keys():
            self._candidates.pop(location, None)
            self._revise(location)
            self.changes.forget(location)
            forget_folder(location)

    def _revise(self, location: str) -> None:
        """See to it that the module in the folder runs again, even if its sources are the same."""
        revision = self._revisions[location] = next(_REVISIONS)
        if location in self.folders:
            self.folders[location] = self.folders[location]._replace(revision=revision)

    def _load(
        self, due: Sequence[ToolFolder], *, is_patient: bool, forced: Collection[str]
    ) -> list[Candidate]:
        """Load those folders again that have changed, and those that are forced to.

        Patience is had with files that are still on their way. Who has none asks for everything:
        then it is also tried again what has failed, or depends on more than files.
        """
        looks = self._outdated(due, is_patient=is_patient, forced=forced)
        candidates: list[Candidate] = []
        ready: list[ToolFolder] = []
        for location, seen in [*looks.items()]:
            folder, known = self.folders[location], self._candidates.get(location)
            is_new = known is None or known.status == "waiting"
            waiting = arriving(folder, seen, is_new=is_new) if is_patient else None
            if waiting is not None:
                candidates.append(waiting)
                continue
            if known is not None and self.changes.has_other_data(folder, seen, known.patterns):
                self._revise(location)
            ready.append(self.folders[location])
        candidates += self._load_all(ready)
        found = {each.location: each.patterns for each in candidates}
        for location, seen in looks.items():
            self.changes.keep(self.folders[location], seen, found.get(location))
        return candidates

    def _outdated(
        self, folders: Sequence[ToolFolder], *, is_patient: bool, forced: Collection[str]
    ) -> dict[str, Fingerprint]:
        """Return what those folders look like now that have to be loaded again."""
        looks: dict[str, Fingerprint] = {}
        for folder in folders:
            location = folder.location
            known = self._candidates.get(location)
            patterns = None if known is None else known.patterns
            seen = self.changes.look(folder, patterns)
            if (
                location in forced
                or known is None
                # the result may be another one although the files are as before
                or not (is_patient or _depends_on_files(known))
                or self.changes.is_changed(folder, seen, patterns)
            ):
                looks[location] = seen
        return looks

    def _load_all(self, folders: Sequence[ToolFolder]) -> list[Candidate]:
        """Load folders; each sees the step handlers of all other tools."""
        handlers = dict(self.catalog.step_handlers)
        for folder in folders:
            tool = self.catalog.tools.get(folder.name)
            for action in tool.step_handlers if tool is not None else ():
                handlers.pop(action, None)
        return load_folders(folders, self._source.settings, existing=handlers)


def _depends_on_files(known: Candidate) -> bool:
    """Tell whether what became of a folder depends on nothing that it requires or imports."""
    if known.definition is None:
        return known.status == "disabled"
    return not known.definition.requires


def arriving(folder: ToolFolder, seen: Fingerprint, *, is_new: bool) -> Candidate | None:
    """Return the candidate of a folder whose files are on their way, or None if they are there.

    Of a new folder no file may be missing or empty; one that is known has lost both of them.
    """
    files = (folder.manifest_name, folder.module_name)
    missing = [name for name in files if name not in seen.files or not seen.files[name].size]
    if not missing or not (is_new or _is_emptied(folder)):
        return None
    reason = f"{' and '.join(missing)} {'have' if len(missing) > 1 else 'has'} not arrived yet"
    reason += _advice(folder, [name for name in missing if name not in seen.files])
    return Candidate(folder.name, folder.path, folder.location, "waiting", reasons=(reason,))


def _advice(folder: ToolFolder, missing: Sequence[str]) -> str:
    """Return what to do if the files are there but have kept the name of another folder."""
    with contextlib.suppress(OSError):
        folder = listed(folder)
    # the former name of the folder is that of its only manifest
    former = (misnamed(folder, folder.manifest_name) or folder.manifest_name).removesuffix(".json")
    others = {name: f"{former}{os.path.splitext(name)[1]}" for name in missing}
    renames = [
        f"rename {other!r} to {name!r}"
        for name, other in others.items()
        if other in folder.files and other != name
    ]
    return f"; {' and '.join(renames)}" if renames else ""


def successor(old: Candidate, new: Candidate, *, is_served: bool) -> Candidate:
    """Return a folder's candidate from now on: the old one itself if nothing changed.

    A new one keeps the last good version beside it, for as long as it may be needed.

    Args:
        old: what stood for it.
        new: what has become of its files.
        is_served: whether the old one, rather than its last good version, is in the catalog.
    """
    if old is new:
        return old
    # what they are first: to compare what is wrong with them, both would have to be linted
    if content_of(old.definition) == content_of(new.definition):
        bare, other = (each._replace(definition=None, previous=None) for each in (old, new))
        if bare == other:
            return old
    if new.status in {"disabled", "unavailable", "waiting"}:
        return new
    if new.status == "rejected" and _is_emptied(ToolFolder(new.name, new.path, new.location)):
        return new
    return new._replace(previous=old._replace(previous=None) if is_served else old.previous)


def _is_emptied(folder: ToolFolder) -> bool:
    """Tell whether neither file of a tool is there any more: it was deleted, not broken."""
    try:
        names = os.listdir(folder.location)
    except OSError:
        return False
    return folder.manifest_name not in names and folder.module_name not in names
