"""From the text of a template or an expression to a syntax tree that fits the sandbox."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

from jinja2 import TemplateSyntaxError, nodes
from jinja2.lexer import newline_re
from jinja2.parser import Parser
from jinja2.visitor import NodeTransformer

from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.language import TemplateError
from sovl_tools.procedures.sandbox import Sandbox

# Of operators and brackets; Jinja and Python take them apart by recursion.
_MAX_LEVELS = 100
_Tree = TypeVar("_Tree", nodes.Template, nodes.Expr)


def template_tree(text: str, sandbox: Sandbox) -> nodes.Template:
    """Return the tree of a template.

    Raises:
        TemplateError: it can't be read, or has what procedures do not have.
    """
    source = unified(text)
    return _checked(lambda: Parser(sandbox, source).parse(), source, sandbox)


def expression_tree(text: str, sandbox: Sandbox) -> nodes.Expr:
    """Return the tree of a bare expression.

    Raises:
        TemplateError: it can't be read, or has what procedures do not have.
    """
    source = unified(text)
    if not source.strip():
        raise TemplateError("an expression is missing here", 0)
    if source.lstrip().startswith(("{{", "{%")):
        message = "this is a template, where a bare expression should stand"
        raise TemplateError(message, len(source) - len(source.lstrip()), "leave the braces out")

    def parse() -> nodes.Expr:
        parser = Parser(sandbox, source, state="variable")
        tree = parser.parse_expression()
        if not parser.stream.eos:
            raise _rest(parser)
        return tree

    return _checked(parse, source, sandbox)


def unified(text: str) -> str:
    r"""Return the text with ``\n`` for every line break, as Jinja reads it."""
    return newline_re.sub("\n", text)


def _rest(parser: Parser) -> TemplateError:
    token = parser.stream.current
    advice = "compare with ==" if token.type == "assign" else None
    return TemplateError("something follows the expression", token.lineno - 1, advice)


def _checked(parse: Callable[[], _Tree], source: str, sandbox: Sandbox) -> _Tree:
    try:
        tree = parse()
        _check_depth(tree)
        for mistake in _mistakes(tree, sandbox):
            raise mistake
        made: _Tree = _ForData().visit(tree)
        made.set_environment(sandbox)
        _begin(made)
    except TemplateSyntaxError as error:
        raise _worded(error, source) from error
    except RecursionError as error:
        raise TemplateError("the expression is nested too deep", 0) from error
    except ValueError as error:
        if isinstance(error, TemplateError):
            raise
        raise TemplateError("a number has more digits than can be read", 0) from error
    return made


def _check_depth(tree: nodes.Node) -> None:
    level = [tree]
    for _ in range(_MAX_LEVELS):
        level = [child for node in level for child in node.iter_child_nodes()]
        if not level:
            return
    raise TemplateError("the expression is nested too deep", 0)


_FOREIGN: dict[type[nodes.Node], str] = {
    nodes.Block: "block",
    nodes.CallBlock: "call",
    nodes.Extends: "extends",
    nodes.FromImport: "from",
    nodes.Import: "import",
    nodes.Include: "include",
    nodes.Macro: "macro",
    nodes.ScopedEvalContextModifier: "autoescape",
}
_INFINITIES = (math.inf, -math.inf)


def _mistakes(tree: nodes.Node, sandbox: Sandbox) -> Iterator[TemplateError]:
    """Yield what Jinja would not mind, or only later."""
    for node in (tree, *tree.find_all(nodes.Node)):
        # the operands of a comparison have no place of their own
        offset = (node.lineno or 1) - 1
        if type(node) in _FOREIGN:
            yield TemplateError(f"procedures have no tag {_FOREIGN[type(node)]!r}", offset)
        elif isinstance(node, nodes.Filter) and node.name not in sandbox.filters:
            advice = did_you_mean(node.name, sandbox.filters)
            yield TemplateError(f"there is no filter {node.name!r}", offset, advice)
        elif isinstance(node, nodes.Test) and node.name not in sandbox.tests:
            advice = did_you_mean(node.name, sandbox.tests)
            yield TemplateError(f"there is no test {node.name!r}", offset, advice)
        elif isinstance(node, nodes.CondExpr) and node.expr2 is None:
            yield TemplateError("this 'if' has no 'else'", offset, "write what it is otherwise")
        elif isinstance(node, nodes.Const) and node.value in _INFINITIES:
            # Jinja would compile it to a name of Python's that is not there
            yield TemplateError("the number is larger than JSON can hold", offset)


def _begin(node: nodes.Node) -> int:
    """Place each expression where its first part stands; Jinja places some behind them."""
    first = min([node.lineno or sys.maxsize, *map(_begin, node.iter_child_nodes())])
    if isinstance(node, nodes.Expr):
        node.lineno = first
    return first


class _ForData(NodeTransformer):
    """Makes keys of attributes, unless they are called, and has ``~`` print as JSON does."""

    def __init__(self) -> None:
        self._called: set[int] = set()

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802 - Jinja's names
        self._called.add(id(node.node))
        return self.generic_visit(node)

    def visit_Getattr(self, node: nodes.Getattr) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        if id(node) in self._called:
            return node
        key = nodes.Const(node.attr, lineno=node.lineno)
        return nodes.Getitem(node.node, key, node.ctx, lineno=node.lineno)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.nodes = [
            nodes.Filter(each, "string", [], [], None, None, lineno=each.lineno)
            for each in node.nodes
        ]
        return node


def _worded(error: TemplateSyntaxError, source: str) -> TemplateError:
    said = (error.message or "").partition(". ")[0].removesuffix(".")
    is_at_end = "end of template" in said and not said.startswith("Unexpected")
    offset = len(source.rstrip()) if is_at_end else error.lineno - 1
    for pattern, words, advice in _WORDS:
        found = re.search(pattern, error.message or "")
        if found:
            return TemplateError(found.expand(words), offset, advice)
    return TemplateError(f"{said[:1].lower()}{said[1:]}", offset)


_WORDS: tuple[tuple[str, str, str | None], ...] = (
    (r"[Ee]xpected an expression|^unexpected 'end of", "an expression is missing here", None),
    (r"^unexpected end of template, expected 'end of print", "'{{' is not closed", "write }}"),
    (r"^unexpected end of template, expected 'end of state", "'{%' is not closed", "write %}"),
    (r"^Unexpected end of template.* innermost.* is ('\w+')", r"\1 is not closed", "close it"),
    (r"unknown tag ('\w+')", r"there is no tag \1 here", None),
)
"""What Jinja says of the mistakes that people make most, and our words for it."""
