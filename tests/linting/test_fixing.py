"""Whatever is in a manifest, fixing it loses no tool and no string."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools.linting.fixes import fixes_in
from sovl_tools.linting.fixing import apply_changes, plan_changes
from sovl_tools.loading.catalog_builder import combine, report_of
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.sources import collect
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.folder import Settings, ToolFolder
from tests.schema.strategies import examples, moderate
from tests.test_wrong_types import MANIFEST, changes, mutated, tools_with

RANKS = {"rejected": 0, "unavailable": 1, "disabled": 1, "loaded": 2}
SETTINGS = Settings()


def load(folders: Sequence[ToolFolder]) -> list[Candidate]:
    return [load_folder(each, SETTINGS) for each in folders]


def fix(root: Path, *, unsafe: bool) -> dict[str, str]:
    """Fix what can be fixed; return what was planned for each file, unless it was put back."""
    folders = collect([str(root)]).folders
    before = {each.location: each for each in load(folders)}
    report = report_of(combine(before.values()), ())
    fixes = {
        found: each
        for folder in folders
        for found, each in fixes_in(
            folder, [e for e in report.diagnostics if e.tool == folder.name]
        ).items()
    }
    planned = plan_changes(report, fixes, folders, SETTINGS, unsafe=unsafe)
    applied = apply_changes(planned, before, load, unsafe=unsafe)
    return {
        edit.path: edit.after.decode()
        for change in planned
        for edit in change.edits
        if change.folder is not None and change.folder.location in applied.candidates
    }


def statuses(root: Path) -> dict[str, str]:
    return {each.name: each.status for each in load(collect([str(root)]).folders)}


def assert_fixes(document: Any, *, unsafe: bool) -> None:
    with tools_with(document) as root:
        file = root / "subject" / "subject.json"
        before, were = file.read_bytes(), statuses(root)
        written = fix(root, unsafe=unsafe)
        after, are = file.read_bytes(), statuses(root)
        assert written == ({str(file): after.decode()} if after != before else {})
        assert after == before or isinstance(json.loads(after), dict)
        assert are["a_neighbour"] == are["z_neighbour"] == "loaded"
        if unsafe:
            assert were["subject"] == "rejected" or are["subject"] != "rejected"
        else:
            assert RANKS[were["subject"]] <= RANKS[are["subject"]]


class Kept(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True)
def failures() -> Iterator[None]:
    """What fails in sovl-tools itself is logged, and nothing may."""
    kept = Kept()
    logger = logging.getLogger("sovl_tools")
    logger.addHandler(kept)
    yield
    logger.removeHandler(kept)
    assert [each.exc_info for each in kept.records] == []


@settings(moderate, max_examples=examples(300))
@given(change=changes(MANIFEST), unsafe=st.booleans())
@example(change=((), [1]), unsafe=True)
def test_a_wrong_value_anywhere_is_fixed_or_left(
    change: tuple[tuple[str | int, ...], Any], *, unsafe: bool
) -> None:
    assert_fixes(mutated(MANIFEST, *change), unsafe=unsafe)
