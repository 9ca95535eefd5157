"""Which tool of several sources is the one of its name, and what a reload makes of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from sovl_tools import (
    Tooler,
    ToolRegistry,
)
from tests.loading.folders import answer, answers
from tests.loading.plugins import GROUP, World, classed, codes, decorated, importable

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
        assert codes(registry.report.errors) == ["ST801"]
        assert not registry.reload()
    (found,) = registry.report.errors
    first, later = (each for each in registry.catalog.candidates)
    assert found.path.startswith(later.path)
    assert f" in {first.path}" in found.message
    if "hand" in kinds:
        registry.unregister("echo")
        other = kinds[1 - kinds.index("hand")]
        assert answers(registry.catalog) == {"echo": other}
        assert registry.report.errors == ()


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


@pytest.mark.parametrize(
    "source", ["def (", "raise OSError('boom')", "import sys\nsys.exit()", classed("other")[:-30]]
)
def test_a_module_that_breaks_keeps_its_tools_serving(world: World, source: str) -> None:
    world.module(1, "echo")
    registry = ToolRegistry()
    registry.load_modules(world.plugins)
    (world.plugins / "echo.py").write_text(source)
    change = registry.reload()
    assert (change.rejected, codes(registry.report.errors)) == (("echo",), ["ST701"])
    assert answers(registry.catalog) == {"echo": 1}
    assert not registry.reload()
    assert Tooler(registry).call_sync("echo", {"text": ""}).value == 1
    world.module(2, "echo")
    assert registry.reload().updated == ("echo",)
    assert (answers(registry.catalog), registry.report.errors) == ({"echo": 2}, ())


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
    assert [each.partition(": ST701")[0] for each in map(str, registry.report.errors)] == [
        "absent_module:tool",
        "nothing_of_the_kind",
        "nowhere",
        "plugins/broken.py:1:1",
        "site/half/two.py:2:1",
    ]
    assert not registry.reload()
