"""A registry's folders with all that became of them, and how they are brought up to date."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Sequence

from sovl_tools.loading.collecting import Collected, collect
from sovl_tools.loading.enlisted import Enlisted, News
from sovl_tools.loading.libraries import Libraries, put_back, users
from sovl_tools.loading.load import Load
from sovl_tools.loading.modules import leave
from sovl_tools.loading.origins import Origin
from sovl_tools.loading.patching import Change
from sovl_tools.loading.refusals import Content, Refusals
from sovl_tools.loading.roster import Roster
from sovl_tools.loading.succeeding import arriving
from sovl_tools.loading.supervision import load_folders
from sovl_tools.loading.surveying import Surveys
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.folder import ToolFolder
from sovl_tools.watching.places import Place, places
from sovl_tools.watching.survey import Survey, survey

_REVISIONS = itertools.count(1)


class Shelf:
    """The folders of a registry and what became of them; one thread at a time may use it.

    Attributes:
        libraries: modules outside of the folders that tools import.
        surveys: what the folders looked like when they were loaded.
        folders: the folders that there are, by their locations.
        enlisted: tools that are in no folder.
    """

    def __init__(self, load: Load) -> None:
        self._found = load.collected.diagnostics
        self.libraries = Libraries()
        self.surveys = Surveys()
        self.folders = {each.location: each for each in load.collected.folders}
        self._source = load._replace(candidates=(), catalog=Catalog())
        self._roots = self._watched()
        self.enlisted = Enlisted()
        self._roster = Roster(load.candidates, load.catalog)
        self._refusals = Refusals()
        self._others: set[str] = set()
        self._revisions: dict[str, int] = {}
        self._is_torn = False

    @property
    def catalog(self) -> Catalog:
        """The tools as they are now."""
        return self._roster.catalog

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the paths and the other origins."""
        return (*self._found, *self.enlisted.diagnostics)

    def learn(self) -> set[str]:
        """Look at all folders for the first time; return those that changed since they loaded."""
        moment = self._source.moment
        others = {place for place, each in self.folders.items() if self.surveys.learn(each, moment)}
        come_or_gone = self._come_or_gone(self._collected().folders)
        return others | come_or_gone | self.enlisted.directories.changed()

    def places(self) -> set[Place]:
        """Return what has to be watched."""
        directories = self.enlisted.directories
        paths = self._roots | self.libraries.paths | directories.paths
        return places(paths, {**self.surveys.links, **directories.links})

    def _watched(self) -> frozenset[str]:
        """Return the tools directories, and the folders that were named by themselves."""
        named = (os.path.join(self._source.base, path) for path in self._source.paths)
        roots = {*map(os.path.abspath, named)}
        alone = {each for each in self.folders if os.path.dirname(each) not in roots}
        return frozenset(roots | alone)

    def changed(self) -> set[str]:
        """Return what looks otherwise than when it was loaded, and the folders that are new."""
        found = self._collected().folders
        others = {each.location for each in found if self.surveys.is_changed(each)}
        outside = self.libraries.changed() | self.enlisted.directories.changed()
        return others | self._come_or_gone(found) | outside

    def reload(self, touched: Collection[str] | None = None) -> CatalogChange:
        """Take the folders that were touched through the pipeline again, and swap the catalog.

        After a reload that was interrupted the next one looks everywhere.

        Args:
            touched: absolute paths where something may have happened; None looks everywhere.
        """
        known = self.diagnostics
        sources = self.libraries.sources(touched or ())
        is_everywhere, self._is_torn = touched is None or self._is_torn, True
        enlisted = self.enlisted
        origins = enlisted.origins if is_everywhere else enlisted.concerned(touched or ())
        is_listing = is_everywhere or bool(origins) or self._must_list(touched or (), sources)
        changes = self._relisted() if is_listing else []
        if origins:
            enlisted.look(origins)
            changes += self._enlisted()
        new = self.folders.keys() - self._roster.shown.keys() if is_listing else set()
        due = self._due(None if is_everywhere else touched, sources, new)
        if sources:
            candidates = self._load_with_libraries(due, sources)
        elif is_everywhere:
            candidates = self._load(due, is_patient=touched is not None)
        else:
            candidates = self._load(self._refusals.others(due), is_patient=True)
        changes += [change for each in candidates for change in self._roster.entered(each)]
        change = self._swapped(changes, known, is_listing=is_listing)
        self._is_torn = False
        return change

    def enlist(self, origins: Iterable[Origin] = ()) -> CatalogChange:
        """Look at origins outside of the folders, and enter what is enlisted there and by hand."""
        known = self.diagnostics
        self.enlisted.look(origins)
        news = self.enlisted.news()
        if news is None:
            return self._swapped(self._enlisted(), known, is_listing=True)
        return self._registered(news)

    def _registered(self, news: News) -> CatalogChange:
        """Enter and take out what was registered by hand; nothing else is looked at."""
        changes = [change for place in news.gone for change in self._roster.left(place)]
        changes += [change for each in news.candidates for change in self._roster.entered(each)]
        self._others.difference_update(news.gone)
        self._others.update(each.location for each in news.candidates)
        return self._roster.swap(changes, None, news.indexes)

    def _enlisted(self) -> list[Change]:
        """Return what changes by what is enlisted now."""
        present = {**self.enlisted.after_folders(), **self.enlisted.before_folders()}
        gone, self._others = self._others - present.keys(), set(present)
        changes = [change for each in present.values() for change in self._roster.entered(each)]
        return changes + [change for each in gone for change in self._roster.left(each)]

    def _swapped(
        self, changes: Sequence[Change], known: Collection[Diagnostic], *, is_listing: bool
    ) -> CatalogChange:
        order = [*self.enlisted.before_folders(), *self.folders] if is_listing else []
        order += self.enlisted.after_folders() if is_listing else ()
        change = self._roster.swap(changes, order if is_listing else None)
        found = [each for each in self.diagnostics if each not in known]
        return change._replace(diagnostics=(*found, *change.diagnostics))

    def _must_list(self, touched: Collection[str], sources: set[str]) -> bool:
        """Tell whether folders may have come or gone."""
        return any(self._owner(path) in {None, path} for path in touched if path not in sources)

    def _owner(self, path: str) -> str | None:
        """Return the location of the tool's folder in which a path lies, if it lies in one."""
        while path not in self.folders:
            above = os.path.dirname(path)
            if above == path:
                return None
            path = above
        return path

    def _come_or_gone(self, found: Sequence[ToolFolder]) -> set[str]:
        return {each.location for each in found} ^ self.folders.keys()

    def _collected(self) -> Collected:
        load = self._source
        known = self.folders.values()
        return collect(load.paths, names=load.names, base=load.base, known=known)

    def _relisted(self) -> list[Change]:
        """Look which folders there are; return what that changes by itself."""
        collected = self._collected()
        self._found = collected.diagnostics
        self.folders = {
            each.location: each._replace(revision=self._revisions.get(each.location, 0))
            for each in collected.folders
        }
        present = {*self.folders, *self._others}
        self._roots = self._watched()
        gone = [location for location in self._roster.shown if location not in present]
        return [change for location in gone for change in self._left(location)]

    def _left(self, location: str) -> Iterable[Change]:
        self._revise(location)
        self.surveys.forget(location)
        leave(location)
        return self._roster.left(location)

    def _revise(self, location: str) -> None:
        """See to it that the module in the folder runs again, even if its sources are the same."""
        revision = self._revisions[location] = next(_REVISIONS)
        if location in self.folders:
            self.folders[location] = self.folders[location]._replace(revision=revision)

    def _due(
        self, touched: Collection[str] | None, sources: set[str], new: set[str]
    ) -> list[ToolFolder]:
        """Return the folders that have to be looked at, in order."""
        if touched is None:
            return list(self.folders.values())
        due = {self._owner(path) for path in touched if path not in sources}
        return self._in_order(due | new)

    def _in_order(self, locations: Collection[str | None]) -> list[ToolFolder]:
        if len(locations) == 1:
            return [self.folders[each] for each in locations if each is not None]
        return [folder for location, folder in self.folders.items() if location in locations]

    def _load_with_libraries(self, due: list[ToolFolder], sources: set[str]) -> list[Candidate]:
        """Load what is due, and all tools that import the libraries in which sources changed."""
        taken = self.libraries.take_out(sources)
        importers = users(taken) & self.folders.keys()
        for location in importers:
            self._revise(location)
        shown = self._roster.shown.items()
        broken = {location for location, each in shown if each.status == "rejected"}
        broken &= self.folders.keys()
        every = self._in_order({each.location for each in due} | importers | broken)
        candidates = self._load(every, is_patient=True)
        if any(each.status == "rejected" for each in candidates):
            put_back(taken)
        return candidates

    def _load(self, due: Sequence[ToolFolder], *, is_patient: bool) -> list[Candidate]:
        """Load folders; patience is had with files that are still on their way."""
        seen = {each.location: survey(each.location) for each in due}
        if is_patient:
            due = [each for each in due if not self.surveys.is_echo(each, seen[each.location])]
        contents = {
            each.location: Content.of(each, seen[each.location])
            for each in (due if is_patient else ())
        }
        candidates = [
            candidate
            for each in (due if is_patient else ())
            if (candidate := self._arriving(each, seen[each.location])) is not None
        ]
        waiting = {each.location for each in candidates}
        ready = [
            self._revised(each, seen[each.location]) for each in due if each.location not in waiting
        ]
        candidates += self._load_all(ready)
        for folder in due:
            self.surveys.keep(folder, seen[folder.location])
        self._refusals.note(candidates, contents)
        return candidates

    def _arriving(self, folder: ToolFolder, seen: Survey) -> Candidate | None:
        return arriving(folder, seen, is_new=self._roster.is_new(folder.location))

    def _revised(self, folder: ToolFolder, seen: Survey) -> ToolFolder:
        if folder.location in self._roster and self._has_other_data(folder, seen):
            self._revise(folder.location)
        return self.folders[folder.location]

    def _has_other_data(self, folder: ToolFolder, seen: Survey) -> bool:
        return self.surveys.has_other_data(folder, seen, self._source.moment)

    def _load_all(self, folders: Sequence[ToolFolder]) -> list[Candidate]:
        """Load folders; each sees the step handlers of all other tools."""
        handlers = dict(self.catalog.step_handlers)
        for folder in folders:
            tool = self.catalog.tools.get(folder.name)
            for action in tool.step_handlers if tool is not None else ():
                handlers.pop(action, None)
        return load_folders(folders, self._source.settings, existing=handlers)
