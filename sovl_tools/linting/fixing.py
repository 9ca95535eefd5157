"""Applying fixes to files, and restoring the files of tools that get worse."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from sovl_tools.linting.fixes import BEHIND, DRIFT, Fix
from sovl_tools.model.catalog import Candidate, LoadReport
from sovl_tools.model.diagnostic import Diagnostic, internal_verdict
from sovl_tools.model.folder import Manifest, Settings, ToolFolder
from sovl_tools.reporting.text import is_within
from sovl_tools.scaffolding.files import FileEdit
from sovl_tools.scaffolding.jsonedit import MARK
from sovl_tools.scaffolding.sync import plan_sync

_RANK = {"loaded": 2, "disabled": 1, "unavailable": 1}
Load = Callable[[Sequence[ToolFolder]], Sequence[Candidate]]


class Change(NamedTuple):
    """The fixes in one tool's folder, or in the file of one procedure.

    Attributes:
        folder: the tool's; None for a procedure.
        edits: the changed files.
        fixed: the number of fixed findings.
    """

    folder: ToolFolder | None
    edits: tuple[FileEdit, ...]
    fixed: int

    def is_within(self, roots: Collection[str]) -> bool:
        """Return whether all files are in some real directories, also behind all links."""
        return all(is_within(each.path, roots) for each in self.edits)


def plan_changes(
    report: LoadReport,
    fixes: Mapping[Diagnostic, Fix],
    folders: Sequence[ToolFolder],
    settings: Settings,
    *,
    unsafe: bool,
) -> list[Change]:
    """Return the changes of ``--fix``; writes no file.

    Args:
        report: the report of the check.
        fixes: by finding.
        folders: the checked tools.
        settings: how they were loaded; a manifest is synced only with an imported function.
        unsafe: whether to include unsafe fixes.
    """
    chosen = {found: fix for found, fix in fixes.items() if unsafe or fix.applicability == "safe"}
    known = {each.path: each for each in folders}
    places: dict[str, list[Diagnostic]] = {}
    for each in report.diagnostics:
        directory = os.path.dirname(each.path)
        places.setdefault(directory if directory in known else each.path, []).append(each)
    changes = []
    for place, found in places.items():
        try:
            change = _planned(known.get(place), found, chosen, settings, unsafe=unsafe)
        except Exception as error:  # noqa: BLE001 - the barrier: the findings stay
            internal_verdict(error)
        else:
            changes += [change] if change.edits else []
    return changes


def _planned(
    folder: ToolFolder | None,
    found: Sequence[Diagnostic],
    fixes: Mapping[Diagnostic, Fix],
    settings: Settings,
    *,
    unsafe: bool,
) -> Change:
    """Return the fixes in one folder, or in the file of one procedure."""
    edits: dict[str, FileEdit] = {}
    wanted = [each for each in found if each in fixes]
    # in reverse order, so that earlier places stay valid
    for each in reversed(wanted):
        edit = edits.get(each.path) or _unchanged(each.path)
        with suppress(UnicodeDecodeError):  # a module in another encoding
            after = fixes[each].edit(edit.after.decode()).encode()
            edits[each.path] = edit._replace(after=after)
    codes = {*DRIFT, BEHIND} if unsafe else DRIFT
    drift = [each for each in found if each.code in codes and each not in fixes]
    if folder is not None and drift and settings.imports:
        path = f"{folder.path}/{folder.manifest_name}"
        edit = edits.get(path) or _unchanged(path)
        text = _in_line(folder, edit.after.decode(), settings, unsafe=unsafe)
        if text is not None:
            edits[path] = edit._replace(after=text.encode())
            wanted += drift
    changed = tuple(each for each in edits.values() if each.before != each.after)
    return Change(folder, changed, len(wanted))


def _unchanged(path: str) -> FileEdit:
    with open(path, "rb") as file:
        content = file.read()
    return FileEdit(path, content, content)


def _in_line(folder: ToolFolder, text: str, settings: Settings, *, unsafe: bool) -> str | None:
    """Return a manifest's text in line with its function; None if that isn't sure."""
    content = text.removeprefix(MARK)
    planned = plan_sync(
        folder, manifest=Manifest(json.loads(content), content), limit=settings.limit
    )
    if planned.after is None or (planned.adds_options and not unsafe):
        return None
    # with errors left, an added property can be another's correct spelling
    if any(each.severity == "error" for each in planned.diagnostics()):
        return None
    return text.removesuffix(content) + planned.after


class Applied(NamedTuple):
    """The result of applying changes.

    Attributes:
        candidates: of the changed folders, by location.
        failures: messages about files that are unchanged.
    """

    candidates: Mapping[str, Candidate]
    failures: Sequence[str]


def apply_changes(
    changes: Sequence[Change], before: Mapping[str, Candidate], load: Load, *, unsafe: bool
) -> Applied:
    """Write changes, load the tools again, and restore the files of tools that got worse.

    Args:
        changes: the changes.
        before: the candidates before the change, by location.
        load: loads folders.
        unsafe: whether a change may disable a tool.
    """
    failures: list[str] = []
    written: dict[str, Change] = {}
    for change in changes:
        try:
            _write(change.edits)
        except OSError as error:
            failures.append(f"{error.filename} is left unchanged: {error.strerror or error}")
        else:
            if change.folder is not None:
                written[change.folder.location] = change
    found: dict[str, Candidate] = {}
    folders = [each.folder for each in written.values() if each.folder is not None]
    for candidate in load(folders) if folders else ():
        change, old = written[candidate.location], before[candidate.location]
        is_worse = _RANK.get(candidate.status, 0) < _RANK.get(old.status, 0)
        if not is_worse or (unsafe and candidate.status != "rejected"):
            found[candidate.location] = candidate
            continue
        error_found = next(each for each in candidate.diagnostics if each.severity == "error")
        words = f"is left unchanged: with the fixes it is rejected: {error_found.code}"
        failures.append(f"{candidate.path} {words} {error_found.message}")
        try:
            _write([each.undone for each in change.edits])
        except OSError as error:
            failures.append(f"{error.filename} can't be put back: {error.strerror or error}")
            found[candidate.location] = candidate
    return Applied(found, failures)


def _write(edits: Iterable[FileEdit]) -> None:
    """Write several files, or none of them."""
    done: list[FileEdit] = []
    try:
        for each in edits:
            each.write()
            done.append(each)
    except OSError:
        for each in done:
            each.undone.write()
        raise
