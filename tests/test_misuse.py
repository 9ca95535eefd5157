"""Every wrong type at every parameter of the Python API.

What a caller got wrong is an exception that was raised for it: never what happens to go wrong
further down, and never an "internal error". The registry is as it was.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import linecache
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import sovl_tools
from sovl_tools import (
    Agent,
    ProcedureManager,
    SovlToolsError,
    ToolContext,
    Tooler,
    ToolRegistry,
    definition_of,
    hook,
    tool,
)
from sovl_tools.model.call import LEVELS
from tests.tables import check_each

ROOT = str(Path(sovl_tools.__file__).parent)
WRONG: list[Any] = [
    None, True, 5, -1, 0.5, float("nan"), 10**400, "", "nope", "\ud800", "a\0b", "..", b"x", [],
    [5], ["nope"], {}, {5: 5}, {"x": None}, object(), int, lambda *_: 1 / 0, Path("nope"),
]  # fmt: skip
"""Some of them are right for some parameters, which is as good."""
Subject: TypeAlias = Callable[[ToolRegistry], Callable[..., Any]]


def echo(text: str = "x", context: ToolContext | None = None) -> str:
    """Return the text."""
    return text


ECHO_TOOL = tool(echo)


def of(kind: Any, name: str, registry: ToolRegistry) -> Any:
    return getattr(kind(registry), name)


def decorated(**marks: Any) -> Any:
    def text(text: str = "x") -> str:
        """Return the text."""
        return text

    return tool(**marks)(text)


def named(**named: Any) -> dict[str, Any]:
    return named


ECHO = named(name="echo", arguments={})
METHODS: dict[str, dict[str, Any]] = {
    "__contains__": named(name="echo"),
    "__getitem__": named(name="echo"),
    "changes": named(poll=False, libraries=()),
    "definitions": named(format="openai"),
    "export": named(
        format="anthropic", strict=False, tools=None, cache_control=None, defer_loading=()
    ),
    "filter": named(name_pattern=None, category=None),
    "get": named(name="echo"),
    "load_entry_points": named(group="sovl_tools.tools", import_timeout=5.0),
    "load_modules": named(path="nope", import_timeout=5.0),
    "load_package": named(name="json.tool", import_timeout=5.0),
    "load_package_folders": named(name="json.tool", import_timeout=5.0),
    "load_procedures": named(path="nope"),
    "match": named(text="echo this"),
    "register": named(tool=echo, override=True, strict=False),
    "search": named(query="echo", limit=3),
    "subscribe": named(on_change=print),
    "unregister": named(name="echo"),
    "watch": named(poll=False, libraries=()),
}
CALL = named(timeout=None, mode=None, coerce=None, call_id=None, on_event=None, on_elicit=None)
TOOLER: dict[str, dict[str, Any]] = {
    "call": ECHO | CALL,
    "call_sync": ECHO | CALL,
    "call_many": named(calls=[("echo", {})], limit=None, timeout=None),
    "cancel": named(call_id="c"),
    "map": named(name="echo", inputs=[{}], limit=None, ordered=False, timeout=None),
    "stream": ECHO | CALL,
}
OPTIONS = named(
    timeout=None, mode=None, coerce="strict", max_result_bytes=None, max_threads=2,
    max_processes=None, executor=None, hooks=(), observers=(), on_event=None,
)  # fmt: skip
MARKS = named(name=None, description=None, tags=(), title=None, examples=(), annotations=None)
PROCEDURES: dict[str, dict[str, Any]] = {
    "add": named(source={"name": "p", "description": "P.", "steps": []}),
    "add_directory": named(path="nope"),
    "check": named(source="p"),
    "run_sync": named(source="p", inputs=None, journal=None, on_event=None),
}
SUBJECTS: dict[str, tuple[Subject, dict[str, Any]]] = {
    **{
        f"registry.{name}": (attrgetter(name), valid)
        for name, valid in METHODS.items()
    },
    **{
        f"tooler.{name}": (partial(of, Tooler, name), valid)
        for name, valid in TOOLER.items()
    },
    **{
        f"procedures.{name}": (partial(of, ProcedureManager, name), valid)
        for name, valid in PROCEDURES.items()
    },
    "Tooler": (lambda _: Tooler, named(registry=None) | OPTIONS),
    "ProcedureManager": (lambda _: ProcedureManager, named(registry=None, tooler=None)),
    "from_directory": (
        lambda _: ToolRegistry.from_directory,
        named(paths=".", names=None, exclude=(), import_timeout=5.0, locked=None),
    ),
    "hook": (lambda _: hook, named(function=print, tools=None)),
    "tool": (lambda _: decorated, MARKS),
    "definition_of": (lambda _: definition_of, named(function=ECHO_TOOL)),
    "Agent": (
        lambda registry: lambda **given: Agent(**named(tools=registry) | given),
        named(client=None, model=None, emit=None, tools=None, provider="local", base_url=None,
              system="", options=None, max_rounds=3, max_result_characters=None, approve=None),
    ),
    "agent.chat_sync": (
        lambda registry: Agent(tools=registry).chat_sync,
        named(content="echo", tools=None, tool_choice="auto"),
    ),
    "to_message": (
        lambda registry: Tooler(registry).call_sync("echo").to_message,
        named(format="openai", call_id="c"),
    ),
}  # fmt: skip


def use(function: Callable[..., Any], given: dict[str, Any]) -> None:
    """Call it as its signature wants it, and use what it returns."""
    positional = [
        given.pop(each.name)
        for each in inspect.signature(function).parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.VAR_POSITIONAL) and each.name in given
    ]
    made = function(*positional, **given)
    if inspect.iscoroutine(made):
        asyncio.run(asyncio.wait_for(made, 60))
    elif isinstance(made, AsyncIterator):
        made.aclose().close()  # type: ignore[attr-defined]
    elif isinstance(made, Iterator):
        list(made)
    elif isinstance(made, AbstractContextManager):
        with made:
            pass


def is_deliberate(error: BaseException) -> bool:
    """Return whether a statement of ours raised it, for a caller to read."""
    if (
        isinstance(error, OSError)
        or "embedded null" in str(error)  # from 3.13 on behind the name of the function
        or str(error).startswith(("unhashable type", "'utf-8' codec"))
    ):
        return True  # as of a dictionary, and of a path that is opened
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    return last.filename.startswith(ROOT) and line.startswith("raise ")


@check_each(
    ("method", "valid"),
    [
        ("report_progress", named(done=1, total=2, message=None)),
        ("log", named(level="info", message="x")),
        ("elicit_sync", named(message="x", schema=None, key="")),
        ("sample_sync", named(prompt="x", max_tokens=5, system_prompt=None, temperature=None,
                              stop_sequences=(), key="")),
        ("list_roots_sync", named(key="")),
    ],
)  # fmt: skip
def test_wrong_types_in_a_tool(method: str, valid: dict[str, Any]) -> None:
    found: list[tuple[str, object, Exception]] = []
    heard: list[Any] = []

    def probe(context: ToolContext) -> None:
        for parameter in valid:
            for wrong in WRONG:
                try:
                    getattr(context, method)(**valid | {parameter: wrong})
                except (TypeError, ValueError, SovlToolsError) as error:
                    if not is_deliberate(error):
                        found.append((parameter, wrong, error))

    registry = ToolRegistry()
    registry.register(probe)
    assert Tooler(registry, on_event=heard.append).call_sync("probe").ok
    assert not found, "\n".join(f"{name}={wrong!r}: {error!r}" for name, wrong, error in found)
    for each in heard:  # what any client can be sent
        json.dumps(each, allow_nan=False)
        assert getattr(each, "level", "info") in LEVELS


@pytest.mark.parametrize("label", SUBJECTS)
def test_wrong_types(
    label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.ERROR, "sovl_tools")
    subject, valid = SUBJECTS[label]
    found: list[tuple[str, object, Exception]] = []
    for parameter in valid:
        registry = ToolRegistry()
        registry.register(echo)
        for wrong in WRONG:
            try:
                use(subject(registry), valid | {parameter: wrong})
            except (TypeError, ValueError, LookupError, OSError, SovlToolsError) as error:
                if not is_deliberate(error):
                    found.append((parameter, wrong, error))
            except Exception as error:  # noqa: BLE001 - each is a finding
                found.append((parameter, wrong, error))
            if "echo" not in registry:  # taken out by one that was right
                registry.register(echo)
        assert Tooler(registry).call_sync("echo", {"text": "y"}).value == "y"
    said = [each.getMessage() for each in caplog.records if "internal error" in each.getMessage()]
    assert not found, "\n".join(f"{name}={wrong!r}: {error!r}" for name, wrong, error in found)
    assert not said
