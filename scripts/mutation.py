"""Runs the tests against mutants: copies of the package with one small fault each.

    scripts/mutants [-k TEXT]                     the standing list, tests/mutants.toml
    scripts/mutants --sample N [--seed S] PACKAGE ...   a random sample

An entry of the standing list names a file, the text ``old`` that stands there once, the text
``new`` in its place, and the test that must fail then. A random mutant is one change to an
expression or a statement of a function; it runs against the tests of its own package and the
golden cases, the quick ones first. A test that hangs has noticed, too.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "sovl_tools"
STANDING = ROOT / "tests" / "mutants.toml"
CASES = "tests/test_cases.py"
OTHER_TESTS = {
    "authoring": ["tests/test_registering.py"],
    "loading": ["tests/test_registering.py", "tests/test_precedence.py"],
    "reloading": [
        "tests/test_reload.py",
        "tests/test_registering.py",
        "tests/test_precedence.py",
        "tests/test_hot_reload.py",
        "tests/test_watch.py",
        "tests/test_watch_code.py",
    ],
}
"""Tests of a package that aren't in its folder."""
LIMIT = 300
"""Seconds after which a run of the tests counts as hanging."""


class Mutant(NamedTuple):
    """One fault: the file's new text, and what to run against it in turn until something fails."""

    file: str
    text: str
    label: str
    runs: Sequence[Sequence[str]]


def standing(chosen: str) -> Iterator[Mutant]:
    """Yield the mutants of the standing list whose file or texts contain the chosen text."""
    for each in tomllib.loads(STANDING.read_text())["mutant"]:
        file, old, new, test = each["file"], each["old"], each["new"], each["test"]
        label = f"{file}: {old.strip()!r} -> {new.strip()!r}"
        if chosen not in label:
            continue
        source = (ROOT / file).read_text()
        if source.count(old) != 1:
            sys.exit(f"{STANDING.name}: {old!r} is in {file} {source.count(old)} times, not once")
        yield Mutant(file, source.replace(old, new), label, [test.split()])


COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """Yield functions that each put one fault into a node."""
    match node:
        case ast.Compare(ops=[comparison]) if type(comparison) in COMPARISONS:
            opposite = COMPARISONS[type(comparison)]()
            yield lambda it: setattr(it, "ops", [opposite])
        case ast.BoolOp(op=op):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield lambda it: setattr(it, "op", other)
        case ast.UnaryOp(op=ast.Not()):
            yield lambda it: setattr(it, "operand", ast.UnaryOp(ast.Not(), it.operand))
        case ast.Constant(value=bool() as value):
            yield lambda it: setattr(it, "value", not value)
        case ast.Constant(value=int() as value):
            yield lambda it: setattr(it, "value", value + 1)
        case ast.BinOp(op=ast.Add() | ast.Sub() as op):
            turned = ast.Sub() if isinstance(op, ast.Add) else ast.Add()
            yield lambda it: setattr(it, "op", turned)
        case ast.If() | ast.IfExp() | ast.While():
            yield lambda it: setattr(it, "test", ast.UnaryOp(ast.Not(), it.test))
        case ast.Return(value=ast.expr() as returned) if not is_none(returned):
            yield lambda it: setattr(it, "value", ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield lambda it: setattr(it, "value", ast.Constant(None))
        case _:
            return


def is_none(node: ast.expr) -> bool:
    """Return whether an expression is ``None``."""
    return isinstance(node, ast.Constant) and node.value is None


def places(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the nodes in functions that can be changed: number in the walk, number of change."""
    inside: set[int] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            inside.update(id(node) for part in function.body for node in ast.walk(part))
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in inside:
            yield from ((number, change) for change, _ in enumerate(changes(node)))


def sampled(packages: Sequence[str], size: int, seed: int) -> Iterator[Mutant]:
    """Yield random mutants of packages: the same for the same seed and the same code."""
    found = []
    for package in packages:
        for path in sorted((PACKAGE / package).rglob("*.py")):
            tree = ast.parse(path.read_text())
            found += [(package, path, tree, *place) for place in places(tree)]
    chosen = random.Random(seed).sample(found, min(size, len(found)))
    for package, path, tree, number, change in chosen:
        changed = copy.deepcopy(tree)
        node = [*ast.walk(changed)][number]
        before = ast.unparse(node).partition("\n")[0]
        [*changes(node)][change](node)
        ast.fix_missing_locations(changed)
        after = ast.unparse(node).partition("\n")[0]
        file = str(path.relative_to(ROOT))
        tests = [f"tests/{package}", *OTHER_TESTS.get(package, ()), CASES]
        tests = [each for each in tests if (ROOT / each).exists()]
        label = f"{file}:{getattr(node, 'lineno', 0)}: {before!r:.70} -> {after!r:.70}"
        quick, slow = ["-m", "not slow", *tests], ["-m", "slow", *tests]
        yield Mutant(file, ast.unparse(changed), label, [quick, slow])


@contextmanager
def copies(count: int) -> Iterator[SimpleQueue[Path]]:
    """Make copies of the repository, and remove them at the end."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = [each for each in listed.stdout.decode().split("\0") if each and (ROOT / each).exists()]
    with tempfile.TemporaryDirectory() as directory:
        free: SimpleQueue[Path] = SimpleQueue()
        for number in range(count):
            target = Path(directory, str(number))
            for each in files:
                (target / each).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / each, target / each)
            free.put(target)
        yield free


def passes(repository: Path, arguments: Sequence[str]) -> bool:
    """Run tests in a copy of the repository and tell whether all passed, or none was chosen."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
    ]
    environment = {**os.environ, "PYTHONPATH": str(repository), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, *arguments], cwd=repository, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=LIMIT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in {0, 5}


def survives(free: SimpleQueue[Path], mutant: Mutant) -> bool:
    """Tell whether all tests pass although the package has the fault."""
    repository = free.get()
    file = repository / mutant.file
    text = file.read_text()
    file.write_text(mutant.text)
    try:
        return all(passes(repository, each) for each in mutant.runs)
    finally:
        file.write_text(text)
        free.put(repository)


def main() -> int:
    """Print each mutant that no test notices, and the share of those that one does."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("packages", nargs="*", help="those to sample")
    parser.add_argument("--sample", type=int, metavar="N", help="draw N random mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-k", default="", metavar="TEXT", help="only standing mutants with TEXT")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="runs at a time")
    given = parser.parse_args()
    if given.sample and not given.packages:
        parser.error("--sample needs the names of packages")
    drawn = sampled(given.packages, given.sample, given.seed) if given.sample else standing(given.k)
    mutants, noticed = [*drawn], Counter[str]()
    with copies(given.j) as free, ThreadPoolExecutor(given.j) as pool:
        clean = {tuple(run): True for each in mutants for run in each.runs}
        intact = pool.map(
            lambda run: (run, survives(free, Mutant(CASES, (ROOT / CASES).read_text(), "", [run]))),
            clean,
        )
        for run, is_green in intact:
            if not is_green:
                sys.exit(f"without a fault these tests fail: {' '.join(run)}")
        results = pool.map(lambda each: survives(free, each), mutants)
        for each, lives in zip(mutants, results, strict=True):
            noticed[each.file.split("/")[1]] += not lives
            print("SURVIVED" if lives else "killed  ", each.label, flush=True)
    total = Counter(each.file.split("/")[1] for each in mutants)
    for package, count in sorted(total.items()):
        print(f"{package:<14} {noticed[package]} of {count} killed")
    print(f"{noticed.total()} of {len(mutants)} killed ({noticed.total() / len(mutants):.0%})")
    return 0 if given.sample else int(noticed.total() < len(mutants))


if __name__ == "__main__":
    sys.exit(main())
