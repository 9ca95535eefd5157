"""`sovl-tools map` over many inputs, interrupted and resumed three times: each has one result.

The first run and the second end by Ctrl-C, the third by `kill -9`, the last goes through. First in
worker processes, then on a Dask cluster of two workers, of which one is killed during each run.
Printed is what each input has come to; the program exits with 1 if that is not one result, or if
more calls than those under way at an interruption were made twice.

    python scripts/bench/resumed_map.py [INPUTS] [WORKERS]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from processes import ENVIRONMENT

MANIFEST = {
    "name": "double",
    "description": "Double a number.",
    "parameters": {
        "type": "object",
        "required": ["number"],
        "properties": {"number": {"type": "integer", "description": "Which."}},
    },
}
CODE = """
import os


def double(number: int) -> int:
    file = os.open({calls!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, b"%d\\n" % number)
    os.close(file)
    return 2 * number
"""
ENDINGS = (signal.SIGINT, signal.SIGINT, signal.SIGKILL)
LONGEST = 3_600


def lines(path: Path) -> int:
    """Return how many lines a file has so far."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_lines(process: subprocess.Popen[bytes], path: Path, count: int) -> None:
    """Wait until a file has so many lines, for as long as the process lives."""
    deadline = monotonic() + LONGEST
    while lines(path) < count and process.poll() is None and monotonic() < deadline:
        sleep(0.05)


def run(root: Path, inputs: int, options: list[str], client: Any) -> list[str]:
    """Make the calls in four runs; return what is wrong with how those have ended."""
    out, wrong = root / "out.jsonl", []
    command = ["map", "double", "--inputs", "in.jsonl", "-o", out.name, *options]
    for number, ending in enumerate((*ENDINGS, None), 1):
        resume = ["--resume"] if number > 1 else []
        process = subprocess.Popen(
            [sys.executable, "-m", "sovl_tools", *command, *resume],
            cwd=root,
            env=ENVIRONMENT,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        if client is not None:  # halfway to its end
            wait_for_lines(process, out, inputs * (2 * number - 1) // 8)
            workers = sorted(client.run(os.getpid).values())
            os.kill(workers[number % len(workers)], signal.SIGKILL)
        if ending is not None:
            wait_for_lines(process, out, inputs * number // 4)
            # Ctrl-C goes to the whole group, kill -9 to the one process
            with suppress(ProcessLookupError):  # it has failed, which is told below
                (os.killpg if ending is signal.SIGINT else os.kill)(process.pid, ending)
        said = process.communicate(timeout=LONGEST)[1].decode()
        expected = {None: (0, 1), signal.SIGINT: (1,), signal.SIGKILL: (-9,)}[ending]
        print(f"run {number}: exit code {process.returncode}, {lines(out):,} results")
        for line in said.splitlines():
            print(f"    {line:.150}")
        if process.returncode not in expected or "Traceback" in said:
            wrong.append(f"run {number} has ended with {process.returncode}: {said[-300:]}")
    return wrong


def check(root: Path, inputs: int, *, most_failures: int, most_again: int) -> list[str]:
    """Print what each input has come to; return what is wrong with that."""
    if lines(root / "out.jsonl") < inputs:
        return [f"{lines(root / 'out.jsonl'):,} results"]
    found = [json.loads(line) for line in (root / "out.jsonl").read_text().splitlines()]
    indices = Counter(each["index"] for each in found)
    failures = [each for each in found if "error" in each]
    calls = Counter((root / "calls").read_text().split())
    figures = {
        "results": (len(found), inputs),
        "inputs with a result": (len(indices.keys() & {*range(inputs)}), inputs),
        "right values": (
            sum(each.get("value") == 2 * each["index"] for each in found),
            inputs - len(failures),
        ),
    }
    bounds = {
        "failed calls": (len(failures), most_failures),
        "calls made twice": (sum(count == 2 for count in calls.values()), most_again),
        "calls made more often": (sum(count > 2 for count in calls.values()), 0),
    }
    wrong = []
    for name, (number, right) in figures.items():
        print(f"{name:<24}{number:>8,} of {right:,}")
        wrong += [f"{number} {name}"] if number != right else []
    for name, (number, most) in bounds.items():
        print(f"{name:<24}{number:>8,} (at most {most:,})")
        wrong += [f"{number} {name}"] if number > most else []
    return wrong


def main() -> None:
    """Run both."""
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    wrong = []
    for engine in ("worker processes", "Dask"):
        print(f"\n{inputs:,} inputs in {engine}, interrupted three times")
        with ExitStack() as stack:
            root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            place = root / "tools" / "double"
            place.mkdir(parents=True)
            (place / "double.json").write_text(json.dumps(MANIFEST))
            (place / "double.py").write_text(CODE.format(calls=str(root / "calls")))
            given = "".join(f'{{"number": {number}}}\n' for number in range(inputs))
            (root / "in.jsonl").write_text(given)
            if engine == "Dask":
                from distributed import Client, LocalCluster  # noqa: PLC0415 - the extra

                cluster = stack.enter_context(
                    LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
                )
                client = stack.enter_context(Client(cluster))
                wrong += run(root, inputs, ["--dask", cluster.scheduler_address], client)
                # each killed worker costs the call that it was at
                wrong += check(root, inputs, most_failures=4, most_again=3 * 4)
            else:
                wrong += run(root, inputs, ["--workers", str(workers)], None)
                wrong += check(root, inputs, most_failures=0, most_again=3 * workers)
    print("\n" + ("WRONG: " + "; ".join(wrong) if wrong else "each input has one result"))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
