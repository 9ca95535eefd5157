"""What failed does not run again as long as it is the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sovl_tools.loading.refusals import Content, Refusals
from sovl_tools.model.catalog import Candidate, Status
from sovl_tools.model.folder import ToolFolder
from sovl_tools.watching.survey import survey
from tests.conftest import Write

HELPED = "from . import words\n\n\ndef echo(text: str):\n    return words.WORD\n"


@pytest.fixture
def folder(write: Write) -> ToolFolder:
    place = write("echo", code=HELPED, words="WORD = 1\n")
    (place / "data.csv").write_text("a")
    return ToolFolder("echo", "tools/echo", str(place))


def refusals(folder: ToolFolder, status: Status = "rejected") -> Refusals:
    """Return what is remembered when a folder has become something."""
    found = Refusals()
    note(found, folder, status)
    return found


def note(found: Refusals, folder: ToolFolder, status: Status) -> None:
    candidate = Candidate(folder.name, folder.path, folder.location, status)
    content = Content.of(folder, survey(folder.location))
    found.note([candidate], {folder.location: content})


def test_what_is_as_it_was_when_it_was_rejected_is_left_out(folder: ToolFolder) -> None:
    assert refusals(folder).others([folder]) == []


def test_what_loaded_is_not_nor_what_nobody_knows(folder: ToolFolder) -> None:
    assert refusals(folder, "loaded").others([folder]) == [folder]
    assert Refusals().others([folder]) == [folder]


@pytest.mark.parametrize("status", ["loaded", "rejected"])
def test_the_last_load_counts(folder: ToolFolder, status: Status) -> None:
    found = refusals(folder)
    found.note([Candidate(folder.name, folder.path, folder.location, status)], {})
    assert found.others([folder]) == [folder]


@pytest.mark.parametrize("path", ["echo.json", "echo.py", "words.py"])
def test_other_content_without_another_time_is_seen(folder: ToolFolder, path: str) -> None:
    found, place = refusals(folder), Path(folder.location, path)
    stamps = survey(folder.location).stamps
    place.write_bytes(place.read_bytes()[::-1])
    known = found._contents[folder.location]
    found._contents[folder.location] = known._replace(stamps=survey(folder.location).stamps)
    assert stamps.keys() == known.stamps.keys()
    assert found.others([folder]) == [folder]


@pytest.mark.parametrize("path", ["echo.py", "data.csv"])
def test_a_touch_is_a_wish_to_try_again(folder: ToolFolder, path: str) -> None:
    found = refusals(folder)
    os.utime(Path(folder.location, path), ns=(5, 5))
    assert found.others([folder]) == [folder]


def test_what_can_not_be_read_is_compared_too(folder: ToolFolder) -> None:
    Path(folder.location, "echo.py").unlink()
    assert refusals(folder).others([folder]) == []
