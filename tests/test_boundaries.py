"""The documented limits of tool folders: the largest that loads, and the first beyond it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import ToolRegistry
from tests.conftest import Write, code_of, manifest_of

MANIFEST_BYTES = 1_048_576
MANIFEST_LEVELS = 64
NAME_LENGTH = 64


def codes(tmp_path: Path) -> list[str]:
    """Load the tools, and return the codes of the errors."""
    return [each.code for each in ToolRegistry.from_directory(tmp_path / "tools").report.errors]


@pytest.mark.parametrize(("size", "expected"), [(0, []), (1, ["ST104"])])
def test_a_manifest_has_at_most_a_mebibyte(
    tmp_path: Path, write: Write, size: int, expected: list[str]
) -> None:
    text = json.dumps(manifest_of("echo"))
    write("echo", manifest=text + " " * (MANIFEST_BYTES - len(text) + size))
    assert codes(tmp_path) == expected


@pytest.mark.parametrize(("more", "expected"), [(0, []), (1, ["ST207"])])
def test_a_manifest_has_at_most_64_levels(
    tmp_path: Path, write: Write, more: int, expected: list[str]
) -> None:
    nested: Any = []
    for _ in range(MANIFEST_LEVELS - 3 + more):  # below the manifest, its metadata, and itself
        nested = [nested]
    write("echo", manifest=manifest_of("echo", metadata={"nested": nested}))
    assert codes(tmp_path) == expected


@pytest.mark.parametrize(("length", "expected"), [(NAME_LENGTH, []), (NAME_LENGTH + 1, ["ST105"])])
def test_a_name_has_at_most_64_characters(
    tmp_path: Path, write: Write, length: int, expected: list[str]
) -> None:
    write("n" * length)
    assert codes(tmp_path) == expected


def test_folders_that_begin_with_a_dot_or_an_underscore_are_no_tools(
    tmp_path: Path, write: Write
) -> None:
    for name in ("_shared", ".hidden"):
        write(name, manifest=manifest_of("shared"), code=code_of("shared"))
    write("echo")
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    assert [*registry.catalog.tools] == ["echo"]
    assert not registry.report.diagnostics


def test_a_phrase_that_three_tools_share_is_the_first_one_s(tmp_path: Path, write: Write) -> None:
    for name in ("first", "second", "third"):
        write(name, manifest=manifest_of(name, activation_phrases=["say it"]))
    report = ToolRegistry.from_directory(tmp_path / "tools").report
    shared = [each.message for each in report.diagnostics if each.code == "ST803"]
    assert len(shared) == 2
    assert all("first" in each for each in shared)
