"""Whatever stands in a manifest, mending it loses no tool, no text, and comes to an end."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools.linting.mending import Mending
from sovl_tools.linting.selection import suppress_findings, suppressions_of
from sovl_tools.loading.catalog_builder import combine, report_of
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.sources import collect
from sovl_tools.model.catalog import Candidate, LoadReport
from sovl_tools.model.folder import Settings, ToolFolder
from tests.schema.strategies import examples, moderate
from tests.test_wrong_types import MANIFEST, changes, mutated, places, tools_with

RANKS = {"rejected": 0, "unavailable": 1, "disabled": 1, "loaded": 2}
SETTINGS = Settings()
NAMED = [place for place in places(MANIFEST) if place and isinstance(place[-1], str)]
FOREIGN = ["str", "INT", "dict", "Objekt", ["int", "none"], ["text", "str"], "date", "", "bool"]


def check(found: Sequence[Candidate], drafted: Sequence[ToolFolder]) -> LoadReport:
    folders = {each.location: ToolFolder(*each[:3]) for each in found}
    folders |= {each.location: each for each in drafted}
    asked = [each for folder in folders.values() for each in suppressions_of(folder)]
    return suppress_findings(report_of(combine(found), ()), asked)


def load(folders: Sequence[ToolFolder]) -> list[Candidate]:
    return [load_folder(each, SETTINGS) for each in folders]


def mend(root: Path, *, unsafe: bool) -> Mending:
    folders = collect([str(root)]).folders
    mending = Mending(
        {each.location: each for each in folders},
        {each.location: each for each in load(folders)},
        load=load,
        check=check,
        settings=SETTINGS,
        unsafe=unsafe,
    )
    mending.run()
    return mending


def statuses(root: Path) -> dict[str, str]:
    return {each.name: each.status for each in load(collect([str(root)]).folders)}


def assert_mends(document: Any, *, unsafe: bool) -> None:
    with tools_with(document) as root:
        file = root / "subject" / "subject.json"
        before, were = file.read_bytes(), statuses(root)
        first = mend(root, unsafe=unsafe)
        shown = [*first.changes()]
        assert file.read_bytes() == before, "nothing is written yet"
        assert [*first.save()] == []
        after, are = file.read_bytes(), statuses(root)
        # what is shown is what is written, and what was tried is what is there
        assert (after != before) == bool(shown)
        assert all(path.endswith("subject.json") for path, *_ in shown)
        assert [text for *_, text in shown] == [after.decode()] * len(shown)
        assert {each.name: each.status for each in first.candidates.values()} == are
        assert after == before or isinstance(json.loads(after), dict)
        assert are["a_neighbour"] == are["z_neighbour"] == "loaded"
        if unsafe:
            assert were["subject"] == "rejected" or are["subject"] != "rejected"
        else:
            assert RANKS[were["subject"]] <= RANKS[are["subject"]]
        again = mend(root, unsafe=unsafe)
        assert [*again.changes()] == []
        assert again.fixed.total() == 0


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
def test_a_wrong_value_anywhere_is_mended_or_left(
    change: tuple[tuple[str | int, ...], Any], *, unsafe: bool
) -> None:
    assert_mends(mutated(MANIFEST, *change), unsafe=unsafe)


def misspelt(document: Any, place: tuple[str | int, ...], at: int, how: str) -> Any:
    """Return the document with another key in place of that of a member."""
    copied = copy.deepcopy(document)
    holder = copied
    for key in place[:-1]:
        holder = holder[key]
    key = str(place[-1])
    at %= len(key)
    others = {
        "lacks": key[:at] + key[at + 1 :],
        "twice": key[:at] + key[at] + key[at:],
        "turned": key[:at] + key[at : at + 2][::-1] + key[at + 2 :],
        "upper": key.upper(),
        "dashed": f"{key[:at]}-{key[at:]}",
        "both": f"{key}s",
    }
    items = [(others[how] if each == key else each, value) for each, value in holder.items()]
    if how == "both":
        items.append((key, holder[key]))
    holder.clear()
    holder.update(items)
    return copied


@settings(moderate, max_examples=examples(300))
@given(
    place=st.sampled_from(NAMED),
    at=st.integers(0, 30),
    how=st.sampled_from(["lacks", "twice", "turned", "upper", "dashed", "both"]),
    unsafe=st.booleans(),
)
def test_a_misspelt_key_anywhere_is_mended_or_left(
    place: tuple[str | int, ...], at: int, how: str, *, unsafe: bool
) -> None:
    assert_mends(misspelt(MANIFEST, place, at, how), unsafe=unsafe)


@settings(moderate, max_examples=examples(200))
@given(
    place=st.sampled_from([each for each in NAMED if each[-1] == "type"]),
    kind=st.sampled_from(FOREIGN),
    other=changes(MANIFEST),
    unsafe=st.booleans(),
)
def test_a_type_of_another_language_is_mended_beside_another_mistake(
    place: tuple[str | int, ...],
    kind: Any,
    other: tuple[tuple[str | int, ...], Any],
    *,
    unsafe: bool,
) -> None:
    document = mutated(MANIFEST, place, kind)
    try:
        document = mutated(document, *other)
    except (KeyError, IndexError, TypeError):
        return  # the first took away the place of the second
    assert_mends(document, unsafe=unsafe)
