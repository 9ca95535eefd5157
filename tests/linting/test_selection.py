from __future__ import annotations

import pytest

from sovl_tools import Diagnostic
from sovl_tools.configuration import Configuration
from sovl_tools.linting import rules
from sovl_tools.linting.rules import RULES
from sovl_tools.linting.selection import (
    Selection,
    SelectorError,
    code_of,
    codes_of,
    selection_of,
)
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.errors import ConfigurationError
from tests.reporting.findings import ODD, WRONG, folder
from tests.tables import check_each


@check_each(
    ("select", "ignore", "kept"),
    [
        ((), (), [WRONG, ODD]),
        (("ST2",), (), [WRONG, ODD]),
        (("ST201",), (), [WRONG]),
        ((), ("ST202",), [WRONG]),
        (("ST2",), ("ST201",), [ODD]),
    ],
)
def test_diagnostics_are_selected_by_how_their_codes_begin(
    select: tuple[str, ...], ignore: tuple[str, ...], kept: list[Diagnostic]
) -> None:
    report = LoadReport((folder("echo", "loaded"),), (WRONG, ODD))
    chosen = Selection(select=select, ignore=ignore).of(report)
    assert chosen == LoadReport(report.folders, tuple(kept))


def test_every_rule_has_a_code_and_a_name_of_its_own() -> None:
    assert len(rules._RULES) == len(RULES)
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    assert all(code_of(rule.name) == code for code, rule in RULES.items())


@check_each(
    ("selector", "hint"),
    [
        ("ST3066", "did you mean 'ST306'?"),
        ("unused-supression", "did you mean 'unused-suppression'?"),
        ("", "sovl-tools explain lists them"),
        ("%", "sovl-tools explain lists them"),
    ],
)
def test_what_names_no_rule_is_refused_with_a_hint(selector: str, hint: str) -> None:
    with pytest.raises(SelectorError) as raised:
        codes_of(["ST306", selector])
    assert str(raised.value).endswith(f" {selector!r}; {hint}")


@check_each(
    ("selection", "kept"),
    [
        (Selection(select=("ST201",), ignore=("ST2",)), [WRONG]),
        (Selection(select=("ST2",), ignore=("ST2",)), []),
        (Selection(ignore=("ST2",), extend_select=("ST202",)), [ODD]),
        (Selection(per_tool={"ec*": ("ST201",)}), [ODD]),
        (Selection(select=("ST201",), per_tool={"*": ("ST2",)}), [WRONG]),
    ],
)
def test_the_longest_selector_decides(selection: Selection, kept: list[Diagnostic]) -> None:
    assert [each for each in (WRONG, ODD) if selection.shows(each)] == kept


def test_what_is_given_wins_over_the_configuration() -> None:
    found = Configuration(
        ("tools",),
        "x",
        select=("ST2",),
        extend_select=("ST3",),
        ignore=("ST4",),
        per_tool_ignores={"a": ("unused-suppression",)},
    )
    assert selection_of(found) == Selection(("ST2",), ("ST3",), ("ST4",), {"a": ("ST002",)})
    given = selection_of(found, ("ST5",), ("ST7",))
    assert given == Selection(("ST5",), ("ST3",), ("ST7",), {"a": ("ST002",)})


@check_each(
    ("setting", "key"),
    [
        ({"select": ("ST999",)}, "select"),
        ({"per_tool_ignores": {"a": ("ST999",)}}, "per-tool-ignores.a"),
    ],
)
def test_a_rule_that_the_configuration_invents_is_told_with_its_key(
    setting: dict[str, object], key: str
) -> None:
    found = Configuration(("tools",), "x", file="pyproject.toml", **setting)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError) as raised:
        selection_of(found)
    assert str(raised.value).startswith(f"pyproject.toml: {key}: there's no code 'ST999'")
