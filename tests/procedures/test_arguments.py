"""What steps give to tools and procedures: ST766 and ST767."""

from __future__ import annotations

from typing import Any

from sovl_tools import ProcedureManager
from tests.procedures.workshop import call, defined, found, inputs, procedure, registry_of, values
from tests.tables import check_each

NUMBER = {"type": "integer"}
TEXT = {"type": "string"}


def said(
    given: dict[str, Any], *before: dict[str, Any], schema: Any = None, **keys: Any
) -> list[str]:
    """Return what is said of arguments for a tool with that schema of its parameters."""
    manager = manager_of(schema or inputs("n", n=NUMBER, t=TEXT))
    return found(manager.check(procedure(*before, call("target", **given), **keys)))


def manager_of(schema: Any, **more: Any) -> ProcedureManager:
    def target(n: Any = 0, t: Any = "", point: Any = 0, many: Any = 0) -> None:
        """Take arguments."""

    def source(kind: str) -> None:
        """Return something."""

    made = defined(target, parameters=schema, **more)
    outputs = {"type": "object", "properties": {"n": NUMBER, "t": TEXT, "any": {}}}
    return ProcedureManager(registry_of(made, defined(source, output_schema=outputs)))


def test_an_argument_that_the_tool_does_not_take_is_told() -> None:
    message = "ST766 m: is not a parameter; did you mean 'n'?, at 'steps[0].arguments.m'"
    assert message in said({"m": 1, "t": "a"})
    (message,) = said({"n": "{{ 1 }}", "texd": 1})
    assert message == "ST766 texd: is not a parameter, at 'steps[0].arguments.texd'"


def test_a_value_that_is_written_out_and_does_not_fit_is_told() -> None:
    expected = "ST766 n: must be an integer, not the string \"5\", at 'steps[0].arguments.n'"
    assert said({"n": "5"}) == [expected]
    assert said({"n": "5", "t": "{{ 1 }}x"}) == [expected]


NESTED = inputs(
    "point",
    point={
        "type": "object",
        "properties": {"x": NUMBER, "name": TEXT},
        "required": ["x"],
        "additionalProperties": False,
    },
    many={"type": "array", "items": NUMBER},
)


@check_each(
    ("given", "messages"),
    [
        ({"point": {"x": "{{ 1 }}"}}, []),
        ({"point": "{{ {'x': 1} }}"}, []),
        ({"point": {"name": "{{ 1 }}x"}}, ["x: is required"]),
        ({"point": {"x": "{{ 1 }}", "y": 1}}, ["y: is not a parameter"]),
        ({"point": ["{{ 1 }}"]}, ["must be an object, not an array"]),
        ({"point": {"x": 1}, "many": {"a": "{{ 1 }}"}}, ["must be an array, not an object"]),
        ({"point": {"x": 1}, "many": ["{{ 1 }}", "a"]}, ["must be an integer, not the string"]),
    ],
)
def test_what_is_nested_is_looked_at(given: dict[str, Any], messages: list[str]) -> None:
    actual = said(given, schema=NESTED)
    assert len(actual) == len(messages)
    assert all(message in each for message, each in zip(messages, actual, strict=True))


def test_references_in_the_schema_are_followed() -> None:
    schema = {**inputs("n", n={"$ref": "#/$defs/number"}), "$defs": {"number": NUMBER}}
    assert len(said({"n": "a"}, schema=schema)) == 1
    assert len(said({"n": "a {{ 1 }}"}, schema=schema)) == 1
    assert said({"n": "{{ 1 }}"}, schema=schema) == []


@check_each("schema", [{"anyOf": [NUMBER, TEXT]}, {"enum": [1, "a"]}, True, {}])
def test_where_the_schema_says_no_type_nothing_is_told(schema: Any) -> None:
    assert said({"n": "{{ 1 }} {{ 2 }}"}, schema=inputs("n", n=schema)) == []


@check_each("value", ["{{ 1 +", ["{{ 1 +"]])
def test_what_can_not_be_read_is_told_once(value: Any) -> None:
    assert [each[:5] for each in said({"n": value}, schema=inputs(n={}))] == ["ST759"]


def test_null_for_what_may_be_left_out_is_fine() -> None:
    def target(n: int | None = None) -> None:
        """Take a number."""

    manager = ProcedureManager(registry_of(target))
    assert manager.check(procedure(call("target", n=None))) == ()
    manager.run_sync(procedure(call("target", n=None)))


def test_arguments_of_a_dynamic_tool_are_not_looked_at() -> None:
    manager = manager_of(inputs("n", n={"enum": lambda: [1]}), is_dynamic=True)
    assert manager.check(procedure(call("target", n=2))) == ()


@check_each(
    ("expression", "message"),
    [
        ("x.n", None),
        ("x.any", None),
        ("x.t", "ST767 x.t is string, not integer"),
        ("inputs.ns[0]", None),
        ("loops", "ST767 loops is array, not integer"),
        ("x.t | int", None),
    ],
)
def test_a_value_of_a_type_that_the_tool_refuses_is_told(
    expression: str, message: str | None
) -> None:
    many = {"type": "array", "items": NUMBER}
    loop = {"action": "for_each", "items": [1], "steps": [values(z=1)], "save_as": "loops"}
    before = call("source", "x", kind="a"), values(y="a"), loop
    given = inputs("t", "ns", t=TEXT, ns=many)
    actual = said({"n": f"{{{{ {expression} }}}}"}, *before, inputs=given)
    assert [each.partition(", at ")[0] for each in actual] == ([] if message is None else [message])


def test_after_continue_a_variable_may_be_anything() -> None:
    before = {**call("source", "x", kind="b"), "on_error": "continue"}
    assert said({"n": "{{ x }}"}, before) == []


def test_inputs_of_another_procedure_are_looked_at() -> None:
    manager = manager_of(inputs())
    schema = inputs("a", "b", a=NUMBER, b={"type": "integer", "default": 1})
    manager.add(procedure(values(x="{{ inputs.a + inputs.b }}"), name="other", inputs=schema))
    step = {"action": "procedure", "procedure": "other"}
    assert found(manager.check(procedure(step))) == ["ST766 a: is required, at 'steps[0]'"]
    assert manager.check(procedure({**step, "inputs": {"a": 1}})) == ()
    manager.run_sync(procedure({**step, "inputs": {"a": 1}}))
    (message,) = found(manager.check(procedure({**step, "inputs": {"a": "{{ 1 }}x"}})))
    assert message.startswith("ST767 this is always a string")
