"""Modules that are imported when their tools are first called."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import textwrap
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import pytest

from sovl_tools import ProcedureManager, Tooler, ToolRegistry
from sovl_tools.formats.base import FORMATS, STRICT
from sovl_tools.loading.lock import lock_of
from sovl_tools.loading.lock import written as lock_text
from sovl_tools.loading.sources import collect
from sovl_tools.model.errors import UnavailableError
from tests.conftest import REPOSITORY, Run, Write, manifest_of
from tests.corpus.test_manifests import ROWS
from tests.loading.folders import News, answer, generations, says
from tests.patience import PATIENCE

LOUD = "import pathlib\n(pathlib.Path(__file__).parent / 'imported').touch()\n"
"""The head of a module that leaves a file when it's imported."""

# each with whether the text tells everything
FUNCTIONS = {
    "def NAME(text: str) -> str:\n    return text": True,
    "async def NAME(text, **others):\n    return text": True,
    "from sovl_tools import tool\n@tool\ndef NAME(text: str) -> str:\n    return text": True,
    "import numbers\ndef NAME(text: numbers.Number, more=len('abc')):\n    return text": True,
    "from functools import wraps\ndef same(f):\n    return wraps(f)(lambda **k: f(**k))\n"
    "@same\ndef NAME(text: str) -> str:\n    return text": False,
    "def other(text):\n    return text\nNAME = other": False,
    "if True:\n    def NAME(text):\n        return text": False,
    "def NAME(text):\n    return text\nglobals()": False,
}
PHRASES = {
    "": True,
    "ACTIVATION_PHRASES = ['say NAME', 'NAME please']": True,
    "ACTIVATION_PHRASES = [word + ' NAME' for word in ('say', 'tell')]": False,
    "ACTIVATION_PHRASES = ['say NAME']\nACTIVATION_PHRASES.append('tell NAME')": False,
}
HANDLERS = {
    "": True,
    "def act(step, context):\n    return 1\nSTEP_HANDLERS = {'act_NAME': act}": True,
    "def act(step, context):\n    return 1\nSTEP_HANDLERS = {'act_' + 'NAME': act}": False,
    "def act(step, context):\n    return 1\n"
    "def register_step_handlers(handlers):\n    handlers['act_NAME'] = act": False,
}


def everything(registry: ToolRegistry) -> Iterator[tuple[str, Any]]:
    """Yield all that a program sees of the tools before it calls one."""
    for each in FORMATS:
        for strict in (False, True)[: 1 + (each in STRICT)]:
            found: Any = registry.export(each, strict=strict)
            yield f"{each}, {strict}", (found.definitions, [*found.losses])
    yield "aliases", registry.catalog.aliases
    yield "actions", sorted(registry.step_handlers)
    yield "unavailable", {name: [*each] for name, each in registry.catalog.unavailable.items()}
    for tool in registry:
        fields = {key: each for key, each in vars(tool).items() if key in tool.__match_args__}
        del fields["step_handlers"]
        yield tool.name, {key: each for key, each in fields.items() if key != "function"}
        yield f"actions of {tool.name}", sorted(tool.step_handlers)


def check_equal(*paths: Path) -> ToolRegistry:
    """Compare the lazy registry with the eager one, and return the lazy one."""
    eager = ToolRegistry.from_directory(*paths)
    lazy = ToolRegistry.from_directory(*paths, lazy=True)
    assert dict(everything(lazy)) == dict(everything(eager))
    return lazy


def test_generated_modules_are_the_same_tools_and_wait_where_their_text_tells_all(
    write: Write, tmp_path: Path
) -> None:
    expected = {}
    kinds = product(FUNCTIONS.items(), PHRASES.items(), HANDLERS.items())
    for index, parts in enumerate(kinds):
        name = f"tool_{index}"
        code = "\n\n".join(text.replace("NAME", name) for text, _ in parts)
        write(name, code=code)
        expected[name] = all(is_told for _, is_told in parts)
    lazy = check_equal(tmp_path / "tools")
    assert {each.name: each.deferred is not None for each in lazy} == expected
    for each in lazy:
        assert each.function.__name__
        assert each.deferred is None


def test_manifests_of_many_styles_are_the_same_tools(write: Write, tmp_path: Path) -> None:
    for index, row in enumerate(ROWS):
        name = f"tool_{index}"
        code = f"from datetime import date\n\ndef {name}({row.takes}):\n    return None\n"
        write(name, {**manifest_of(name), "parameters": row.parameters}, code)
    check_equal(tmp_path / "tools")


def test_the_shipped_tools_and_the_healthy_cases_are_the_same_tools() -> None:
    lazy = check_equal(REPOSITORY / "tools")
    assert all(each.deferred is not None for each in lazy)
    for each in (REPOSITORY / "tests/cases").glob("ST[234678]*/tools"):
        codes = {found.code for found in ToolRegistry.from_directory(each).report.errors}
        if not codes:
            check_equal(each)


def test_a_call_imports_its_own_module_only(write: Write, tmp_path: Path) -> None:
    places = [write(name, code=says(name, name, LOUD)) for name in ("first", "second", "third")]
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)
    news = News(registry)
    first, second = registry["first"], registry["second"]

    def imported() -> list[bool]:
        return [(each / "imported").exists() for each in places]

    assert imported() == [False, False, False]
    with Tooler(registry) as tooler:
        assert tooler.call_sync("first", {"text": ""}).value == "first"
        assert imported() == [True, False, False]
        assert asyncio.run(tooler.call("second", {"text": ""})).value == "second"
    assert imported() == [True, True, False]
    assert (registry["first"], registry["second"]) == (first, second)
    assert answer(registry.catalog.tools, "third") == "third"
    assert not registry.reload()
    assert news.so_far() == []


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def echo(text):\n    return text\nraise OSError('no disk')\n", "no disk"),
        (
            "def echo(text):\n    return text\nimport sys\ndel sys.modules[__name__].echo\n",
            "no function",
        ),
    ],
)
def test_a_module_that_can_not_be_imported_makes_its_tool_unavailable(
    write: Write, tmp_path: Path, code: str, reason: str
) -> None:
    write("echo", code=code)
    write("other")
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)
    eager = ToolRegistry.from_directory(tmp_path / "tools")
    news = News(registry)
    with Tooler(registry) as tooler:
        for _ in range(2):
            error = tooler.call_sync("echo", {"text": "a"}).error
            assert error is not None
            assert error.kind == "unavailable"
            assert reason in error.message
        assert asyncio.run(tooler.call("other", {"text": "a"})).ok
    assert registry.catalog.unavailable == eager.catalog.unavailable
    (change,) = news.so_far()
    assert (change.removed, change.rejected) == (("echo",), ("echo",))
    assert change.diagnostics == eager.report.errors
    assert registry.errors == registry.report.errors == eager.report.errors
    (tmp_path / "tools/echo/echo.py").write_text(says("fixed"))
    assert registry.reload().added == ("echo",)
    assert registry["echo"].deferred is None


def test_an_event_loop_continues_during_an_import(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate: Any = ModuleType("lazy_gate")
    gate.begun, gate.opened = Event(), Event()
    monkeypatch.setitem(sys.modules, "lazy_gate", gate)
    head = f"import lazy_gate\nlazy_gate.begun.set()\nassert lazy_gate.opened.wait({PATIENCE})\n"
    write("echo", code=says("echo", head=head))
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)

    async def work(tooler: Tooler) -> None:
        calls = [asyncio.create_task(tooler.call("echo", {"text": ""})) for _ in range(2)]
        assert await asyncio.to_thread(gate.begun.wait, PATIENCE)
        gate.opened.set()
        assert [(await each).value for each in calls] == ["echo", "echo"]

    with Tooler(registry) as tooler:
        asyncio.run(work(tooler))


def test_reading_the_function_of_a_broken_module_raises_each_time(
    write: Write, tmp_path: Path
) -> None:
    write("echo", code="def echo(text):\n    return text\n1 / 0\n")
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)
    echo = registry["echo"]
    for _ in range(2):
        with pytest.raises(UnavailableError, match="division by zero"):
            echo.execute(text="a")
    assert "echo" not in registry


def test_an_edit_of_a_tool_in_use_is_imported_at_once_and_of_another_one_is_not(
    write: Write, tmp_path: Path
) -> None:
    used, unused = write("used", code=says(1, "used")), write("unused", code=says(1, "unused"))
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)
    assert answer(registry.catalog.tools, "used") == 1
    for place in (used, unused):
        (place / f"{place.name}.py").write_text(says(2, place.name, LOUD))
    assert registry.reload().updated == ("unused", "used")
    assert (used / "imported").exists()
    assert not (unused / "imported").exists()
    (used / "used.py").write_text("raise OSError\n\ndef used(text):\n    pass\n")
    assert registry.reload().rejected == ("used",)
    assert answer(registry.catalog.tools, "used") == 2
    assert answer(registry.catalog.tools, "unused") == 2


def test_a_tool_gets_the_sources_that_were_read_and_one_generation(
    write: Write, tmp_path: Path
) -> None:
    place = write("echo", code="from .helper import echo_\n" + says(1), helper="echo_ = 1\n")
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)
    assert generations(tmp_path) == []
    (place / "echo.py").write_text(says(2))
    (place / "helper.py").unlink()
    assert answer(registry.catalog.tools) == 1
    assert len(generations(tmp_path)) == 1
    registry.reload()
    assert answer(registry.catalog.tools) == 2
    assert len(generations(tmp_path)) == 1


def test_shared_modules_requirements_and_the_lock_count(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    write("echo", code="from .._shared.word import WORD\n\ndef echo(text):\n    return WORD\n")
    (tools / "_shared").mkdir()
    (tools / "_shared/word.py").write_text("WORD = 'shared'\n")
    write("needy", manifest_of("needy", requires={"env": ["NEEDED"]}), says("needy", "needy"))
    lock = tmp_path / "sovl-tools.lock"
    lock.write_text(lock_text(lock_of(collect([tools]).folders).lock))
    registry = ToolRegistry.from_directory(tools, lazy=True, locked=lock)
    assert answer(registry.catalog.tools) == "shared"
    assert registry.catalog.unavailable.keys() == {"needy"}
    monkeypatch.setenv("NEEDED", "1")
    assert registry.reload().added == ("needy",)
    assert answer(registry.catalog.tools, "needy") == "needy"
    (tools / "echo/echo.py").write_text(says("another"))
    assert registry.reload().rejected == ("echo",)


def test_views_and_processes_have_lazy_tools(write: Write, tmp_path: Path) -> None:
    place = write("echo", manifest_of("echo", tags=["say"]), says("echo", head=LOUD))
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)
    view = registry.select(tags="say")
    assert [each.name for each in view] == ["echo"]
    assert not (place / "imported").exists()
    with Tooler(view, mode="process") as tooler:
        assert tooler.call_sync("echo", {"text": ""}).value == "echo"


def test_step_handlers_of_a_module_that_waits(write: Write, tmp_path: Path) -> None:
    code = """
    async def act(step, context):
        return step["word"]

    STEP_HANDLERS = {"act": act}
    """
    write("echo", code=textwrap.dedent(code) + says("echo", head=LOUD))
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)
    procedure = {
        "name": "p",
        "description": "Act.",
        "steps": [{"action": "act", "word": "a", "save_as": "said"}],
    }
    (tmp_path / "p.json").write_text(json.dumps({**procedure, "output": "{{ said }}"}))
    manager = ProcedureManager(registry)
    assert not (tmp_path / "tools/echo/imported").exists()
    assert manager.run_sync(tmp_path / "p.json") == "a"


def test_slow_imports_are_logged(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sovl_tools.loading.modules.SLOW", 0.0)
    write("echo", code=says("echo"))
    registry = ToolRegistry.from_directory(tmp_path / "tools", lazy=True)
    with caplog.at_level(logging.INFO, "sovl_tools"):
        answer(registry.catalog.tools)
    assert "importing the module of tool echo took 0.0" in caplog.text


def test_commands_that_only_show_tools_import_none(write: Write, run: Run, tmp_path: Path) -> None:
    place = write("echo", manifest_of("echo"), says("echo", head=LOUD))
    for command in (
        ["list"],
        ["search", "say"],
        ["show", "echo"],
        ["match", "say"],
        ["export", "--format", "openai", "--strict"],
    ):
        run(*command)
        assert not (place / "imported").exists(), command
    run("call", "echo", "text=a")
    assert (place / "imported").exists()
