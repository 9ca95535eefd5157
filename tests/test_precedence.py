"""Which tool of several sources is the one of its name, and what a reload makes of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from sovl_tools import (
    Tooler,
    ToolRegistry,
)
from tests.conftest import Write
from tests.loading.folders import News, answer, answers
from tests.loading.plugins import GROUP, World, classed, codes, decorated, importable, told

RANKS = {"hand": 0, "folder": 1, "entry": 2, "package": 2, "shelf": 2, "modules": 3}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.chdir(tmp_path)
    with importable(tmp_path / "site") as site:
        yield World(site, tmp_path)


@pytest.mark.parametrize("kinds", [*permutations(RANKS, 2)], ids="-".join)
def test_of_two_sources_the_higher_one_wins_in_any_order_and_stays(
    world: World, kinds: tuple[str, str]
) -> None:
    registry = world.registry(kinds)
    winner = min(kinds, key=lambda kind: RANKS[kind])
    for _ in range(2):
        assert answers(registry.catalog) == {"echo": winner}
        assert codes(registry.report.diagnostics) == ["ST801"]
        assert not registry.reload()
    (found,) = registry.report.diagnostics
    first, later = (each for each in registry.catalog.candidates)
    assert found.path.startswith(later.path)
    assert f" in {first.path}" in found.message
    if "hand" in kinds:
        registry.unregister("echo")
        other = kinds[1 - kinds.index("hand")]
        assert answers(registry.catalog) == {"echo": other}
        assert registry.report.diagnostics == ()


def test_of_all_sources_one_after_the_other_wins(world: World) -> None:
    registry = world.registry(("modules", "entry", "shelf", "package", "folder", "hand"))
    assert answer(registry.catalog.tools) == "hand"
    registry.unregister("echo")
    assert answer(registry.catalog.tools) == "folder"
    shutil.rmtree(world.tools)
    registry.reload()
    assert answer(registry.catalog.tools) == "entry"
    shutil.rmtree(world.site.root / "by_entry-1.0.dist-info")
    registry.reload()
    assert answer(registry.catalog.tools) == "shelf"
    shutil.rmtree(world.site.root / "by_shelf" / "echo")
    registry.reload()
    assert answer(registry.catalog.tools) == "package"


def test_precedence_holds_while_the_registry_is_watching(world: World) -> None:
    registry = world.registry(("hand", "folder", "modules"))
    world.folder("one", "other")
    news = News(registry)
    with registry.watch():
        news.until({"echo": "hand", "other": "one"})
        world.folder("two", "other")
        news.until({"echo": "hand", "other": "two"})
        world.folder("better")
        registry.unregister("echo")
        news.until({"echo": "better", "other": "two"})
        shutil.rmtree(world.tools / "echo")
        news.until({"echo": "modules", "other": "two"})
        registry.register(world.hand)
        news.until({"echo": "hand", "other": "two"})


def test_a_directory_of_modules_is_walked_again_at_every_reload(world: World) -> None:
    file = world.module(1, "echo")
    world.module(1, "gone")
    registry = ToolRegistry()
    assert registry.load_modules("plugins").added == ("echo", "gone")
    stat = file.stat()
    world.module(2, "echo")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert file.stat().st_size == stat.st_size
    (world.plugins / "gone.py").unlink()
    (world.plugins / "fresh.py").write_text(classed("fresh", 3))
    change = registry.reload()
    assert change[:4] == (("fresh",), ("echo",), ("gone",), ())
    assert answers(registry.catalog) == {"echo": 2, "fresh": 3}
    assert not registry.reload()


def test_the_directory_is_the_one_of_the_first_call(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.module()
    registry = ToolRegistry()
    registry.load_modules("plugins")
    monkeypatch.chdir("/")
    world.module("again")
    assert registry.reload().updated == ("echo",)
    assert answer(registry.catalog.tools) == "again"


@pytest.mark.parametrize(
    "source", ["def (", "raise OSError('boom')", "import sys\nsys.exit()", classed("other")[:-30]]
)
def test_a_module_that_breaks_keeps_its_tools_serving(world: World, source: str) -> None:
    world.module(1, "echo")
    registry = ToolRegistry()
    registry.load_modules(world.plugins)
    (world.plugins / "echo.py").write_text(source)
    change = registry.reload()
    assert (change.rejected, codes(change.diagnostics)) == (("echo",), ["ST701"])
    assert told(registry) == [str(each) for each in change.diagnostics]
    assert answers(registry.catalog) == {"echo": 1}
    assert not registry.reload()
    assert Tooler(registry).call_sync("echo", {"text": ""}).value == 1
    world.module(2, "echo")
    assert registry.reload().updated == ("echo",)
    assert (answers(registry.catalog), told(registry)) == ({"echo": 2}, [])


def test_the_state_of_a_class_outlives_a_reload_that_does_not_concern_it(world: World) -> None:
    world.plugins.mkdir()
    source = classed("count").replace(
        "return ''", "self.n = vars(self).get('n', 0) + 1\n        return self.n"
    )
    (world.plugins / "count.py").write_text(source)
    registry = ToolRegistry()
    registry.load_modules(world.plugins)
    assert answer(registry.catalog.tools, "count") == 1
    world.module()
    assert registry.reload()[:4] == (("echo",), (), (), ())
    assert answer(registry.catalog.tools, "count") == 2


def test_distributions_that_come_and_go_are_noticed_at_a_reload(world: World) -> None:
    registry = ToolRegistry()
    assert not registry.load_entry_points(GROUP)
    world.site.write("newly.py", decorated("fresh", 1))
    world.site.install("newly", GROUP, fresh="newly:fresh")
    assert registry.reload().added == ("fresh",)
    shutil.rmtree(world.site.root / "newly-1.0.dist-info")
    assert registry.reload().removed == ("fresh",)


def test_a_group_a_package_and_a_directory_may_have_one_name(world: World) -> None:
    world.site.write("of_one_name.py", decorated("of_package", 1))
    world.site.write("by_entry.py", decorated("of_entry", 2))
    world.site.install("by_entry", "of_one_name", a="by_entry:of_entry")
    registry = ToolRegistry()
    registry.load_package("of_one_name")
    registry.load_entry_points("of_one_name")
    registry.reload()
    assert answers(registry.catalog) == {"of_package": 1, "of_entry": 2}


def test_one_broken_source_stops_no_other_and_each_failure_is_told(world: World) -> None:
    world.module(1, "good")
    (world.plugins / "broken.py").write_text("raise OSError('boom')\n")
    world.site.write("half/one.py", decorated("one", 1))
    world.site.write("half/two.py", "import sys\nsys.exit(2)\n")
    world.site.install("broken", GROUP, a="absent_module:tool")
    registry = ToolRegistry()
    registry.load_modules("plugins")
    registry.load_modules("nowhere")
    registry.load_package("half")
    registry.load_package_folders("nothing_of_the_kind")
    registry.load_entry_points(GROUP)
    assert answers(registry.catalog) == {"good": 1, "one": 1}
    assert [each.partition(": ST701")[0] for each in told(registry)] == [
        "absent_module:tool",
        "nothing_of_the_kind",
        "nowhere",
        "plugins/broken.py:1:1",
        "site/half/two.py:2:1",
    ]
    assert not registry.reload()


def test_broken_plugins_do_not_disturb_the_reload_of_libraries(world: World, write: Write) -> None:
    library = world.site.write("a_library.py", "WORD = 1\n")
    world.folder(name="user").joinpath("user.py").write_text(
        "import a_library\n\n\ndef user(text: str) -> object:\n    return a_library.WORD\n"
    )
    world.plugins.mkdir()
    (world.plugins / "bad.py").write_text(classed("bad").replace("name = 'bad'", "name = 'a b'"))
    registry = ToolRegistry.from_directory(world.tools)
    registry.load_modules(world.plugins)
    news = News(registry)
    with registry.watch(libraries=[library]):
        library.write_text("WORD = 2\n")
        news.until({"user": 2})
    assert [each.status for each in registry.catalog.candidates] == ["loaded", "rejected"]
    shutil.rmtree(world.tools / "user")
    registry.reload()
    library.write_text("WORD = 3\n")
    assert not registry._get_reloader().follow({str(library)}, since=0)
