"""The page of all rules says what the rules say."""

from __future__ import annotations

import runpy

import pytest

from sovl_tools.linting.rules import RULES
from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "rules.md"


def test_the_page_has_every_rule_with_an_example(request: pytest.FixtureRequest) -> None:
    script = runpy.run_path(str(REPOSITORY / "scripts" / "docs" / "rules.py"))
    made = script["page"]()
    if request.config.getoption("--bless"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made, "run scripts/docs/rules.py"
    assert [code for code in RULES if not script["example_of"](code)] == []
    # no change of a tool's files would be right: a mistake of ours, a path, a command to run
    others = {code for code in RULES if not script["mended_example_of"](code)}
    assert others == {"ST001", "ST101", "ST107", "ST314"}
