"""What a call on a Dask cluster costs beside bare Dask in the same run; see process.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple

from processes import ENVIRONMENT, cpu_of

from sovl_tools import Tooler, ToolRegistry

TARGET = 1.3
ROUNDS = 5
UNDER_WAY = 32
MANY, WORKERS = 10_000_000, 100


def add(number: int, how: str) -> int:
    """Do in bare Dask what the tool does."""
    return number + len(how)


class Cluster(NamedTuple):
    """A scheduler and two workers of one thread, each a process.

    Attributes:
        address: the scheduler's.
        scheduler: its process.
        workers: theirs.
    """

    address: str
    scheduler: int
    workers: tuple[int, ...]


@contextmanager
def cluster(workers: int = 2) -> Iterator[Cluster]:
    """Start them, as `dask scheduler` and `dask worker` do."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "scheduler.json")
        # bare Dask finds its function here
        variables = {**ENVIRONMENT, "PYTHONPATH": os.path.dirname(os.path.abspath(__file__))}
        quiet: Any = {"cwd": place, "env": variables, "stderr": subprocess.DEVNULL}
        options = ["--scheduler-file", str(file), "--no-dashboard"]
        scheduler = "distributed.cli.dask_scheduler"
        one = ["distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
        started: list[subprocess.Popen[bytes]] = []

        def start(*command: str) -> int:
            process: Any = subprocess.Popen([sys.executable, "-m", *command, *options], **quiet)
            started.append(process)
            return int(process.pid)

        try:
            first = start(scheduler, "--port", "0", "--host", "127.0.0.1")
            while not (file.exists() and file.read_text().endswith("}")):
                sleep(0.05)
            rest = tuple(start(*one) for _ in range(workers))
            yield Cluster(json.loads(file.read_text())["address"], first, rest)
        finally:
            for each in started:
                each.terminate()
            for each in started:
                each.wait()


def ways_to_call(
    client: Any, directory: Path, calls: int
) -> dict[str, tuple[Callable[[], object], int]]:
    """Return what makes calls, and how many; the bare ways and ours."""
    executor = client.get_executor(pure=False)
    tooler = Tooler(ToolRegistry.from_directory(directory), executor=executor)
    inputs: list[Any] = [{"number": number, "how": "add"} for number in range(calls)]
    few = inputs[::5]

    def under_way() -> None:
        pending: set[Any] = set()
        for each in inputs:
            pending.add(executor.submit(add, **each))
            if len(pending) >= UNDER_WAY:
                _, pending = wait(pending, return_when=FIRST_COMPLETED)
        wait(pending)

    def mapped() -> None:
        assert all(each.result.ok for each in tooler.map("act", inputs, limit=UNDER_WAY))

    def one() -> None:
        assert all(tooler.call_sync("act", each).ok for each in few)

    return {
        "bare Dask, all and gather": (
            lambda: client.gather([client.submit(add, **each, pure=False) for each in inputs]),
            calls,
        ),
        f"bare Dask, {UNDER_WAY} under way": (under_way, calls),
        f"map, {UNDER_WAY} under way": (mapped, calls),
        "bare Dask, one by one": (
            lambda: [client.submit(add, **each, pure=False).result() for each in few],
            len(few),
        ),
        "call_sync, one by one": (one, len(few)),
    }


def compare_dask(directory: Path, calls: int) -> None:
    """Print the cost of calls beside that of bare Dask, and what many calls would take."""
    from distributed import Client  # noqa: PLC0415 - the extra

    with cluster() as found, Client(found.address) as client:
        client.wait_for_workers(len(found.workers))
        processes = {"client": [os.getpid()], "scheduler": [found.scheduler]}
        processes["workers"] = [*found.workers]
        ways = ways_to_call(client, directory, calls)
        costs = {name: measured(*way, processes) for name, way in ways.items()}
        for _ in range(ROUNDS - 1):  # in alternation, because a busy machine makes all dearer
            for name, way in ways.items():
                costs[name] = min(costs[name], measured(*way, processes), key=total)
    tell(costs)


def measured(
    work: Callable[[], object], calls: int, processes: dict[str, list[int]]
) -> dict[str, float]:
    """Return the CPU microseconds of a call in each process, and by the clock."""

    def seconds() -> dict[str, float]:
        spent = {name: sum(map(cpu_of, pids)) for name, pids in processes.items()}
        return {**spent, "clock": perf_counter()}

    before = seconds()
    work()
    return {name: (now - before[name]) / calls * 1e6 for name, now in seconds().items()}


def total(cost: dict[str, float]) -> float:
    """Return the CPU microseconds of a call in all processes."""
    return sum(cost.values()) - cost["clock"]


def tell(costs: dict[str, dict[str, float]]) -> None:
    """Print the costs, and what saturates first when there are many calls."""
    names = ("client", "scheduler", "workers", "clock")
    heads = "".join(f"{name:>11}" for name in names)
    print(f"\n{'CPU of a call, in µs':<28}{heads}{'all':>8}{'/ gather':>10}{'/ same':>8}")
    gather, bare, mapped, bare_one, one = map(total, costs.values())
    ratios = {2: (mapped / gather, mapped / bare), 4: (one / gather, one / bare_one)}
    for number, (name, cost) in enumerate(costs.items()):
        line = f"{name:<28}" + "".join(f"{cost[each]:>11.0f}" for each in names)
        line += f"{total(cost):>8.0f}"
        if number in ratios:
            line += "{:>10.2f}{:>8.2f}".format(*ratios[number])
            is_missed = ratios[number][number == 4] > TARGET
            line += f"  missed (at most {TARGET})" if is_missed else ""
        print(line)
    cost = list(costs.values())[2]
    slowest = max(("client", "scheduler"), key=lambda name: cost[name])
    hours = {name: cost[name] * MANY / 1e6 / 3600 for name in ("client", "scheduler")}
    print(
        f"{MANY:,} calls take {hours['scheduler']:.1f} hours of the scheduler's one core and"
        f" {hours['client']:.1f} of the client's; the {slowest} saturates first:"
        f" {WORKERS} workers are busy only if a call takes more than"
        f" {cost[slowest] * WORKERS / 1e6:.2f} seconds"
    )
