"""Runs that are killed and continue."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import REPOSITORY, clean_environment
from tests.procedures.workshop import call, inputs, procedure, values

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there's no kill -9")

Trial = Callable[[Any, list[int]], dict[str, Any]]


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    """Run a procedure in processes that are killed; see ``killing``."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.procedures.killed_runs"],
        cwd=REPOSITORY,
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        requests, answers = process.stdin, process.stdout
        assert requests is not None
        assert answers is not None

        def ask(source: Any, moments: list[int]) -> dict[str, Any]:
            print(json.dumps({"source": source, "moments": moments}), file=requests, flush=True)
            answer: dict[str, Any] = json.loads(answers.readline())
            return answer

        yield ask
        requests.close()


def check(answer: dict[str, Any]) -> None:
    """See that the run did what an undisturbed one does, and no more than it had to."""
    expected = answer["expected"]
    assert answer["result"] == expected["result"]
    assert answer["calls"].keys() == expected["calls"].keys()
    repeated = Counter[str]()
    for steps in answer["kills"]:
        repeated.update(_label(each) for each in steps if each["state"] == "started")
        repeated.update(_label(each) for each in steps if each["tool"] == "refuse")
    for label, count in answer["calls"].items():
        least = expected["calls"][label]
        assert least <= count <= least + repeated[label], label


def _label(step: dict[str, Any]) -> str:
    return str((step["arguments"] or {}).get("label"))


def work(label: str, save_as: str | None = None, **given: Any) -> dict[str, Any]:
    return call("work", save_as, label=label, **{"a": "{{ inputs.n }}", "b": 1, **given})


LONG = procedure(
    work("first", "x"),
    {
        "action": "parallel",
        "branches": {
            "left": [
                {
                    "action": "for_each",
                    "items": "{{ range(4) | list }}",
                    "at_once": 2,
                    "steps": [
                        work("left-{{ item }}", "y", a="{{ item }}"),
                        work("more-{{ item }}", "z", a="{{ y }}"),
                    ],
                    "result": "{{ z }}",
                    "save_as": "left",
                }
            ],
            "right": [
                work("right-1", "r"),
                {**call("refuse", label="refused"), "on_error": "continue"},
                work("right-2", "s", a="{{ r }}"),
                {
                    "action": "procedure",
                    "procedure": "inner",
                    "inputs": {"label": "inner", "a": "{{ s }}"},
                    "save_as": "right",
                },
            ],
            "middle": [call("look", "m", label="look", a=1, b=2), work("middle", "n")],
        },
    },
    values(total="{{ left | sum + right + m + n + x }}"),
    work("last", "last", a="{{ total }}"),
    inputs=inputs("n", n={"type": "integer"}),
    output={"last": "{{ last }}", "left": "{{ left }}"},
)


@pytest.mark.parametrize("seed", range(2))
def test_a_run_that_is_killed_at_any_moment_goes_on(trial: Trial, seed: int) -> None:
    moments = random.Random(seed)
    for _ in range(8):
        answer = trial(LONG, [moments.randrange(40)])
        assert answer["expected"]["signs"] == 32
        assert all(count == 1 for count in answer["expected"]["calls"].values())
        check(answer)


def test_a_run_that_is_killed_again_and_again_goes_on(trial: Trial) -> None:
    answer = trial(LONG, [3, 5, 1, 4, 0, 6])
    check(answer)
    ended = [sum(each["state"] == "succeeded" for each in steps) for steps in answer["kills"]]
    assert ended == sorted(ended)
    assert ended[-1] > ended[0]
