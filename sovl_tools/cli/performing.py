"""A run, from its first step to its end, however it ends."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import click

from sovl_tools.cli.command import Misuse
from sovl_tools.cli.procedures import near, place_of
from sovl_tools.cli.steps import Tell
from sovl_tools.model.document import JSON
from sovl_tools.procedures.errors import RunNotFoundError, StepError
from sovl_tools.procedures.journal.journal import Journal
from sovl_tools.procedures.journal.resume import ChangedProcedureError, UnfinishedError
from sovl_tools.procedures.manager import ProcedureManager
from sovl_tools.procedures.model import Procedure
from sovl_tools.procedures.parse.document import Written
from sovl_tools.procedures.run.events import Event, RunStarted
from sovl_tools.reporting.plain import plain


class Job(NamedTuple):
    """What is to be run.

    Attributes:
        manager: with the tools that it needs.
        procedure: the procedure.
        procedures: it and those that it runs, as they are written.
        again: the arguments that whoever goes on with the run has to give as well.
    """

    manager: ProcedureManager
    procedure: Procedure
    procedures: tuple[Written, ...]
    again: tuple[str, ...] = ()


class Resumption(NamedTuple):
    """A run of a journal that is to go on, and how; see ``ProcedureManager.resume``."""

    journal: Journal
    run_id: str
    force: bool
    repeat_unfinished: bool


def performed(
    job: Job,
    inputs: Mapping[str, JSON],
    kept: Resumption | Journal | None,
    *,
    timeout: float | None,
    show: Tell,
) -> JSON:
    """Run a procedure, or go on with a run, and return the result.

    Args:
        job: the procedure, and what it needs.
        inputs: of a new run.
        kept: the run that is to go on, or the journal of a new one, if there is any.
        timeout: how long it may take, in seconds.
        show: told what happens.

    Raises:
        Misuse: the run can't go on; nothing was done.
        ClickException: a step failed, the time was over, or somebody broke off. What can be
            resumed has been written down, and the message says how.
    """
    run_ids: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, RunStarted):
            run_ids.append(event.run_id)
        show(event)

    async def work() -> JSON:
        _listen_to_signals()
        async with asyncio.timeout(timeout):
            return await _begun(job, inputs, kept, hear)

    try:
        return asyncio.run(work())
    except (ChangedProcedureError, RunNotFoundError) as error:
        raise Misuse(f"{error}{_ADVICE.get(type(error), '')}") from error
    except (StepError, TimeoutError, KeyboardInterrupt) as error:
        words = f"{_failure(error, job, timeout)}{_ADVICE.get(type(error), '')}"
        raise click.ClickException(words + _way_on(kept, run_ids, job)) from error


def _begun(
    job: Job, inputs: Mapping[str, JSON], kept: Resumption | Journal | None, tell: Tell
) -> Coroutine[Any, Any, JSON]:
    if not isinstance(kept, Resumption):
        return job.manager.run(job.procedures[0], inputs, journal=kept, on_event=tell)
    return job.manager.resume(
        kept.journal,
        kept.run_id,
        source=job.procedures[0],
        force=kept.force,
        repeat_unfinished=kept.repeat_unfinished,
        on_event=tell,
    )


def _listen_to_signals() -> None:
    """Take SIGTERM for Ctrl-C, so that the run ends in order.

    A loop that handles one signal wakes up for all, also for a Ctrl-C that the system has given to
    another thread; by itself it would wait on.
    """
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # on Windows, where a loop wakes up anyway
        loop.add_signal_handler(signal.SIGTERM, signal.raise_signal, signal.SIGINT)


def _failure(error: BaseException, job: Job, timeout: float | None) -> str:
    """Return why a run has ended, with the place of the step in its file."""
    if isinstance(error, StepError):
        where = place_of(error, job.procedures)
        return plain(f"{where}: {error}" if where else str(error))
    is_late = isinstance(error, TimeoutError)
    return f"the run took longer than {timeout:g} s" if is_late else "the run was interrupted"


def _way_on(kept: Resumption | Journal | None, run_ids: Sequence[str], job: Job) -> str:
    """Return lines that say how a run can go on; "" if it can't."""
    if kept is None or not run_ids:
        return ""
    journal = kept.journal if isinstance(kept, Resumption) else kept
    command = ["sovl-tools", "run", "--journal", near(journal.path), "--resume", *run_ids]
    step = job.manager.unfinished_step(journal, run_ids[0], job.procedures[0])
    again, why = job.again, ""
    if step is not None:
        again = (*again, "--repeat-unfinished")
        what = step.tool or step.action
        why = plain(f"{what!r} was under way [{step.key}]: going on runs it once more")
    way = f"to go on: {shlex.join([*command, *again])}"
    return "".join(f"\n{line}" for line in (why, way) if line)


_ADVICE: Mapping[type[BaseException], str] = {
    ChangedProcedureError: "; go on all the same with --force",
    UnfinishedError: "; take it again with --repeat-unfinished",
}
