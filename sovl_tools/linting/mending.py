"""Mending what ``validate`` finds: tried on drafts, and written when the tools still load."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sovl_tools.linting.fixes import (
    Fix,
    by_folder,
    directory_of,
    encoded,
    fixes_in,
    mended,
    procedure_fixes,
)
from sovl_tools.linting.selection import BEHIND, DRIFT, FIXERS
from sovl_tools.loading.sources import MAX_MANIFEST_BYTES, MAX_MODULE_BYTES, read_file
from sovl_tools.model.catalog import Candidate, LoadReport
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.scaffolding.files import replace_files
from sovl_tools.scaffolding.sync import plan_sync

_ROUNDS = 20
"""How often what was mended is looked at once more: one fix can bring another to light."""
_RANK = {"rejected": 0, "waiting": 0, "unavailable": 1, "disabled": 1, "loaded": 2}

Load = Callable[[Sequence[ToolFolder]], list[Candidate]]
Key = tuple[str, str, str, int]
"""A finding, wherever it is by now: path, code, words, and how many there are before it."""
Tried = tuple[ToolFolder, Candidate, int]
"""A folder with its drafts, what becomes of it, and how many findings are gone by that."""
Check = Callable[[Sequence[Candidate], Sequence[ToolFolder]], LoadReport]


@dataclass(slots=True)
class Mending:
    """The folders with drafts of what they are to say, and what is found in them then.

    Attributes:
        folders: by their locations.
        candidates: likewise; what becomes of the folders with their drafts.
        load: loads folders.
        check: returns the report that is shown, of candidates and of the folders with drafts.
        settings: how they are loaded.
        unsafe: whether fixes are made that may not be what was meant.
        procedures: the paths of those that were checked.
        fixed: how many findings have been mended, by the path of the folder.
    """

    folders: dict[str, ToolFolder]
    candidates: dict[str, Candidate]
    load: Load
    check: Check
    settings: Settings
    unsafe: bool
    procedures: Sequence[str] = ()
    fixed: Counter[str] = field(default_factory=Counter)
    _refused: set[Key] = field(default_factory=set)
    _originals: dict[str, tuple[Candidate, dict[str, bytes]]] = field(default_factory=dict)
    _directories: dict[str, tuple[ToolFolder, dict[str, bytes]]] = field(default_factory=dict)

    def run(self) -> None:
        """Mend what can be mended, until there is nothing more."""
        self._mend_procedures(self._mend_folders())

    def _mend_folders(self) -> LoadReport:
        """Mend the folders; return what is left."""
        report = self._report()
        for _ in range(_ROUNDS):
            changed = self._fixed(report) or self._synced(report)
            if not changed:
                break
            for folder, candidate, count in changed:
                self.folders[folder.location] = folder
                self.candidates[folder.location] = candidate
                self.fixed[folder.path] += count
            report = self._report()
        return report

    def _mend_procedures(self, report: LoadReport) -> None:
        """Draft procedures without what can be mended in them."""
        fixes = procedure_fixes(report, self.procedures) if self.settings.imports else {}
        by_path: dict[str, list[Fix]] = {}
        for found, fix in fixes.items():
            by_path.setdefault(found.path, []).append(fix)
        for path, wanted in by_path.items():
            bare, name = directory_of(path)
            folder, originals = self._directories.setdefault(bare.location, (bare, {}))
            before = read_file(bare, name, limit=MAX_MODULE_BYTES)
            if isinstance(before, bytes):
                originals[name] = before
                self._directories[bare.location] = mended(folder, wanted), originals
                self.fixed[os.path.join(bare.path, name)] = len(wanted)

    def _report(self) -> LoadReport:
        return self.check([*self.candidates.values()], [*self._drafted()])

    def _drafted(self) -> Iterator[ToolFolder]:
        return (each for each in self.folders.values() if each.drafts)

    def _fixed(self, report: LoadReport) -> list[Tried]:
        """Return folders in which findings are mended, and what becomes of them."""
        for folder, diagnostics in by_folder(report, [*self.folders.values()]):
            self._pin(folder, diagnostics)
        fixes = fixes_in(report, [*self.folders.values()], imports=self.settings.imports)
        chosen: dict[str, dict[Key, Fix]] = {}
        seen: Counter[tuple[str, str, str]] = Counter()
        for found, fix in fixes.items():
            path = os.path.dirname(found.path)
            words = (found.path, found.code, found.message)
            key = (*words, seen[words])
            seen[words] += 1
            if (self.unsafe or fix.applicability == "safe") and key not in self._refused:
                chosen.setdefault(path, {})[key] = fix
        folders = [each for each in self.folders.values() if each.path in chosen]
        return self._tried({each.location: chosen[each.path] for each in folders})

    def _tried(self, wanted: Mapping[str, Mapping[Key, Fix]]) -> list[Tried]:
        """Return the folders in which fixes are made; refuse those that take a tool away."""
        drafts = [
            mended(self.folders[location], [*each.values()]) for location, each in wanted.items()
        ]
        drafts = [each for each in drafts if each != self.folders[each.location]]
        accepted = []
        for folder, candidate in zip(drafts, self._loaded(drafts), strict=True):
            if not self._is_worse(candidate):
                accepted.append((folder, candidate, len(wanted[folder.location])))
                continue
            fixes = wanted[folder.location]
            alone = [mended(self.folders[folder.location], [each]) for each in fixes.values()]
            bad = {
                key
                for key, each in zip(fixes, self._loaded(alone), strict=True)
                if self._is_worse(each)
            }
            # it takes two of them, and nobody knows which
            self._refused |= bad or fixes.keys()
            rest = {key: fix for key, fix in fixes.items() if key not in self._refused}
            accepted += self._tried({folder.location: rest}) if rest else []
        return accepted

    def _loaded(self, folders: Sequence[ToolFolder]) -> list[Candidate]:
        return self.load(folders) if folders else []

    def _is_worse(self, new: Candidate) -> bool:
        """Tell whether a tool could be called before and can't be with its draft."""
        old = self.candidates[new.location]
        # on request a fix may disable a tool; a tool that is refused nobody wants
        if self.unsafe:
            return new.status == "rejected" != old.status
        return _RANK[new.status] < _RANK[old.status]

    def _synced(self, report: LoadReport) -> list[Tried]:
        """Return folders whose manifests are brought into line with their functions."""
        if not self.settings.imports:
            return []
        accepted = []
        for folder, found in by_folder(report, [*self.folders.values()]):
            codes = {*DRIFT, BEHIND} if self.unsafe else DRIFT
            drift = [each for each in found if each.code in codes]
            key = (folder.path, "sync", "", 0)
            if not drift or key in self._refused:
                continue
            self._refused.add(key)  # once is enough: the same function asks for the same
            draft = self._in_line(folder, drift)
            if draft is None:
                continue
            (candidate,) = self.load([draft])
            left = Counter(each.code for each in candidate.diagnostics)
            gone = Counter(each.code for each in drift) - left
            # a property beside one that is only misspelt would help nobody
            if gone and candidate.status != "rejected" and not self._is_worse(candidate):
                accepted.append((draft, candidate, gone.total()))
        return accepted

    def _in_line(self, folder: ToolFolder, drift: Sequence[Diagnostic]) -> ToolFolder | None:
        """Return a folder whose manifest says what its function takes; None if that isn't sure."""
        planned = plan_sync(folder, limit=self.settings.limit)
        if planned.after is None or planned.before is None or not planned.is_changed:
            return None
        added = planned.added
        # what the function takes besides, somebody may have kept from models on purpose
        is_asked = all(any(f"{name!r} " in each.message for each in drift) for name in added)
        if not is_asked and not self.unsafe:
            return None
        data = encoded(folder, planned.after)
        drafts = {**dict(folder.drafts), folder.manifest_name: data}
        return folder._replace(drafts=tuple(drafts.items()))

    def _pin(self, folder: ToolFolder, found: Sequence[Diagnostic]) -> None:
        """Keep what the files say in which something can be mended, whatever becomes of them."""
        if not any(each.code in {*FIXERS, *DRIFT, BEHIND} for each in found):
            return
        names = {folder.manifest_name, *(os.path.basename(each.path) for each in found)}
        drafts = dict(folder.drafts)
        candidate = self.candidates[folder.location]
        _, originals = self._originals.setdefault(folder.location, (candidate, {}))
        for name in sorted(names - drafts.keys()):
            limit = MAX_MANIFEST_BYTES if name == folder.manifest_name else MAX_MODULE_BYTES
            data = read_file(folder, name, limit=limit)
            if isinstance(data, bytes):
                drafts[name] = originals[name] = data
        self.folders[folder.location] = folder._replace(drafts=tuple(drafts.items()))

    def changes(self) -> Iterator[tuple[str, str, str]]:
        """Yield the path of each file that would change, and what it says before and after."""
        of_tools = ((each, self._originals[each.location][1]) for each in self._drafted())
        for folder, originals in (*of_tools, *self._directories.values()):
            for name, data in folder.drafts:
                if originals[name] != data:
                    before = originals[name].decode(errors="replace")
                    path = os.path.normpath(f"{folder.path}/{name}")
                    yield path, before, data.decode(errors="replace")

    def save(self) -> Iterator[str]:
        """Write the files that have changed; yield why some of them can't be written."""
        for folder in [*self._drafted()]:
            candidate, originals = self._originals[folder.location]
            self.folders[folder.location] = folder._replace(drafts=())
            failure = _write(folder, originals)
            if failure is not None:
                yield failure
                self.candidates[folder.location] = candidate
                del self.fixed[folder.path]
        for folder, originals in self._directories.values():
            for name, data in folder.drafts:
                failure = _write(folder._replace(drafts=((name, data),)), originals)
                if failure is not None:
                    yield failure
                    del self.fixed[os.path.join(folder.path, name)]


def _write(folder: ToolFolder, originals: Mapping[str, bytes]) -> str | None:
    """Write the drafts of a folder that differ from what its files said; return why that fails."""
    files = {name: data for name, data in folder.drafts if originals[name] != data}
    bare = folder._replace(drafts=())
    try:
        for name in files:
            _refuse_foreign(bare, name, originals[name])
        replace_files(folder.location, files)
    except OSError as error:
        name = os.path.basename(error.filename or "") or next(iter(files))
        path = os.path.normpath(f"{folder.path}/{name}")
        return f"{path} is left as it is: {error.strerror or error}"
    return None


def _refuse_foreign(folder: ToolFolder, name: str, original: bytes) -> None:
    """Raise OSError unless a file can be written and says what it said at first."""
    path = os.path.join(folder.location, name)
    if not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, "it can't be written", path)
    if read_file(folder, name, limit=MAX_MODULE_BYTES) != original:
        raise OSError(errno.EBUSY, "it has changed meanwhile; run the command again", path)
