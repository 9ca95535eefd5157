from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from sovl_tools import CallEvent
from sovl_tools.dispatch.telemetry import (
    LONGEST,
    CallLogger,
    JsonLines,
    log_calls,
    readable,
)
from tests.conftest import clean_environment
from tests.schema.strategies import moderate, values
from tests.tables import check_each

STARTED = 1_763_805_600.25


def success(**fields: Any) -> CallEvent:
    known = {"tool": "echo", "call_id": "c1", "started": STARTED, "duration": 0.00123}
    return CallEvent(**{**known, **fields})


def failure(**fields: Any) -> CallEvent:
    return success(**{"kind": "tool_error", "error_type": "ValueError", **fields})


def written(event: CallEvent, *, content: bool = False) -> dict[str, Any]:
    """Return the one line that comes of the event, read again."""
    stream = io.StringIO()
    JsonLines(stream, content=content)(event)
    (line,) = stream.getvalue().split("\n")[:-1]
    assert stream.getvalue().endswith("\n")
    found = json.loads(line, parse_constant=pytest.fail)
    assert isinstance(found, dict)
    return found


class Stubborn:
    """Something that can't even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


def test_a_success_is_logged_as_information(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "sovl_tools.calls"):
        log_calls(success(arguments={"text": "secret"}, value="secret"))
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("sovl_tools.calls", "INFO")
    assert record.getMessage() == "echo succeeded in 1.23 ms, call c1"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (failure(), "echo failed in 1.23 ms, tool_error (ValueError), call c1"),
        (
            success(kind="timeout", duration=30.0, is_abandoned=True),
            "echo failed in 30 s, timeout, its thread was abandoned, call c1",
        ),
        (
            success(kind="unknown_tool", tool="e\ncho\x1b", call_id="c\n1"),
            "e\\ncho\\x1b failed in 1.23 ms, unknown_tool, call c\\n1",
        ),
    ],
    ids=["tool_error", "timeout", "unknown_tool"],
)
def test_a_failure_is_logged_as_a_warning_on_one_line(
    event: CallEvent, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    log_calls(event)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == message


def test_arguments_and_results_are_logged_on_request(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("elsewhere")
    logger.setLevel(logging.INFO)
    log = CallLogger(logger, content=True)
    log(success(arguments={"text": "ü\n"}, value=["x" * 2 * LONGEST]))
    log(failure(arguments='{"text": 1}'))
    first, second = (record.getMessage() for record in caplog.records)
    assert ', arguments {"text":"ü\\n"}, result ["xxx' in first
    assert first.endswith("x…")
    assert len(first) < LONGEST + 100
    assert second.endswith(r', call c1, arguments "{\"text\": 1}"')


def test_a_line_tells_of_a_success() -> None:
    assert written(success(arguments={"text": "secret"}, value="secret")) == {
        "time": "2025-11-22T10:00:00.250000Z",
        "tool": "echo",
        "call_id": "c1",
        "duration": 0.00123,
        "ok": True,
    }


def test_a_line_tells_of_a_failure() -> None:
    found = written(failure(is_abandoned=True))
    assert found["ok"] is False
    said = found["error"], found["error_type"], found["abandoned"]
    assert said == ("tool_error", "ValueError", True)
    assert {"arguments", "result"}.isdisjoint(found)
    of_no_exception = written(success(kind="timeout", arguments={"text": 1}), content=True)
    assert of_no_exception["arguments"] == {"text": 1}
    assert {"error_type", "result"}.isdisjoint(of_no_exception)


@moderate
@given(values, values)
def test_arguments_and_results_are_written_on_request(arguments: Any, value: Any) -> None:
    found = written(success(arguments=arguments, value=value), content=True)
    assert (found["arguments"], found["result"]) == (arguments, value)


circle: list[Any] = []
circle.append(circle)
deep: list[Any] = []
for _ in range(100_000):
    deep = [deep]


@check_each(
    ("value", "shown"),
    [
        ({"at": {1}}, {"at": "{1}"}),
        ([Stubborn()], ["<Stubborn>"]),
        ({"a": b"\xff{}"}, {"a": "\\xff{}"}),
        (float("nan"), "nan"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (circle, "[[...]]"),
        (10**5000, "<int>"),
    ],
    ids=["set", "stubborn", "bytes", "nan", "odd key", "circle", "huge"],
)
def test_what_is_no_json_is_shown(value: Any, shown: Any) -> None:
    assert written(success(value=value), content=True)["result"] == shown


def test_a_file_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    for target in (path, str(path)):
        with JsonLines(target) as observer:
            observer(success())
            assert path.read_bytes().endswith(b"}\n")
    assert len(path.read_text().splitlines()) == 2


WRITER = """
import sys
from sovl_tools.model.call import CallEvent
from sovl_tools.dispatch.telemetry import JsonLines
observer = JsonLines(sys.argv[1], content=True)
sys.stdin.readline()
for name in "abcd":
    for number in range(200):
        observer(CallEvent(name, str(number), 0.0, 0.5, value=name * 3000))
"""


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE, env=clean_environment()
        )
        for _ in range(3)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.close()
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    check(path, processes=3)


def check(path: Path, *, processes: int) -> None:
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert all(record["result"] == record["tool"] * 3000 for record in records)
    found = sorted((record["tool"], int(record["call_id"])) for record in records)
    assert found == sorted([(name, number) for name in "abcd" for number in range(200)] * processes)


@check_each(
    ("seconds", "words"),
    [
        (0, "0 s"), (1e-12, "0 s"), (5.5e-8, "55 ns"), (9.996e-7, "1 µs"), (0.0001234, "123 µs"),
        (0.00123, "1.23 ms"), (0.0996, "99.6 ms"), (0.09996, "100 ms"), (0.9996, "1 s"),
        (1, "1 s"), (59.94, "59.9 s"), (59.96, "1 min"), (123, "2.05 min"), (3599, "1 h"),
        (9e9, "2,500,000 h"),
    ],
)  # fmt: skip
def test_a_duration_is_readable(seconds: float, words: str) -> None:
    assert readable(seconds) == words
