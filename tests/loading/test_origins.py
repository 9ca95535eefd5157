"""Looking for tools in distributions, packages and directories of modules."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import ToolRegistry
from sovl_tools.loading.origins import Origin, OriginLoad
from sovl_tools.loading.plugins import EntryPoints, Modules, Package, PackageFolders
from tests.loading.plugins import GROUP, HEAD, Site, decorated, importable
from tests.patience import PATIENCE

HERE = "things"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.chdir(tmp_path)
    with importable(tmp_path / "site") as made:
        yield made


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugins").mkdir()
    return Site(tmp_path / "plugins")


def answers(sight: OriginLoad) -> dict[str, Any]:
    """Return what the tools answer."""
    found = {each.name: each.definition for each in sight.candidates}
    return {name: tool.execute() for name, tool in found.items() if tool is not None}


def lines(sight: OriginLoad) -> list[str]:
    return [str(each) for each in sight.diagnostics]


def test_an_entry_point_that_leads_nowhere_is_told(site: Site) -> None:
    site.write("good.py", decorated("good", 1))
    site.install("many", GROUP, a="nowhere.at_all:tool", b="good:absent", d="good")
    sight = EntryPoints(GROUP).look()
    assert answers(sight) == {"good": 1}
    no_module, no_member = lines(sight)
    head = "nowhere.at_all:tool: ST701 the entry point 'a' (nowhere.at_all:tool) can't be imported"
    assert no_module == f"{head}: ModuleNotFoundError: No module named 'nowhere'"
    assert no_member.endswith("imported: AttributeError: module 'good' has no attribute 'absent'")


USER = (
    "import signal, threading\n\n"
    "signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)\n"
)
"""Sends what the terminal sends when a user presses Ctrl-C."""

STOPS = pytest.mark.parametrize(
    "origin", [Package("stops"), PackageFolders("stops.below")], ids=repr
)


@pytest.mark.parametrize("origin", [Package("waits"), PackageFolders("waits.below")], ids=repr)
def test_the_user_interrupts(site: Site, origin: Origin) -> None:
    site.write("waits/__init__.py", USER)
    with pytest.raises(KeyboardInterrupt):
        origin.look()


@STOPS
def test_a_keyboard_interrupt_of_the_code_itself_is_told(site: Site, origin: Origin) -> None:
    site.write("stops/__init__.py", "raise KeyboardInterrupt")
    (line,) = lines(origin.look())
    assert line.startswith("site/stops/__init__.py:1:1: ST701 the package 'stops")
    assert line.endswith(" can't be imported: KeyboardInterrupt")


def test_a_package_is_looked_through_to_its_bottom_but_its_program_is_not_run(site: Site) -> None:
    site.write("deep/__init__.py", decorated("top", 1))
    site.write("deep/__main__.py", "raise AssertionError('it ran')")
    site.write("deep/one/two/three.py", decorated("bottom", 2))
    site.write("deep/_private.py", decorated("private", 3))
    sight = Package("deep").look()
    assert answers(sight) == {"top": 1, "private": 3, "bottom": 2}
    assert sight.diagnostics == ()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("absent", "absent: ST701 there's no package 'absent'"),
        ("single", "single: ST701 there's no package 'single'"),
        ("absent.below", "absent.below: ST701 the package 'absent.below' can't be imported: "),
        (".odd", ".odd: ST701 the package '.odd' can't be imported: "),
        (
            "ends.below",
            "site/ends/__init__.py:2:1: ST701 the package 'ends.below' can't be imported",
        ),
        ("void", "ST106"),
    ],
)
def test_a_package_without_tool_folders_is_told(site: Site, name: str, line: str) -> None:
    site.write("single.py")
    site.write("void/__init__.py")
    site.write("ends/__init__.py", "import sys\nsys.exit(1)\n")
    (told,) = lines(PackageFolders(name).look())
    assert line in told


def test_a_module_runs_again_only_if_it_has_changed(plugins: Site) -> None:
    file = plugins.write("once.py", decorated("once", 1) + "print('ran')\n")
    moment = file.stat().st_mtime_ns
    modules = Modules(str(plugins.root))
    first, second = modules.look(), modules.look()
    assert first == second
    plugins.write("once.py", decorated("once", 2) + "print('ran')\n")
    os.utime(file, ns=(moment, moment))
    assert answers(modules.look()) == {"once": 2}
    assert answers(first) == {"once": 1}


def test_a_directory_without_modules_is_told(plugins: Site) -> None:
    empty, absent = Modules(str(plugins.root)), Modules(str(plugins.root / "absent"))
    assert lines(empty.look()) == ["plugins: ST706 there's no tool in the directory"]
    assert lines(absent.look()) == [
        "plugins/absent: ST701 the directory can't be listed: No such file or directory"
    ]


TWICE = f"{HEAD}\n\n@tool\ndef twice() -> list:\n    return [NUMBER, second.other()]\n"


def test_what_imports_a_changed_module_runs_again_and_nothing_else(plugins: Site) -> None:
    plugins.write("first.py", "from . import second\nfrom ._help import NUMBER\n" + TWICE)
    plugins.write("second.py", decorated("other", 2))
    plugins.write("third.py", decorated("alone", 4))
    plugins.write("_help.py", "NUMBER = 3\n")
    modules = Modules(str(plugins.root))
    before = {each.name: each for each in modules.look().candidates}
    plugins.write("_help.py", "NUMBER = 5\n")
    after = modules.look()
    assert answers(after) == {"twice": [5, 2], "other": 2, "alone": 4}
    same = {each.name for each in after.candidates if each == before[each.name]}
    assert same == {"other", "alone"}
    plugins.write("second.py", decorated("other", 7))
    assert answers(modules.look())["twice"] == [5, 7]


def test_a_module_that_another_one_needs_breaks_both_and_comes_back(plugins: Site) -> None:
    plugins.write("first.py", "from . import second\nNUMBER = 1\n" + TWICE)
    plugins.write("second.py", decorated("other", 2))
    modules = Modules(str(plugins.root))
    modules.look()
    plugins.write("second.py", "1 / 0\n")
    for _ in range(2):
        sight = modules.look()
        assert [line.partition(":")[0] for line in lines(sight)] == ["plugins/second.py"] * 2
        assert sight.candidates == ()
    os.remove(plugins.root / "second.py")
    (told,) = lines(modules.look())
    assert "cannot import name 'second'" in told
    plugins.write("second.py", decorated("other", 8))
    assert answers(modules.look()) == {"twice": [1, 8], "other": 8}


HANGS = "import time\n\nwhile True:\n    time.sleep(0.01)\n"


def test_an_import_without_an_end_is_given_up(site: Site, plugins: Site) -> None:
    site.write("endless.py", HANGS)
    site.write("hanging.py", HANGS)
    site.install("endless", GROUP, a="endless")
    plugins.write("endless.py", HANGS)
    plugins.write("good.py", decorated("good", 1))
    origins: list[Origin] = [
        EntryPoints(GROUP, 0.5),
        Package("endless", 0.5),
        PackageFolders("hanging.below", 0.5),
        Modules(str(plugins.root), 0.5),
    ]
    sights = [each.look() for each in origins]
    tail = "can't be imported: it was not done after 0.5 s"
    assert [line for sight in sights for line in lines(sight)] == [
        f"site/endless.py:4:5: ST701 the entry point 'a' (endless) {tail}",
        f"site/endless.py:4:5: ST701 the package 'endless' {tail}",
        f"site/hanging.py:4:5: ST701 the package 'hanging.below' {tail}",
        f"plugins/endless.py:4:5: ST701 the module {tail}",
    ]
    assert answers(sights[-1]) == {"good": 1}
    for thread in [each for each in threading.enumerate() if each.name == "sovl-tools-loader"]:
        thread.join(PATIENCE)
        assert not thread.is_alive()


FACTORY = f"""{HEAD}
import functools


def make(language: str):
    @tool(name=f"greet_{{language}}")
    def greet(who: str) -> str:
        "Greet."
        return f"{{language}} {{who}}"
    return greet


def base(text: str) -> str:
    "Say."
    return text


def twin(number: int):
    @tool
    @functools.wraps(base)
    def wrapper(text: str) -> str:
        return f"{{number}} {{text}}"
    return wrapper


english, german = make("en"), make("de")
first, second = twin(1), twin(2)
alias = first
"""


def test_what_a_factory_makes_are_tools_of_their_own(plugins: Site) -> None:
    plugins.write("factory.py", FACTORY)
    plugins.write("other.py", "from .factory import english, second\n")
    candidates = Modules(str(plugins.root)).look().candidates
    assert sorted(each.name for each in candidates) == ["base", "base", "greet_de", "greet_en"]
    assert len({each.location for each in candidates}) == 4
    said = [
        each.definition.execute(text="x")
        for each in candidates
        if each.definition and each.name == "base"
    ]
    assert sorted(said) == ["1 x", "2 x"]


def test_each_source_that_fails_is_logged_once(
    site: Site, plugins: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.install("dist", GROUP, gone="gone_module")
    plugins.write("broken.py", "1 / 0\n")
    registry = ToolRegistry.from_directory("nowhere")
    registry.load_entry_points(GROUP)
    registry.load_package("no_package")
    registry.load_modules(plugins.root)
    registry.reload()
    said = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert len(said) == 4
    words = ("nowhere can't be listed", "gone_module", "'no_package'", "broken.py:1:1: ST701")
    for message, each in zip(said, words, strict=True):
        assert message.startswith("tools can't be loaded: ")
        assert each in message
