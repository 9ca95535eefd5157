"""Arithmetic, and what tries to be more than that."""

import math
from collections.abc import Callable
from typing import Any

from tests.patience import bounded_work
from tests.tables import check_each

from .conftest import Call, Refuse

Value = Callable[..., Any]


def result(value: Value, expression: str) -> Any:
    return value("calculate", expression=expression)["result"]


@check_each(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("-2 ** 2", -4),
        ("-7 % 3", 2),
        ("6 / 2", 3),
        ("0.1 + 0.2", 0.3),
        ("1e3", 1000),
        ("0xff + 0b11 + 0o7", 265),
        ("1 << 10 | 1", 1025),
        ("sqrt(2)", 1.4142135623731),
        ("log(8, 2)", 3),
        ("round(2.675, 2)", 2.67),
        ("round(2.5)", 2),
        ("max(1, 2.5) + min(3, 4) + sum(1, 2, 3)", 11.5),
        ("comb(5, 2) + perm(5, 2)", 30),
        ("degrees(pi)", 180),
        ("2 ** -999999999", 0),
        ("1e16 / 2", 5_000_000_000_000_000),
    ],
)
def test_works_out(value: Value, expression: str, expected: float) -> None:
    assert math.isclose(result(value, expression), expected, rel_tol=1e-13)


@check_each(
    "expression",
    [
        "9**9**9",
        "1 << 10**900",
        "factorial(10**9)",
        "comb(10**9, 10**8)",
        "round(5, -10**9)",
        "10**500 * 10**500",
        "lcm(2**3000, 3**2000)",
        "1e999",
        "10.0 ** 400",
        "sum(" + ",".join(["10**999"] * 90) + ")",
    ],
)
def test_what_would_be_too_large_is_refused_at_once(refuse: Refuse, expression: str) -> None:
    with bounded_work():
        refuse("calculate", expression=expression)


@check_each(
    "expression",
    [
        "__import__('os').system('true')",
        "().__class__",
        "(x := 1)",
        "lambda: 1",
        "1 if 2 else 3",
        "1 and 2",
        "1 < 2",
        "'a' * 10**9",
        "True",
        "2j",
        "max(key=1)",
        "sin(1)(2)",
        "sqrt",
        "1,000",
        "5 5",
        "",
        "\0",
        "eval(1)",
    ],
)
def test_what_is_no_arithmetic_is_refused(call: Call, expression: str) -> None:
    answer = call("calculate", expression=expression)
    assert answer.error is not None
    assert answer.error.kind in {"tool_error", "invalid_arguments"}
    assert "SyntaxWarning" not in answer.error.message


@check_each(
    ("expression", "message"),
    [
        ("1 / 0", "division by zero"),
        ("(-8) ** (1/3)", "is not a real number"),
        ("factorial(2.5)", "a whole number is needed, not 2.5"),
        ("2 ^ 10", "write ** for a power"),
        ("5!", "write factorial(n)"),
        ("sqr(4)", "did you mean sqrt?"),
        ("1,5", "a comma only separates"),
        ("sqrt * 2", "'sqrt' is a function"),
        ("1 << -1", "negative shift count"),
        ("atan2(1)", "expected 2 arguments"),
        ("comb(20000, 1)", "at most 10000"),
        ("(1 + 2", "cannot read the expression"),
        ("1 @ 2", "'1 @ 2' isn't an arithmetic"),
    ],
)
def test_a_refusal_says_what_would_be_right(refuse: Refuse, expression: str, message: str) -> None:
    assert message in refuse("calculate", expression=expression)
