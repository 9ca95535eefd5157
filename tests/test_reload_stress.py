"""Four threads edit some fifty tools at random, three others call them, and nothing goes wrong.

In the suite for a few seconds; by hand for as long as one likes:

    STRESS_SECONDS=600 STRESS_SEED=7 python -m pytest tests/test_reload_stress.py --no-cov
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from sovl_tools import Tooler, ToolRegistry, ToolResult
from sovl_tools.loading.modules import ROOT, Generation
from sovl_tools.model.catalog import CatalogChange
from tests.conftest import REPOSITORY, clean_environment, manifest_of

SECONDS = float(os.environ.get("STRESS_SECONDS", "3"))
SEED = int(os.environ.get("STRESS_SEED", "0")) or random.SystemRandom().getrandbits(32)
PATIENCE = 60
"""So many seconds a slow machine may take to come to rest."""
AUTHORS = 4
REVISIONS = 3
ROOTS = ("first", "second")
PHRASES = ("do it", "do it now", "go on")
SHARING = ("coroutine_steady", "left", "right")
"""How the names of those tools begin that have a phrase in common now and then."""
GIVEN = {"text": "hello"}

MODULE = """import asyncio
import logging
from pathlib import Path

LOGGER = logging.getLogger(__name__)
try:
    {body}
finally:
    LOGGER.debug("loaded")
"""
"""A beginning of it without the answer is no sound module, so that a half-written one is broken."""

BODIES = {
    "plain": "def {name}(text: str) -> str: return {answer!r}",
    "doubled": "def {name}(text: str) -> str: return {answer!r}",
    "coroutine": """async def {name}(text: str) -> str:
        await asyncio.sleep(0)
        return {answer!r}""",
    "assembled": """from .helper import ANSWER
    def {name}(text: str) -> str:
        from .late import same
        from .helper import ANSWER as again
        return same(ANSWER, again)""",
    "informed": """DATA = Path(__file__).with_name("data.txt").read_text()
    if not DATA.endswith("."): raise ValueError("cut off")
    def {name}(text: str) -> str: return DATA[:-1]""",
    "handling": """def handle(step, context): return {answer!r}
    STEP_HANDLERS = {{"pull_{name}": handle}}
    def {name}(text: str) -> str: return {answer!r}""",
    "registering": """def handle(step, context): return {answer!r}
    def register_step_handlers(handlers): handlers["push_{name}"] = handle
    def {name}(text: str) -> str: return {answer!r}""",
    "turning": """def handle(step, context): return {answer!r}
    STEP_HANDLERS = {{"turn": handle}}
    def {name}(text: str) -> str: return {answer!r}""",
}
BESIDE = {
    "assembled": {
        "helper.py": "ANSWER = {answer!r}\n",
        "late.py": "def same(one, other): return one if one == other else 'torn'\n",
    },
    "informed": {"data.txt": "{answer}."},
}
BREAKS = (
    ("py", "def {name}(:\n"),
    ("py", "def {name}() -> str: return 'drifted'\n"),
    ("py", "import nowhere_to_be_found\n"),
    ("py", "raise SystemExit(3)\n"),
    ("py", None),
    ("json", '{{"name": "{name}"}}'),
    ("json", '{{"name": '),
)
"""The endings of files and what breaks them; None deletes them."""


class Tool(NamedTuple):
    """A tool; a ``steady`` one is never deleted, and a ``spare`` one is not even broken."""

    root: str
    name: str
    kind: str = "plain"
    fate: str = "steady"

    @property
    def place(self) -> str:
        return f"{self.root}/{self.name}"

    def answer(self, version: int) -> str:
        return f"{self.place} {version}"

    def files(self, version: int) -> dict[str, str]:
        """Return the texts of the files of a version by their names."""
        words = {"name": self.name, "answer": self.answer(version)}
        shared = [PHRASES[version % len(PHRASES)]] if self.name.startswith(SHARING) else []
        phrases = [f"run {self.name}", f"version {version} of {self.name}", *shared]
        description = f"Version {version}."
        manifest = manifest_of(self.name, description=description, activation_phrases=phrases)
        module = MODULE.replace("{body}", BODIES[self.kind]).format(**words)
        beside = BESIDE.get(self.kind, {})
        return {
            **{name: template.format(**words) for name, template in beside.items()},
            f"{self.name}.json": json.dumps(manifest),
            f"{self.name}.py": module,
        }


KINDS = ("plain", "coroutine", "assembled", "informed", "handling", "registering")
FATES = ("steady", "fleeting")
TOOLS = [
    *(
        Tool(root, f"{kind}_{fate}_{root}_{letter}", kind, fate)
        for kind, fate, root, letter in product(KINDS, FATES, ROOTS, "ab")
    ),
    Tool("first", "twin", "doubled", "fleeting"),
    Tool("second", "twin", "doubled", "spare"),
    Tool("first", "left", "turning", "fleeting"),
    Tool("first", "right", "turning", "fleeting"),
]
RIVALS = {"left", "right"}
"""Tools that bring the same action."""
NAMES = sorted({tool.name for tool in TOOLS})
STEADY = {tool.name for tool in TOOLS if tool.fate != "fleeting"}
SENTINEL = Tool("first", "sentinel")


class Ledger:
    """What may be answered, the versions that were answered so far, and whatever went wrong."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.calls = 0
        self.answered = dict.fromkeys((tool.place for tool in TOOLS), 0)
        self._sound: dict[tuple[str, str], tuple[str, int]] = {}
        self._lock = threading.Lock()

    def allow(self, tool: Tool, version: int) -> None:
        """Say that a version is sound, before it is written."""
        self._sound[tool.name, tool.answer(version)] = tool.place, version

    def judge(self, name: str, before: Mapping[str, int], result: ToolResult) -> None:
        """Look at a call's result; ``before`` are the versions answered before it began."""
        wrong = self._wrong(name, before, result)
        with self._lock:
            self.calls += 1
            if wrong is not None:
                self.failures.append(f"{name}: {wrong}")

    def _wrong(self, name: str, before: Mapping[str, int], result: ToolResult) -> str | None:
        if result.error is not None:
            is_absent = result.error.kind in {"unknown_tool", "unavailable"}
            return None if is_absent and name not in STEADY else str(result.error)
        if (name, result.value) not in self._sound:
            return f"{result.value!r} is no sound version"
        place, version = self._sound[name, result.value]
        with self._lock:
            self.answered[place] = max(self.answered[place], version)
        return f"from {before[place]} back to {version}" if version < before[place] else None


def renamed(path: Path, text: str, _: random.Random) -> None:
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_text(text)
    draft.replace(path)


def brought(path: Path, text: str, chance: random.Random) -> None:
    draft = path.parents[2] / f"{chance.getrandbits(64)}"
    draft.write_text(text)
    draft.replace(path)


def written_in_place(path: Path, text: str, chance: random.Random) -> None:
    cut = chance.randrange(len(text))
    with path.open("w") as file:
        file.write(text[:cut])
        file.flush()
        file.write(text[cut:])


WAYS = (renamed, brought, written_in_place)


class Author:
    """Who edits some of the tools, and nobody else edits those."""

    def __init__(self, base: Path, tools: list[Tool], ledger: Ledger) -> None:
        self._base = base
        self._ledger = ledger
        self.chance = random.Random(f"{SEED} {tools[0]}")
        self._versions = dict.fromkeys(tools, 0)
        self._files: dict[Tool, dict[str, str]] = {tool: {} for tool in tools}

    def act(self) -> None:
        """Do something to one of the tools."""
        tool = self._chosen()
        self.chance.choice(ACTIONS[tool.fate])(self, tool)

    def revise(self) -> None:
        """Do something to one of the tools that leaves it sound, or gone."""
        tool = self._chosen()
        sound = [each for each in ACTIONS[tool.fate] if each is not Author.spoil]
        self.chance.choice(sound)(self, tool)

    def _chosen(self) -> Tool:
        """Return one of the tools; each kind has the same chance."""
        kind = self.chance.choice(sorted({tool.kind for tool in self._files}))
        return self.chance.choice([tool for tool in self._files if tool.kind == kind])

    def mend(self, share: float = 1) -> None:
        """Leave all tools sound, and that share of those that are not there deleted no more."""
        for tool, files in self._files.items():
            if files or self.chance.random() < share:
                self.edit(tool)

    def absent(self) -> list[Path]:
        """Return the folders that are deleted."""
        return [self._base / tool.place for tool, files in self._files.items() if not files]

    def edit(self, tool: Tool) -> None:
        self._put(tool, self._next(tool))

    def undo(self, tool: Tool) -> None:
        self._put(tool, tool.files(self._versions[tool]))

    def spoil(self, tool: Tool) -> None:
        """Break the last sound version."""
        files = tool.files(self._versions[tool])
        ending, template = self.chance.choice(BREAKS)
        del files[f"{tool.name}.{ending}"]
        if template is not None:
            files[f"{tool.name}.{ending}"] = template.format(name=tool.name)
        self._put(tool, files)

    def delete(self, tool: Tool) -> None:
        self._files[tool] = {}
        remove(self._base / tool.place)

    def replace(self, tool: Tool) -> None:
        """Move a whole new folder to where the tool is."""
        self._files[tool] = self._next(tool)
        draft = self._base / f"{self.chance.getrandbits(64)}"
        draft.mkdir()
        for name, text in self._files[tool].items():
            (draft / name).write_text(text)
        move(draft, self._base / tool.place)

    def _next(self, tool: Tool) -> dict[str, str]:
        self._versions[tool] += 1
        self._ledger.allow(tool, self._versions[tool])
        return tool.files(self._versions[tool])

    def _put(self, tool: Tool, files: dict[str, str]) -> None:
        """Write the files that differ from those that are there, in any order."""
        known, self._files[tool] = self._files[tool], files
        folder = self._base / tool.place
        folder.mkdir(exist_ok=True)
        differing = [name for name in known | files if known.get(name) != files.get(name)]
        for name in self.chance.sample(differing, len(differing)):
            if name not in files:
                (folder / name).unlink()
            else:
                way = renamed if tool.fate == "spare" else self.chance.choice(WAYS)
                way(folder / name, files[name], self.chance)


ACTIONS: dict[str, tuple[Callable[[Author, Tool], None], ...]] = {
    "steady": (Author.edit, Author.spoil, Author.undo),
    "fleeting": (Author.edit, Author.spoil, Author.undo, Author.delete, Author.replace),
    "spare": (Author.edit,),
}


def remove(folder: Path) -> None:
    """Delete a folder, even if bytecode is being written into it."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def move(folder: Path, place: Path) -> None:
    if place.exists():
        place.rename(folder.with_name(f"{folder.name}-old"))
    folder.rename(place)
    shutil.rmtree(folder.with_name(f"{folder.name}-old"), ignore_errors=True)


@contextmanager
def switching_often() -> Iterator[None]:
    """Let Python's threads take turns ten times as often, for the sake of those that wait."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 10)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


class Stage:
    """The directories, their authors, the registry, and the readers' dispatcher."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.roots = [str(base / root) for root in ROOTS]
        for root in self.roots:
            Path(root).mkdir()
        self.ledger = Ledger()
        self.authors = [Author(base, TOOLS[each::AUTHORS], self.ledger) for each in range(AUTHORS)]
        for author in self.authors:
            author.mend()
        self.rest = 0
        self.signal()
        self.registry = ToolRegistry.from_directory(*self.roots)
        self.tooler = Tooler(self.registry)
        self.changed = threading.Condition()
        self.swaps = 0
        self.stopped = threading.Event()
        self.registry.subscribe(self.hear)

    def hear(self, change: CatalogChange) -> None:
        with self.changed:
            self.swaps += 1
            self.changed.notify_all()

    def signal(self) -> None:
        """Write the next version of the sentinel."""
        self.rest += 1
        folder = self.base / SENTINEL.place
        folder.mkdir(exist_ok=True)
        for name, text in SENTINEL.files(self.rest).items():
            renamed(folder / name, text, random.Random())

    def settle(self) -> None:
        """Wait until all edits made so far have been followed."""
        self.signal()
        told = SENTINEL.answer(self.rest)
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while self.tooler.call_sync(SENTINEL.name, GIVEN).value != told:
                assert time.monotonic() < deadline, "an edit was never followed"
                self.changed.wait(1)

    def run(self, seconds: float) -> None:
        """Let everybody work for so long, or until something goes wrong."""
        works: list[Callable[..., None]] = [call_in_turn, call_together, look]
        with switching_often(), ThreadPoolExecutor(AUTHORS + len(works)) as pool:
            working = [pool.submit(write, self, author) for author in self.authors]
            working += [pool.submit(work, self) for work in works]
            wait(working, seconds, FIRST_EXCEPTION)
            self.stopped.set()
        for each in working:
            each.result()


def write(stage: Stage, author: Author) -> None:
    """Edit in bursts, which mostly last until something has been heard of an edit."""
    while not stage.stopped.is_set():
        for _ in range(author.chance.randrange(1, 4)):
            author.act()
        if author.chance.random() < 0.8:
            with stage.changed:
                stage.changed.wait(0.15)


def call_in_turn(stage: Stage) -> None:
    chance = random.Random(SEED)
    while not stage.stopped.wait(0.002):
        for name in chance.sample(NAMES, 10):
            before = dict(stage.ledger.answered)
            stage.ledger.judge(name, before, stage.tooler.call_sync(name, GIVEN))


def call_together(stage: Stage) -> None:
    asyncio.run(_call_together(stage))


async def _call_together(stage: Stage) -> None:
    chance = random.Random(SEED)
    while not stage.stopped.is_set():
        names = chance.sample(NAMES, 10)
        before = dict(stage.ledger.answered)
        results = await stage.tooler.call_many([(name, GIVEN) for name in names])
        for name, result in zip(names, results, strict=True):
            stage.ledger.judge(name, before, result)
        await asyncio.sleep(0.002)


def look(stage: Stage) -> None:
    """Look at whole catalogs, which fit together and have all that is steady."""
    registry = stage.registry
    while not stage.stopped.wait(0.01):
        catalog = registry.catalog
        owned = {action for each in catalog.tools.values() for action in each.step_handlers}
        assert owned == catalog.step_handlers.keys()
        assert not catalog.tools.keys() & catalog.unavailable.keys()
        assert catalog.tools.keys() >= STEADY
        assert len(registry.report.folders) == len({each.path for each in registry.report.folders})
        assert {each.tool for each in registry.match("do it now")} <= {*NAMES, SENTINEL.name}


def seen(registry: ToolRegistry) -> dict[str, Any]:
    """Return all that can be seen of a registry, as JSON."""
    tooler, report = Tooler(registry), registry.report
    tools = {
        each.name: (each.source, each.description, tooler.call_sync(each.name, GIVEN).value)
        for each in registry
    }
    facts = {
        "tools": tools,
        "handlers": {key: handle({}, None) for key, handle in registry.step_handlers.items()},
        "phrases": registry.match(" and ".join([*PHRASES, *(f"run {name}" for name in NAMES)])),
        "folders": [(folder.path, folder.status) for folder in report.folders],
        "diagnostics": [str(each) for each in report.diagnostics],
    }
    return json.loads(json.dumps(facts))  # type: ignore[no-any-return]  # json knows no types


FRESH = """
import json, sys
from sovl_tools import ToolRegistry
from tests.test_reload_stress import seen
print(json.dumps(seen(ToolRegistry.from_directory(*sys.argv[1:]))))
"""


def fresh(stage: Stage) -> dict[str, Any]:
    """Return what a process sees that loads the directories now."""
    command = [sys.executable, "-c", FRESH, *stage.roots]
    environment = clean_environment()
    said = subprocess.check_output(
        command, cwd=REPOSITORY, env=environment, timeout=PATIENCE, text=True
    )
    return json.loads(said)  # type: ignore[no-any-return]  # json knows no types


def certain(stage: Stage, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the tools but for those of which a last good version may serve, or stand aside."""
    catalog = stage.registry.catalog
    sound = {each.name for each in catalog.candidates if each.status == "loaded"}
    lingering = catalog.tools.keys() - sound
    left_out = lingering | (RIVALS if lingering & RIVALS else set())
    return {name: fact for name, fact in facts["tools"].items() if name not in left_out}


def whole(_: Stage, facts: dict[str, Any]) -> dict[str, Any]:
    return facts


def compare(stage: Stage, part: Callable[[Stage, dict[str, Any]], dict[str, Any]]) -> None:
    """Wait until the registry is what a fresh one would be."""
    deadline = time.monotonic() + PATIENCE / 6
    while True:
        stage.settle()
        ours, theirs = (part(stage, each) for each in (seen(stage.registry), fresh(stage)))
        if ours == theirs or time.monotonic() > deadline:
            break
    assert ours == theirs


def generations() -> list[Generation]:
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, Generation)]


def traces() -> set[str]:
    """Return the names of the tools' modules and loggers that are there."""
    names = [*sys.modules, *logging.root.manager.loggerDict]
    return {name for name in names if name.startswith(f"{ROOT}.")}


def check_memory(stage: Stage, before: set[str]) -> None:
    """See to it that no more is kept than the versions in the catalog."""
    every = generations()
    own = [each for each in every if each.snapshot.folder.location.startswith(str(stage.base))]
    candidates = stage.registry.catalog.candidates
    assert len(own) <= sum(1 + (each.previous is not None) for each in candidates)
    packages = {each.package for each in every}
    assert [each for each in traces() - before if ".".join(each.split(".")[:2]) not in packages] == []


class Errors(logging.Handler):
    """What was logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(self.format(record))


@contextmanager
def nothing_left() -> Iterator[None]:
    """See to it that no error is logged, and that no thread goes on but those that serve calls."""
    errors, known = Errors(), set(threading.enumerate())
    logging.root.addHandler(errors)
    try:
        yield
    finally:
        logging.root.removeHandler(errors)
    others = [each for each in set(threading.enumerate()) - known if each.name not in RESTING]
    for thread in others:
        thread.join(PATIENCE)
    assert [each for each in others if each.is_alive()] == []
    assert errors.told == []


RESTING = {"sovl-tools-call", "sovl-tools-loop"}


def test_nothing_goes_wrong_while_tools_are_edited_at_random(tmp_path: Path) -> None:
    print(f"STRESS_SEED={SEED}")
    before = traces()
    with nothing_left():
        stage = Stage(tmp_path)
        with stage.registry.watch():
            stage.run(SECONDS)
            assert stage.ledger.failures == []
            compare(stage, certain)
            for author in stage.authors:
                author.mend(share=0.5)
            compare(stage, whole)
            for _ in range(REVISIONS):
                for author in stage.authors:
                    author.revise()
                    stage.settle()
                compare(stage, whole)
            assert not stage.registry.reload()
        assert [each for author in stage.authors for each in author.absent() if each.exists()] == []
        check_memory(stage, before)
        assert stage.swaps > 5
        assert stage.ledger.calls > len(TOOLS)
        print(f"{stage.swaps} swaps, {stage.ledger.calls} calls")
