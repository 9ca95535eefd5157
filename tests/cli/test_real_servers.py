"""``sovl-tools check`` on servers of others, each in its own environment.

They take minutes to install, so the tests run only with ``SOVL_TOOLS_REAL_SERVERS=DIR``: a
directory where the environments are kept.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Run

HOME = os.environ.get("SOVL_TOOLS_REAL_SERVERS")
FASTMCP = """
from fastmcp import FastMCP

mcp = FastMCP("adder")


@mcp.tool
def add(first: int, second: int = 2) -> int:
    \"\"\"Add two numbers.\"\"\"
    return first + second


mcp.run(show_banner=False)
"""


def installed(package: str) -> Path:
    """Return the directory of programs of an environment with the package."""
    home = Path(HOME or "") / package
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    if not programs.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(programs / "python"), "-m", "pip", "install", "-q", package]
        subprocess.run(pip, check=True)
    return programs


def of_npm(package: str) -> str:
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    home = Path(HOME or "") / "npm"
    if not (home / "node_modules" / package).exists():
        npm = ["npm", "install", "--silent", "--prefix", str(home), package]
        subprocess.run(npm, check=True)
    return str(home / "node_modules" / ".bin" / f"mcp-{package.rpartition('/')[2]}")


def fastmcp(tmp_path: Path) -> str:
    script = tmp_path / "adder.py"
    script.write_text(FASTMCP)
    return shlex.join([str(installed("fastmcp") / "python"), str(script)])


@pytest.mark.skipif(not HOME, reason="SOVL_TOOLS_REAL_SERVERS names no directory for them")
@pytest.mark.parametrize(
    "name",
    ["mcp-server-time", "mcp-server-git", "mcp-server-fetch", "fastmcp", "server-everything"],
)
def test_a_real_server_is_checked_without_noise(name: str, run: Run, tmp_path: Path) -> None:
    if name == "fastmcp":
        command = fastmcp(tmp_path)
    elif name == "server-everything":
        command = of_npm("@modelcontextprotocol/server-everything")
    else:
        command = str(installed(name) / name)
    done = run("check", command, "--update", "--format", "concise", "--timeout", "60")
    assert done.code == 0, done.err
    codes = {line.split()[1] for line in done.out.splitlines()[:-1]}
    assert codes <= {"ST306"}, done.out
    assert run("check", command, "--locked", "--timeout", "60").code == 0
