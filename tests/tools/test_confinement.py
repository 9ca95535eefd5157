"""No tool that reads files can be led out of its root directory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Refuse

Value = Callable[..., Any]
Arguments = Callable[[str], dict[str, Any]]

READERS: dict[str, Arguments] = {
    "read_text_file": lambda path: {"path": path},
    "csv_statistics": lambda path: {"path": path},
    "search_files": lambda path: {"query": "secret", "path": path},
    "query_sqlite": lambda path: {"path": path, "query": "SELECT 1 AS one"},
}
SECRET = "secret,1\n"


@pytest.fixture(params=sorted(READERS))
def reader(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def outside(root: Path) -> Path:
    """A directory next to the root, with a file that must not be read."""
    directory = root.parent / "outside"
    directory.mkdir()
    (directory / "secret.txt").write_text(SECRET, "utf-8")
    return directory


@pytest.fixture
def read(refuse: Refuse, reader: str) -> Callable[[str], str]:
    """Return with what message the tool rejects a path."""
    return lambda path: refuse(reader, **READERS[reader](path))


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "/etc/passwd",
        "./././../outside/secret.txt",
    ],
)
@pytest.mark.usefixtures("outside")
def test_paths_that_lead_outside_are_refused(read: Callable[[str], str], path: str) -> None:
    assert read(path) == f"{path!r} leads outside the root directory"


def test_links_that_lead_outside_are_refused(
    read: Callable[[str], str], root: Path, outside: Path
) -> None:
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "relative").symlink_to("../outside/secret.txt")
    (root / "directory").symlink_to(outside)
    (root / "chain").symlink_to("file")
    for path in ("file", "relative", "directory", "directory/secret.txt", "chain"):
        assert "leads outside" in read(path)


def test_links_within_the_root_are_followed(value: Value, root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/data.csv").write_text(SECRET, "utf-8")
    (root / "link.csv").symlink_to("sub/data.csv")
    (root / "short").symlink_to("sub")
    for path in ("link.csv", "short/data.csv", "sub/../link.csv", str(root / "sub/data.csv")):
        assert value("read_text_file", path=path)["text"] == SECRET
        assert value("csv_statistics", path=path)["columns"][0]["name"] == "secret"
        found = value("search_files", query="secret", path=path)
        assert [match["path"] for match in found["matches"]] == ["sub/data.csv"]
