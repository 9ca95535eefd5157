"""Authors read of their modules what they have written themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sovl_tools import Tooler, ToolRegistry
from tests.conftest import Run, Write, code_of

IMPORTS = {
    "from .missing import word": "No module named '.missing'",
    "from . import missing": "cannot import name 'missing' from '.' (unknown location)",
    "from .helpers import absent": "cannot import name 'absent' from '.helpers'",
    "from .helpers.deep import word": "No module named '.helpers.deep'; '.helpers' is not",
    "import absent_library": "No module named 'absent_library'",
}
"""What the failure says, or how it begins."""

HELPERS = "HELP = 1\n"

Told = Callable[[str], list[tuple[str, str, str | None]]]


@pytest.fixture
def told(write: Write, tmp_path: Path) -> Told:
    """Return the code, the message and the advice for a tool that begins with a line of code."""

    def tell(line: str) -> list[tuple[str, str, str | None]]:
        write("echo", code=f"{line}\n\n\n{code_of('echo')}", helpers=HELPERS)
        found = ToolRegistry.from_directory(tmp_path / "tools").report.diagnostics
        assert {Path(each.path).name for each in found} == {"echo.py"}
        return [(each.code, each.message, each.help) for each in found]

    return tell


ADD = "add it, or import a library without the dot"


@pytest.mark.parametrize(
    ("line", "file", "error", "advice"),
    [
        ("from .helper import x", "helper.py", "ModuleNotFoundError", "did you mean 'helpers.py'?"),
        ("from .rates import x", "rates.py", "ModuleNotFoundError", ADD),
        ("from .deep.rates import x", "deep.py", "ModuleNotFoundError", ADD),
        ("from . import helper", "helper.py", "ImportError", "did you mean 'helpers.py'?"),
        ("from . import rates", "rates.py", "ImportError", ADD),
    ],
)
def test_a_missing_helper_is_told_by_its_file(
    line: str, file: str, error: str, advice: str, told: Told
) -> None:
    words = f"{error} while importing: there's no {file!r} in the tool's folder"
    assert told(line) == [("ST501", words, advice)]


@pytest.mark.parametrize("line", IMPORTS)
def test_a_model_reads_what_the_author_has_written(line: str, write: Write, tmp_path: Path) -> None:
    code = f"def echo(text: str) -> str:\n    {line}\n    return text\n"
    write("echo", code=code, helpers=HELPERS)
    result = Tooler(ToolRegistry.from_directory(tmp_path / "tools")).call_sync("echo", {"text": ""})
    assert result.error is not None
    assert "sovl_tool_modules" not in result.error.message
    assert IMPORTS[line] in result.error.message


def test_an_annotation_has_no_inner_names(write: Write, run: Run) -> None:
    code = "from enum import Enum\n\nclass E(Enum):\n    A = 'a'\n\n"
    write("echo", code=f"{code}def echo(text: dict[str, list[E] | None]): return None\n")
    assert "'text' is annotated dict[str, list[E] | None], but its type" in run("validate").out
