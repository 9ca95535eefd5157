"""Running examples in child processes, so that none can end, hang or slow down another."""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from queue import Empty
from typing import Any, NoReturn

from sovl_tools.configuration import Configuration
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.linting.examples import Example, Status, Tested, run_example, working_directory
from sovl_tools.loading.child import READY, report_pipe
from sovl_tools.loading.isolation import MAX_OUTPUT, Child
from sovl_tools.model.errors import TimeLimitError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.host import Host
from sovl_tools.model.policy import Policy
from sovl_tools.registry import ToolRegistry

_GRACE = 3.0
_MOST_PRINTED = 4000


def run_examples(
    examples: Iterable[Example],
    *,
    settings: Configuration,
    processes: int = 1,
    host: Host | None = None,
    observe: Callable[[Tested], object] = lambda _: None,
) -> list[Tested]:
    """Run examples, those of a tool in one process, and return their results in the same order.

    Args:
        examples: of all tools; skipped and broken ones are in the results, too.
        settings: how tools are loaded and called.
        processes: the number of child processes.
        host: runs them in this process instead, one after another, and answers their questions.
        observe: called with each result, from several threads but never by two at a time.

    Raises:
        SovlToolsError: no process could be started.
    """
    wanted = list(examples)
    found: dict[str, Tested] = {}
    groups: dict[str, list[Example]] = {}
    lock = threading.Lock()

    def done(tested: Tested) -> None:
        with lock:
            found[tested.example.id] = tested
            observe(tested)

    for each in wanted:
        if each.skipped or each.problem:
            status: Status = "failed" if each.problem else "skipped"
            done(Tested(each, status, each.problem or each.skipped))
        else:
            groups.setdefault(each.folder.location, []).append(each)
    options: dict[str, Any] = {
        "import_timeout": settings.import_timeout,
        "locked": settings.lock_file if settings.locked else None,
    }
    if host is not None:
        policy = settings.policy.but(approval=settings.policy.approval or "destructive")
        for group in groups.values():
            _run_here(group, options, policy, host, done)
    elif groups:
        # --include has named the destructive tools
        options["policy"] = asdict(settings.policy.but(approval="never"))
        _run_in_children(list(groups.values()), options, done, min(processes, len(groups)))
    return [found[each.id] for each in wanted]


def _run_here(
    group: list[Example],
    options: dict[str, Any],
    policy: Policy,
    host: Host,
    done: Callable[[Tested], object],
) -> None:
    """Run the examples of a tool in this process."""
    registry = ToolRegistry.from_directory(group[0].folder.path, **options)
    with Tooler(registry, policy=policy, host=host) as tooler:
        for example in group:
            try:
                with working_directory(example.folder) as directory:
                    tested, _ = run_example(example, tooler, directory)
            except OSError as error:
                tested = Tested(example, "failed", _not_copied(error))
            done(tested)


def _not_copied(error: OSError) -> str:
    return f"its files can't be copied: {error.strerror or error}"


def _run_in_children(
    groups: list[list[Example]],
    options: dict[str, Any],
    done: Callable[[Tested], object],
    processes: int,
) -> None:
    """Run the examples of each tool in one of several processes, replaced when they fail.

    Raises:
        SovlToolsError: no process could be started.
    """
    own, runners, over = threading.local(), set[_Runner](), threading.Event()

    def run_group(group: list[Example]) -> None:
        runner: _Runner | None = getattr(own, "runner", None)
        for example in group:
            if runner is None or runner.is_over:
                if runner is not None:
                    runner.end()
                own.runner = runner = _Runner(options)
                runners.add(runner)
            tested = runner.run(example)
            if over.is_set():
                return
            if not runner.has_loaded:  # which is the result of all its examples
                for each in group:
                    done(tested._replace(example=each))
                return
            done(tested)

    with ThreadPoolExecutor(processes) as pool:
        try:
            for _ in pool.map(run_group, groups):
                pass
        finally:  # of an interrupt, too
            over.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for runner in list(runners):
                runner.end()


class _Runner(Child):
    """A child process that runs one example after another.

    Raises:
        SovlToolsError: it has not started.

    Attributes:
        is_over: whether a new process must run the other examples.
        has_loaded: whether the tool of the last example could be loaded.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self.is_over = False
        self.has_loaded = True
        self._options = options
        self._printed = b""
        self._is_all_printed = threading.Event()
        self._mark = secrets.token_hex()
        self._known: set[str] = set()
        super().__init__(__name__, self._keep)
        self.send({"options": self._options, "mark": self._mark})
        self.await_start()

    def _keep(self, chunk: bytes) -> None:
        if self._is_all_printed.is_set():
            return  # threads of an example that has ended print, too
        mark = self._mark.encode()
        printed, end, _ = (self._printed + chunk).partition(mark)
        # the mark can arrive in two pieces
        self._printed = printed[-_MOST_PRINTED - len(mark) :]
        if end:
            self._is_all_printed.set()

    def _read_output(self) -> None:
        super()._read_output()
        self._is_all_printed.set()

    def run(self, example: Example) -> Tested:
        """Return the result of an example, however it ends; only one can run at a time."""
        self.printed, self._printed = 0, b""
        self._is_all_printed.clear()
        started = time.monotonic()
        limit = example.limit
        if example.folder.location not in self._known:
            limit += self._options["import_timeout"]
            self._known.add(example.folder.location)
        try:
            with working_directory(example.folder) as directory:
                document = {**example._asdict(), "folder": example.folder[:3]}
                self.send({"example": document, "directory": directory})
                line = self.line(started + limit + _GRACE)
        except OSError as error:
            return Tested(example, "failed", _not_copied(error))
        except Empty:
            self.is_over = True
            self.abort()
            words = f"the call {TimeLimitError(example.limit)}, and its process was ended"
            return self._failed(example, words, started)
        if line:
            self._is_all_printed.wait(_GRACE)  # the two pipes are read by two threads
        if not line or self.printed > MAX_OUTPUT:
            self.is_over = True
            words = f"the call ended its process: {self.ended_by()}"
            return self._failed(example, words, started)
        answer = json.loads(line)
        self.is_over, self.has_loaded = answer["is_abandoned"], answer["is_loaded"]
        tested = Tested(example, answer["status"], answer["message"], answer["duration"])
        return tested._replace(printed=self._text())

    def _failed(self, example: Example, words: str, started: float) -> Tested:
        return Tested(example, "failed", words, time.monotonic() - started, self._text())

    def _text(self) -> str:
        return self._printed[-_MOST_PRINTED:].decode(errors="replace")


def serve(request: dict[str, Any]) -> NoReturn:
    """Run the examples that come in, and answer each in a line.

    After an example that leaves a thread behind, a new process runs the others.
    """
    answers = report_pipe()
    output, mark = os.dup(2), request["mark"].encode()
    requests = os.fdopen(os.dup(0), "rb")  # tools that read the standard input don't get them
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    answers.write(READY)
    policy = Policy(**request["options"].pop("policy"))
    toolers: dict[str, tuple[Tooler, bool]] = {}
    for line in requests:
        document = json.loads(line)
        folder = ToolFolder(*document["example"]["folder"])
        example = Example(**{**document["example"], "folder": folder})
        if folder.location not in toolers:
            registry = ToolRegistry.from_directory(folder.path, **request["options"])
            tooler = Tooler(registry, policy=policy)
            toolers[folder.location] = tooler, folder.name in registry
        tooler, is_loaded = toolers[folder.location]
        tested, is_abandoned = run_example(example, tooler, document["directory"])
        sys.stderr.flush()
        answer = {
            "status": tested.status,
            "message": tested.message,
            "duration": tested.duration,
            "is_loaded": is_loaded,
            "is_abandoned": is_abandoned,
        }
        os.write(output, mark)
        answers.write(json.dumps(answer).encode() + b"\n")
    os._exit(0)
