"""The registry of what is configured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sovl_tools import configured, default_registry
from tests.conftest import Write
from tests.loading.plugins import decorated, importable


@pytest.fixture
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(configured, "_DEFAULT", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    for name in ("SOVL_TOOLS_PATH", "SOVL_TOOLS_PLUGINS_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("_fresh")
def test_the_registry_of_a_program_holds_all_that_is_configured(
    tmp_path: Path, write: Write
) -> None:
    write("echo")
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "module.py").write_text(decorated("plugged", 1))
    text = '[tool.sovl-tools]\nplugins = ["plugins"]\nimport_timeout = 5\n'
    (tmp_path / "pyproject.toml").write_text(text)
    with importable(tmp_path / "site") as site:
        site.write("shop.py", decorated("sold", 2))
        site.install("shop", a="shop")
        registry = default_registry()
        assert {"echo", "plugged", "sold"} <= set(registry.catalog.tools)
        (tmp_path / "tools" / "echo" / "echo.json").unlink()
        assert default_registry() is registry


ASKING = """
from sovl_tools import default_registry, tool

SEEN = default_registry()


@tool
def {name}(text: str) -> bool:
    \"\"\"Return whether this was loaded into the default registry.\"\"\"
    return SEEN is default_registry()
"""


@pytest.mark.usefixtures("_fresh")
def test_what_is_loaded_into_it_gets_it_as_far_as_it_is_loaded(
    tmp_path: Path, write: Write
) -> None:
    write("echo", code=ASKING.format(name="echo"))
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "module.py").write_text(ASKING.format(name="plugged"))
    (tmp_path / "pyproject.toml").write_text('[tool.sovl-tools]\nplugins = ["plugins"]\n')
    registry = default_registry()
    assert not registry.report.errors
    assert [registry[name].execute(text="") for name in ("echo", "plugged")] == [True, True]
