"""Results that go into something that isn't a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from tests.conftest import Run, Write


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_to_and_stays_one(run: Run, write: Write, tmp_path: Path) -> None:
    write("echo")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert run("export", "--output", "pipe").code == 0
    reader.join()
    assert '"echo"' in read[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_that_is_full_is_one_clear_message(run: Run, write: Write, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there's no device that is always full")
    write("echo")
    (tmp_path / "full").symlink_to("/dev/full")
    done = run("export", "--output", "full")
    assert (done.code, done.out) == (1, "")
    assert "'full' can't be written: No space left on device" in done.err
    assert Path("/dev/full").is_char_device()
