"""Arithmetic, and what tries to be more than that."""

import ast
import math
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.patience import bounded_work
from tests.tables import check_each

from .conftest import Call, Module, Refuse

Value = Callable[..., Any]


def result(value: Value, expression: str) -> Any:
    return value("calculate", expression=expression)["result"]


@check_each(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-2 ** 2", -4),
        ("+5 - -5", 10),
        ("~5", -6),
        ("7 // 2", 3),
        ("-7 % 3", 2),
        ("6 / 2", 3),
        ("0.1 + 0.2", 0.3),
        ("1e3", 1000),
        ("1_000 * .5", 500),
        ("0xff + 0b11 + 0o7", 265),
        ("1 << 10 | 1", 1025),
        ("1024 >> 3 & 6", 0),
        ("xor(6, 3)", 5),
        ("sqrt(2)", 1.4142135623731),
        ("cbrt(27)", 3),
        ("log(8, 2)", 3),
        ("round(2.675, 2)", 2.67),
        ("round(15, -1)", 20),
        ("round(2.5)", 2),
        ("max(1, 2.5) + min(3, 4) + sum(1, 2, 3)", 11.5),
        ("max(3)", 3),
        ("gcd(12, 18) + lcm(4, 6)", 18),
        ("comb(5, 2) + perm(5, 2)", 30),
        ("factorial(6 / 2)", 6),
        ("degrees(pi)", 180),
        ("2 ** -2", 0.25),
        ("2 ** -999999999", 0),
        ("1 ** 999999999", 1),
        ("1e16 / 2", 5_000_000_000_000_000),
        ("1e15 / 3", 333_333_333_333_333.0),
        ("7e22 / 2", 3.5e22),
    ],
)
def test_works_out(value: Value, expression: str, expected: float) -> None:
    assert math.isclose(result(value, expression), expected, rel_tol=1e-13)


def test_large_whole_numbers_are_exact(value: Value) -> None:
    assert result(value, "factorial(449)") == math.factorial(449)
    assert result(value, "-(10 ** 999)") == -(10**999)
    assert result(value, "9007199254740993 + 0") == 9_007_199_254_740_993


def test_whole_results_are_whole_numbers(value: Value) -> None:
    assert isinstance(result(value, "6 / 2"), int)
    assert isinstance(result(value, "1e15 / 3"), float)


@check_each("sign", ["", "-"])
@check_each("number", [sys.float_info.max, sys.float_info.min, 5e-324])
def test_the_ends_of_the_range_of_floats_are_results(
    value: Value, sign: str, number: float
) -> None:
    result = value("calculate", expression=f"{sign}{number!r} * 1")["result"]
    assert result == pytest.approx(float(f"{sign}{number}"), rel=1e-14)


def test_typographic_signs_and_line_breaks_are_read(value: Value) -> None:
    answer = value("calculate", expression="\u00a0 6 ÷ 2\n × 4 − 1 ")  # noqa: RUF001
    assert answer == {"expression": "6 / 2 * 4 - 1", "result": 11}


@check_each(
    "expression",
    [
        "9**9**9",
        "2**2**2**2**2**2",
        "(1<<10**9)",
        "1 << 10**900",
        "factorial(10**9)",
        "factorial(factorial(20))",
        "comb(10**9, 10**8)",
        "perm(10**4, 10**4)",
        "round(5, -10**9)",
        "10**500 * 10**500",
        "lcm(2**3000, 3**2000)",
        "1e999",
        "0 * 1e999",
        "1e308 * 10",
        "1e999 - 1e999",
        "exp(1000)",
        "10.0 ** 400",
        "10 ** 400 / 1.0",
        "sum(" + ",".join(["10**999"] * 90) + ")",
        "0x" + "f" * 990,
    ],
)
def test_what_would_be_too_large_is_refused_at_once(refuse: Refuse, expression: str) -> None:
    with bounded_work():
        refuse("calculate", expression=expression)


@check_each(
    "expression",
    [
        "(" * 400 + "1" + ")" * 400,
        "-" * 900 + "1",
        "max(*" + "-" * 900 + "1)",
        "(" + "-" * 900 + "1)(2)",
        "abs(" * 61 + "1" + ")" * 61,
        "~" * 999,
    ],
)
def test_deep_nesting_is_refused(refuse: Refuse, expression: str) -> None:
    refuse("calculate", expression=expression)


def test_a_giant_expression_is_refused_before_it_is_parsed(call: Call, module: Module) -> None:
    giant = "(" * 100_000 + "1" + ")" * 100_000
    answer = call("calculate", expression=giant)
    assert answer.error is not None
    assert answer.error.kind == "invalid_arguments"
    with pytest.raises(ValueError, match="longer than 1000 characters"):
        module("calculate").calculate(giant)


@check_each(
    "expression",
    [
        "__import__('os').system('true')",
        "().__class__",
        "(1).real",
        "1 .real",
        "1..real",
        "(x := 1)",
        "x = 1",
        "lambda: 1",
        "[1, 2][0]",
        "{1}",
        "1 if 2 else 3",
        "1if 2else 3",
        "0x1for 2",
        "1 and 2",
        "not 1",
        "1 < 2",
        "'a' * 10**9",
        '"a"',
        "f'{1}'",
        "True",
        "None",
        "2j",
        "nan",
        "inf",
        "max(key=1)",
        "max(*max)",
        "sin(1)(2)",
        "2(3)",
        "pi()",
        "sqrt",
        "1,000",
        "1, 2",
        "5 5",
        "1 +",
        "",
        "   ",
        "\0",
        "٣ + 1",
        "0777",
        "1 # comment",
        "eval(1)",
        "e" * 999,
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
        ("5 // 0", "division by zero"),
        ("5 % 0.0", "division by zero"),
        ("0 ** -1", "division by zero"),
        ("(-8) ** (1/3)", "is not a real number"),
        ("1.5 << 1", "a whole number is needed, not 1.5"),
        ("factorial(2.5)", "a whole number is needed, not 2.5"),
        ("2 ^ 10", "write ** for a power"),
        ("5!", "write factorial(n)"),
        ("√2", "write sqrt(x)"),
        ("sqr(4)", "did you mean sqrt?"),
        ("qqq(4)", "known are abs, acos"),
        ("1,5", "a comma only separates"),
        ("sqrt * 2", "'sqrt' is a function"),
        ("2 (3)", "write * to multiply"),
        ("1 << -1", "negative shift count"),
        ("hypot", "is a function"),
        ("atan2(1)", "expected 2 arguments"),
        ("min()", ""),
        ("sqrt(-1)", ""),
        ("comb(20000, 1)", "at most 10000"),
        ("round(1, 301)", "at most 300 decimals"),
        ("(1 + 2", "cannot read the expression"),
        ("1 @ 2", "cannot read '@ 2' at character 3"),
    ],
)
def test_a_refusal_says_what_would_be_right(refuse: Refuse, expression: str, message: str) -> None:
    assert message in refuse("calculate", expression=expression)


@check_each("source", ["'text'", "b''", "...", "1 if 2 else 3", "[1]", "1 @ 2", "not 1"])
def test_nothing_but_arithmetic_is_evaluated_even_past_the_check_of_tokens(
    module: Module, source: str
) -> None:
    evaluate = module("calculate")._evaluate
    with pytest.raises(ValueError, match="isn't an arithmetic"):
        evaluate(ast.parse(source, mode="eval").body)


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_a_parser_that_gives_up_is_a_refusal(
    refuse: Refuse, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def give_up(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", give_up)
        assert "60 levels" in refuse("calculate", expression="1")
