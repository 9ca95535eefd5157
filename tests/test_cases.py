"""Golden cases: every folder in ``tests/cases`` and what is said about it.

``expected.txt`` is what ``sovl-tools validate`` prints, without its last line. Where the case has
an ``arguments.txt``, those are its arguments, or a call of ``check``: the case needs more than one
directory, a procedure, the child process of ``validate``, or a list of definitions. Where it has
``plugins`` instead of ``tools``, that is a directory of modules, which ``load_modules`` takes.
Where it has a ``target.txt``, it is about what that format loses. ``mended.diff`` is what would be
right: with it, the rule finds nothing there, and the page of rules shows it. After a change that is
meant, ``scripts/test tests/test_cases.py --bless`` writes the files again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.linting import rules
from sovl_tools.linting.rules import RULES
from sovl_tools.loading.catalog_builder import combine, report_of
from sovl_tools.loading.exporting import checked
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.sources import collect
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.folder import Settings
from sovl_tools.reporting import text
from sovl_tools.reporting.outcome import Outcome
from tests.conftest import REPOSITORY, Run, code_of, manifest_of

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir())
HEALTHY = "zz_healthy"
IMPORTS_NEEDED = (
    "ST001",
    "ST309-unconvertible",
    "ST408-required-left-out",
    "ST412-left-out",
    "ST412-refused-values",
    "ST413",
    "ST414",
    "ST415",
    "ST501-e",
    "ST501-in",
    "ST501-missing-package",
    "ST501-own",
    "ST502-in-a-helper",
    "ST503",
    "ST605-takes",
    "ST802-registered",
)
COMMANDS = [name for name in NAMES if (CASES / name / "arguments.txt").exists()]
PLUGINS = [
    name
    for name in NAMES
    if (CASES / name / "plugins").exists() and not (CASES / name / "target.txt").exists()
]
EXPORTED = [name for name in NAMES if (CASES / name / "target.txt").exists()]
MENDED = [name for name in NAMES if (CASES / name / "mended.diff").exists()]
PLAIN = [name for name in NAMES if name not in {*COMMANDS, *PLUGINS, *EXPORTED}]

PLUGIN = f'''from sovl_tools import tool


@tool
def {HEALTHY}(text: str) -> str:
    """Say something.

    Args:
        text: The words.
    """
    return text
'''

Expected = Callable[[str, str], None]


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Copy a case into the current directory, with a healthy tool next to it."""
    name: str = request.param
    shutil.copytree(CASES / name, tmp_path, dirs_exist_ok=True)
    plugins = tmp_path / "plugins"
    add_healthy(plugins if plugins.exists() else tmp_path / "tools" / HEALTHY)
    monkeypatch.chdir(tmp_path)
    return name


def add_healthy(folder: Path) -> None:
    """Add a tool to a directory of modules, or make the folder of one."""
    is_plugin = folder.name == "plugins"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{HEALTHY}.py").write_text(PLUGIN if is_plugin else code_of(HEALTHY))
    if not is_plugin:
        (folder / f"{HEALTHY}.json").write_text(json.dumps(manifest_of(HEALTHY)))


def loaded() -> ToolRegistry:
    """Load the case that is in the current directory."""
    if not Path("plugins").exists():
        return ToolRegistry.from_directory("tools")
    registry = ToolRegistry()
    registry.load_modules("plugins")
    return registry


def shown(report: LoadReport) -> str:
    return without_last_line(text.render(Outcome(report)))


def without_last_line(rendered: str) -> str:
    return "\n".join(rendered.split("\n")[:-1]).rstrip("\n") + "\n"


@pytest.fixture
def expected(request: pytest.FixtureRequest) -> Expected:
    """Compare with the case's ``expected.txt``, or write it."""

    def compare(case: str, actual: str) -> None:
        file = CASES / case / "expected.txt"
        if request.config.getoption("--bless"):
            file.write_text(actual, encoding="utf-8")
        assert actual == file.read_text(encoding="utf-8")

    return compare


@pytest.mark.parametrize("case", [*PLAIN, *PLUGINS], indirect=True)
def test_a_case_says_what_is_expected_and_a_healthy_tool_beside_it_answers(
    case: str, expected: Expected
) -> None:
    registry = loaded()
    expected(case, shown(registry.report))
    assert Tooler(registry).call_sync(HEALTHY, {"text": case}).value == case


@pytest.mark.parametrize("case", EXPORTED, indirect=True)
def test_a_format_says_what_it_loses_of_a_case(case: str, expected: Expected) -> None:
    registry = loaded()
    text = Path("target.txt").read_text(encoding="utf-8").strip()
    export = registry.export(text.removesuffix("-strict"), strict=text.endswith("-strict"))
    expected(case, shown(LoadReport((), export.diagnostics)))
    if not Path("plugins").exists():
        known = registry.catalog.candidates
        assert checked(known, [text]) == export.diagnostics, "the manifest alone says the same"


@pytest.mark.unmeasured
@pytest.mark.parametrize("case", COMMANDS, indirect=True)
def test_a_command_says_what_is_expected_of_a_case(case: str, run: Run, expected: Expected) -> None:
    arguments = Path("arguments.txt").read_text(encoding="utf-8").split()
    is_check = arguments[0] == "check"
    done = run(*arguments) if is_check else run("validate", *arguments)
    *_, summary = done.out.splitlines()
    assert is_check or "1 loaded" in summary or "2 loaded" in summary, "the healthy tool is"
    expected(case, without_last_line(done.out.rstrip("\n")))


@pytest.mark.unmeasured
@pytest.mark.parametrize("case", MENDED, indirect=True)
def test_the_rule_finds_nothing_in_a_case_that_is_mended(case: str, run: Run) -> None:
    command = ["git", "apply", "-p0", "--whitespace=nowarn", "mended.diff"]
    subprocess.run(command, check=True)
    if case in COMMANDS:
        arguments = Path("arguments.txt").read_text(encoding="utf-8").split()
        if arguments[0] != "check":
            arguments = ["validate", *arguments]
        found = run(*arguments, "--format", "concise").out
    elif case in EXPORTED:
        target = Path("target.txt").read_text(encoding="utf-8").strip()
        found = str(checked(loaded().catalog.candidates, [target]))
    else:
        found = str(loaded().report.diagnostics)
    assert case.partition("-")[0] not in found


@pytest.mark.unmeasured
@pytest.mark.parametrize("case", PLAIN, indirect=True)
def test_parsing_says_the_same_as_importing(case: str) -> None:
    collected = collect(["tools"])
    candidates = [load_folder(folder, Settings(imports=False)) for folder in collected.folders]
    report = report_of(combine(candidates), collected.diagnostics)
    expected = (CASES / case / "expected.txt").read_text(encoding="utf-8")
    if case.startswith(IMPORTS_NEEDED):
        assert not report.diagnostics
    else:
        assert shown(report) == expected


def test_each_case_shows_the_code_that_it_is_named_after() -> None:
    for name in NAMES:
        expected = (CASES / name / "expected.txt").read_text(encoding="utf-8")
        code = name.partition("-")[0]
        assert (expected == "\n") if code == "clean" else (f": {code} " in expected), name


def test_every_code_has_a_case_and_an_explanation() -> None:
    covered = {name.partition("-")[0] for name in NAMES}
    assert {code for code in RULES if code not in covered} == set()
    codes = [each.code for each in rules._RULES]
    assert len(codes) == len(set(codes)), "two rules have one code"
    assert all(len(rule.explanation.split("\n")) > 2 for rule in RULES.values())


OTHER_ENGINE = """
import json, sys
sys.modules["jsonschema_rs"] = None
sys.path.insert(0, sys.argv[1])
import os
from tests.test_cases import CASES, loaded, shown
for case in sys.argv[2:]:
    os.chdir(CASES / case)
    print(json.dumps([case, shown(loaded().report)]))
assert "sovl_tools.schema.python_engine" in sys.modules
"""


def test_the_other_schema_engine_says_the_same() -> None:
    names = [name for name in [*PLAIN, *PLUGINS] if not name.startswith(("ST5", "ST313"))]
    command = [sys.executable, "-B", "-c", OTHER_ENGINE, str(REPOSITORY), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    actual = dict(json.loads(line) for line in done.stdout.splitlines())
    expected = {name: (CASES / name / "expected.txt").read_text(encoding="utf-8") for name in names}
    assert actual == expected
