"""Edits in tools' folders: adding an example, and fixing a finding."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sovl_tools.dev.tools import DevError, Row, Tools, folder_of
from sovl_tools.linting.fixing import apply_changes, plan_changes
from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.loading.pipeline import CheckedFolder, load_folder
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import read_manifest
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import JSON, parse_json
from sovl_tools.model.folder import Settings
from sovl_tools.scaffolding.files import FileEdit
from sovl_tools.scaffolding.jsonedit import MARK, edit_json


def add_example(row: Row, version: str, example: Mapping[str, JSON]) -> dict[str, JSON]:
    """Add an example to a tool's manifest; return its path and its line there.

    Args:
        row: the tool.
        version: the tool's version on the user's page.
        example: the new item of ``examples``.

    Raises:
        DevError: the tool has no folder, or has changed since that version.
    """
    folder = folder_of(row.candidate)
    if folder is None:
        raise DevError(409, "no_manifest", "the tool is in code, and has no manifest for examples")
    reading, lint = read_manifest(folder), row.candidate.lint
    known = lint.manifest.text if isinstance(lint, CheckedFolder) else None
    manifest = None if isinstance(reading, Unreadable) else reading.manifest
    if manifest is None or version != row.values["version"] or known not in {None, manifest.text}:
        raise DevError(409, "changed", "the manifest has changed; look at it and save again")
    location = os.path.join(folder.location, folder.manifest_name)
    with open(location, "rb") as file:
        before = file.read()
    text = before.decode()
    document = parse_json(text.removeprefix(MARK))
    examples = [*document.get("examples", ()), dict(example)]
    after = edit_json(text, {**document, "examples": examples})
    try:
        FileEdit(location, before, after.encode()).write()
    except OSError as error:
        raise DevError(409, "changed", str(error.strerror)) from error
    after = after.removeprefix(MARK)
    offset = Places(after).offset(ManifestPlace(("examples", len(examples) - 1)))
    path, place = f"{folder.path}/{folder.manifest_name}", line_and_column(after, offset)
    return {"path": path, "line": place[0]}


def fix(tools: Tools, row: Row, code: str, line: int, settings: Settings) -> list[str]:
    """Fix the findings of a rule in one line; return the changed files.

    Raises:
        DevError: no safe fix exists, or the fixed tool would be rejected.
    """
    folder = folder_of(row.candidate)
    wanted = tuple(each for each in row.found if (each.code, each.line) == (code, line))
    if folder is None or not wanted:
        raise DevError(409, "changed", f"line {line} no longer has a finding {code}")
    report = LoadReport((row.candidate,), wanted)
    changes = plan_changes(report, tools.fixes(row), [folder], settings, unsafe=False)
    if not changes:
        raise DevError(409, "no_fix", f"{code} has no safe fix here")
    applied = apply_changes(
        changes,
        {folder.location: row.candidate},
        lambda folders: [load_folder(each, settings) for each in folders],
        unsafe=False,
    )
    if applied.failures:
        raise DevError(409, "no_fix", "; ".join(applied.failures))
    return [edit.path for each in changes for edit in each.edits]
