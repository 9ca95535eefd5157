"""Edits of tools, as editors, version control and people make them, in a workbench."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from tests.hot_reload.workbench import Workbench

OLD, SAME_SIZE, NEW, STEADY = "one", "two", "three", "steady"
MANY = tuple(f"tool{number}" for number in range(50))

Edit: TypeAlias = Callable[[Workbench], None]


def two_tools(bench: Workbench) -> None:
    bench.write("echo", OLD)
    bench.write("other", STEADY)


def nothing(_bench: Workbench) -> None:
    """Edit nothing."""


def each(*edits: Edit) -> Edit:
    def make(bench: Workbench) -> None:
        for edit in edits:
            edit(bench)

    return make


def saved(answer: str, *, tool: str = "echo", head: str = "") -> Edit:
    """Return the plainest edit of a module: it is opened and written over."""

    def save(bench: Workbench) -> None:
        bench.module(tool).write_text(bench.source(tool, answer, head=head))

    return save


def saved_as(text: str) -> Edit:
    def save(bench: Workbench) -> None:
        bench.module("echo").write_text(text)

    return save


def written(tool: str, answer: str) -> Edit:
    return lambda bench: bench.write(tool, answer)


def removed(tool: str) -> Edit:
    return lambda bench: bench.remove(tool)


def manifest(**keys: Any) -> Edit:
    return lambda bench: bench.write_manifest("echo", **keys)


def helped(bench: Workbench) -> None:
    head = bench.layout.import_helper.format(tool="echo")
    bench.write("echo", "", head=head, result="helper.ANSWER")
    bench.write_helper(bench.layout.helper, OLD)


def helped_from_below(bench: Workbench) -> None:
    bench.write("echo", "", head=bench.layout.import_nested, result="helper.ANSWER")
    bench.write_helper(bench.layout.nested, OLD)


def date_ahead(path: Path) -> None:
    """Date a file to the next second, so that what is written in that one isn't a younger."""
    second = int(time.time()) + 1
    os.utime(path, (second, second))


def _write_in_its_second(path: Path, text: str) -> None:
    second = path.stat().st_mtime
    time.sleep(max(0.0, second + 0.05 - time.time()))
    path.write_text(text)
    if path.stat().st_mtime >= second + 1:
        os.utime(path, (second + 0.5, second + 0.5))


def saved_in_its_second(bench: Workbench) -> None:
    _write_in_its_second(bench.module("echo"), bench.source("echo", SAME_SIZE))


def helper_saved_in_its_second(bench: Workbench) -> None:
    path = bench.path(bench.layout.helper, "echo")
    _write_in_its_second(path, f"ANSWER = {SAME_SIZE!r}\n")


def renamed_over_from_beside(bench: Workbench) -> None:
    path = bench.module("echo")
    temporary = path.with_name(f"{path.name}.tmp.4242")
    temporary.write_text(bench.source("echo", NEW))
    temporary.replace(path)


def renamed_over_from_elsewhere(bench: Workbench) -> None:
    temporary = bench.aside / "saved"
    temporary.write_text(bench.source("echo", NEW))
    temporary.replace(bench.module("echo"))


def restored(bench: Workbench) -> None:
    """Put a file in place that differs in nothing but its content from the one that was there."""
    path, temporary = bench.module("echo"), bench.aside / "restored"
    temporary.write_text(bench.source("echo", SAME_SIZE))
    state = path.stat()
    os.utime(temporary, ns=(state.st_atime_ns, state.st_mtime_ns))
    temporary.replace(path)


def saved_by_vim(bench: Workbench) -> None:
    path = bench.module("echo")
    probe, backup = path.with_name("4913"), path.with_name(f"{path.name}~")
    probe.touch()
    probe.unlink()
    path.rename(backup)
    path.write_text(bench.source("echo", NEW))
    backup.unlink()


def saved_by_jetbrains(bench: Workbench) -> None:
    path = bench.module("echo")
    temporary = path.with_name(f"{path.name}___jb_tmp___")
    original = path.with_name(f"{path.name}___jb_old___")
    temporary.write_text(bench.source("echo", NEW))
    path.rename(original)
    temporary.rename(path)
    original.unlink()


def saved_by_vs_code(bench: Workbench) -> None:
    with bench.module("echo").open("r+") as file:
        file.truncate()
        file.write(bench.source("echo", NEW))
        file.flush()
        os.fsync(file.fileno())


def run_sed(bench: Workbench) -> None:
    command = ["sed", "-i", f"s/{OLD!r}/{NEW!r}/", str(bench.module("echo"))]
    subprocess.run(command, check=True)


def _git(bench: Workbench, *arguments: str) -> None:
    """Run git with no one's settings, and in no repository that it runs this for."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *arguments]
    subprocess.run(command, cwd=bench.root, check=True, capture_output=True, env=environment)


def two_branches(bench: Workbench) -> None:
    two_tools(bench)
    _git(bench, "init", "-q", "-b", "main")
    _git(bench, "add", ".")
    _git(bench, "commit", "-q", "-m", "one")
    _git(bench, "checkout", "-q", "-b", "topic")
    saved(NEW)(bench)
    _git(bench, "commit", "-q", "-a", "-m", "three")
    _git(bench, "checkout", "-q", "main")


def branch_checked_out(bench: Workbench) -> None:
    _git(bench, "checkout", "-q", "topic")


def synchronized(bench: Workbench) -> None:
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


def fresh_module(bench: Workbench) -> None:
    bench.write_module("fresh", bench.source("fresh", NEW))


def fresh_manifest(bench: Workbench) -> None:
    bench.write_manifest("fresh")


def two_tools_and_one_aside(bench: Workbench) -> None:
    two_tools(bench)
    bench.write("fresh", NEW, within=bench.aside)


def moved_in(bench: Workbench) -> None:
    bench.path(bench.layout.place, "fresh", within=bench.aside).rename(bench.place("fresh"))


def moved_out(bench: Workbench) -> None:
    bench.place("echo").rename(bench.aside / "moved")


def renamed_to(name: str) -> Edit:
    def rename(bench: Workbench) -> None:
        place = bench.place("echo").rename(bench.place(name))
        for path in list(place.glob("echo.*")):
            path.rename(path.with_name(f"{name}{path.suffix}"))
        bench.write(name, OLD)

    return rename


def replaced_by_a_file(bench: Workbench) -> None:
    bench.remove("echo")
    bench.place("echo").write_text("not a folder")


def counting_imports(bench: Workbench) -> None:
    head = f"import os\nCOUNTED = {str(bench.base / 'counted')!r}\n"
    head += "with open(COUNTED, 'a') as file:\n    file.write('.')"
    bench.write("echo", "", head=head, result="f'{os.path.getsize(COUNTED)} import'")


def _data(bench: Workbench) -> Path:
    return bench.path(bench.layout.data, "echo")


def reading_data(bench: Workbench) -> None:
    head = "import os\nPLACE = os.path.dirname(__file__)\n"
    head += f"with open(os.path.join(PLACE, {_data(bench).name!r})) as file:\n"
    head += "    ANSWER = file.read()"
    bench.write("echo", "", head=head, result="ANSWER")
    if bench.layout.manifest:
        bench.write_manifest("echo", reload=[_data(bench).name])
    data_saved(OLD)(bench)


def data_saved(answer: str) -> Edit:
    def save(bench: Workbench) -> None:
        _data(bench).write_text(answer)

    return save


def drifted(bench: Workbench) -> None:
    text = bench.source("echo", NEW).replace("echo()", "echo(count: int)")
    bench.module("echo").write_text(text)


def manifest_saved_as(text: str) -> Edit:
    def save(bench: Workbench) -> None:
        bench.path(bench.layout.manifest, "echo").write_text(text)

    return save


def named_as(tool: str, *, of: str) -> Edit:
    """Return what gives a tool the name of another, where the product takes names from."""

    def save(bench: Workbench) -> None:
        if bench.layout.manifest:
            bench.write_manifest(tool, name=of)
        else:
            bench.module(tool).write_text(bench.source(of, NEW))

    return save


def stuck(bench: Workbench) -> None:
    """Save a module whose import does not end before ``run`` deletes a file."""
    stuck = bench.base / "stuck"
    stuck.touch()
    head = f"import os, time\nwhile os.path.exists({str(stuck)!r}):\n    time.sleep(0.01)"
    bench.module("echo").write_text(bench.source("echo", NEW, head=head))


def linked(bench: Workbench) -> None:
    bench.write("other", STEADY)
    link_to("behind", OLD)(bench)


def link_to(name: str, answer: str) -> Edit:
    """Return what writes ``echo`` into a directory aside and points a link at it."""

    def link(bench: Workbench) -> None:
        bench.write("echo", answer, within=bench.aside / name)
        link = bench.base / "link"
        link.symlink_to(bench.path(bench.layout.place, "echo", within=bench.aside / name))
        link.replace(bench.place("echo"))

    return link


def saved_behind(bench: Workbench) -> None:
    path = bench.path(bench.layout.module, "echo", within=bench.aside / "behind")
    path.write_text(bench.source("echo", NEW))


def linked_module(bench: Workbench) -> None:
    two_tools(bench)
    bench.module("echo").rename(bench.aside / "linked.py")
    bench.module("echo").symlink_to(bench.aside / "linked.py")


def linked_module_saved(bench: Workbench) -> None:
    (bench.aside / "linked.py").write_text(bench.source("echo", NEW))


def linked_module_renamed_over(bench: Workbench) -> None:
    temporary = bench.aside / "linked.py.tmp"
    temporary.write_text(bench.source("echo", SAME_SIZE))
    temporary.replace(bench.aside / "linked.py")


def root_removed(bench: Workbench) -> None:
    shutil.rmtree(bench.root)


def locked(bench: Workbench) -> None:
    bench.module("echo").chmod(0)


def unlocked(bench: Workbench) -> None:
    bench.module("echo").chmod(0o644)
    saved(NEW)(bench)


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


def littered(bench: Workbench) -> None:
    for folder in {bench.root, bench.module("echo").parent}:
        for name in LITTER:
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("litter")
        (folder / ".#echo.py").symlink_to("nobody@nowhere.4242")


def swept(bench: Workbench) -> None:
    for path in [*bench.root.rglob("*swp"), *bench.root.rglob("*~"), *bench.root.rglob(".#*")]:
        path.unlink()


def touched(bench: Workbench) -> None:
    os.utime(bench.module("echo"))


def many(answer: str) -> Edit:
    return each(*(written(tool, answer) for tool in MANY))
