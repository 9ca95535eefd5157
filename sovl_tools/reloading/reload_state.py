"""The state of a registry's sources, and the functions that lead from one state to the next."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import is_
from pathlib import PurePath
from typing import NamedTuple

from sovl_tools.loading.catalog_builder import combine, content_of, difference
from sovl_tools.loading.load import Load, load_folders
from sovl_tools.loading.modules import forget_folder, renew
from sovl_tools.loading.origins import Origin, mark_outdated
from sovl_tools.loading.sources import Collected, Contents, collect, shared_next_to
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.folder import ToolFolder
from sovl_tools.reloading.code_tools import KnownOrigin, Registrations, candidates_of, scan_origin
from sovl_tools.reloading.fingerprint import Files, Fingerprint, scan
from sovl_tools.reloading.libraries import (
    changed_sources,
    restore,
    scan_libraries,
    sources_in,
    unload,
)
from sovl_tools.reloading.loaded_folder import LoadedFolder, arriving

_REVISIONS = itertools.count(1)


class State(NamedTuple):
    """The sources of a registry's tools, and the catalog combined from them.

    Attributes:
        load: the paths of the folders, and the settings for loading them.
        collected: the tool folders found at the paths.
        folders: the folders as they were loaded, by location.
        origins: the other sources, as last scanned.
        registrations: the tools registered in code.
        libraries: the sources of watched libraries when they were last imported, by path.
        candidates: the candidates of all sources, by location, in order of precedence.
        catalog: the candidates combined.
    """

    load: Load
    collected: Collected
    folders: Mapping[str, LoadedFolder]
    origins: Mapping[Origin, KnownOrigin]
    registrations: Registrations
    libraries: Mapping[str, Files]
    candidates: Mapping[str, Candidate]
    catalog: Catalog

    @classmethod
    def of(cls, load: Load) -> State:
        """Return the state after a first load."""
        loaded = zip(load.collected.folders, load.digests, load.candidates, strict=True)
        folders = {
            folder.location: LoadedFolder(folder, Fingerprint(digest), candidate, load.moment)
            for folder, digest, candidate in loaded
        }
        candidates = {each.location: each for each in load.candidates}
        source = load._replace(candidates=(), digests=(), catalog=Catalog())
        return cls(
            source, load.collected, folders, {}, Registrations(), {}, candidates, load.catalog
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems of the paths and the origins themselves."""
        found = [each.load.diagnostics for each in self.origins.values()]
        return tuple(itertools.chain(self.collected.diagnostics, *found))

    def watched(self) -> tuple[set[str], dict[str, str]]:
        """Return the paths to watch, and the targets of symbolic links below them."""
        named = (os.path.join(self.load.base, path) for path in self.load.paths)
        paths = {*map(os.path.abspath, named)}
        # folders that were named separately
        alone = {each for each in self.folders if os.path.dirname(each) not in paths}
        paths |= alone | shared_next_to(alone)
        paths |= self.libraries.keys()
        links: dict[str, str] = {}
        for location, known in self.folders.items():
            if known.seen.files is not None and known.seen.files.links:
                links |= known.seen.files.links_of(location)
        for origin, found in self.origins.items():
            if origin.directory is not None and found.files is not None:
                paths.add(origin.directory.path)
                links |= found.files.links_of(origin.directory.path)
        return paths, links


def changed(state: State) -> set[str]:
    """Scan everything; return the paths of folders, sources and directories that changed."""
    found = set[str]()
    collected = _collect(state)
    for folder in collected.folders:
        known = state.folders.get(folder.location)
        if known is None or known.is_due(_scan(state, folder)[0], is_patient=True):
            found.add(folder.location)
    found |= state.folders.keys() - {each.location for each in collected.folders}
    found |= changed_sources(state.libraries)
    for origin, known_origin in state.origins.items():
        if origin.directory is not None and known_origin.is_changed(origin):
            found.add(origin.directory.path)
    return found


def reload(state: State, touched: Collection[str] | None, *, is_patient: bool) -> State:
    """Scan the touched folders, and load the changed ones; the result must still be combined.

    Args:
        state: the current state, which stays valid.
        touched: absolute paths where something might have changed; None scans everything.
        is_patient: wait for files that haven't arrived. Otherwise tools that failed, and tools with
            requirements, are loaded again even if their files are the same.
    """
    libraries = state.libraries
    sources = changed_sources(libraries) if touched is None else sources_in(libraries, touched)
    is_forced = bool(sources)
    unloaded = unload(libraries, sources) if is_forced else {}
    if is_forced:
        renew()
        state = state._replace(libraries=scan_libraries(libraries))
    paths = None if touched is None else [each for each in touched if each not in sources]
    state = _with_origins(state, paths, is_patient=is_patient, is_forced=is_forced)
    state = _with_folders(state, paths, is_patient=is_patient, is_forced=is_forced)
    restore(unloaded, limit=state.load.settings.limit)
    return state


def with_origin(state: State, origin: Origin) -> State:
    """Scan an origin, now and at every reload."""
    before = state.origins.get(origin, KnownOrigin())
    return state._replace(origins={**state.origins, origin: scan_origin(origin, before.load)})


def recombined(state: State, known: Collection[Diagnostic]) -> tuple[State, CatalogChange]:
    """Combine the candidates of all sources; ``known`` are diagnostics reported before."""
    served = {each.location for each in state.catalog.candidates if each.status == "loaded"}
    registered = state.registrations.candidates
    found = [
        *registered,
        *(each.candidate for each in state.folders.values()),
        *candidates_of(state.origins, registered),
    ]
    candidates = [
        successor(state.candidates.get(each.location), each, served=served) for each in found
    ]
    problems = [each for each in state.diagnostics if each not in known]
    # the same candidates make the same catalog; keeping it keeps the indexes built from it
    is_same = len(candidates) == len(state.candidates)
    if is_same and all(map(is_, candidates, state.candidates.values())):
        return state, CatalogChange(diagnostics=tuple(problems))
    before = state.catalog
    catalog = combine(candidates)
    # a candidate that is in the catalog doesn't need its last good version anymore
    current = {
        each.location: shown if shown.status == "loaded" else each
        for each, shown in zip(candidates, catalog.candidates, strict=True)
    }
    folders = {
        place: each if each.candidate is current[place] else each._replace(candidate=current[place])
        for place, each in state.folders.items()
    }
    change = difference(before, catalog)
    if problems:
        change = change._replace(diagnostics=(*problems, *change.diagnostics))
    return state._replace(candidates=current, folders=folders, catalog=catalog), change


def _with_origins(
    state: State, touched: Collection[str] | None, *, is_patient: bool, is_forced: bool
) -> State:
    """Scan the origins that were touched; ``is_forced`` runs all modules in directories again."""
    origins = dict(state.origins)
    for origin, known in state.origins.items():
        directory = origin.directory
        if directory is not None and is_forced:
            mark_outdated(directory.path)
            is_due = True
        elif touched is None:
            is_due = not is_patient or known.is_changed(origin)
        else:
            is_due = directory is not None and any(map(directory.is_affected, touched))
        if is_due:
            origins[origin] = scan_origin(origin, known.load)
    return state._replace(origins=origins)


def _with_folders(
    state: State, touched: Collection[str] | None, *, is_patient: bool, is_forced: bool
) -> State:
    """Scan the touched folders, and load the changed ones.

    ``is_forced`` loads all folders and runs their modules again.
    """
    owners = {path: _owner(path, state.folders) for path in touched or ()}
    # a path outside all folders, or a folder itself: folders might have been added or removed
    if touched is None or any(owner in {None, path} for path, owner in owners.items()):
        state = _with_list(state)
    due = None if touched is None or is_forced else {*owners.values()}
    if due is not None:
        due |= _sharing([path for path, owner in owners.items() if owner is None], state.folders)
    folders = dict(state.folders)
    ready: list[tuple[Contents, Fingerprint]] = []
    for folder in state.collected.folders:
        known = folders.get(folder.location)
        if known is not None and due is not None and folder.location not in due:
            continue
        seen, contents = _scan(state, folder)
        is_due = known is None or is_forced or known.is_due(seen, is_patient=is_patient)
        waiting = arriving(folder, seen, known) if is_due and is_patient else None
        if waiting is not None:
            folders[folder.location] = LoadedFolder(folder, seen, waiting)
        elif known is not None and not is_due:
            folders[folder.location] = known._replace(seen=seen)
        elif is_forced or (known is not None and known.has_other_data(seen)):
            revised = contents.folder._replace(revision=next(_REVISIONS))
            ready.append((contents.of(revised), seen))
        else:
            ready.append((contents, seen))
    return _with_loaded(state._replace(folders=folders), ready)


def _with_loaded(state: State, ready: Sequence[tuple[Contents, Fingerprint]]) -> State:
    """Load folders from their read contents, and check whether they were edited meanwhile."""
    folders = dict(state.folders)
    candidates = _load(state, [contents for contents, _ in ready])
    for (contents, seen), candidate in zip(ready, candidates, strict=True):
        folder = contents.folder
        known = folders.get(folder.location)
        echoes = 0 if known is None else known.echoes
        loaded = LoadedFolder(folder, seen, candidate, echoes=echoes)
        now, _ = scan(folder, state.load.settings, seen)
        folders[folder.location] = loaded.settled(now)
    order = [each.location for each in state.collected.folders]
    return state._replace(folders={each: folders[each] for each in order})


def _scan(state: State, folder: ToolFolder) -> tuple[Fingerprint, Contents]:
    known = state.folders.get(folder.location)
    if known is None:
        return scan(folder, state.load.settings, None)
    folder = folder._replace(revision=known.folder.revision)
    return scan(folder, state.load.settings, known.seen)


def _owner(path: str, folders: Collection[str]) -> str | None:
    """Return the location of the tool folder that contains a path, or is the path."""
    above = (path, *map(str, PurePath(path).parents))
    return next((each for each in above if each in folders), None)


def _sharing(paths: Iterable[str], folders: Collection[str]) -> set[str]:
    """Return the folders next to a shared one, whose name begins with ``_``, that was touched."""
    above = {each for path in paths for each in map(str, (PurePath(path), *PurePath(path).parents))}
    places = {os.path.dirname(each) for each in above if os.path.basename(each).startswith("_")}
    return {each for each in folders if os.path.dirname(each) in places}


def _collect(state: State) -> Collected:
    load, known = state.load, state.collected.folders
    return collect(load.paths, names=load.names, base=load.base, known=known, exclude=load.exclude)


def _with_list(state: State) -> State:
    """List the folders again, and drop missing ones."""
    collected = _collect(state)
    locations = {each.location for each in collected.folders}
    for location in state.folders.keys() - locations:
        forget_folder(location)
    folders = {place: each for place, each in state.folders.items() if place in locations}
    return state._replace(collected=collected, folders=folders)


def _load(state: State, ready: Sequence[Contents]) -> list[Candidate]:
    """Load folders; each sees the step handlers of all other tools."""
    handlers = dict(state.catalog.step_handlers)
    for each in ready:
        tool = state.catalog.tools.get(each.folder.name)
        for action in tool.step_handlers if tool is not None else ():
            handlers.pop(action, None)
    return load_folders(ready, state.load.settings, existing=handlers)


def successor(old: Candidate | None, new: Candidate, *, served: Collection[str]) -> Candidate:
    """Return the candidate that replaces an old one: the old one itself if it didn't change.

    A broken candidate keeps the last good version. ``served`` are the locations whose candidate,
    rather than its last good version, is in the catalog.
    """
    if old is new or old is None:
        return new
    # their first versions: to compare their findings, both would have to be linted
    if content_of(old.definition) == content_of(new.definition):
        bare, other = (
            each._replace(definition=None, previous=None, found=each.diagnostics, lint=None)
            for each in (old, new)
        )
        if bare == other:
            return old
    if new.status in {"disabled", "unavailable", "waiting"}:
        return new
    if new.status == "rejected" and _is_emptied(new):
        return new
    last = old._replace(previous=None) if old.location in served else old.previous
    return new._replace(previous=last)


def _is_emptied(candidate: Candidate) -> bool:
    """Return whether both files of a tool are gone: then it was deleted, not broken."""
    try:
        names = os.listdir(candidate.location)
    except OSError:
        return False
    return {f"{candidate.name}.json", f"{candidate.name}.py"}.isdisjoint(names)
