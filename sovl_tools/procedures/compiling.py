"""From templates and expressions to functions of the variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from jinja2 import Template as Code
from jinja2 import TemplateSyntaxError, nodes

from sovl_tools.model.document import JSON, copied
from sovl_tools.procedures.expressions import Template
from sovl_tools.procedures.failing import Site, failure
from sovl_tools.procedures.language import TemplateError
from sovl_tools.procedures.plain import as_json, joined
from sovl_tools.procedures.references import chain, references
from sovl_tools.procedures.sandbox import Sandbox
from sovl_tools.procedures.syntax import expression_tree, template_tree

_SANDBOX = Sandbox()
_RESULT = "_result_of_the_expression_"


def template(text: str) -> Template:
    """Return what a text with templates is.

    Raises:
        TemplateError: it can't be read.
    """
    tree = template_tree(text, _SANDBOX)
    only = _only_expression(tree) if text.startswith("{{") and text.endswith("}}") else None
    if only is not None:
        return _value(only)
    site = Site(references(tree, _SANDBOX.globals))
    code = _code(tree)

    def run(variables: Mapping[str, JSON]) -> JSON:
        try:
            return joined(code.root_render_func(code.new_context(dict(variables))))
        except Exception as error:
            raise failure(error, site, variables) from error

    return Template("string", site.references, run)


def expression(text: str) -> Template:
    """Return what a bare expression is.

    Raises:
        TemplateError: it can't be read.
    """
    return _value(expression_tree(text, _SANDBOX))


def _only_expression(tree: nodes.Template) -> nodes.Expr | None:
    """Return the expression that is all there is in a template; None if there is more."""
    outputs = [each.nodes for each in tree.body if isinstance(each, nodes.Output)]
    if len(tree.body) != len(outputs) or len(outputs) != 1 or len(outputs[0]) != 1:
        return None
    return outputs[0][0]


def _value(expression: nodes.Expr) -> Template:
    site = Site(references(expression, _SANDBOX.globals), expression.lineno - 1)
    target = nodes.Name(_RESULT, "store", lineno=expression.lineno)
    assignment = nodes.Assign(target, expression, lineno=expression.lineno)
    tree = nodes.Template([assignment], lineno=1)
    tree.set_environment(_SANDBOX)
    code = _code(tree)

    def run(variables: Mapping[str, JSON]) -> JSON:
        try:
            context = code.new_context(dict(variables))
            deque(code.root_render_func(context), 0)
            return as_json(context.vars[_RESULT])
        except Exception as error:
            raise failure(error, site, variables) from error

    root, attributes, dynamic = chain(expression)
    if dynamic or not isinstance(root, nodes.Name):
        return Template("value", site.references, run)
    return Template("value", site.references, _lookup(root.name, attributes, run))


def _lookup(
    name: str, attributes: tuple[str | int, ...], run: Callable[[Mapping[str, JSON]], JSON]
) -> Callable[[Mapping[str, JSON]], JSON]:
    """Return a program that looks something up without Jinja, and asks it why if that fails."""

    def look_up(variables: Mapping[str, JSON]) -> JSON:
        try:
            value = variables[name]
            for part in attributes:
                value = value[part]
        except (LookupError, TypeError):
            return run(variables)
        return copied(value)

    return look_up


def _code(tree: nodes.Template) -> Code:
    try:
        return _SANDBOX.from_string(tree)
    except TemplateSyntaxError as error:
        raise TemplateError("'loop' can't be the variable of a loop", error.lineno - 1) from error
