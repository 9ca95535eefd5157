"""``sovl-tools dev``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx

from tests.conftest import Write
from tests.patience import PATIENCE, wait_until

BROWSER = "import sys; open('opened', 'w').write(sys.argv[1])"


def test_it_prints_the_url_and_opens_it(write: Write, tmp_path: Path) -> None:
    write("echo")
    script = tmp_path / "browser.py"
    script.write_text(f"#!{sys.executable}\n{BROWSER}\n")
    script.chmod(0o755)
    command = [sys.executable, "-m", "sovl_tools", "dev", "--port", "0", "--token-env", "KEY"]
    environment = {"KEY": "the-token", "BROWSER": f"{script} %s", "PATH": ""}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        url, _, token = address.partition("/#token=")
        assert token == "the-token"
        headers = {"Authorization": f"Bearer {token}"}
        state = httpx.get(f"{url}/dev/state", headers=headers, timeout=PATIENCE).json()
        opened = tmp_path / "opened"
        wait_until(lambda: opened.exists() and opened.read_text() == address)
        server.terminate()
        assert server.wait(PATIENCE) == 0
    assert [each["name"] for each in state["tools"]] == ["echo"]
