"""Running examples in child processes, so that none can end, hang or slow down another."""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from queue import Empty
from typing import Any, NoReturn

from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.linting.examples import Example, Status, Tested, run_example, working_directory
from sovl_tools.loading.child import SPEECHLESS, Interpreter, report_pipe
from sovl_tools.loading.isolation import MAX_OUTPUT, Child
from sovl_tools.loading.modules import guard_imports
from sovl_tools.model.document import is_record, parse_json
from sovl_tools.model.errors import SovlToolsError, TimeLimitError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.registry import ToolRegistry

_GRACE = 3.0
_MOST_PRINTED = 4000
_ANSWER: dict[str, tuple[type, ...]] = {
    "pid": (int,),
    "status": (str,),
    "message": (str,),
    "duration": (int, float),
    "is_loaded": (bool,),
    "is_last": (bool,),
}


def run_examples(
    examples: Iterable[Example],
    *,
    import_timeout: float,
    locked: str | None = None,
    processes: int = 1,
    observe: Callable[[Tested], object] = lambda _: None,
) -> list[Tested]:
    """Run examples, those of a tool in one process, and return what came of each, in their order.

    Args:
        examples: all that there are; those that are skipped or can't be run come back as such.
        import_timeout: how long importing a tool may take, in seconds.
        locked: the file of hashes that tools must have; None if they may have any.
        processes: how many run at a time.
        observe: called with each that is done, from several threads but never by two at a time.

    Raises:
        SovlToolsError: no process could be started.
    """
    found: dict[str, Tested] = {}
    groups: dict[str, deque[Example]] = {}
    wanted = list(examples)
    for each in wanted:
        if each.skipped or each.problem:
            status: Status = "failed" if each.problem else "skipped"
            found[each.id] = Tested(each, status, each.problem or each.skipped)
            observe(found[each.id])
        else:
            groups.setdefault(each.folder.location, deque()).append(each)
    options = {"import_timeout": import_timeout, "locked": locked}
    work = _Work(groups.values(), options)

    def done(tested: Tested) -> None:
        found[tested.example.id] = tested
        observe(tested)

    work.run(min(processes, len(groups)), done)
    return [found[each.id] for each in wanted]


class _Work:
    """Examples that wait to be run, and the processes that run them."""

    def __init__(self, groups: Iterable[deque[Example]], options: dict[str, Any]) -> None:
        self._groups = deque(groups)
        self._options = options
        self._lock = threading.Lock()
        self._children: set[_Runner] = set()
        self._errors: list[SovlToolsError] = []
        self._is_over = False

    def run(self, processes: int, done: Callable[[Tested], object]) -> None:
        threads = [
            threading.Thread(target=self._serve, args=[done], daemon=True) for _ in range(processes)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:  # of an interrupt, too
            self._is_over = True
            self._groups.clear()
            for child in list(self._children):
                child.end()
        if self._errors:
            raise self._errors[0]

    def _serve(self, done: Callable[[Tested], object]) -> None:
        runner = None
        while True:
            try:
                group = self._groups.popleft()
            except IndexError:
                break
            for example in group:
                if self._is_over:
                    break
                try:
                    if runner is None or runner.is_over:
                        self._close(runner)
                        runner = _Runner(self._options)
                        self._children.add(runner)
                        runner.start()
                    tested = runner.run(example)
                except SovlToolsError as error:
                    self._errors.append(error)
                    self._groups.clear()
                    return
                same = [] if runner.has_loaded else [tested._replace(example=e) for e in group]
                with self._lock:
                    for each in same or [tested]:
                        done(each)
                if same:
                    break
        self._close(runner)

    def _close(self, runner: _Runner | None) -> None:
        if runner is not None:
            runner.end()
            self._children.discard(runner)


class _Runner(Child):
    """A child process that runs one example after another.

    Attributes:
        is_over: whether another one has to go on.
        has_loaded: whether the tool of the last example could be loaded.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self.is_over = False
        self.has_loaded = True
        self._options = options
        self._printed = b""
        self._is_all_printed = threading.Event()
        self._mark = secrets.token_hex()
        self._pid = 0
        self._known: set[str] = set()
        super().__init__(__name__, self._keep)

    def start(self) -> None:
        """Wait until it is ready.

        Raises:
            SovlToolsError: it has not started.
        """
        self.send({"path": sys.path, "options": self._options, "mark": self._mark})
        self._pid = self.await_start(_number)

    def _keep(self, chunk: bytes) -> None:
        if self._is_all_printed.is_set():
            return  # what comes after an example is nobody's
        mark = self._mark.encode()
        printed, end, _ = (self._printed + chunk).partition(mark)
        # the mark may come in two pieces
        self._printed = printed[-_MOST_PRINTED - len(mark) :]
        if end:
            self._is_all_printed.set()

    def _read_output(self) -> None:
        super()._read_output()
        self._is_all_printed.set()

    def run(self, example: Example) -> Tested:
        """Return what came of an example, however it ended; no other one may be run meanwhile."""
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
                answer = self._answer(started + limit + _GRACE)
        except OSError as error:
            words = f"its files can't be copied: {error.strerror or error}"
            return Tested(example, "failed", words)
        if answer is None:
            self.is_over = True
            words = f"the call ended its process: {self.ended_by()}"
        elif answer is _LATE:
            self.is_over = True
            self.abort()
            words = f"the call {TimeLimitError(example.limit)}, and its process was ended"
        else:
            self.is_over, self.has_loaded = answer["is_last"], answer["is_loaded"]
            tested = Tested(example, answer["status"], answer["message"], answer["duration"])
            return tested._replace(printed=self._text())
        duration = time.monotonic() - started
        return Tested(example, "failed", words, duration, self._text())

    def _answer(self, deadline: float) -> Any:
        """Return its answer, ``_LATE``, or None if none will come any more.

        What another process says, or what is no answer, is nobody's verdict.
        """
        try:
            line = self.line(deadline)
        except Empty:
            return _LATE
        try:
            answer = parse_json(line)
        except ValueError:
            return None
        is_own = is_record(answer, _ANSWER) and answer["pid"] == self._pid
        if not is_own or answer["status"] not in {"passed", "failed"}:
            return None
        # the two pipes are read by two threads
        self._is_all_printed.wait(_GRACE)
        return answer if self.printed <= MAX_OUTPUT else None

    def _text(self) -> str:
        return self._printed[-_MOST_PRINTED:].decode(errors="replace")


_LATE = object()


def _number(line: bytes) -> int | None:
    try:
        return int(line)
    except ValueError:
        return None


def serve(request: dict[str, Any]) -> NoReturn:
    """Say which process this is, then run the examples that come in, and answer each in a line.

    After an example that leaves a thread behind, or damages the interpreter, another process has
    to go on with the others.
    """
    answers = report_pipe()
    output, mark = os.dup(2), request["mark"].encode()
    requests = os.fdopen(os.dup(0), "rb")  # what a tool reads must not be what is meant for us
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    interpreter = Interpreter()
    guard_imports(interpreter)
    answers.write(f"{os.getpid()}\n".encode())
    toolers: dict[str, tuple[Tooler, bool]] = {}
    for line in requests:
        document = json.loads(line)
        folder = ToolFolder(*document["example"]["folder"])
        example = Example(**{**document["example"], "folder": folder})
        if folder.location not in toolers:
            registry = ToolRegistry.from_directory(folder.path, **request["options"])
            toolers[folder.location] = Tooler(registry), folder.name in registry
        tooler, is_loaded = toolers[folder.location]
        tested, is_abandoned = run_example(example, tooler, document["directory"])
        sys.stderr.flush()
        answer = {
            "pid": os.getpid(),
            "status": tested.status,
            "message": tested.message,
            "duration": tested.duration,
            "is_loaded": is_loaded,
            "is_last": is_abandoned or interpreter.is_damaged,
        }
        try:
            os.write(output, mark)
            answers.write(json.dumps(answer).encode() + b"\n")
        except Exception:  # noqa: BLE001 - a tool has taken the pipe or a library away
            os._exit(SPEECHLESS)
    os._exit(0)
