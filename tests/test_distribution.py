"""An installed distribution with entry points, in its own virtual environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.wheels import install_from_source

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "weather-tools"
version = "1.0"

[project.entry-points."sovl_tools.tools"]
forecast = "weather_tools:forecast"
station = "weather_tools.stations:Station"
others = "weather_tools.others"
broken = "weather_tools.broken"

[tool.hatch.build.targets.wheel]
packages = ["weather_tools"]
"""

SOURCES = {
    "__init__.py": '''
from sovl_tools import tool

@tool(tags=["weather"])
def forecast(city: str) -> str:
    """Forecast the weather of a city."""
    return f"rain in {city}"
''',
    "stations.py": """
from sovl_tools import AITool

class Station(AITool):
    name = "station"
    description = "Name the nearest station."
    parameters_schema = {"type": "object", "properties": {}}

    def execute(self):
        return "harbour"
""",
    "others.py": '''
from sovl_tools import tool

@tool
def tide() -> str:
    """Tell the tide."""
    return "high"
''',
    "broken.py": "raise SystemExit(3)\n",
}


def done(*command: str | Path, **options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONWARNINGS": "default", **options}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=environment
    )


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Return the interpreter of a fresh environment in which the distribution is installed."""
    source = tmp_path / "source"
    (source / "weather_tools").mkdir(parents=True)
    (source / "pyproject.toml").write_text(PROJECT)
    for name, text in SOURCES.items():
        (source / "weather_tools" / name).write_text(text)
    assert done(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv").returncode == 0
    folder = "Scripts" if os.name == "nt" else "bin"
    interpreter = tmp_path / "venv" / folder / "python"
    paths = {"base": str(tmp_path / "venv"), "platbase": str(tmp_path / "venv")}
    site = Path(sysconfig.get_path("purelib", "venv", paths))
    install_from_source(source, tmp_path, site)
    return interpreter


def test_its_tools_are_listed_and_called(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = os.pathsep.join([str(REPOSITORY), sysconfig.get_path("purelib")])
    command = (python, "-m", "sovl_tools")
    monkeypatch.chdir(tmp_path)
    listed = done(*command, "list", "--format", "json", PYTHONPATH=ours)
    assert listed.returncode == 0, listed.stderr
    assert [each["name"] for each in json.loads(listed.stdout)] == ["forecast", "station", "tide"]
    assert "ST701" in listed.stderr
    assert "SystemExit: 3" in listed.stderr
    called = done(*command, "call", "forecast", "city=Oslo", PYTHONPATH=ours)
    assert json.loads(called.stdout) == "rain in Oslo"
