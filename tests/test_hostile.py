"""Folders that a checkout can't hold, or that bite: each is told about, and none hurts another."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sovl_tools import Diagnostic, Tooler, ToolRegistry
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
    "a module that links to a folder": (_link("odd.py", "."), "ST104"),
    "a description of 50 MB": (_keys(description="x" * 50_000_000), "ST104"),
    "a module of 50 MB": (_module("#" * 50_000_000), "ST104"),
    "100,000 lists within each other": (_manifest("[" * 100_000 + "]" * 100_000), "ST207"),
    "nothing but zero bytes": (_manifest(b"\0" * 1000), "ST201"),
    "a number that isn't an object": (_manifest("5"), "ST208"),
    "control characters in the description": (
        _keys(description="a\x1b[31m\x07b\u202e"),
        "ST217",
    ),
    "a name of a million letters": (
        _manifest(json.dumps(manifest_of("x" * 1_000_000))),
        "ST",
    ),
    "a property with a space": (_properties(**{"a b": TEXT}), ""),
    "3,000 properties": (_properties(**{f"p{i}": TEXT for i in range(3000)}), ""),
    "a schema that refers to itself": (_properties(a={"$ref": "#", "description": "x"}), ""),
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
    "a pattern too large to compile": (
        _properties(a={**TEXT, "pattern": "(a{1,1000}){1,1000}"}),
        "ST303",
    ),
    "a property whose schema is a number": (_properties(a=5), "ST301"),
    "properties that are a list": (
        _keys(parameters={"type": "object", "properties": []}),
        "ST301",
    ),
    "zero bytes in the module": (_module(b"x = 1\n\0\n" + GOOD.encode()), "ST50"),
    "an unknown encoding of the module": (_module("# coding: klingon\n" + GOOD), "ST502"),
    "bytes that are not UTF-8 in the module": (_module(b"x = '\xff'\n" + GOOD.encode()), "ST502"),
    "a byte order mark in the module": (_module(b"\xef\xbb\xbf" + GOOD.encode()), ""),
    "an expression too deep to compile": (_module("x = " + "-" * 100_000 + "1\n" + GOOD), "ST50"),
    "an exception that can't be shown": (
        _module(
            "class Bad(Exception):\n"
            "    def __str__(self):\n        raise RuntimeError\n\n\nraise Bad\n"
        ),
        "ST501",
    ),
    "its own exception that ends programs": (
        _module("class Odd(BaseException):\n    pass\n\n\nraise Odd('x')\n"),
        "ST503",
    ),
    "quit()": (_module("import sys\n\nsys.exit('bye')\n"), "ST503"),
    "recursion without end": (_module("def f():\n    f()\n\n\nf()\n"), "ST501"),
    "annotations that can't be hashed": (
        _module("def odd(text: {'a': []}) -> [1]:\n    return text\n"),
        "",
    ),
    "an annotation in broken Python": (
        _module("def odd(text: 'not a ( type'):\n    return text\n"),
        "ST415",
    ),
    "a registration that fails": (
        _module("def register_step_handlers(handlers):\n    handlers['a'] = 1 / 0\n\n\n" + GOOD),
        "ST501",
    ),
    "5,000 equal keys": (
        _manifest('{"name": "odd"' + ', "name": "odd"' * 5_000 + "}"),
        "ST205",
    ),
    "a folder that imports the product": (
        _module("import sovl_tools\n\nsovl_tools.ToolRegistry()\n\n\n" + GOOD),
        "",
    ),
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


def only(registry: ToolRegistry) -> Diagnostic:
    (diagnostic,) = registry.report.diagnostics
    return diagnostic


def test_an_endless_loop_is_rejected_at_its_line(tools: Path) -> None:
    _module("x = 0\nwhile True:\n    x += 1\n")(tools / "odd")
    registry = ToolRegistry.from_directory("tools", import_timeout=1.0)
    diagnostic = only(registry)
    assert diagnostic.code == "ST504"
    assert (diagnostic.path, diagnostic.line in {2, 3}) == ("tools/odd/odd.py", True)
    assert Tooler(registry).call_sync(HEALTHY, {"text": "well"}).ok


USER = (
    "import signal, threading\n\n"
    "signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)\n"
)
"""Sends what the terminal sends when a user presses Ctrl-C."""


def test_a_user_interrupts_the_import_of_a_tool(tools: Path) -> None:
    _module(USER)(tools / "odd")
    with pytest.raises(KeyboardInterrupt):
        ToolRegistry.from_directory("tools")


def test_a_missing_directory_is_a_diagnostic_and_stops_no_other(tools: Path) -> None:
    (tools / "odd").rmdir()
    registry = ToolRegistry.from_directory("nowhere", tools)
    assert only(registry).code == "ST101"
    assert only(registry).path == "nowhere"
    assert HEALTHY in registry


def test_an_empty_directory_is_a_warning(tools: Path) -> None:
    (tools / "odd").rmdir()
    (tools / "_none").mkdir()
    registry = ToolRegistry.from_directory(tools / "_none")
    assert (only(registry).code, only(registry).severity) == ("ST106", "warning")


def test_the_first_of_two_folders_of_one_name_stays(tools: Path, tmp_path: Path) -> None:
    (tools / "odd").rmdir()
    other = tmp_path / "more" / HEALTHY
    other.mkdir(parents=True)
    (other / f"{HEALTHY}.json").write_text(json.dumps(manifest_of(HEALTHY)))
    (other / f"{HEALTHY}.py").write_text(code_of(HEALTHY).replace("return text", "return 'other'"))
    registry = ToolRegistry.from_directory("tools", "more")
    assert only(registry).code == "ST801"
    assert only(registry).path == f"more/{HEALTHY}/{HEALTHY}.json"
    assert f"tools/{HEALTHY}" in only(registry).message
    assert Tooler(registry).call_sync(HEALTHY, {"text": "first"}).value == "first"


def test_a_hundred_warnings_hide_no_error(tools: Path, write: Write) -> None:
    properties: dict[str, object] = {f"p{number}": {"type": "string"} for number in range(150)}
    properties["last"] = {"type": "string", "description": "It.", "pattern": "("}
    manifest = manifest_of("odd", parameters={"type": "object", "properties": properties})
    write("odd", manifest, "def odd(**keywords: str) -> None: ...\n")
    found = [each for each in ToolRegistry.from_directory("tools").report.diagnostics if each.tool]
    assert [each.code for each in found if each.severity == "error"] == ["ST303"]
    told = [each.message for each in found if each.code == "ST306"]
    assert len(told) == 101
    assert told[-1].startswith("and more from here on")


def test_plain_files_and_hidden_folders_are_no_tools(tools: Path) -> None:
    (tools / "odd").rmdir()
    for name in ("_draft", ".git", "__pycache__"):
        (tools / name).mkdir()
    (tools / "README.md").write_text("hello")
    (tools / "__init__.py").write_text("raise RuntimeError")
    registry = ToolRegistry.from_directory(tools)
    assert not registry.report.diagnostics
    assert [tool.name for tool in registry] == [HEALTHY]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_manifest_that_may_not_be_read_is_told_about(tools: Path) -> None:
    _module(GOOD)(tools / "odd")
    (tools / "odd" / "odd.json").chmod(0)
    assert only(ToolRegistry.from_directory("tools")).code == "ST104"


@pytest.mark.parametrize("annotation", ["Hidden", "'1/0'", "'['", "'exit()'"])
def test_a_tool_with_an_annotation_that_nobody_can_read_takes_what_its_schema_says(
    annotation: str, tools: Path, write: Write
) -> None:
    code = (
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n\n"
        "if TYPE_CHECKING:\n    from nowhere import Hidden\n\n\n"
        f"def odd(text: {annotation}):\n    return [text]\n"
    )
    manifest = manifest_of("odd")
    manifest["parameters"]["required"] = []
    write("odd", manifest, code)
    registry = ToolRegistry.from_directory(tools)
    assert [each for each in registry.report.diagnostics if each.severity == "error"] == []
    assert Tooler(registry).call_sync("odd").value == [None]
    assert Tooler(registry).call_sync("odd", {"text": "a"}).value == ["a"]


def test_a_path_with_a_nul_is_no_directory() -> None:
    registry = ToolRegistry.from_directory("a\0b")
    registry.load_modules("c\0d")
    assert [each.code for each in registry.report.errors] == ["ST101", "ST701"]
    assert not registry.reload()


def test_loading_leaves_the_module_path_alone(tools: Path) -> None:
    _module(GOOD)(tools / "odd")
    before = list(sys.path)
    ToolRegistry.from_directory("tools")
    assert sys.path == before
