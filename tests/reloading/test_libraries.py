"""Modules outside of the tools' folders: those that import them run again when they change."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from uuid import uuid4

import pytest

from sovl_tools.loading.load import load
from sovl_tools.model.folder import Settings
from sovl_tools.reloading.libraries import Libraries, put_back
from sovl_tools.reloading.reload_state import ReloadState
from tests.conftest import Write
from tests.loading.folders import answer, answers, gives, says

RAN = "RAN = object()\n"


class Library:
    """A package that can be imported, under a name that no other test has."""

    def __init__(self, place: Path) -> None:
        self.name = f"library_{uuid4().hex}"
        self.path = place / self.name
        self.path.mkdir(parents=True)

    def put(self, file: str, text: str) -> str:
        """Write a file of the package and return its path."""
        path = self.path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

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


def loaded(tmp_path: Path, *libraries: Path) -> ReloadState:
    """Load all tools and return them with the libraries that they may use."""
    state = ReloadState(load([tmp_path / "tools"], settings=Settings()))
    state.libraries.add(map(str, libraries))
    return state


def importing(library: Library, name: str = "echo") -> str:
    return gives("words.WORD", name, head=f"from {library.name} import words\n\n{RAN}")


def lazily(library: Library, name: str = "late") -> str:
    line = f"from {library.name} import words"
    return f"{RAN}\n\ndef {name}(text: str):\n    {line}\n\n    return words.WORD\n"


def test_a_changed_module_runs_its_importers_again_and_no_other(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("echo", code=importing(library))
    write("other", code=says("other", "other"))
    state = loaded(tmp_path, library.path)
    before = dict(state.catalog.tools)
    changed = library.put("words.py", "WORD = 'three'\n")
    assert state.reload({changed}).updated == ("echo",)
    assert answers(state.catalog) == {"echo": "three", "other": "other"}
    assert state.catalog.tools["other"] is before["other"]


IMPORTS = {
    "import module": "import {0}.words as words",
    "import package": "import {0}.words\nwords = {0}.words",
    "importlib": "from importlib import import_module\nwords = import_module('{0}.words')",
    "star": "from {0}.words import *\nfrom {0} import words",
}


@pytest.mark.parametrize("how", IMPORTS)
def test_an_importer_is_known_however_it_imports(
    how: str, library: Library, write: Write, tmp_path: Path
) -> None:
    write("echo", code=gives("words.WORD", head=IMPORTS[how].format(library.name)))
    state = loaded(tmp_path, library.path)
    changed = library.put("words.py", "WORD = 'three'\n")
    assert state.reload({changed}).updated == ("echo",)
    assert answer(state.catalog.tools) == "three"


def test_an_import_inside_a_function_gets_the_new_module(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("late", code=lazily(library))
    state = loaded(tmp_path, library.path)
    assert answer(state.catalog.tools, "late") == "one"
    changed = library.put("words.py", "WORD = 'three'\n")
    assert state.reload({changed}).updated == ("late",)
    assert answer(state.catalog.tools, "late") == "three"


def test_an_import_in_a_helper_counts(library: Library, write: Write, tmp_path: Path) -> None:
    code = gives("helpers.words.WORD", head="from . import helpers\n")
    write("echo", code=code, helpers=f"from {library.name} import words\n")
    state = loaded(tmp_path, library.path)
    changed = library.put("words.py", "WORD = 'three'\n")
    assert state.reload({changed}).updated == ("echo",)
    assert answer(state.catalog.tools) == "three"


THROUGH = {
    "a module": ("{0}_through", "from {0} import words", "from {0}_through import words"),
    "a module of a package": (
        "{0}_through.deep",
        "from {0} import words",
        "from {0}_through import deep\nwords = deep.words",
    ),
    "two modules": (
        "{0}_through.deep",
        "import {0}.words as words",
        "from {0}_through.other import words",
    ),
    "a function": (
        "{0}_through",
        "def late():\n    from {0} import words\n    return words\nwords = late()",
        "from {0}_through import words",
    ),
}


@pytest.mark.parametrize("how", THROUGH)
def test_what_reaches_a_library_through_modules_that_are_not_watched_runs_again(
    how: str, library: Library, write: Write, tmp_path: Path
) -> None:
    module, source, head = (each.format(library.name) for each in THROUGH[how])
    path = (library.path.parent / module.replace(".", "/")).with_suffix(".py")
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    if "." in module:
        (path.parent / "other.py").write_text("from .deep import words\n")
        (path.parent / "alone.py").write_text("THERE = True\n")
    program = library.path.parent / f"{library.name}_program.py"
    program.write_text(f"from {library.name} import words\n")
    running = import_module(program.stem)
    write("echo", code=gives("words.WORD", head=head))
    write("other", code=says("other", "other"))
    state = loaded(tmp_path, library.path)
    for word in ("two", "three"):
        changed = library.put("words.py", f"WORD = {word!r}\n")
        assert state.reload({changed}).updated == ("echo",)
        assert answer(state.catalog.tools) == word
    assert sys.modules[program.stem] is running


def test_what_imports_another_library_keeps_its_module(
    library: Library, write: Write, tmp_path: Path
) -> None:
    other = Library(tmp_path / "src")
    other.put("words.py", "WORD = 'other'\n")
    user = Library(tmp_path / "src")
    user.put("words.py", f"from {library.name}.words import WORD\n")
    for name, each in (("echo", library), ("other", other), ("user", user)):
        write(name, code=importing(each, name))
    write("words", code=gives("'words'", "words", head=f"# {library.name}, words"))
    state = loaded(tmp_path, library.path, other.path, user.path)
    kept = other.modules()
    changed = library.put("words.py", "WORD = 'three'\n")
    assert state.reload({changed}).updated == ("echo", "user")
    assert answers(state.catalog) == {
        "echo": "three",
        "other": "other",
        "user": "three",
        "words": "words",
    }
    assert other.modules() == kept


def test_a_part_of_a_package_that_is_not_watched_as_a_whole_runs_again(
    library: Library, write: Write, tmp_path: Path
) -> None:
    (library.path / "__init__.py").unlink()
    library.put("parts/__init__.py", "WORD = 'one'\n")
    write("echo", code=gives("parts.WORD", head=f"from {library.name} import parts\n{RAN}"))
    write("other", code=importing(library, "other"))
    state = loaded(tmp_path, library.path / "parts")
    changed = library.put("parts/__init__.py", "WORD = 'three'\n")
    assert state.reload({changed}).updated == ("echo",)
    assert answers(state.catalog) == {"echo": "three", "other": "one"}


def test_a_module_that_comes_is_found_by_what_wants_it(
    library: Library, write: Write, tmp_path: Path
) -> None:
    head = f"try:\n    from {library.name} import new\nexcept ImportError:\n    new = None\n"
    write("echo", code=gives("new and new.WORD", head=head))
    state = loaded(tmp_path, library.path)
    assert answer(state.catalog.tools) is None
    assert state.reload({library.put("new.py", "WORD = 'new'\n")}).updated == ("echo",)
    assert answer(state.catalog.tools) == "new"


def test_a_broken_tool_does_not_keep_a_module_from_being_renewed(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("broken", code="1 / 0\n")
    write(
        "late", code=gives("import_module(WORDS).WORD", "late", head=DYNAMIC.format(library.name))
    )
    state = loaded(tmp_path, library.path)
    assert answer(state.catalog.tools, "late") == "one"
    state.reload({library.put("words.py", "WORD = 'three'\n")})
    assert answer(state.catalog.tools, "late") == "three"


DYNAMIC = "from importlib import import_module\nWORDS = '{0}.words'"


def test_an_edit_of_equal_length_within_a_second_runs(
    library: Library, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    write("echo", code=importing(library))
    state = loaded(tmp_path, library.path)
    for word in ("two", "six", "ten", "one"):
        changed = library.put("words.py", f"WORD = '{word}'\n")
        assert state.reload({changed}).updated == ("echo",)
        assert answer(state.catalog.tools) == word


def test_a_module_that_uses_the_changed_one_is_imported_anew(
    library: Library, write: Write, tmp_path: Path
) -> None:
    library.put("parts/__init__.py", "from ..words import WORD\n")
    write("echo", code=gives("parts.WORD", head=f"from {library.name} import parts\n"))
    state = loaded(tmp_path, library.path)
    state.reload({library.put("words.py", "WORD = 'three'\n")})
    assert answer(state.catalog.tools) == "three"


def test_a_sub_package_may_come(library: Library, write: Write, tmp_path: Path) -> None:
    code = gives("parts.WORD", head=f"from {library.name} import parts\n")
    write("echo", code=code)
    state = loaded(tmp_path, library.path)
    assert not state.catalog.tools
    library.put("parts/__init__.py", "WORD = 'part'\n")
    assert state.reload({str(library.path / "parts")}).added == ("echo",)
    assert answer(state.catalog.tools) == "part"


def test_a_package_without_a_file_of_its_own_is_imported_anew(
    library: Library, write: Write, tmp_path: Path
) -> None:
    (library.path / "__init__.py").unlink()
    write("echo", code=importing(library))
    state = loaded(tmp_path, library.path)
    assert library.modules()[library.name].__file__ is None
    state.reload({library.put("words.py", "WORD = 'three'\n")})
    assert answer(state.catalog.tools) == "three"


def test_a_single_module_may_be_a_library(library: Library, write: Write, tmp_path: Path) -> None:
    module = library.path.with_suffix(".py")
    module.write_text("WORD = 'one'\n")
    library.put("__init__.py", "")
    library.path.rename(tmp_path / "elsewhere")
    write("echo", code=gives("words.WORD", head=f"import {library.name} as words\n"))
    state = loaded(tmp_path, module)
    module.write_text("WORD = 'three'\n")
    assert state.reload({str(module)}).updated == ("echo",)
    assert answer(state.catalog.tools) == "three"


def test_a_library_behind_a_link_is_known(library: Library, write: Write, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(library.path)
    write("echo", code=importing(library))
    state = loaded(tmp_path, link)
    library.put("words.py", "WORD = 'three'\n")
    assert state.reload({str(link / "words.py")}).updated == ("echo",)


def test_a_broken_library_leaves_the_tools_and_its_modules_in_place(
    library: Library, write: Write, tmp_path: Path
) -> None:
    library.put("more.py", "WORD = 'more'\n")
    late = f"    from {library.name} import more\n\n"
    code = f"from {library.name} import words\n\n\ndef echo(text: str):\n{late}"
    write("echo", code=f"{code}    return words.WORD, more.WORD\n")
    state = loaded(tmp_path, library.path)
    before = state.catalog.tools["echo"]
    change = state.reload({library.put("words.py", "WORD = \n")})
    assert change.rejected == ("echo",)
    assert [each.code for each in change.diagnostics] == ["ST501"]
    assert state.catalog.tools["echo"] is before
    assert answer(state.catalog.tools) == ("one", "more")
    assert state.reload({library.put("words.py", "WORD = 'three'\n")}).updated == ("echo",)
    assert answer(state.catalog.tools) == ("three", "more")


def test_the_old_modules_are_there_after_a_failure(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("echo", code=importing(library))
    state = loaded(tmp_path, library.path)
    words = library.modules()[f"{library.name}.words"]
    state.reload({library.put("words.py", "1 / 0\n")})
    assert library.modules()[f"{library.name}.words"] is words


def test_modules_that_were_imported_anew_are_not_put_back(library: Library) -> None:
    libraries = Libraries()
    libraries.add([str(library.path)])
    old = __import__(library.name)
    taken = libraries.unload([str(library.path / "__init__.py")], {}).modules
    new = __import__(library.name)
    put_back(taken)
    assert old is not new
    assert sys.modules[library.name] is new


def test_a_tool_that_a_library_kept_from_loading_is_tried_again(
    library: Library, write: Write, tmp_path: Path
) -> None:
    library.put("words.py", "1 / 0\n")
    write("echo", code=importing(library))
    state = loaded(tmp_path, library.path)
    assert "echo" in state.catalog.unavailable
    assert state.reload({library.put("words.py", "WORD = 'two'\n")}).added == ("echo",)
    assert answer(state.catalog.tools) == "two"


def test_a_tool_and_its_library_may_change_together(
    library: Library, write: Write, tmp_path: Path
) -> None:
    folder = write("echo", code=importing(library))
    state = loaded(tmp_path, library.path)
    write("echo", code=importing(library).replace("words.WORD", "words.OTHER"))
    changed = library.put("words.py", "OTHER = 'other'\n")
    assert state.reload({str(folder / "echo.py"), changed}).updated == ("echo",)
    assert answer(state.catalog.tools) == "other"


def test_files_that_are_no_sources_are_nobodys_concern(
    library: Library, write: Write, tmp_path: Path
) -> None:
    write("echo", code=importing(library))
    state = loaded(tmp_path, library.path)
    before = library.modules()
    assert not state.reload({library.put("words.csv", "a,b")})
    assert library.modules() == before
    assert not state.libraries.sources([str(tmp_path / f"{library.name}_2" / "words.py")])


def test_modules_of_the_interpreter_and_odd_ones_are_left_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = ModuleType(f"{library.name}.odd")
    odd.__path__ = None  # type: ignore[assignment]  # that is what is odd about it
    monkeypatch.setitem(sys.modules, odd.__name__, odd)
    monkeypatch.chdir(library.path)
    libraries = Libraries()
    libraries.add([str(library.path)])
    before = set(sys.modules)
    assert libraries.unload([library.put("words.py", "")], {}).modules == {}
    assert before <= set(sys.modules)


class Ending:
    """Takes a module out each time that the collector finds one like it."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.itself = self

    def __del__(self) -> None:
        if self.names:
            del sys.modules[self.names.pop()]
            Ending(self.names)


def test_the_collector_may_take_modules_while_libraries_are_taken_out(library: Library) -> None:
    libraries = Libraries()
    libraries.add([str(library.path)])
    names = [f"{library.name}_{number}" for number in range(500)]
    sys.modules.update({name: ModuleType(name) for name in names})
    Ending(names)
    spare = [(name, name) for name in names * 10]  # those that Python keeps are taken without it
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        assert libraries.unload([], {}).modules == {}
        assert spare
    finally:
        gc.set_threshold(*before)
        while names:
            del sys.modules[names.pop()]


def test_what_looks_otherwise_is_found_without_events(
    library: Library, write: Write, tmp_path: Path
) -> None:
    single = tmp_path / "src" / f"{library.name}_single.py"
    write("echo", code=importing(library))
    state = loaded(tmp_path, library.path, single)
    assert state.libraries.changed() == set()
    changed = {library.put("words.py", "WORD = 'three'\n"), library.put("parts/deep.py", "")}
    library.put("words.csv", "a,b")
    single.write_text("")
    assert state.libraries.changed() == {*changed, str(single)}
    assert changed <= state.changed()
    state.reload(state.changed())
    assert answer(state.catalog.tools) == "three"
    assert state.libraries.changed() == set()
