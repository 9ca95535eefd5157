"""The check of ``validate``: folders, plugins and procedures, and the report about them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sovl_tools.cli import child_checks
from sovl_tools.cli.command import progress
from sovl_tools.cli.output import echo
from sovl_tools.cli.places import Places
from sovl_tools.configuration import configuration, import_path
from sovl_tools.linting.fixes import Fix, fixes_in, suppression_fix
from sovl_tools.linting.selection import Selection, as_error, strict
from sovl_tools.linting.suppressions import Suppression, suppress_findings, suppressions_of
from sovl_tools.loading.catalog_builder import (
    combine,
    confusable_names,
    equal_descriptions,
    report_of,
    unknown_replacements,
)
from sovl_tools.loading.exporting import checked as losses
from sovl_tools.loading.exporting import unserved
from sovl_tools.loading.isolation import loaded_in_child
from sovl_tools.loading.lock import read_lock, removed_tools
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.rules.folder import no_tools
from sovl_tools.loading.rules.formats import RULES, refused_property_name
from sovl_tools.loading.sources import collect
from sovl_tools.model.catalog import Candidate, LoadReport
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.errors import LockError
from sovl_tools.model.folder import Lock, Settings, ToolFolder
from sovl_tools.reporting.text import is_within

_ONLY_WITH_TARGETS = [each.code for each in RULES if each is not refused_property_name]


@dataclass(frozen=True, slots=True)
class Check:
    """The places to check, and the settings of the check and its report.

    Attributes:
        places: the folders, plugins and procedures.
        settings: how tools are loaded.
        targets: the formats whose losses are reported.
        selection: the rules whose findings are shown.
        is_strict: whether warnings are errors.
        plugged: the tools in plugins.
        others: the findings in directories, plugins and the lock.
    """

    places: Places
    settings: Settings
    targets: tuple[str, ...]
    selection: Selection
    is_strict: bool
    plugged: Sequence[Candidate]
    others: Sequence[Diagnostic]

    def load(self, folders: Sequence[ToolFolder]) -> list[Candidate]:
        """Load folders: import them in a child process, or parse them here."""
        if not folders:
            return []
        found = []
        with progress(len(folders)) as advance:
            # parsing runs no code of a tool, so it needs no child
            parsed = (load_folder(each, self.settings) for each in folders)
            path = import_path(self.places.configuration)
            imported = loaded_in_child(folders, self.settings, path=path, echo=echo)
            for each in imported if self.settings.imports else parsed:
                advance(each.name)
                found.append(each)
        return found

    def report(self, candidates: Sequence[Candidate]) -> tuple[LoadReport, dict[Diagnostic, Fix]]:
        """Check the procedures; return the report about them and the tools, and the fixes."""
        # folders precede plugins, as where they are served
        catalog = combine((*candidates, *self.plugged))
        # a check without tools is an error
        others = [
            each._replace(severity="error") if each.code == no_tools.code else each
            for each in self.others
        ]
        paths = self.places.procedures
        if paths and self.settings.imports:
            found = self.places.configuration
            others += child_checks.check_procedures_with_tools(paths, found, catalog)
        elif paths:
            others += child_checks.check_procedures(paths, None)
        if self.targets:
            others += losses(catalog.candidates, self.targets)
        else:
            others += unserved(catalog.candidates)
        others += equal_descriptions(catalog.candidates)
        others += confusable_names(catalog.candidates)
        others += unknown_replacements(catalog)
        report = report_of(catalog, others)
        unasked = [
            *["ST413", "ST5", "ST6"] * (not self.settings.imports),
            *(() if self.targets else _ONLY_WITH_TARGETS),
        ]
        asked = chain.from_iterable(map(suppressions_of, self.places.collected.folders))
        report, idle = suppress_findings(report, asked, self.places.procedures, unasked=unasked)
        report = self.selection.of(report)
        fixes = self._fixes(report, idle)
        if not self.is_strict:
            return report, fixes
        return strict(report), {as_error(found): fix for found, fix in fixes.items()}

    def _fixes(
        self, report: LoadReport, idle: Mapping[Diagnostic, Suppression]
    ) -> dict[Diagnostic, Fix]:
        """Return the fixes of the findings in a report."""
        folders = {each.path: each for each in self.places.collected.folders}
        in_folder: dict[str, list[Diagnostic]] = {}
        for each in report.diagnostics:
            in_folder.setdefault(os.path.dirname(each.path), []).append(each)
        found: dict[Diagnostic, Fix] = {}
        for path, diagnostics in in_folder.items():
            if path in folders:
                found |= fixes_in(folders[path], diagnostics)
        # without an import, or after an error, an idle suppression can still be needed
        flawed = {each.path for each in report.errors}
        for each in report.diagnostics if self.settings.imports else ():
            is_ours = os.path.dirname(each.path) in folders or each.path in self.places.procedures
            if each in idle and is_ours and each.path not in flawed:
                fix = suppression_fix(idle[each])
                found |= {each: fix} if fix is not None else {}
        return found


def lock_of(places: Places, *, imports: bool) -> tuple[Lock | None, Sequence[Diagnostic]]:
    """Return the lock, and a finding for each locked tool that is gone.

    Raises:
        LockError: it can't be read; without ``imports``, also because a link leads elsewhere.
    """
    found = places.configuration
    if not found.locked:
        return None, ()
    project = os.path.realpath(os.path.dirname(found.lock_file))
    if not imports and not is_within(found.lock_file, [project]):
        raise LockError(found.lock_file, "a link leads out of its directory, so it isn't read")
    lock = read_lock(found.lock_file)
    there = {each.name for each in places.collected.folders}
    if not there >= lock.keys():  # a check of some tools doesn't miss the configured others
        directories = filter(os.path.exists, configuration().paths)
        there |= {each.name for each in collect(directories).folders}
    return lock, removed_tools(lock, found.lock_file, there)


def plugins_of(
    places: Places, settings: Settings
) -> tuple[Sequence[Candidate], Sequence[Diagnostic]]:
    """Return the tools in plugins, and the findings in their directories."""
    if not settings.imports or not places.plugins:
        return (), ()
    return child_checks.check_plugins(places.plugins, places.configuration)
