"""From the text of a template or an expression to a function of the variables."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias, TypeVar

from jinja2 import Template as Code
from jinja2 import TemplateSyntaxError, nodes
from jinja2.lexer import newline_re
from jinja2.parser import Parser
from jinja2.utils import missing
from jinja2.visitor import NodeTransformer

from sovl_tools.model.document import JSON, copied, dotted, kind, with_article
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.errors import EvaluationError, TemplateError
from sovl_tools.procedures.procedure import Reference
from sovl_tools.procedures.templates.sandbox import (
    AbsentError,
    Sandbox,
    as_json,
    joined,
)

_SANDBOX = Sandbox()
_RESULT = "_result_of_the_expression_"
_Tree = TypeVar("_Tree", nodes.Template, nodes.Expr)
_Variables = Mapping[str, JSON]
Compiled: TypeAlias = tuple[str, tuple[Reference, ...], Callable[[_Variables], JSON]]
"""The fields of a ``Template``."""


def template(text: str) -> Compiled:
    """Compile a string with templates.

    Raises:
        TemplateError: it can't be read.
    """
    tree = _checked(lambda: Parser(_SANDBOX, newline_re.sub("\n", text)).parse())
    outputs = [each.nodes for each in tree.body if isinstance(each, nodes.Output)]
    is_whole = text.startswith("{{") and text.endswith("}}") and len(tree.body) == len(outputs) == 1
    if is_whole and len(outputs[0]) == 1:  # nothing but one expression, whose type is kept
        return _value(outputs[0][0])
    code, references = _code(tree), _references(tree)

    def run(variables: _Variables) -> JSON:
        return joined(code.root_render_func(code.new_context(dict(variables))))

    return "string", references, _evaluating(run, references)


def expression(text: str) -> Compiled:
    """Compile a bare expression.

    Raises:
        TemplateError: it can't be read.
    """
    source = newline_re.sub("\n", text)
    if not source.strip():
        raise TemplateError("an expression is missing here")
    if source.lstrip().startswith(("{{", "{%")):
        message = "this is a template, where a bare expression should be"
        raise TemplateError(message, "remove the braces")

    def parse() -> nodes.Expr:
        parser = Parser(_SANDBOX, source, state="variable")
        tree = parser.parse_expression()
        if not parser.stream.eos:
            advice = "compare with ==" if parser.stream.current.type == "assign" else None
            raise TemplateError("something follows the expression", advice)
        return tree

    return _value(_checked(parse))


def _value(expression: nodes.Expr) -> Compiled:
    """Compile what keeps the type of an expression's value."""
    target = nodes.Name(_RESULT, "store", lineno=expression.lineno)
    assignment = nodes.Assign(target, expression, lineno=expression.lineno)
    tree = nodes.Template([assignment], lineno=1)
    tree.set_environment(_SANDBOX)
    code, references = _code(tree), _references(tree)

    def run(variables: _Variables) -> JSON:
        context = code.new_context(dict(variables))
        deque(code.root_render_func(context), 0)
        return as_json(context.vars[_RESULT])

    evaluate = _evaluating(run, references)
    chain = _chain(expression)
    if chain.is_dynamic or not isinstance(chain.root, nodes.Name):
        return "value", references, evaluate
    name = chain.root.name

    # What is only handed on can be as large as it is.
    def look_up(variables: _Variables) -> JSON:
        try:
            value = variables[name]
            for part in chain.attributes:
                value = value[part]
        except (LookupError, TypeError):
            return evaluate(variables)
        return copied(value)

    return "variable", references, look_up


def _code(tree: nodes.Template) -> Code:
    try:
        return _SANDBOX.from_string(tree)
    except TemplateSyntaxError as error:
        raise TemplateError("'loop' can't be the variable of a loop") from error
    except (SyntaxError, RecursionError, MemoryError) as error:  # Python's, of many brackets
        raise TemplateError("the expression is nested too deep") from error


def _checked(parse: Callable[[], _Tree]) -> _Tree:
    """Return the tree of a string, made for JSON.

    Raises:
        TemplateError: it can't be read, or has what procedures do not have.
    """
    try:
        tree = parse()
        for mistake in _mistakes(tree):
            raise mistake
        made: _Tree = _ForData().visit(tree)
        made.set_environment(_SANDBOX)
    except TemplateSyntaxError as error:
        raise _worded(error) from error
    except RecursionError as error:
        raise TemplateError("the expression is nested too deep") from error
    except ValueError as error:
        if isinstance(error, TemplateError):
            raise
        raise TemplateError("a number has more digits than can be read") from error
    return made


_FOREIGN = (
    nodes.Block, nodes.CallBlock, nodes.Extends, nodes.FromImport, nodes.Import, nodes.Include,
    nodes.Macro, nodes.ScopedEvalContextModifier,
)  # fmt: skip
"""The tags that procedures don't have."""


def _mistakes(tree: nodes.Node) -> Iterator[TemplateError]:
    """Yield what Jinja would not mind, or only later."""
    filters = _SANDBOX.filters.keys()
    for node in (tree, *tree.find_all(nodes.Node)):
        if isinstance(node, _FOREIGN):
            yield TemplateError(f"procedures have no tag {type(node).__name__.lower()!r}")
        elif isinstance(node, nodes.Filter) and node.name not in filters:
            advice = did_you_mean(node.name, filters)
            yield TemplateError(f"there's no filter {node.name!r}", advice)
        elif isinstance(node, nodes.Test) and node.name not in _SANDBOX.tests:
            advice = did_you_mean(node.name, _SANDBOX.tests)
            yield TemplateError(f"there's no test {node.name!r}", advice)
        elif isinstance(node, nodes.CondExpr) and node.expr2 is None:
            yield TemplateError("this 'if' has no 'else'", "write its value otherwise")


class _ForData(NodeTransformer):
    """Makes keys of attributes, unless they are called, and prints ``~`` as JSON."""

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
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, "join", [], [], None, None, lineno=node.lineno)


def _worded(error: TemplateSyntaxError) -> TemplateError:
    for pattern, words, advice in _WORDS:
        found = re.search(pattern, error.message or "")
        if found:
            return TemplateError(found.expand(words), advice)
    said = (error.message or "").partition(". ")[0].removesuffix(".")
    return TemplateError(f"{said[:1].lower()}{said[1:]}")


# Jinja's messages for the commonest mistakes, and our words for them.
_WORDS: tuple[tuple[str, str, str | None], ...] = (
    (r"[Ee]xpected an expression|^unexpected 'end of", "an expression is missing here", None),
    (r"^unexpected end of template, expected 'end of print", "'{{' is not closed", "write }}"),
    (r"^unexpected end of template, expected 'end of state", "'{%' is not closed", "write %}"),
    (r"^Unexpected end of template.* innermost.* is ('\w+')", r"\1 is not closed", "close it"),
    (r"unknown tag ('\w+')", r"there's no tag \1 here", None),
)


class _Chain(NamedTuple):
    """A name with the constant keys behind it: ``page.links[0]``, and ``page`` of ``page[x].y``."""

    root: nodes.Node
    attributes: tuple[str | int, ...]
    is_dynamic: bool


def _chain(node: nodes.Node) -> _Chain:
    attributes: list[str | int] = []
    is_dynamic = False
    while isinstance(node, nodes.Getitem):
        key: Any = node.arg
        sign = 1
        if isinstance(key, nodes.Neg):
            key, sign = key.node, -1
        if isinstance(key, nodes.Const) and type(key.value) in {str, int}:
            attributes.append(sign * key.value if sign < 0 else key.value)
        else:
            attributes.clear()
            is_dynamic = True
        node = node.node
    return _Chain(node, tuple(reversed(attributes)), is_dynamic)


def _references(tree: nodes.Template) -> tuple[Reference, ...]:
    """Return the variables that a tree reads, except its own."""
    known = {each.name for each in tree.find_all(nodes.Name) if each.ctx != "load"}
    known |= _SANDBOX.globals.keys() | ({"loop"} if tree.find(nodes.For) else set())
    found: list[Reference] = []
    tested: list[Reference] = []

    def visit(node: nodes.Node, *, is_guarded: bool = False) -> None:
        chain = _chain(node)
        if isinstance(chain.root, nodes.Name):
            if chain.root.name not in known:
                found.append(Reference(chain.root.name, chain.attributes, is_guarded))
            while isinstance(node, nodes.Getitem):
                visit(node.arg)
                node = node.node
            return
        if isinstance(node, nodes.Test) and node.name in {"defined", "undefined"}:
            inner = _chain(node.node)
            if isinstance(inner.root, nodes.Name):
                tested.append(Reference(inner.root.name, inner.attributes))
        is_default = isinstance(node, nodes.Filter) and node.name in {"default", "d"}
        for index, each in enumerate(node.iter_child_nodes()):
            visit(each, is_guarded=is_default and index == 0)

    def is_tested(reference: Reference) -> bool:
        return any(
            reference.name == name and reference.attributes[: len(attributes)] == attributes
            for name, attributes, _ in tested
        )

    visit(tree)
    return tuple(each._replace(is_guarded=each.is_guarded or is_tested(each)) for each in found)


# Why an expression has no value


def _evaluating(
    run: Callable[[_Variables], JSON], references: tuple[Reference, ...]
) -> Callable[[_Variables], JSON]:
    def evaluate(variables: _Variables) -> JSON:
        try:
            return run(variables)
        except EvaluationError:
            raise
        except Exception as error:
            raise _failure(error, references, variables) from error

    return evaluate


def _failure(
    error: Exception, references: tuple[Reference, ...], variables: _Variables
) -> EvaluationError:
    if not isinstance(error, AbsentError):
        said = str(error).removeprefix("do_").lstrip("_") or type(error).__name__
        return EvaluationError(f"{said[:1].lower()}{said[1:_LONGEST]}".removesuffix("."))
    name, within = error.name, error.within
    if within is missing:
        advice = did_you_mean(name, variables)
        return EvaluationError(f"there's no variable {name!r}", advice)
    what = with_article(kind(within))
    if isinstance(within, list):
        what = f"{what} of length {len(within)}"
    owner = _owner(error, references, variables)
    if owner is not None:
        what = f"{owner!r} is {what} and"
    member = f"item {name}" if isinstance(name, int) else repr(name)
    advice = None
    if isinstance(name, str):
        is_method = not name.startswith("_") and callable(getattr(within, name, None))
        near = did_you_mean(name, within) if isinstance(within, dict) else None
        advice = f"call it: {name}()" if is_method else near
    return EvaluationError(f"{what} has no {member}", advice)


def _owner(
    error: AbsentError, references: tuple[Reference, ...], variables: _Variables
) -> str | None:
    """Return the source of the value that lacks a member; None if it has no name."""
    for name, attributes, _ in references:
        value: Any = variables.get(name)
        with suppress(LookupError, TypeError):
            for index, part in enumerate(attributes):
                if part == error.name and value is error.within:
                    return dotted((name, *attributes[:index]))
                value = value[part]
    return None


_LONGEST = 300
