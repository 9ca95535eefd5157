"""Tools of a directory share modules in folders whose names begin with ``_``."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from sovl_tools import Tooler, ToolRegistry
from tests.conftest import Run, Write
from tests.loading.folders import News, answer, answers, gives
from tests.tables import check_each

COUNT = gives("state.count()", head="from .._shared import state")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Return the folder of a module that counts its calls."""
    folder = tmp_path / "tools" / "_shared"
    folder.mkdir(parents=True)
    (folder / "state.py").write_text("CALLS = []\n\n\ndef count():\n    CALLS.append(1)\n")
    with (folder / "state.py").open("a") as file:
        file.write("    return len(CALLS)\n")
    return folder


@check_each(
    "head",
    [
        "from .._shared import state",
        "from .. import _shared\nfrom .._shared import state",
        "from .._shared.state import CALLS\nfrom ..\\\n_shared import state",
        "from .._shared.inner.deep import state",
        "import importlib\nstate = importlib.import_module('.._shared.state', __package__)",
        "from .helpers import state",
        "from .._single import state",
    ],
)
def test_each_way_of_importing_shared_modules(head: str, write: Write, shared: Path) -> None:
    (shared / "inner").mkdir(exist_ok=True)
    (shared / "inner" / "deep.py").write_text("from .. import state\n")
    (shared.parent / "_single.py").write_text("from ._shared import state\n")
    write("echo", code=gives("state.count()", head=head), helpers="from .._shared import state\n")
    registry = ToolRegistry.from_directory(shared.parent)
    assert not registry.report.diagnostics
    assert answer(registry.catalog.tools) >= 1


def test_the_tools_of_a_directory_share_one_module(write: Write, shared: Path) -> None:
    (shared.parent / "_other.py").write_text("")
    write("echo", code=COUNT)
    write("other", code=COUNT.replace("def echo", "def other") + "\n\nfrom .. import _other\n")
    registry = ToolRegistry.from_directory(shared.parent)
    assert answers(registry.catalog) == {"echo": 1, "other": 2}


def test_two_directories_share_nothing(write: Write, shared: Path, tmp_path: Path) -> None:
    write("echo", code=COUNT)
    copy = tmp_path / "copy"
    (copy / "_shared").mkdir(parents=True)
    (copy / "_shared" / "state.py").write_text((shared / "state.py").read_text())
    (copy / "other").mkdir()
    for name in ("echo.json", "echo.py"):
        text = (shared.parent / "echo" / name).read_text().replace("echo", "other")
        (copy / "other" / name.replace("echo", "other")).write_text(text)
    registry = ToolRegistry.from_directory(shared.parent, copy)
    assert answers(registry.catalog) == {"echo": 1, "other": 1}


def test_an_edit_of_a_shared_module_reloads_its_users(write: Write, shared: Path) -> None:
    write("echo", code=COUNT)
    write("plain", code=gives("None", name="plain"))
    registry = ToolRegistry.from_directory(shared.parent)
    before = registry["echo"]
    with (shared / "state.py").open("a") as file:
        file.write("\n\nCALLS.extend([1] * 10)\n")
    assert [*registry.reload().updated] == ["echo"]
    assert answer(registry.catalog.tools) == 11
    assert before.execute(text="") == 1  # a call that began before goes on with the old module


@pytest.mark.parametrize("place", ["tools", "tools/echo"], ids=["a directory", "one folder"])
def test_a_watch_follows_shared_modules(
    place: str, write: Write, shared: Path, tmp_path: Path
) -> None:
    write("echo", code=COUNT)
    registry = ToolRegistry.from_directory(tmp_path / place)
    news = News(registry)
    with registry.watch():
        (shared / ".draft").write_text("def count():\n    return 'new'\n")
        (shared / ".draft").replace(shared / "state.py")
        assert [*news.next().updated] == ["echo"]
    assert answer(registry.catalog.tools) == "new"


def test_what_is_missing_is_reported_until_it_is_added(write: Write, tmp_path: Path) -> None:
    write("echo", code=gives("LIMIT", head="from .._shared.limits import LIMIT"))
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    (found,) = registry.report.diagnostics
    assert "there's no module '.._shared'" in found.message
    (tmp_path / "tools" / "_shared").mkdir()
    (tmp_path / "tools" / "_shared" / "limits.py").write_text("LIMIT = 5\n")
    registry.reload()
    assert answer(registry.catalog.tools) == 5


@check_each(
    ("head", "words"),
    [
        ("from ..other import helpers", "'..other' is another tool"),
        ("from ..other.helpers import X", "'..other' is another tool"),
        ("from ..nowhere import X", "'..nowhere' is another tool, or isn't there"),
        ("from .._shared.stat import CALLS", "there's no module '.._shared.stat'"),
        ("from .._share.state import CALLS", "there's no module '.._share"),
    ],
)
def test_both_ways_of_checking_say_what_is_wrong_with_an_import(
    head: str, words: str, write: Write, shared: Path, run: Run
) -> None:
    write("echo", code=gives("1", head=head))
    write("other", code=gives("1", name="other"), helpers="X = 1\n")
    for option in ([], ["--no-import"]):
        found = run("validate", "--format", "concise", *option).out
        assert words in found
        assert "sovl_tool_modules" not in found


def test_a_lock_covers_shared_modules(write: Write, shared: Path, run: Run) -> None:
    write("echo", code=COUNT)
    assert run("lock").code == 0
    assert run("validate", "--locked").code == 0
    with (shared / "state.py").open("a") as file:
        file.write("# another\n")
    assert "ST" in run("validate", "--locked", "--format", "concise").out


def test_a_worker_process_gets_shared_modules(write: Write, shared: Path) -> None:
    write("echo", code=COUNT)
    tooler = Tooler(ToolRegistry.from_directory(shared.parent), mode="process")
    assert tooler.call_sync("echo", {"text": ""}).value == 1


def test_names_and_loggers_stay_the_same_over_edits(write: Write, shared: Path) -> None:
    head = "import logging\nfrom .._shared import state\n\nLOG = logging.getLogger(__name__)"
    write("echo", code=gives("[LOG.name, state.__name__]", head=head))
    registry = ToolRegistry.from_directory(shared.parent)
    before = answer(registry.catalog.tools)
    logger = logging.getLogger(before[0])
    logger.setLevel(logging.ERROR)
    write("echo", code=gives("[LOG.name, state.__name__, LOG.level]", head=head))
    (shared / "more.py").write_text("")
    registry.reload()
    assert answer(registry.catalog.tools) == [*before, logging.ERROR]
    assert before[0].startswith("sovl_tool_modules.")
    assert before[0].endswith(".echo")
    assert sys.modules[before[0]].echo is registry["echo"].function


def test_a_broken_edit_leaves_the_name_to_the_last_good_version(write: Write, shared: Path) -> None:
    write("echo", code=COUNT)
    registry = ToolRegistry.from_directory(shared.parent)
    name = registry["echo"].function.__module__
    module = sys.modules[name]
    write("echo", code=f"{COUNT}\n1 / 0\n")
    registry.reload()
    assert sys.modules[name] is module
