"""Trying a way in which a tool's files change on a product that reloads them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from tests.hot_reload.editing import nothing
from tests.hot_reload.edits import NEEDS, Case, Expected, Step
from tests.hot_reload.workbench import FAILED, GONE, SovlTools, Workbench

Outcome: TypeAlias = Literal["right", "wrong", "not applicable", "crashed"]


class Patience(NamedTuple):
    """How many seconds to wait for what is to come, and to watch what is to stay."""

    wait: float
    watch: float


PATIENCE = Patience(wait=3.0, watch=0.5)


class Verdict(NamedTuple):
    """What became of a case, and in a few words why, or what was seen instead."""

    case: str
    outcome: Outcome
    words: str = ""


def run(
    case: Case, bench: Workbench, product: SovlTools, *, patience: Patience = PATIENCE
) -> Verdict:
    """Try a case on a product whose tools lie in the workbench's ``root``, which is empty so far.

    Raises:
        Exception: whatever the product raises where no tool is called.
    """
    for need in case.needs:
        words, is_met = NEEDS[need]
        if not is_met(bench):
            return Verdict(case.name, "not applicable", words)
    case.prepare(bench)
    product.start()
    try:
        return _Trial(case, bench, product, patience).verdict()
    finally:
        (bench.base / "stuck").unlink(missing_ok=True)
        product.stop()


class _Trial:
    """A case running on a product that is started."""

    def __init__(
        self, case: Case, bench: Workbench, product: SovlTools, patience: Patience
    ) -> None:
        touched = {tool for step in case.steps for tool in step.expected}
        self._steady = {tool: said for tool, said in case.start.items() if tool not in touched}
        self._case, self._bench, self._product, self._patience = case, bench, product, patience
        self._wrong = self._note = ""

    def verdict(self) -> Verdict:
        """Make the edits until something is wrong, and keep what is at the end in sight."""
        name, steps = self._case.name, self._case.steps
        for number, step in enumerate((Step(nothing, self._case.start), *steps)):
            self._try(step)
            if self._wrong:
                when = f"edit {number}: " if len(steps) > 1 else ""
                return Verdict(name, "wrong", f"{when if number else 'start: '}{self._wrong}")
        self._watch(steps[-1])
        return Verdict(name, "wrong" if self._wrong else "right", self._wrong or self._note)

    def _try(self, step: Step) -> None:
        announced = self._product.announced()
        step.edit(self._bench)
        if step.how == "becomes":
            self._product.settle(lambda: self._has_become(step), self._patience.wait)
            return
        self._watch(step)
        if step.how == "quiet" and self._product.announced() > announced:
            self._wrong = self._wrong or "a change is announced"

    def _has_become(self, step: Step) -> bool:
        """Return whether there's nothing to wait for anymore."""
        self._wrong = self._difference(self._steady)
        if self._wrong:
            return True
        self._wrong = self._difference(step.expected)
        if step.description and not self._wrong:
            is_new = self._product.description("echo") == step.description
            self._wrong = "" if is_new else "echo is described as before"
        return not self._wrong

    def _watch(self, step: Step) -> None:
        self._product.settle(lambda: self._has_ceased(step), self._patience.watch)

    def _has_ceased(self, step: Step) -> bool:
        expected = step.expected
        self._wrong = self._difference({**self._steady, **expected})
        return bool(self._wrong)

    def _difference(self, expected: Expected) -> str:
        """Return in words the first answer that is another, or nothing."""
        for tool, wanted in expected.items():
            seen = self._product.answer(tool)
            if seen not in ((wanted,) if isinstance(wanted, str) else wanted):
                return f"{tool} {_worded(seen)}"
        return ""


def _worded(seen: str) -> str:
    if seen == GONE:
        return "is gone"
    return seen.replace(FAILED, "fails: ", 1) if seen.startswith(FAILED) else f"answers {seen!r}"
