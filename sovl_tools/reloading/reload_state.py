"""The state of a registry's sources, and the functions that lead from one state to the next."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from operator import is_
from os.path import islink
from typing import NamedTuple

from sovl_tools.loading.catalog_builder import combine, content_of, difference
from sovl_tools.loading.load import Load, load_folders
from sovl_tools.loading.modules import forget_folder, renew
from sovl_tools.loading.origins import Origin, forget_modules
from sovl_tools.loading.sources import Collected, Contents, collect, read_folder, shared_next_to
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reloading.code_tools import KnownOrigin, Registrations, candidates_of, scan_origin
from sovl_tools.reloading.fingerprint import Files, files_below, files_of_tool
from sovl_tools.reloading.libraries import changed_sources, scan_libraries, unload
from sovl_tools.reloading.loaded_folder import LoadedFolder, arriving


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
        folders = {each[0].location: LoadedFolder(*each) for each in loaded}
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

    def watched(self) -> tuple[set[str], set[str]]:
        """Return the paths to watch, and the symbolic links below them."""
        named = (os.path.join(self.load.base, path) for path in self.load.paths)
        paths = {*map(os.path.abspath, named)}
        # folders that were named separately, or are links
        alone = {
            each for each in self.folders if os.path.dirname(each) not in paths or islink(each)
        }
        paths |= alone | shared_next_to(alone) | self.libraries.keys()
        scanned = [each.files for each in self.folders.values()]
        for origin, found in self.origins.items():
            if origin.directory is not None:
                paths.add(origin.directory.path)
                scanned.append(found.files)
        return paths, {link for each in scanned if each is not None for link in each.links}


def reload(state: State, *, is_patient: bool) -> State:
    """Scan everything, and load what changed; the result must still be combined.

    Args:
        state: the current state, which stays valid.
        is_patient: wait for files that haven't arrived. Otherwise tools that failed, and tools with
            requirements, are loaded again even if their files are the same.
    """
    sources = changed_sources(state.libraries)
    if sources:
        unload(state.libraries, sources)
        renew()
        state = state._replace(libraries=scan_libraries(state.libraries))
    state = _with_origins(state, is_patient=is_patient, is_forced=bool(sources))
    return _with_folders(state, is_patient=is_patient, is_forced=bool(sources))


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


def _with_origins(state: State, *, is_patient: bool, is_forced: bool) -> State:
    """Scan the origins that changed; ``is_forced`` runs all modules in directories again."""
    origins = dict(state.origins)
    for origin, known in state.origins.items():
        is_renewed = is_forced and origin.directory is not None
        if is_renewed and origin.directory is not None:
            forget_modules(origin.directory.path)
        if is_renewed or not is_patient or known.is_changed(origin):
            origins[origin] = scan_origin(origin, known.load)
    return state._replace(origins=origins)


def _with_folders(state: State, *, is_patient: bool, is_forced: bool) -> State:
    """Scan all folders, and load the changed ones, or all."""
    load, known = state.load, state.folders
    collected = collect(
        load.paths,
        names=load.names,
        base=load.base,
        known=state.collected.folders,
        exclude=load.exclude,
    )
    for location in known.keys() - {each.location for each in collected.folders}:
        forget_folder(location)

    @cache
    def shared_in(directory: str) -> list[Files]:
        return [files_below(each) for each in sorted(shared_next_to([f"{directory}/"]))]

    def scan(location: str) -> Files:
        return files_of_tool(location, shared_in(os.path.dirname(location)))

    folders: dict[str, LoadedFolder] = {}
    ready: list[tuple[Contents, Files]] = []
    for folder in collected.folders:
        before = known.get(folder.location)
        files = scan(folder.location)
        may_skip = is_patient and not is_forced and load.settings.locked is None
        if may_skip and before is not None and before.files == files:
            folders[folder.location] = before
            continue
        contents = read_folder(folder, load.settings)
        is_due = before is None or before.is_due(contents, files, is_patient=is_patient)
        is_due = is_due or is_forced
        waiting = arriving(folder, before) if is_due and is_patient else None
        if waiting is not None:
            folders[folder.location] = LoadedFolder(folder, contents.digest, waiting, files)
        elif before is not None and not is_due:
            folders[folder.location] = before._replace(files=files)
        else:
            ready.append((contents, files))
    candidates = _load(state, [contents for contents, _ in ready])
    for (contents, files), candidate in zip(ready, candidates, strict=True):
        location = contents.folder.location
        before = known.get(location)
        # a tool that fails again may write files at each import
        is_again = before is not None and before.files and before.digest == contents.digest
        seen = scan(location) if is_again else files
        folders[location] = LoadedFolder(contents.folder, contents.digest, candidate, seen)
    order = [each.location for each in collected.folders]
    return state._replace(collected=collected, folders={each: folders[each] for each in order})


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
