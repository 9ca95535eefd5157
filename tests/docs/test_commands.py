"""The page about commands says what the commands' own help says."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from sovl_tools.cli.main import COMMANDS
from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "commands.md"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """What ``scripts/docs/commands.py`` defines."""
    return runpy.run_path(str(REPOSITORY / "scripts" / "docs" / "commands.py"))


def test_the_page_has_the_help_of_every_command(script: dict[str, Any]) -> None:
    assert script["marked"](PAGE.read_text(encoding="utf-8")) == [*COMMANDS]


def test_the_page_says_what_the_help_says(
    script: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = script["rewritten"](text)
    if request.config.getoption("--bless"):
        PAGE.write_text(made, encoding="utf-8")
        return
    assert text == made, "run scripts/docs/commands.py"
