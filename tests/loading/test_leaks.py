"""A tool's helpers are its own, whatever it does to ``sys.path`` and ``sys.modules``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sovl_tools import ToolRegistry
from tests.conftest import Write
from tests.loading.folders import gives
from tests.tables import check_each

HEAD = """
import os, site, sys
from pathlib import Path
HERE = os.path.dirname(os.path.abspath(__file__))
"""
WAYS = {
    "insert": "sys.path.insert(0, HERE)\nimport utils",
    "append": "sys.path.append(HERE)\nfrom utils import WORD",
    "a path": "sys.path.insert(0, str(Path(__file__).parent))\nimport utils",
    "site": "site.addsitedir(HERE)\nimport utils",
    "guarded": "sys.path.append(HERE)\ntry:\n    import utils\nexcept ImportError:\n    pass",
    "the directory": "sys.path.insert(0, os.path.dirname(HERE))\nimport echo.utils",
    "another tool": "sys.path.insert(0, os.path.dirname(HERE))\nimport other.utils",
    "import_module": "import importlib\nsys.path.insert(0, HERE)\nimportlib.import_module('utils')",
    "a current directory": "sys.path.insert(0, '')\nos.chdir(HERE)\nimport utils",
    "late": "sys.path.insert(0, HERE)\n\n\ndef later():\n    import utils",
    "sys.modules": """
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("utils", f"{HERE}/utils.py")
utils = sys.modules["utils"] = module_from_spec(spec)
spec.loader.exec_module(utils)
""",
}


@pytest.fixture(autouse=True)
def _here() -> Iterator[None]:
    here = os.getcwd()
    yield
    os.chdir(here)


@check_each("way", WAYS)
def test_no_tool_shares_its_helpers_by_accident(way: str, write: Write, tmp_path: Path) -> None:
    path, modules = sys.path[:], set(sys.modules)
    write("echo", code=gives("1", head=HEAD + WAYS[way]), utils="WORD = 1\n")
    write("other", utils="WORD = 2\n")
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    assert {each.code for each in registry.report.diagnostics} == {"ST507"}
    (found,) = registry.report.diagnostics
    assert found.help is not None
    assert ("_shared" if way == "another tool" else "from . import") in found.help
    assert [each for each in sys.path if each not in path and str(tmp_path) in each] == []
    assert not {"utils", "echo", "other"} & (set(sys.modules) - modules)


def test_a_helper_hides_no_library_from_others(write: Write, tmp_path: Path) -> None:
    sys.modules.pop("this_library_of_echo", None)
    write("echo", code=gives("1", head=f"{HEAD}sys.path.insert(0, HERE)\nimport statistics"))
    (tmp_path / "tools" / "echo" / "statistics.py").write_text("mean = None\n")
    before = sys.modules.pop("statistics", None)
    try:
        write(
            "other", code=gives("statistics.mean([1, 3])", name="other", head="import statistics")
        )
        registry = ToolRegistry.from_directory(tmp_path / "tools")
        assert [each.code for each in registry.report.errors] == ["ST507"]
        assert registry["other"].execute(text="") == 2
    finally:
        if before is not None:
            sys.modules["statistics"] = before


def test_what_is_elsewhere_stays(write: Write, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "library_of_this_test.py").write_text("WORD = 5\n")
    lines = ["import sys", f"sys.path.append({str(tmp_path / 'lib')!r})"]
    head = "\n".join([*lines, "import library_of_this_test as lib"])
    write("echo", code=gives("lib.WORD", head=head))
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    try:
        assert not registry.report.errors
        assert registry["echo"].execute(text="") == 5
        assert str(tmp_path / "lib") in sys.path
    finally:
        sys.path.remove(str(tmp_path / "lib"))
        del sys.modules["library_of_this_test"]
