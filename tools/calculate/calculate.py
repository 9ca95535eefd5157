"""Arithmetic for a model: parsed, never run as code, every size bounded before it is reached."""

import ast
import difflib
import math
from collections.abc import Mapping

from .functions import (
    CONSTANTS,
    FUNCTIONS,
    OPERATORS,
    SIGNS,
    TOO_LARGE,
    Number,
    Operation,
    within_bounds,
)

_MAXIMUM_LENGTH = 1000
_MAXIMUM_DEPTH = 60
_TOO_DEEP = f"the expression is nested more than {_MAXIMUM_DEPTH} levels deep"
_SIGNIFICANT_DIGITS = 15
_EXACT_IN_A_FLOAT = 2**53
_TYPOGRAPHIC = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})  # noqa: RUF001
_ADVICE = {
    "^": "write ** for a power, xor(a, b) for the exclusive or",
    "!": "write factorial(n)",
    "√": "write sqrt(x)",
    "=": "only the expression itself, without an equals sign",
}


def calculate(expression: str) -> dict[str, object]:
    """Return the expression as read and its result; raise ValueError if it isn't an arithmetic."""
    if len(expression) > _MAXIMUM_LENGTH:
        raise ValueError(f"the expression is longer than {_MAXIMUM_LENGTH} characters")
    text = " ".join(expression.translate(_TYPOGRAPHIC).split())
    return {"expression": text, "result": _presentable(_evaluate(_parse(text)))}


def _parse(text: str) -> ast.expr:
    for sign, advice in _ADVICE.items():
        if sign in text:
            raise ValueError(f"cannot read {sign!r}: {advice}")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        reason = getattr(error, "msg", error)
        raise ValueError(f"cannot read the expression {text[:60]!r}: {reason}") from None
    except (RecursionError, MemoryError):
        raise ValueError(_TOO_DEEP) from None


def _evaluate(tree: ast.expr) -> Number:
    try:
        return _value(tree, 0)
    except ZeroDivisionError:
        raise ValueError("division by zero") from None
    except OverflowError:
        raise ValueError(TOO_LARGE) from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def _value(node: ast.expr, depth: int) -> Number:
    if depth > _MAXIMUM_DEPTH:
        raise ValueError(_TOO_DEEP)
    evaluate = _NODES.get(type(node))
    if evaluate is None:
        raise ValueError(_unsupported(node))
    return within_bounds(evaluate(node, depth + 1))


def _unsupported(node: ast.expr) -> str:
    if isinstance(node, ast.Tuple):
        return "a comma only separates the arguments of a function: write 1500, not 1,500"
    return f"{ast.unparse(node)[:40]!r} isn't an arithmetic"


def _constant(node: ast.Constant, _depth: int) -> Number:
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    raise ValueError(_unsupported(node))


def _name(node: ast.Name, _depth: int) -> Number:
    if node.id in FUNCTIONS:
        raise ValueError(f"{node.id!r} is a function: write its arguments in parentheses")
    if node.id not in CONSTANTS:
        raise ValueError(_unknown(node.id))
    return CONSTANTS[node.id]


def _unknown(name: str) -> str:
    known = sorted([*FUNCTIONS, *CONSTANTS])
    close = difflib.get_close_matches(name[:40], known, n=3)
    advice = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
    return f"{name[:40]!r} isn't a known name: {advice}"


def _unary(node: ast.UnaryOp, depth: int) -> Number:
    return _operation(SIGNS, node)(_value(node.operand, depth))


def _binary(node: ast.BinOp, depth: int) -> Number:
    return _operation(OPERATORS, node)(_value(node.left, depth), _value(node.right, depth))


def _operation(table: Mapping[type, Operation], node: ast.UnaryOp | ast.BinOp) -> Operation:
    operation = table.get(type(node.op))
    if operation is None:
        raise ValueError(_unsupported(node))
    return operation


def _call(node: ast.Call, depth: int) -> Number:
    if not isinstance(node.func, ast.Name) or node.func.id in CONSTANTS:
        raise ValueError(f"{ast.unparse(node.func)[:40]!r} isn't a function: write * to multiply")
    if node.func.id not in FUNCTIONS:
        raise ValueError(_unknown(node.func.id))
    if node.keywords:
        raise ValueError(_unsupported(node))
    return FUNCTIONS[node.func.id](*[_value(argument, depth) for argument in node.args])


_NODES: dict[type[ast.expr], Operation] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Call: _call,
}


def _presentable(value: Number) -> Number:
    """Hide the noise of binary fractions (0.1 + 0.2 is 0.3), and show 6 / 2 as 3."""
    if isinstance(value, int):
        return value
    if value.is_integer() and abs(value) < _EXACT_IN_A_FLOAT:
        return int(value)
    rounded = float(f"{value:.{_SIGNIFICANT_DIGITS}g}")
    # The largest floats would be rounded up to infinity.
    return rounded if math.isfinite(rounded) else value
