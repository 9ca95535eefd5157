"""What a tool requires: found without importing anything."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import ToolRegistry
from tests.conftest import Write, manifest_of


def reasons(write: Write, tmp_path: Path, *packages: str) -> Any:
    write("echo", manifest_of("echo", requires={"packages": list(packages)}))
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    return registry.catalog.unavailable.get("echo", "")


@pytest.mark.parametrize(
    "requirement",
    [
        "PyYAML", "pyyaml>=5", "PyYAML >= 5, < 99", "json", "os.path", "importlib.metadata",
        "coverage[toml]", "missing_one; python_version < '3'", "xml.etree.ElementTree",
    ],
)  # fmt: skip
def test_what_is_installed_is_available(requirement: str, write: Write, tmp_path: Path) -> None:
    assert reasons(write, tmp_path, requirement) == ""


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ("surely_not_installed", "the package surely_not_installed is not installed"),
        ("surely_not_installed>=1", "the package surely_not_installed>=1 is not installed"),
        ("PyYAML>=999", "the package PyYAML>=999 (but "),
        ("json.nothing", "the package json.nothing is not installed"),
        ("json>=1", "the package json>=1 is not installed"),
        ("sys.path", "the package sys.path is not installed"),
    ],
)
def test_what_is_not_installed_is_named(
    requirement: str, words: str, write: Write, tmp_path: Path
) -> None:
    assert words in str(reasons(write, tmp_path, requirement))


def test_a_pre_release_that_is_installed_is_good_enough(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "early_bird-2.0rc1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: early-bird\nVersion: 2.0rc1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert reasons(write, tmp_path, "early-bird>=1.5") == ""
    assert "(but 2.0rc1)" in str(reasons(write, tmp_path, "early-bird>=2"))


def test_nothing_is_imported_to_find_out(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "loud_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "inner.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert reasons(write, tmp_path, "loud_package.inner", "this") == ""
    assert "loud_package.missing" in str(reasons(write, tmp_path, "loud_package.missing"))
    assert sys.modules.keys().isdisjoint({"loud_package", "this"})


@pytest.mark.parametrize("requirement", ["click; 'x' == 'y'", "click >", "a b", "[x]"])
def test_what_no_program_can_read_is_a_finding(
    requirement: str, write: Write, tmp_path: Path
) -> None:
    write("echo", manifest_of("echo", requires={"packages": [requirement]}))
    report = ToolRegistry.from_directory(tmp_path / "tools").report
    assert [each.code for each in report.errors] == ["ST214"]


def test_a_requirement_of_an_extra_is_looked_for(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "half-1.0.dist-info"
    info.mkdir()
    extra = 'Requires-Dist: surely-not-installed>=2; extra == "more"'
    text = f"Metadata-Version: 2.1\nName: half\nVersion: 1.0\nProvides-Extra: more\n{extra}\n"
    (info / "METADATA").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert reasons(write, tmp_path, "half") == ""
    found = str(reasons(write, tmp_path, "half[more]"))
    assert "the package half[more], of which surely-not-installed>=2 is not installed" in found
