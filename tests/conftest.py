"""What all tests share."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest

from tests.commands import Request, outputs_in_process, outputs_of_process
from tests.schema.strategies import examples

REPOSITORY = Path(__file__).parent.parent
# what searches find mustn't depend on an extra: its own tests switch it on
WORDS_ALONE = {"SOVL_TOOLS_SEMANTIC": "off"}
os.environ |= WORDS_ALONE
STARTS_A_PROCESS = {"run", "installed"}
SLOW = tuple(
    Path(__file__).parent / name
    for name in (
        *("agent", "cli", "docs", "process", "remote", "serving", "testing", "tools"),
        *("formats/test_mcp.py", "formats/test_messages.py", "formats/test_sdk_types.py"),
        *("loading/test_isolation.py", "loading/test_generations.py"),
        "signature/test_odd_annotations.py",
        "dispatch/test_giving_up.py",
        *("procedures/test_hostile_templates.py", "procedures/test_journal_processes.py"),
        *("procedures/test_examples.py", "procedures/test_resuming.py"),
        *("linting/test_diff.py", "linting/test_fixes.py", "procedures/test_yaml_core.py"),
        *("dispatch/test_secrets.py", "dispatch/test_threads.py", "reloading/test_libraries.py"),
        *("schema/test_comparison.py", "test_distribution.py", "test_hostile.py"),
        *("test_package.py", "test_precedence.py", "test_reload.py"),
    )
)
"""Where tests start processes or servers, hold conversations, import what providers ship, or take
seconds of work."""

QUICK = tuple(
    Path(__file__).parent / name
    for name in (
        *("agent/test_local.py", "agent/test_odd_answers.py", "cli/test_export.py"),
        *("cli/test_search.py", "cli/test_sync.py", "docs/test_authoring.py"),
        *("docs/test_blocks.py", "docs/test_maps.py", "process/test_executors.py"),
        *("remote/test_openapi.py", "serving/test_api.py", "serving/test_mcp_server.py"),
        *("testing/test_requests.py", "testing/test_schemas.py", "tools/test_calculate.py"),
        *("tools/test_draw_chart.py", "tools/test_shipped_tools.py"),
    )
)
"""Some of each slow directory that take little time, so that ``--fast`` covers every package."""

UNMEASURED = "unmeasured"
COVERED_BY_OTHERS = tuple(
    Path(__file__).parent / name
    for name in (
        *("docs", "tools", "test_hot_reload.py", "loading/test_generations.py"),
        *("loading/test_isolation.py", "test_hostile.py", "test_reload_stress.py"),
    )
)
"""Long tests of what others run through: none is measured, because that takes twice the time."""

Write = Callable[..., Path]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite what is expected of cases and documents",
    )


def pytest_configure() -> None:
    # a machine that stalls for a moment is no fault of what is tested
    hypothesis.settings.register_profile("patient", deadline=None, max_examples=examples(300))
    hypothesis.settings.load_profile("patient")
    # a shell lets what it runs in the background ignore interrupts, and commands would inherit that
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let the measuring of coverage rest in this thread during tests that need none."""
    measuring = sys.gettrace()
    if item.get_closest_marker(UNMEASURED) is not None:
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(measuring)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow files out before they import anything: the SDKs alone take seconds."""
    is_left_out = config.getoption("markexpr") == "not slow"
    is_slow = collection_path.suffix == ".py" and _is_slow(collection_path)
    return True if is_left_out and is_slow else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reject names that differ from process to process, which tests run in parallel must not.

    What is covered does not depend on random examples: so those tests need not be slowed down.
    """
    marks: dict[Path, list[pytest.MarkDecorator]] = {}
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"the name of a test has an address in it: {item.nodeid}")
        if item.path not in marks:
            marks[item.path] = _marks_of(item.path)
        for mark in marks[item.path]:
            item.add_marker(mark)
        is_random = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        starts_one = not STARTS_A_PROCESS.isdisjoint(getattr(item, "fixturenames", ()))
        if is_random or (starts_one and item.path not in QUICK):
            item.add_marker(pytest.mark.slow)
        if is_random:
            item.add_marker(UNMEASURED)


def _marks_of(path: Path) -> list[pytest.MarkDecorator]:
    """Return what marks all tests of a file; asked once a file, because there are many tests."""
    places = {path, *path.parents}
    among = {
        "slow": _is_slow(path),
        UNMEASURED: not places.isdisjoint(COVERED_BY_OTHERS),
    }
    return [getattr(pytest.mark, name) for name, is_there in among.items() if is_there]


def _is_slow(path: Path) -> bool:
    """Return whether ``--fast`` leaves a file out."""
    return path not in QUICK and not {path, *path.parents}.isdisjoint(SLOW)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write halves of surrogate pairs in logs as escapes: no worker could report them."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report


@pytest.fixture(autouse=True)
def unchanged_surroundings() -> Iterator[None]:
    """Fail a test that leaves the directory or the environment changed, and put loggers back."""
    before = _surroundings()
    with kept_loggers():
        yield
    assert _surroundings() == before


def _surroundings() -> tuple[str, list[str], set[str]]:
    names = {*os.environ} - {"PYTEST_CURRENT_TEST"}
    return os.getcwd(), sys.path[:], names


@contextmanager
def kept_loggers() -> Iterator[None]:
    """Put the levels and handlers of all loggers back at the end, but for those that are new."""
    # copied at a stroke: the garbage collector may take loggers away with versions of tools
    known = logging.root.manager.loggerDict
    kept = {
        name: (each.level, each.propagate, each.handlers[:])
        for name, each in known.copy().items()
        if isinstance(each, logging.Logger)
    }
    yield
    for name, (level, propagate, handlers) in kept.items():
        each = known.get(name)
        if isinstance(each, logging.Logger):
            if each.level != level:  # setting it empties caches of all loggers
                each.setLevel(level)
            each.propagate = propagate
            each.handlers[:] = handlers


def manifest_of(name: str, **keys: Any) -> dict[str, Any]:
    """Return a manifest without fault: a tool that takes a string."""
    properties = {"text": {"type": "string", "description": "What to say."}}
    parameters = {"type": "object", "properties": properties, "required": ["text"]}
    known = {"name": name, "description": "Say something.", "parameters": parameters}
    return {**known, **keys}


def code_of(name: str) -> str:
    """Return the module that matches ``manifest_of``."""
    return f"def {name}(text: str) -> str:\n    return text\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a tool folder into ``tmp_path/tools``: ``write("echo", manifest=…, code=…)``."""

    def folder(
        name: str,
        manifest: dict[str, Any] | str | bytes | None = None,
        code: str | bytes | None = None,
        **files: str,
    ) -> Path:
        place = tmp_path / "tools" / name
        place.mkdir(parents=True, exist_ok=True)
        content = manifest_of(name) if manifest is None else manifest
        text = json.dumps(content, indent=2) if isinstance(content, dict) else content
        _put(place / f"{name}.json", text)
        _put(place / f"{name}.py", code_of(name) if code is None else code)
        for stem, source in files.items():
            _put(place / f"{stem}.py", source)
        return place

    return folder


def _put(path: Path, content: str | bytes) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def is_running(pid: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``sovl-tools`` with the arguments in this process, in ``tmp_path`` if nowhere else.

    What Python reads as it starts (``PYTHONPATH=…``) needs a process that starts.
    """

    def command(*arguments: str, stdin: str = "", cwd: Path = tmp_path, **environment: str) -> Done:
        needs_start = any(key.startswith("PYTHON") for key in environment)
        request = Request(arguments, str(cwd), {**clean_environment(), **environment})
        outputs = outputs_of_process if needs_start else outputs_in_process
        code, out, err = outputs(request, stdin.encode())
        return Done(code, _text(out), _text(err))

    return command


def _text(written: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(written), "utf-8").read()


def clean_environment() -> dict[str, str]:
    foreign = ("SOVL_TOOLS", "GITHUB_", "CI_PROJECT_DIR")  # what a CI service says of itself
    kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    kept.pop("NO_COLOR", None)
    return {**kept, **WORDS_ALONE, "PYTHONPATH": str(REPOSITORY)}
