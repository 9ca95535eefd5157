"""Libraries outside the tool folders: tools run again when one changes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from uuid import uuid4

import pytest

from sovl_tools import CatalogChange, ToolRegistry
from sovl_tools.reloading.libraries import unload
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


def lazily(library: Library, name: str = "late") -> str:
    line = f"from {library.name} import words"
    return f"def {name}(text: str):\n    {line}\n\n    return words.WORD\n"


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
    "import package": "import {0}.words\nwords = {0}.words",
    "importlib": "from importlib import import_module\nwords = import_module('{0}.words')",
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


def test_an_import_inside_a_function_gets_the_new_module(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("late", code=lazily(library))
    with watched(tmp_path, library.path) as tools:
        assert answer(tools.registry.catalog.tools, "late") == "one"
        library.put("words.py", "WORD = 'three'\n")
        tools.until(late="three")


def test_a_helper_may_import_the_library(library: Library, write: Write, tmp_path: Path) -> None:
    code = gives("helpers.words.WORD", head="from . import helpers\n")
    write("echo", code=code, helpers=f"from {library.name} import words\n")
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


def test_a_part_of_a_package_may_be_a_library(
    library: Library, write: Write, tmp_path: Path
) -> None:
    library.put("parts/__init__.py", "WORD = 'one'\n")
    write("echo", code=gives("parts.WORD", head=f"from {library.name} import parts\n"))
    with watched(tmp_path, library.path / "parts") as tools:
        words = import_module(f"{library.name}.words")
        library.put("parts/__init__.py", "WORD = 'three'\n")
        tools.until(echo="three")
        assert library.modules()[words.__name__] is words


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


def test_a_package_without_a_file_of_its_own_is_a_library(
    library: Library, write: Write, tmp_path: Path
) -> None:
    (library.path / "__init__.py").unlink()
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        assert library.modules()[library.name].__file__ is None
        library.put("words.py", "WORD = 'three'\n")
        tools.until(echo="three")


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


def test_a_broken_library_leaves_the_tools_and_its_modules_in_place(
    library: Library, write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    library.put("more.py", "WORD = 'more'\n")
    late = f"    from {library.name} import more\n\n"
    code = f"from {library.name} import words\n\n\ndef echo(text: str):\n{late}"
    write("echo", code=f"{code}    return words.WORD, more.WORD\n")
    with watched(tmp_path, library.path) as tools:
        before = tools.registry["echo"]
        words = library.modules()[f"{library.name}.words"]
        library.put("words.py", "WORD = \n")
        change = tools.until_rejected("echo")
        assert [each.code for each in change.diagnostics] == ["ST501"]
        assert tools.registry["echo"] is before
        assert answer(tools.registry.catalog.tools) == ("one", "more")
        assert library.modules()[words.__name__] is words
        assert f"module {words.__name__} is served as it was: SyntaxError" in caplog.text
        library.put("words.py", "WORD = 'three'\n")
        tools.until(echo=("three", "more"))


def test_a_tool_that_a_library_kept_from_loading_is_tried_again(
    library: Library, write: Write, tmp_path: Path
) -> None:
    library.put("words.py", "1 / 0\n")
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        assert "echo" in tools.registry.catalog.unavailable
        library.put("words.py", "WORD = 'two'\n")
        tools.until(echo="two")


def test_a_tool_and_its_library_may_change_together(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        write("echo", code=importing(library).replace("words.WORD", "vars(words).get('OTHER')"))
        library.put("words.py", "OTHER = 'other'\n")
        tools.until(echo="other")


def test_files_that_are_no_sources_change_nothing(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        before = library.modules()
        library.put("words.csv", "a,b")
        write("other", code=says("other", "other"))
        tools.until(echo="one", other="other")
        assert library.modules() == before


def test_the_program_and_odd_modules_are_left_alone(
    library: Library, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd, program = ModuleType(f"{library.name}.odd"), ModuleType("__main__")
    odd.__path__ = None  # type: ignore[assignment]  # that is what is odd about it
    program.__file__ = str(library.path / "main.py")
    monkeypatch.setitem(sys.modules, odd.__name__, odd)
    monkeypatch.setitem(sys.modules, "__main__", program)
    write("echo", code=importing(library))
    with watched(tmp_path, library.path) as tools:
        library.put("words.py", "WORD = 'three'\n")
        tools.until(echo="three")
        assert sys.modules[odd.__name__] is odd
        assert sys.modules["__main__"] is program


class Ending:
    """Removes a module each time that the collector finds one like it."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.itself = self

    def __del__(self) -> None:
        if self.names:
            del sys.modules[self.names.pop()]
            Ending(self.names)


def test_the_collector_may_remove_modules_while_libraries_are_unloaded(library: Library) -> None:
    names = [f"{library.name}_{number}" for number in range(500)]
    sys.modules.update({name: ModuleType(name) for name in names})
    Ending(names)
    spare = [(name, name) for name in names * 10]  # those that Python keeps are taken without it
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        assert unload([str(library.path)], []) == {}
        assert spare
    finally:
        gc.set_threshold(*before)
        while names:
            del sys.modules[names.pop()]
