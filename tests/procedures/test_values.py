"""Templates, and the variables in them: ST759 to ST764."""

from __future__ import annotations

from typing import Any

from tests.procedures.workshop import (
    add,
    call,
    defined,
    found,
    inputs,
    manager_of,
    procedure,
    returning,
    values,
)
from tests.tables import check_each

TEXT = {"type": "string"}


def page() -> dict[str, Any]:
    """Return a page."""
    return {"links": [{"url": "a"}]}


def said(*steps: dict[str, Any], **keys: Any) -> list[str]:
    return found(manager_of(add, page_of()).check(procedure(*steps, **keys)))


def page_of() -> Any:
    link = {"type": "object", "properties": {"url": TEXT}, "additionalProperties": False}
    links = {"type": "array", "items": link}
    schema = {"type": "object", "properties": {"links": links}, "additionalProperties": False}
    return defined(page, output_schema=schema)


def branch(condition: str, then: list[Any], *otherwise: Any) -> dict[str, Any]:
    step = {"action": "if", "condition": condition, "then": then}
    return {**step, "else": list(otherwise)} if otherwise else step


def loop(*steps: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"action": "for_each", "items": [1, 2], "steps": list(steps), **keys}


@check_each(
    "step",
    [
        values(x=["{{ 1"]),
        {**values(x=1), "when": "1 +"},
        {"action": "fail", "message": "{% include 'a' %}"},
        loop(values(x=1), items="{{ a b }}"),
        loop(values(x=1), result={"a": "{{ | }}"}),
    ],
)
def test_a_template_that_can_not_be_read_is_told(step: dict[str, Any]) -> None:
    assert [each[:5] for each in said(step)] == ["ST759"]


@check_each(
    ("expression", "is_known"),
    [
        ("page.links", True),
        ("page.links[0].url", True),
        ("page['links'][0]", True),
        ("page.keys() | list", True),
        ("page.link", False),
        ("page.links[0].title", False),
        ("page.links[inputs.n].title", True),
        ("page.title | default('')", True),
        ("page.title is defined and page.title", True),
    ],
)
def test_what_a_tool_does_not_return_is_told(expression: str, is_known: Any) -> None:
    steps = call("page", "page"), values(x=f"{{{{ {expression} }}}}")
    found = said(*steps, inputs=inputs("n", n={"type": "integer"}))
    assert [each[:5] for each in found] == ([] if is_known else ["ST760"])


@check_each("expression", ["item", "loop.index", "loop.count", "y"])
def test_variables_of_an_iteration_are_there_in_it_alone(expression: str) -> None:
    inner = values(y=1), values(z=f"{{{{ {expression} }}}}")
    assert said(loop(*inner, result=f"{{{{ {expression} }}}}")) == []
    assert [each[:5] for each in said(loop(*inner), output=f"{{{{ {expression} }}}}")] == ["ST760"]


def test_variables_of_one_branch_are_not_there_in_another() -> None:
    branches = {"left": [values(x=1)], "right": [values(y="{{ x }}")]}
    (message,) = said({"action": "parallel", "branches": branches})
    assert message.startswith("ST760 'x' is assigned only later")
    branches = {"left": [values(x=1)], "right": [values(y=2)]}
    step = {"action": "parallel", "branches": branches}
    assert said(step, output="{{ x + y }}") == []


@check_each(
    "steps",
    [
        [{**values(x=1), "when": "inputs.n"}],
        [branch("inputs.n", [values(x=1)])],
        [branch("inputs.n", [values(y=1)], values(x=1))],
        [{**branch("inputs.n", [values(x=1)], values(x=2)), "on_error": "continue"}],
        [{**values(x=1), "when": "inputs.n"}, {**values(x=2), "when": "inputs.n"}],
        [{**call("add", "x", a=1, b=1), "when": "inputs.n"}],
        [branch("inputs.n", [branch("inputs.n", [returning(1)]), values(y=1)], values(x=1))],
        [branch("inputs.n", [{**returning(1), "when": "inputs.n"}], values(x=1))],
        [branch("inputs.n", [{**returning(1), "on_error": "continue"}], values(x=1))],
    ],
)
def test_a_variable_that_may_not_be_assigned_is_a_warning(steps: list[Any]) -> None:
    given = inputs("n", n={"type": "integer"})
    (message,) = said(*steps, output="{{ x }}", inputs=given)
    assert message.startswith("ST761 'x' may not have been assigned")
    assert said(*steps, output="{{ x | default(0) }}", inputs=given) == []
    assert said(values(x=0), *steps, output="{{ x }}", inputs=given) == []


@check_each(
    "steps",
    [
        [branch("inputs.n", [values(x=1)], values(x=2))],
        [branch("inputs.n", [values(x=1)], returning(1))],
        [branch("inputs.n", [{"action": "fail", "message": "no"}], values(x=1))],
        [{**call("add", "x", a=1, b=1), "on_error": "continue"}],
        [{**loop(values(y=1), result=1), "save_as": "x"}],
        [branch("inputs.n", [branch("inputs.n", [returning(1)], returning(2))], values(x=1))],
    ],
)
def test_a_variable_that_is_assigned_whatever_happens_is_fine(steps: list[Any]) -> None:
    assert said(*steps, output="{{ x }}", inputs=inputs("n", n={"type": "integer"})) == []


def test_an_input_that_may_be_missing_is_a_warning() -> None:
    given = inputs(n={"type": "integer"}, m={"type": "integer", "default": 1})
    (message,) = said(values(x="{{ inputs.n + inputs.m }}"), inputs=given)
    assert message.startswith("ST761 the input 'n' can be missing")
    assert said(values(x="{{ inputs.n | default(1) }}"), inputs=given) == []
    assert said({**values(x="{{ inputs.n }}"), "when": "inputs.m"}, inputs=given) != []
