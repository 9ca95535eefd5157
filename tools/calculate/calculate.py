"""Arithmetic for a model: parsed, never run as code, every size bounded before it is reached."""

import ast
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
from .tokens import normalize

_MAXIMUM_DEPTH = 60
_TOO_DEEP = f"the expression is nested more than {_MAXIMUM_DEPTH} levels deep"
_SIGNIFICANT_DIGITS = 15
_EXACT_IN_A_FLOAT = 2**53


def calculate(expression: str) -> dict[str, object]:
    """Return the expression as read and its result; raise ValueError if it isn't an arithmetic."""
    text = normalize(expression)
    return {"expression": text, "result": _presentable(_evaluate(_parse(text)))}


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"cannot read the expression {text[:60]!r}: {error.msg}") from None
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
    if isinstance(node.value, int | float):
        return node.value
    raise ValueError(_unsupported(node))


def _name(node: ast.Name, _depth: int) -> Number:
    if node.id not in CONSTANTS:
        raise ValueError(f"{node.id!r} is a function: write its arguments in parentheses")
    return CONSTANTS[node.id]


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
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        raise ValueError(f"{ast.unparse(node.func)[:40]!r} isn't a function: write * to multiply")
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
