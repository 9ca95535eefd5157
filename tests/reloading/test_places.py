"""Which directories are watched for which paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from sovl_tools.reloading.listening import Place, places


@pytest.fixture
def here(tmp_path: Path) -> Path:
    place = tmp_path.resolve()
    (place / "tools" / "echo").mkdir(parents=True)
    (place / "tools" / "echo" / "echo.py").touch()
    return place


def test_a_directory_is_watched_with_all_below(here: Path) -> None:
    tools = str(here / "tools")
    assert places([tools], {}) == {Place(tools, tools)}


def test_a_linked_directory_is_watched_where_it_is(here: Path) -> None:
    link = here / "link"
    link.symlink_to("tools")
    assert places([str(link / "echo")], {}) == {
        Place(str(here / "tools" / "echo"), str(link / "echo"))
    }


@pytest.mark.parametrize("name", ["tools/echo/echo.py", "tools/absent"])
def test_a_file_and_what_is_not_there_are_watched_from_above(here: Path, name: str) -> None:
    path = here / name
    assert places([str(path)], {}) == {
        Place(str(path.parent), str(path), recursive=False, only=path.name)
    }


def test_a_link_to_a_file_is_watched_where_the_file_is(here: Path) -> None:
    link, target = str(here / "tools" / "echo" / "data"), here / "data-2"
    assert places([], {link: str(target)}) == {
        Place(str(here), link, recursive=False, only="data-2")
    }
    target.mkdir()
    assert places([], {link: str(target)}) == {Place(str(target), link)}


def test_a_path_that_two_name_is_one_place(here: Path) -> None:
    tools = str(here / "tools")
    assert places([tools, tools], {tools: tools}) == {Place(tools, tools)}
    assert places([], {}) == set()
