from __future__ import annotations

import pytest

from sovl_tools import Diagnostic, SovlToolsError, ToolError, ToolLoadError, ToolNotFoundError
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.errors import ConfigurationError, SchemaError
from tests.tables import check_each

WRONG = Diagnostic("ST201", "error", "a comma is missing", None, "echo", "echo/echo.json", 4, 3)
ODD = Diagnostic("ST202", "warning", "'timout' isn't a key", "remove it", "echo", "echo.json", 1, 1)


@check_each(
    ("error", "message"),
    [
        (ToolNotFoundError("ehco"), "there's no tool 'ehco'"),
        (
            ToolNotFoundError("ehco", suggestion="echo"),
            "there's no tool 'ehco'; did you mean 'echo'?",
        ),
        (
            ToolNotFoundError("echo", suggestion="each", reason="it is disabled"),
            "tool 'echo' is not available: it is disabled",
        ),
        (
            ToolLoadError([WRONG]),
            "1 error in the tools:\necho/echo.json:4:3: ST201 a comma is missing",
        ),
        (ToolLoadError([WRONG, WRONG]), "2 errors in the tools:\n" + f"{WRONG}\n{WRONG}"),
        (SchemaError("'text' isn't a type"), "'text' isn't a type"),
        (ConfigurationError("pyproject.toml", "not TOML"), "pyproject.toml: not TOML"),
        (ToolError("Say it: "), "Say it: "),
    ],
)
def test_an_error_says_what_is_there(error: SovlToolsError, message: str) -> None:
    assert str(error) == message
    assert isinstance(error, SovlToolsError)


def test_a_report_raises_its_errors_and_not_its_warnings() -> None:
    LoadReport(diagnostics=(ODD,)).raise_if_errors()
    with pytest.raises(ToolLoadError) as caught:
        LoadReport(diagnostics=(ODD, WRONG)).raise_if_errors()
    assert caught.value.diagnostics == (WRONG,)
