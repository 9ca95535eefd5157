"""Ways in which a tool's files change, and what must be true afterwards.

``CASES`` is the table, ``run`` tries one case on one product. Most cases begin with two tools,
``echo``, which is edited, and ``other``, which must answer as ever throughout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from reload_products import FAILED, GONE, Product, Workbench

OLD, SAME_SIZE, NEW, STEADY = "one", "two", "three", "steady"
MANY = tuple(f"tool{number}" for number in range(50))

Edit: TypeAlias = Callable[[Workbench], None]
Expected: TypeAlias = Mapping[str, "str | tuple[str, ...]"]
How: TypeAlias = Literal["becomes", "stays", "serves", "quiet"]
Outcome: TypeAlias = Literal["right", "wrong", "not applicable", "crashed"]


class Step(NamedTuple):
    """An edit and what is expected of it.

    Attributes:
        edit: makes it.
        expected: by the name of a tool its answer, or the answers that are all right.
        how: ``"becomes"`` if that may take a while, ``"stays"`` if it has to be so all the time,
            ``"serves"`` likewise if the edit breaks a tool that is to serve on as it was,
            ``"quiet"`` if moreover no change may be announced.
        description: what the product has to say of ``echo`` as well.
    """

    edit: Edit
    expected: Expected
    how: How = "becomes"
    description: str = ""


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


def _two_tools(bench: Workbench) -> None:
    bench.write("echo", OLD)
    bench.write("other", STEADY)


class Case(NamedTuple):
    """Some edits, one after the other.

    Attributes:
        name: reads as the end of "a tool is …".
        steps: the edits. A tool that none of them speaks of has to answer all the time what it
            did at the start.
        prepare: makes the files before the product starts.
        start: what has to be so when it has.
        needs: keys of ``NEEDS``.
    """

    name: str
    steps: tuple[Step, ...]
    prepare: Edit = _two_tools
    start: Expected = {"echo": OLD, "other": STEADY}  # noqa: RUF012 - never changed
    needs: tuple[str, ...] = ()


def _is_user() -> bool:
    return getattr(os, "geteuid", lambda: 0)() != 0


NEEDS: dict[str, tuple[str, Callable[[Workbench], bool]]] = {
    "manifest": ("has no manifests", lambda bench: bool(bench.layout.manifest)),
    "folder": ("tools are files", lambda bench: bool(bench.layout.nested)),
    "user": ("permissions do not bind root", lambda _: _is_user()),
    "git": ("git is not installed", lambda _: shutil.which("git") is not None),
    "sed": ("sed is another", lambda _: sys.platform == "linux" and bool(shutil.which("sed"))),
}
"""What a case may need: words for where it is not there, and how to find out."""


def _nothing(_bench: Workbench) -> None:
    """Edit nothing."""


def _each(*edits: Edit) -> Edit:
    def make(bench: Workbench) -> None:
        for edit in edits:
            edit(bench)

    return make


def _saved(answer: str, *, tool: str = "echo", head: str = "") -> Edit:
    """Return the plainest edit of a module: it is opened and written over."""

    def save(bench: Workbench) -> None:
        bench.module(tool).write_text(bench.source(tool, answer, head=head))

    return save


def _saved_as(text: str) -> Edit:
    def save(bench: Workbench) -> None:
        bench.module("echo").write_text(text)

    return save


def _written(tool: str, answer: str) -> Edit:
    return lambda bench: bench.write(tool, answer)


def _removed(tool: str) -> Edit:
    return lambda bench: bench.remove(tool)


def _manifest(**keys: Any) -> Edit:
    return lambda bench: bench.write_manifest("echo", **keys)


def _helped(bench: Workbench) -> None:
    head = bench.layout.import_helper.format(tool="echo")
    bench.write("echo", "", head=head, result="helper.ANSWER")
    bench.write_helper(bench.layout.helper, OLD)


def _helped_from_below(bench: Workbench) -> None:
    bench.write("echo", "", head=bench.layout.import_nested, result="helper.ANSWER")
    bench.write_helper(bench.layout.nested, OLD)


def _date_ahead(path: Path) -> None:
    """Date a file to the next second, so that what is written in that one is no younger."""
    second = int(time.time()) + 1
    os.utime(path, (second, second))


def _write_in_its_second(path: Path, text: str) -> None:
    second = path.stat().st_mtime
    time.sleep(max(0.0, second + 0.05 - time.time()))
    path.write_text(text)
    if path.stat().st_mtime >= second + 1:
        os.utime(path, (second + 0.5, second + 0.5))


def _saved_in_its_second(bench: Workbench) -> None:
    _write_in_its_second(bench.module("echo"), bench.source("echo", SAME_SIZE))


def _helper_saved_in_its_second(bench: Workbench) -> None:
    path = bench.path(bench.layout.helper, "echo")
    _write_in_its_second(path, f"ANSWER = {SAME_SIZE!r}\n")


def _renamed_over_from_beside(bench: Workbench) -> None:
    path = bench.module("echo")
    temporary = path.with_name(f"{path.name}.tmp.4242")
    temporary.write_text(bench.source("echo", NEW))
    temporary.replace(path)


def _renamed_over_from_elsewhere(bench: Workbench) -> None:
    temporary = bench.aside / "saved"
    temporary.write_text(bench.source("echo", NEW))
    temporary.replace(bench.module("echo"))


def _restored(bench: Workbench) -> None:
    """Put a file in place that differs in nothing but its content from the one that was there."""
    path, temporary = bench.module("echo"), bench.aside / "restored"
    temporary.write_text(bench.source("echo", SAME_SIZE))
    state = path.stat()
    os.utime(temporary, ns=(state.st_atime_ns, state.st_mtime_ns))
    temporary.replace(path)


def _saved_by_vim(bench: Workbench) -> None:
    path = bench.module("echo")
    probe, backup = path.with_name("4913"), path.with_name(f"{path.name}~")
    probe.touch()
    probe.unlink()
    path.rename(backup)
    path.write_text(bench.source("echo", NEW))
    backup.unlink()


def _saved_by_jetbrains(bench: Workbench) -> None:
    path = bench.module("echo")
    temporary = path.with_name(f"{path.name}___jb_tmp___")
    original = path.with_name(f"{path.name}___jb_old___")
    temporary.write_text(bench.source("echo", NEW))
    path.rename(original)
    temporary.rename(path)
    original.unlink()


def _saved_by_vs_code(bench: Workbench) -> None:
    with bench.module("echo").open("r+") as file:
        file.truncate()
        file.write(bench.source("echo", NEW))
        file.flush()
        os.fsync(file.fileno())


def _run_sed(bench: Workbench) -> None:
    command = ["sed", "-i", f"s/{OLD!r}/{NEW!r}/", str(bench.module("echo"))]
    subprocess.run(command, check=True)


def _git(bench: Workbench, *arguments: str) -> None:
    """Run git with nobody's settings, and in no repository that it runs this for."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *arguments]
    subprocess.run(command, cwd=bench.root, check=True, capture_output=True, env=environment)


def _two_branches(bench: Workbench) -> None:
    _two_tools(bench)
    _git(bench, "init", "-q", "-b", "main")
    _git(bench, "add", ".")
    _git(bench, "commit", "-q", "-m", "one")
    _git(bench, "checkout", "-q", "-b", "topic")
    _saved(NEW)(bench)
    _git(bench, "commit", "-q", "-a", "-m", "three")
    _git(bench, "checkout", "-q", "main")


def _branch_checked_out(bench: Workbench) -> None:
    _git(bench, "checkout", "-q", "topic")


def _synchronized(bench: Workbench) -> None:
    """Run rsync or do what it does; the file keeps the time of its source, an hour ago."""
    path = bench.module("echo")
    source = bench.aside / path.name
    source.write_text(bench.source("echo", NEW))
    os.utime(source, (time.time() - 3600,) * 2)
    if shutil.which("rsync"):
        subprocess.run(["rsync", "-a", str(source), str(path)], check=True)
    else:
        temporary = path.with_name(f".{path.name}.Xy12Ab")
        shutil.copy2(source, temporary)
        temporary.replace(path)


def _fresh_module(bench: Workbench) -> None:
    bench.write_module("fresh", bench.source("fresh", NEW))


def _fresh_manifest(bench: Workbench) -> None:
    bench.write_manifest("fresh")


def _two_tools_and_one_aside(bench: Workbench) -> None:
    _two_tools(bench)
    bench.write("fresh", NEW, within=bench.aside)


def _moved_in(bench: Workbench) -> None:
    bench.path(bench.layout.place, "fresh", within=bench.aside).rename(bench.place("fresh"))


def _moved_out(bench: Workbench) -> None:
    bench.place("echo").rename(bench.aside / "moved")


def _renamed_to(name: str) -> Edit:
    def rename(bench: Workbench) -> None:
        place = bench.place("echo").rename(bench.place(name))
        for path in list(place.glob("echo.*")):
            path.rename(path.with_name(f"{name}{path.suffix}"))
        bench.write(name, OLD)

    return rename


def _replaced_by_a_file(bench: Workbench) -> None:
    bench.remove("echo")
    bench.place("echo").write_text("not a folder")


def _counting_imports(bench: Workbench) -> None:
    head = f"import os\nCOUNTED = {str(bench.base / 'counted')!r}\n"
    head += "with open(COUNTED, 'a') as file:\n    file.write('.')"
    bench.write("echo", "", head=head, result="f'{os.path.getsize(COUNTED)} import'")


def _data(bench: Workbench) -> Path:
    return bench.path(bench.layout.data, "echo")


def _reading_data(bench: Workbench) -> None:
    head = "import os\nPLACE = os.path.dirname(__file__)\n"
    head += f"with open(os.path.join(PLACE, {_data(bench).name!r})) as file:\n"
    head += "    ANSWER = file.read()"
    bench.write("echo", "", head=head, result="ANSWER")
    _data_saved(OLD)(bench)


def _data_saved(answer: str) -> Edit:
    def save(bench: Workbench) -> None:
        _data(bench).write_text(answer)

    return save


def _drifted(bench: Workbench) -> None:
    text = bench.source("echo", NEW).replace("echo()", "echo(count: int)")
    bench.module("echo").write_text(text)


def _manifest_saved_as(text: str) -> Edit:
    def save(bench: Workbench) -> None:
        bench.path(bench.layout.manifest, "echo").write_text(text)

    return save


def _named_as(tool: str, *, of: str) -> Edit:
    """Return what gives a tool the name of another, where the product takes names from."""

    def save(bench: Workbench) -> None:
        if bench.layout.manifest:
            bench.write_manifest(tool, name=of)
        else:
            bench.module(tool).write_text(bench.source(of, NEW))

    return save


def _stuck(bench: Workbench) -> None:
    """Save a module whose import does not end before ``run`` deletes a file."""
    stuck = bench.base / "stuck"
    stuck.touch()
    head = f"import os, time\nwhile os.path.exists({str(stuck)!r}):\n    time.sleep(0.01)"
    bench.module("echo").write_text(bench.source("echo", NEW, head=head))


def _linked(bench: Workbench) -> None:
    bench.write("other", STEADY)
    _link_to("behind", OLD)(bench)


def _link_to(name: str, answer: str) -> Edit:
    """Return what writes ``echo`` into a directory aside and points a link at it."""

    def link(bench: Workbench) -> None:
        bench.write("echo", answer, within=bench.aside / name)
        link = bench.base / "link"
        link.symlink_to(bench.path(bench.layout.place, "echo", within=bench.aside / name))
        link.replace(bench.place("echo"))

    return link


def _saved_behind(bench: Workbench) -> None:
    path = bench.path(bench.layout.module, "echo", within=bench.aside / "behind")
    path.write_text(bench.source("echo", NEW))


def _linked_module(bench: Workbench) -> None:
    _two_tools(bench)
    bench.module("echo").rename(bench.aside / "linked.py")
    bench.module("echo").symlink_to(bench.aside / "linked.py")


def _linked_module_saved(bench: Workbench) -> None:
    (bench.aside / "linked.py").write_text(bench.source("echo", NEW))


def _linked_module_renamed_over(bench: Workbench) -> None:
    temporary = bench.aside / "linked.py.tmp"
    temporary.write_text(bench.source("echo", SAME_SIZE))
    temporary.replace(bench.aside / "linked.py")


def _root_removed(bench: Workbench) -> None:
    shutil.rmtree(bench.root)


def _locked(bench: Workbench) -> None:
    bench.module("echo").chmod(0)


def _unlocked(bench: Workbench) -> None:
    bench.module("echo").chmod(0o644)
    _saved(NEW)(bench)


LITTER = (
    ".echo.py.swp",
    "4913",
    "echo.py~",
    "#echo.py#",
    "echo.py___jb_tmp___",
    ".DS_Store",
    "__pycache__/litter.cpython-311.pyc",
    ".git/index.lock",
    ".idea/workspace.xml",
)


def _littered(bench: Workbench) -> None:
    for folder in {bench.root, bench.module("echo").parent}:
        for name in LITTER:
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("litter")
        (folder / ".#echo.py").symlink_to("nobody@nowhere.4242")


def _swept(bench: Workbench) -> None:
    for path in [*bench.root.rglob("*swp"), *bench.root.rglob("*~"), *bench.root.rglob(".#*")]:
        path.unlink()


def _touched(bench: Workbench) -> None:
    os.utime(bench.module("echo"))


def _many(answer: str) -> Edit:
    return _each(*(_written(tool, answer) for tool in MANY))


_NEW, _OLD, _GONE = {"echo": NEW}, {"echo": OLD}, {"echo": GONE}


def _edited(name: str, edit: Edit, *needs: str, answer: str = NEW) -> Case:
    return Case(name, (Step(edit, {"echo": answer}),), needs=needs)


def _mended(name: str, edit: Edit, *needs: str) -> Case:
    """Return the case of a tool that is broken by an edit and mended by the next."""
    steps = Step(edit, _OLD, "serves"), Step(_written("echo", NEW), _NEW)
    return Case(f"{name}, then mended", steps, needs=needs)


CASES = (
    _edited("saved in place", _saved(NEW)),
    Case(
        "saved in place, as many bytes within the same second",
        (Step(_saved_in_its_second, {"echo": SAME_SIZE}),),
        _each(_two_tools, lambda bench: _date_ahead(bench.module("echo"))),
    ),
    Case(
        "given another helper, as many bytes within the same second",
        (Step(_helper_saved_in_its_second, {"echo": SAME_SIZE}),),
        _each(
            _two_tools,
            _helped,
            lambda bench: _date_ahead(bench.path(bench.layout.helper, "echo")),
        ),
    ),
    _edited("renamed over from the same directory (most editors)", _renamed_over_from_beside),
    _edited("renamed over from another directory", _renamed_over_from_elsewhere),
    _edited(
        "renamed over by a file of the same size and time (tar, cp -p)",
        _restored,
        answer=SAME_SIZE,
    ),
    _edited("saved by vim: renamed to a backup, written anew", _saved_by_vim),
    _edited("saved by JetBrains: two renames", _saved_by_jetbrains),
    _edited("saved by VS Code: emptied and written", _saved_by_vs_code),
    Case(
        "emptied, and written a moment later",
        (Step(_saved_as(""), {"echo": (OLD, GONE)}, "stays"), Step(_saved(NEW), _NEW)),
    ),
    _edited("edited by sed -i", _run_sed, "sed"),
    Case(
        "changed by git checkout",
        (Step(_branch_checked_out, _NEW),),
        _two_branches,
        needs=("git",),
    ),
    _edited("changed by rsync -a, to an older file", _synchronized),
    Case("new", (Step(_written("fresh", NEW), {"fresh": NEW}),)),
    Case(
        "new, its manifest first and its module a moment later",
        (
            Step(_fresh_manifest, {"fresh": GONE}, "stays"),
            Step(_fresh_module, {"fresh": NEW}),
        ),
        needs=("manifest",),
    ),
    Case(
        "new, its module first and its manifest a moment later",
        (
            Step(_fresh_module, {"fresh": GONE}, "stays"),
            Step(_fresh_manifest, {"fresh": NEW}),
        ),
        needs=("manifest",),
    ),
    Case("moved in", (Step(_moved_in, {"fresh": NEW}),), _two_tools_and_one_aside),
    Case("moved out", (Step(_moved_out, _GONE),)),
    Case("renamed, inside as well", (Step(_renamed_to("voice"), {"echo": GONE, "voice": OLD}),)),
    Case(
        "renamed, only its case changed",
        (Step(_renamed_to("Echo"), {"echo": GONE, "Echo": OLD}),),
    ),
    Case("deleted", (Step(_removed("echo"), _GONE),)),
    Case(
        "deleted, and made again later",
        (Step(_removed("echo"), _GONE), Step(_written("echo", NEW), _NEW)),
    ),
    _edited("deleted and made again at once", _each(_removed("echo"), _written("echo", NEW))),
    Case("replaced by a plain file", (Step(_replaced_by_a_file, _GONE),), needs=("folder",)),
    Case(
        "disabled in its manifest, and enabled again",
        (Step(_manifest(enabled=False), _GONE), Step(_manifest(), {"echo": OLD})),
        needs=("manifest",),
    ),
    Case(
        "described otherwise in its manifest, which imports nothing",
        (
            Step(
                _manifest(description="Say something else."),
                {"echo": "1 import"},
                description="Say something else.",
            ),
        ),
        _each(_two_tools, _counting_imports),
        {"echo": "1 import", "other": STEADY},
        ("manifest",),
    ),
    Case(
        "given another helper",
        (Step(lambda bench: bench.write_helper(bench.layout.helper, NEW), _NEW),),
        _each(_two_tools, _helped),
    ),
    Case(
        "given another helper in a package of its own",
        (Step(lambda bench: bench.write_helper(bench.layout.nested, NEW), _NEW),),
        _each(_two_tools, _helped_from_below),
        needs=("folder",),
    ),
    Case(
        "given other data that it reads when imported",
        (Step(_data_saved(NEW), _NEW),),
        _each(_two_tools, _reading_data),
    ),
    Case(
        "left without its function, then mended",
        (
            Step(_saved_as("VALUE = 1\n"), {"echo": (OLD, GONE)}, "stays"),
            Step(_saved(NEW), _NEW),
        ),
    ),
    _mended("broken by a syntax error", _saved_as("def echo(:\n")),
    _mended("broken by an import that fails", _saved(NEW, head="raise RuntimeError('broken')")),
    _mended("broken by a manifest that is cut off", _manifest_saved_as('{"name": '), "manifest"),
    _mended("broken by a manifest that does not validate", _manifest(parameters=3), "manifest"),
    _mended("broken by a parameter that its manifest has not", _drifted, "manifest"),
    _mended("given the name of a tool that comes after it", _named_as("echo", of="other")),
    Case(
        "given the name of a tool that comes before it, then mended",
        (
            Step(_named_as("other", of="echo"), {"other": STEADY}, "serves"),
            Step(_written("other", NEW), {"other": NEW}),
        ),
    ),
    Case(
        "broken by an import without end, another tool edited, then mended",
        (
            Step(_stuck, _OLD, "serves"),
            Step(_saved(NEW, tool="other"), {"other": NEW}),
            Step(_nothing, _OLD, "serves"),
            Step(_saved(NEW), _NEW),
        ),
    ),
    Case(
        "a link to a folder, edited behind the link",
        (Step(_saved_behind, _NEW),),
        _linked,
        needs=("folder",),
    ),
    Case(
        "a folder with a link to its module, edited behind the link",
        (
            Step(_linked_module_saved, _NEW),
            Step(_linked_module_renamed_over, {"echo": SAME_SIZE}),
        ),
        _linked_module,
    ),
    Case(
        "a link that is pointed elsewhere",
        (Step(_link_to("elsewhere", NEW), _NEW),),
        _linked,
    ),
    Case(
        "in a tools directory that is deleted, and made again with others",
        (
            Step(_root_removed, {"echo": GONE, "other": GONE}),
            Step(_written("fresh", OLD), {"echo": GONE, "fresh": OLD}),
            Step(_saved(NEW, tool="fresh"), {"fresh": NEW}),
        ),
    ),
    Case(
        "in a tools directory that is not there at the start",
        (Step(_two_tools, {"echo": OLD, "other": STEADY}), Step(_saved(NEW), _NEW)),
        _nothing,
        {},
    ),
    Case(
        "not readable, and readable again with another content",
        (Step(_locked, _OLD, "serves"), Step(_unlocked, _NEW)),
        needs=("user",),
    ),
    Case(
        "surrounded by litter, which changes nothing, then edited",
        (Step(_littered, _OLD, "quiet"), Step(_swept, _OLD, "quiet"), Step(_saved(NEW), _NEW)),
    ),
    Case(
        "touched, which changes nothing, then edited",
        (Step(_touched, _OLD, "quiet"), Step(_saved(NEW), _NEW)),
    ),
    Case(
        "edited with another in one go",
        (Step(_each(_saved(NEW), _saved(NEW, tool="other")), {"echo": NEW, "other": NEW}),),
    ),
    Case(
        "one of fifty that are edited in one go",
        (Step(_many(NEW), dict.fromkeys(MANY, NEW)),),
        _each(_two_tools, _many(OLD)),
        {"echo": OLD, "other": STEADY, **dict.fromkeys(MANY, OLD)},
    ),
    Case("one of fifty that are new in one go", (Step(_many(NEW), dict.fromkeys(MANY, NEW)),)),
    Case("edited, and undone later", (Step(_saved(NEW), _NEW), Step(_saved(OLD), _OLD))),
    Case(
        "edited and undone at once, then edited",
        (Step(_each(_saved(NEW), _saved(OLD)), _OLD), Step(_saved(NEW), _NEW)),
    ),
)


def run(
    case: Case, bench: Workbench, product: Product, *, patience: Patience = PATIENCE
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
    """A case under way on a product that is started."""

    def __init__(self, case: Case, bench: Workbench, product: Product, patience: Patience) -> None:
        touched = {tool for step in case.steps for tool in step.expected}
        self._steady = {tool: said for tool, said in case.start.items() if tool not in touched}
        self._case, self._bench, self._product, self._patience = case, bench, product, patience
        self._wrong = self._note = ""

    def verdict(self) -> Verdict:
        """Make the edits until something is wrong, and keep what stands at the end in sight."""
        name, steps = self._case.name, self._case.steps
        for number, step in enumerate((Step(_nothing, self._case.start), *steps)):
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
        """Tell whether there is nothing to wait for any more."""
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
        if step.how == "serves" and self._product.drops_broken and self._is_gone(expected):
            expected, self._note = {}, "gone while broken"
        self._wrong = self._difference({**self._steady, **expected})
        return bool(self._wrong)

    def _is_gone(self, expected: Expected) -> bool:
        return all(self._product.answer(tool) == GONE for tool in expected)

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
