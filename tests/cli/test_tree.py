from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.cli.run_display import Line, Tree, line_pieces
from sovl_tools.procedures.run.environment import State, StepEnded, StepRetried, StepStarted
from sovl_tools.reporting.text import unstyled
from tests.patience import bounded_work

KEYS = [
    "steps.0",
    "steps.0[0].steps.0",
    "steps.0[1].steps.0",
    "steps.0[0].steps.1",
    "steps.0[1].steps.1",
    "steps.1",
    "steps.1~2/other:steps.0",
    "steps.1~2/other:steps.0.then.0",
    "steps.10",
    "steps.10.branches.left.0",
    "steps.10.branches.right.0",
]


def depth(key: str) -> int:
    return sum(key.count(each) for each in ("[", "/", ".then.", ".branches."))


def started(*keys: str) -> Tree:
    tree = Tree()
    for key in keys:
        tree.hear(StepStarted(key, "step", depth(key)), 0.0)
    return tree


def ended(key: str, state: State = "succeeded", message: str | None = None) -> StepEnded:
    return StepEnded(key, "step", depth(key), state, 1.0, message)


def keys(lines: list[Line | int]) -> list[str | int]:
    return [line if isinstance(line, int) else line.key for line in lines]


def test_each_step_stands_under_the_one_around_it_by_iteration_and_branch() -> None:
    assert keys(started(*KEYS).lines(99)) == [
        "steps.0",
        "steps.0[0].steps.0",
        "steps.0[0].steps.1",
        "steps.0[1].steps.0",
        "steps.0[1].steps.1",
        *KEYS[5:],
    ]


def test_iterations_and_branches_are_named() -> None:
    lines = started(*KEYS).lines(99)
    labels = {line.key: line.label for line in lines if isinstance(line, Line)}
    assert labels["steps.0[1].steps.0"] == "#2 step"
    assert labels["steps.10.branches.left.0"] == "left: step"
    assert labels["steps.1~2/other:steps.0.then.0"] == "step"


def test_a_reason_is_told_once_where_it_came_up() -> None:
    tree = started("steps.0", "steps.0[0].steps.0")
    tree.hear(ended("steps.0[0].steps.0", "failed", "no"), 1.0)
    tree.hear(ended("steps.0", "failed", "no"), 1.0)
    assert [line.message for line in tree.lines(9) if isinstance(line, Line)] == [None, "no"]


def test_the_end_of_a_step_costs_the_same_however_many_there_are() -> None:
    keys = [f"steps.0[{number}].steps.0" for number in range(20_000)]
    tree = started(*keys)
    with bounded_work():
        for key in keys:
            tree.hear(ended(key, "continued", "no"), 1.0)


def test_a_step_that_is_tried_again_says_why_until_it_has_ended() -> None:
    tree = started("steps.0")
    tree.hear(StepRetried("steps.0", "step", 0, 1, 0.5, "no"), 1.0)
    (line,) = tree.lines(9)
    assert isinstance(line, Line)
    assert line.message == "no; attempt 2 in 0.5 s"
    tree.hear(ended("steps.0"), 1.0)
    (line,) = tree.lines(9)
    assert isinstance(line, Line)
    assert (line.state, line.duration, line.message) == ("succeeded", 1.0, None)


def test_a_step_that_is_skipped_needs_no_beginning_and_one_may_begin_anew() -> None:
    tree = Tree()
    tree.hear(ended("steps.0", "skipped"), 0.0)
    tree.hear(StepStarted("steps.0", "step", 0), 5.0)
    assert tree.lines(9) == [Line("steps.0", "step", 0, "running", 5.0)]


def test_what_is_under_way_or_has_failed_is_kept_where_there_is_little_room() -> None:
    tree = started(*(f"steps.{number}" for number in range(10)))
    for number in range(1, 10):
        message = "no" if number == 3 else None
        tree.hear(ended(f"steps.{number}", "failed" if message else "succeeded", message), 1.0)
    assert keys(tree.lines(4)) == [7, "steps.0", "steps.3", "steps.9"]


@given(st.lists(st.sampled_from(KEYS), unique=True), st.integers(1, 12))
def test_there_are_never_more_lines_than_there_is_room(chosen: list[str], limit: int) -> None:
    lines = started(*chosen).lines(limit)
    assert len(lines) <= limit
    shown = sum(line if isinstance(line, int) else 1 for line in lines)
    assert shown == len(chosen)


def test_a_line_is_free_of_control_characters() -> None:
    line = Line("steps.0", "a\x1b[2J" * 9, 3, "failed", time.perf_counter(), 1.0, "no\n" * 99)
    text = unstyled(line_pieces(line))
    assert text.isprintable()
    assert text.startswith(r"      ✗ a\x1b[2J")
    assert unstyled(line_pieces(12_000)) == "… 12,000 more"
