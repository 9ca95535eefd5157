"""From documents to procedures."""

from __future__ import annotations

from typing import Any

import pytest

from sovl_tools.procedures.procedure import OnError, Procedure, Step, parse_procedure
from tests.procedures.workshop import call, procedure, values


def procedure_of(*steps: Any, **keys: Any) -> Procedure:
    return parse_procedure(procedure(*steps, **keys), text="text", source="a.yaml")


def first(step: dict[str, Any]) -> Step:
    return procedure_of(step).steps[0]


def test_a_procedure_has_what_is_written() -> None:
    found = procedure_of(values(x=1), output="{{ x }}", tags=["a"], timeout=5)
    assert found[:2] == ("sample", "A sample.")
    assert found.inputs == {"additionalProperties": False, "type": "object", "properties": {}}
    assert found[4:] == ("{{ x }}", "text", "a.yaml", ("a",), 5)


@pytest.mark.parametrize("keyword", ["allOf", "$ref", "if", "unevaluatedProperties"])
def test_inputs_that_are_combined_are_taken_as_they_are(keyword: str) -> None:
    schema = {"type": "object", keyword: {}}
    assert procedure_of(values(x=1), inputs=schema).inputs == schema


def test_inputs_may_be_open() -> None:
    schema = {"type": "object", "additionalProperties": True}
    assert procedure_of(values(x=1), inputs=schema).inputs == schema


def test_a_step_has_what_is_common_and_what_is_its_own() -> None:
    step = first({**call("add", "sum", a=1), "name": "Adding", "timeout": 2, "x-note": "{{"})
    assert step.fields == {"tool": "add", "arguments": {"a": 1}}
    assert (step.name, step.save_as, step.timeout, step.label) == ("Adding", "sum", 2, "Adding")


def test_a_step_of_a_tool_keeps_all_its_keys() -> None:
    step = first({"action": "mail", "to": "a", "condition": True, "x-note": 1, "when": True})
    assert step.fields == {"to": "a", "condition": True, "x-note": 1}
    assert step.when == "true"


@pytest.mark.parametrize(("condition", "text"), [(True, "true"), (False, "false"), ("x", "x")])
def test_conditions_that_are_booleans_become_expressions(condition: Any, text: str) -> None:
    step = first({"action": "if", "condition": condition, "then": [values(x=1)]})
    assert step.fields["condition"] == text


@pytest.mark.parametrize(
    ("document", "policy"),
    [
        ("fail", OnError()),
        ("continue", OnError(then="continue")),
        ({"retry": 2}, OnError(2, 1, 2, "fail")),
        ({"retry": 1, "delay": 0, "backoff": 3, "then": "continue"}, OnError(1, 0, 3, "continue")),
    ],
)
def test_a_policy_has_defaults(document: Any, policy: OnError) -> None:
    assert first({**values(x=1), "on_error": document}).on_error == policy


def test_steps_know_their_places() -> None:
    inner = {"action": "if", "condition": "x", "then": [values(a=1)], "else": [values(b=1)]}
    loop = {"action": "for_each", "items": [], "steps": [inner]}
    parallel = {"action": "parallel", "branches": {"left": [loop], "right": [call("add")]}}
    places = [each.path[2:] for each in procedure_of(parallel).every_step()]
    left = ("branches", "left", 0)
    assert places == [
        (),
        left,
        (*left, "steps", 0),
        (*left, "steps", 0, "then", 0),
        (*left, "steps", 0, "else", 0),
        ("branches", "right", 0),
    ]


@pytest.mark.parametrize(
    ("step", "label"),
    [
        (call("add"), "tool add"),
        ({"action": "procedure", "procedure": "other"}, "procedure other"),
        (values(x=1), "set"),
        ({"action": "mail", "tool": 5}, "mail"),
    ],
)
def test_a_step_has_a_label(step: dict[str, Any], label: str) -> None:
    assert first(step).label == label
