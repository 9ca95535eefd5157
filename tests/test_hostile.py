"""Folders that a checkout can't hold, or that bite: each is told about, and none hurts another."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sovl_tools import Tooler, ToolRegistry
from tests.conftest import Write, code_of, manifest_of
from tests.patience import PATIENCE, bounded_work

HEALTHY = "zz_healthy"
Make = Callable[[Path], None]


def _manifest(content: str | bytes) -> Make:
    def make(folder: Path) -> None:
        data = content.encode() if isinstance(content, str) else content
        (folder / "odd.json").write_bytes(data)
        (folder / "odd.py").write_text(code_of("odd"))

    return make


def _keys(**keys: object) -> Make:
    return _manifest(json.dumps(manifest_of("odd", **keys)))


def _module(code: str | bytes) -> Make:
    def make(folder: Path) -> None:
        (folder / "odd.json").write_text(json.dumps(manifest_of("odd")))
        (folder / "odd.py").write_bytes(code.encode() if isinstance(code, str) else code)

    return make


def _fifo(name: str) -> Make:
    def make(folder: Path) -> None:
        _module(code_of("odd"))(folder)
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return make


def _link(name: str, target: str) -> Make:
    def make(folder: Path) -> None:
        _module(code_of("odd"))(folder)
        (folder / name).unlink()
        (folder / name).symlink_to(target)

    return make


def _properties(**properties: object) -> Make:
    parameters = {"type": "object", "properties": properties}
    manifest = json.dumps(manifest_of("odd", parameters=parameters))

    def make(folder: Path) -> None:
        (folder / "odd.json").write_text(manifest)
        (folder / "odd.py").write_text("def odd(**given):\n    return given\n")

    return make


TEXT = {"type": "string", "description": "x"}
GOOD = code_of("odd")

CASES: dict[str, tuple[Make, str]] = {
    "a FIFO instead of the manifest": (_fifo("odd.json"), "ST104"),
    "an endless device instead of the module": (_link("odd.py", "/dev/zero"), "ST104"),
    "a manifest that links to itself": (_link("odd.json", "odd.json"), "ST104"),
    "a description of 50 MB": (_keys(description="x" * 50_000_000), "ST104"),
    "a module of 50 MB": (_module("#" * 50_000_000), "ST104"),
    "100,000 lists within each other": (_manifest("[" * 100_000 + "]" * 100_000), "ST207"),
    "control characters in the description": (
        _keys(description="a\x1b[31m\x07b\u202e"),
        "ST217",
    ),
    "two definitions that refer to each other": (
        _keys(
            parameters={
                "type": "object",
                "properties": {"text": TEXT, "a": {"$ref": "#/$defs/a", "description": "x"}},
                "required": ["text"],
                "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
            }
        ),
        "ST404",
    ),
    "5,000 definitions in a row": (
        _keys(
            parameters={
                "type": "object",
                "properties": {"text": {"$ref": "#/$defs/d0", "description": "x"}},
                "required": ["text"],
                "$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(5000)},
            }
        ),
        "ST314",
    ),
    "a pattern that backtracks for ever": (
        _properties(a={**TEXT, "pattern": "(a+)+$", "default": "a" * 50 + "!"}),
        "ST310",
    ),
    "a property whose schema is a number": (_properties(a=5), "ST301"),
    "an unknown encoding of the module": (_module("# coding: klingon\n" + GOOD), "ST502"),
    "an expression too deep to compile": (_module("x = " + "-" * 100_000 + "1\n" + GOOD), "ST50"),
    "quit()": (_module("import sys\n\nsys.exit('bye')\n"), "ST503"),
}


@pytest.fixture
def tools(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(HEALTHY)
    (tmp_path / "tools" / "odd").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tools"


@pytest.mark.parametrize("name", CASES)
def test_an_odd_folder_is_told_about_and_hurts_no_other(name: str, tools: Path) -> None:
    make, code = CASES[name]
    make(tools / "odd")
    with bounded_work():
        registry = ToolRegistry.from_directory("tools", import_timeout=PATIENCE)
    # a definition of many words takes many tokens, whatever else is odd
    odd = [each for each in registry.report.diagnostics if each.tool == "odd"]
    found = [each for each in odd if each.code != "ST807"]
    assert all(each.code.startswith(code) for each in found), found
    assert bool(found) == bool(code), found
    assert all(len(each.message) < 1000 for each in found)
    assert Tooler(registry).call_sync(HEALTHY, {"text": "well"}).value == "well"
    if not found:
        assert registry["odd"].name == "odd"
