"""Directories that are there and can't be listed for a while: their tools stay."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Tooler, ToolRegistry
from tests.conftest import Write
from tests.loading.plugins import decorated

PROCEDURE = """\
name: greet
description: Say hello.
steps: [{action: set, values: {a: 1}}]
"""
KINDS = ["tools", "plugins", "procedures"]
NAMES = {"tools": "echo", "plugins": "good", "procedures": "greet"}


@pytest.fixture
def registry(tmp_path: Path, write: Write) -> ToolRegistry:
    write("echo")
    for folder, file, text in [
        ("plugins", "good.py", decorated("good", 1)),
        ("procedures", "greet.yaml", PROCEDURE),
    ]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text(text)
    made = ToolRegistry.from_directory(tmp_path / "tools")
    made.load_modules(tmp_path / "plugins")
    made.load_procedures(tmp_path / "procedures")
    assert {each.name for each in made} == {*NAMES.values()}
    return made


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
@pytest.mark.parametrize("kind", KINDS)
def test_tools_of_a_directory_that_can_not_be_listed_stay(
    kind: str, number: int, registry: ToolRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(list_: Callable[..., Any]) -> Callable[..., Any]:
        def listed(path: Any = ".") -> Any:
            if os.fspath(path) == str(tmp_path / kind):
                raise OSError(number, os.strerror(number))
            return list_(path)

        return listed

    with monkeypatch.context() as patch:
        for name in ("listdir", "scandir"):
            patch.setattr(os, name, failing(getattr(os, name)))
        registry.reload()
    assert {each.name for each in registry} == {*NAMES.values()}
    assert Tooler(registry).call_sync(NAMES[kind], {"text": "a"} if kind == "tools" else {}).ok
    assert any(os.strerror(number) in str(each) for each in registry.report.diagnostics)
    registry.reload()
    assert {each.code for each in registry.report.diagnostics} <= {"ST306"}


@pytest.mark.parametrize("kind", KINDS)
def test_tools_of_a_directory_that_is_gone_go(
    kind: str, registry: ToolRegistry, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / kind)
    registry.reload()
    assert {each.name for each in registry} == {*NAMES.values()} - {NAMES[kind]}
