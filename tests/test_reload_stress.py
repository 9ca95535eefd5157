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
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

from sovl_tools import CatalogChange, Tooler, ToolRegistry, ToolResult
from sovl_tools.loading.importer import TOOL_ROOT
from sovl_tools.loading.modules import Generation
from tests.conftest import REPOSITORY, clean_environment, manifest_of
from tests.patience import PATIENCE

SECONDS = float(os.environ.get("STRESS_SECONDS", "1"))
SEED = int(os.environ.get("STRESS_SEED", "0")) or random.SystemRandom().getrandbits(32)
ROUND = 3.0
"""So many seconds of chaos come between two checks everything."""
REVISIONS = 1
AUTHORS = 4
ROOTS = ("first", "second")
PHRASES = ("do it", "do it now", "continue")
SHARING = ("coroutine_steady", "left", "right")
"""How the names of those tools begin of which several have the same phrase."""
RIVALS = {"left", "right"}
"""Tools with the same action."""
RESTING = {"sovl-tools-call", "sovl-tools-loop"}
"""Threads that wait for the next call of any dispatcher."""
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
"""No beginning of it is a sound module, unless all is there that makes the answer."""

FUNCTION = "def {name}(text: str) -> str: return {answer!r}"
HANDLER = f"def handle(step, context): return {{answer!r}}\n    {FUNCTION}\n    "
BODIES = {
    "plain": FUNCTION,
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
    "handling": HANDLER + 'STEP_HANDLERS = {{"pull_{name}": handle}}',
    "registering": HANDLER
    + 'def register_step_handlers(handlers): handlers["push_{name}"] = handle',
    "turning": HANDLER + 'STEP_HANDLERS = {{"turn": handle}}',
    "doubled": FUNCTION,
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
    """A tool; only a ``fleeting`` one is deleted now and then, a ``spare`` one never broken."""

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
        """Return the strings of a version by the names of their files."""
        words = {"name": self.name, "answer": self.answer(version)}
        shared = [PHRASES[version % len(PHRASES)]] if self.name.startswith(SHARING) else []
        phrases = [f"run {self.place}", f"version {version} of {self.place}", *shared]
        manifest = manifest_of(
            self.name,
            description=f"Version {version}.",
            activation_phrases=phrases,
            reload=["data.txt"],
        )
        beside = BESIDE.get(self.kind, {})
        return {
            **{name: template.format(**words) for name, template in beside.items()},
            f"{self.name}.json": json.dumps(manifest),
            f"{self.name}.py": MODULE.replace("{body}", BODIES[self.kind]).format(**words),
        }


KINDS = ("plain", "coroutine", "assembled", "informed", "handling", "registering")
TOOLS = [
    *(
        Tool(root, f"{kind}_{fate}_{root}_{letter}", kind, fate)
        for kind, fate, root, letter in product(KINDS, ("steady", "fleeting"), ROOTS, "ab")
    ),
    Tool("first", "twin", "doubled", "fleeting"),
    Tool("second", "twin", "doubled", "spare"),
    Tool("first", "left", "turning", "fleeting"),
    Tool("first", "right", "turning", "fleeting"),
]
"""The last four are each of another author."""
NAMES = sorted({tool.name for tool in TOOLS})
STEADY = {tool.name for tool in TOOLS if tool.fate != "fleeting"}
SENTINEL = Tool("first", "sentinel")


class Ledger:
    """Which answers are right, which versions answered so far, and whatever went wrong."""

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
        """Check a call's result; ``before`` are the versions answered before it began."""
        with self._lock:
            self.calls += 1
            wrong = self._wrong(name, before, result)
            if wrong is not None:
                self.failures.append(f"{name}: {wrong}")

    def _wrong(self, name: str, before: Mapping[str, int], result: ToolResult) -> str | None:
        if result.error is not None:
            is_absent = result.error.kind in {"unknown_tool", "unavailable"}
            return None if is_absent and name not in STEADY else str(result.error)
        if (name, result.value) not in self._sound:
            return f"{result.value!r} isn't a sound version"
        place, version = self._sound[name, result.value]
        self.answered[place] = max(self.answered[place], version)
        return f"from {before[place]} back to {version}" if version < before[place] else None


class Author:
    """Who edits some of the tools; no one else edits those."""

    def __init__(self, base: Path, tools: list[Tool], ledger: Ledger) -> None:
        self.chance = random.Random(f"{SEED} {tools[0]}")
        self._base = base
        self._ledger = ledger
        self._versions = dict.fromkeys(tools, 0)
        self._files: dict[Tool, dict[str, str]] = {tool: {} for tool in tools}

    def act(self) -> None:
        """Do something to one of the tools; each kind of tools has the same chance."""
        kind = self.chance.choice(sorted({tool.kind for tool in self._files}))
        tool = self.chance.choice([tool for tool in self._files if tool.kind == kind])
        self.chance.choice(ACTIONS[tool.fate])(self, tool)

    def revise(self) -> None:
        """Do something to a tool, often to the last, that leaves it sound, or gone."""
        tools = list(self._files)
        tool = self.chance.choice([self.chance.choice(tools), tools[-1]])
        sound = [each for each in ACTIONS[tool.fate] if each is not Author.spoil]
        self.chance.choice(sound)(self, tool)

    def mend(self, share: float = 1) -> None:
        """Leave all tools sound, and bring that share of the deleted ones back."""
        for tool, files in self._files.items():
            if files or self.chance.random() < share:
                self.edit(tool)

    def returned(self) -> list[Path]:
        """Return the folders that were deleted and are there nevertheless."""
        gone = [self._base / tool.place for tool, files in self._files.items() if not files]
        return [folder for folder in gone if folder.exists()]

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
        while (self._base / tool.place).exists():  # bytecode may be written into it meanwhile
            shutil.rmtree(self._base / tool.place, ignore_errors=True)

    def replace(self, tool: Tool) -> None:
        """Move a whole new folder to where the tool is, or was."""
        self._files[tool] = self._next(tool)
        draft, place = self._base / f"{self.chance.getrandbits(64)}", self._base / tool.place
        draft.mkdir()
        for name, text in self._files[tool].items():
            (draft / name).write_text(text)
        if place.exists():
            place.rename(draft.with_name(f"{draft.name}-before"))
        draft.rename(place)

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
            elif tool.fate == "spare" or self.chance.random() < 0.5:
                write_aside(folder / name, files[name])
            else:
                write_in_place(folder / name, files[name], self.chance)


ACTIONS: dict[str, tuple[Callable[[Author, Tool], None], ...]] = {
    "steady": (Author.edit, Author.spoil, Author.undo),
    "fleeting": (Author.edit, Author.spoil, Author.undo, Author.delete, Author.replace),
    "spare": (Author.edit,),
}


def write_aside(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_text(text)
    draft.replace(path)


def write_in_place(path: Path, text: str, chance: random.Random) -> None:
    cut = chance.randrange(len(text))
    with path.open("w") as file:
        file.write(text[:cut])
        file.flush()
        file.write(text[cut:])


class Stage:
    """The directories, their authors, the registry, and the readers' dispatcher."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.roots = [str(base / root) for root in ROOTS]
        self.ledger = Ledger()
        self.authors = [Author(base, TOOLS[each::AUTHORS], self.ledger) for each in range(AUTHORS)]
        self.changed = threading.Condition()
        self.stopped = threading.Event()
        self.swaps = 0
        self._signals = 0
        for root in self.roots:
            Path(root).mkdir()
        (base / SENTINEL.place).mkdir()
        self._signal()
        for author in self.authors:
            author.mend()
        self.registry = ToolRegistry.from_directory(*self.roots)
        self.registry.subscribe(self._hear)
        self.tooler = Tooler(self.registry)

    def _hear(self, _: CatalogChange) -> None:
        with self.changed:
            self.swaps += 1
            self.changed.notify_all()

    def _signal(self) -> str:
        """Edit the sentinel; return its new answer."""
        self._signals += 1
        for name, text in SENTINEL.files(self._signals).items():
            write_aside(self.base / SENTINEL.place / name, text)
        return SENTINEL.answer(self._signals)

    def settle(self) -> None:
        """Wait until all edits made so far have been followed."""
        answer, deadline = self._signal(), monotonic() + PATIENCE
        with self.changed:
            while self.tooler.call_sync(SENTINEL.name, GIVEN).value != answer:
                assert monotonic() < deadline, "an edit was never followed"
                self.changed.wait(1)

    def run(self, seconds: float) -> None:
        """Let everyone work for so long, or until someone fails."""
        self.stopped.clear()
        works: tuple[Callable[[Stage], None], ...] = (call_in_turn, call_together, look)
        with switching_often(), ThreadPoolExecutor(AUTHORS + len(works)) as pool:
            working = [pool.submit(write, self, author) for author in self.authors]
            working += [pool.submit(work, self) for work in works]
            wait(working, seconds, FIRST_EXCEPTION)
            self.stopped.set()
        for each in working:
            each.result()


@contextmanager
def switching_often() -> Iterator[None]:
    """Let threads take turns ten times as often as usual, for the sake of those that wait."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 10)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def write(stage: Stage, author: Author) -> None:
    """Edit in bursts, most of which wait until something has been heard of the last."""
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
        names, before = chance.sample(NAMES, 10), dict(stage.ledger.answered)
        results = await stage.tooler.call_many([(name, GIVEN) for name in names])
        for name, result in zip(names, results, strict=True):
            stage.ledger.judge(name, before, result)
        await asyncio.sleep(0.002)


def look(stage: Stage) -> None:
    """Check whole catalogs, in which everything matches together and all that is steady stands."""
    registry = stage.registry
    while not stage.stopped.wait(0.01):
        catalog, paths = registry.catalog, [each.path for each in registry.report.folders]
        owned = {action for tool in catalog.tools.values() for action in tool.step_handlers}
        assert owned == catalog.step_handlers.keys()
        assert not catalog.tools.keys() & catalog.unavailable.keys()
        assert catalog.tools.keys() >= STEADY
        assert len(paths) == len(set(paths))
        assert {each.tool for each in registry.match("do it now")} <= set(NAMES)


Facts: TypeAlias = dict[str, Any]


def seen(registry: ToolRegistry) -> Facts:
    """Return all that can be seen of a registry, as JSON."""
    tooler, report = Tooler(registry), registry.report
    facts = {
        "tools": {
            each.name: [each.source, each.description, tooler.call_sync(each.name, GIVEN).value]
            for each in registry
        },
        "handlers": {key: handle({}, None) for key, handle in registry.step_handlers.items()},
        "phrases": registry.match(", ".join([*PHRASES, *(f"run {tool.place}" for tool in TOOLS)])),
        "unavailable": sorted(registry.catalog.unavailable),
        "folders": [(folder.path, folder.status) for folder in report.folders],
        "diagnostics": [str(each) for each in report.diagnostics],
    }
    return dict(json.loads(json.dumps(facts)))


FRESH = """
import json, sys
from sovl_tools import ToolRegistry
from tests.test_reload_stress import seen
print(json.dumps(seen(ToolRegistry.from_directory(*sys.argv[1:]))))
"""


def fresh(stage: Stage) -> Facts:
    """Return what a new process sees that loads the directories now."""
    command, environment = [sys.executable, "-c", FRESH, *stage.roots], clean_environment()
    said = subprocess.check_output(command, cwd=REPOSITORY, env=environment, timeout=PATIENCE)
    return dict(json.loads(said))


def whole(_: Stage, facts: Facts) -> Facts:
    return facts


def certain(stage: Stage, facts: Facts) -> Facts:
    """Return what is there and what is not, but for names whose last good version may serve."""
    catalog = stage.registry.catalog
    sound = {each.name for each in catalog.candidates if each.status == "loaded"}
    lingering = catalog.tools.keys() - sound
    left_out = lingering | RIVALS if lingering & RIVALS else lingering
    known = facts["tools"] | dict.fromkeys(facts["unavailable"])
    return {name: fact for name, fact in known.items() if name not in left_out}


def compare(stage: Stage, part: Callable[[Stage, Facts], Facts]) -> None:
    """Wait until the registry is what a fresh one would be."""
    deadline = monotonic() + PATIENCE
    stage.settle()
    while True:
        ours, theirs = (part(stage, facts) for facts in (seen(stage.registry), fresh(stage)))
        if ours == theirs or monotonic() > deadline:
            break
        stage.settle()
    assert ours == theirs


def traces() -> set[str]:
    """Return the names of the tools' modules and loggers that are there."""
    names = [*sys.modules, *logging.root.manager.loggerDict]
    return {name for name in names if name.startswith(f"{TOOL_ROOT}.")}


def check_memory(stage: Stage, before: set[str]) -> None:
    """See to it that no more is kept than the versions in the catalog."""
    gc.collect()
    every = [each for each in gc.get_objects() if type(each) is Generation]
    own = [each for each in every if each.snapshot.folder.location.startswith(str(stage.base))]
    candidates = stage.registry.catalog.candidates
    assert len(own) <= sum(1 + (each.previous is not None) for each in candidates)
    packages = {f"{name}." for each in every for name in (each.package, each.public)}
    left = [
        name
        for name in traces() - before
        if not any(f"{name}.".startswith(each) or each.startswith(f"{name}.") for each in packages)
    ]
    assert left == []


class Errors(logging.Handler):
    """What was logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(self.format(record))


@contextmanager
def nothing_left() -> Iterator[None]:
    """Check that no error is logged, and that only threads that serve calls remain."""
    errors, known = Errors(), set(threading.enumerate())
    logging.root.addHandler(errors)
    try:
        yield
    except BaseException as failure:
        failure.add_note("\n".join([f"STRESS_SEED={SEED}", *errors.told]))
        raise
    finally:
        logging.root.removeHandler(errors)
    started = [each for each in set(threading.enumerate()) - known if each.name not in RESTING]
    # watchdog leaves a thread behind when a folder takes the path of one that was moved away
    others = [each for each in started if "Emitter" not in type(each).__name__]
    for thread in others:
        thread.join(PATIENCE)
    left = [each for each in others if each.is_alive()]
    assert left == [], f"STRESS_SEED={SEED}"
    assert errors.told == [], f"STRESS_SEED={SEED}"


def play(stage: Stage, before: set[str]) -> None:
    """Edit and call for a while, come to rest, and see to it that all is as it should be."""
    stage.run(min(ROUND, SECONDS))
    assert stage.ledger.failures == []
    compare(stage, certain)
    for author in stage.authors:
        author.mend(share=0.5)
    for _ in range(REVISIONS):
        for author in stage.authors:
            stage.settle()
            author.revise()
        compare(stage, whole)
    assert not stage.registry.reload()
    assert [folder for author in stage.authors for folder in author.returned()] == []
    check_memory(stage, before)


def test_nothing_goes_wrong_while_tools_are_edited_at_random(tmp_path: Path) -> None:
    before, deadline = traces(), monotonic() + SECONDS
    with nothing_left():
        stage = Stage(tmp_path)
        with stage.registry.watch():
            play(stage, before)
            while monotonic() < deadline:
                play(stage, before)
    assert stage.swaps > REVISIONS * AUTHORS
    assert stage.ledger.calls > len(TOOLS)
