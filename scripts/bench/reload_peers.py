"""How products that reload tools bear the edits of ``edits.py``, as a table in Markdown.

``python scripts/bench/reload_peers.py --environments DIR``: each of the others has a virtual
environment of its own in there, which is made if it is missing. Each case runs in a process and
a directory of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from edits import CASES, Case
from reload_products import PRODUCTS, Workbench
from trial import Verdict, run

DEADLINE = 60.0
"""So many seconds a case may take; a call that waits for an import without end takes longer."""
OURS = "sovl-tools"
COMPANIONS = {"strands-agents": ("watchdog",)}
"""What a distribution needs to watch and does not require itself."""
MARKS = {"right": "✓", "wrong": "✗", "not applicable": "—", "crashed": "✗"}

_VERSION = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
_WORDS = 60


def version(python: str, distribution: str) -> str:
    """Return the version that is installed, or nothing."""
    done = subprocess.run(
        [python, "-c", _VERSION, distribution], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def python_of(distribution: str, environments: Path) -> str:
    """Return the Python of a product's environment, which is made if it is missing.

    Raises:
        CalledProcessError: it can't be made.
    """
    if distribution == OURS:
        return sys.executable
    folder = environments / distribution.partition("-")[0]
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    if not version(python, distribution):
        names = (distribution, *COMPANIONS.get(distribution, ()))
        install = [python, "-m", "pip", "install", "--quiet", *names]
        subprocess.run(install, check=True, stdout=sys.stderr)
    return python


def tried(case: Case, product: str, python: str) -> Verdict:
    """Run a case in a fresh process and return what became of it."""
    with tempfile.TemporaryDirectory() as base:
        command = [python, os.path.abspath(__file__), "--try", product, case.name]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        try:
            done = subprocess.run(
                command,
                cwd=base,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=DEADLINE,
            )
        except subprocess.TimeoutExpired:
            return Verdict(case.name, "wrong", "hangs")
    if done.returncode:
        return Verdict(case.name, "crashed", (done.stderr.splitlines() or ["silently"])[-1])
    return Verdict(*json.loads(done.stdout.splitlines()[-1]))


def try_here(product: str, name: str) -> None:
    """Run a case in this process and in its directory, print the verdict and end at once."""
    (case,) = (case for case in CASES if case.name == name)
    kind, base = PRODUCTS[product], Path.cwd()
    verdict = run(case, Workbench(kind.layout, base), kind(base / "tools"))
    print(f"\n{json.dumps(verdict)}", flush=True)
    os._exit(0)


def judge(cases: Iterable[Case], pythons: Mapping[str, str]) -> dict[str, list[Verdict]]:
    """Return the verdicts by product, in the order of the cases; tell of each on stderr."""
    verdicts: dict[str, list[Verdict]] = {product: [] for product in pythons}
    for case in cases:
        for product, python in pythons.items():
            verdict = tried(case, product, python)
            verdicts[product].append(verdict)
            print(f"{product}: {case.name}: {cell(verdict)}", file=sys.stderr)
    return verdicts


def cell(verdict: Verdict) -> str:
    """Return what stands in the table for a verdict."""
    mark = MARKS[verdict.outcome]
    if verdict.outcome == "not applicable":
        return mark
    words = f"crashed: {verdict.words}" if verdict.outcome == "crashed" else verdict.words
    return f"{mark} {words[:_WORDS].replace('|', chr(92) + '|')}".strip()


def total(verdicts: Iterable[Verdict]) -> str:
    """Return how many of the cases that apply are right."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    applicable = counts.total() - counts["not applicable"]
    return f"{counts['right']} of {applicable}"


def table(verdicts: Mapping[str, list[Verdict]], versions: Mapping[str, str]) -> str:
    """Return a table in Markdown: a line for each case, a column for each product."""
    header = ["a tool is …", *(f"{product} {versions[product]}" for product in verdicts)]
    rows = [header, ["---"] * len(header)]
    lines = zip(*verdicts.values(), strict=True)
    rows += [[line[0].case, *(cell(verdict) for verdict in line)] for line in lines]
    rows.append(["**right**", *(f"**{total(column)}**" for column in verdicts.values())])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def document(verdicts: Mapping[str, list[Verdict]], versions: Mapping[str, str]) -> str:
    """Return the same as JSON."""
    products = {
        product: {
            "version": versions[product],
            "totals": Counter(verdict.outcome for verdict in column),
            "cases": [verdict._asdict() for verdict in column],
        }
        for product, column in verdicts.items()
    }
    return json.dumps({"products": products}, indent=2, ensure_ascii=False)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, help="directory of virtual environments")
    parser.add_argument("--product", action="append", choices=PRODUCTS, help="only this one")
    parser.add_argument("--case", default="", help="only the cases with this in their names")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--try", nargs=2, dest="one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    asked.product = asked.product or list(PRODUCTS)
    if not (asked.one or asked.environments or asked.product == [OURS]):
        parser.error("--environments is needed for other products than ours")
    return asked


def main() -> None:
    """Print how the products fare."""
    asked = arguments()
    if asked.one:
        try_here(*asked.one)
    names = {product: PRODUCTS[product].distribution for product in asked.product}
    pythons = {each: python_of(name, asked.environments) for each, name in names.items()}
    versions = {each: version(python, names[each]) for each, python in pythons.items()}
    verdicts = judge([case for case in CASES if asked.case in case.name], pythons)
    print((document if asked.json else table)(verdicts, versions))


if __name__ == "__main__":
    main()
