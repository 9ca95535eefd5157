"""A mistake of ours ends at the tool that it happened over, and takes nothing else down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sovl_tools import CatalogChange, Tooler, ToolRegistry
from sovl_tools.loading.rules import agreement, manifest, offer, schema
from sovl_tools.model.diagnostic import Finding, rule
from tests.conftest import Write, code_of, manifest_of


def failing(code: str, error: BaseException) -> Any:
    @rule(code)
    def broken(case: Any) -> Iterator[Finding]:
        if "odd" in repr(case):
            raise error
        yield from ()

    return broken


@pytest.fixture
def tools(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a tool that asks rules of each family, and one that works."""
    properties = {"text": {"type": "string", "description": "Something odd."}}
    parameters = {"type": "object", "properties": properties}
    code = "ACTIVATION_PHRASES = ['odd']\ndef odd(text: str = ''): ..."
    write("odd", manifest_of("odd", parameters=parameters, tgas=[]), code)
    write("fine")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tools"


def internal(registry: ToolRegistry) -> dict[str, list[str]]:
    found = [each for each in registry.report.diagnostics if each.code == "ST001"]
    return {each.path: [each.severity, each.message] for each in found}


@pytest.mark.parametrize(
    "table", [manifest, schema, agreement, offer], ids=lambda each: each.__name__
)
def test_a_rule_that_fails_is_an_internal_error_of_that_tool(
    tools: Path, table: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = failing("ST999", LookupError("no one knows"))
    monkeypatch.setattr(table, "RULES", (*table.RULES, broken))
    registry = ToolRegistry.from_directory("tools")
    severity, message = internal(registry)["tools/odd"]
    assert severity == "error"
    assert message.startswith("internal error: LookupError: no one knows, in sovl_tools.")
    assert Tooler(registry).call_sync("fine", {"text": "hello"}).value == "hello"
    assert "no one knows" in "".join(registry.catalog.unavailable["odd"])


def test_a_warning_that_fails_keeps_nothing_from_being_loaded(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = failing("ST999", KeyError(1))._replace(severity="warning")
    monkeypatch.setattr(manifest, "RULES", (broken, *manifest.RULES))
    registry = ToolRegistry.from_directory("tools")
    assert internal(registry)["tools/odd"][0] == "warning"
    assert "ST202" in [each.code for each in registry.report.warnings], "the others are asked"
    assert {"odd", "fine"} == {each.name for each in registry}


def test_a_reload_that_fails_changes_nothing_and_says_so(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = ToolRegistry.from_directory("tools")
    told: list[CatalogChange] = []
    registry.subscribe(told.append)
    before = registry.catalog
    monkeypatch.chdir(tools)
    # first, since it may be imported by this, and would keep the other's None
    monkeypatch.setattr("sovl_tools.reloading.reload_state.collect", None)
    monkeypatch.setattr("sovl_tools.loading.sources.collect", None)
    change = registry.reload()
    assert [each.code for each in change.diagnostics] == ["ST001"]
    assert told == [change], "those who watch hear of it, too"
    assert registry.catalog is before


def test_a_tool_of_a_package_that_we_fail_at_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    code = "from sovl_tools import tool\n\n"
    for name in ("odd", "fine"):
        code += f"\n@tool(description='Say it.')\n{code_of(name)}\n"
    (plugins / "both.py").write_text(code)
    broken = failing("ST999", LookupError("no one knows"))

    def check(definition: Any) -> Any:
        return [*broken.check(definition)] if definition.name == "odd" else []

    monkeypatch.setattr("sovl_tools.loading.definitions.disagreements", check)
    registry = ToolRegistry()
    registry.load_modules("plugins")
    assert [each.name for each in registry] == ["fine"]
    (found,) = registry.report.errors
    assert (found.code, found.tool, found.path) == ("ST001", "odd", "plugins/both.py")
