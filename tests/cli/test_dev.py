"""``sovl-tools dev``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.conftest import Run, Write
from tests.patience import PATIENCE, wait_until

BROWSER = "import sys; open('opened', 'w').write(sys.argv[1])"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--token-env", "TOOLS_TOKEN"], "the environment variable TOOLS_TOKEN is empty"),
        (["--tools", "missing"], "there's no 'missing'"),
        (["--port", "70000"], "70000 is not in the range"),
        (["--host", "0.0.0.0"], "No such option"),
    ],
)
def test_options_that_make_no_sense_are_misuse(
    write: Write, run: Run, options: list[str], words: str
) -> None:
    write("echo")
    done = run("dev", "--no-open", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


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
