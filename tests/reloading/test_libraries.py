"""Libraries outside the tool folders: tools run again when one changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from uuid import uuid4

import pytest

from sovl_tools import CatalogChange, ToolRegistry
from tests.conftest import Write
from tests.loading.folders import News, answer, answers, gives, says


class Library:
    """A package that can be imported, under a name that no other test has."""

    def __init__(self, place: Path) -> None:
        self.name = f"library_{uuid4().hex}"
        self.path = place / self.name
        self.path.mkdir(parents=True)

    def put(self, file: str, text: str) -> None:
        """Write a file of the package in one moment."""
        path = self.path / file
        path.parent.mkdir(exist_ok=True)
        draft = path.with_name(".draft")
        draft.write_text(text)
        draft.replace(path)

    def modules(self) -> dict[str, ModuleType]:
        """Return those of its modules that have been imported."""
        known = sys.modules.copy().items()
        return {name: module for name, module in known if name.startswith(self.name)}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """Return a package with an ``__init__.py`` and a module ``words``."""
    monkeypatch.syspath_prepend(tmp_path / "src")
    library = Library(tmp_path / "src")
    library.put("__init__.py", "")
    library.put("words.py", "WORD = 'one'\n")
    yield library
    for name in library.modules():
        del sys.modules[name]


class Tools:
    """The tools of a directory, while they and some libraries are watched."""

    def __init__(self, registry: ToolRegistry) -> None:
        self.registry = registry
        self.news = News(registry)

    def until(self, **expected: object) -> None:
        self.news.until(expected)

    def until_rejected(self, name: str) -> CatalogChange:
        return next(each for each in iter(self.news.next, None) if name in each.rejected)


@contextmanager
def watched(tmp_path: Path, *libraries: Path, poll: bool = False) -> Iterator[Tools]:
    tools = Tools(ToolRegistry.from_directory(tmp_path / "tools", import_timeout=2))
    with tools.registry.watch(libraries=libraries, poll=poll):
        yield tools


def importing(library: Library, name: str = "echo") -> str:
    return gives("words.WORD", name, head=f"from {library.name} import words\n")


@pytest.mark.parametrize("poll", [False, True])
def test_a_changed_library_runs_every_tool_again(
    library: Library,
    write: Write,
    tmp_path: Path,
    poll: bool,  # noqa: FBT001
) -> None:
    write("echo", code=importing(library))
    write("other", code=says("other", "other"))
    with watched(tmp_path, library.path, poll=poll) as tools:
        before = tools.registry["other"]
        library.put("words.py", "WORD = 'three'\n")
        assert tools.news.next().updated == ("echo", "other")
        assert answers(tools.registry.catalog) == {"echo": "three", "other": "other"}
        assert tools.registry["other"] is not before


IMPORTS = {
    "import module": "import {0}.words as words",
    "a name": "import importlib\nwords = importlib.import_module('.'.join(['{0}', 'words']))",
    "star": "from {0}.words import *\nfrom {0} import words",
}


@pytest.mark.parametrize("how", IMPORTS)
def test_it_does_not_matter_how_a_tool_imports(
    how: str, library: Library, write: Write, tmp_path: Path
) -> None:
    write("echo", code=gives("words.WORD", head=IMPORTS[how].format(library.name)))
    with watched(tmp_path, library.path) as tools:
        library.put("words.py", "WORD = 'three'\n")
        tools.until(echo="three")


def test_a_library_that_uses_another_one_runs_again(
    library: Library, write: Write, tmp_path: Path
) -> None:
    user = Library(tmp_path / "src")
    user.put("words.py", f"from {library.name}.words import WORD\n")
    write("echo", code=importing(user))
    with watched(tmp_path, library.path, user.path) as tools:
        library.put("words.py", "WORD = 'three'\n")
        tools.until(echo="three")


def test_modules_outside_of_libraries_and_installed_ones_stay(
    library: Library, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = Library(library.path / "venv" / "site-packages")
    installed.put("__init__.py", "")
    monkeypatch.syspath_prepend(installed.path.parent)
    program = tmp_path / "src" / f"{library.name}_program.py"
    program.write_text(f"from {library.name} import words\n")
    running, kept = import_module(program.stem), import_module(installed.name)
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        library.put("words.py", "WORD = 'three'\n")
        tools.until(echo="three")
    assert sys.modules[program.stem] is running
    assert sys.modules.pop(installed.name) is kept


@pytest.mark.parametrize("file", ["new.py", "new/__init__.py"])
def test_a_module_that_comes_later_is_found(
    file: str, library: Library, write: Write, tmp_path: Path
) -> None:
    head = f"try:\n    from {library.name} import new\nexcept ImportError:\n    new = None\n"
    write("echo", code=gives("new and new.WORD", head=head))
    with watched(tmp_path, library.path) as tools:
        assert answer(tools.registry.catalog.tools) is None
        library.put(file, "WORD = 'new'\n")
        tools.until(echo="new")


def test_an_edit_of_equal_length_within_a_second_runs(
    library: Library, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        for word in ("two", "six", "ten", "one"):
            library.put("words.py", f"WORD = '{word}'\n")
            tools.until(echo=word)


def test_a_single_module_may_be_a_library(write: Write, tmp_path: Path, library: Library) -> None:
    module = library.path / "words.py"
    write("echo", code=importing(library))
    with watched(tmp_path, module) as tools:
        module.write_text("WORD = 'three'\n")
        tools.until(echo="three")


def test_a_library_may_be_behind_a_link(library: Library, write: Write, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(library.path)
    write("echo", code=importing(library))
    with watched(tmp_path, link) as tools:
        library.put("words.py", "WORD = 'three'\n")
        tools.until(echo="three")


def test_while_a_library_is_broken_the_last_good_version_serves(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        before = tools.registry["echo"]
        library.put("words.py", "WORD = \n")
        change = tools.until_rejected("echo")
        assert [each.code for each in change.diagnostics] == ["ST501"]
        assert tools.registry["echo"] is before
        assert answer(tools.registry.catalog.tools) == "one"
        library.put("words.py", "WORD = 'three'\n")
        tools.until(echo="three")


def test_a_tool_that_a_library_kept_from_loading_is_tried_again(
    library: Library, write: Write, tmp_path: Path
) -> None:
    library.put("words.py", "1 / 0\n")
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        assert "echo" in tools.registry.catalog.unavailable
        library.put("words.py", "WORD = 'two'\n")
        tools.until(echo="two")
