from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.scaffolding.new_tool import PYTHON, NewParameter, parameter
from tests.schema.strategies import moderate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("city:string", NewParameter("city", "string")),
        ("city:str", NewParameter("city", "string")),
        ("tag:string?", NewParameter("tag", "string", is_required=False)),
        ("days:integer=3", NewParameter("days", "integer", is_required=False, default=3)),
        ("days:int?=3.0", NewParameter("days", "integer", is_required=False, default=3)),
        ("size:number=3", NewParameter("size", "number", is_required=False, default=3)),
        ("on:bool=True", NewParameter("on", "boolean", is_required=False, default=True)),
        ("on:boolean=false", NewParameter("on", "boolean", is_required=False, default=False)),
        ("names:list=[1]", NewParameter("names", "array", is_required=False, default=[1])),
        ("more:dict={}", NewParameter("more", "object", is_required=False, default={})),
        ("text:string=", NewParameter("text", "string", is_required=False, default="")),
        (
            "text:string=a:b=?\n",
            NewParameter("text", "string", is_required=False, default="a:b=?\n"),
        ),
    ],
)
def test_a_parameter_is_read(text: str, expected: NewParameter) -> None:
    assert parameter(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("city", "'city' is not NAME:TYPE; write for example city:string"),
        (":string", "':string' is not NAME:TYPE"),
        ("a:string?!", "'a:string?!' is not NAME:TYPE"),
        ("my-city:string", "'my-city' can't name a parameter: it is not an ASCII identifier"),
        ("from:string", "'from' can't name a parameter: it is a Python keyword"),
        ("a:strng", "'strng' is no type of a parameter; did you mean 'string'?"),
        ("a:date", "the types are string, integer, number, boolean, array, object"),
        ("a:integer=x", "the default 'x' is not JSON, as 'integer' has to be"),
        ("a:number=NaN", "the default 'NaN' is not JSON"),
        ("a:number=1e999", "the default '1e999' is not JSON"),
        ("a:array=[1e999]", "is not JSON"),
        ("a:integer=2.5", "the default 2.5 is 'number', but the type is 'integer'"),
        ("a:integer=null", "the default is null; write NAME:TYPE?"),
        ("a:boolean=1", "the default 1 is 'integer', but the type is 'boolean'"),
        ("a:string=\udc80", "surrogates"),
    ],
)
def test_anything_else_is_refused_with_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parameter(text)


@moderate
@given(st.sampled_from(sorted(PYTHON)), st.text(max_size=8) | st.integers().map(str))
def test_a_default_is_of_its_type_or_refused(kind: str, text: str) -> None:
    try:
        found = parameter(f"a:{kind}={text}")
    except ValueError:
        return
    assert found.type == kind
    assert json.loads(json.dumps(found.default)) == found.default
    assert type(found.default).__name__ in {PYTHON[kind], "int" if kind == "number" else ""}
