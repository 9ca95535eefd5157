"""What takes the place of a tool's version when its files have changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sovl_tools import ToolDefinition
from sovl_tools.model.catalog import Candidate, Status
from sovl_tools.model.folder import ToolFolder
from sovl_tools.reloading.fingerprint import fingerprint
from sovl_tools.reloading.reload_state import arriving, successor
from tests.conftest import Write
from tests.loading.folders import bad, good, handler
from tests.tables import check_each


def function() -> None: ...


def version(**fields: Any) -> Candidate:
    """Return a tool that loaded; those of the same fields are made of the same."""
    made = {"name": "a", "description": "", "parameters": {}, "function": function, **fields}
    return bad("a", status="loaded")._replace(definition=ToolDefinition(**made), reasons=())


@pytest.mark.parametrize("status", ["rejected", "loaded"])
def test_the_last_version_that_served_is_kept(status: Status) -> None:
    first = good("a")
    broken = successor(first, bad("a"), is_served=True)
    again = successor(broken, bad("a", why="another")._replace(status=status), is_served=False)
    assert broken.previous == first
    assert again.previous == first


@pytest.mark.parametrize("status", ["disabled", "unavailable"])
def test_nothing_is_kept_beside_what_was_taken_out(status: Status) -> None:
    assert successor(good("a"), bad("a", status=status), is_served=True).previous is None


def test_nothing_is_kept_if_nothing_ever_served() -> None:
    assert successor(bad("a"), bad("a", why="another"), is_served=False).previous is None


@pytest.mark.parametrize(
    ("left", "is_kept"), [("json", True), ("py", True), ("txt", False), ("", True)]
)
def test_the_version_of_a_folder_without_its_files_is_not_kept(
    left: str, *, is_kept: bool, tmp_path: Path
) -> None:
    old = good("a")._replace(location=str(tmp_path / "a"))
    if left:
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / f"a.{left}").touch()
    after = successor(old, bad("a")._replace(location=old.location), is_served=True)
    assert (after.previous is not None) is is_kept


def test_the_old_one_stays_if_the_new_one_is_made_of_the_same() -> None:
    old = version(metadata={"a": [1, "b"]}, step_handlers={"x": handler, "y": handler})
    new = version(metadata={"a": [1, "b"]}, step_handlers={"x": handler, "y": handler})
    assert new.definition != old.definition
    assert successor(old, new, is_served=True) is old


def test_what_a_broken_one_has_beside_it_is_no_difference() -> None:
    broken = successor(good("a"), bad("a"), is_served=True)
    assert successor(broken, bad("a"), is_served=False) is broken


@check_each(
    "change",
    [
        {"phrases": ("say it",)},
        {"has_own_phrases": True},
        {"actions": ("greet",)},
        {"path": "tools/a"},
        {"reasons": ("other",)},
    ],
    ids=str,
)
def test_so_is_a_new_one_of_the_same_definition(change: dict[str, Any]) -> None:
    old = good("a")
    assert successor(old, old._replace(**change), is_served=True) is not old


def arrival(folder: Path) -> str | None:
    """Return why a folder is waited for, if it is."""
    place = ToolFolder(folder.name, folder.name, str(folder))
    candidate = arriving(place, fingerprint(str(folder)), is_new=True)
    if candidate is None:
        return None
    assert candidate.status == "waiting"
    assert candidate.location == str(folder)
    (reason,) = candidate.reasons
    return reason


def test_a_folder_that_was_renamed_is_told_what_else_to_rename(write: Write) -> None:
    folder = write("old", helpers="")
    folder = folder.rename(folder.with_name("new"))
    head = "new.json and new.py have not arrived yet; rename 'old.json' to 'new.json'"
    assert arrival(folder) == f"{head} and rename 'old.py' to 'new.py'"
    (folder / "old.py").rename(folder / "new.py")
    assert arrival(folder) == "new.json has not arrived yet; rename 'old.json' to 'new.json'"
