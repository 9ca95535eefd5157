"""What a schema admits, a function receives as the type that it is annotated with."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.annotations.strategies import Case, cases, defined
from tests.dispatch.toolbox import tool, tooler
from tests.schema.strategies import moderate, values
from tests.schema.validators import validator


def taking(annotation: Any, *default: Any) -> tuple[Callable[..., None], list[Any]]:
    """Return a function whose one parameter has that annotation, and the list of what it got."""
    received: list[Any] = []

    def function(value: Any) -> None:
        received.append(value)

    function.__annotations__ = {"value": annotation}
    function.__defaults__ = default or None
    return function, received


def accepts(schema: Any, arguments: Any) -> bool:
    """Return whether the arguments match; both engines must agree."""
    fits = Draft202012Validator(schema).is_valid(arguments)
    assert validator(schema).is_valid(arguments) == fits
    return bool(fits)


@moderate
@given(cases)
def test_every_schema_is_a_valid_one(case: Case) -> None:
    schema = defined(taking(case.annotation)[0]).parameters
    Draft202012Validator.check_schema(schema)
    validator(schema)
    assert json.loads(json.dumps(schema)) == schema


@moderate
@given(st.data())
def test_a_value_s_json_is_accepted_and_becomes_the_value(data: st.DataObject) -> None:
    case = data.draw(cases)
    function, received = taking(case.annotation)
    schema = defined(function).parameters
    value, form = data.draw(case.pairs)
    given = json.loads(json.dumps({"value": form}))
    assert accepts(schema, given) or (form is None and not schema["required"])
    result = tooler(tool(function, schema)).call_sync("function", given)
    assert result.ok, result
    assert received == [value]
    assert type(received[0]) is type(value)


@moderate
@given(st.data())
def test_a_default_comes_back_from_its_json(data: st.DataObject) -> None:
    case = data.draw(cases)
    value, _ = data.draw(case.pairs)
    function, received = taking(case.annotation, deepcopy(value))
    schema = defined(function).parameters
    shown = schema["properties"]["value"]
    assert "default" not in shown or accepts(schema, {"value": shown["default"]})
    assert tooler(tool(function, schema)).call_sync("function", {}).ok
    assert received == [value]
    assert type(received[0]) is type(value)


arguments = values.filter(lambda value: '"":' not in json.dumps(value))
"""JSON without empty keys, below which one of the engines loses its way."""


@moderate
@given(cases, arguments)
def test_whatever_is_given_fits_or_is_refused_with_its_place(case: Case, value: Any) -> None:
    function, received = taking(case.annotation)
    schema = defined(function).parameters
    fits = accepts(schema, {"value": value})
    result = tooler(tool(function, schema)).call_sync("function", {"value": value})
    if result.ok:
        assert fits or value is None
        assert len(received) == 1
    else:
        assert result.error is not None
        assert result.error.kind == "invalid_arguments"
