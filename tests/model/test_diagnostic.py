from __future__ import annotations

from collections.abc import Iterator

from sovl_tools.model.diagnostic import (
    MAX_FINDINGS,
    Finding,
    Position,
    Verdict,
    ask,
    has_errors,
    rule,
)


@rule("ST999")
def too_large(number: int) -> Iterator[Finding]:
    """A number is too large.

    No one counts that far. Take a smaller one.
    """
    if number > 9:
        yield Finding(Position(), f"{number} is too large")


@rule("ST998", "warning")
def odd(number: int) -> Iterator[Finding]:
    """A number is odd."""
    if number % 2:
        yield Finding(Position(), f"{number} is odd", "add one")


def test_rules_are_asked_in_their_order() -> None:
    verdicts = ask((too_large, odd), 11)
    assert [each.rule for each in verdicts] == [too_large, odd]
    assert verdicts[1] == Verdict(odd, Finding(Position(), "11 is odd", "add one"))
    assert ask((too_large, odd), 2) == []


def test_only_an_error_keeps_a_tool_from_being_loaded() -> None:
    assert has_errors(ask((too_large, odd), 11))
    assert not has_errors(ask((too_large, odd), 3))


def test_a_rule_that_finds_very_much_says_that_there_is_more() -> None:
    verdicts = ask((odd, too_large), *range(1, 2 * MAX_FINDINGS + 4, 2))
    of_odd = [each.finding.message for each in verdicts if each.rule is odd]
    assert of_odd[:2] == ["1 is odd", "3 is odd"]
    assert of_odd[MAX_FINDINGS - 1] == f"{2 * MAX_FINDINGS - 1} is odd"
    assert of_odd[MAX_FINDINGS:] == ["and more from here on, next to the 100 that are shown"]
    assert has_errors(verdicts), "one rule's number hides no other rule's findings"
