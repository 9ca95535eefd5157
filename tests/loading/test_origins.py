"""Looking for tools in distributions, packages and directories of modules."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import ToolRegistry
from sovl_tools.loading.importer import PLUGIN_ROOT
from sovl_tools.loading.origins import (
    MODULES,
    PACKAGES,
    EntryPoints,
    Modules,
    Origin,
    OriginLoad,
    Package,
    PackageFolders,
    package_of,
)
from tests.conftest import Write
from tests.loading.plugins import GROUP, HEAD, Site, classed, decorated, importable
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


def test_packages_come_before_directories_of_modules() -> None:
    origins: list[Origin] = [EntryPoints(GROUP), Package(HERE), PackageFolders(HERE)]
    assert [each.level for each in origins] == [PACKAGES] * 3
    assert Modules(HERE).level == MODULES > PACKAGES


def test_entry_points_are_functions_classes_modules_and_packages(site: Site) -> None:
    site.write("shop/functions.py", decorated("first", 1) + decorated("hidden", 0))
    site.write("shop/classes.py", classed("second", 2) + "\n\nthird = Second()\n")
    site.write("shop/plain.py", "def fourth(text: str = '') -> int:\n    return 4\n")
    site.write("shop/module.py", decorated("fifth", 5))
    site.write("shop/below/__init__.py", decorated("sixth", 6))
    site.write("shop/below/deeper.py", decorated("seventh", 7))
    site.install(
        "shop",
        a="shop.functions:first",
        b="shop.classes:Second",
        c="shop.plain:fourth",
        d="shop.module",
        e="shop.below",
    )
    sight = EntryPoints("sovl_tools.tools").look()
    assert answers(sight) == {
        "first": 1, "second": 2, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    }  # fmt: skip
    assert (sight.diagnostics, sight.lost) == ((), {})


def test_entry_points_of_another_group_are_not_looked_at(site: Site) -> None:
    site.write("other.py", "raise AssertionError")
    site.install("other", "another.group", a="other")
    assert EntryPoints(GROUP).look() == OriginLoad()


IMPORTED = "can't be imported"
BROKEN = {
    "raises": (
        "import os\n\n\ndef f():\n    raise OSError('boom')\n\n\nf()\n",
        "5:5",
        "OSError: boom",
    ),
    "leaves": ("import sys\n\nsys.exit('enough')\n", "3:1", "SystemExit: enough"),
    "syntax": ("x = (\n", "1:5", "SyntaxError: '(' was never closed"),
    "absent": ("import of_nobody\n", "1:1", "ModuleNotFoundError: No module named 'of_nobody'"),
}


def test_an_entry_point_that_breaks_stops_no_other(site: Site) -> None:
    for name, (source, _, _) in BROKEN.items():
        site.write(f"{name}.py", source)
    site.write("zz_good.py", decorated("good", 1))
    site.install("many", GROUP, **{name: f"{name}:tool" for name in BROKEN}, zz_good="zz_good")
    sight = EntryPoints(GROUP).look()
    assert answers(sight) == {"good": 1}
    assert sorted(lines(sight)) == sorted(
        f"site/{name}.py:{place}: ST701 the entry point {name!r} ({name}:tool) {IMPORTED}: {words}"
        for name, (_, place, words) in BROKEN.items()
    )


BROKEN_FILES: list[bytes] = [
    b"[sovl_tools.tools]\nx = b\xfcd:x\n",
    "[sovl_tools.tools]\nx = a:b\n".encode("utf-16"),
    b"[sovl_tools.tools]\nx\n",
    b"[sovl_tools.tools]\nx = a:b\n= \ny\n",
]


@pytest.mark.parametrize("text", BROKEN_FILES)
def test_a_broken_distribution_takes_no_other_down(text: bytes, site: Site) -> None:
    site.write("good.py", decorated("good", 1))
    broken = site.root / "aaa-1.0.dist-info"
    broken.mkdir()
    (broken / "entry_points.txt").write_bytes(text)
    (site.root / "endless-1.dist-info").symlink_to(site.root / "endless-1.dist-info")
    (site.root / "empty-1.dist-info").mkdir()
    (site.root / ".dist-info").mkdir()
    site.install("many", GROUP, good="good")
    sight = EntryPoints(GROUP).look()
    assert answers(sight) == {"good": 1}
    nameless, *others = sorted(lines(sight))
    # importlib_metadata puts itself in the place of Python's own once something has imported it
    reasons = ("TypeError", "MetadataNotFound")
    before = "site/.dist-info: ST701 its entry points can't be read: "
    assert nameless.startswith(tuple(before + each for each in reasons))
    head = "its entry points can't be read"
    assert [each.partition(f": ST701 {head}: ")[0] for each in others] == [
        "site/aaa-1.0.dist-info",
        "site/endless-1.dist-info",
    ]


def test_a_finder_that_breaks_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        def find_spec(self, *_: object) -> None:
            """Find no module."""

        def find_distributions(self, _: object) -> None:
            raise RuntimeError("not today")

    site.write("good.py", decorated("good", 1))
    site.install("many", GROUP, good="good")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    sight = EntryPoints(GROUP).look()
    assert answers(sight) == {"good": 1}
    assert lines(sight) == [
        "sys.path: ST701 its entry points can't be read: RuntimeError: not today"
    ]


def test_an_entry_point_that_leads_nowhere_is_told(site: Site) -> None:
    site.write("good.py", decorated("good", 1))
    site.install("many", GROUP, a="nowhere.at_all:tool", b="good:absent", c="no module", d="good")
    sight = EntryPoints(GROUP).look()
    assert answers(sight) == {"good": 1}
    no_module, no_member, no_name = lines(sight)
    head = "nowhere.at_all:tool: ST701 the entry point 'a' (nowhere.at_all:tool) can't be imported"
    assert no_module == f"{head}: ModuleNotFoundError: No module named 'nowhere'"
    assert no_member.endswith("imported: AttributeError: module 'good' has no attribute 'absent'")
    words = "the entry point 'c' (no module) names neither a module nor 'module:object'"
    assert no_name == f"no module: ST701 {words}"


def test_an_entry_point_that_leads_to_something_else_is_told(site: Site) -> None:
    site.write("odd.py", "number = 5\n\n\nclass Thing:\n    def __init__(self):\n        1 / 0\n")
    site.install("odd", GROUP, a="odd:number", b="odd:Thing", c="odd:Thing.__init__")
    sight = EntryPoints(GROUP).look()
    assert [str(each) for each in (*sight.diagnostics, *sight.candidates[0].diagnostics)] == [
        "odd:number: ST706 there is no tool in the entry point 'a' (odd:number)",
        "odd:Thing: ST706 there is no tool in the entry point 'b' (odd:Thing)",
        "site/odd.py:5:18: ST703 'self': nothing supplies the object that the method belongs to",
    ]


def test_an_exception_is_told_even_if_it_can_not_tell_itself(site: Site) -> None:
    source = (
        "class Opaque(BaseException):\n    def __str__(self):\n        return 1 / 0\nraise Opaque"
    )
    site.write("opaque.py", source)
    (line,) = lines(Package("opaque").look())
    assert line.startswith("site/opaque.py:4:1: ST701 the package 'opaque' can't be imported: ")
    assert line.endswith("Opaque: its message can't be read")


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


def test_so_it_is_below_a_package_and_stops_nothing_beside_it(site: Site) -> None:
    site.write("outer/good.py", decorated("good", 1))
    site.write("outer/inner.py", "raise KeyboardInterrupt")
    site.write("outer/last.py", decorated("last", 2))
    sight = Package("outer").look()
    assert answers(sight) == {"good": 1, "last": 2}
    words = "site/outer/inner.py:1:1: ST701 the module 'outer.inner' can't be imported: "
    assert lines(sight) == [f"{words}KeyboardInterrupt"]


def test_what_is_no_file_is_told_by_its_path(plugins: Site) -> None:
    (plugins.root / "folder.py").mkdir()
    (plugins.root / "link.py").symlink_to("nowhere")
    os.mkfifo(plugins.root / "pipe.py")
    plugins.write("good.py", decorated("good", 1))
    sight = Modules(str(plugins.root)).look()
    assert answers(sight) == {"good": 1}
    words = "ST701 the module can't be imported: it is"
    assert lines(sight) == [
        f"plugins/folder.py:1:1: {words} a folder, not a file",
        f"plugins/link.py:1:1: {words} a link to nothing",
        f"plugins/pipe.py:1:1: {words} no plain file",
    ]


def test_a_missing_module_beside_a_module_is_named_as_it_is_written(plugins: Site) -> None:
    plugins.write("odd.py", "from .missing import word\n")
    (line,) = lines(Modules(str(plugins.root)).look())
    assert line.endswith("can't be imported: ModuleNotFoundError: No module named '.missing'")


def test_a_package_is_looked_through_to_its_bottom_but_its_program_is_not_run(site: Site) -> None:
    site.write("deep/__init__.py", decorated("top", 1))
    site.write("deep/__main__.py", "raise AssertionError('it ran')")
    site.write("deep/one/two/three.py", decorated("bottom", 2))
    site.write("deep/_private.py", decorated("private", 3))
    sight = Package("deep").look()
    assert answers(sight) == {"top": 1, "private": 3, "bottom": 2}
    assert sight.diagnostics == ()


def test_what_breaks_below_a_package_stops_nothing_beside_it(site: Site) -> None:
    site.write("half/a.py", decorated("a", 1))
    site.write("half/b/__init__.py", "\nimport package_that_nobody_has\n")
    site.write("half/b/lost.py", decorated("lost", 0))
    site.write("half/c.py", "import sys\nsys.exit()\n")
    site.write("half/d.py", decorated("d", 2))
    sight = Package("half").look()
    assert answers(sight) == {"a": 1, "d": 2}
    first, second = lines(sight)
    head = "site/half/b/__init__.py:2:1: ST701 the module 'half.b' can't be imported: "
    assert first == f"{head}ModuleNotFoundError: No module named 'package_that_nobody_has'"
    assert second == "site/half/c.py:2:1: ST701 the module 'half.c' can't be imported: SystemExit"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "absent",
            "absent: ST701 the package 'absent' can't be imported: ModuleNotFoundError: ",
        ),
        ("bare", "bare: ST706 there is no tool in the package 'bare'"),
        ("", "ST701 the package '' can't be imported: ValueError: Empty module name"),
    ],
)
def test_a_package_that_gives_nothing_is_told(site: Site, name: str, line: str) -> None:
    site.write("bare.py", "x = 1\n")
    (told,) = lines(Package(name).look())
    assert told.startswith(line)


def test_one_object_imported_into_two_modules_is_one_tool(site: Site) -> None:
    site.write("double/one.py", decorated("tool_of_one", 1) + classed("thing", 2))
    site.write("double/two.py", "from double.one import Thing, tool_of_one\n")
    site.write("double/__init__.py", "from double.two import *\n")
    sight = Package("double").look()
    assert answers(sight) == {"tool_of_one": 1, "thing": 2}
    site.install("double", GROUP, a="double.two", b="double.one:tool_of_one")
    assert len(EntryPoints(GROUP).look().candidates) == 2


def test_tool_folders_inside_of_a_package(site: Site, write: Write, tmp_path: Path) -> None:
    for name in ("echo", "broken"):
        write(name, code="raise OSError" if name == "broken" else None)
    site.write("shelf/__init__.py")
    os.rename(tmp_path / "tools", site.root / "shelf" / "tools")
    sight = PackageFolders("shelf.tools").look()
    assert {each.name: each.status for each in sight.candidates} == {
        "echo": "loaded",
        "broken": "rejected",
    }
    assert sight.diagnostics == ()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("absent", "absent: ST701 there is no package 'absent'"),
        ("single", "single: ST701 there is no package 'single'"),
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


def test_modules_of_a_directory_stand_alone(plugins: Site) -> None:
    plugins.write("json.py", decorated("encode", 1))
    plugins.write("classes.py", classed("wind", 2))
    plugins.write("with-dash.py", decorated("dashed", 3))
    for name in ("_private.py", ".hidden.py", "text.txt", "package/inside.py"):
        (plugins.root / name).parent.mkdir(exist_ok=True)
        (plugins.root / name).write_text("raise AssertionError")
    sight = Modules(str(plugins.root)).look()
    assert answers(sight) == {"encode": 1, "wind": 2, "dashed": 3}
    assert sight.diagnostics == ()
    assert all(each.location.startswith(f"{PLUGIN_ROOT}.") for each in sight.candidates)
    import json

    assert json.loads("1") == 1


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


def test_a_module_that_breaks_leaves_the_one_of_before_and_says_what_is_lost(
    plugins: Site,
) -> None:
    modules = Modules(str(plugins.root))
    plugins.write("echo.py", decorated("echo", 1))
    (candidate,) = modules.look().candidates
    before = sys.modules[candidate.location.rpartition(".")[0]]
    plugins.write("echo.py", f"{HEAD}x = 1 / 0\n")
    sight = modules.look()
    (diagnostic,) = sight.lost.values()
    assert sys.modules[before.__name__] is before
    words = "the module can't be imported: ZeroDivisionError: division by zero"
    assert lines(sight) == [str(diagnostic)]
    assert str(diagnostic) == f"plugins/echo.py:4:5: ST701 {words}"


def test_a_module_that_never_ran_is_not_there(plugins: Site) -> None:
    plugins.write("echo.py", "raise OSError")
    modules = Modules(str(plugins.root))
    modules.look()
    before = set(sys.modules)
    assert modules.look().candidates == ()
    assert set(sys.modules) == before
    assert f"{package_of(str(plugins.root))}.echo" not in before


def test_a_directory_without_modules_is_told(plugins: Site) -> None:
    empty, absent = Modules(str(plugins.root)), Modules(str(plugins.root / "absent"))
    assert lines(empty.look()) == ["plugins: ST706 there is no tool in the directory"]
    assert lines(absent.look()) == [
        "plugins/absent: ST701 the directory can't be listed: No such file or directory"
    ]


def test_what_can_not_be_read_as_a_module_is_told(plugins: Site) -> None:
    (plugins.root / "folder.py").mkdir()
    (plugins.root / "latin.py").write_bytes(b"x = '\xe9'\n")
    plugins.write("text.py", 'compile("(", "elsewhere.py", "exec")\n')
    told = lines(Modules(str(plugins.root)).look())
    assert [each.partition(": ST701 ")[0] for each in told] == [
        "plugins/folder.py:1:1",
        "plugins/latin.py:1:8",
        "plugins/text.py:1:1",
    ]


def test_a_library_with_a_syntax_error_is_the_place(site: Site, plugins: Site) -> None:
    site.write("library.py", "\n  x = 1\n")
    plugins.write("echo.py", "import library\n")
    (told,) = lines(Modules(str(plugins.root)).look())
    words = "the module can't be imported: IndentationError: unexpected indent"
    assert told == f"site/library.py:2:2: ST701 {words}"


def test_a_module_with_a_dot_in_its_name_is_told(plugins: Site) -> None:
    plugins.write("a.b.py", decorated("never", 1))
    words = "there is no tool in a file with a dot in its name"
    assert lines(Modules(str(plugins.root)).look()) == [f"plugins/a.b.py:1:1: ST706 {words}"]


def test_modules_of_a_directory_may_import_one_another(plugins: Site) -> None:
    plugins.write("first.py", "from . import second\nfrom ._help import NUMBER\n" + TWICE)
    plugins.write("second.py", decorated("other", 2))
    plugins.write("_help/__init__.py", "NUMBER = 3\n")
    modules = Modules(str(plugins.root))
    assert answers(modules.look()) == {"twice": [3, 2], "other": 2}
    assert modules.look() == modules.look()


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
    before = {each.location: each for each in modules.look().candidates}
    plugins.write("second.py", "1 / 0\n")
    for _ in range(2):
        sight = modules.look()
        assert [line.partition(":")[0] for line in lines(sight)] == ["plugins/second.py"] * 2
        assert sight.candidates == ()
        (name,) = {sys.modules[each.rpartition(".")[0]].__package__ for each in before}
        assert vars(sys.modules[str(name)])["second"].other() == 2
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


def test_a_module_that_answers_for_any_name_is_looked_at_alone(plugins: Site) -> None:
    source = 'OPTIONS = {"colour": "red"}\n\n\ndef __getattr__(name):\n    return OPTIONS'
    plugins.write("gentle.py", decorated("gentle", 1) + f"\n\n{source}.get(name)\n")
    plugins.write("strict.py", decorated("strict", 2) + f"\n\n{source}[name]\n")
    before = set(sys.modules)
    sight = Modules(str(plugins.root)).look()
    assert (answers(sight), lines(sight)) == ({"gentle": 1, "strict": 2}, [])
    assert {name.partition(".")[0] for name in set(sys.modules) - before} <= {PLUGIN_ROOT}


def test_what_a_plugin_defines_can_be_pickled(plugins: Site) -> None:
    plugins.write("shapes.py", decorated("echo", 1) + "\n\nclass Square:\n    side = 2\n")
    (candidate,) = Modules(str(plugins.root)).look().candidates
    square = vars(sys.modules[candidate.location.rpartition(".")[0]])["Square"]()
    assert pickle.loads(pickle.dumps(square)).side == 2


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
