"""The tools' own module system: nothing is shadowed, nothing leaks, everything works."""

from __future__ import annotations

import calendar
import email
import inspect
import json
import pickle
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

import click
import pytest

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.loading.importer import compiled
from tests.conftest import REPOSITORY, Write, code_of


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return tmp_path / "tools"


def test_tools_named_like_libraries_shadow_none(write: Write, tools: Path) -> None:
    libraries = {"json": json, "email": email, "calendar": calendar, "click": click}
    for name in libraries:
        write(
            name,
            code=f"import {name} as library\n\n\n"
            + code_of(name).replace("return text", "return library.__name__"),
        )
    tooler = Tooler(ToolRegistry.from_directory(tools))
    for name, library in libraries.items():
        assert tooler.call_sync(name, {"text": "x"}).value == name
        assert import_module(name) is library


def test_each_tool_has_its_own_helpers(write: Write, tools: Path) -> None:
    for name in ("first", "second"):
        code = (
            f"from . import helpers\n\n\ndef {name}(text: str):\n    return helpers.WORD + text\n"
        )
        write(name, code=code, helpers=f"WORD = {name!r}\n")
    tooler = Tooler(ToolRegistry.from_directory(tools))
    assert tooler.call_sync("first", {"text": "!"}).value == "first!"
    assert tooler.call_sync("second", {"text": "!"}).value == "second!"


def test_a_helper_may_be_imported_late_and_is_as_old_as_its_tool(write: Write, tools: Path) -> None:
    code = "def echo(text: str):\n    from .deep import part\n\n    return part.WORD\n"
    folder = write("echo", code=code)
    (folder / "deep").mkdir()
    (folder / "deep" / "part.py").write_text("from ..base import WORD\n")
    (folder / "base.py").write_text("WORD = 'old'\n")
    tooler = Tooler(ToolRegistry.from_directory(tools))
    (folder / "base.py").write_text("WORD = 'new'\n")
    assert tooler.call_sync("echo", {"text": ""}).value == "old"


def test_packages_and_modules_of_a_folder_import_one_another(write: Write, tools: Path) -> None:
    code = "from .parts import WORD\nfrom . import echo as itself\n\n\n"
    code += "def echo(text: str):\n    return WORD, itself.__name__ == __name__, __package__\n"
    folder = write("echo", code=code)
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").write_text("from .inner import WORD\n")
    (folder / "parts" / "inner.py").write_text("WORD = 'inner'\n")
    registry = ToolRegistry.from_directory(tools)
    assert not registry.report.diagnostics
    word, is_itself, package = Tooler(registry).call_sync("echo", {"text": ""}).value
    assert (word, is_itself) == ("inner", True)
    assert package.startswith("sovl_tool_modules.")


CLASSES = """
from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: "int"


def echo(text: str) -> Point:
    return Point(1, 2)
"""

READ_BACK = """
import pickle, sys
from sovl_tools import ToolRegistry
ToolRegistry.from_directory(sys.argv[1])
print(pickle.loads(bytes.fromhex(sys.argv[2])))
"""


@pytest.mark.parametrize("place", ["alone", "next to a copy"])
def test_values_of_a_tools_classes_are_pickled_and_read_back_elsewhere(
    place: str, write: Write, tools: Path, tmp_path: Path
) -> None:
    write("echo", code=CLASSES)
    shutil.copytree(tools, tmp_path / "copy")
    if place == "next to a copy":
        ToolRegistry.from_directory(tmp_path / "copy")
    value = ToolRegistry.from_directory(tools)["echo"].execute(text="")
    data = pickle.dumps(value)
    assert pickle.loads(data) == value
    command = [sys.executable, "-c", READ_BACK, str(tools), data.hex()]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(REPOSITORY)}
    )
    assert done.stdout == "Point(x=1, y=2)\n"


def test_the_source_of_a_tool_can_be_looked_at(write: Write, tools: Path) -> None:
    write("echo", code=CLASSES)
    tool = ToolRegistry.from_directory(tools)["echo"]
    module = inspect.getmodule(tool.function)
    assert module is not None
    assert inspect.getsource(tool.function).startswith("def echo(text: str) -> Point:")
    assert "x: int" in inspect.getsource(module.Point)
    assert module.__loader__.get_source(module.__name__) == CLASSES  # type: ignore[union-attr]  # ours
    assert module.__file__ == str(tools / "echo" / "echo.py")


def test_a_traceback_shows_the_tools_own_line(write: Write, tools: Path) -> None:
    write("echo", code="def echo(text: str):\n    raise ValueError(text)\n")
    tool = ToolRegistry.from_directory(tools)["echo"]
    with pytest.raises(ValueError, match="x") as caught:
        tool.execute(text="x")
    assert caught.traceback[-1].path == tools / "echo" / "echo.py"
    assert caught.traceback[-1].lineno == 1


def test_a_copy_of_a_folder_is_a_module_of_its_own(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    write("echo", code="def echo(text: str):\n    return __file__\n")
    shutil.copytree(tools, tmp_path / "copy")
    for place in (tools, tmp_path / "copy"):
        tooler = Tooler(ToolRegistry.from_directory(place))
        assert tooler.call_sync("echo", {"text": ""}).value == str(place / "echo" / "echo.py")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "module.py"
    path.write_text("WORD = 1\n")
    return path


def test_code_is_kept_beside_its_source(source: Path) -> None:
    code = compiled(str(source), source.read_bytes())
    kept = Path(cache_from_source(str(source)))
    data = kept.read_bytes()
    assert data[:8] == MAGIC_NUMBER + b"\3\0\0\0"
    stamp = kept.stat().st_mtime_ns
    assert compiled(str(source), source.read_bytes()) == code
    assert kept.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("damage", [b"", b"x" * 200, b"truncated"])
def test_code_that_is_damaged_is_made_anew(damage: bytes, source: Path) -> None:
    code = compiled(str(source), source.read_bytes())
    kept = Path(cache_from_source(str(source)))
    kept.write_bytes(kept.read_bytes()[:16] + damage)
    assert compiled(str(source), source.read_bytes()) == code
    kept.unlink()
    kept.mkdir()
    assert compiled(str(source), source.read_bytes()) == code


def test_code_that_was_moved_is_compiled_for_its_new_place(source: Path, tmp_path: Path) -> None:
    compiled(str(source), source.read_bytes())
    moved = tmp_path / "moved"
    moved.mkdir()
    shutil.copytree(tmp_path / "__pycache__", moved / "__pycache__")
    shutil.copy(source, moved)
    path = str(moved / "module.py")
    assert compiled(path, source.read_bytes()).co_filename == path
