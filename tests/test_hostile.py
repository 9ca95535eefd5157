"""Folders that a checkout can't hold, or that bite: each is told about, and none hurts another."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sovl_tools import Diagnostic, Tooler, ToolRegistry
from tests.conftest import Write, code_of, manifest_of
from tests.patience import PATIENCE, bounded_work, wait_until

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


def _socket(folder: Path) -> None:
    _module(code_of("odd"))(folder)
    (folder / "odd.json").unlink()
    here = Path.cwd()
    os.chdir(folder)  # the path of a socket may have 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("odd.json")
    os.chdir(here)


def _loop(folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to(folder)


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
    "a FIFO instead of the module": (_fifo("odd.py"), "ST104"),
    "an endless device instead of the manifest": (_link("odd.json", "/dev/zero"), "ST104"),
    "an endless device instead of the module": (_link("odd.py", "/dev/zero"), "ST104"),
    "a manifest that links to itself": (_link("odd.json", "odd.json"), "ST104"),
    "a module that links to itself": (_link("odd.py", "odd.py"), "ST104"),
    "a manifest that links to nothing": (_link("odd.json", "nowhere"), "ST104"),
    "a module that links to a folder": (_link("odd.py", "."), "ST104"),
    "a socket instead of the manifest": (_socket, "ST104"),
    "a folder that links to itself": (_loop, "ST104"),
    "a description of 50 MB": (_keys(description="x" * 50_000_000), "ST104"),
    "a module of 50 MB": (_module("#" * 50_000_000), "ST104"),
    "100,000 lists within each other": (_manifest("[" * 100_000 + "]" * 100_000), "ST207"),
    "100,000 objects within each other": (_manifest('{"a":' * 100_000), "ST207"),
    "100,000 brackets that close nothing": (_manifest("]" * 100_000), "ST201"),
    "a hundred thousand brackets in a string": (_keys(description="[" * 100_000), "ST220"),
    "an unclosed string of a million letters": (_manifest('{"name": "' + "x" * 1_000_000), "ST201"),
    "nothing but zero bytes": (_manifest(b"\0" * 1000), "ST201"),
    "nothing but white space": (_manifest(" \n\t " * 100), "ST201"),
    "a number that isn't an object": (_manifest("5"), "ST208"),
    "null": (_manifest("null"), "ST208"),
    "a string": (_manifest('"{}"'), "ST208"),
    "control characters in the description": (
        _keys(description="a\x1b[31m\x07b\u202e"),
        "ST217",
    ),
    "a name of a million letters": (
        _manifest(json.dumps(manifest_of("x" * 1_000_000))),
        "ST",
    ),
    "a property without a name": (_properties(**{"": TEXT}), ""),
    "a property with a space": (_properties(**{"a b": TEXT}), ""),
    "a property called __class__": (_properties(__class__=TEXT), ""),
    "3,000 properties": (_properties(**{f"p{i}": TEXT for i in range(3000)}), ""),
    "3,000 properties without descriptions": (
        _properties(**{f"p{i}": {"type": "string"} for i in range(300)}),
        "ST306",
    ),
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
    "a property whose schema is true": (_properties(a=True), ""),
    "properties that are a list": (
        _keys(parameters={"type": "object", "properties": []}),
        "ST301",
    ),
    "zero bytes in the module": (_module(b"x = 1\n\0\n" + GOOD.encode()), "ST50"),
    "an unknown encoding of the module": (_module("# coding: klingon\n" + GOOD), "ST502"),
    "bytes that are not UTF-8 in the module": (_module(b"x = '\xff'\n" + GOOD.encode()), "ST502"),
    "a byte order mark in the module": (_module(b"\xef\xbb\xbf" + GOOD.encode()), ""),
    "an expression too deep to compile": (_module("x = " + "-" * 100_000 + "1\n" + GOOD), "ST50"),
    "parentheses too deep to parse": (_module("x = " + "(" * 1000 + ")" * 1000 + "\n"), "ST502"),
    "an exception without a message": (_module("raise ValueError\n"), "ST501"),
    "an exception that can't be shown": (
        _module(
            "class Bad(Exception):\n"
            "    def __str__(self):\n        raise RuntimeError\n\n\nraise Bad\n"
        ),
        "ST501",
    ),
    "an exception with a message of a megabyte": (
        _module("raise ValueError('x' * 1_000_000)\n"),
        "ST501",
    ),
    "its own exception that ends programs": (
        _module("class Odd(BaseException):\n    pass\n\n\nraise Odd('x')\n"),
        "ST503",
    ),
    "a GeneratorExit": (_module("raise GeneratorExit\n"), "ST503"),
    "its own KeyboardInterrupt": (_module("raise KeyboardInterrupt\n"), "ST503"),
    "a KeyboardInterrupt that can't be shown": (
        _module(
            "class Bad(KeyboardInterrupt):\n"
            "    def __str__(self):\n        raise KeyboardInterrupt\n\n\nraise Bad\n"
        ),
        "ST503",
    ),
    "quit()": (_module("import sys\n\nsys.exit('bye')\n"), "ST503"),
    "recursion without end": (_module("def f():\n    f()\n\n\nf()\n"), "ST501"),
    "a module that takes itself out of sys.modules": (
        _module("import sys\n\ndel sys.modules[__name__]\n\n\n" + GOOD),
        "",
    ),
    "a module that puts something else instead": (
        _module("import sys\n\nsys.modules[__name__] = 5\n\n\n" + GOOD),
        "",
    ),
    "a module that closes the standard output": (
        _module(
            "import io, sys\n\nsys.stdout = io.StringIO()\nsys.stdout.close()\n"
            "sys.stdout = sys.__stdout__\n\n\n" + GOOD
        ),
        "",
    ),
    "a module that answers to every name": (
        _module("def __getattr__(name):\n    raise SystemExit(name)\n"),
        "ST401",
    ),
    "a signature that is a lie": (
        _module(GOOD + "\n\nodd.__signature__ = 5\n"),
        "",
    ),
    "a function that wraps itself": (_module(GOOD + "\n\nodd.__wrapped__ = odd\n"), ""),
    "annotations that can't be hashed": (
        _module("def odd(text: {'a': []}) -> [1]:\n    return text\n"),
        "",
    ),
    "an annotation in broken Python": (
        _module("def odd(text: 'not a ( type'):\n    return text\n"),
        "ST415",
    ),
    "phrases that explode": (
        _module(
            "class Odd(list):\n    def __iter__(self):\n        raise RuntimeError\n\n\n"
            f"ACTIVATION_PHRASES = Odd(['a'])\n\n\n{GOOD}"
        ),
        "ST501",
    ),
    "handlers that explode": (
        _module(
            "class Odd(dict):\n    def items(self):\n        raise RuntimeError\n\n\n"
            f"STEP_HANDLERS = Odd(a=1)\n\n\n{GOOD}"
        ),
        "ST501",
    ),
    "a registration that fails": (
        _module("def register_step_handlers(handlers):\n    handlers['a'] = 1 / 0\n\n\n" + GOOD),
        "ST501",
    ),
    "a registration that exits": (
        _module("def register_step_handlers(handlers):\n    raise SystemExit\n\n\n" + GOOD),
        "ST503",
    ),
    "an exception that exits when it is shown": (
        _module(
            "class Bad(Exception):\n"
            "    def __str__(self):\n        raise SystemExit\n\n\nraise Bad\n"
        ),
        "ST501",
    ),
    "a missing module whose name is a number": (
        _module("error = ModuleNotFoundError('x')\nerror.name = 5\nraise error\n"),
        "ST501",
    ),
    "phrases that aren't plain strings": (
        _module(
            "class Odd(str):\n    def isascii(self):\n        raise RuntimeError\n\n\n"
            f"ACTIVATION_PHRASES = [Odd('hello')]\n\n\n{GOOD}"
        ),
        "",
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


@pytest.fixture(autouse=True)
def _forget_odd() -> Iterator[None]:
    """Forget modules that whoever looks through all of them would stumble over."""
    yield
    for name in [each for each in sys.modules if each.rpartition(".")[2] == "odd"]:
        del sys.modules[name]


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


def test_an_endless_loop_stops_once_it_has_been_given_up(tools: Path) -> None:
    _module(
        "from pathlib import Path\n\ntry:\n    while True:\n        pass\n"
        "finally:\n    Path(__file__).with_name('stopped').touch()\n"
    )(tools / "odd")
    ToolRegistry.from_directory("tools", import_timeout=0.2)
    wait_until((tools / "odd" / "stopped").exists)


def test_two_endless_loops_cost_one_limit_each(tools: Path, write: Write) -> None:
    for name in ("odd", "odd_too"):
        write(name, code="import time\n\nwhile True:\n    time.sleep(0.01)\n")
    registry = ToolRegistry.from_directory("tools", import_timeout=1.0)
    assert [each.code for each in registry.report.diagnostics] == ["ST504", "ST504"]
    assert HEALTHY in registry


USER = (
    "import signal, threading\n\n"
    "signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)\n"
)
"""Sends what the terminal sends when a user presses Ctrl-C."""


def test_a_user_interrupts_the_import_of_a_tool(tools: Path) -> None:
    _module(USER)(tools / "odd")
    with pytest.raises(KeyboardInterrupt):
        ToolRegistry.from_directory("tools")


def test_a_fork_at_import_loads_no_tool_twice(tools: Path, write: Write, tmp_path: Path) -> None:
    note = tmp_path / "imports"
    _module("import os\n\nCHILD = os.fork()\n\n\n" + GOOD)(tools / "odd")
    write(
        HEALTHY, code=f"with open({str(note)!r}, 'a') as f:\n    f.write('x')\n" + code_of(HEALTHY)
    )
    registry = ToolRegistry.from_directory("tools")
    assert [each.name for each in registry] == ["odd", HEALTHY]
    os.waitpid(registry["odd"].function.__globals__["CHILD"], 0)
    assert note.read_text() == "x"


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


def test_loading_leaves_the_module_path_alone(tools: Path) -> None:
    _module(GOOD)(tools / "odd")
    before = list(sys.path)
    ToolRegistry.from_directory("tools")
    assert sys.path == before


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


@pytest.mark.parametrize(
    "code",
    [
        "import sys\n\nsys.modules[__name__] = 5\n",
        "globals().clear()\n",
        "__spec__ = 5\n",
        "__name__ = __file__ = __spec__ = None\n",
        "def __getattr__(name):\n    raise RuntimeError(name)\n",
        pytest.param(
            "import sys, types\n\n\nclass Odd(types.ModuleType):\n"
            "    def __getattribute__(self, name):\n        raise RuntimeError(name)\n\n\n"
            "sys.modules[__name__].__class__ = Odd\n",
            id="class",
        ),
    ],
)
def test_an_odd_module_of_plugins_hurts_no_other(code: str, tmp_path: Path) -> None:
    healthy = (
        "from sovl_tools import tool\n\n\n@tool\ndef healthy() -> int:\n    'Well.'\n    return 1\n"
    )
    (tmp_path / "healthy.py").write_text(healthy)
    (tmp_path / "odd.py").write_text(code)
    registry = ToolRegistry()
    registry.load_modules(tmp_path)
    assert Tooler(registry).call_sync("healthy").value == 1
    for name, text in (
        ("odd", f"{code}# edited\n"),
        ("odd", "raise OSError"),
        ("healthy", healthy),
    ):
        (tmp_path / f"{name}.py").write_text(text.replace("return 1", "return 2"))
        registry.reload()
    assert Tooler(registry).call_sync("healthy").value == 2
