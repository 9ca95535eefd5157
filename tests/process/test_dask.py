"""Tools on a Dask cluster of two workers, in processes of their own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import SovlToolsError, Tooler, ToolRegistry
from sovl_tools.dispatch.cluster import connected
from tests.conftest import Run, Write, manifest_of
from tests.patience import wait_until

# the cluster leaves closing some sockets and loops to the collector
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CODE = """
import os
import time

from sovl_tools import ToolContext


def act(text: str, context: ToolContext):
    context.log("info", text)
    if text.startswith("note "):
        with open(text[5:], "a") as file:
            file.write("called\\n")
        os._exit(3)
    if text == "fail":
        raise ValueError(text)
    if text.startswith("cancelled "):
        while not context.cancelled:
            time.sleep(0.01)
        open(text[10:], "x").close()
    return [text, os.getpid()]
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster:
            yield cluster.scheduler_address


@pytest.fixture
def act(write: Write) -> Path:
    return write("act", manifest_of("act"), CODE)


def test_calls_on_a_cluster(address: str, act: Path, tmp_path: Path) -> None:
    registry = ToolRegistry.from_directory(act.parent)
    events: list[Any] = []
    with connected(address) as cluster:
        assert cluster.threads == 2
        calling = Tooler(registry, executor=cluster.executor, on_event=events.append)
        value = calling.call_sync("act", {"text": "a"}).value
        assert value[0] == "a"
        assert value[1] != os.getpid()
        assert [each.message for each in events] == ["a"]
        error = calling.call_sync("act", {"text": "fail"}).error
        assert error is not None
        assert error.message == "ValueError: fail"
        # a worker that dies costs its call alone, which no other worker makes again
        note = tmp_path / "note"
        error = calling.call_sync("act", {"text": f"note {note}"}).error
        assert error is not None
        assert error.message == "the worker of the cluster that had the call has died"
        assert note.read_text() == "called\n"
        # as many calls as there are begin on other workers, if their own dies before
        given = [{"text": f"note {note}" if number == 5 else str(number)} for number in range(30)]
        found = [*calling.map("act", given, limit=12)]
        # and an answer that its worker has not sent yet is lost with it, not asked for again
        lost = {each.place: each.result.error for each in found if not each.result.ok}
        assert 5 in lost
        assert len(lost) < 12
        assert {each and each.message for each in lost.values()} == {error.message}
        assert note.read_text() == 2 * "called\n"
        # Dask can't end what runs, but the tool can see that nobody waits
        ended = tmp_path / "ended"
        error = calling.call_sync("act", {"text": f"cancelled {ended}"}, timeout=1).error
        assert error is not None
        assert error.is_abandoned
        wait_until(ended.exists)
        # each call is of the caller's version, also where there is no such folder
        for file in act.glob("*.*"):
            file.unlink()
        for folder in act.glob("*"):
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
        act.rmdir()
        given = [{"text": str(number)} for number in range(6)]
        found = [*calling.map("act", given, limit=4)]
        assert sorted(each.result.value[0] for each in found) == [*"012345"]


def test_map_runs_on_a_cluster(address: str, act: Path, run: Run, tmp_path: Path) -> None:
    inputs = "".join(json.dumps({"text": str(number)}) + "\n" for number in range(8))
    (tmp_path / "in.jsonl").write_text(inputs)
    done = run("map", "act", "--inputs", "in.jsonl", "--dask", address, "--ordered")
    assert done.code == 0, done.err
    found = [json.loads(line)["value"][0] for line in done.out.splitlines()]
    assert found == [*"01234567"]


def test_a_cluster_that_is_not_there_is_one_line(
    act: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("sovl_tools.dispatch.cluster._CONNECTING", 0.2)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        done = run("call", "act", "text=a", "--dask", address)
        assert done.code == 2
        assert done.err.count("\n") == 1
        assert f"there's no Dask scheduler at {address}" in done.err


def test_without_the_extra_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(SovlToolsError, match="needs the extra sovl-tools"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass
