"""Comparison of two values, as a tool and as the step action `assert` of procedures."""

import operator as operators
from collections.abc import Mapping
from reprlib import Repr
from typing import Any

from .._shared import patterns

Value = float | str

_LONGEST_PATTERN = 500
_ORDERS = {"lt": operators.lt, "le": operators.le, "gt": operators.gt, "ge": operators.ge}
_OPERATORS = ("eq", "ne", *_ORDERS, "contains", "matches")
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def compare_values(
    *, left: Value, operator: str, right: Value, ignore_case: bool = False
) -> dict[str, bool]:
    """Return whether the comparison holds; raise ValueError for values without that relation."""
    if operator == "matches":
        return {"result": _matches(left, right, ignore_case=ignore_case)}
    if ignore_case:
        left, right = _folded(left), _folded(right)
    return {"result": _holds(left, operator, right)}


def assert_step(step: Mapping[str, Any], context: object) -> bool:  # noqa: ARG001
    """Return True if the step's comparison holds; raise ValueError, with its message, if not.

    A step has 'left' and 'right' and, if wanted, 'operator' (without it they must be equal),
    'ignore_case' and 'message'.
    """
    missing = [repr(key) for key in ("left", "right") if key not in step]
    if missing:
        raise ValueError(f"the step 'assert' needs {' and '.join(missing)}")
    left, operator, right = step["left"], str(step.get("operator", "eq")), step["right"]
    ignore_case = bool(step.get("ignore_case", False))
    answer = compare_values(left=left, operator=operator, right=right, ignore_case=ignore_case)
    if answer["result"]:
        return True
    default = f"{_SHORT.repr(left)} {operator} {_SHORT.repr(right)} does not hold"
    raise ValueError(f"assertion failed: {step.get('message') or default}")


STEP_HANDLERS = {"assert": assert_step}


def _holds(left: Value, operator: str, right: Value) -> bool:
    if operator in {"eq", "ne"}:
        return (_kind(left) == _kind(right) and left == right) is (operator == "eq")
    if operator in _ORDERS:
        _check_order(left, right)
        return bool(_ORDERS[operator](left, right))
    if operator == "contains":
        return _string(right, operator) in _string(left, operator)
    raise ValueError(f"{operator!r} isn't an operator: use one of {', '.join(_OPERATORS)}")


def _matches(text: Value, pattern: Value, *, ignore_case: bool) -> bool:
    text, pattern = _string(text, "matches"), _string(pattern, "matches")
    if len(pattern) > _LONGEST_PATTERN:
        raise ValueError(f"the regular expression is longer than {_LONGEST_PATTERN} characters")
    return bool(patterns.search(pattern, [text], ignore_case=ignore_case, limit=1))


def _folded(value: Value) -> Value:
    return value.casefold() if isinstance(value, str) else value


def _string(value: Value, operator: str) -> str:
    if not isinstance(value, str):
        # What a model gets wrong is a ValueError in every tool.
        raise ValueError(f"{operator!r} needs two strings, not a {_kind(value)}")  # noqa: TRY004
    return value


def _check_order(left: Value, right: Value) -> None:
    if _kind(left) != _kind(right) or _kind(left) not in {"number", "string"}:
        raise ValueError(
            f"a {_kind(left)} and a {_kind(right)} have no order: compare like with like"
        )


def _kind(value: object) -> str:
    """Name the JSON type; Python would take True for the number 1."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else type(value).__name__
