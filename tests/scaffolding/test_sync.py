from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sovl_tools.loading.sources import discover
from sovl_tools.scaffolding.sync import Sync, plan_sync
from tests.conftest import Write, manifest_of

CODE = 'def echo(text: str, times: int = 2) -> str:\n    """Say it."""\n    return text\n'


def synced(root: Path, **options: Any) -> Sync:
    [folder] = discover("tools", f"{root}/tools")
    return plan_sync(folder, **options)


def told(found: Sync) -> list[str]:
    return [f"{each.code} {each.path}:{each.line}" for each in found.diagnostics()]


def test_bytes_outside_of_the_text_stay(write: Write, tmp_path: Path) -> None:
    text = json.dumps(manifest_of("echo"), indent=2).replace("\n", "\r\n") + "\r\n\r\n"
    place = write("echo", b"\xef\xbb\xbf" + text.encode(), CODE)
    synced(tmp_path).save()
    data = (place / "echo.json").read_bytes()
    assert data.startswith(b'\xef\xbb\xbf{\r\n  "name": "echo",\r\n')
    assert data.endswith(b"}\r\n\r\n")
    assert data.count(b"\n") == data.count(b"\r\n") == text.count("\n") + 4


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ("{", "ST201 tools/echo/echo.json:1"),
        (b"\xff", "ST203 tools/echo/echo.json:1"),
        (manifest_of("echo", parameters=[]), "ST301 tools/echo/echo.json:4"),
        (
            manifest_of("echo", parameters={"type": "object", "properties": {"a": {"enum": 5}}}),
            "ST301 tools/echo/echo.json:8",
        ),
    ],
)
def test_a_manifest_that_can_not_be_used_is_told_as_validate_tells_it(
    manifest: Any, expected: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("echo", manifest, CODE)
    monkeypatch.chdir(tmp_path)
    found = synced(tmp_path)
    assert not found.is_changed
    assert told(found) == [expected]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def echo(:", "ST502 tools/echo/echo.py:1"),
        ("import nothing_of_the_kind", "ST501 tools/echo/echo.py:1"),
        ("raise SystemExit", "ST503 tools/echo/echo.py:1"),
        ("x = 1", "ST401 tools/echo/echo.py:1"),
        ("class echo: ...", "ST409 tools/echo/echo.py:1"),
        ("echo = 5", "ST409 tools/echo/echo.py:1"),
        ("def echo(text, /): ...", "ST405 tools/echo/echo.py:1"),
        ("def echo(): ...", "ST402 tools/echo/echo.json:7"),
        ("def echo(text, other: object()): ...", "ST403 tools/echo/echo.py:1"),
    ],
)
def test_a_function_that_can_not_be_used_is_told_as_validate_tells_it(
    code: str, expected: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("echo", code=code)
    monkeypatch.chdir(tmp_path)
    found = synced(tmp_path)
    assert not found.is_changed
    assert told(found) == [expected]


@pytest.mark.parametrize(
    ("keys", "code", "note"),
    [
        ({"enabled": False}, "raise ValueError", 'skipped: its manifest says "enabled": false'),
        (
            {"requires": {"packages": ["surely_not_installed"]}},
            "import surely_not_installed",
            "skipped: the package surely_not_installed is not installed",
        ),
        ({}, "echo = dict.fromkeys", ""),
        ({}, "from builtins import min as echo", "skipped: min: its parameters are unknown"),
        (
            {},
            "def echo(text, other: object() = None): ...",
            "'other' is omitted: annotated <object object",
        ),
        ({}, "def echo(text, *rest): ...", ""),
    ],
)
def test_what_is_left_out_is_noted(
    keys: dict[str, Any], code: str, note: str, write: Write, tmp_path: Path
) -> None:
    write("echo", manifest_of("echo", **keys), code)
    found = synced(tmp_path)
    if note:
        assert (found.is_changed, told(found)) == (False, [])
        assert [each.startswith(note) for each in found.notes] == [True]
    else:
        assert found.notes == ()


def test_a_function_for_strands_gets_no_property_for_its_call(write: Write, tmp_path: Path) -> None:
    spec = 'TOOL_SPEC = {"name": "echo", "inputSchema": {"json": {}}}\n'
    write("echo", manifest_of("echo"), f"{spec}def echo(tool, **kwargs): ...")
    found = synced(tmp_path)
    assert "tool" not in json.loads(found.after or "{}")["parameters"]["properties"]
    assert any("TOOL_SPEC" in str(each.help) for each in found.diagnostics())


def test_added_parameters_without_a_description_are_noted(write: Write, tmp_path: Path) -> None:
    write("echo", manifest_of("echo"), "from builtins import print as echo")
    (note,) = synced(tmp_path).notes
    assert note.startswith("no description for 'sep', 'end', ")
    assert note.endswith(": the docstring doesn't mention them")
    write("echo", manifest_of("echo"), "def echo(text, other=1): ...")
    assert synced(tmp_path).notes == ("no description for 'other': the function has no docstring",)
