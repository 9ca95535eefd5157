from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import CallEvent
from sovl_tools.cli.stats import _lines, _Tally, _warnings
from sovl_tools.dispatch.statistics import summary
from sovl_tools.dispatch.telemetry import JsonLines
from tests.cli.conftest import Shell
from tests.conftest import Run
from tests.schema.strategies import moderate, values
from tests.tables import check_each

NOON = 1_763_812_800.0
SUM = "6 calls of 3 tools from 2025-11-22T12:00:00Z to 2025-11-22T12:00:05Z\n"


def event(tool: str, after: float = 0, duration: float = 0.5, **fields: Any) -> CallEvent:
    return CallEvent(tool, f"c{after:g}", NOON + after, duration, **fields)


EVENTS = (
    event("search_web", 0, 0.25),
    event("search_web", 1, 30.0, kind="timeout", is_abandoned=True),
    event("search_web", 2, 0.001),
    event("search_web", 3, 30.0, kind="timeout"),
    event("add", 5, 0.00005, value="\ud800"),
    event("search_mail", 4, 0.002),
)


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls.jsonl"
    with JsonLines(path, content=True) as observer:
        for each in EVENTS:
            observer(each)
    return path


@pytest.mark.usefixtures("calls")
def test_a_table_shows_the_tools_by_calls(run: Run) -> None:
    done = run("stats", "calls.jsonl")
    assert (done.code, done.err) == (0, SUM)
    assert done.out.splitlines() == [
        "TOOL         CALLS     P50    P95    P99  LONGEST  TOTAL  ERRORS",
        "search_web       4  251 ms   30 s   30 s     30 s  1 min  2 timeout (1 abandoned)",
        "add              1   50 µs  50 µs  50 µs    50 µs  50 µs",
        "search_mail      1    2 ms   2 ms   2 ms     2 ms   2 ms",
    ]


def test_standard_input_is_read(run: Run, calls: Path) -> None:
    done = run("stats", "-", "--tool", "add", stdin=calls.read_text())
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == ["TOOL", "add"]


@pytest.mark.usefixtures("calls")
def test_a_pattern_selects_tools_and_quiet_leaves_out_the_sum(run: Run) -> None:
    done = run("-q", "stats", "calls.jsonl", "--tool", "search_*", "--format", "json")
    assert (done.code, done.err) == (0, "")
    first, second = json.loads(done.out)
    assert first == {
        "tool": "search_web",
        "calls": 4,
        "errors": {"timeout": 2},
        "abandoned": 1,
        "p50": 0.251,
        "p95": 30.0,
        "p99": 30.0,
        "mean": 15.06275,
        "shortest": 0.001,
        "longest": 30.0,
        "total": 60.251,
    }
    assert (second["tool"], second["errors"]) == ("search_mail", {})


@pytest.mark.usefixtures("calls")
def test_yaml_says_the_same_as_json(run: Run) -> None:
    document = json.loads(run("stats", "calls.jsonl", "--format", "json").out)
    assert yaml.safe_load(run("stats", "calls.jsonl", "--format", "yaml").out) == document


@pytest.mark.usefixtures("calls")
def test_no_calls_are_no_failure(run: Run) -> None:
    assert run("stats", "calls.jsonl", "--tool", "nothing") == (0, "no calls\n", "")
    assert run("stats", "-", "--format", "json") == (0, "[]\n", "")


def test_failures_are_listed_by_kind_the_most_frequent_first(run: Run, tmp_path: Path) -> None:
    with JsonLines(tmp_path / "calls.jsonl") as observer:
        for kind in ("tool_error", "timeout", "timeout", "cancelled"):
            observer(event("add", kind=kind))
    done = run("stats", "calls.jsonl")
    assert done.out.endswith("  2 timeout, 1 cancelled, 1 tool_error\n")


def test_a_closed_standard_input_is_misuse(shell: Shell) -> None:
    done = shell("stats - <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: there is no standard input\n"


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_a_file_that_cannot_be_read_is_misuse(name: str, run: Run) -> None:
    done = run("stats", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {name!r} can't be read: ")


def test_a_bad_line_is_told_with_its_place_and_left_out(run: Run, calls: Path) -> None:
    calls.write_bytes(calls.read_bytes() + b"\nnonsense\n\x1b[1m\n")
    done = run("stats", "calls.jsonl")
    assert done.code == 1
    assert done.err == f"calls.jsonl:8: is no JSON\ncalls.jsonl:9: is no JSON\n{SUM}"
    assert len(done.out.splitlines()) == 4


def test_many_bad_lines_are_told_in_part(run: Run) -> None:
    done = run("stats", "-", stdin="nonsense\n" * 25)
    assert (done.code, done.out) == (1, "no calls\n")
    lines = done.err.splitlines()
    assert len(lines) == 21
    assert lines[19:] == ["standard input:20: is no JSON", "standard input: 5 more bad lines"]


def test_names_are_shown_so_that_no_terminal_is_hurt(run: Run, tmp_path: Path) -> None:
    with JsonLines(tmp_path / "calls.jsonl") as observer:
        for name in ("\x1b[2J", "a\nb", "\ud800", "x" * 1000):
            observer(event(name, kind="unknown_tool"))
    done = run("stats", "calls.jsonl")
    names = [line.split()[0] for line in done.out.splitlines()]
    assert names == ["TOOL", "\\x1b[2J", "a\\nb", f"{'x' * 63}…", "\\ud800"]
    for name in ("json", "yaml"):
        assert "\\x1b[2J" not in run("stats", "calls.jsonl", "--format", name).out
        assert "\x1b" not in run("stats", "calls.jsonl", "--format", name).out


def told(*lines: str) -> tuple[_Tally, list[tuple[int, str]]]:
    """Return the tally of the lines, and what is said of the bad ones."""
    tally = _Tally("*")
    file = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
    return tally, list(_warnings(file, tally))


GOOD = {"time": "2025-11-22T12:00:00Z", "tool": "add", "duration": 1, "ok": True}


def changed(**keys: Any) -> str:
    return json.dumps({**GOOD, **keys})


@check_each(
    ("line", "words"),
    [
        ("[1]", "is no JSON object"),
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        (changed(duration=float("nan")), "is no JSON"),
        ("x" * 2_500_000, "is longer than 1,000,000 bytes"),
        ('{"time": "2025-11-22T12:00:00Z", "ok": true}', "lacks 'tool', 'duration'"),
        (changed(duration="5"), "'duration' must be a number, not the string \"5\""),
        (changed(duration=-5), "'duration' must be at least 0, not -5"),
        (changed(duration=10**40), f"'duration' must be at most 1000000000, not {10**40}"),
        (changed(ok=False), "lacks 'error'"),
        (changed(ok=False, error="tiemout"), 'did you mean "timeout"?'),
        (changed(time="yesterday"), 'not "yesterday"'),
        (changed(time="2025-11-22T12:00:00"), "'time' must be like 2026-01-31T12:00:00Z"),
        (changed(time="0001-01-01T00:00:00+05:00"), "'time' must be like 2026-01-31T12:00:00Z"),
        (changed(time="x" * 100_000), "x…"),
    ],
    ids=lambda text: text[:40],
)
def test_what_is_wrong_with_a_line_is_said(line: str, words: str) -> None:
    tally, ((number, said),) = told(changed(), line, "", changed())
    assert number == 2
    assert words in said
    assert len(said) < 300
    assert tally.logs["add"].statistics("add").calls == 2


def test_keys_of_other_programs_do_not_matter() -> None:
    tally, warnings = told(changed(level="info", arguments=[float(1)], result="\ud800"))
    assert warnings == []
    assert tally.logs["add"].statistics("add").calls == 1


def test_times_of_other_zones_are_told_in_utc() -> None:
    tally, _ = told(
        changed(time="2025-11-22T12:00:00+02:00"), changed(time="2025-11-22T09:30:00.5-01:00")
    )
    assert [each.isoformat(timespec="seconds") for each in (tally.first, tally.last)] == [
        "2025-11-22T10:00:00+00:00", "2025-11-22T10:30:00+00:00",
    ]  # fmt: skip


def test_a_line_that_never_ends_is_given_up() -> None:
    class Endless(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            return b"x" * (size or 0)

    assert [len(line) for line in _lines(Endless())] == [1_000_000]


def test_a_line_is_read_in_bounded_pieces() -> None:
    assert [len(line) for line in _lines(io.BytesIO(b"x" * 2_000_000 + b"\ny\n" + b"z" * 10))] == [
        1_000_000, 2, 10,
    ]  # fmt: skip


@moderate
@given(
    st.lists(
        st.builds(
            event,
            st.sampled_from(["add", "echo"]) | st.text(max_size=3),
            st.floats(0, 1e6),
            st.floats(0, 1e6),
            kind=st.sampled_from([None, "timeout", "tool_error"]),
            is_abandoned=st.booleans(),
            arguments=values,
            value=values,
        ),
        max_size=20,
    )
)
def test_what_was_written_is_what_is_counted(events: list[CallEvent]) -> None:
    stream = io.StringIO()
    observer = JsonLines(stream, content=True)
    for each in events:
        observer(each)
    tally = _Tally("*")
    assert list(_warnings(io.BytesIO(stream.getvalue().encode()), tally)) == []
    found = summary(tally.logs)
    assert found.keys() == {each.tool for each in events}
    for tool, statistics in found.items():
        mine = [each for each in events if each.tool == tool]
        assert statistics.calls == len(mine)
        assert statistics.failures == sum(not each.ok for each in mine)
        assert statistics.abandoned == sum(each.is_abandoned for each in mine if not each.ok)
        assert statistics.total == pytest.approx(sum(each.duration for each in mine))
