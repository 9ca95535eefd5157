"""The page about other systems has the table of names that the code has."""

from __future__ import annotations

import runpy

import pytest

from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "migration.md"


def test_the_page_has_the_names_of_the_code(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = runpy.run_path(str(REPOSITORY / "scripts" / "docs" / "names.py"))["page"](text)
    if request.config.getoption("--bless"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made, "run scripts/docs/names.py"
