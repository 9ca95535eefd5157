"""What ``validate`` keeps between runs: when it holds, and that it never hurts."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

import pytest

from sovl_tools.linting.cache import DIRECTORY, Cache, Checked
from sovl_tools.linting.selection import suppress_findings
from sovl_tools.loading.catalog_builder import combine, report_of
from sovl_tools.loading.dependencies import MAX_READ, Loaded
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.sources import collect
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.reporting.outcome import FORMATS, Outcome, render
from tests.conftest import Run, Write, code_of, manifest_of
from tests.tables import check_each
from tests.test_wrong_types import WRONG, mutated, places

CODE = """from sys import stderr

stderr.write("ran\\n")
{more}

def {name}(text: str) -> str:
    return text
"""


@pytest.fixture
def tool(write: Write, tmp_path: Path) -> Path:
    """A tool that tells when it is imported, in a project with a module of its own."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "myapp").mkdir()
    (tmp_path / "myapp" / "__init__.py").touch()
    (tmp_path / "myapp" / "db.py").write_text("VALUE = 1\n")
    (tmp_path / "words.txt").write_text("words")
    more = (
        "import pathlib\n\nfrom myapp import db\n\n"
        "db.VALUE\npathlib.Path('words.txt').read_text()\npathlib.Path('none.txt').exists()\n"
        "try:\n    import myapp.fast\nexcept ImportError:\n    pass\n"
        "from . import helper\n"
    )
    folder = write("echo", code=CODE.format(name="echo", more=more))
    (folder / "helper.py").write_text("X = 1\n")
    (folder / "data.json").write_text("{}")
    let_pass(tmp_path)
    return folder


def let_pass(place: Path) -> None:
    """Make all files old: what changes while tools are checked, or just before, is not kept."""
    for file in place.rglob("*"):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    newest = max((file.stat().st_ctime_ns for file in place.rglob("*")), default=0)
    while time.time_ns() - newest < 30_000_000:
        time.sleep(0.001)


def outcome(run: Run, *arguments: str, **settings: str) -> tuple[int, str, bool]:
    """Return the exit code, what is found, and whether the tool has run."""
    done = run("validate", "--format", "concise", *arguments, **settings)
    assert "Traceback" not in done.err
    return done.code, re.sub(r"in [0-9.]+ s", "", done.out), "ran" in done.err


def test_what_is_as_it_was_is_not_imported_again(
    run: Run, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    first = outcome(run)
    assert (first[0], first[2]) == (0, True)
    assert outcome(run) == (0, first[1], False)
    assert outcome(run, "--no-cache") == first
    place = tmp_path / DIRECTORY
    assert (place / ".gitignore").read_text() == "*\n"
    assert (
        (place / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc")
    )
    done = run("clean")
    assert (done.code, done.out, place.exists()) == (0, f"removed {place}\n", False)
    assert run("clean").out == f"there is no {place}\n"
    assert outcome(run) == first


@pytest.mark.unmeasured
@check_each(
    ("path", "content"),
    [
        ("tools/echo/helper.py", "X = 2\n"),
        ("tools/echo/helper.py", "1 / 0\n"),
        ("tools/echo/data.json", "[]"),
        ("tools/echo/new.txt", ""),
        ("tools/echo/echo.json", json.dumps(manifest_of("echo", category="other"))),
        ("myapp/db.py", "VALUE = 2\n"),
        ("myapp/db.py", "# nothing\n"),
        ("myapp/__init__.py", "import os\n"),
        ("myapp/fast.py", "1 / 0\n"),  # which was looked for
        ("words.txt", "other"),
    ],
)
def test_what_has_changed_is_checked_again(
    run: Run, tool: Path, tmp_path: Path, path: str, content: str
) -> None:
    file = tmp_path / path
    before = file.read_bytes() if file.exists() else None
    outcome(run)
    assert not outcome(run)[2]
    file.write_text(content)
    now = outcome(run)
    assert now == outcome(run, "--no-cache")
    assert now[2] or now[0]
    if before is None:
        file.unlink()
    else:
        file.write_bytes(before)
    let_pass(tmp_path)


def test_findings_are_kept_with_the_tools(run: Run, write: Write, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    write("odd", manifest_of("odd", timout=3), code="def other(): ...\n")
    write("echo", code=CODE.format(name="echo", more=""))
    first = outcome(run)
    assert first[0] == 1
    assert outcome(run) == (1, first[1], False)
    # what is shown is chosen afterwards
    assert outcome(run, "--ignore", "ST4") == (
        0,
        outcome(run, "--ignore", "ST4", "--no-cache")[1],
        False,
    )
    (tmp_path / "tools" / "odd" / "odd.py").write_text(code_of("odd"))
    assert outcome(run)[0::2] == (0, False)
    assert outcome(run, "tools/odd")[0::2] == (0, False)
    assert outcome(run)[0::2] == (0, False)  # who checks one tool does not forget the others


def test_what_depends_on_the_world_is_asked_each_time(
    run: Run, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    code = CODE.format(name="broken", more="import surely_not_installed\n")
    write("broken", code=code)
    assert outcome(run)[0::2] == (1, True)
    assert outcome(run)[0::2] == (1, True)  # an import that failed may succeed
    (tmp_path / "tools" / "broken" / "broken.py").write_text(code_of("broken"))
    requires = {"env": ["SURELY_UNSET"]}
    write("needs", manifest_of("needs", requires=requires), code=CODE.format(name="needs", more=""))
    assert "1 unavailable" in outcome(run)[1]
    assert "1 unavailable" in outcome(run)[1]
    assert outcome(run, SURELY_UNSET="1")[2]
    assert not outcome(run, SURELY_UNSET="1")[2]
    assert "1 unavailable" in outcome(run)[1]


def test_a_place_that_is_no_directory_is_as_good_as_none(
    run: Run, tool: Path, tmp_path: Path
) -> None:
    (tmp_path / DIRECTORY).write_text("mine")
    assert outcome(run)[0::2] == (0, True)
    assert outcome(run)[0::2] == (0, True)
    done = run("clean")
    assert (done.code, done.out) == (1, "")
    assert "is no cache of sovl-tools; nothing is removed" in done.err
    assert (tmp_path / DIRECTORY).read_text() == "mine"


class Kept:
    """Two tools and a cache of them, beneath the command."""

    def __init__(self, place: Path) -> None:
        self.directory = place / "cache"
        self.folders = collect([place / "tools"]).folders
        self.loaded: list[str] = []
        self.checked: list[Checked] = []
        self.cache = Cache(str(self.directory), Settings(imports=False), rest=0)

    def load(self) -> list[tuple[str, str, int]]:
        def load(folders: Sequence[ToolFolder]) -> Iterable[Loaded]:
            self.loaded = [each.name for each in folders]
            return [Loaded(load_folder(each, Settings(imports=False)), {}) for each in folders]

        self.checked = self.cache.load(self.folders, load)
        found = [each.candidate for each in self.checked]
        return [(each.name, each.status, len(each.diagnostics)) for each in found]

    @property
    def file(self) -> Path:
        (file,) = self.directory.glob("validate-*.json")
        return file


@pytest.fixture
def kept(write: Write, tmp_path: Path) -> Kept:
    write("echo")
    write("odd", manifest_of("odd", timout=3))
    return Kept(tmp_path)


def test_no_damage_raises_or_loses_a_tool(kept: Kept) -> None:
    expected = kept.load()
    assert expected == [("echo", "loaded", 0), ("odd", "loaded", 1)]
    assert (kept.load(), kept.loaded) == (expected, [])
    sound = kept.file.read_bytes()
    digest, _, written = sound.decode().partition("\n")
    document = json.loads(written)
    # each place has each kind of damage in one run or another
    every = [(at, value) for at in places(document) for value in WRONG]
    damaged = [json.dumps(mutated(document, *each)) for each in random.sample(every, 50)]
    texts = [f"{digest}\n{each}".encode() for each in damaged]
    texts += [b"", b"{", b"\xff\xfe", b"[" * 100_000, sound[:-9], sound * 2, b"\0" * 99]
    for damage in texts:
        kept.file.write_bytes(damage)
        assert kept.load() == expected
        assert (kept.load(), kept.loaded) == (expected, [])


def test_what_is_forged_is_reported_as_it_says_or_ignored(kept: Kept) -> None:
    kept.load()
    document = json.loads(kept.file.read_text().partition("\n")[2])
    # half of a surrogate pair is in no path of this system
    every = [(at, value) for at in places(document) for value in WRONG if value != "\ud800"]
    texts = [json.dumps(mutated(document, *each)) for each in random.sample(every, 100)]
    for text in [*texts, "[" * 100_000]:
        digest = blake2b(text.encode(), digest_size=16).hexdigest()
        kept.file.write_text(f"{digest}\n{text}")
        assert [each[0] for each in kept.load()] == ["echo", "odd"], text
        report = report_of(combine(each.candidate for each in kept.checked), ())
        asked = [asked for each in kept.checked for asked in each.suppressions]
        shown = Outcome(suppress_findings(report, asked))
        for name in FORMATS:
            assert "internal error" not in render(shown, name)


def test_a_dependency_that_is_replaced_by_an_older_file_meanwhile_is_not_what_was_checked(
    run: Run, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "myapp.py").write_text("VALUE = 1\n")
    (tmp_path / "older.py").write_text("WITHOUT = 1\n")
    more = (
        "import os\nimport myapp\n\nmyapp.VALUE\n"
        "if os.path.exists('older.py'):\n    os.replace('older.py', 'myapp.py')\n"
    )
    write("echo", code=CODE.format(name="echo", more=more))
    let_pass(tmp_path)
    assert outcome(run)[0::2] == (0, True)
    assert outcome(run)[0] == 1


def test_a_file_that_appears_in_a_directory_meanwhile_was_not_there_when_it_was_listed(
    run: Run, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    more = "import os\nimport pathlib\n\nos.listdir('data')\npathlib.Path('data/new.txt').touch()\n"
    write("echo", code=CODE.format(name="echo", more=more))
    let_pass(tmp_path)
    assert outcome(run)[2]
    assert outcome(run)[2], "kept, although one more file is there than the tool has seen"
    assert not outcome(run)[2]


@pytest.mark.unmeasured
def test_a_variable_whose_key_is_written_with_escapes_is_looked_at(
    run: Run, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    manifest = manifest_of("needs", requires={"env": ["SURELY_UNSET"]})
    folder = write("needs", manifest, code=CODE.format(name="needs", more=""))
    written = json.dumps(manifest).replace('"requires"', '"\\u0072equires"')
    (folder / "needs.json").write_text(written)
    assert "1 unavailable" in outcome(run)[1]
    assert outcome(run, SURELY_UNSET="1")[2]
    assert not outcome(run, SURELY_UNSET="1")[2]
    assert "1 unavailable" in outcome(run)[1]


def test_runs_at_the_same_time_leave_a_sound_cache(kept: Kept) -> None:
    expected = kept.load()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: kept.load() == expected, range(64)))
    assert (kept.load(), kept.loaded) == (expected, [])
    assert not [
        each
        for each in kept.directory.iterdir()
        if not each.name.endswith((".json", ".gitignore", "TAG"))
    ]


def test_files_are_known_by_their_times_and_else_by_what_they_say(
    kept: Kept, tmp_path: Path
) -> None:
    expected = kept.load()
    file = tmp_path / "tools" / "echo" / "echo.json"
    before, status = file.read_bytes(), file.stat()
    times = status.st_atime_ns, status.st_mtime_ns
    # what says the same is not loaded again, and is known by its new times from then on
    os.utime(file, (1_600_000_000, 1_600_000_000))
    written = kept.file.read_bytes()
    assert (kept.load(), kept.loaded) == (expected, [])
    assert kept.file.read_bytes() != written
    # neither size nor time tell of this edit
    file.write_bytes(before.replace(b"echo", b"ech0"))
    os.utime(file, ns=times)
    assert [each[1] for each in kept.load()] == ["rejected", "loaded"]
    assert kept.loaded == ["echo"]
    file.write_bytes(before)
    os.utime(file, ns=times)
    assert (kept.load(), kept.loaded) == (expected, ["echo"])


def test_what_is_asked_to_be_left_out_is_kept(run: Run, write: Write, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    manifest = manifest_of("odd", timout=3) | {"x-ignore": ["ST202", "ST306"]}
    folder = write("odd", manifest, code=CODE.format(name="odd", more=""))
    first = outcome(run)
    assert "ST002" in first[1]
    assert "ST202" not in first[1]
    assert outcome(run) == (0, first[1], False)
    (folder / "odd.json").write_text(json.dumps(manifest | {"x-ignore": ["ST202"]}))
    assert "no problems" in outcome(run)[1]
    assert "no problems" in outcome(run)[1]


STEPS = "name: say\ndescription: Say it.\nsteps: [{action: tool, tool: %s, arguments: {text: a}}]\n"


def test_procedures_and_plugins_are_looked_at_again_when_anything_changes(
    run: Run, tool: Path, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.sovl-tools]\nplugins = ["plugins"]\n')
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "more.py").write_text(
        "from sys import stderr\n\nfrom myapp import db\nfrom sovl_tools import tool\n\n"
        'stderr.write("ran\\n")\ndb.VALUE\n\n\n@tool\ndef plugged(text: str) -> str:\n'
        '    """Give the text back."""\n    return text\n'
    )
    (tmp_path / "procedures").mkdir()
    procedure = tmp_path / "procedures" / "say.yaml"
    procedure.write_text(STEPS % "plugged")
    let_pass(tmp_path)
    first = outcome(run)
    assert (first[0], first[2], "1 procedure and 2 tools" in first[1]) == (0, True, True)
    assert outcome(run) == (0, first[1], False)
    for path, text in (
        ("myapp/db.py", "VALUE = 3\n"),
        ("plugins/helper.py", "X = 1\n"),
        ("plugins/more.py", (tmp_path / "plugins" / "more.py").read_text() + "# more\n"),
        ("tools/echo/helper.py", "X = 3\n"),
        ("procedures/say.yaml", STEPS % "echo"),
    ):
        (tmp_path / path).write_text(text)
        let_pass(tmp_path)
        assert outcome(run)[2], path
        assert not outcome(run)[2], path
    procedure.write_text(STEPS % "absent")
    let_pass(tmp_path)
    broken = outcome(run)
    assert broken[0] == 1
    # what is wrong may be right the next time
    assert outcome(run) == (1, broken[1], True)


def test_what_another_tool_imports_is_as_good_as_its_own(
    run: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    # where they are loaded together, only the first one opens the file
    for name in ("first", "second"):
        more = "from tools.first import shared\n\nshared.VALUE"
        write(name, code=CODE.format(name=name, more=more))
    shared = tmp_path / "tools" / "first" / "shared.py"
    shared.write_text("VALUE = 1\n")
    let_pass(tmp_path)
    assert outcome(run)[0::2] == (0, True)
    assert outcome(run)[0::2] == (0, False)
    # of another length, for Python keeps bytecode by length and time
    shared.write_text("ANOTHER = 1\n")
    let_pass(tmp_path)
    code, found, _ = outcome(run)
    assert code == 1
    assert "first.py" in found
    assert "second.py" in found


def test_a_module_that_appears_is_seen_by_who_could_do_without(
    run: Run, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    more = "try:\n    import surely_not_there\nexcept ImportError:\n    pass\n"
    write("echo", code=CODE.format(name="echo", more=more))
    let_pass(tmp_path)
    path = str(tmp_path)
    assert outcome(run, PYTHONPATH=path)[0::2] == (0, True)
    (tmp_path / "report.json").touch()
    assert outcome(run, PYTHONPATH=path)[0::2] == (0, False)
    (tmp_path / "surely_not_there.py").write_text("1 / 0\n")
    assert outcome(run, PYTHONPATH=path)[0::2] == (1, True)


@check_each("place", ["tools/echo", "."])
def test_a_large_file_is_known_by_more_than_its_size_and_time(
    run: Run, write: Write, tmp_path: Path, place: str
) -> None:
    (tmp_path / "pyproject.toml").touch()
    file = tmp_path / place / "large.txt"
    more = f"assert open({str(file)!r}).read(1) == 'a'\n"
    write("echo", code=CODE.format(name="echo", more=more))
    file.write_text("a" * (MAX_READ + 1))
    let_pass(tmp_path)
    outcome(run)
    assert outcome(run)[0::2] == (0, False)
    file.write_text("b" * (MAX_READ + 1))
    let_pass(tmp_path)
    assert outcome(run)[0] == 1
